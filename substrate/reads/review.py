"""What waits for a person, and what people refused: proposals beneath their sentences, refusals with restatements."""

from __future__ import annotations

from collections import defaultdict
from typing import Any
from uuid import UUID

from substrate import sql
from substrate.axes.as_of import AsOf
from substrate.db import AnyConnection
from substrate.reads import cursors
from substrate.reads.moments import rfc3339
from substrate.reads.shapes import Row, confidence, object_value, stated_interval, text_or_none

MOST = 200


def list_pending(
    conn: AnyConnection, kb_id: UUID, as_of: AsOf, *, limit: int = 50, cursor: str | None = None
) -> dict[str, Any]:
    """Proposals that waited at `as_of`, oldest first; ``sentence`` is the whole passage, ``quote`` what it rests on."""
    page = cursors.page(conn, kb_id, as_of, cursor, limit=limit, most=MOST, question=("pending",))
    rows = conn.execute(
        sql.query("reads_pending", page.as_of),
        sql.parameters(page.as_of, kb_id=kb_id, limit=limit, offset=page.offset),
    ).fetchall()
    return {
        **page.head(kb_id, rows[0]["total"]),
        "pending": [_proposal(row) for row in rows if row["id"] is not None],
    }


def _proposal(row: Row) -> dict[str, Any]:
    return {
        "id": str(row["id"]),
        "sentence": row["sentence"],
        "quote": row["quote"],
        "subject": row["subject"],
        "predicate_key": row["predicate_key"],
        "predicate_label": row["predicate_label"],
        "phrase": row["phrase"],
        "object": row["object"],
        "object_value": object_value(row),
        **stated_interval(row),
        "time_words": row["time_words"],
        "confidence": confidence(row),
        "proposed_by": row["proposed_by"],
        "recorded_by": row["recorded_by"],
        "via": row["via"],
        "said_at": rfc3339(row["doc_time"]),
        "recorded_at": rfc3339(row["recorded_at"]),
        "document_id": text_or_none(row["document_id"]),
        "chunk_id": text_or_none(row["chunk_id"]),
        "filename": row["filename"],
        "namespace": row["namespace"],
    }


def list_refusals(
    conn: AnyConnection,
    kb_id: UUID,
    as_of: AsOf,
    *,
    lifted: bool = False,
    limit: int = 50,
    cursor: str | None = None,
) -> dict[str, Any]:
    """Triples that were refused at `as_of`, oldest first; or those `lifted` by then, the last lifted first.

    ``restatements`` counts how often one was said again by then; ``documents`` are those that said it, each with how
    many ``times``. The object is an entity's first name, or the plain form of a value. A lifted one has ``lifted``:
    when, by whom and why.
    """
    question = ("refusals", "lifted") if lifted else ("refusals",)
    page = cursors.page(conn, kb_id, as_of, cursor, limit=limit, most=MOST, question=question)
    query = "reads_lifted" if lifted else "reads_refusals"
    parameters = sql.parameters(page.as_of, kb_id=kb_id, seq=page.as_of.seq, limit=limit, offset=page.offset)
    rows = conn.execute(sql.query(query, page.as_of), parameters).fetchall()
    shown = [row for row in rows if row["id"] is not None]
    again = _restatements(conn, kb_id, page.as_of, [row["id"] for row in shown])
    return {
        **page.head(kb_id, rows[0]["total"]),
        "refusals": [_refusal(row, again[row["id"]]) for row in shown],
    }


def _restatements(conn: AnyConnection, kb_id: UUID, as_of: AsOf, ids: list[UUID]) -> dict[UUID, list[Row]]:
    found: dict[UUID, list[Row]] = defaultdict(list)
    if ids:
        parameters = sql.parameters(as_of, kb_id=kb_id, ids=ids)
        for row in conn.execute(sql.query("reads_restatements", as_of), parameters):
            found[row["refusal_id"]].append(row)
    return found


def _refusal(row: Row, again: list[Row]) -> dict[str, Any]:
    shown = {
        "id": str(row["id"]),
        "subject_id": str(row["subject_id"]),
        "subject": row["subject"],
        "predicate_key": row["predicate_key"],
        "predicate_label": row["predicate_label"],
        "phrase": row["phrase"],
        "object_id": text_or_none(row["object_id"]),
        "object": row["object"] if row["object_id"] is not None else row["value_norm"],
        "why": row["why"],
        "refused_by": row["refused_by"],
        "via": row["via"],
        "recorded_at": rfc3339(row["recorded_at"]),
        "recorded_seq": row["recorded_seq"],
        "restatements": sum(r["times"] for r in again),
        "documents": [
            {"document_id": str(r["document_id"]), "external_id": r["external_id"], "times": r["times"]}
            for r in again
            if r["document_id"] is not None
        ],
    }
    if "lifted_at" in row:
        shown["lifted"] = {
            "at": rfc3339(row["lifted_at"]),
            "seq": row["lifted_seq"],
            "by": row["lifted_by"],
            "why": row["lifted_why"],
            "action": row["lifted_action"],
        }
    return shown
