"""Acts of people that can be taken back: merges, retypings, batches of verdicts, each with its revert if any."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from substrate import sql
from substrate.axes.as_of import AsOf
from substrate.db import AnyConnection
from substrate.reads import cursors
from substrate.reads.moments import rfc3339
from substrate.reads.shapes import Row

MOST = 200


def list_merges(
    conn: AnyConnection, kb_id: UUID, as_of: AsOf, *, limit: int = 50, cursor: str | None = None
) -> dict[str, Any]:
    """Merges made by `as_of`, newest first; ``reverted`` is null, or when, by whom and why. Names are first names."""
    return _listed(conn, kb_id, as_of, "merges", _merge, limit, cursor)


def list_retypings(
    conn: AnyConnection,
    kb_id: UUID,
    as_of: AsOf,
    *,
    entity_id: UUID | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> dict[str, Any]:
    """What people said of types by `as_of`, newest first; ``in_force`` is the one that counted then for its entity."""
    return _listed(conn, kb_id, as_of, "retypings", _retyping, limit, cursor, entity_id=entity_id)


def list_verdicts(
    conn: AnyConnection, kb_id: UUID, as_of: AsOf, *, limit: int = 50, cursor: str | None = None
) -> dict[str, Any]:
    """Batches of verdicts given by `as_of`, newest first, each with what was decided beneath which quote."""
    return _listed(conn, kb_id, as_of, "verdicts", _batch, limit, cursor)


def _listed(
    conn: AnyConnection,
    kb_id: UUID,
    as_of: AsOf,
    name: str,
    shown: Callable[[Row], dict[str, Any]],
    limit: int,
    cursor: str | None,
    **more: object,
) -> dict[str, Any]:
    question = (name, *(v for v in more.values() if v is not None))
    page = cursors.page(conn, kb_id, as_of, cursor, limit=limit, most=MOST, question=question)
    parameters = sql.parameters(page.as_of, kb_id=kb_id, limit=limit, offset=page.offset, **more)
    rows = conn.execute(sql.query(f"reads_{name}", page.as_of), parameters).fetchall()
    return {
        **page.head(kb_id, rows[0]["total"]),
        name: [{**shown(row), **_done(row)} for row in rows if row["id"] is not None],
    }


def _done(row: Row) -> dict[str, Any]:
    """Who did it when and why, and who took it back."""
    reverted = {
        "id": str(row["revert_id"]),
        "at": rfc3339(row["reverted_at"]),
        "seq": row["reverted_seq"],
        "by": row["reverted_by"],
        "why": row["revert_why"],
    }
    return {
        "why": row["why"],
        "by": row["actor"],
        "via": row["via"],
        "recorded_at": rfc3339(row["recorded_at"]),
        "recorded_seq": row["recorded_seq"],
        "reverted": None if row["revert_id"] is None else reverted,
    }


def _merge(row: Row) -> dict[str, Any]:
    return {
        "id": str(row["id"]),
        "kept_id": str(row["kept_id"]),
        "kept": row["kept"],
        "absorbed_id": str(row["absorbed_id"]),
        "absorbed": row["absorbed"],
    }


def _retyping(row: Row) -> dict[str, Any]:
    return {
        "id": str(row["id"]),
        "entity_id": str(row["entity_id"]),
        "entity": row["entity"],
        "type_key": row["type_key"],
        "in_force": row["in_force"],
    }


def _batch(row: Row) -> dict[str, Any]:
    return {"id": str(row["id"]), "verdicts": row["verdicts"]}
