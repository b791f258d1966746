"""From the time mentions beside a verb to the interval the clause states."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Literal

from substrate.extraction.builtin.verbs import Aspect
from substrate.extraction.claims import UNDATED, ClaimTime, EndPrecision, Grade
from substrate.extraction.times import TimeMention

Tense = Literal["present", "past", "perfect", "future"]
UNKNOWN_END = ClaimTime(valid_to_precision="unknown")
_STARTING = {"since", "as_of", "after"}
_ENDING = {"until", "before", "by"}
_AND = re.compile(r"\s*(?:and|&|和|与|及|、)(?: (?:in|for|during))?\s*")
_YEAR_AND = re.compile(
    r"\bfor (?:the )?(?:(?:financial |fiscal |calendar )?years? )?(?P<year>[12]\d{3}) (?:and|&) $", re.IGNORECASE
)


def interval(mentions: Sequence[TimeMention], aspect: Aspect, tense: Tense = "present") -> ClaimTime:
    """The interval of a clause whose verb has `aspect`; several mentions are joined ("from … until …").

    A past state without a date ("X led Y") ended when nobody says, so its end is unknown.
    """
    useful = [m for m in mentions if m.shape != "duration"]
    if aspect == "end":
        return _ending(useful)
    if not useful:
        return UNKNOWN_END if aspect == "state" and tense == "past" else UNDATED
    if aspect == "event":
        return _event(useful)
    return _lasting(useful, aspect)


def handover_end(mentions: Sequence[TimeMention]) -> ClaimTime:
    """The end of what someone else begins at the same moment: the first moment of the named unit."""
    start = interval(mentions, "start")
    if start.valid_from is None:
        return replace(UNKNOWN_END, grade=start.grade, words=start.words)
    return ClaimTime(
        valid_to=start.valid_from, valid_to_precision=start.valid_from_precision, grade=start.grade, words=start.words
    )


def unit_before(end: datetime, precision: EndPrecision | None) -> datetime:
    """The first moment of the unit of time that ends at `end`."""
    if precision == "year":
        return end.replace(year=end.year - 1)
    if precision == "month":
        return (end - timedelta(days=1)).replace(day=1)
    units = {"day": timedelta(days=1), "hour": timedelta(hours=1), "minute": timedelta(minutes=1)}
    return end - units.get(precision or "", timedelta(0))


def joined_periods(text: str, mentions: Sequence[TimeMention]) -> list[TimeMention]:
    """`mentions` with "2020 and 2021" as one: an interval of neighbouring units, marked ``at_event``.

    The mark tells it from "from 2020 to 2021": beside a beginning or an event it is no duration.
    """
    found: list[TimeMention] = []
    for mention in mentions:
        before = found[-1] if found else None
        if before is not None and _neighbours(text, before, mention):
            time = replace(
                mention.time,
                valid_from=before.time.valid_from,
                valid_from_precision=before.time.valid_from_precision,
                grade=max(before.time.grade, mention.time.grade),
                words=text[before.start : mention.end],
            )
            found[-1] = replace(mention, start=before.start, core_start=before.core_start, shape="interval", time=time)
        else:
            found.append(_with_year_before(text, mention) or mention)
    return found


def _neighbours(text: str, one: TimeMention, other: TimeMention) -> bool:
    points = other.shape == "point" and (one.shape == "point" or (one.shape == "interval" and one.time.at_event))
    meet = one.time.valid_to is not None and one.time.valid_to == other.time.valid_from
    return points and meet and _AND.fullmatch(text[one.end : other.core_start]) is not None


def _with_year_before(text: str, mention: TimeMention) -> TimeMention | None:
    """ "For 2020 and 2021": the first year is no time by itself, beside the second it is one."""
    m = _YEAR_AND.search(text[: mention.start])
    start = mention.time.valid_from
    if m is None or mention.shape != "point" or mention.time.valid_from_precision != "year" or start is None:
        return None
    if int(m.group("year")) != start.year - 1:
        return None
    time = replace(mention.time, valid_from=start.replace(year=start.year - 1), words=text[m.start() : mention.end])
    return replace(mention, start=m.start(), core_start=m.start("year"), shape="interval", time=time)


def _event(mentions: Sequence[TimeMention]) -> ClaimTime:
    first = mentions[0].time
    both = first.valid_from is not None and first.valid_to is not None
    return replace(first, at_event=True) if both else first


def _lasting(mentions: Sequence[TimeMention], aspect: Aspect) -> ClaimTime:
    result = ClaimTime(grade=_worst(mentions), words=_words(mentions))
    for mention in mentions:
        time = mention.time
        if mention.shape == "by" and time.valid_to is not None and time.valid_to_precision != "unknown":
            # In force at D at the latest: nobody says since when, and nothing ended.
            since = unit_before(time.valid_to, time.valid_to_precision)
            time = replace(time, valid_from=since, valid_from_precision=time.valid_to_precision)
        takes_start = mention.shape not in _ENDING or mention.shape == "by"
        takes_end = mention.shape in {"until", "before"} or (mention.shape == "interval" and not time.at_event)
        takes_end = takes_end or (mention.shape == "interval" and aspect == "state")
        if mention.shape == "point":
            takes_end = aspect == "state"
        if takes_start and result.valid_from is None:
            result = replace(result, valid_from=time.valid_from, valid_from_precision=time.valid_from_precision)
        if takes_end and result.valid_to is None:
            result = replace(result, valid_to=time.valid_to, valid_to_precision=time.valid_to_precision)
    return _ordered(result)


def _ending(mentions: Sequence[TimeMention]) -> ClaimTime:
    """Ended on, in, effective …: the named unit included, but "effective D" is the first moment after.

    "Had left by D" says that it ended, not when.
    """
    for mention in mentions:
        time = mention.time
        if mention.shape == "by":
            return replace(UNKNOWN_END, grade=time.grade, words=time.words)
        if mention.shape in _STARTING and time.valid_from is not None:
            return ClaimTime(
                valid_to=time.valid_from,
                valid_to_precision=time.valid_from_precision,
                grade=time.grade,
                words=time.words,
            )
        if time.valid_to is not None:
            start = (time.valid_from, time.valid_from_precision) if mention.shape == "interval" else (None, None)
            return ClaimTime(*start, time.valid_to, time.valid_to_precision, time.grade, time.words)
    if mentions:
        return replace(UNKNOWN_END, grade=_worst(mentions), words=_words(mentions))
    return UNKNOWN_END


def _ordered(time: ClaimTime) -> ClaimTime:
    """A year that closes before it opens is a misreading: then nothing is dated."""
    if time.valid_from is not None and time.valid_to is not None and time.valid_to <= time.valid_from:
        return ClaimTime(grade="C", words=time.words)
    return time


def _worst(mentions: Sequence[TimeMention]) -> Grade:
    return max((m.time.grade for m in mentions), default="A")


def _words(mentions: Sequence[TimeMention]) -> str:
    return " … ".join(m.time.words for m in mentions if m.time.words)
