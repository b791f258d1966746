"""Small readers of Chinese name phrases that the patterns share."""

from __future__ import annotations

import re

from substrate.extraction.builtin.terms import Term


def latin_kind(text: str) -> str | None:
    from substrate.extraction.builtin.names import kind_of

    return kind_of(text) if text.isascii() else None


def pronoun(text: str) -> str:
    return {"他": "he", "她": "she", "它": "it", "我": "i", "本人": "i"}.get(text, text)


def object_kind(phrase: str) -> str | None:
    return "place" if phrase in {"located in", "headquartered in", "lives in"} else None


def object_words(text: str) -> str:
    return re.sub(r"(?:的?(?:全面|日常|整体|具体)?(?:管理)?工作|的?全部股权|的?股权|一事|了)$", "", text)


def is_thing(terms: list[Term]) -> bool:
    """负责 also means "be in charge of (an activity)": only what is named as a thing is led."""
    return all(t.kind is not None or re.search(r"[A-Za-z]", t.text) for t in terms)
