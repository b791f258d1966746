"""The date a document states about itself in its first lines or front matter; never a file system's."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from itertools import islice
from typing import Literal

from substrate.documents.blocks import Block, DocumentDate

Precision = Literal["year", "month", "day", "hour", "minute", "second"]
_FIRST_LINES = 15
_LABEL = (
    r"(?:document |report |publication |issue |meeting |letter |memo )?date"
    r"(?: of (?:issue|publication|report))?"
    r"|dated|issued|published|released|reported|(?:last )?updated|effective date|datum|fecha|data"
    r"|日期|发布日期|报告日期|发布时间|时间|日付|작성일"
)
_LABELLED = re.compile(
    rf"^\W*(?:(?:{_LABEL})\s*(?:on\s*)?[:：|]|(?:dated|issued|published|released|reported|updated)(?:\s+on)?\s)"
    r"[\s*_]*(?P<words>.{4,60})",
    re.IGNORECASE,
)
# Korean units are read as the Chinese ones that they correspond to.
_KOREAN_UNITS = str.maketrans("년월일", "年月日")


def read_date(words: str) -> tuple[datetime, Precision, str] | None:
    """An absolute date at the beginning of ``words``: first moment in UTC, precision, the words it took.

    A time of day counts only with a zone; without one the day is what is known. Relative words and forms of
    more than one reading (05/07/2024) or longer than one unit (Q3 2024) give None.
    """
    from substrate.extraction.times import bucket_end, find_times, parse_point

    plain = words.strip().translate(_KOREAN_UNITS)
    for written in (plain, *plain.split()[:1]):
        point = parse_point(written.rstrip(".,;)"))
        if point is not None:
            return point[0], point[1], written
    for found in find_times(plain)[:1]:
        time = found.time
        start, precision = time.valid_from, time.valid_from_precision
        if found.start or found.shape != "point" or time.grade != "A" or start is None or precision is None:
            return None
        # A quarter or a season is longer than any precision can say.
        if time.valid_to == bucket_end(start, precision):
            return start, precision, words.strip()[: found.end]
    return None


def date_in_front_matter(value: object) -> DocumentDate | None:
    """From the ``date`` entry, as YAML gave it: a string, a date, or a moment."""
    read = read_date(str(value))
    if read is None:
        return None
    return DocumentDate(read[0], read[1], "front_matter", read[2])


def date_in_content(blocks: Iterable[Block]) -> DocumentDate | None:
    """From a labelled line among the first 15, such as ``Date: 5 July 2024`` or ``日期：2024年7月5日``."""
    lines = (line for block in blocks for line in block.text.split("\n", _FIRST_LINES))
    for line in islice(lines, _FIRST_LINES):
        labelled = _LABELLED.match(line[:160])
        read = read_date(labelled["words"]) if labelled else None
        if read is not None:
            return DocumentDate(read[0], read[1], "content", line[:160].strip())
    return None
