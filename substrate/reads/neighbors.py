"""The entities linked to one entity, one hop away, by relation."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from substrate import sql
from substrate.axes.as_of import AsOf
from substrate.db import AnyConnection
from substrate.reads import cursors
from substrate.reads.entities import subject
from substrate.reads.facts import MOST, fact, plain, with_names_and_evidence
from substrate.reads.moments import envelope
from substrate.reads.shapes import Row

SHOWN = (
    "direction", "predicate_key", "predicate_label", "temporal", "confidence", "valid_from", "valid_to",
    "valid_from_precision", "valid_to_precision", "holds_from", "holds_to", "end", "undated", "attested_from",
    "attested_to", "contested", "unconfirmed", "document_ids", "status", "successor_id", "since",
)  # fmt: skip
"""Fields of a fact that a link carries."""


def neighbors(
    conn: AnyConnection,
    kb_id: UUID,
    entity: str,
    as_of: AsOf,
    *,
    predicate: str | None = None,
    object_type: str | None = None,
    limit: int = 40,
    cursor: str | None = None,
) -> dict[str, Any]:
    """Entities that facts held at `as_of` (and holding at its valid time, if any) join to `entity` (id or name).

    ``neighbors`` are links, a fact each: ``id``, ``name`` and type of the other end, ``fact_id`` and its fields as in
    `entity_facts` (`SHOWN`). The relation with most links comes first; ``groups`` counts each, over all pages.
    `predicate` and `object_type` as there. Raises `InvalidInput` and `NotFound` naming the argument.
    """
    question = ("neighbors", entity, predicate, object_type)
    page = cursors.page(conn, kb_id, as_of, cursor, limit=limit, most=MOST, question=question)
    who = subject(conn, kb_id, entity, page.as_of)
    parameters = sql.parameters(
        page.as_of,
        kb_id=kb_id,
        members=list(who.members),
        predicate=plain(predicate),
        object_type=plain(object_type),
        limit=page.limit,
        offset=page.offset,
    )
    rows = conn.execute(sql.query("neighbors_of", page.as_of), parameters).fetchall()
    found = with_names_and_evidence(conn, kb_id, page.as_of, [row for row in rows if row["id"] is not None])
    types = types_of(conn, kb_id, page.as_of, {row["other_id"] for row in found})
    following = page.following(rows[0]["matched"])
    return {
        "kb_id": str(kb_id),
        "entity": who.shown(),
        "at": page.as_of.at_text,
        **envelope(page.as_of),
        "total": rows[0]["matched"],
        "limit": page.limit,
        "truncated": following is not None,
        "next_cursor": following,
        "groups": rows[0]["groups"] or [],
        "neighbors": [_link(row, types) for row in found],
    }


def types_of(conn: AnyConnection, kb_id: UUID, as_of: AsOf, ids: Collection[UUID]) -> Mapping[UUID, Row]:
    """``type_key`` and ``type_label`` of clusters by their canonical ids; those without a class are left out."""
    if not ids:
        return {}
    parameters = sql.parameters(as_of, kb_id=kb_id, ids=list(ids))
    return {row["id"]: row for row in conn.execute(sql.query("neighbors_types", as_of), parameters)}


def _link(row: Row, types: Mapping[UUID, Row]) -> dict[str, Any]:
    shown, kind = fact(row), types.get(row["other_id"], {})
    return {
        "id": shown["other_id"],
        "name": shown["other_name"],
        "type_key": kind.get("type_key"),
        "type_label": kind.get("type_label"),
        "fact_id": shown["id"],
        **{name: shown[name] for name in SHOWN},
    }
