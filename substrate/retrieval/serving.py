"""Which model's vectors answer in a base: the one that has read every passage, until the one that is set has too.

A change of model or endpoint leaves the old vectors where they are. Searches, in every process whatever it is set to,
ask the model that serves; the embedding stage reads all passages with the other one meanwhile, and then the two change
places in one statement.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from substrate import sql
from substrate.db import ReadConnection, WriteConnection
from substrate.errors import ModelUnavailable
from substrate.retrieval.embedders import Embedder, open_recorded, opened_by
from substrate.retrieval.passages import vector_key
from substrate.settings import Settings


@dataclass(frozen=True, slots=True)
class InService:
    """The embedder to ask, and what it has not read."""

    embedder: Embedder
    lacking: tuple[UUID, ...]
    """Of the passages that were asked about, those without a vector."""
    waiting: int
    """Passages due at the embedding stage, counted no further than a thousand."""
    note: str = ""
    """For people, where it is not the model that is set."""

    @property
    def asks_a_network(self) -> bool:
        """Does embedding a text leave this machine?"""
        return opened_by(self.embedder).get("embedder") == "openai"


def in_service(
    conn: ReadConnection,
    kb_id: UUID,
    wanted: Embedder | ModelUnavailable,
    settings: Settings,
    fresh: Collection[UUID] = (),
) -> InService:
    """The embedder whose vectors answer in this snapshot; `wanted` is the one that is set, or why it cannot be opened.

    Raises `ModelUnavailable` where neither it nor the one that serves can be opened.
    """
    own = None if isinstance(wanted, ModelUnavailable) else vector_key(wanted)
    found = _asked(conn, kb_id, own, fresh)
    if found["model"] is None or found["model"] == own:
        return _service(_usable(wanted), found)
    try:
        other = open_recorded(settings, found["opened_by"])
        if vector_key(other) == found["model"]:
            waits = str(wanted) if isinstance(wanted, ModelUnavailable) else f"{wanted.name} is still reading"
            return _service(other, found, f"{other.name} answers: {waits}")
        reason = "its vectors were made of a text put together otherwise"
    except ModelUnavailable as error:
        reason = str(error)
    usable = _usable(wanted)
    note = f"{found['model']} has read more but cannot answer: {reason}"
    return _service(usable, _asked(conn, kb_id, own, fresh, own_alone=True), note)


def _usable(wanted: Embedder | ModelUnavailable) -> Embedder:
    if isinstance(wanted, ModelUnavailable):
        raise wanted
    return wanted


def _asked(
    conn: ReadConnection, kb_id: UUID, model: str | None, fresh: Collection[UUID], *, own_alone: bool = False
) -> Mapping[str, Any]:
    values = {"kb_id": kb_id, "model": model, "fresh": sorted(fresh), "own": own_alone}
    row = conn.execute(sql.query("serving_model"), values).fetchone()
    assert row is not None  # noqa: S101 - a select from one row has one row
    return row


def _service(embedder: Embedder, found: Mapping[str, Any], note: str = "") -> InService:
    return InService(embedder, tuple(found["lacking"]), int(found["waiting"]), note)


def meet_model(conn: WriteConnection, kb_id: UUID, embedder: Embedder) -> tuple[str, Mapping[str, str]]:
    """Remember how this model is opened; the first one of a base serves it at once.

    Returns the model that serves, and how that one is opened.
    """
    from psycopg.types.json import Jsonb

    key, opening = vector_key(embedder), opened_by(embedder)
    values = {"kb_id": kb_id, "model": key, "opened_by": Jsonb(opening), "dimension": embedder.dimension}
    row = conn.execute(sql.query("serving_meet_model"), values).fetchone()
    if row is None:
        conn.execute(sql.query("serving_first"), {"kb_id": kb_id, "model": key})
        return key, opening
    return row["model"], row["opened_by"]


def take_over(conn: WriteConnection, kb_id: UUID, model: str, *, indexed: bool = False) -> bool:
    """Let the model serve if it has read every passage; True if it does from now on and did not before.

    Where the one before it has a vector index it must have one too, which `indexed` says it has.
    """
    values = {"kb_id": kb_id, "model": model, "indexed": indexed}
    return conn.execute(sql.query("serving_take_over"), values).rowcount > 0
