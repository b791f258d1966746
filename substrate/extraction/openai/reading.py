"""The answers about one passage, put together: its claims, and a drop for each item that is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from substrate.extraction.claims import Claim, Drop, Extraction, Passage
from substrate.extraction.openai.answers import Answer
from substrate.extraction.openai.items import Page, read_item, shown
from substrate.extraction.openai.replies import Reply, read_reply
from substrate.extraction.times import NumericOrder

_EXAMPLE = 200


class Reading:
    """Takes the answer to a passage and, where that was cut, those that go on after it.

    Every item of every answer is a claim or a drop in the end: one that comes twice is a ``repeated_item``, the one
    that an answer was cut in is a ``truncated_reply``.
    """

    def __init__(self, passage: Passage, order: NumericOrder | None = None) -> None:
        self._page = Page.of(passage, order)
        self._claims: dict[Claim, None] = {}
        self._drops: list[Drop] = []
        self.items: list[Any] = []
        """What was said in whole, as decoded."""
        self._cut = False
        self._idle = 0

    @property
    def may_go_on(self) -> bool:
        """Whether the last answer was cut, and it is not the second in a row that said nothing new before that."""
        return self._cut and self._idle < 2

    def take(self, answer: Answer) -> None:
        """Take up one more answer."""
        before = len(self.items)
        if answer.refusal:
            self._cut = answer.cut
            self._drop("truncated_reply" if answer.cut else "chunk_unextracted", answer.refusal)
        else:
            self._take(answer, read_reply(answer.text))
        self._idle = 0 if len(self.items) > before else self._idle + 1

    def _take(self, answer: Answer, reply: Reply) -> None:
        for text in reply.broken:
            self._drop("malformed_item", "not JSON", text)
        self._cut = reply.cut or (answer.cut and not reply.found)
        if self._cut:
            self._drop("truncated_reply", f"cut after {len(reply.items)} whole items", answer.text[-_EXAMPLE:])
        elif not reply.found:
            self._drop("chunk_unextracted", "the reply holds no list of statements", answer.text)
        for item in reply.items if reply.found else ():
            if self._item(item):
                self.items.append(item)

    def _item(self, item: Any) -> bool:
        """Whether it was new."""
        if item in self.items:
            self._drop("repeated_item", "the same statement again", shown(item))
            return False
        claim, dropped = read_item(item, self._page)
        if claim is not None and claim in self._claims:
            self._drop("repeated_item", "the same statement again", shown(item))
        elif claim is not None:
            self._claims[claim] = None
        self._drops += dropped
        return True

    def _drop(self, code: str, detail: str, example: str = "") -> None:
        self._drops.append(Drop(code, detail, example))

    def extraction(self, usage: Mapping[str, int]) -> Extraction:
        """All there is by now, with what it cost."""
        return Extraction(tuple(self._claims), tuple(_storable(drop) for drop in self._drops), usage)


def _storable(drop: Drop) -> Drop:
    """A model can write half a surrogate pair, which no database takes."""
    detail, example = (text[:_EXAMPLE].encode("utf-8", "replace").decode() for text in (drop.detail, drop.example))
    return Drop(drop.code, detail, example)
