"""Cuts a passage into lines and sentences without losing a character offset."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from substrate.extraction.builtin import vocabulary as v

Kind = Literal["heading", "bullet", "line"]

_BULLET = re.compile(r"^(?:[-*+•·–]|\(?\d{1,3}[.)、])\s+")
_HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")
_END = re.compile(r"[.!?…]+[\"”’')\]]*(?=\s|$)|[。！？；]+[”’」』）]*|;(?=\s)")
_INITIAL = re.compile(r"(?:(?:^|[\s(.])[A-Za-z]|\bi\.e|\be\.g|\bp\.a|\bL\.L\.C)\.$")
_LAST_WORD = re.compile(r"([A-Za-z]+)\.$")
_OPENS_NEXT = re.compile(
    r"\s+(?:The|An?|In|On|It|He|She|They|We|From|Since|Until|This|That|These|As|At|Its|His|Her|Their|All|After|Before|"
    r"However|Both|Correction|Effective)\b(?!\.)"
)
_ONLY_BEFORE_NUMBERS = {"no", "nos", "art", "sec", "min", "max", "ch", "al", "mon", "sun", "fig", "figs", "est"}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a passage; ``start`` is where its content begins, after any bullet or ``#`` marks."""

    kind: Kind
    text: str
    start: int
    level: int = 0

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and its offset in the passage."""

    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def lines_of(text: str) -> Iterator[Line]:
    """Non-empty lines, hard-wrapped prose joined: a line that ends mid-sentence goes on in the next."""
    held: tuple[int, int] | None = None
    for start, end in _raw_lines(text):
        line = _classify(text, start, end)
        if held is not None:
            if line.kind == "line" and _continues(text[held[0] : held[1]], line.text):
                held = (held[0], line.end)
                continue
            yield _classify(text, *held)
            held = None
        if line.kind == "heading":
            yield line
        else:
            held = (start, line.end)
    if held is not None:
        yield _classify(text, *held)


def _raw_lines(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for raw in text.splitlines(keepends=True):
        body = raw.strip()
        if body:
            start = at + raw.index(body[0])
            yield start, start + len(body)
        else:
            yield at, at
        at += len(raw)


def _classify(text: str, start: int, end: int) -> Line:
    body = text[start:end]
    if m := _HEADING.match(body):
        return Line("heading", m.group(2), start + m.start(2), len(m.group(1)))
    if m := _BULLET.match(body):
        return Line("bullet", body[m.end() :], start + m.end())
    return Line("line", body, start)


def _continues(before: str, after: str) -> bool:
    """Hard wrap: a long line without a closing mark, followed by a line that is not a new item."""
    if not before or not after or len(before) < 50 or ":" in after[:30] or "：" in after[:15]:
        return False
    return before[-1] not in ".!?:;。！？；：|" and "|" not in after


def sentences_of(line: Line) -> Iterator[Sentence]:
    """Sentences of one line, with offsets into the passage."""
    at = 0
    for m in _END.finditer(line.text):
        head = line.text[at : m.end()]
        if m.group() == "." and _abbreviated(head, line.text[m.end() :]):
            continue
        yield from _sentence(line, at, m.end())
        at = m.end()
    yield from _sentence(line, at, len(line.text))


_FULL_NAME = re.compile(r"\s+([A-Z][\w'’-]+ [A-Z][\w'’-]+)\b")
"""Named once more after "Ltd.", somebody opens a sentence."""


def _abbreviated(head: str, rest: str) -> bool:
    """Whether the full stop that ends `head` belongs to an abbreviation inside a sentence that goes on."""
    if not rest or _OPENS_NEXT.match(rest):
        return False
    if _INITIAL.search(head):
        return True
    again = _FULL_NAME.match(rest)
    if again is not None and again.group(1) in head:
        return False
    m = _LAST_WORD.search(head)
    if m is None or m.group(1).lower() not in v.ABBREVIATIONS:
        return False
    if m.group(1).lower() in _ONLY_BEFORE_NUMBERS:
        return bool(re.match(r"\s+\d", rest))
    return True


def _sentence(line: Line, start: int, end: int) -> Iterator[Sentence]:
    body = line.text[start:end]
    text = body.strip().rstrip(";；").rstrip()
    if text:
        yield Sentence(text, line.start + start + body.index(text[0]))


def is_chinese(text: str) -> bool:
    """At least a fifth of the letters are Han characters (names in Latin script are common in Chinese text)."""
    han = sum("\u4e00" <= c <= "\u9fff" for c in text)
    return han > 0 and han * 4 >= sum(c.isalpha() for c in text) - han
