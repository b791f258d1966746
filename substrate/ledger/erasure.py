"""Erasing a document's words for good: from its rows, and from what the log says of them.

The rows stay as tombstones, since other rows point at them; every column that came from the document's bytes is blank,
and reads ``[purged]`` where a column must say something. What stands in place of each row is named by the purge that
the chain keeps, so that a verification tells an erasure from damage. A row that other sources speak for keeps its
words: a fact while it rested on another document or a person too, a label by which another document names the entity.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

from substrate import sql
from substrate.ledger import _rows
from substrate.ledger.chain import Place
from substrate.ledger.door import Door

PURGED = "[purged]"
"""What a column says that must say something."""


def erase_document(door: Door, document_id: UUID, why: str) -> tuple[UUID, int]:
    """Erase the words of a deleted document; returns the purge's id and how many events of the log went.

    The database refuses it unless the purge is chained in this very transaction, and while the document is held.
    """
    purge_id = uuid4()
    purge = {"id": purge_id, "document_id": document_id, "why": why}
    door.insert("document_purges", [purge])
    values = {"kb_id": door.kb_id, "purge_id": purge_id}
    found = door.connection.execute(sql.query("erasure_purge_document"), values).fetchall()
    places: set[Place] = {(row["place_seq"], row["place_ordinal"]) for row in found}
    ids: dict[_rows.Table, set[UUID]] = defaultdict(set)
    for row in found:
        ids[row["place_table"]].add(row["place_id"])
    door.purge(sorted(places), _left(door, ids, document_id), **purge)
    return purge_id, len(places)


def _left(
    door: Door, ids: Mapping[_rows.Table, set[UUID]], document_id: UUID
) -> dict[_rows.Table, list[Mapping[str, Any]]]:
    """The blanked rows, by table, as they stand now."""
    values = {"kb_id": door.kb_id, "document_id": document_id}
    left: dict[_rows.Table, list[Mapping[str, Any]]] = {}
    for table, wanted in ids.items():
        found = door.connection.execute(sql.query(f"erasure_left_{table}"), {**values, "ids": list(wanted)})
        left[table] = list(found.fetchall())
    return left
