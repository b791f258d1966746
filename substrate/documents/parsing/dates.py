"""The date a document states about itself in its first lines or front matter; never a file system's."""

from __future__ import annotations

import re
from collections.abc import Sequence

from substrate.documents.blocks import Block, DocumentDate
from substrate.extraction.times.stated import read_date, stated_date

_FIRST_LINES = 15
_DATELINE = re.compile(
    r"^\W*(?:[A-Z][A-Z.'-]+(?: [A-Z][A-Z.'-]+){0,3})(?:, [A-Z][A-Za-z. ]{1,20})?(?:, | [(–—-] ?)"
    r"(?P<words>[A-Z0-9].{5,40})"
)
"""Where a news release is from, in capitals, and when: "AUSTIN, March 4, 2011"."""
_BARE = re.compile(r"[\w ,./年月日년월일-]{8,32}", re.ASCII | re.IGNORECASE)


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
        read = stated_date(line)
        if read is not None:
            found = DocumentDate(read[0], read[1], "content", line.strip())
            return _last_of_sections(blocks, found)
    return _dateline(first) or _lone_day(lines)


def _last_of_sections(blocks: Sequence[Block], first: DocumentDate) -> DocumentDate:
    """Of a compilation whose sections each state a date, the latest: before it the whole did not exist."""
    depth, label, latest = 0, re.split(r"[:：]", first.words)[0], first
    for block in blocks:
        if block.kind == "heading":
            depth = block.level
            continue
        for line in block.text.split("\n"):
            if not line.startswith(label) or (read := stated_date(line[:160])) is None:
                continue
            if depth < 2:
                return first
            if read[0] > latest.at:
                latest = DocumentDate(read[0], read[1], "content", line.strip())
    return latest


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
