"""Run a sentence encoder with onnxruntime, one text at a time.

Alone, the same text gives the same bytes always, memory is bounded by one text, nothing is padded, and texts
of 200 tokens go faster than in batches of 16 (e5: 13 to 7 texts/s per core); short ones lose a quarter.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from substrate.errors import ModelUnavailable
from substrate.retrieval.embedders.protocol import Vectors, as_texts

Ids = NDArray[np.int64]
log = logging.getLogger(__name__)


class Encoding(NamedTuple):
    """The token ids of one text, and whether they stop before the text does."""

    ids: list[int]
    cut: bool


class Tokenizer(Protocol):
    """Texts to ids, markers included."""

    limit: int

    def encode(self, text: str) -> Encoding:
        """At most `limit` ids."""

    def count(self, text: str) -> int:
        """The ids that the whole text has."""


Feeds = Callable[[Ids, Ids], Mapping[str, Any]]
"""From ids and mask, both int64 ``(1, tokens)``, to the inputs of the graph."""


class LocalEmbedder:
    """An `Embedder` over one onnxruntime session."""

    def __init__(
        self,
        name: str,
        dimension: int,
        tokenizer: Tokenizer,
        session: Any,
        feeds: Feeds,
        prefixes: tuple[str, str] = ("", ""),
        setting: str = "",
    ) -> None:
        self.name = name
        self.opened_by = {"embedder": setting}
        self.dimension = dimension
        self._tokenizer = tokenizer
        self._session = session
        self._feeds = feeds
        self._passage, self._query = prefixes
        self._truncated = 0
        self._counting = threading.Lock()

    @property
    def token_limit(self) -> int:
        return self._tokenizer.limit

    @property
    def truncated(self) -> int:
        return self._truncated

    def count_tokens(self, text: str) -> int:
        return self._tokenizer.count(self._passage + text)

    def passages(self, texts: Sequence[str]) -> Vectors:
        return self._embed(as_texts(texts), self._passage)

    def queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed(as_texts(texts), self._query)

    def _embed(self, texts: list[str], prefix: str) -> Vectors:
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        cuts = 0
        for row, text in enumerate(texts):
            encoding = self._tokenizer.encode(prefix + text)
            cuts += encoding.cut
            ids = np.array([encoding.ids], np.int64)
            vectors[row] = self._session.run(["embedding"], self._feeds(ids, np.ones_like(ids)))[0][0]
        self._count_cuts(cuts)
        return vectors

    def _count_cuts(self, cuts: int) -> None:
        if cuts:
            with self._counting:
                self._truncated += cuts
            log.warning("%s: %d texts reach beyond %d tokens and were cut", self.name, cuts, self.token_limit)


def open_session(path: Path, threads: int) -> Any:
    """An onnxruntime session that neither spins while idle nor keeps the memory of its largest batch."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's exceptions share no base class below this one
        raise ModelUnavailable(f"{path} cannot be loaded: {error}") from error
