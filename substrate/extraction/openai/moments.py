"""From time words that a model pointed at, and the part it gave them, to the interval that code computes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from substrate.extraction.claims import UNDATED, ClaimTime, Drop, EndPrecision, Grade, Precision
from substrate.extraction.openai.quotes import Folded
from substrate.extraction.times import Anchor, find_times, parse_time
from substrate.extraction.times.records import Shape

Role = str
"""One of `prompt.ROLES`."""
_CLOSING = frozenset({"end", "replaced"})


@dataclass(frozen=True, slots=True)
class Places:
    """Where time words may stand: the quote within its chunk, then texts beside it (headings, cells)."""

    chunk: Folded
    start: int
    end: int
    beside: tuple[Folded, ...]

    def find(self, words: str) -> tuple[str, int, int] | None:
        """The text that holds `words`, and where."""
        for start, end in self.chunk.spans(words):
            if self.start <= start and end <= self.end:
                return self.chunk.text, start, end
        for text in self.beside:
            for start, end in text.spans(words):
                return text.text, start, end
        return None


@dataclass(frozen=True, slots=True)
class _Read:
    time: ClaimTime
    shape: Shape | None


@dataclass(slots=True)
class _Bounds:
    """An interval while its parts are put together."""

    start: tuple[datetime, Precision] | None = None
    end: tuple[datetime, EndPrecision] | None = None
    happening: bool = False
    closing: bool = False
    grades: list[Grade] = field(default_factory=list)
    words: list[str] = field(default_factory=list)

    def take(self, role: Role, read: _Read) -> None:
        time = read.time
        begin = _bound(time.valid_from, time.valid_from_precision)
        stop = None
        if time.valid_to is not None and time.valid_to_precision is not None:
            stop = time.valid_to, time.valid_to_precision
        if role in _CLOSING or read.shape == "until":
            # "No longer from 1 March", or replaced on it: the first moment of what is named is the end.
            first = role == "replaced" or stop is None
            self._close((begin or stop) if first else stop, time.grade)
            return
        takes_end = role == "during" or (role == "at" and begin is not None) or read.shape == "interval"
        if begin is not None and self.start is None:
            self.start = begin
            self.grades.append(time.grade)
        if takes_end and stop is not None and self.end is None:
            self.end = stop
            self.happening = role == "at"
            self.grades.append(time.grade)

    def _close(self, end: tuple[datetime, EndPrecision] | None, grade: Grade) -> None:
        self.closing = True
        if end is not None and (self.end is None or self.happening):
            self.end, self.happening = end, False
            self.grades.append(grade)


def _bound(at: datetime | None, precision: Precision | None) -> tuple[datetime, Precision] | None:
    return (at, precision) if at is not None and precision is not None else None


def interval(
    described: Sequence[tuple[str, Role]], ended: bool, places: Places, anchor: Anchor | None
) -> tuple[ClaimTime, list[Drop]]:
    """The time of a statement, and what of its description could not be used.

    Words that are not there date nothing, and words that the grammar cannot read give grade C. An end that cannot be
    dated is an unknown end, never no end.
    """
    bounds, drops = _Bounds(closing=ended), []
    for words, role in described:
        bounds.closing = bounds.closing or role in _CLOSING
        found = places.find(words)
        if found is None:
            drops.append(Drop("time_not_in_quote", f"{role}: the words are not in the quote", words))
            continue
        text, start, end = found
        bounds.words.append(text[start:end])
        reads = _read(text, start, end, anchor)
        if not reads:
            drops.append(Drop("time_not_read", f"{role}: no time the grammar knows", text[start:end]))
        for read in reads:
            bounds.take(role, read)
    return _finished(bounds, drops), drops


def _read(text: str, start: int, end: int, anchor: Anchor | None) -> list[_Read]:
    """What the words say where they stand, so that a "before" ahead of them counts; else what they say alone."""
    around = [m for m in find_times(text, anchor) if m.start < end and start < m.end]
    alone = parse_time(text[start:end], anchor)
    # Of "from A to B" the model may point at A alone.
    within = [m for m in around if m.shape == "interval" and not (start <= m.core_start and m.end <= end)]
    if around and not (within and alone is not None):
        return [_Read(m.time, m.shape) for m in around]
    if alone is not None:
        return [_Read(alone, None)]
    return [_Read(m.time, m.shape) for m in find_times(text[start:end], anchor)]


def _finished(bounds: _Bounds, drops: list[Drop]) -> ClaimTime:
    words = " … ".join(bounds.words)
    start, end = bounds.start, bounds.end
    if bounds.closing and bounds.happening:
        drops.append(Drop("time_role_unclear", "it has ended, and the time is neither its start nor its end", words))
        start = end = None
    elif start is not None and end is not None and end[0] <= start[0]:
        drops.append(Drop("time_contradictory", "it would end before it starts", words))
        start = end = None
    if start is None and end is None:
        if bounds.closing:
            # Grade C would wipe the end as well, and that it ended is written out.
            return ClaimTime(valid_to_precision="unknown", words=words)
        return ClaimTime(grade="C", words=words) if words else UNDATED
    grade: Grade = max(bounds.grades)
    return ClaimTime(
        valid_from=start[0] if start else None,
        valid_from_precision=start[1] if start else None,
        valid_to=end[0] if end else None,
        valid_to_precision=end[1] if end else "unknown" if bounds.closing else None,
        grade=grade,
        words=words,
        at_event=bounds.happening,
    )
