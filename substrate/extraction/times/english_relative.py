"""English forms of date that count from the document's own date: "last March", "two weeks ago"."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from functools import partial

from substrate.extraction.times import english_told, spans, words
from substrate.extraction.times.buckets import add_months, bucket_start
from substrate.extraction.times.rules import Grammar, Reader, Rule
from substrate.extraction.times.spans import Context, Part, Span
from substrate.extraction.times.words import compiled

Match = re.Match[str]
_AWAY = re.compile(r"\b(?:blocked|out|off|away|closed|done|unavailable|absent|busy|gone|home) $", re.IGNORECASE)
_WAS = re.compile(r"\b(?:was|were|had|went|left|got|came)\b", re.IGNORECASE)
_LARGER_PART = re.compile(r"\b(?:days?|weeks?|months?|years?),?(?: and)? $", re.IGNORECASE)


def _relative_month(match: Match, context: Context) -> Span | None:
    if match["mon"] in ("may", "march", "mar"):
        raise ValueError("an everyday word")
    month, offset = words.month(match["mon"]), words.OFFSETS[match["rel"].lower()]
    at = words.needed(context.at("month"))
    earlier, later = month >= at.month, offset > 0 and month <= at.month
    year = at.year - earlier if offset < 0 else at.year + later
    return replace(spans.month_span(year, month), grade="B")


def _relative_weekday(match: Match, context: Context) -> Span | None:
    """ "Last Monday" is the one of last week; "this past Monday" and "this coming Monday" the closest."""
    rel = match["rel"].lower()
    if (match.group().lower().startswith("this ") and rel != "this") or rel in ("past", "coming", "upcoming"):
        return spans.recurring_weekday(replace(context, direction=words.OFFSETS[rel]), _weekday_number(match))
    return _weekday_of_week(match, context)


def _weekday_number(match: Match) -> int:
    return words.WEEKDAYS[match["wd"].lower()]


def _weekday_and_day(match: Match, context: Context) -> Span | None:
    """ "Tuesday the 13th": the closest month in which the 13th is a Tuesday."""
    at, day = words.needed(context.at("day")), words.ordinal(match["d"])
    options = []
    for shift in range(-11, 12):
        first = add_months(bucket_start(at, "month"), shift)
        try:
            option = spans.day_span(first.year, first.month, day)
        except ValueError:
            continue
        if option.start.weekday() == _weekday_number(match):
            options.append(option)
    if not options:
        raise ValueError("no such day")
    return spans.nearest(context, "day", options, yearly=False)


def _weekday_of_week(match: Match, context: Context) -> Span | None:
    week = spans.relative(context, "week", words.OFFSETS[match["rel"].lower()])
    weekday = words.WEEKDAYS[match["wd"].lower()]
    return week and replace(spans.unit_at(week.start, "day", weekday), grade="B")


def _relative_season(match: Match, context: Context) -> Span | None:
    offset = words.OFFSETS[match["rel"].lower()]
    at = words.needed(context.at("month"))
    season = words.SEASONS[match["season"].lower()]
    options = [spans.season_span(at.year + shift, season) for shift in (-2, -1, 0, 1)]
    if offset == 0:
        return replace(options[2], grade="B")
    past = [option for option in options if option.end <= at]
    return replace(past[-1] if offset < 0 else options[len(past) + (options[len(past)].start <= at)], grade="B")


def _day_word(offset: int) -> Reader:
    return lambda match, context: spans.relative(context, "day", offset)


def _relative_unit(match: Match, context: Context) -> Span | None:
    if english_told.counts_from_told(match, context):
        return english_told.told_unit(match, context)
    unit, many = words.unit(match["unit"])
    offset = words.OFFSETS[match["rel"].lower()]
    if many == 1:
        return spans.relative(context, unit, offset)
    return spans.rolling(context, unit, many * (offset or 1))


def _unit_beyond(match: Match, context: Context) -> Span | None:
    unit, many = words.unit(match["unit"])
    offset = 2 if match["side"].lower() == "after next" else -2
    return spans.relative(context, unit, offset * many)


def _rolling(match: Match, context: Context) -> Span | None:
    unit, many = words.unit(match["unit"])
    offset = words.OFFSETS[match["rel"].lower()]
    if offset == 0:
        raise ValueError("neither ahead nor behind")
    return spans.rolling(context, unit, offset * many * words.cardinal(match["n"]))


def _business_days(match: Match, context: Context) -> Span | None:
    """Mondays to Fridays before or after the anchor's day; public holidays are not known here."""
    at = words.needed(context.at("day"))
    sign = words.OFFSETS[match["rel"].lower()]
    left, day = words.cardinal(match["n"]), at
    if not sign or not left:
        raise ValueError("neither ahead nor behind")
    while left:
        day += timedelta(sign)
        left -= day.weekday() < 5
    start, end = (at + timedelta(1), day + timedelta(1)) if sign > 0 else (day, at)
    return Span(start, end, "day", "B", kind="interval")


def _working_week(match: Match, context: Context) -> Span | None:
    week = spans.relative(context, "week", words.OFFSETS[match["rel"].lower()])
    return week and replace(week, end=week.end - timedelta(2))


def _weekend(match: Match, context: Context) -> Span | None:
    offset = words.OFFSETS[match["rel"].lower()]
    week = spans.relative(context, "week", offset)
    return week and replace(week, start=week.start + timedelta(5))


def _ago(sign: int) -> Reader:
    def read(match: Match, context: Context) -> Span | None:
        if _LARGER_PART.search(match.string[max(0, match.start() - 14) : match.start()]):
            raise ValueError("part of a longer distance")
        unit, many = words.unit(match["unit"])
        return spans.shifted(context, unit, sign * many * words.cardinal(match["n"]))

    return read


def _edge(match: Match, context: Context) -> Span | None:
    """ "The end of the year", of the anchor's own."""
    unit, _ = words.unit(match["unit"])
    whole = spans.relative(context, unit, 0)
    parts: dict[str, Part] = {"end": "end", "close": "end", "beginning": "start", "start": "start"}
    part = parts.get(match["part"].lower())
    return spans.part_of(whole, part) if whole and part else whole


def _rest(match: Match, context: Context) -> Span | None:
    unit, _ = words.unit(match["unit"])
    whole = spans.relative(context, unit, 0)
    at = words.needed(context.at("day"))
    return whole and replace(whole, start=at, precision="day", end_precision=whole.precision, kind="interval")


def _to_date(match: Match, context: Context) -> Span | None:
    short = {"Y": "year", "Q": "quarter", "M": "month"}
    unit, _ = words.unit(short[match["short"]] if "short" in match.re.groupindex else match["unit"])
    whole = spans.relative(context, unit, 0)
    at = words.needed(context.at("day"))
    return whole and replace(whole, end=at + timedelta(1), end_precision="day", kind="interval")


def _within(match: Match, context: Context) -> Span | None:
    unit, many = words.unit(match["unit"])
    return spans.rolling(context, unit, many * words.cardinal(match["n"]))


def _shift_from(match: Match, context: Context) -> Span | None:
    """ "Three weeks from tomorrow", "two days before yesterday"."""
    at = words.needed(context.at("day"))
    unit, many = words.unit(match["unit"])
    day = {"today": 0, "now": 0, "tomorrow": 1, "yesterday": -1}[match["from"].lower()]
    sign = -1 if match["side"].lower() == "before" else 1
    base = spans.unit_at(at, "day", day).start
    return spans.bucket(spans.move(base, unit, sign * many * words.cardinal(match["n"])), "day", "B")


def _clipped(match: Match, context: Context) -> Span | None:
    """ "Later this week" begins, "earlier this week" ends with the anchor's day."""
    unit, _ = words.unit(match["unit"])
    at = words.needed(context.at("day"))
    whole = replace(spans.unit_at(at, unit), grade="B", kind="interval")
    if match["side"].lower() == "later":
        return replace(whole, start=at, precision="day", end_precision=whole.precision)
    return replace(whole, end=at + timedelta(1), end_precision="day")


def _two_part_ago(sign: int) -> Reader:
    """ "Two years and three months ago": to the finer unit."""

    def read(match: Match, context: Context) -> Span | None:
        if _LARGER_PART.search(match.string[max(0, match.start() - 14) : match.start()]):
            raise ValueError("part of a longer distance")
        (large, many), (small, few) = words.unit(match["unit"]), words.unit(match["unit2"])
        near = spans.shifted(context, small, sign * few * words.cardinal(match["n2"]))
        if near is None:
            return None
        start = spans.move(near.start, large, sign * many * words.cardinal(match["n"]))
        return spans.bucket(start, near.precision, "B")

    return read


def _day_of_relative_month(match: Match, context: Context) -> Span | None:
    month = spans.relative(context, "month", words.OFFSETS.get((match["rel"] or "this").lower(), 0))
    return month and spans.bucket(month.start.replace(day=words.ordinal(match["od"])), "day", "B")


def _duration(match: Match, context: Context) -> Span | None:
    words.unit(match["unit"])
    if match["now"] is None:
        return None
    return _ago(-1)(match, context)


def _for_the_day(match: Match, context: Context) -> Span | None:
    """ "Closed for the day", "I am out for the day": the document's own."""
    before = match.string[max(0, match.start() - 60) : match.start()]
    if _WAS.search(before) or not _AWAY.search(before):
        raise ValueError("any day")
    return spans.relative(context, "day", 0)


def _day_of_month(match: Match, context: Context) -> Span | None:
    if match["od"].isalpha():
        raise ValueError("the first of something else")
    return spans.day_of_month(context, words.ordinal(match["od"]))


def _add(grammar: Grammar, starters: str, template: str, read: Reader, *, loose: bool = False) -> None:
    interval = read in (_rolling, _within, _clipped, _rest, _to_date)
    rule = Rule(compiled(template), read, loose=loose, duration=read is _duration, interval=interval)
    grammar.add(starters, rule)


def add_rules(grammar: Grammar) -> None:
    """Adds the forms that count from the anchor."""
    _add_named(grammar)
    _add_counted(grammar)


def _add_named(grammar: Grammar) -> None:
    add = partial(_add, grammar)
    relatives = " ".join(words.OFFSETS)
    part = r"(?: (?:morning|afternoon|evening|night))?"
    add("today tonight", r"today|tonight", _day_word(0))
    add("this", r"this (?:morning|afternoon|evening)", _day_word(0))
    add("yesterday", rf"yesterday{part}", _day_word(-1))
    add("last", r"last (?:night|evening)", _day_word(-1))
    add("tomorrow", rf"tomorrow{part}", _day_word(1))
    add("day", r"day before yesterday", _day_word(-2))
    add("day", r"day after tomorrow", _day_word(2))
    add("now", r"now", _day_word(0), loose=True)
    add(relatives, r"<rel>(?: (?:calendar|fiscal|financial|whole|full))? <unit>(?<!s)(?! of)", _relative_unit)
    add(relatives, r"(?:this past|this coming|this upcoming|<rel>) <mon>", _relative_month)
    add(relatives, rf"(?:this )?<rel> <wd>{part}(?! [0-9]{{1,2}}[/.][0-9])", _relative_weekday)
    add(relatives, r"<rel> week,?(?: on)? <wd>", _weekday_of_week)
    add(words.WEEKDAY_STARTS, r"<wd>,?(?: of)? <rel> week", _weekday_of_week)
    add(relatives, r"(?:this )?<rel> weekend", _weekend)
    add(relatives, r"<rel> <season>", _relative_season)
    add(relatives, r"<rel> <n> <unit>(?! (?:of|and [0-9a-z]+ (?:day|week|month)))", _rolling)
    add(words.NUMBER_STARTS, r"<n> <rel> <unit>(?! of)", _rolling)
    add(relatives, r"<rel> <n> (?:business|working) days?", _business_days)
    add(relatives, r"<rel> (?:working|business) week", _working_week)
    add("later earlier", r"(?P<side>later|earlier) (?:this|in the) <unit>(?<!s)", _clipped)
    add(
        "end beginning start middle close",
        r"(?P<part>end|beginning|start|middle|close) of (?:the )?<unit>(?<!s)(?<!day)",
        _edge,
    )
    add("rest remainder remaining balance", r"(?:rest|remainder|remaining|balance) of (?:the|this) <unit>(?<!s)", _rest)
    add("year month quarter", r"<unit>[ -]to[ -]date", _to_date)
    add("ytd qtd mtd", r"(?-i:(?P<short>[YQM])TD)", _to_date)
    far = r"<n> <unit>,?(?: and)? <n2> <unit2>"
    add(words.NUMBER_STARTS, far + r" (?:ago|back)", _two_part_ago(-1))
    add(words.NUMBER_STARTS, far + r" (?:from now|hence)", _two_part_ago(1))
    add("day week month quarter year", r"<unit> (?P<side>before last|after next)", _unit_beyond)


def _add_counted(grammar: Grammar) -> None:
    add = partial(_add, grammar)
    add(words.NUMBER_STARTS, r"<n> <unit> (?:ago|back)", _ago(-1))
    add(words.NUMBER_STARTS, r"<n> <unit> (?:from now|hence)", _ago(1))
    add("in", r"in (?:the )?<n> <unit>(?:'s?)?(?: time)?(?! of)", _ago(1))
    add("within", r"within (?:the )?(?:next )?<n> <unit>(?! of)", _within)
    add(
        words.NUMBER_STARTS,
        r"<n> <unit> (?P<side>from|after|before) (?P<from>today|tomorrow|yesterday)",
        _shift_from,
    )
    add(
        "for",
        r"for (?:the )?<n> <unit>(?P<now> (?:now|already))?"
        r"(?!,? (?:starting|beginning|commencing|from|ago|ended|ending|to))",
        _duration,
    )
    add("for", r"for the day(?! (?:of|when|that|before|after))", _for_the_day)
    add(words.ORDINAL_STARTS, r"<od>(?: day)? of (?:the|<rel>) month", _day_of_relative_month)
    add(words.ORDINAL_STARTS, r"<od>(?=[.,;:!?)]|$| (?:at|in|for|with|to|until|through|-) )", _day_of_month, loose=True)
    grammar.add(
        words.WEEKDAY_STARTS,
        Rule(
            compiled(r"<wd>\.?,? (?:the )?(?P<d>[0-3]?[0-9](?:st|nd|rd|th)|[0-3]?[0-9](?=[.!?,;)]|$))(?![0-9a-z])"),
            _weekday_and_day,
            yearless=True,
        ),
    )
