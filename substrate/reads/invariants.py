"""What must hold of a base whatever was done to it, as questions whose right answer is an empty list.

Asset checks, tests and operators ask the same functions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from substrate import sql
from substrate.db import AnyConnection

Table = Literal[
    "documents", "document_chunks", "chunk_embeddings", "claims", "phrase_bindings", "entities", "facts", "funnel"
]


@dataclass(frozen=True, slots=True)
class Misplaced:
    """A quote that its chunk does not have where the row says it has."""

    id: UUID
    chunk_id: UUID
    quote: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A short text that moves whenever the rows of a table do, and how many rows are held."""

    text: str
    rows: int


def misplaced_claim_quotes(connection: AnyConnection, kb_id: UUID, *, limit: int = 20) -> list[Misplaced]:
    """Claims whose quote is not in their chunk; at most `limit`, by id."""
    return _misplaced(connection, "stage_quotes_not_in_chunk", kb_id, limit)


def misplaced_evidence(connection: AnyConnection, kb_id: UUID, *, limit: int = 20) -> list[Misplaced]:
    """Held assertions whose quote is not in their chunk; at most `limit`, by id."""
    return _misplaced(connection, "stage_evidence_not_in_chunk", kb_id, limit)


def _misplaced(connection: AnyConnection, name: str, kb_id: UUID, limit: int) -> list[Misplaced]:
    rows = connection.execute(sql.query(name), {"kb_id": kb_id, "most": limit}).fetchall()
    return [Misplaced(row["id"], row["chunk_id"], row["quote"]) for row in rows]


def mark(connection: AnyConnection, kb_id: UUID, table: Table) -> Mark:
    """Where a table of the base stands."""
    row = connection.execute(sql.query(f"mark_of_{table}"), {"kb_id": kb_id}).fetchone()
    assert row is not None  # noqa: S101 - an aggregate always has a row
    return Mark(row["mark"], row["rows"])
