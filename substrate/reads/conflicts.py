"""What waits for a person to decide, what was decided, and people's words on periods, as they stood at a moment."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal
from uuid import UUID

from substrate import sql
from substrate.axes.as_of import AsOf
from substrate.db import AnyConnection
from substrate.reads import cursors
from substrate.reads.moments import envelope, rfc3339
from substrate.reads.shapes import Row, end_state, object_value, stated_interval, text_or_none

MOST = 200
State = Literal["open", "decided"]


def list_conflicts(
    conn: AnyConnection,
    kb_id: UUID,
    as_of: AsOf,
    *,
    state: State = "open",
    lineages: Collection[UUID] | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> dict[str, Any]:
    """Conflicts that waited at `as_of`, or were decided or withdrawn by then, oldest first.

    Each has two sides: the fact as it was held then (``fact_id`` null where it was not) and the sentence behind it.
    `lineages` keeps those that these facts stand in.
    """
    about = sorted(str(i) for i in lineages) if lineages is not None else []
    page = cursors.page(conn, kb_id, as_of, cursor, limit=limit, most=MOST, question=("conflicts", state, *about))
    rows = conn.execute(
        sql.query("reads_conflicts", page.as_of),
        sql.parameters(
            page.as_of,
            kb_id=kb_id,
            decided=state == "decided",
            lineages=None if lineages is None else list(lineages),
            limit=limit,
            offset=page.offset,
        ),
    ).fetchall()
    found: dict[UUID, dict[str, Any]] = {}
    for row in rows:
        if row["id"] is not None:
            found.setdefault(row["id"], _conflict(row, state))[row["side"]] = _side(row)
    return {**_head(kb_id, page, rows[0]["total"]), "state": state, "conflicts": list(found.values())}


def _head(kb_id: UUID, page: cursors.Page, total: int) -> dict[str, Any]:
    following = page.following(total)
    return {
        "kb_id": str(kb_id),
        **envelope(page.as_of),
        "total": total,
        "limit": page.limit,
        "truncated": following is not None,
        "next_cursor": following,
    }


def _conflict(row: Row, state: State) -> dict[str, Any]:
    decided = state == "decided"  # one that waited then may have been decided since
    return {
        "id": str(row["id"]),
        "reason": row["reason"],
        "predicate_key": row["predicate_key"],
        "predicate_label": row["predicate_label"],
        "recorded_at": rfc3339(row["recorded_at"]),
        "recorded_seq": row["recorded_seq"],
        "reopens": text_or_none(row["reopens"]),
        "verdict": row["verdict"] if decided else None,
        "decided_by": row["decided_by"] if decided else None,
        "decided_at": rfc3339(row["decided_at"]) if decided else None,
        "why": row["why"] if decided else None,
        "reverted": row["reverted"],
    }


def _side(row: Row) -> dict[str, Any]:
    held = row["fact_id"] is not None
    return {
        "fact_id": text_or_none(row["fact_id"]),
        "lineage_id": str(row["lineage_id"]),
        "subject_id": str(row["subject_id"]),
        "subject": row["subject"],
        "object_id": text_or_none(row["object_id"]),
        "object": row["object"] or row["value_norm"],
        "object_value": object_value(row) if held else None,
        **stated_interval(row),
        "end": end_state(row) if held else None,
        "undated": row["undated"],
        "attested_from": rfc3339(row["attested_from"]),
        "quote": row["quote"],
        "wording": row["wording"],
        "origin": row["origin"],
        "document_id": text_or_none(row["document_id"]),
        "filename": row["filename"],
        "doc_time": rfc3339(row["attested_at"]),
    }


def contested(conn: AnyConnection, kb_id: UUID, as_of: AsOf, lineages: Collection[UUID]) -> dict[UUID, list[Any]]:
    """lineage → the conflicts open at `as_of` that its fact stands in: ``conflict_id``, ``reason`` and ``side``."""
    found: dict[UUID, list[Any]] = {}
    if not lineages:
        return found
    parameters = sql.parameters(as_of, kb_id=kb_id, lineages=list(lineages))
    for row in conn.execute(sql.query("reads_contested", as_of), parameters):
        said = {"conflict_id": str(row["id"]), "reason": row["reason"], "side": row["side"]}
        found.setdefault(row["lineage_id"], []).append(said)
    return found


def list_corrections(
    conn: AnyConnection,
    kb_id: UUID,
    as_of: AsOf,
    *,
    fact_id: UUID | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> dict[str, Any]:
    """People's words on periods in force at `as_of`, newest first; of one fact and what it followed, if given.

    ``valid_from`` and ``valid_to`` are what the person said, as far as ``fixes_start`` and ``fixes_end`` say that they
    spoke of it; ``was`` is the period before.
    """
    question = ("corrections", *([str(fact_id)] if fact_id else []))
    page = cursors.page(conn, kb_id, as_of, cursor, limit=limit, most=MOST, question=question)
    parameters = sql.parameters(page.as_of, kb_id=kb_id, fact_id=fact_id, limit=limit, offset=page.offset)
    rows = conn.execute(sql.query("reads_corrections", page.as_of), parameters).fetchall()
    shown = [_correction(row) for row in rows if row["id"] is not None]
    return {**_head(kb_id, page, rows[0]["total"]), "corrections": shown}


def _correction(row: Row) -> dict[str, Any]:
    was = {c.replace("was", "valid"): row[c] for c in row if c.startswith("was_")}
    return {
        "id": str(row["id"]),
        "kind": row["kind"],
        "fact_id": str(row["fact_id"]),
        "lineage_id": str(row["lineage_id"]),
        "subject": row["subject"],
        "predicate_key": row["predicate_key"],
        "predicate_label": row["predicate_label"],
        "object": row["object"] or row["value_raw"],
        **stated_interval(row),
        "fixes_start": row["fixes_start"],
        "fixes_end": row["fixes_end"],
        "was": stated_interval(was),
        "conflict_id": text_or_none(row["conflict_id"]),
        "why": row["why"],
        "said_by": row["actor"],
        "via": row["via"],
        "recorded_at": rfc3339(row["recorded_at"]),
        "recorded_seq": row["recorded_seq"],
    }
