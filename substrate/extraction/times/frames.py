"""From a date and the way it is governed ("since", "until", "before") to the interval that it states."""

from __future__ import annotations

from substrate.extraction.claims import ClaimTime
from substrate.extraction.times.records import Dated, Shape, TimeMention
from substrate.extraction.times.spans import Span

_AROUND = 240
"""Characters on either side of a date in which its clause is looked for."""
REMEMBERED = 16
"""How many dated things a reader keeps in mind."""


def mention(text: str, start: int, end: int, core_start: int, shape: Shape, span: Span | None) -> TimeMention:
    """The mention ``text[start:end]``; `span` None for what cannot be dated."""
    return TimeMention(start, end, core_start, shape, claim_time(shape, span, text[start:end]))


def told_by(found: TimeMention, text: str) -> list[Dated]:
    """What `found` lets a later "six months after" count from: its date and the clause it stands in."""
    time = found.time
    if time.valid_from is None or time.valid_from_precision is None or found.shape in ("duration", "as_of"):
        return []
    low, high = max(0, found.start - _AROUND), found.end + _AROUND
    begin = max((text.rfind(mark, low, found.start) for mark in ".!?;。！？；\n"), default=-1)
    stops = (". ", "!", "?", ";", "。", "！", "？", "；", "\n")
    ends = [at for mark in stops if (at := text.find(mark, found.end, high)) >= 0]
    clause = text[max(begin + 1, low) : min(ends, default=high)]
    return [Dated(clause, time.valid_from, time.valid_from_precision)]


def claim_time(shape: Shape, span: Span | None, words: str) -> ClaimTime:
    """`span` as `shape` uses it; see `TimeMention` for the table."""
    if span is None or shape == "duration":
        return ClaimTime(grade="C", words=words, at_event=shape in ("point", "by"))
    from_precision, to_precision = span.precision, span.end_precision or span.precision
    if shape in ("since", "as_of"):
        return ClaimTime(span.start, from_precision, grade=span.grade, words=words)
    if shape == "after":
        return ClaimTime(span.end, to_precision, grade=span.grade, words=words)
    if shape in ("until", "by", "before"):
        end = span.start if shape == "before" else span.end
        return ClaimTime(
            valid_to=end,
            valid_to_precision=from_precision if shape == "before" else to_precision,
            grade=span.grade,
            words=words,
            at_event=shape == "by",
        )
    return ClaimTime(span.start, from_precision, span.end, to_precision, span.grade, words, at_event=shape == "point")
