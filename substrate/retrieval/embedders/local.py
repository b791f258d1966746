"""Run a sentence encoder with onnxruntime, one text at a time, several at once.

Alone, the same text gives the same bytes always (among others, even of exactly its length, the last bit differs),
memory is bounded by one text a thread, and nothing is padded. Texts of 50 tokens and more cost less so than in batches
of like length (e5: 15 to 21 ms of a core), texts of 15 a quarter more; and a thread a text fills the cores where the
threads of one small text wait for one another.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
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
        sessions: Sessions,
        feeds: Feeds,
        prefixes: tuple[str, str] = ("", ""),
        setting: str = "",
    ) -> None:
        self.name = name
        self.opened_by = {"embedder": setting}
        self.dimension = dimension
        self._tokenizer = tokenizer
        self._sessions = sessions
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
        return self._embed(as_texts(texts), self._passage, self._sessions.each)

    def queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed(as_texts(texts), self._query, self._sessions.whole)

    def _embed(self, texts: list[str], prefix: str, session: Any) -> Vectors:
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        encodings = [self._tokenizer.encode(prefix + text) for text in texts]

        def read(row: int) -> None:
            ids = np.array([encodings[row].ids], np.int64)
            vectors[row] = session.run(["embedding"], self._feeds(ids, np.ones_like(ids)))[0][0]

        # The longest first: no thread begins one when the others are done.
        order = sorted(range(len(texts)), key=lambda row: -len(encodings[row].ids))
        if session is self._sessions.whole or min(len(texts), self._sessions.threads) < 2:
            for row in order:
                read(row)
        else:
            with ThreadPoolExecutor(min(self._sessions.threads, len(texts))) as pool:
                list(pool.map(read, order))
        self._count_cuts(sum(encoding.cut for encoding in encodings))
        return vectors

    def _count_cuts(self, cuts: int) -> None:
        if cuts:
            with self._counting:
                self._truncated += cuts
            log.warning("%s: %d texts reach beyond %d tokens and were cut", self.name, cuts, self.token_limit)


class Sessions:
    """One graph for two uses: ``whole`` gives a question all threads, ``each`` gives every passage one thread."""

    def __init__(self, path: Path, threads: int) -> None:
        self._path, self.threads = path, threads
        self.whole = open_session(path, threads)
        self._opening = threading.Lock()
        self._each: Any = None

    @property
    def each(self) -> Any:
        """Opened at the first passage: who only asks questions does not pay for it."""
        with self._opening:
            if self._each is None:
                self._each = open_session(self._path, 1)
            return self._each


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
