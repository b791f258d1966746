"""Which pushes there were: what they were called, who sent them, how much was taken."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from substrate import sql
from substrate.axes.as_of import AsOf
from substrate.db import AnyConnection
from substrate.reads import cursors
from substrate.reads.moments import rfc3339

MOST = 200


def list_pushes(
    conn: AnyConnection,
    kb_id: UUID,
    as_of: AsOf,
    *,
    external_id: str | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> dict[str, Any]:
    """Pushes on record at `as_of`, newest first, of one document or of all."""
    page = cursors.page(conn, kb_id, as_of, cursor, limit=limit, most=MOST, question=("pushes", external_id or ""))
    asked = sql.parameters(page.as_of, kb_id=kb_id, external_id=external_id, limit=limit, offset=page.offset)
    rows = conn.execute(sql.query("statements_pushes", page.as_of), asked).fetchall()
    total = rows[0]["total"] if rows else 0
    return {
        **page.head(kb_id, total),
        "pushes": [_shown(row) for row in rows if row["id"] is not None],
    }


def _shown(row: Any) -> dict[str, Any]:
    return {
        "id": str(row["id"]),
        "external_id": row["external_id"],
        "document_id": str(row["document_id"]),
        "version_id": str(row["version_id"]),
        "version": row["number"],
        "accepted": row["accepted"],
        "refused": row["refused"],
        "pushed_by": row["pushed_by"],
        "recorded_at": rfc3339(row["recorded_at"]),
        "recorded_seq": row["recorded_seq"],
    }
