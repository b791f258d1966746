"""Timelines: from the live assertions about one triple to the intervals in which it held. Pure.

The result is a function of the *set* of assertions, so that the order of arrival cannot matter. A triple's own
assertions are walked in the order of their place in the world; rivals (other values that a unique relation does not
allow beside this one) cut what they follow. Ends that a text states are kept; ends the engine makes are made anew
each time.

======================  =========================================================================
assertion               place on the timeline
======================  =========================================================================
has a start             its start ("hard")
no start, attested      the date of the document that says so ("soft"): it held by then
only an end             its end: closes the span it falls in, or is a span without a start
ended, date unknown     the date of the document that says so: held up to then
none of these           nowhere: read at every moment, closes nothing
======================  =========================================================================
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import zip_longest

from substrate.axes.valid_time import PRECISIONS, Precision, bucket_end, bucket_start, truncate
from substrate.ledger.outranking import EVER, corrected, denied, inherits, sortable, with_start_of_replaced
from substrate.ledger.periods import Fixed, tell_apart
from substrate.ledger.spans import Assertion, Span, Temporal


def _order(a: Assertion) -> tuple[object, ...]:
    """Everything but the id: two assertions that compare equal here may stand in each other's place."""
    return (
        sortable(a.start, a.start_precision),
        sortable(a.end, a.end_precision),
        sortable(a.attested, None),
        (a.value, a.at_event, a.denies, a.corrects, a.replaces or "", a.person, a.order),
    )


class Timelines:
    """Some triples and the timelines they must share, settled together.

    What is live is judged for each triple among all its own rivals, never from where another triple stands: a pair
    that both sides must have to themselves has rivals that are no rivals of one another.
    """

    def __init__(
        self,
        assertions: Mapping[str, Sequence[Assertion]],
        shared: Mapping[str, Collection[Hashable]],
        together: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        """`assertions` by triple, raw; `shared` names the timelines a triple must have to itself (none: nothing).

        `together` names the triples that a person let stand beside a triple all the same: no rivals of it.
        """
        self._raw = assertions
        self._shared = shared
        self._together = together or {}
        self._on: dict[Hashable, list[str]] = defaultdict(list)
        for triple in sorted(assertions):
            for timeline in shared.get(triple, ()):
                self._on[timeline].append(triple)
        self._placed: dict[str, list[Assertion]] = {}
        self._live: dict[str, list[Assertion]] = {}
        self._fixed: dict[str, Fixed | None] = {}
        self._correctors: dict[Hashable, list[Assertion]] = {}
        self._openings: dict[Hashable, list[_Cut]] = {}
        self._disputed = {t for t, said in assertions.items() for a in said if a.denies or a.corrects or a.fixes}
        self._disputing = {timeline for t in self._disputed for timeline in shared.get(t, ())}

    def spans(self, triple: str, temporal: Temporal) -> list[Span]:
        """The intervals in which the triple held, in the order of the world."""
        own = self._settled(triple)
        if not own:
            return []
        if temporal == "eternal":
            return [Span(support=[a.id for a in own])]
        fixed = self._told_apart(triple)
        free = own if fixed is None else fixed.free
        if temporal == "event":
            return _events(free, [] if fixed is None else fixed.spans)
        cuts = _Cuts(self._beside(triple), [self._opening(t) for t in self._shared.get(triple, ())])
        found = _walk([_without_event_end(a) for a in free], cuts)
        if fixed is not None:
            found = sorted([*found, *map(_copy, fixed.spans)], key=_span_order)
        _close(found, cuts)
        self._bound(triple, found)
        return found

    def of(self, triple: str) -> Collection[Hashable]:
        """The timelines that a triple must have to itself."""
        return self._shared.get(triple, ())

    def on(self, timeline: Hashable) -> Sequence[str]:
        """The triples on a timeline."""
        return self._on[timeline]

    def may_stand_beside(self, triple: str, other: str) -> bool:
        """Is one no rival of the other, being the same or by a person's leave?"""
        return other in self._beside(triple)

    def said(self, triple: str) -> Sequence[Assertion]:
        """The assertions of a triple that count."""
        return self._settled(triple)

    def _beside(self, triple: str) -> frozenset[str]:
        return frozenset((triple, *self._together.get(triple, ())))

    def _told_apart(self, triple: str) -> Fixed | None:
        """What people fixed of a triple; None where nobody did."""
        if triple not in self._disputed:
            return None
        if triple not in self._fixed:
            own = self._settled(triple)
            fixed = tell_apart(own, _alone) if any(a.fixes for a in own) else None
            self._fixed[triple] = fixed and Fixed(_in_order(fixed.free), fixed.spans)
        return self._fixed[triple]

    def _seen_by_rivals(self, triple: str) -> list[Assertion]:
        fixed = self._told_apart(triple)
        return self._settled(triple) if fixed is None else fixed.openings

    def _bound(self, triple: str, found: list[Span]) -> None:
        """What is only known to have ended did not hold while a rival did: it began after the last one before it."""
        if not found or found[0].opens is not None or found[0].end is None:
            return
        end = found[0].end
        beside = self._beside(triple)
        on = (r for timeline in self.of(triple) for r in self._on[timeline] if r not in beside)
        rivals = (a for rival in on for a in self._seen_by_rivals(rival))
        found[0].not_before = max(filter(None, (_held_until(a, end) for a in rivals)), default=None)

    def _all_on(self, triple: str) -> Iterator[Assertion]:
        yield from self._raw[triple]
        for timeline in self._shared.get(triple, ()):
            for rival in self._on[timeline]:
                if rival != triple:
                    yield from self._raw[rival]

    def _place(self, triple: str) -> list[Assertion]:
        """A correction "B, not A" without a date of its own begins where A was said to begin."""
        if triple not in self._placed:
            raw = self._raw[triple]
            heirs = any(inherits(a) for a in raw)
            pool = list(self._all_on(triple)) if heirs else []
            self._placed[triple] = [with_start_of_replaced(a, pool) if inherits(a) else a for a in raw]
        return self._placed[triple]

    def _correcting(self, timeline: Hashable) -> list[Assertion]:
        if timeline not in self._correctors:
            self._correctors[timeline] = [
                a for triple in self._on[timeline] for a in self._place(triple) if a.corrects and not a.denies
            ]
        return self._correctors[timeline]

    def _settled(self, triple: str) -> list[Assertion]:
        """The assertions that count, in an order of their content: not denials, not denied, not corrected away."""
        live = self._live.get(triple)
        if live is None:
            live = self._live[triple] = (
                self._judged(triple) if self._in_dispute(triple) else _in_order(self._raw[triple])
            )
        return live

    def _in_dispute(self, triple: str) -> bool:
        return triple in self._disputed or any(t in self._disputing for t in self._shared.get(triple, ()))

    def _judged(self, triple: str) -> list[Assertion]:
        own = self._place(triple)
        denials = [a for a in own if a.denies]
        correctors = [a for a in own if a.corrects and not a.denies]
        beside = self._beside(triple)
        for timeline in self._shared.get(triple, ()):
            correctors += [c for c in self._correcting(timeline) if c.value not in beside]
        counted = [
            a
            for a in own
            if not a.denies
            and not any(denied(a, d) for d in denials)
            and not any(corrected(a, c) for c in correctors if c.id != a.id)
        ]
        words = any(a.fixes for a in counted)  # a person saw what was said, not what we made of it
        return sorted(counted, key=_order) if words else _in_order(counted)

    def _opening(self, timeline: Hashable) -> list[_Cut]:
        if timeline not in self._openings:
            self._openings[timeline] = sorted(
                (a.placed_start, -PRECISIONS.index(a.start_precision or "second"), triple)
                for triple in self._on[timeline]
                for a in self._seen_by_rivals(triple)
                if a.placed_start is not None
            )
        return self._openings[timeline]


def spans(assertions: Sequence[Assertion], rivals: Sequence[Assertion], temporal: Temporal) -> list[Span]:
    """The spans of one triple whose rivals all share one timeline with it and with one another.

    `rivals` are the assertions of the other values (none for a relation without uniqueness). Both are taken raw.
    """
    if not assertions:
        return []
    by_value: dict[str, list[Assertion]] = defaultdict(list)
    for a in (*assertions, *rivals):
        by_value[a.value].append(a)
    return Timelines(by_value, dict.fromkeys(by_value, ("all",))).spans(assertions[0].value, temporal)


_Cut = tuple[datetime, int, str]


@dataclass(frozen=True, slots=True)
class _Cuts:
    """Where rivals open, on each timeline that a triple must have to itself: all but what stands `beside` it."""

    beside: frozenset[str]
    timelines: list[list[_Cut]]

    def after(self, at: datetime | None) -> tuple[datetime, Precision] | None:
        """The first rival opening later than `at` (None: the first of all), the finest where several are equal."""
        found: list[_Cut] = []
        for openings in self.timelines:
            i = 0 if at is None else bisect_right(openings, at, key=lambda cut: cut[0])
            while i < len(openings) and openings[i][2] in self.beside:
                i += 1
            found += openings[i : i + 1]
        if not found:
            return None
        first = min(found)
        return first[0], PRECISIONS[-first[1]]


def _in_order(own: Sequence[Assertion]) -> list[Assertion]:
    """Refined, in an order of their content."""
    return list(own) if len(own) == 1 else sorted(_refined(list(own)), key=_order)


def _alone(own: list[Assertion]) -> list[Span]:
    """The spans of one triple as if it had no rivals."""
    return _walk([_without_event_end(a) for a in _in_order(own)], _Cuts(frozenset(), []))


def _copy(span: Span, *, event: bool = False) -> Span:
    """What is said of one stretch may be walked more than once."""
    return replace(span, support=[*span.support], ends=[*span.ends], event=event)


def _span_order(span: Span) -> tuple[datetime, datetime]:
    first = datetime.min.replace(tzinfo=UTC)
    return span.opens or first, span.end or EVER


def _held_until(a: Assertion, before: datetime) -> datetime | None:
    """A moment earlier than `before` up to which a rival's assertion says that the rival held."""
    if a.end is not None and a.end < before:
        return a.end
    at = a.placed_start
    if at is None:
        return None
    after = bucket_end(at, a.start_precision or "day")
    return after if after < before else None


def _refined(own: list[Assertion]) -> list[Assertion]:
    """A coarse start takes the earliest finer start said of the same triple inside its unit.

    Not across an end: "from 2024 until March 2024" and "from July 2024" are two stretches.
    """
    coarse = {a.start_precision for a in own if a.start is not None}
    if len(coarse) < 2:
        return own
    ends = sorted(a.end for a in own if a.end is not None)
    done: list[Assertion] = [a for a in own if a.start is None]
    for precision in reversed(PRECISIONS):
        finer = sorted((a.start, -PRECISIONS.index(a.start_precision)) for a in done if a.start and a.start_precision)
        done += [_refine(a, finer, ends) for a in own if a.start is not None and a.start_precision == precision]
    return done


def _refine(a: Assertion, finer: list[tuple[datetime, int]], ends: list[datetime]) -> Assertion:
    assert a.start is not None and a.start_precision is not None  # noqa: S101
    i = bisect_left(finer, a.start, key=lambda f: f[0])
    if i == len(finer) or finer[i][0] >= bucket_end(a.start, a.start_precision):
        return a
    start, precision = finer[i]
    if bisect_right(ends, start) > bisect_right(ends, a.start):
        return a
    end = _without_event_end(a) if a.at_event else a
    return replace(end, start=start, start_precision=PRECISIONS[-precision])


def _without_event_end(a: Assertion) -> Assertion:
    """The end of a moment's own unit ("in March 2023") ends no state, and no event beyond that unit."""
    return replace(a, end=None, end_precision=None) if a.at_event and a.end is not None else a


def _events(own: list[Assertion], fixed: Sequence[Span] = ()) -> list[Span]:
    found = {s.start: _copy(s, event=True) for s in fixed if s.start is not None}
    for a in own:
        if a.start is None or a.start_precision is None:
            continue
        span = found.setdefault(a.start, Span(start=a.start, start_precision=a.start_precision, event=True))
        _support(span, a)
        if a.end is not None and (not a.at_event or a.end > bucket_end(a.start, a.start_precision)):
            _state_end(span, a)
    undated = [a for a in own if a.start is None]
    if undated and not found:
        found[EVER] = Span(event=True)
    first = found[min(found)]
    for a in undated:
        _support(first, a)
    return [found[at] for at in sorted(found)]


def _position(a: Assertion) -> tuple[datetime, int]:
    """Where the walk meets an assertion; ends come before starts at the same moment."""
    if a.start is not None:
        return a.start, 1
    if a.end is not None:
        return a.end, 0
    assert a.attested is not None, "unplaced assertions do not take part in the walk"  # noqa: S101
    return a.attested, 2 if a.end_precision is None else 0


def _placed(a: Assertion) -> bool:
    return a.start is not None or a.end is not None or a.attested is not None


def _walk(own: list[Assertion], cuts: _Cuts) -> list[Span]:
    found: list[Span] = []
    if len(own) == 1 and own[0].placed_start is not None:
        _meet_start(found, own[0], cuts)
        return found
    for a in sorted((a for a in own if _placed(a)), key=_position):  # stable: `own` comes in the order of its content
        if a.placed_start is not None:
            _meet_start(found, a, cuts)
        else:
            _meet_end(found, a)
    for a in sorted((a for a in own if not _placed(a)), key=lambda a: a.ends_unknown):
        if not found:
            found.append(Span())
        _support(found[-1], a)
        if a.ends_unknown:
            _state_end(found[-1], a)
    return found


def _meet_start(found: list[Span], a: Assertion, cuts: _Cuts) -> None:
    at = a.placed_start
    assert at is not None  # noqa: S101
    if not found or not _continues(found[-1], a, at, cuts):
        found.append(Span(start=a.start, start_precision=a.start_precision))
    _support(found[-1], a)
    if a.end_precision is not None:
        _state_end(found[-1], a)


def _continues(span: Span, a: Assertion, at: datetime, cuts: _Cuts) -> bool:
    """Does `a` speak of the same stretch as `span`?"""
    if span.start is None and a.start is not None:
        return False  # attested earlier than this start, or ended before it: an earlier stretch
    if span.end is not None:
        return at < span.end
    cut = cuts.after(span.opens)
    if cut is not None and cut[0] <= at:
        return False
    if span.end_precision == "unknown":
        return span.attested_to is not None and at < span.attested_to
    return True


def _support(span: Span, a: Assertion) -> None:
    span.support.append(a.id)
    if a.attested is not None and a.end_precision is None:
        span.attested_from = min(span.attested_from or a.attested, a.attested)
    if a.placed_start is not None:
        span.last = max(span.last or a.placed_start, a.placed_start)


def _meet_end(found: list[Span], a: Assertion) -> None:
    at = a.end or a.attested
    for span in reversed(found):
        if at is None or span.opens is None or span.opens < at:
            break
    else:
        span = Span()
        found.insert(0, span)
    _support(span, a)
    _state_end(span, a)


def _state_end(span: Span, a: Assertion) -> None:
    """Take an end that was said: dated before unknown, the finer inside one unit, the later of two apart."""
    span.ends.append(a)
    if a.ends_unknown:
        if span.end is not None:
            return
        _state_unknown_end(span, a)
        return
    assert a.end is not None and a.end_precision is not None and a.end_precision != "unknown"  # noqa: S101
    if span.end is not None:
        assert span.end_precision is not None and span.end_precision != "unknown"  # noqa: S101
        apart = bucket_start(a.end, a.end_precision) >= span.end
        refines = bucket_start(span.end, span.end_precision) < a.end <= span.end
        if not (apart or (refines and _finer(a.end_precision, span.end_precision))):
            return
    span.end, span.end_precision, span.end_origin, span.attested_to = a.end, a.end_precision, "stated", None


def _state_unknown_end(span: Span, a: Assertion) -> None:
    """Held up to the earliest document that says it was over, else as far as something vouches for it."""
    known = span.end_precision == "unknown"
    vouched = a.attested is None or (span.opens is not None and a.attested <= max(span.opens, a.start or span.opens))
    if known and vouched and not span.vouched:
        return
    bound = _vouched_for(span, a) if vouched else a.attested
    if known and vouched == span.vouched and span.attested_to is not None and bound is not None:
        bound = max(bound, span.attested_to) if vouched else min(bound, span.attested_to)
    span.end_precision, span.end_origin, span.attested_to, span.vouched = "unknown", "stated", bound, vouched


def _vouched_for(span: Span, a: Assertion) -> datetime | None:
    """The last moment at which something places the value here."""
    moments = [bucket_end(s.start, s.start_precision) for s in (span, a) if s.start and s.start_precision]
    if span.last is not None:
        moments.append(bucket_end(truncate(span.last, "day"), "day"))
    return max(moments, default=None)


def _finer(a: Precision, b: Precision) -> bool:
    return PRECISIONS.index(a) > PRECISIONS.index(b)


def _close(found: list[Span], cuts: _Cuts) -> None:
    """End each span where a rival or the next stretch of its own begins, unless its own words end it earlier."""
    for span, following in zip_longest(found, found[1:]):
        if span.opens is None or span.end_fixed:
            continue
        ahead = cuts.after(span.opens)
        if following is not None and (at := following.opens) is not None:
            again = (at, following.start_precision or "second")
            ahead = again if ahead is None or at < ahead[0] else ahead
        if ahead is not None:
            _cut(span, *ahead)


def _cut(span: Span, at: datetime, precision: Precision) -> None:
    if span.end_precision == "unknown":
        if span.attested_to is None or at < span.attested_to:
            span.attested_to = at
        return
    if span.end is None:
        span.end, span.end_precision, span.end_origin = at, precision, "engine"
        return
    assert span.end_precision is not None  # noqa: S101
    # "until July" and a successor from 5 July: the end lies in July, and the successor says where.
    said_later = span.last is not None and span.last >= at
    if bucket_start(span.end, span.end_precision) <= at < span.end and not said_later:
        span.end, span.end_precision = at, precision
