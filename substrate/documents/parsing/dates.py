"""The date a document states about itself in its first lines or front matter; never a file system's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from substrate.documents.blocks import Block, DocumentDate

Precision = Literal["year", "month", "day", "hour", "minute", "second"]
_FIRST_LINES = 15
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
_DATELINE = re.compile(
    r"^\W*(?:[A-Z][A-Z.'-]+(?: [A-Z][A-Z.'-]+){0,3})(?:, [A-Z][A-Za-z. ]{1,20})?(?:, | [(–—-] ?)"
    r"(?P<words>[A-Z0-9].{5,40})"
)
"""Where a news release is from, in capitals, and when: "AUSTIN, March 4, 2011"."""
_BARE = re.compile(r"[\w ,./年月日년월일-]{8,32}", re.ASCII | re.IGNORECASE)
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


def date_in_content(blocks: Sequence[Block]) -> DocumentDate | None:
    """What the first 15 lines say: a labelled line ("Date: 5 July 2024", "会议时间：2024年7月5日"), else a dateline.

    Else a line there that is nothing but a day, if the whole document has no other such line.
    """
    lines = [line[:160] for block in blocks for line in block.text.split("\n", _FIRST_LINES)]
    first = lines[:_FIRST_LINES]
    for line in first:
        labelled = _LABELLED.match(line)
        read = read_date(labelled["words"]) if labelled else None
        if read is not None:
            return DocumentDate(read[0], read[1], "content", line.strip())
    return _dateline(first) or _lone_day(lines)


def _dateline(lines: Sequence[str]) -> DocumentDate | None:
    for line in lines:
        found = _DATELINE.match(line)
        read = read_date(found["words"]) if found else None
        if read is not None and read[1] == "day":
            return DocumentDate(read[0], read[1], "content", line.strip())
    return None


def _lone_day(lines: Sequence[str]) -> DocumentDate | None:
    """A date by itself, as at the head of a letter; of several, each is an entry's and none the document's."""
    days = [(at, line) for at, line in enumerate(lines) if _BARE.fullmatch(line.strip())]
    if len(days) != 1 or days[0][0] >= _FIRST_LINES:
        return None
    words = days[0][1].strip()
    read = read_date(words)
    if read is None or read[1] != "day" or len(read[2].strip(" .")) < len(words.strip(" .")):
        return None
    return DocumentDate(read[0], read[1], "content", words)
