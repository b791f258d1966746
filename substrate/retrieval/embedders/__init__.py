"""Embedders: texts to vectors, by a local model or by an OpenAI-compatible endpoint."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from substrate.errors import ModelUnavailable
from substrate.retrieval.embedders.protocol import Embedder, Vectors

if TYPE_CHECKING:
    from substrate.settings import Settings

__all__ = ["Embedder", "Vectors", "open_embedder", "open_recorded", "opened_by"]

_recorded: dict[tuple[object, ...], Embedder] = {}
_opening = threading.Lock()


def open_embedder(settings: Settings) -> Embedder:
    """The embedder that ``settings.embedder`` names; loading a local one takes about half a second.

    Raises `ModelUnavailable` when its files are not built or not the right ones, or the endpoint lacks its
    key.
    """
    if settings.embedder == "openai":
        from substrate.retrieval.embedders.openai_compatible import open_openai

        return open_openai(settings)
    if settings.embedder == "minilm":
        from substrate.retrieval.embedders.minilm import open_minilm

        return open_minilm(settings)
    from substrate.retrieval.embedders.e5 import open_e5

    return open_e5(settings)


def opened_by(embedder: Embedder) -> Mapping[str, str]:
    """How another process opens the same model, without any key; nothing for a model that cannot be opened by name."""
    return dict(getattr(embedder, "opened_by", {}))


def open_recorded(settings: Settings, opening: Mapping[str, str]) -> Embedder:
    """The model that `opened_by` told of, opened once and kept. Raises `ModelUnavailable`.

    An endpoint other than the one that is set is given ``previous_embedding_api_key``, never another's key.
    """
    then: dict[str, Any] = {
        "embedder": opening.get("embedder"),
        "embedding_base_url": opening.get("base_url"),
        "embedding_model": opening.get("model") or settings.embedding_model,
    }
    if then["embedder"] not in ("e5-small", "minilm", "openai"):
        raise ModelUnavailable("it is not known how that model is opened")
    if then["embedder"] == "openai" and not _same_place(settings, opening):
        then["embedding_api_key"] = settings.previous_embedding_api_key
    key = (settings.models_dir, *sorted((name, str(value)) for name, value in then.items()))
    with _opening:
        if key not in _recorded:
            _recorded[key] = open_embedder(settings.model_copy(update=then))
        return _recorded[key]


def _same_place(settings: Settings, opening: Mapping[str, str]) -> bool:
    from substrate.endpoints import OPENAI, normalise_base_url

    mine = normalise_base_url(settings.embedding_base_url or OPENAI, "embedding_base_url")
    return mine == opening.get("base_url")
