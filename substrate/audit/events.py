"""Access events as they are read: who was served what, newest first."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from substrate import sql
from substrate.db import AnyConnection


def served(
    connection: AnyConnection,
    kb_id: UUID,
    *,
    fact_id: UUID | None = None,
    chunk_id: UUID | None = None,
    limit: int = 50,
) -> dict[str, Any]:
    """The newest access events of a base, of one fact or passage if asked, and how many there are in all.

    Each has the names of its person and token, what was handed out, and the number of its seal (null: not sealed yet).
    """
    asked = {"kb_id": kb_id, "fact_id": fact_id, "chunk_id": chunk_id, "most": limit}
    rows = connection.execute(sql.query("sealed_served"), asked).fetchall()
    total = rows[0]["total"] if rows else 0
    return {"total": total, "events": [{k: v for k, v in row.items() if k != "total"} for row in rows]}
