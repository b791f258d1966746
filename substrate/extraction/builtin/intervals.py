"""From the time mentions beside a verb to the interval the clause states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from substrate.extraction.builtin.verbs import Aspect
from substrate.extraction.claims import UNDATED, ClaimTime, Grade
from substrate.extraction.times import TimeMention

Tense = Literal["present", "past", "perfect", "future"]
UNKNOWN_END = ClaimTime(valid_to_precision="unknown")
_STARTING = {"since", "as_of", "after"}
_ENDING = {"until", "before", "by"}


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


def _event(mentions: Sequence[TimeMention]) -> ClaimTime:
    first = mentions[0].time
    both = first.valid_from is not None and first.valid_to is not None
    return replace(first, at_event=True) if both else first


def _lasting(mentions: Sequence[TimeMention], aspect: Aspect) -> ClaimTime:
    result = ClaimTime(grade=_worst(mentions), words=_words(mentions))
    for mention in mentions:
        time = mention.time
        takes_start = mention.shape not in _ENDING
        takes_end = mention.shape in _ENDING or mention.shape == "interval"
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
