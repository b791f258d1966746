"""multilingual-e5-small (Wang et al., 2024): 384 dimensions, about 100 languages, 512 tokens; the default.

The encoder is int8 ONNX; the word table, four fifths of the parameters, stays in the 4-bit file, from which
only the rows of the words at hand are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from substrate.models import carrier_path, model_path
from substrate.retrieval.embedders.local import Ids, LocalEmbedder, Sessions
from substrate.retrieval.embedders.q4_file import Q4File, dequantise
from substrate.retrieval.embedders.unigram import Unigram

if TYPE_CHECKING:
    from substrate.settings import Settings

NAME = "e5-small-int8@1"
PREFIXES = ("passage: ", "query: ")
"""The model was trained with these words before each text."""


class WordTable:
    """Ids to what the encoder reads: word row plus position row plus the one token type."""

    def __init__(self, weights: Q4File) -> None:
        sizes = weights.sizes
        self._hidden = sizes.hidden
        self._words = weights.packed_rows("emb.word", sizes.vocabulary, sizes.hidden)
        positions = weights.vector("emb.pos").reshape(-1, sizes.hidden)
        self._positions = positions + weights.vector("emb.type").reshape(-1, sizes.hidden)[0]

    def feeds(self, ids: Ids, mask: Ids) -> Mapping[str, Any]:
        """``embeds``, float32 ``(1, tokens, hidden)``, and the mask."""
        words = dequantise(self._words[ids.ravel()], self._hidden)
        embeds = words.reshape(*ids.shape, self._hidden) + self._positions[: ids.shape[1]]
        return {"embeds": embeds.astype(np.float32, copy=False), "attention_mask": mask}


def open_e5(settings: Settings) -> LocalEmbedder:
    """Load the model; raises `ModelUnavailable` when it is not built or not the pinned one."""
    directory = model_path(settings, "e5-small")
    weights = Q4File(carrier_path(settings, "e5-small"))
    return LocalEmbedder(
        NAME,
        weights.sizes.hidden,
        Unigram(weights.vocabulary, weights.sizes.positions),
        Sessions(directory / "encoder.int8.onnx", settings.threads),
        WordTable(weights).feeds,
        PREFIXES,
        "e5-small",
    )
