"""Whether a text really says it: words found whatever the white space, quotation marks and dashes, at exact offsets."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache


@cache
def _levels() -> dict[str, str]:
    table = dict.fromkeys("\u2018\u2019\u201a\u201b\u02bc\u2032`´", "'")
    table |= dict.fromkeys("\u201c\u201d\u201e\u201f\u2033«»「」『』", '"')
    table |= dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    return table | dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", "")


def _level(sign: str) -> str:
    if sign.isspace():
        return ""
    known = _levels().get(sign)
    if known is not None:
        return known
    # Decomposed, so that an accent written as a sign of its own is the same letter.
    return sign if sign.isascii() else "".join(unicodedata.normalize("NFKD", sign).split())


class Folded:
    """A text in which words can be found as a careless copyist writes them."""

    def __init__(self, text: str, *, case: bool = True) -> None:
        self.text = text
        self._case = case
        signs: list[str] = []
        self._places: list[int] = []
        for place, sign in enumerate(text):
            for part in self._fold(sign):
                signs.append(part)
                self._places.append(place)
        self._signs = "".join(signs)

    def _fold(self, sign: str) -> str:
        level = _level(sign)
        return level if self._case else level.casefold()

    def spans(self, wanted: str) -> Iterator[tuple[int, int]]:
        """Where `wanted` stands, left to right; ``text[start:end]`` is the spelling of the text itself."""
        signs = "".join(self._fold(sign) for sign in wanted)
        at = self._signs.find(signs) if signs else -1
        while at >= 0:
            yield self._places[at], self._places[at + len(signs) - 1] + 1
            at = self._signs.find(signs, at + 1)

    def names(self, wanted: str) -> bool:
        """Whether `wanted` stands in the text as whole words; scripts without spaces have no such bounds."""
        return any(
            not _joined(self.text[start - 1 : start], self.text[start])
            and not _joined(self.text[end - 1], self.text[end : end + 1])
            for start, end in self.spans(wanted)
        )


def _joined(left: str, right: str) -> bool:
    return _lettered(left) and _lettered(right)


def _lettered(sign: str) -> bool:
    return bool(sign) and sign.isalnum() and sign < "\u2e80"


def find_quote(chunk: Folded, quote: str) -> tuple[int, int] | None:
    """Exact offsets of `quote`: as written, else but for white space, quotation marks and dashes.

    Marks around the whole are taken for the model's own. Of several places the first is meant.
    """
    bare = quote.strip().strip("\"'“”‘’").strip()
    if not any(sign.isalnum() for sign in bare):
        return None
    for wanted in (quote.strip(), bare):
        start = chunk.text.find(wanted)
        if start >= 0:
            return start, start + len(wanted)
    return next(chunk.spans(bare), None)
