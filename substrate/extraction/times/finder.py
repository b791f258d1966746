"""Finds time expressions in running text."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

from substrate.extraction.claims import ClaimTime
from substrate.extraction.times import chinese_frames, english_frames, european, numeric
from substrate.extraction.times.records import Anchor, Language, NumericOrder, TimeMention

_EAST_ASIAN = re.compile("[\u4e00-\u9fff]|[0-9] ?[년월일]")


@cache
def _levelling() -> dict[int, str]:
    """One character for one, so that offsets stay true."""
    table = {ord(mark): "-" for mark in "\u2010\u2011\u2012\u2013\u2014\u2212\uff0d"}
    table |= {ord(mark): "'" for mark in "\u2018\u2019\u02bc"}
    table |= {ord(mark): " " for mark in "\t\u00a0\u2009\u202f\u3000"}
    table |= {0xFF10 + digit: str(digit) for digit in range(10)}
    table |= {0xFF0F: "/", 0xFF1A: ":", 0xFF08: "(", 0xFF09: ")", 0xFF5E: "~", 0x301C: "~"}
    return table


@cache
def _simplifying() -> dict[int, int]:
    """Traditional characters of the grammar's own words, and the Korean units that answer to them."""
    return str.maketrans("週禮個後號間從開兩來過當這內曆於為國년월일", "周礼个后号间从开两来过当这内历于为国年月日")


def _levelled(text: str) -> str:
    text = text.translate(_levelling())
    return re.sub(r"(?<!\n)\r?\n(?![\r\n])", lambda match: " " * len(match[0]), text) if "\n" in text else text


def find_times(
    text: str,
    anchor: Anchor | None = None,
    *,
    language: Language | None = None,
    order: NumericOrder | None = None,
) -> list[TimeMention]:
    """Time expressions of `text` from left to right, none overlapping.

    ``language`` None reads English, absolute dates of eight European languages, and Chinese where the text has its
    characters, Japanese and Korean dates with it. ``order`` says how
    the document is known to write 03/04/2024; without it, and where no other date of `text` shows it, such a date is
    refused.
    """
    return _found(text, anchor, language, order, whole=False)


def parse_time(words: str, anchor: Anchor | None = None) -> ClaimTime | None:
    """The time `words` state if the whole of them is one time expression, else None.

    Bare words and numbers that `find_times` would doubt ("2019", "May") are taken as dates.
    """
    stripped = words.strip()
    for mention in _found(stripped, anchor, None, None, whole=True):
        if (mention.start, mention.end) == (0, len(stripped)):
            return mention.time
    return None


def _found(
    text: str, anchor: Anchor | None, language: Language | None, order: NumericOrder | None, *, whole: bool
) -> list[TimeMention]:
    levelled = _levelled(text)
    order = order or (anchor.order if anchor else None) or numeric.order_of(levelled)
    found: list[TimeMention] = []
    if language != "zh":
        found += english_frames.Reader(levelled, anchor, order, whole).mentions()
    if language is None and (elsewhere := list(european.mentions(levelled, anchor))):
        found = _merged(found, elsewhere)
    if language == "zh" or (language is None and _EAST_ASIAN.search(text)):
        simplified = levelled.translate(_simplifying())
        found = _merged(found, list(chinese_frames.Reader(simplified, anchor).mentions()))
    return [_as_written(mention, text) for mention in found]


def _as_written(mention: TimeMention, text: str) -> TimeMention:
    words = text[mention.start : mention.end]
    return replace(mention, time=replace(mention.time, words=words))


def _merged(one: list[TimeMention], other: list[TimeMention]) -> list[TimeMention]:
    """Both lists in order; of two that overlap the longer stays."""
    kept: list[TimeMention] = []
    for mention in sorted(one + other, key=lambda mention: (mention.start, -mention.end)):
        if not kept or mention.start >= kept[-1].end:
            kept.append(mention)
        elif mention.end - mention.start > kept[-1].end - kept[-1].start:
            kept[-1] = mention
    return kept
