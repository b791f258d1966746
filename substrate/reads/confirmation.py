"""Facts that are held although no passage held says so: shown as unconfirmed, never kept or dropped in silence.

That is the case between the landing of a document's new version and its reading, for as long as the reading fails, and
where a person's word outlives the passages it was about. And facts whose words were erased since, which are stubs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from substrate import sql
from substrate.axes.as_of import AsOf
from substrate.db import AnyConnection
from substrate.ledger.erasure import PURGED
from substrate.reads import cursors
from substrate.reads.deletions import facts_told
from substrate.reads.moments import envelope, rfc3339
from substrate.reads.shapes import Row, text_or_none

MOST = 200
Passages = list[dict[str, Any]]


def purged_since(conn: AnyConnection, kb_id: UUID, rows: Sequence[Row]) -> Mapping[UUID, dict[str, Any]]:
    """Lineage → the purge that made a stub of it, for those of `rows` (of facts) whose words were erased."""
    lineages = [row["lineage_id"] for row in rows if row["phrase"] == PURGED]
    if not lineages:
        return {}
    found = conn.execute(sql.query("lifecycle_purges_of_lineages"), {"kb_id": kb_id, "lineages": lineages})
    return {
        row["lineage_id"]: {
            "at": rfc3339(row["recorded_at"]),
            "seq": row["recorded_seq"],
            "by": row["actor"],
            "why": row["why"],
            "document_id": str(row["document_id"]),
        }
        for row in found
    }


def list_unconfirmed(
    conn: AnyConnection, kb_id: UUID, as_of: AsOf, *, limit: int = 50, cursor: str | None = None
) -> dict[str, Any]:
    """Every fact that was unconfirmed at `as_of`, oldest first: its ends and relation, and ``rested_on``."""
    page = cursors.page(conn, kb_id, as_of, cursor, limit=limit, most=MOST, question=("unconfirmed",))
    parameters = sql.parameters(page.as_of, kb_id=kb_id, limit=page.limit, offset=page.offset)
    rows = conn.execute(sql.query("lifecycle_unconfirmed_facts", page.as_of), parameters).fetchall()
    found = [row for row in rows if row["id"] is not None]
    told = facts_told(conn, kb_id, page.as_of, {row["id"] for row in found})
    rested = unconfirmed(conn, kb_id, page.as_of, {row["lineage_id"] for row in found})
    following = page.following(rows[0]["total"])
    return {
        "kb_id": str(kb_id),
        **envelope(page.as_of),
        "total": rows[0]["total"],
        "limit": page.limit,
        "truncated": following is not None,
        "next_cursor": following,
        "facts": [{**told[row["id"]], "rested_on": rested[row["lineage_id"]]} for row in found],
    }


def unconfirmed(conn: AnyConnection, kb_id: UUID, as_of: AsOf, lineages: Collection[UUID]) -> Mapping[UUID, Passages]:
    """Those of `lineages` that were unconfirmed at `as_of`, with up to three passages they rested on last.

    A passage is shown as evidence is; ``passage`` says what became of it: ``superseded`` or ``deleted``.
    """
    if not lineages:
        return {}
    parameters = sql.parameters(as_of, kb_id=kb_id, lineages=list(lineages))
    found: dict[UUID, Passages] = {}
    for row in conn.execute(sql.query("lifecycle_unconfirmed", as_of), parameters):
        found.setdefault(row["lineage_id"], []).append(
            {
                "quote": row["quote"],
                "document_id": text_or_none(row["document_id"]),
                "filename": row["filename"],
                "chunk_id": text_or_none(row["chunk_id"]),
                "doc_time": rfc3339(row["attested_at"]),
                "wording": row["wording"],
                "origin": row["origin"],
                "passage": row["passage"],
            }
        )
    return found
