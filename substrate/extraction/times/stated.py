"""The day that a document or a section says it speaks from: "Date: 5 July 2024", "会议时间：2024年7月5日"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from substrate.extraction.claims import Precision
from substrate.extraction.times.buckets import bucket_end
from substrate.extraction.times.finder import find_times
from substrate.extraction.times.points import parse_point

_LABEL = (
    r"(?:document |report |reporting |publication |issue |meeting |letter |memo |minutes |filing |release )?date"
    r"(?: of (?:issue|publication|report|meeting|the meeting|the report))?"
    r"|dated|issued|published|released|reported|submitted|filed|prepared|(?:last )?updated|effective date"
    r"|meeting (?:held )?on|held on|(?:data |figures |status )?as (?:of|at)|datum|stand|fecha|data|date de publication"
    r"|日期|发布日期|报告日期|提报日期|汇报日期|提交日期|填报日期|编制日期|签发日期|成文日期|印发日期|更新日期|会议日期|会议时间"
    r"|召开时间|开会时间|发布时间|提交时间|更新时间|(?:数据)?统计(?:截止|截至)(?:日期|时间)?|数据截[止至](?:日期|时间)?|时间|日付|작성일"
)
"""Labels of the day a document speaks from: reported, issued, met, counted. None of the next one, or of a deadline."""
_LABELLED = re.compile(
    rf"^\W*(?:(?:{_LABEL})\s*(?:on\s*)?[:：|]|(?:dated|issued|published|released|reported|updated|held)(?:\s+on)?\s)"
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


def stated_date(line: str) -> tuple[datetime, Precision, str] | None:
    """The date of a line that is labelled as the day it is written, issued, met or counted on; see `read_date`."""
    labelled = _LABELLED.match(line)
    return read_date(labelled["words"]) if labelled else None


def section_date(openings: Sequence[str]) -> tuple[datetime, Precision] | None:
    """The date that the innermost of the sections which state one states of itself; `openings` from outside in."""
    for opening in reversed(openings):
        for line in opening.splitlines():
            stated = stated_date(line)
            if stated is not None:
                return stated[0], stated[1]
    return None
