"""Finds time expressions in running text."""

from __future__ import annotations

import re

from substrate.extraction.claims import ClaimTime
from substrate.extraction.times.buckets import bucket_end
from substrate.extraction.times.points import parse_point
from substrate.extraction.times.records import Anchor, Language, TimeMention


def find_times(
    text: str, anchor: Anchor | None = None, *, language: Language | None = None
) -> list[TimeMention]:
    """Time expressions of `text` from left to right, none overlapping."""
    found = []
    for match in re.finditer(r"(?<![\w.-])\d{4}-\d\d-\d\d(?![\w-])", text, re.ASCII):
        point = parse_point(match[0])
        if point is not None:
            end = bucket_end(*point)
            time = ClaimTime(point[0], point[1], end, point[1], words=match[0], at_event=True)
            found.append(TimeMention(match.start(), match.end(), match.start(), "point", time))
    return found


def parse_time(words: str, anchor: Anchor | None = None) -> ClaimTime | None:
    """The time `words` state if the whole of them is one time expression, else None."""
    stripped = words.strip()
    for mention in find_times(stripped, anchor):
        if (mention.start, mention.end) == (0, len(stripped)):
            return mention.time
    return None
