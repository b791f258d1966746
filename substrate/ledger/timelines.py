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

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Literal, cast
from uuid import UUID

from substrate.axes.valid_time import PRECISIONS, Precision, bucket_end, bucket_start

Temporal = Literal["state", "event", "eternal"]
EndPrecision = Literal["year", "month", "day", "hour", "minute", "second", "unknown"]
EndOrigin = Literal["stated", "engine"]


@dataclass(frozen=True, slots=True)
class Assertion:
    """What a timeline needs to know of one assertion. `value` is its object's canonical id or normalised value."""

    id: UUID
    value: str
    start: datetime | None = None
    start_precision: Precision | None = None
    end: datetime | None = None
    end_precision: EndPrecision | None = None
    at_event: bool = False
    attested: datetime | None = None
    denies: bool = False
    corrects: bool = False
    replaces: str | None = None
    """For "B, not A": the value of A."""
    person: bool = False
    order: tuple[int, int] = (0, 0)
    """Record order; decides only between two words of people."""

    @property
    def ends_unknown(self) -> bool:
        return self.end_precision == "unknown"

    @property
    def placed_start(self) -> datetime | None:
        """Where it would open a span: its start, else its attestation, unless it only speaks of an end."""
        if self.start is not None:
            return self.start
        return None if self.end_precision is not None else self.attested


@dataclass(slots=True)
class Span:
    """One interval in which the value held, and the assertions it rests on."""

    start: datetime | None = None
    start_precision: Precision | None = None
    end: datetime | None = None
    end_precision: EndPrecision | None = None
    end_origin: EndOrigin | None = None
    attested_from: datetime | None = None
    attested_to: datetime | None = None
    support: list[UUID] = field(default_factory=list)
    event: bool = False

    @property
    def opens(self) -> datetime | None:
        """First moment at which a reader takes it to hold; None: unbounded."""
        return self.start if self.start is not None else self.attested_from

    @property
    def undated(self) -> bool:
        return self.start is None and self.end_precision is None and self.attested_from is None

    @property
    def holds(self) -> tuple[datetime | None, datetime | None]:
        """The interval readers filter by; an event without a date holds at no moment."""
        if self.event:
            if self.start is None or self.start_precision is None:
                nowhere = self.attested_from or datetime(1970, 1, 1, tzinfo=UTC)
                return nowhere, nowhere
            return self.start, self.end or bucket_end(self.start, self.start_precision)
        if self.end_precision == "unknown":
            return self.opens, self.attested_to
        return self.opens, self.end


def live(assertions: Iterable[Assertion], rivals: Iterable[Assertion]) -> list[Assertion]:
    """The assertions that count: not denials, not denied, not corrected away by another."""
    own = list(assertions)
    denials = [a for a in own if a.denies]
    correctors = [a for a in (*own, *rivals) if a.corrects and not a.denies]
    return [
        a
        for a in own
        if not a.denies
        and not any(_denied(a, d) for d in denials)
        and not any(_corrected(a, c) for c in correctors if c.id != a.id)
    ]


def _inherit(some: Sequence[Assertion], others: Sequence[Assertion]) -> list[Assertion]:
    """A correction "B, not A" without a date of its own begins where A was said to begin."""
    pool = (*some, *others)
    return [_with_start_of_replaced(a, pool) for a in some]


def _with_start_of_replaced(a: Assertion, pool: Sequence[Assertion]) -> Assertion:
    if not a.corrects or a.denies or a.replaces is None or a.start is not None or a.end_precision is not None:
        return a
    said = [o for o in pool if o.value == a.replaces and not o.denies and o.start and _said_before(o, a)]
    if not said:
        return a
    last = max(said, key=lambda o: (o.start or datetime.min.replace(tzinfo=UTC), o.start_precision or ""))
    return replace(a, start=last.start, start_precision=last.start_precision)


def _said_before(earlier: Assertion, later: Assertion) -> bool:
    """May `later` speak about `earlier`? A person outranks a text; among texts, not if the document is younger."""
    if earlier.person != later.person:
        return later.person
    if later.person:
        return earlier.order < later.order
    return earlier.attested is None or later.attested is None or earlier.attested <= later.attested


def _denied(a: Assertion, denial: Assertion) -> bool:
    if a.value != denial.value or not _said_before(a, denial):
        return False
    return denial.start is None or a.start is None or _buckets_meet(a, denial)


def _corrected(a: Assertion, c: Assertion) -> bool:
    if a.start is None or c.start is None or not _said_before(a, c):
        return False
    if a.corrects and _said_before(c, a):
        return False  # two corrections of one age: neither outranks the other
    if a.value == c.value:
        # The same thing said again with another start: the correction's start stands, unless a had ended by then.
        return not _buckets_meet(a, c) and (a.end is None or a.end > c.start)
    return _buckets_meet(a, c)


def _buckets_meet(a: Assertion, b: Assertion) -> bool:
    if a.start is None or b.start is None or a.start_precision is None or b.start_precision is None:
        return False
    return a.start < bucket_end(b.start, b.start_precision) and b.start < bucket_end(a.start, a.start_precision)


def spans(assertions: Sequence[Assertion], rivals: Sequence[Assertion], temporal: Temporal) -> list[Span]:
    """The spans of one triple.

    `rivals` are the assertions of other values on the timelines that this triple must have to itself (none for a
    relation without uniqueness). Both are taken raw; what is denied or corrected away is left out here.
    """
    assertions, rivals = _inherit(assertions, rivals), _inherit(rivals, assertions)
    own = live(assertions, rivals)
    if not own:
        return []
    if temporal == "eternal":
        return [Span(support=[a.id for a in own])]
    if temporal == "event":
        return _events(own)
    cuts = sorted(
        (a.placed_start, a.start_precision or "second") for a in live(rivals, assertions) if a.placed_start is not None
    )
    found = _walk(own, [at for at, _ in cuts])
    for span in found:
        _close(span, cuts)
    return found


def _events(own: list[Assertion]) -> list[Span]:
    found: list[Span] = []
    undated: list[Assertion] = []
    for a in sorted(own, key=_event_key):
        if a.start is None or a.start_precision is None:
            undated.append(a)
            continue
        if found and _meets(found[-1], a):
            _refine_start(found[-1], a)
        else:
            found.append(Span(start=a.start, start_precision=a.start_precision, event=True))
        _support(found[-1], a)
        if a.end is not None and (a.at_event is False or a.end > bucket_end(a.start, a.start_precision)):
            found[-1].end, found[-1].end_precision, found[-1].end_origin = a.end, a.end_precision, "stated"
    if undated:
        if not found:
            found.append(Span(event=True))
        for a in undated:
            _support(found[0], a)
    return found


def _event_key(a: Assertion) -> tuple[bool, datetime, int, str]:
    at = a.start or datetime.max.replace(tzinfo=UTC)
    return a.start is None, at, -PRECISIONS.index(a.start_precision or "second"), str(a.id)


def _position(a: Assertion) -> tuple[datetime, int, int]:
    """Where the walk meets an assertion; ends come before starts at the same moment."""
    if a.start is not None:
        return a.start, 1, PRECISIONS.index(a.start_precision or "second")
    if a.end is not None:
        return a.end, 0, 0
    at = a.attested
    assert at is not None, "unplaced assertions do not take part in the walk"  # noqa: S101
    return at, 2, 0


def _placed(a: Assertion) -> bool:
    return a.start is not None or a.end is not None or a.attested is not None


def _walk(own: list[Assertion], cuts: list[datetime]) -> list[Span]:
    found: list[Span] = []
    for a in sorted((a for a in own if _placed(a)), key=lambda a: (*_position(a), str(a.id))):
        if a.placed_start is not None:
            _meet_start(found, a, cuts)
        else:
            _meet_end(found, a)
    unplaced = [a for a in own if not _placed(a)]
    for a in sorted(unplaced, key=lambda a: (a.ends_unknown, str(a.id))):
        if not found:
            found.append(Span())
        _support(found[-1], a)
        if a.ends_unknown and found[-1].end_precision is None:
            found[-1].end_precision, found[-1].end_origin = "unknown", "stated"
            found[-1].attested_to = _last_known(found[-1])
    return found


def _last_known(span: Span) -> datetime | None:
    """For an end that nobody dated in a document that nobody dated: the last moment something vouches for."""
    if span.start is not None and span.start_precision is not None:
        return bucket_end(span.start, span.start_precision)
    return span.attested_from


def _meet_start(found: list[Span], a: Assertion, cuts: list[datetime]) -> None:
    at = a.placed_start
    assert at is not None  # noqa: S101
    current = found[-1] if found else None
    if current is None or not _continues(current, a, at, cuts):
        current = Span()
        found.append(current)
    if a.start is not None:
        _refine_start(current, a)
    _support(current, a)
    if a.end_precision is not None and not (a.at_event and a.end is not None):
        _state_end(current, a)


def _continues(span: Span, a: Assertion, at: datetime, cuts: list[datetime]) -> bool:
    """Does `a` speak of the same stretch as `span`?"""
    if _meets(span, a):
        return True
    opens = span.opens
    if any((opens is None or opens < cut) and cut <= at for cut in cuts):
        return False
    if a.start is not None and span.start is None and span.attested_from is not None:
        return False  # attested earlier than this start: an earlier stretch
    if span.end is not None:
        return at < span.end
    if span.end_precision == "unknown":
        return span.attested_to is not None and at < span.attested_to
    return True


def _meets(span: Span, a: Assertion) -> bool:
    if span.start is None or span.start_precision is None or a.start is None or a.start_precision is None:
        return False
    return span.start < bucket_end(a.start, a.start_precision) and a.start < bucket_end(
        span.start, span.start_precision
    )


def _refine_start(span: Span, a: Assertion) -> None:
    """Take the finer of two starts that may be the same moment; otherwise the earlier one stands."""
    if span.start is None or span.start_precision is None:
        span.start, span.start_precision = a.start, a.start_precision
    elif _meets(span, a) and _finer(a.start_precision, span.start_precision):
        span.start, span.start_precision = a.start, a.start_precision


def _finer(a: str | None, b: str) -> bool:
    return a is not None and PRECISIONS.index(cast(Precision, a)) > PRECISIONS.index(cast(Precision, b))


def _support(span: Span, a: Assertion) -> None:
    span.support.append(a.id)
    if a.attested is not None and a.end_precision is None:
        span.attested_from = min(span.attested_from or a.attested, a.attested)


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
    if a.ends_unknown:
        if span.end_precision is None:
            span.end_precision, span.end_origin = "unknown", "stated"
            span.attested_to = a.attested if a.attested is not None else _last_known(span)
        return
    assert a.end is not None and a.end_precision is not None and a.end_precision != "unknown"  # noqa: S101
    if span.end is None or span.end_precision in (None, "unknown"):
        span.end, span.end_precision, span.end_origin, span.attested_to = (
            a.end,
            a.end_precision,
            "stated",
            None,
        )
        return
    assert span.end_precision is not None and span.end_precision != "unknown"  # noqa: S101
    coarse = bucket_start(span.end, span.end_precision)
    refines = coarse < a.end <= span.end and _finer(a.end_precision, span.end_precision)
    extends = a.end > span.end and bucket_start(a.end, a.end_precision) > span.end
    if refines or extends:
        span.end, span.end_precision = a.end, a.end_precision


def _close(span: Span, cuts: list[tuple[datetime, Precision]]) -> None:
    """End the span where the next rival begins, unless its own words end it earlier."""
    opens = span.opens
    if opens is None:
        return
    following = next(((at, precision) for at, precision in cuts if at > opens), None)
    if following is None:
        return
    at, precision = following
    if span.end_precision == "unknown":
        if span.attested_to is None or at < span.attested_to:
            span.attested_to = at
        return
    if span.end is None:
        span.end, span.end_precision, span.end_origin = at, precision, "engine"
        return
    assert span.end_precision is not None  # noqa: S101
    # "until July" and a successor from 5 July: the end lies in July, and the successor says where.
    if bucket_start(span.end, span.end_precision) <= at < span.end:
        span.end, span.end_precision = at, precision
