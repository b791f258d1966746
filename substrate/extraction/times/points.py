"""Reads the moments that programs write: document dates and the arguments of tools."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import cache

from substrate.errors import InvalidInput
from substrate.extraction.claims import Precision
from substrate.extraction.times.buckets import bucket_end, bucket_start


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile(
        r"(?P<year>\d{4})(?:-(?P<month>\d\d)(?:-(?P<day>\d\d)"
        r"(?:[Tt ](?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.\d+)?)?"
        r" ?(?P<zone>[Zz]|[+-]\d\d:?\d\d))?)?)?",
        re.ASCII,
    )


def parse_point(text: str) -> tuple[datetime, Precision] | None:
    """``YYYY``, ``YYYY-MM``, ``YYYY-MM-DD`` or an RFC 3339 moment, as the first moment of its bucket in UTC.

    A clock time must carry its zone; fractions of a second are cut off. None for anything else, for dates
    that do not exist, and where the moment or the end of its bucket lies outside the years 1 to 9999.
    """
    match = _pattern().fullmatch(text.strip())
    if match is None:
        return None
    precision: Precision = "year"
    for name in ("month", "day", "minute", "second"):
        if match[name] is not None:
            precision = name
    try:
        start = bucket_start(_moment(match), precision)
        bucket_end(start, precision)
    except (ValueError, OverflowError, InvalidInput):
        return None
    return start, precision


def _moment(match: re.Match[str]) -> datetime:
    if match["zone"] is not None:
        zone = match["zone"].upper().replace("Z", "+0000").replace(":", "")
        clock = f"{match['hour']}{match['minute']}{match['second'] or '00'}"
        day = f"{match['year']}{match['month']}{match['day']}"
        return datetime.strptime(f"{day}{clock}{zone}", "%Y%m%d%H%M%S%z")
    return datetime(int(match["year"]), int(match["month"] or 1), int(match["day"] or 1), tzinfo=UTC)
