"""Choosing what fits: passages by rank under a budget of tokens, each document's title paid for once, no copies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

_WORD = re.compile(r"\w+")
_ALIKE = 0.9
"""Share of words in common, of all the words of both, from which a passage is a copy of one that is in already."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A candidate: where it stands, what it says, and what it costs in tokens beside its document's title."""

    chunk_id: UUID
    version_id: UUID
    position: int
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Packed:
    """What was chosen, in the order of reading (documents by their best passage), and what was not."""

    passages: tuple[Passage, ...]
    tokens: int
    left_out: int
    copies: int


def pack(ranked: Sequence[Passage], budget: int, titles: dict[UUID, int]) -> Packed:
    """The best passages first, as many as fit; one that does not fit leaves its place to shorter ones below it.

    `titles` gives what the line above a document's passages costs. Raises KeyError for a version without one.
    """
    chosen: list[Passage] = []
    spent = left_out = copies = 0
    seen: list[frozenset[str]] = []
    opened: dict[UUID, int] = {}
    for passage in ranked:
        words = frozenset(_WORD.findall(passage.text.casefold()))
        if any(_alike(words, other) for other in seen):
            copies += 1
            continue
        cost = passage.tokens + (0 if passage.version_id in opened else titles[passage.version_id])
        if spent + cost > budget:
            left_out += 1
            continue
        spent += cost
        opened.setdefault(passage.version_id, len(opened))
        seen.append(words)
        chosen.append(passage)
    chosen.sort(key=lambda p: (opened[p.version_id], p.position))
    return Packed(tuple(chosen), spent, left_out, copies)


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    least, most = sorted((len(one), len(other)))
    return most > 0 and least >= _ALIKE * most and len(one & other) >= _ALIKE * len(one | other)
