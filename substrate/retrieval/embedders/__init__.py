"""Embedders: texts to vectors, by a local model or by an OpenAI-compatible endpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from substrate.retrieval.embedders.protocol import Embedder, Vectors

if TYPE_CHECKING:
    from substrate.settings import Settings

__all__ = ["Embedder", "Vectors", "open_embedder"]


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
