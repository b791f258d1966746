"""Conversations: texts and JSON lists in which each line or item says who speaks and when.

A message is a block of its own, since that is the unit people ask for ("what did she say?"). Only lines that carry a
day or a clock time are taken for messages: "Owner: Mia Chen" is a field of a form, "Revenue (2023): 5 million"
a figure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from substrate.documents.blocks import Block

_NAME = r"(?:[^\s:\[\]()<>{}#*|][^:\[\]()<>{}|\n]{0,58}?)"
_STAMP = r"\d[\d\s,./:TZapmAPM+-]{2,30}"
_LINE = re.compile(
    rf"{_NAME} ?\((?P<in>[^()\n]{{4,60}})\): ?(?=\S)|\[(?P<at>{_STAMP})\] ?{_NAME}: ?(?=\S)"
    rf"|(?P<on>{_STAMP}) [-–] {_NAME}: ?(?=\S)"
)
_DAY_OR_CLOCK = re.compile(
    r"\d{1,2}:\d\d|\d{4}-\d\d-\d\d|\d{1,2}[/.]\d{1,2}[/.]\d{2,4}|\b\d{1,2}(?:st|nd|rd|th)? [A-Za-z]{3,9}\b"
    r"|\b[A-Za-z]{3,9}\.? \d{1,2}(?:st|nd|rd|th)?\b|\d{1,2}月\d{1,2}[日号]"
)
_LEAST = 2
"""Messages below which a text is no conversation."""
_SPEAKERS = ("speaker", "author", "sender", "from", "user", "name", "role")
_TEXTS = ("text", "content", "message", "body")
_TIMES = ("time", "timestamp", "date", "sent_at", "created_at")


def read_conversation(text: str) -> tuple[Block, ...]:
    """The messages of a text, in order, what stands before the first one as paragraphs; () if it is none.

    It is one where at least half of its lines begin a message, after a head of at most three lines. Other lines go
    on with the message above them.
    """
    lines = [(number, line.strip()) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    first = next((i for i, (_, line) in enumerate(lines[:4]) if _begins(line)), None)
    if first is None:
        return ()
    told = lines[first:]
    begun = [i for i, (_, line) in enumerate(told) if _begins(line)]
    if len(begun) < _LEAST or len(begun) * 2 < len(told):
        return ()
    head = [Block("paragraph", line, anchor={"line": number}) for number, line in lines[:first]]
    return (*head, *_messages(told, begun))


def _begins(line: str) -> bool:
    match = _LINE.match(line)
    return match is not None and bool(_DAY_OR_CLOCK.search(match["in"] or match["at"] or match["on"]))


def _messages(told: Sequence[tuple[int, str]], begun: Sequence[int]) -> Iterator[Block]:
    for start, end in zip(begun, [*begun[1:], len(told)], strict=True):
        yield Block("message", "\n".join(line for _, line in told[start:end]), anchor={"line": told[start][0]})


def conversation_of(items: Any) -> tuple[Block, ...]:
    """The messages of a JSON list whose every item has a speaker and a text; () if it is none."""
    if not isinstance(items, list) or len(items) < _LEAST or not all(isinstance(item, dict) for item in items):
        return ()
    speaker, text = _key(items, _SPEAKERS), _key(items, _TEXTS)
    if speaker is None or text is None:
        return ()
    time = _key(items, _TIMES)
    return tuple(
        Block("message", _line(item[speaker], item[time] if time else "", item[text]), anchor={"item": number})
        for number, item in enumerate(items)
        if item[text].strip()
    )


def _key(items: Sequence[dict[str, Any]], known: Sequence[str]) -> str | None:
    return next((key for key in known if all(isinstance(item.get(key), str) for item in items)), None)


def _line(speaker: str, time: str, text: str) -> str:
    when = f" ({time.strip()})" if time.strip() else ""
    return f"{speaker.strip()}{when}: {text.strip()}"
