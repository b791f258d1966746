"""Embeddings from an endpoint that speaks OpenAI's ``POST /embeddings``.

Retries are the client's own: 408, 409, 429 and 5xx, and lost connections, with ``Retry-After`` honoured.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from substrate.endpoints import OPENAI, as_unavailable, normalise_base_url, open_client
from substrate.errors import InvalidInput, ModelUnavailable
from substrate.retrieval.embedders.protocol import Vectors, as_texts

if TYPE_CHECKING:
    import openai

    from substrate.settings import Settings

TEXTS_PER_REQUEST = 64
CHARACTERS_PER_REQUEST = 100_000
"""Below the 300,000 tokens of a request of the strictest public endpoint, whatever the script."""
REQUESTS_AT_ONCE = 4
RETRIES = 5
SECONDS_PER_REQUEST = 60.0


class OpenAIEmbedder:
    """An `Embedder` over one endpoint and one model of it."""

    token_limit = None
    truncated = 0

    def __init__(self, base_url: str, model: str, key: str | None) -> None:
        self.name = f"openai:{model}@1{_elsewhere(base_url)}"
        self.opened_by = {"embedder": "openai", "base_url": base_url, "model": model}
        self._base_url, self._model, self._key = base_url, model, key
        self._client = open_client(base_url, key, retries=RETRIES, seconds=SECONDS_PER_REQUEST)
        self._dimension: int | None = None
        self._learning = threading.Lock()

    @property
    def dimension(self) -> int:
        if self._dimension is None:
            self._request(["dimension"])
        return self._known_dimension()

    def close(self) -> None:
        """Close the connections that are kept open; the embedder is of no use afterwards."""
        self._client.close()

    def count_tokens(self, text: str) -> None:
        """The server alone knows; it refuses what is too long, which raises `ModelUnavailable`."""

    def passages(self, texts: Sequence[str]) -> Vectors:
        return self._embed(as_texts(texts))

    def queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed(as_texts(texts))

    def _embed(self, texts: list[str]) -> Vectors:
        for number, text in enumerate(texts):
            if not text.strip():
                raise InvalidInput(f"texts[{number}]: blank, which the endpoint refuses", field="texts")
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        batches = list(plan_requests(texts))
        if len(batches) == 1:
            return self._request(batches[0])
        with ThreadPoolExecutor(min(REQUESTS_AT_ONCE, len(batches))) as pool:
            pending = [pool.submit(self._request, batch) for batch in batches]
            try:
                return np.concatenate([request.result() for request in pending])
            finally:
                for request in pending:
                    request.cancel()

    def _request(self, texts: list[str]) -> Vectors:
        import openai

        try:
            answer = self._client.embeddings.create(model=self._model, input=texts, encoding_format="float")
        except (openai.OpenAIError, ValueError) as error:
            # Not chained: the original carries the server's words, which may quote the key.
            raise self._unavailable(error) from None
        return self._normalised(self._rows(answer, len(texts)))

    def _unavailable(self, error: openai.OpenAIError | ValueError) -> ModelUnavailable:
        return as_unavailable(error, self._base_url, self._model, self._key)

    def _rows(self, answer: Any, expected: int) -> Vectors:
        data = getattr(answer, "data", None)
        if not isinstance(data, list) or len(data) != expected:
            found = len(data) if isinstance(data, list) else "no"
            raise ModelUnavailable(f"{self._base_url} gave {found} vectors for {expected} texts")
        numbers = [getattr(item, "index", None) for item in data]
        # Some servers leave the index out and answer in order; anything else is no answer to this request.
        if numbers != [None] * expected:
            if sorted(numbers, key=str) != sorted(range(expected), key=str):
                raise ModelUnavailable(f"{self._base_url} numbered its vectors {numbers[:5]}…")
            data = sorted(data, key=lambda item: item.index)
        try:
            return np.array([item.embedding for item in data], np.float32)
        except (TypeError, ValueError, AttributeError):
            raise ModelUnavailable(f"{self._base_url} gave vectors of different lengths, or none") from None

    def _normalised(self, vectors: Vectors) -> Vectors:
        if vectors.ndim != 2 or not vectors.shape[1]:
            raise ModelUnavailable(f"{self._base_url} gave no vectors of numbers")
        self._learn(vectors.shape[1])
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise ModelUnavailable(f"{self._base_url} gave a vector that is zero or not finite")
        return np.asarray(vectors / lengths, np.float32)

    def _learn(self, dimension: int) -> None:
        with self._learning:
            if self._dimension is None:
                self._dimension = dimension
        known = self._known_dimension()
        if dimension != known:
            raise ModelUnavailable(
                f"{self._base_url} gave vectors of {dimension} numbers, before of {known}: another model?",
                dimension=dimension,
            )

    def _known_dimension(self) -> int:
        if self._dimension is None:
            raise ModelUnavailable(f"{self._base_url} never gave a vector")
        return self._dimension


def plan_requests(texts: Sequence[str]) -> Iterator[list[str]]:
    """The texts in order, in parts within both limits of this module; a longer text goes alone."""
    part: list[str] = []
    size = 0
    for text in texts:
        if part and (len(part) == TEXTS_PER_REQUEST or size + len(text) > CHARACTERS_PER_REQUEST):
            yield part
            part, size = [], 0
        part.append(text)
        size += len(text)
    if part:
        yield part


def _elsewhere(base_url: str) -> str:
    """Two endpoints may mean two models by one name: vectors of one are not compared with the other's."""
    return "" if base_url == OPENAI else f"#{hashlib.sha256(base_url.encode()).hexdigest()[:8]}"


def open_openai(settings: Settings) -> OpenAIEmbedder:
    """The endpoint the settings name, not yet called; raises when OpenAI's own is meant and no key is set."""
    key = settings.embedding_api_key.get_secret_value().strip() if settings.embedding_api_key else None
    if settings.embedding_base_url is None and not key:
        raise ModelUnavailable("embedder is openai: set TWOCLOCKS_EMBEDDING_API_KEY or _EMBEDDING_BASE_URL")
    base_url = normalise_base_url(settings.embedding_base_url or OPENAI, "embedding_base_url")
    return OpenAIEmbedder(base_url, settings.embedding_model, key)
