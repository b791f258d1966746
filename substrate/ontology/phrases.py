"""Phrases brought to a plain form, so that "is led by", "was led by" and "led by" bind alike.

Exact after: case folding, dropping articles and auxiliaries, and a small lemmatisation of English inflection. Not a
stemmer: "leader" and "leads" stay apart, since a label or an alias must say that they mean the same.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_DROPPED = frozenset("a an the is are was were be been being has have had do does did".split())
_IRREGULAR = {
    "led": "lead", "ran": "run", "held": "hold", "left": "leave", "bought": "buy", "sold": "sell",
    "became": "become", "took": "take", "taken": "take", "gave": "give", "given": "give", "won": "win",
    "built": "build", "made": "make", "wrote": "write", "written": "write", "known": "know", "knew": "know",
    "began": "begin", "begun": "begin", "oversaw": "oversee", "overseen": "oversee", "paid": "pay", "met": "meet",
    "spoke": "speak", "grew": "grow", "chose": "choose", "chosen": "choose", "went": "go", "gone": "go",
}  # fmt: skip
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


@lru_cache(maxsize=65536)
def plain_phrase(text: str) -> str:
    """The form under which phrases are compared; never empty for text with a letter or digit."""
    words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold().replace("_", " "))
    kept = [w for w in words if w not in _DROPPED] or words
    return " ".join(_lemma(w) for w in kept) or text.strip().casefold()


def _lemma(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if not word.isascii() or len(word) < 4:
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "ches", "shes", "xes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("ed") and len(word) > 4:
        return _unsuffix(word[:-2])
    return word


def _unsuffix(stem: str) -> str:
    """The base of a past form: "owned" → own, "advised" → advise, "planned" → plan."""
    if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lsz":
        return stem[:-1]
    if stem.endswith(("is", "iv", "uc", "ag", "at", "ir", "ur", "or", "as", "os", "us", "ac", "ic", "rg", "ng")):
        return stem + "e"
    return stem
