"""What a handle (``e1``) stands for, and whether the quoted words speak of that thing at all."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from substrate.extraction.claims import Known

HANDLE = re.compile(r"e[1-9][0-9]{0,3}")
SELF = frozenset({"i", "me", "my", "myself", "我", "本人"})
PRONOUNS = SELF | {
    *("he", "him", "his", "she", "her", "hers", "it", "its", "they", "them", "their", "we", "us", "our", "you", "this"),
    *("that", "these", "those", "who", "which", "他", "她", "它", "他们", "她们", "它们", "我们", "你", "您", "其"),
}
_GENERIC = re.compile(r"\b(?:the|this|our|its)\s+[a-z]{3,}|[该本此][\u4e00-\u9fff]", re.IGNORECASE)
"""The company, this project, 该公司: a thing that was named before."""
_WORD = re.compile(r"\w+")
_SHORTEST = 3


def handled(written: str, known: Sequence[Known]) -> Known | None:
    """The thing of a handle that was given out; None for any other words."""
    if not HANDLE.fullmatch(written):
        return None
    number = int(written[1:])
    return known[number - 1] if number <= len(known) else None


def refers(thing: Known, quote: str, holds: Callable[[str], bool]) -> bool:
    """Whether the passage names `thing`, in whole, by a part or its initials, or the quote by a pronoun or a noun."""
    parts = [part for part in _WORD.findall(thing.name) if len(part) >= _SHORTEST]
    initials = "".join(word[0] for word in thing.name.split() if word[0].isupper())
    if holds(thing.name) or any(holds(part) for part in parts):
        return True
    if len(initials) > 1 and holds(initials):
        return True
    words = {word.casefold() for word in _WORD.findall(quote)}
    chinese = any(sign >= "\u4e00" and sign in quote for sign in PRONOUNS)
    return bool(words & PRONOUNS) or chinese or _GENERIC.search(quote) is not None
