"""How documents go: a deletion is an event of the record that keeps the exact list of what it took.

What was held before stays readable as of then. `restore` brings that list back, `purge` erases what is left of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID, uuid4

from substrate import sql
from substrate.db import AnyConnection, Database
from substrate.documents.checks import check_text
from substrate.errors import Conflict, InvalidInput, NotFound
from substrate.ledger import Door, open_door
from substrate.ledger.door import Via
from substrate.ledger.retractions import close_version_assertions


@dataclass(frozen=True, slots=True)
class Deleted:
    """What a deletion closed. ``seq`` and ``deletion_id`` are None where nothing was held and nothing was written."""

    document_id: UUID
    external_id: str
    version_ids: tuple[UUID, ...] = ()
    chunks: int = 0
    retracted: tuple[UUID, ...] = ()
    """Facts that are held no more: their every evidence went."""
    weakened: tuple[UUID, ...] = ()
    """Facts that lost evidence and stay: the rows held from now on."""
    deletion_id: UUID | None = None
    seq: int | None = None


def delete(
    db: Database,
    kb_id: UUID,
    *,
    external_id: str | None = None,
    document_id: UUID | None = None,
    actor: str,
    via: Via,
    why: str = "",
) -> Deleted:
    """Withdraw a document: its versions and chunks are closed, and with them the facts that rest on it alone.

    What was held before stays readable as of then. Raises `NotFound`, and `Conflict` where several sources have a
    document of that name.
    """
    check_text(why, "why", blank=True)
    with db.write(kb_id) as conn:
        with open_door(conn, kb_id, actor=actor, via=via, action="document deleted", why=why) as door:
            found = named(conn, kb_id, external_id, document_id)
            return _delete(door, found["document_id"], found["external_id"])


def named(conn: AnyConnection, kb_id: UUID, external_id: str | None, document_id: UUID | None) -> dict[str, Any]:
    """``document_id`` and ``external_id`` of the document with that name or id, held or not.

    Raises `InvalidInput` unless one of the two is given, `NotFound`, and `Conflict` for a name of several sources.
    """
    if (external_id is None) == (document_id is None):
        raise InvalidInput("give either external_id or document_id", field="document_id")
    name = "documents_by_id" if external_id is None else "documents_by_external_id"
    values = {"kb_id": kb_id, "external_id": external_id, "document_id": document_id}
    rows = conn.execute(sql.query(name), values).fetchall()
    if not rows:
        raise NotFound(
            f"no document {external_id or document_id}", field="external_id" if external_id else "document_id"
        )
    if len(rows) > 1:
        raise Conflict(f"several sources have a document {external_id!r}; give its id", field="external_id")
    return rows[0]


def _delete(door: Door, document_id: UUID, external_id: str) -> Deleted:
    values = {"kb_id": door.kb_id, "document_id": document_id, "below": None}
    rows = door.connection.execute(sql.query("documents_held_versions"), values).fetchall()
    if not rows:
        return Deleted(document_id, external_id)
    version_ids = [row["id"] for row in rows]
    chunks = close_versions(door, version_ids, "deleted")
    asserting = door.connection.execute(sql.query("documents_asserting_versions"), values).fetchall()
    # A proposal makes no assertion, so that its version is asked for too.
    gone = close_version_assertions(door, list({row["id"] for row in asserting} | set(version_ids)), "deleted")
    deletion_id = uuid4()
    deletion = {
        "id": deletion_id,
        "document_id": document_id,
        "why": door.why,
        "version_ids": version_ids,
        "chunk_ids": chunks,
        "assertion_ids": sorted(gone.assertion_ids),
        "proposal_ids": sorted(gone.proposal_ids),
        "fact_ids": sorted(gone.fact_ids),
        "weakened_ids": sorted(gone.weakened),
    }
    door.insert("document_deletions", [deletion])
    return Deleted(
        document_id,
        external_id,
        tuple(version_ids),
        len(chunks),
        gone.fact_ids,
        gone.weakened,
        deletion_id,
        door.seq,
    )


def close_versions(door: Door, version_ids: Sequence[UUID], kind: Literal["deleted", "superseded"]) -> list[UUID]:
    """Close held versions and their chunks; returns the chunks' ids in reading order.

    What they assert is the caller's to close: at once where a document is deleted, and where it is superseded when
    the facts stage has read the successor, so that a fact that both state keeps its evidence and its id throughout.
    """
    if not version_ids:
        return []
    values = {"kb_id": door.kb_id, "version_ids": list(version_ids)}
    chunks = [row["id"] for row in door.connection.execute(sql.query("documents_held_chunks"), values)]
    door.close("chunks", chunks, kind)
    door.close("document_versions", version_ids, kind)
    return chunks
