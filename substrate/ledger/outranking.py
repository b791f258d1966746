"""Which statement takes another away: a denial, a correction, and who may speak about whom. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from substrate.axes.valid_time import bucket_end
from substrate.ledger.spans import Assertion

EVER = datetime.max.replace(tzinfo=UTC)


def sortable(at: datetime | None, precision: str | None) -> tuple[bool, datetime, str]:
    """A moment with its precision as a key of order; what has none comes first."""
    return at is not None, at or EVER, precision or ""


def inherits(a: Assertion) -> bool:
    """Is it a correction without a date of its own?"""
    return a.corrects and not a.denies and a.replaces is not None and a.start is None and a.end_precision is None


def with_start_of_replaced(a: Assertion, pool: Sequence[Assertion]) -> Assertion:
    """`a` with the last start that was said of what it replaces."""
    said = [o for o in pool if o.value == a.replaces and not o.denies and o.start and said_before(o, a)]
    if not said:
        return a
    last = max(said, key=lambda o: sortable(o.start, o.start_precision))
    return replace(a, start=last.start, start_precision=last.start_precision)


def said_before(earlier: Assertion, later: Assertion) -> bool:
    """May `later` speak about `earlier`? A person outranks a text; among texts, not if the document is younger."""
    if earlier.person != later.person:
        return later.person
    if later.person:
        return earlier.order < later.order
    return earlier.attested is None or later.attested is None or earlier.attested <= later.attested


def denied(a: Assertion, denial: Assertion) -> bool:
    """Does a denial take `a` away?"""
    if a.value != denial.value or not said_before(a, denial):
        return False
    return denial.start is None or a.start is None or _buckets_meet(a, denial)


def corrected(a: Assertion, c: Assertion) -> bool:
    """Does the correction `c` take `a` away?"""
    if a.start is None or c.start is None or not said_before(a, c):
        return False
    if a.corrects and said_before(c, a):
        return False  # two corrections of one age: neither outranks the other
    if a.value == c.value:
        # The same thing said again with another start: the correction's start stands, unless a had ended by then.
        return not _buckets_meet(a, c) and (a.end is None or a.end > c.start)
    return _buckets_meet(a, c)


def _buckets_meet(a: Assertion, b: Assertion) -> bool:
    if a.start is None or b.start is None or a.start_precision is None or b.start_precision is None:
        return False
    return a.start < bucket_end(b.start, b.start_precision) and b.start < bucket_end(a.start, a.start_precision)
