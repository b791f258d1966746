"""Questions that found nothing, by demand, and what became of what somebody recorded and asked."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Literal
from uuid import UUID

from substrate import sql
from substrate.axes.as_of import AsOf
from substrate.db import AnyConnection
from substrate.reads import cursors
from substrate.reads.moments import parse_bucket, rfc3339
from substrate.reads.shapes import Row, text_or_none

MOST = 200
GapState = Literal["open", "answered", "dismissed"]


def list_gaps(
    conn: AnyConnection,
    kb_id: UUID,
    as_of: AsOf,
    *,
    state: GapState | None = "open",
    asker: str | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> dict[str, Any]:
    """Questions as they stand now, those asked most first; `state` None: all. Gaps are not on the record clock.

    Each has ``question`` (in the words first used, secrets struck out), ``asked`` and ``askers``, ``state``, and once
    it is answered ``answer``: the passage or the entity that answers it.
    """
    page = cursors.page(conn, kb_id, as_of, cursor, limit=limit, most=MOST, question=("gaps", state, asker))
    values = {"kb_id": kb_id, "state": state, "asker": asker, "limit": limit, "offset": page.offset}
    rows = conn.execute(sql.query("gaps_listed"), values).fetchall()
    return {
        **page.head(kb_id, rows[0]["total"]),
        "gaps": [_gap(row) for row in rows if row["id"] is not None],
    }


def _gap(row: Row) -> dict[str, Any]:
    answer = None
    if row["state"] == "answered":
        answer = {
            "document_id": text_or_none(row["answer_document_id"]),
            "filename": row["answer_filename"],
            "chunk_id": text_or_none(row["answer_chunk_id"]),
            "entity_id": text_or_none(row["answer_entity_id"]),
        }
    return {
        "gap_id": str(row["id"]),
        "question": row["question"],
        "via": row["via"],
        "asked": row["asked"],
        "askers": row["askers"],
        "asked_at": rfc3339(row["asked_at"]),
        "last_asked_at": rfc3339(row["last_asked_at"]),
        "asked_seq": row["asked_seq"],
        "state": row["state"],
        "closed_at": rfc3339(row["closed_at"]),
        "closed_by": row["closed_by"],
        "why": row["why"],
        "answer": answer,
    }


def review_status(
    conn: AnyConnection,
    kb_id: UUID,
    as_of: AsOf,
    *,
    actor: str,
    document_id: UUID | None = None,
    idempotency_key: str | None = None,
    since: str | None = None,
    limit: int = 20,
    cursor: str | None = None,
) -> dict[str, Any]:
    """What became of what `actor` recorded, as it stood at `as_of`, newest first; or of one document, anyone's.

    Each of ``recorded`` has ``state`` (``waiting``: not read through yet; ``read``; ``gone``) and ``proposals``, each
    ``pending``, ``confirmed``, ``merged`` (confirmed into a fact that was there), ``rejected`` or ``withdrawn``, with
    who decided, when and why, and the fact. ``gaps`` are the actor's own questions, as they stand now, where
    nothing narrower is asked for. `since` is record time. Raises `InvalidInput` naming the parameter.
    """
    asked = (actor, document_id, idempotency_key, since)
    page = cursors.page(conn, kb_id, as_of, cursor, limit=limit, most=MOST, question=("status", *asked))
    values = sql.parameters(
        page.as_of,
        kb_id=kb_id,
        document_id=document_id,
        key=idempotency_key,
        actor=actor if document_id is None else None,
        since=parse_bucket(since, "since").start if since is not None else None,
        limit=limit,
        offset=page.offset,
    )
    rows = conn.execute(sql.query("status_recorded", page.as_of), values).fetchall()
    found = [row for row in rows if row["document_id"] is not None]
    proposals = _proposals(conn, kb_id, page.as_of, [row["document_id"] for row in found])
    gaps: dict[str, Any] = {"gaps": [], "total": 0}
    if document_id is None and idempotency_key is None:
        gaps = list_gaps(conn, kb_id, as_of, state=None, asker=actor, limit=limit)
    return {
        **page.head(kb_id, rows[0]["total"]),
        "recorded": [_recorded(row, proposals[row["document_id"]]) for row in found],
        "gaps": gaps["gaps"],
        "total_gaps": gaps["total"],
    }


def _recorded(row: Row, proposals: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "document_id": str(row["document_id"]),
        "chunk_id": text_or_none(row["chunk_id"]),
        "kind": row["kind"],
        "filename": row["filename"],
        "sentence": row["sentence"] if row["kind"] == "memory" else None,
        "recorded_at": rfc3339(row["recorded_at"]),
        "recorded_seq": row["seq"],
        "recorded_by": row["actor"],
        "via": row["via"],
        "idempotency_key": row["idempotency_key"],
        "state": "gone" if row["gone"] else "waiting" if row["waiting"] else "read",
        "proposals": proposals,
    }


def _proposals(conn: AnyConnection, kb_id: UUID, as_of: AsOf, documents: list[UUID]) -> dict[UUID, list[Any]]:
    found: dict[UUID, list[Any]] = defaultdict(list)
    if documents:
        values = sql.parameters(as_of, kb_id=kb_id, documents=documents)
        for row in conn.execute(sql.query("status_proposals", as_of), values):
            found[row["document_id"]].append(_proposal(row))
    return found


def _proposal(row: Row) -> dict[str, Any]:
    waits = row["waits"]
    status = "pending" if waits else "merged" if row["verdict"] == "confirmed" and row["joined"] else row["verdict"]
    return {
        "pending_id": str(row["id"]),
        "subject": row["subject"],
        "predicate_label": row["predicate_label"],
        "object": row["object"],
        "quote": row["quote"],
        "status": status,
        "decided_by": None if waits else row["decided_by"],
        "decided_at": None if waits else rfc3339(row["decided_at"]),
        "why": None if waits else row["why"],
        "fact_id": text_or_none(row["fact_id"]) if not waits else None,
    }
