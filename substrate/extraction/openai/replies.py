"""A model's reply, taken apart so that one bad or cut item loses itself alone.

Models wrap JSON in fences and prose, think aloud before it, are cut in the middle, or write one item that is no JSON.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_LIST = re.compile(r"\"statements\"\s*:\s*\[")
_BARE_LIST = re.compile(r"\[\s*(?=[{\]])")
_NEXT_ITEM = re.compile(r"\}\s*,\s*(?=\{\s*\"(?:quote|subject)\")")
_BETWEEN = re.compile(r"[\s,]*")
_DECODER = json.JSONDecoder(strict=False)


@dataclass(slots=True)
class Reply:
    """The items of a reply, as decoded and not yet judged."""

    items: list[Any] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    """The text of items that are no JSON."""
    found: bool = True
    """False where no list of statements is in the reply at all."""
    cut: bool = False
    """The list never closes."""


def read_reply(text: str) -> Reply:
    """The statements of `text`. Nothing is raised: what cannot be read is told in the result."""
    whole = _decoded(text.strip())
    if whole is not None:
        return whole
    # Some servers give the thoughts without the tag that opens them.
    text = _THOUGHT.sub(" ", text).rpartition("</think>")[2]
    named = _LIST.search(text)
    if named is not None:
        return _walk(text, named.end())
    listed, single = _BARE_LIST.search(text), text.find("{")
    # A list that begins within an object may be a part of the one statement.
    if single >= 0 and (listed is None or single < listed.start()):
        reply = _walk(text, single, bare=True)
        if reply.found:
            return reply
    return _walk(text, listed.end()) if listed is not None else Reply(found=False)


def _decoded(text: str) -> Reply | None:
    try:
        answer = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(answer, dict) and isinstance(answer.get("statements"), list):
        return Reply(answer["statements"])
    if isinstance(answer, list):
        return Reply(answer)
    # Without a schema some models answer with the one statement itself.
    return Reply([answer]) if isinstance(answer, dict) and "quote" in answer else None


def _walk(text: str, at: int, *, bare: bool = False) -> Reply:
    """Item by item from `at`, just inside the list; `bare` items stand in no list and end with the text."""
    reply = Reply(found=not bare)
    while True:
        between = _BETWEEN.match(text, at)
        at = between.end() if between else at
        if at >= len(text):
            reply.cut = not bare
            return reply
        if text[at] in "]}" or (bare and text[at] != "{"):
            return reply
        try:
            item, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = _item_end(text, at)
            if end is None:
                reply.cut = True
                return reply
            reply.broken.append(text[at:end])
            at = end
            continue
        reply.found = reply.found or (isinstance(item, dict) and "quote" in item)
        reply.items.append(item)


def _item_end(text: str, at: int) -> int | None:
    """Where the item that begins at `at` and is no JSON ends; None where the text was cut within it."""
    end = _balanced(text, at)
    if end is not None and text[end:].lstrip()[:1] in (",", "]"):
        return end
    following = _NEXT_ITEM.search(text, at)
    if following is not None:
        return following.start() + 1
    return end


def _balanced(text: str, at: int) -> int | None:
    depth, quoted, escaped = 0, False, False
    for place in range(at, len(text)):
        sign = text[place]
        if escaped:
            escaped = False
        elif quoted:
            escaped, quoted = sign == "\\", sign != '"'
        elif sign == '"':
            quoted = True
        elif sign in "{[":
            depth += 1
        elif sign in "}]":
            depth -= 1
            if depth <= 0:
                return place + 1 if depth == 0 else place
        elif sign == "," and depth == 0:
            return place
    return None
