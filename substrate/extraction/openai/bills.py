"""What a passage has cost so far, over all its tries; counted by the server, else estimated here."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from substrate.extraction.openai.answers import Answer

BYTES_PER_TOKEN = 4
"""UTF-8; near enough for English, and on the safe side of most tokenizers for other scripts by a third at most."""
KINDS = ("prompt_tokens", "completion_tokens")


class Bill:
    """Counts of one passage; a try whose answer was of no use is paid like any other."""

    def __init__(self) -> None:
        self._counts = dict.fromkeys(KINDS, 0)
        self._estimated = 0
        self._lock = threading.Lock()

    def add(self, answer: Answer, asked: str) -> None:
        """Take up an answer to the text `asked`. What the server does not count is estimated and counted apart."""
        guess = estimated(asked, answer.text)
        with self._lock:
            for kind in KINDS:
                told = answer.usage.get(kind, 0)
                self._counts[kind] += told
                # An answer may well be of no tokens; a prompt is not.
                if not told and not any(answer.usage.get(k, 0) for k in KINDS):
                    self._estimated += guess[kind]

    @property
    def counts(self) -> Mapping[str, int]:
        """By the kinds of ``Extraction.usage``; ``estimated_tokens`` only where there are any."""
        with self._lock:
            more = {"estimated_tokens": self._estimated} if self._estimated else {}
            return {**self._counts, **more}


def estimated(asked: str, answer: str) -> dict[str, int]:
    """Tokens by kind of a call that sends and brings these texts."""
    return {"prompt_tokens": _tokens(asked), "completion_tokens": _tokens(answer)}


def _tokens(text: str) -> int:
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)
