"""The date a document states about itself in its first lines or front matter; never a file system's."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
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
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)[a-z]*\.?"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        r"(?P<y>\d{4})-(?P<m>\d\d?)-(?P<d>\d\d?)(?:[T ](?P<h>\d\d):(?P<min>\d\d)(?::(?P<s>\d\d)(?:\.\d+)?)?"
        r"\s?(?P<zone>Z|UTC|[+-]\d\d:?\d\d)?)?",
        r"(?P<y>\d{4})[/.](?P<m>\d\d?)[/.](?P<d>\d\d?)\b",
        r"(?P<y>\d{4})\s*[年년]\s*(?:(?P<m>\d\d?)\s*[月월]\s*(?:(?P<d>\d\d?)\s*[日号일])?)?",
        rf"(?P<d>\d\d?)(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH},?\s+(?P<y>\d{{4}})\b",
        rf"{_MONTH}\s+(?P<d>\d\d?)(?:st|nd|rd|th)?,?\s+(?P<y>\d{{4}})\b",
        rf"{_MONTH},?\s+(?P<y>\d{{4}})\b",
        r"(?P<y>\d{4})-(?P<m>\d\d)\b",
        r"(?P<y>[12]\d{3})\b(?![-/.]\d)",
    )
)


def read_date(words: str) -> tuple[datetime, Precision, str] | None:
    """A written-out date at the beginning of ``words`` (a weekday may precede it): moment, precision, words.

    A time of day counts only with a zone; without one the day is what is known.
    """
    start = re.match(r"\s*(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s+)?", words, re.IGNORECASE)
    at = start.end() if start else 0
    for form in _FORMS:
        found = form.match(words, at)
        if found is not None:
            return _moment(found)
    return None


def _moment(found: re.Match[str]) -> tuple[datetime, Precision, str] | None:
    part = found.groupdict()
    month = _MONTHS.index(part["month"][:3].lower()) + 1 if part.get("month") else int(part.get("m") or 1)
    day = int(part.get("d") or 1)
    precision: Precision = "day" if part.get("d") else "month" if part.get("month") or part.get("m") else "year"
    try:
        at = datetime(int(part["y"]), month, day, tzinfo=UTC)
        if part.get("zone"):
            at = datetime.fromisoformat(found.group(0).replace("UTC", "Z").replace(" Z", "Z")).astimezone(UTC)
            precision = "second" if part.get("s") else "minute"
    except ValueError:
        return None
    return at.replace(microsecond=0), precision, found.group(0)


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
