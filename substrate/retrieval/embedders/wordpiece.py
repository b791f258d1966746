"""The WordPiece tokenizer of uncased BERT (Devlin et al., 2019), from its ``vocab.txt``.

Markers such as ``[CLS]`` inside a text are ordinary characters here, never control tokens.
"""

from __future__ import annotations

import unicodedata
from pathlib import Path

from substrate.retrieval.embedders.local import Encoding

_CACHED_WORDS = 100_000
_LONGEST_WORD = 100
_IDEOGRAPHS = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2FA1F))


class _Clean(dict[int, str | None]):
    """Table for `str.translate`: control characters go, every kind of space becomes a plain one."""

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        value: str | None = character
        if character in "\t\n\r" or (code and unicodedata.category(character) == "Zs"):
            value = " "
        elif code in (0, 0xFFFD) or unicodedata.category(character)[0] == "C":
            value = None
        self[code] = value
        return value


class _Split(dict[int, str | None]):
    """Table for `str.translate` after NFD: accents go, punctuation and ideographs stand alone, rest lower."""

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        category = unicodedata.category(character)
        value: str | None
        if category == "Mn":
            value = None
        elif _is_punctuation(code, category) or any(low <= code <= high for low, high in _IDEOGRAPHS):
            value = f" {character} "
        else:
            value = character.lower()
        self[code] = value
        return value


def _is_punctuation(code: int, category: str) -> bool:
    # BERT counts every ASCII character that is no letter, digit or space, "$" and "+" too.
    ascii_symbol = 33 <= code <= 126 and not chr(code).isalnum()
    return ascii_symbol or category[0] == "P"


class WordPiece:
    """Texts to ids; keeps the pieces of words it has seen."""

    def __init__(self, vocabulary: Path, limit: int) -> None:
        self.limit = limit
        lines = vocabulary.read_text("utf-8").split("\n")
        self._ids = {line: number for number, line in enumerate(lines) if line}
        self._begin, self._end, self._unknown = (self._ids[mark] for mark in ("[CLS]", "[SEP]", "[UNK]"))
        self._clean, self._split = _Clean(), _Split()
        self._seen: dict[str, list[int]] = {}

    def encode(self, text: str) -> Encoding:
        room = self.limit - 2
        ids: list[int] = []
        for word in self._words(text):
            ids += self._pieces(word)
            if len(ids) > room:
                break
        return Encoding([self._begin, *ids[:room], self._end], len(ids) > room)

    def count(self, text: str) -> int:
        return 2 + sum(len(self._pieces(word)) for word in self._words(text))

    def _words(self, text: str) -> list[str]:
        clean = unicodedata.normalize("NFD", text.translate(self._clean))
        return clean.translate(self._split).split()

    def _pieces(self, word: str) -> list[int]:
        known = self._seen.get(word)
        if known is None:
            known = self._longest_first(word)
            if len(word) <= _LONGEST_WORD and len(self._seen) < _CACHED_WORDS:
                self._seen[word] = known
        return known

    def _longest_first(self, word: str) -> list[int]:
        if len(word) > _LONGEST_WORD:
            return [self._unknown]
        pieces: list[int] = []
        start = 0
        while start < len(word):
            end, piece = self._longest_from(word, start)
            if piece is None:
                return [self._unknown]
            pieces.append(piece)
            start = end
        return pieces

    def _longest_from(self, word: str, start: int) -> tuple[int, int | None]:
        mark = "##" if start else ""
        for end in range(len(word), start, -1):
            piece = self._ids.get(mark + word[start:end])
            if piece is not None:
                return end, piece
        return start, None
