"""The SentencePiece unigram tokenizer of XLM-RoBERTa, which multilingual-e5 uses.

The most probable segmentation of each word is found by dynamic programming (Kudo, 2018, "Subword
Regularization", section 3.2). Characters are normalised as SentencePiece's ``nmt_nfkc`` does: the file's map
for single characters, then NFC for what only a sequence composes.
"""

from __future__ import annotations

import unicodedata

from substrate.retrieval.embedders.local import Encoding
from substrate.retrieval.embedders.q4_file import Vocabulary

SPACE = "▁"
_CACHED_WORDS = 100_000
_CACHED_LENGTH = 32
_UNKNOWN_PENALTY = 10.0


class Unigram:
    """Texts to ids; keeps the segmentation of short words it has seen."""

    def __init__(self, vocabulary: Vocabulary, limit: int) -> None:
        self.limit = limit
        self._begin, self._end, self._unknown = vocabulary.begin, vocabulary.end, vocabulary.unknown
        self._pieces = vocabulary.pieces
        self._scores: list[float] = vocabulary.scores.tolist()
        self._characters = {ord(old): new for old, new in vocabulary.characters.items()}
        self._longest = max(map(len, self._pieces))
        self._unknown_score = min(self._scores) - _UNKNOWN_PENALTY
        self._seen: dict[str, list[int]] = {}

    def encode(self, text: str) -> Encoding:
        room = self.limit - 2
        # No piece is longer than this, so what lies behind cannot become one of the first `room` pieces.
        reach = (room + 2) * self._longest
        ids: list[int] = []
        for word in self._words(text):
            ids += self._segment(word[:reach])
            if len(ids) > room:
                break
        return Encoding([self._begin, *ids[:room], self._end], len(ids) > room)

    def count(self, text: str) -> int:
        return 2 + sum(len(self._segment(word)) for word in self._words(text))

    def _words(self, text: str) -> list[str]:
        text = unicodedata.normalize("NFC", text.translate(self._characters))
        return [SPACE + word for word in text.split(" ") if word]

    def _segment(self, word: str) -> list[int]:
        known = self._seen.get(word)
        if known is None:
            known = self._best_path(word)
            if len(word) <= _CACHED_LENGTH and len(self._seen) < _CACHED_WORDS:
                self._seen[word] = known
        return known

    def _best_path(self, word: str) -> list[int]:
        size = len(word)
        best = [0.0] + [float("-inf")] * size
        came: list[tuple[int, int]] = [(0, 0)] * (size + 1)
        for start in range(size):
            base = best[start]
            for end in range(start + 1, min(size, start + self._longest) + 1):
                piece = self._pieces.get(word[start:end])
                if piece is not None and piece != self._unknown and base + self._scores[piece] > best[end]:
                    best[end], came[end] = base + self._scores[piece], (piece, start)
            if base + self._unknown_score > best[start + 1]:
                best[start + 1], came[start + 1] = base + self._unknown_score, (self._unknown, start)
        return self._walk_back(came)

    def _walk_back(self, came: list[tuple[int, int]]) -> list[int]:
        path: list[int] = []
        at = len(came) - 1
        while at > 0:
            piece, at = came[at]
            # SentencePiece merges a run of unknown characters into one token.
            if not (path and piece == self._unknown == path[-1]):
                path.append(piece)
        path.reverse()
        return path
