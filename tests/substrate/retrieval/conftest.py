"""Fixtures of the retrieval tests: ``shelf`` (documents by name) and ``ask`` (one search in a snapshot of its own)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from shelf import LetterEmbedder, Shelf

from substrate.reads.moments import resolve
from substrate.retrieval.search import search_chunks


@pytest.fixture
def shelf(database, kb) -> Shelf:
    return Shelf(database, kb)


@pytest.fixture
def letters() -> LetterEmbedder:
    return LetterEmbedder()


@pytest.fixture
def ask(database, kb, settings) -> Callable[..., dict[str, Any]]:
    """``ask(query, seq=…, embedder=…, …)`` gives the whole answer."""

    def search(query: str, *, seq: int | None = None, embedder=None, **more: Any) -> dict[str, Any]:
        with database.read(kb) as conn:
            as_of = resolve(conn, kb, as_of=None if seq is None else f"seq:{seq}")
            return search_chunks(conn, kb, query, as_of, embedder=embedder, settings=settings, **more)

    return search


@pytest.fixture
def texts(ask) -> Callable[..., list[str]]:
    """The texts that a search found, best first."""
    return lambda query, **more: [chunk["text"] for chunk in ask(query, **more)["chunks"]]
