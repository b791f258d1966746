"""Which statements contradict one another in a way that the timelines cannot settle. Pure.

A function of the spans, and so of the set of assertions: the order of arrival does not matter.

=============  ====================================================================================================
reason         what contradicts
=============  ====================================================================================================
no_time        two values of a unique relation, one of them without any place in time: nobody knows which follows
simultaneous   two values of a unique relation that hold at one moment, so that neither can end the other: they open
               in the same unit, or their stated periods overlap, or a person said that one is still open
unanchored     a dated value that the engine ended where a rival is merely attested, by words whose time nobody could
               place (grade C)
ends           two stated ends of one stretch, neither of which is the finer word for the other
disagrees      what a document says of a period against what a person said of it
=============  ====================================================================================================

Of rivals each is held against the nearest before it alone, so that a thousand values of a relation that should not have
been unique are a thousand conflicts and not half a million; when a person keeps a pair, the next one becomes visible.
Which side is called old is the world's order: by opening, then by attestation; what has no place comes last.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from substrate.axes.valid_time import bucket_end, bucket_start
from substrate.ledger.periods import period_key, said_at
from substrate.ledger.spans import Assertion, Span
from substrate.ledger.timelines import Timelines

Reason = Literal["no_time", "simultaneous", "unanchored", "ends", "disagrees"]
RIVALS: frozenset[Reason] = frozenset({"no_time", "simultaneous", "unanchored"})
_FIRST = datetime.min.replace(tzinfo=UTC)
_EVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Side:
    """One side: its triple, which of the triple's spans, where that stands as text, and the statement to show."""

    triple: str
    place: int
    said: str
    statement: Assertion | None
    """None: the span's first."""


@dataclass(frozen=True, slots=True)
class Found:
    """A contradiction between two sides; for `ends` and `disagrees` both are of one span."""

    reason: Reason
    old: Side
    new: Side

    @property
    def pair(self) -> Pair:
        return pair(self.old.triple, self.old.said, self.new.triple, self.new.said)


Pair = frozenset[tuple[str, str]]
"""Two statements, as (triple, what it says of time)."""


def pair(triple: str, said: str, other: str, other_said: str) -> Pair:
    """The key under which a decision about two statements is known, whichever is called old."""
    return frozenset({(triple, said), (other, other_said)})


@dataclass(frozen=True, slots=True)
class _Stretch:
    triple: str
    place: int
    span: Span

    @property
    def order(self) -> tuple[datetime, datetime, str]:
        return self.span.opens or _FIRST, self.span.attested_from or _EVER, self.triple

    @property
    def side(self) -> Side:
        return Side(self.triple, self.place, _said(self.span), None)


def find(
    timelines: Timelines, spans: Mapping[str, Sequence[Span]], dirty: Collection[str], decided: Set[Pair]
) -> list[Found]:
    """Every conflict with a side among `dirty` triples. `spans` must have them and all their rivals.

    `decided` names the pairs that a person decided; they are not raised again.
    """
    found: dict[tuple[Reason, Pair], Found] = {}
    seen: set[Hashable] = set()
    for triple in sorted(dirty):
        for f in _own(triple, spans[triple]):
            if f.pair not in decided:
                found.setdefault((f.reason, f.pair), f)
        for timeline in timelines.of(triple):
            if timeline not in seen:
                seen.add(timeline)
                for f in _on(timelines, timeline, spans, decided):
                    if f.old.triple in dirty or f.new.triple in dirty:
                        found.setdefault((f.reason, f.pair), f)
    return list(found.values())


def _own(triple: str, spans: Sequence[Span]) -> Iterator[Found]:
    for place, span in enumerate(spans):
        if len(span.ends) > 1 and not span.event and (ends := _apart(span.ends)):
            yield Found("ends", *(Side(triple, place, _said_end(a), a) for a in ends))
        for a in span.against:
            word = said_at(span.start, span.start_precision) + ".." + said_at(span.end, span.end_precision)
            yield Found("disagrees", Side(triple, place, word, None), Side(triple, place, period_key(a), a))


def _apart(ends: Sequence[Assertion]) -> tuple[Assertion, Assertion] | None:
    """The earliest and the latest of several stated ends, where they cannot both be so."""
    first, last = min(ends, key=_latest), max(ends, key=_earliest)
    return (first, last) if _earliest(last) >= _latest(first) else None


def _earliest(a: Assertion) -> datetime:
    if a.end is None or a.end_precision is None or a.end_precision == "unknown":
        return _FIRST
    return bucket_start(a.end, a.end_precision)


def _latest(a: Assertion) -> datetime:
    """The moment by which it was over; of an end that nobody dated, the day of the document that says so."""
    if a.end is not None:
        return a.end
    return bucket_end(a.attested, "day") if a.attested is not None else _EVER


def _said_end(a: Assertion) -> str:
    return said_at(a.end or a.attested, a.end_precision)


def _said(span: Span) -> str:
    if span.start is not None:
        return said_at(span.start, span.start_precision)
    if span.attested_from is not None:
        return "attested"
    return f"..{said_at(span.end, span.end_precision)}" if span.end is not None else ""


def _on(
    timelines: Timelines, timeline: Hashable, spans: Mapping[str, Sequence[Span]], decided: Set[Pair]
) -> Iterator[Found]:
    """The conflicts on one timeline."""
    stretches = [_Stretch(t, i, s) for t in timelines.on(timeline) for i, s in enumerate(spans[t])]
    if len(stretches) < 2:
        return
    stretches.sort(key=lambda s: s.order)
    placed = [s for s in stretches if s.span.opens is not None or s.span.end is not None]
    unplaced = [s for s in stretches if s.span.undated]
    active: list[_Stretch] = []
    for new in placed:
        active = [s for s in active if _reaches(s.span, new.span)]
        yield from _against_nearest(timelines, "simultaneous", active, new, decided)
        active.append(new)
    yield from _unanchored(timelines, placed, decided)
    before = [s for s in placed if not _known_over(s.span)]
    for new in unplaced:
        yield from _against_nearest(timelines, "no_time", before, new, decided)
        before.append(new)


def _against_nearest(
    timelines: Timelines, reason: Reason, before: Sequence[_Stretch], new: _Stretch, decided: Set[Pair]
) -> Iterator[Found]:
    """`new` against the nearest of those before it that contradicts it; a pair that was decided ends the search."""
    for old in reversed(before):
        if timelines.may_stand_beside(old.triple, new.triple):
            continue
        if reason == "no_time" or _clash(old.span, new.span):
            found = Found(reason, old.side, new.side)
            if found.pair not in decided:
                yield found
            return


def _reaches(old: Span, new: Span) -> bool:
    """Does `old` hold at or after the opening of `new`, or of something that opens later?"""
    return old.holds[1] is None or new.opens is None or old.holds[1] > new.opens


def _clash(old: Span, new: Span) -> bool:
    """Do both hold at one moment? `old` opens first. A start that nobody states lies wherever it does no harm."""
    if new.opens is None:
        return False  # both are known by their ends alone, which have an order
    if old.opens is None:
        assert old.end is not None  # noqa: S101 - it has a place
        return new.opens < old.end and (new.holds[1] is None or new.holds[1] > old.end)
    return old.holds[1] is None or old.holds[1] > new.opens


def _known_over(span: Span) -> bool:
    """Ended, nobody knows when, or ended by a person: nothing is left for a value without a time to end."""
    return span.end_precision == "unknown" or (span.end_fixed and span.end is not None)


def _unanchored(timelines: Timelines, placed: Sequence[_Stretch], decided: Set[Pair]) -> Iterator[Found]:
    by_opening = {s.span.opens: s for s in placed if s.span.start is None and s.span.opens is not None}
    for old in placed:
        at = old.span.end if old.span.end_origin == "engine" and old.span.start else None
        new = by_opening.get(at) if at is not None else None
        if new is None or timelines.may_stand_beside(old.triple, new.triple):
            continue
        if _grades(timelines, new) == {"C"} and _grades(timelines, old) != {"C"}:
            found = Found("unanchored", old.side, new.side)
            if found.pair not in decided:
                yield found


def _grades(timelines: Timelines, stretch: _Stretch) -> set[str]:
    support = set(stretch.span.support)
    return {a.grade for a in timelines.said(stretch.triple) if a.id in support}
