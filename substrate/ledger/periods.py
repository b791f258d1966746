"""What people said of periods: a person's start or end stands, whatever documents say before or after. Pure.

A person's word is about one stretch of a triple. It takes in every statement about that stretch: what the person had
before them when they spoke, whoever says it again, and what speaks of a time inside it. What such a statement says of
an end that the person fixed counts for nothing; one that the person had not seen and that says otherwise is kept as
said `against` the person, for a conflict to be raised. An end that the person left alone is made as ever.

Of two words on one stretch the later stands, so that taking it back leaves the earlier.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from substrate.axes.valid_time import Bucket, Precision, bucket_end, bucket_start, truncate
from substrate.ledger.spans import Assertion, Fix, Span

_FIRST = datetime.min.replace(tzinfo=UTC)
_EVER = datetime.max.replace(tzinfo=UTC)
Walk = Callable[[list[Assertion]], list[Span]]


@dataclass(frozen=True, slots=True)
class Fixed:
    """A triple's assertions told apart: stretches that people fixed, and what speaks of none of them."""

    free: list[Assertion]
    spans: list[Span]

    @property
    def openings(self) -> list[Assertion]:
        """What rivals see: each fixed stretch as one statement, and the free ones."""
        return [*self.free, *(_as_statement(s) for s in self.spans)]


def tell_apart(own: Sequence[Assertion], walk: Walk) -> Fixed:
    """`own` in the order of its content; `walk` makes spans of what one fixed stretch takes in, rivals aside."""
    words = sorted((a for a in own if a.fixes), key=lambda a: a.order, reverse=True)
    groups: list[list[Assertion]] = []
    for word in words:  # of words on one stretch the last one leads
        over = next((g for g in groups if any(_meet(_region(w), _region(word)) for w in g)), None)
        if over is None:
            groups.append([word])
        else:
            over.append(word)
    said: list[list[Assertion]] = [[] for _ in groups]
    free: list[Assertion] = []
    for a in (a for a in own if not a.fixes):
        into = next((i for i, group in enumerate(groups) if any(_takes_in(word, a) for word in group)), None)
        (free if into is None else said[into]).append(a)
    _take_stragglers(groups, said, free)
    spans = [_span(_merged(group), group, said[i], walk) for i, group in enumerate(groups)]
    return Fixed(free, [s for s in spans if s is not None])


def _take_stragglers(groups: list[list[Assertion]], said: list[list[Assertion]], free: list[Assertion]) -> None:
    """What has no start of its own and comes after a fixed stretch says nothing new, unless another one began since.

    What has no place at all speaks of the last stretch there is.
    """
    openings = [min(_region(word).start for word in group) for group in groups]
    starts = [a.start for a in free if a.start is not None]
    for a in [a for a in free if a.start is None]:
        at = a.end or a.attested
        before = [(opens, i) for i, opens in enumerate(openings) if at is None or opens <= at]
        if not before:
            continue
        opens, into = max(before)
        if not any(opens < s and (at is None or s <= at) for s in starts):
            free.remove(a)
            said[into].append(a)


def _merged(group: Sequence[Assertion]) -> Assertion:
    """The last word; an end that it leaves alone is as an earlier word on the same stretch fixed it."""
    word = group[0]
    for older in group[1:]:
        mine, theirs = _fix(word), _fix(older)
        if theirs.start and not mine.start:
            word = replace(word, start=older.start, start_precision=older.start_precision)
        if theirs.end and not mine.end:
            word = replace(word, end=older.end, end_precision=older.end_precision)
        fixes = replace(
            mine,
            start=mine.start or theirs.start,
            end=mine.end or theirs.end,
            sustains=mine.sustains or theirs.sustains,
            seen=mine.seen | theirs.seen,
        )
        word = replace(word, fixes=fixes)
    return word


def _region(word: Assertion) -> Bucket:
    """The time that a word is about: what the fact held, and what the person makes of it."""
    fix = _fix(word)
    was = fix.was
    starts = [was[0] or _FIRST] if was else []
    ends = [was[1] or _EVER] if was else []
    if fix.start or not was:
        starts.append(word.start or _FIRST)
    if fix.end or not was:
        ends.append(word.end or _EVER)
    return Bucket(min(starts), max(ends))


def _meet(one: Bucket, other: Bucket) -> bool:
    return one.start < other.end and other.start < one.end


def _takes_in(word: Assertion, a: Assertion) -> bool:
    """Does the word speak of the stretch that `a` speaks of?"""
    extent = _extent(a)
    if extent is None:
        return False
    if period_key(a) in _fix(word).seen:
        return True
    region = _region(word)
    if _fix(word).end and word.end is not None:
        region = Bucket(region.start, word.end)  # what the person had not seen may tell of another stretch after it
    return _meet(region, extent)


def _extent(a: Assertion) -> Bucket | None:
    if a.start is not None:
        after = bucket_end(a.start, a.start_precision or "day")
        return Bucket(a.start, after if a.end is None or a.at_event else max(after, a.end))
    if a.end is not None and a.end_precision is not None and a.end_precision != "unknown":
        return Bucket(bucket_start(a.end, a.end_precision), a.end)
    if a.attested is not None:
        day = truncate(a.attested, "day")
        return Bucket(day, bucket_end(day, "day"))
    return None


def _span(word: Assertion, group: Sequence[Assertion], said: list[Assertion], walk: Walk) -> Span | None:
    """The stretch as the person left it; None where a mere closing has nothing to close."""
    fix = _fix(word)
    if not said and not fix.sustains:
        return None
    inner = walk([_without_ends(a) if fix.end else a for a in said])
    span = Span(support=[a.id for a in group], fixed=word.id, end_fixed=fix.end)
    for s in inner:
        span.support += s.support
        span.attested_from = min(filter(None, (span.attested_from, s.attested_from)), default=None)
        span.last = max(filter(None, (span.last, s.last)), default=None)
        span.ends += s.ends
    _fix_start(span, word, inner)
    _fix_end(span, word, inner)
    if span.start is None and span.attested_from is not None and span.end is not None:
        span.attested_from = span.attested_from if span.attested_from < span.end else None
    span.against = _against(word, said)
    return span


def _fix_start(span: Span, word: Assertion, inner: list[Span]) -> None:
    if _fix(word).start:
        span.start, span.start_precision = word.start, word.start_precision
        return
    first = next((s for s in inner if s.start is not None), None)
    if first is not None:
        span.start, span.start_precision = first.start, first.start_precision


def _fix_end(span: Span, word: Assertion, inner: list[Span]) -> None:
    last = inner[-1] if inner else Span()
    if not _fix(word).end:
        if last.end is None or span.start is None or last.end > span.start:
            span.end, span.end_precision, span.end_origin = last.end, last.end_precision, last.end_origin
            span.attested_to, span.vouched = last.attested_to, last.vouched
        return
    span.ends = []
    if word.end_precision is None:
        return
    span.end, span.end_precision, span.end_origin = word.end, word.end_precision, "stated"
    if word.ends_unknown:
        span.attested_to, span.vouched = _vouched(span), True


def _vouched(span: Span) -> datetime | None:
    """The last moment at which something places it here: its start, or a document's date."""
    moments = [bucket_end(span.start, span.start_precision)] if span.start and span.start_precision else []
    if span.last is not None and (span.start is None or span.last > span.start):
        moments.append(bucket_end(truncate(span.last, "day"), "day"))
    return max(moments, default=None)


def _against(word: Assertion, said: list[Assertion]) -> list[Assertion]:
    """What the person had not seen and does not agree with."""
    return [a for a in said if period_key(a) not in _fix(word).seen and _disagrees(word, a)]


def is_empty(start: datetime | None, end: datetime | None) -> bool:
    """Does a period hold at no moment? One that is open on a side never does."""
    return start is not None and end is not None and start >= end


def ended_by(
    start: datetime | None, precision: Precision | None, next_start: datetime, next_precision: Precision
) -> tuple[datetime, Precision]:
    """The end of what another follows: where that begins; if both begin in one unit, the end of its own."""
    if start is not None and precision is not None and next_start <= start:
        return bucket_end(start, precision), precision
    return next_start, next_precision


def period_key(a: Assertion) -> str:
    """What a statement says of time, as text; of one that states nothing, when it was said."""
    if a.start is None and a.end_precision is None:
        return said_at(a.attested, "attested")
    return f"{said_at(a.start, a.start_precision)}..{said_at(a.end, a.end_precision)}"


def said_at(at: datetime | None, precision: str | None) -> str:
    """A moment with its precision, as text; empty where there is neither."""
    return "/".join(filter(None, (at.isoformat() if at else "", precision)))


def _disagrees(word: Assertion, a: Assertion) -> bool:
    fix = _fix(word)
    if fix.start and a.start is not None and not _same_unit(word.start, word.start_precision, a):
        return True
    if not fix.end or a.at_event:
        return False
    if a.end_precision is None:
        # Said to hold, in a document younger than the person's end.
        return a.start is None and word.end is not None and a.attested is not None and a.attested >= word.end
    if a.end is None:
        early = word.end is not None and a.attested is not None and a.attested < bucket_start(word.end, "day")
        return word.end_precision is None or early
    return word.end is None or not _nested(word, a)


def _same_unit(start: datetime | None, precision: str | None, a: Assertion) -> bool:
    if start is None or precision is None or a.start is None or a.start_precision is None:
        return False
    mine = Bucket(start, bucket_end(start, precision))  # type: ignore[arg-type]
    return _meet(mine, Bucket(a.start, bucket_end(a.start, a.start_precision)))


def _nested(word: Assertion, a: Assertion) -> bool:
    """Do two stated ends name one unit, or one inside the other?"""
    return _meet(_last_unit(word), _last_unit(a))


def _last_unit(a: Assertion) -> Bucket:
    assert a.end is not None and a.end_precision is not None and a.end_precision != "unknown"  # noqa: S101
    return Bucket(bucket_start(a.end, a.end_precision), a.end)


def _without_ends(a: Assertion) -> Assertion:
    """For a stretch whose end is a person's. What speaks of an end alone places nothing any more."""
    if a.end_precision is None:
        return a
    return replace(a, end=None, end_precision=None, attested=a.attested if a.start is not None else None)


def _as_statement(span: Span) -> Assertion:
    assert span.fixed is not None  # noqa: S101
    return Assertion(
        span.fixed, "", span.start, span.start_precision, span.end, span.end_precision, attested=span.attested_from
    )


def _fix(a: Assertion) -> Fix:
    assert a.fixes is not None  # noqa: S101
    return a.fixes
