"""What the rest of the product knows about an embedder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from substrate.errors import InvalidInput

Vectors = NDArray[np.float32]
"""float32 ``(n, dimension)``, every row of length one."""


class Embedder(Protocol):
    """Turns texts into vectors whose dot product is a similarity. Safe to share between threads.

    Passages and queries are told apart because some models are trained to. Nothing is skipped: row ``i``
    belongs to text ``i``. A text beyond `token_limit` is embedded by its beginning and counted in
    `truncated`; ask `count_tokens` first where that must not happen.
    """

    @property
    def name(self) -> str:
        """Stable id, stored beside each vector: vectors of two names must not be compared."""

    @property
    def dimension(self) -> int:
        """Length of a vector. An endpoint that was never called is asked once, over the network."""

    @property
    def token_limit(self) -> int | None:
        """Tokens of one text, markers and prefix included, that the model reads; None: the server decides."""

    @property
    def truncated(self) -> int:
        """How many texts this object has cut at `token_limit` since it was opened."""

    def count_tokens(self, text: str) -> int | None:
        """Tokens of `text` as a passage, comparable with `token_limit`; None where the server alone knows."""

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts that are to be found."""

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Vectors of questions."""


def as_texts(texts: Sequence[str]) -> list[str]:
    """The texts as a list; a lone string, which would be read letter by letter, raises `InvalidInput`."""
    if isinstance(texts, str):
        raise InvalidInput("texts: a list of strings is needed, not one string", field="texts")
    found = list(texts)
    for number, text in enumerate(found):
        if not isinstance(text, str):
            raise InvalidInput(f"texts[{number}]: {type(text).__name__} is not a string", field="texts")
    return found
