"""The world's clock: buckets of a stated precision, and the only spelling of "held in the world at".

An instant is stored truncated to its precision; its bucket is the half-open interval of moments it may mean.
A fact row carries ``holds_from``/``holds_to`` (null: unbounded), computed once by the ledger, so that a read
compares two plain columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from substrate.errors import InvalidInput

Precision = Literal["year", "month", "day", "hour", "minute", "second"]
PRECISIONS: tuple[Precision, ...] = ("year", "month", "day", "hour", "minute", "second")
_STEP = {
    "day": timedelta(days=1),
    "hour": timedelta(hours=1),
    "minute": timedelta(minutes=1),
    "second": timedelta(seconds=1),
}
_ZERO = {"month": 1, "day": 1, "hour": 0, "minute": 0, "second": 0}


@dataclass(frozen=True, slots=True)
class Bucket:
    """A half-open interval of moments, UTC: what a date of some precision may mean."""

    start: datetime
    end: datetime


def truncate(at: datetime, precision: Precision) -> datetime:
    """The first moment of the bucket of `precision` that holds `at`. `at` must carry a zone."""
    if at.tzinfo is None:
        raise InvalidInput("a time needs a zone", field="at")
    finer = PRECISIONS[PRECISIONS.index(precision) + 1 :]
    return at.astimezone(UTC).replace(microsecond=0, **{unit: _ZERO[unit] for unit in finer})  # type: ignore[arg-type]


def bucket_end(start: datetime, precision: Precision) -> datetime:
    """The first moment after the bucket that begins at `start`; year 9999 ends at its last representable moment."""
    try:
        if precision == "year":
            return start.replace(year=start.year + 1)
        if precision == "month":
            return start.replace(year=start.year + start.month // 12, month=start.month % 12 + 1)
        return start + _STEP[precision]
    except (ValueError, OverflowError):
        return datetime.max.replace(tzinfo=UTC)


def bucket(at: datetime, precision: Precision) -> Bucket:
    """The bucket of `precision` around `at`."""
    start = truncate(at, precision)
    return Bucket(start, bucket_end(start, precision))


def bucket_start(end: datetime, precision: Precision) -> datetime:
    """The first moment of the unit that an exclusive `end` of `precision` closes (2024-04-01, month → 2024-03-01)."""
    return truncate(end - timedelta(microseconds=1), precision)


def holds(alias: str, valid_at: Bucket | None) -> str:
    """SQL: did the row hold at some moment of `valid_at`? Without one, every row does.

    Binds ``valid_start`` and ``valid_end``; see `holds_parameters`.
    """
    if valid_at is None:
        return "true"
    return (
        f"(({alias}.holds_from is null or {alias}.holds_from < %(valid_end)s)"
        f" and ({alias}.holds_to is null or {alias}.holds_to > %(valid_start)s))"
    )


def holds_parameters(valid_at: Bucket | None) -> dict[str, object]:
    """What `holds` binds."""
    return {} if valid_at is None else {"valid_start": valid_at.start, "valid_end": valid_at.end}
