"""How a deleted document's words are erased for good: bytes, passages, quotes, claims, values, vectors, names.

What is left are tombstones and the purge itself, which says who did it, when and why. It cannot be undone, and the
document cannot be restored; the same bytes pushed again are a new document.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from substrate import sql, work
from substrate.db import Database
from substrate.documents.checks import check_text
from substrate.errors import Conflict, NotFound
from substrate.identity.families import forget_document
from substrate.ledger import Door, open_door
from substrate.ledger.door import Via
from substrate.ledger.erasure import erase_document


@dataclass(frozen=True, slots=True)
class Purged:
    """The tombstone. ``events`` counts what the log does not say any more."""

    purge_id: UUID
    document_id: UUID
    events: int
    seq: int


def purge(db: Database, kb_id: UUID, document_id: UUID, why: str, *, actor: str, via: Via) -> Purged:
    """Erase what is left of a deleted document. Whose right it is to do so is the caller's to judge.

    The pipeline is woken, whose run ends with a lexical index without its words; Postgres lets go of the pages they
    stood on when it next vacuums. Raises `NotFound`, and `Conflict` where the document is not deleted, was purged
    before, or lies in a folder that is kept in step and would bring it in again.
    """
    check_text(why, "why")
    with db.write(kb_id) as conn:
        with open_door(conn, kb_id, actor=actor, via=via, action="document purged", why=why) as door:
            _may_go(_standing(door, document_id))
            purge_id, events = erase_document(door, document_id, why)
            forget_document(conn, kb_id, document_id)
            _wake_the_pipeline(door, document_id)
    return Purged(purge_id, document_id, events, door.seq)


def _wake_the_pipeline(door: Door, document_id: UUID) -> None:
    """Make something due of which parsing finds that it is done: the run that it takes ends with the lexical index."""
    values = {"kb_id": door.kb_id, "document_id": document_id}
    row = door.connection.execute(sql.query("lifecycle_last_version"), values).fetchone()
    assert row is not None  # noqa: S101 - a document has a version
    work.add_due(door.connection, door.kb_id, "parse", [row["id"]], f"purge@{door.seq}")


def _standing(door: Door, document_id: UUID) -> Mapping[str, Any]:
    values = {"kb_id": door.kb_id, "document_id": document_id}
    row = door.connection.execute(sql.query("lifecycle_standing"), values).fetchone()
    if row is None:
        raise NotFound("no document with that id", field="document_id")
    return row


def _may_go(document: Mapping[str, Any]) -> None:
    name = document["external_id"]
    if document["purged_seq"] is not None:
        message = f"this document was purged before, at seq:{document['purged_seq']}"
        raise Conflict(message, field="document_id")
    if document["held_versions"] or document["deleted_seq"] is None:
        raise Conflict(f"document {name!r} is not deleted; delete it first", field="document_id", document=name)
    if document["kept_folder"] is not None and (Path(document["kept_folder"]) / name).exists():
        message = f"document {name!r} still lies in {document['kept_folder']} and would come in again; remove it there"
        raise Conflict(message, field="document_id", document=name)
