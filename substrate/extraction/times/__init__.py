"""Time words: from "since last March" or "截至2024年底" to half-open UTC intervals with precision and grade.

A closed grammar. What it cannot read with certainty it does not report.
"""

from substrate.extraction.times.buckets import bucket_end
from substrate.extraction.times.finder import find_times, parse_time
from substrate.extraction.times.frames import told_by
from substrate.extraction.times.numeric import order_of
from substrate.extraction.times.points import parse_point
from substrate.extraction.times.records import Anchor, Dated, Language, NumericOrder, Shape, TimeMention

__all__ = [
    "Anchor",
    "Dated",
    "Language",
    "NumericOrder",
    "Shape",
    "TimeMention",
    "bucket_end",
    "find_times",
    "order_of",
    "parse_point",
    "parse_time",
    "told_by",
]
