"""Half-open buckets of the calendar: the first moment of a unit and the first moment after it. All UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from substrate.errors import InvalidInput
from substrate.extraction.claims import Precision

_FIELDS: tuple[Precision, ...] = ("year", "month", "day", "hour", "minute", "second")
_STEPS: dict[Precision, timedelta] = {
    "day": timedelta(days=1),
    "hour": timedelta(hours=1),
    "minute": timedelta(minutes=1),
    "second": timedelta(seconds=1),
}


def fineness(precision: Precision) -> int:
    """0 for a year up to 5 for a second."""
    return _FIELDS.index(precision)


def bucket_start(at: datetime, precision: Precision) -> datetime:
    """`at` in UTC, truncated to `precision`. A naive `at` is refused with `InvalidInput`."""
    if at.tzinfo is None:
        raise InvalidInput("A moment needs a time zone.", field="at")
    at = at.astimezone(UTC)
    parts = (at.year, at.month, at.day, at.hour, at.minute, at.second)[: fineness(precision) + 1]
    year, month, day, hour, minute, second = (*parts, *(1, 1, 1, 0, 0, 0)[len(parts) :])
    return datetime(year, month, day, hour, minute, second, tzinfo=UTC)


def bucket_end(at: datetime, precision: Precision) -> datetime:
    """The first moment after the unit that holds `at`: for 2024-03-05 and month, 2024-04-01.

    Raises `InvalidInput` if that moment lies after the year 9999.
    """
    start = bucket_start(at, precision)
    try:
        if precision == "year":
            return start.replace(year=start.year + 1)
        if precision == "month":
            return add_months(start, 1)
        return start + _STEPS[precision]
    except (ValueError, OverflowError) as error:
        raise InvalidInput("The end of this unit lies after the year 9999.", field="at") from error


def add_months(at: datetime, months: int) -> datetime:
    """The same day `months` later, or the last day of that month if it has no such day.

    Raises `ValueError` outside the years 1 to 9999.
    """
    year, month0 = divmod(at.year * 12 + at.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        raise ValueError("year out of range")
    for day in (at.day, 30, 29, 28):
        try:
            return at.replace(year=year, month=month0 + 1, day=min(day, at.day))
        except ValueError:
            continue
    raise ValueError("no such day")
