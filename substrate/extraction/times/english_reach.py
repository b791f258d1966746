"""Distances and lengths beside an English date: "two weeks before", "for three years from", "the year ended"."""

from __future__ import annotations

import re
from dataclasses import replace

from substrate.extraction.times import spans, words
from substrate.extraction.times.english_governors import Governed
from substrate.extraction.times.frames import mention
from substrate.extraction.times.records import TimeMention
from substrate.extraction.times.rules import Core
from substrate.extraction.times.spans import Span, Unit

_SIDES = {"before": -1, "prior to": -1, "after": 1, "from": 1}
_DISTANCE = words.compiled(r"(?<![a-z0-9-])(?:<n>|the(?= (?:day|month|year))) <unit> $")
_LESS = re.compile(r"\b(?:than|least|most|within|over|under|(?:to|or|-|–) ?) {0,2}$", re.IGNORECASE)
_FOR_LONG = words.compiled(
    r"(?P<for>for )?(?<![a-z0-9-])(?:<n> <unit>,?|<n2>-<unit2>(?<!s) "
    r"(?:term|contract|agreement|mandate|lease|period|deal|appointment|tenure|licen[cs]e|grant|plan|program(?:me)?)) $"
)
_ENDED = words.compiled(
    r"\b(?:(?:for |in |during )?the )?(?:(?P<unit>year|quarter|month|week|half[ -]year|half)|"
    r"<n> (?P<unit2>months?|weeks?|days?|quarters?|years?)) "
    r"(?P<joint>ended|ending|to)(?: on)? $"
)
_WITHIN = words.compiled(r"\b(?:within|inside) (?:the )?<n> <unit> (?:of|from|after|before|following) $")
_HALF: tuple[Unit, int] = ("month", 6)


def beside(text: str, core: Core, governed: Governed) -> TimeMention | None:
    """The date and the distance or length beside it as one time, where there is one."""
    return _ended(text, core, governed) or _lasting(text, core, governed) or _distant(text, core, governed)


def refused(text: str, core: Core, governed: Governed) -> bool:
    """Whether a distance stands beside the date that cannot be counted ("within 30 days of 1 May")."""
    at = core.start if governed.shape is None else governed.start
    if _WITHIN.search(text[max(0, core.start - 44) : core.start]):
        return True
    return governed.word in _SIDES and bool(_DISTANCE.search(text[max(0, at - 28) : at]))


def _fits(span: Span, unit: Unit) -> bool:
    """Whether a distance in `unit` may be counted from `span` without inventing precision."""
    if span.kind == "interval" or span.unit in ("week", "decade"):
        return False
    if span.precision == "day":
        return span.unit is None
    if span.precision == "month":
        return span.unit is None and unit in ("month", "quarter", "half", "year", "decade")
    return span.precision == "year" and unit in ("year", "decade")


def away(span: Span, distance: re.Match[str], sign: int) -> Span | None:
    """`span` moved by the distance ``n unit`` of a match; None where that would invent precision."""
    unit, many = words.unit(distance["unit"])
    if not _fits(span, unit):
        return None
    count = sign * many * words.cardinal(distance["n"])
    return spans.bucket(spans.move(span.start, unit, count), span.precision, span.grade)


def _distant(text: str, core: Core, governed: Governed) -> TimeMention | None:
    """ "Two weeks before 5 March", "three years after 2019", "the day after Christmas": as exact as the date."""
    low = max(0, governed.start - 28)
    distance = _DISTANCE.search(text[low : governed.start]) if governed.word in _SIDES else None
    if distance is None or _LESS.search(text[: low + distance.start()][-12:]) or governed.modified:
        return None
    unit, many = words.unit(distance["unit"])
    span = core.span
    if governed.word in ("from", "after") and "wd" in core.match.re.groupindex and core.rule.yearless:
        span = core.again(replace(core.context, direction=1))
    if span:
        if not _fits(span, unit) or (distance["n"] is None and distance["unit"].lower() != span.precision):
            return None
        count = _SIDES[governed.word] * many * (words.cardinal(distance["n"]) if distance["n"] else 1)
        span = spans.bucket(spans.move(span.start, unit, count), span.precision, span.grade)
    start = low + distance.start()
    return mention(text, start, core.end, start, "point", span)


def _lasting(text: str, core: Core, governed: Governed) -> TimeMention | None:
    """ "Two weeks starting 20 May", "for two years from 2019": from a known time on, and for how long."""
    if governed.shape != "since" or governed.word == "since" or governed.modified:
        return None
    low = max(0, governed.start - 40)
    long = _FOR_LONG.search(text[low : governed.start])
    if long is None or (governed.word == "from" and not (long["for"] or long["n2"])):
        return None
    if _LESS.search(text[: low + long.start()][-12:]):
        return None
    unit, many = words.unit(long["unit"] or long["unit2"])
    span = core.span
    if span:
        if not _fits(span, unit):
            return None
        end = spans.move(span.start, unit, many * words.cardinal(long["n"] or long["n2"]))
        span = Span(span.start, end, span.precision, span.grade, kind="interval")
    return mention(text, low + long.start(), core.end, core.start, "interval", span)


def _ended(text: str, core: Core, governed: Governed) -> TimeMention | None:
    """ "The year ended 31 December 2023", "nine months to March 2024": the stretch that ends with the date."""
    low = max(0, core.start - 40)
    found = _ENDED.search(text[low : core.start])
    span = core.span
    if found is None or span is None or core.rule.loose or span.kind == "interval" or governed.modified:
        return None
    half = found["unit"] and found["unit"].lower().startswith("half")
    unit, many = _HALF if half else words.unit(found["unit"] or found["unit2"])
    if not _fits(span, unit) or (found["joint"].lower() == "to" and unit in ("day", "week")):
        return None
    count = many * (words.cardinal(found["n"]) if found["n"] else 1)
    # From the first moment after: the half year to 28 February begins on 1 September.
    start = spans.move(span.end, unit, -count)
    whole = Span(start, span.end, span.precision, span.grade, kind="interval")
    begin = low + found.start()
    return mention(text, begin, core.end, begin, "interval", whole)
