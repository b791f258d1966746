"""One entity's facts, and its dated facts in world order. A handful of queries, whatever the number of rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from substrate import sql
from substrate.axes.as_of import AsOf
from substrate.db import AnyConnection
from substrate.errors import InvalidInput
from substrate.ledger.erasure import PURGED
from substrate.reads import cursors
from substrate.reads.confirmation import purged_since, unconfirmed
from substrate.reads.conflicts import contested
from substrate.reads.entities import Subject, names_of, subject
from substrate.reads.moments import envelope, parse_bucket, rfc3339
from substrate.reads.shapes import SINCE, Row, confidence, end_state, ids, object_value, stated_interval, text_or_none

MOST = 300


def entity_facts(
    conn: AnyConnection,
    kb_id: UUID,
    entity: str,
    as_of: AsOf,
    *,
    predicate: str | None = None,
    object_type: str | None = None,
    since: str | None = None,
    until: str | None = None,
    limit: int = 80,
    cursor: str | None = None,
) -> dict[str, Any]:
    """What was held about an entity (id or name) at `as_of`, on either side of a fact.

    `predicate` is part of a key, label or the source's phrase; `object_type` a class of the other entity; `since`
    and `until` a window of world time that the fact's interval must meet. ``total_facts`` counts all held then,
    ``matched_facts`` those that pass the filters; when none does, ``predicates_present`` names what there is.
    Ordered by predicate, direction, start. Raises `InvalidInput` and `NotFound` naming the argument.
    """
    question = ("facts", entity, predicate, object_type, since, until)
    page = cursors.page(conn, kb_id, as_of, cursor, limit=limit, most=MOST, question=question)
    who = subject(conn, kb_id, entity, page.as_of)
    window = _window(since, until)
    totals, rows = _rows(
        conn, kb_id, who, page, dated=False, predicate=plain(predicate), object_type=plain(object_type), **window
    )
    return {
        **_head(kb_id, who, page),
        "names": who.card["names"],
        **_counts(totals, page),
        "predicates_present": totals["predicates_present"] or [],
        "facts": [fact(row) for row in rows],
        "derived_facts": [],
    }


def timeline(
    conn: AnyConnection,
    kb_id: UUID,
    entity: str,
    as_of: AsOf,
    *,
    predicate: str | None = None,
    since: str | None = None,
    until: str | None = None,
    limit: int = 60,
    cursor: str | None = None,
) -> dict[str, Any]:
    """An entity's facts whose own words state a date, in world order; the rest as `entity_facts`."""
    question = ("timeline", entity, predicate, since, until)
    page = cursors.page(conn, kb_id, as_of, cursor, limit=limit, most=MOST, question=question)
    who = subject(conn, kb_id, entity, page.as_of)
    totals, rows = _rows(
        conn, kb_id, who, page, dated=True, predicate=plain(predicate), object_type=None, **_window(since, until)
    )
    return {**_head(kb_id, who, page), **_counts(totals, page), "facts": [fact(row) for row in rows]}


def _rows(
    conn: AnyConnection, kb_id: UUID, who: Subject, page: cursors.Page, **filters: object
) -> tuple[Row, list[Row]]:
    parameters = sql.parameters(
        page.as_of,
        kb_id=kb_id,
        members=list(who.members),
        limit=page.limit,
        offset=page.offset,
        **filters,
    )
    rows = conn.execute(sql.query("reads_entity_facts", page.as_of), parameters).fetchall()
    found = [row for row in rows if row["id"] is not None]
    return rows[0], with_names_and_evidence(conn, kb_id, page.as_of, found)


def with_names_and_evidence(conn: AnyConnection, kb_id: UUID, as_of: AsOf, rows: Sequence[Row]) -> list[Row]:
    """Rows of facts with the name of the other end, what they rest on and whether that is held, all at `as_of`."""
    names = names_of(conn, kb_id, as_of, {row["other_id"] for row in rows} - {None})
    evidence = evidence_of(conn, kb_id, as_of, {row["lineage_id"] for row in rows})
    rested = unconfirmed(conn, kb_id, as_of, {row["lineage_id"] for row in rows})
    purged = purged_since(conn, kb_id, rows)
    disputes = contested(conn, kb_id, as_of, {row["lineage_id"] for row in rows})
    nothing = {"evidence_count": 0, "document_ids": [], "evidence": []}
    return [
        {
            **row,
            "other_name": names.get(row["other_id"]),
            **evidence.get(row["lineage_id"], nothing),
            "contested": disputes.get(row["lineage_id"], []),
            "unconfirmed": row["lineage_id"] in rested,
            "rested_on": rested.get(row["lineage_id"], []),
            "since_purged": purged.get(row["lineage_id"]) if row["phrase"] == PURGED else None,
        }
        for row in rows
    ]


def evidence_of(conn: AnyConnection, kb_id: UUID, as_of: AsOf, lineages: Collection[UUID]) -> Mapping[UUID, Row]:
    """``evidence_count``, ``document_ids`` and the first three of ``evidence``, by lineage."""
    if not lineages:
        return {}
    parameters = sql.parameters(as_of, kb_id=kb_id, lineages=list(lineages))
    found: dict[UUID, dict[str, Any]] = {}
    for row in conn.execute(sql.query("reads_evidence_of", as_of), parameters):
        if row["place"] == 1:
            documents = ids(sorted(set(row["document_ids"]) - {None}))
            found[row["lineage_id"]] = {
                "evidence_count": row["evidence_count"],
                "document_ids": documents,
                "evidence": [],
            }
        found[row["lineage_id"]]["evidence"].append(_source(row))
    return found


def _source(row: Row) -> dict[str, Any]:
    return {
        "quote": row["quote"],
        "document_id": text_or_none(row["document_id"]),
        "filename": row["filename"],
        "chunk_id": text_or_none(row["chunk_id"]),
        "doc_time": rfc3339(row["attested_at"]),
        "wording": row["wording"],
        "origin": row["origin"],
    }


def _head(kb_id: UUID, who: Subject, page: cursors.Page) -> dict[str, Any]:
    return {"kb_id": str(kb_id), "entity": who.shown(), "at": page.as_of.at_text, **envelope(page.as_of)}


def _counts(totals: Row, page: cursors.Page) -> dict[str, Any]:
    following = page.following(totals["matched_facts"])
    return {
        "total_facts": totals["total_facts"],
        "matched_facts": totals["matched_facts"],
        "limit": page.limit,
        "truncated": following is not None,
        "next_cursor": following,
    }


def _window(since: str | None, until: str | None) -> dict[str, datetime | None]:
    start = parse_bucket(since, "since").start if since is not None else None
    end = parse_bucket(until, "until").end if until is not None else None
    if start is not None and end is not None and start >= end:
        raise InvalidInput("until: must not lie before since", field="until")
    return {"since": start, "until": end}


def plain(text: str | None) -> str | None:
    """Part of a name as the filters compare it; None for none."""
    return text.strip().casefold().replace("_", " ") or None if text is not None else None


def fact(row: Row) -> dict[str, Any]:
    """One fact as an answer shows it. Everything but `since` is a function of the sequence asked at."""
    return {
        "id": str(row["id"]),
        "direction": row["direction"],
        "predicate_key": row["predicate_key"],
        "predicate_label": row["label"],
        "inferred": row["inferred"],
        "temporal": row["temporal"],
        "other_id": text_or_none(row["other_id"]),
        "other_name": row["other_name"],
        "object_value": object_value(row),
        "confidence": confidence(row),
        "qualifiers": [_qualifier(q) for q in row["qualifiers"] or ()],
        **stated_interval(row),
        "holds_from": rfc3339(row["holds_from"]),
        "holds_to": rfc3339(row["holds_to"]),
        "end": end_state(row),
        "undated": row["undated"],
        "contested": row["contested"],
        "attested_from": rfc3339(row["attested_from"]),
        "attested_to": rfc3339(row["attested_to"]),
        "grade": row["grade"],
        "recorded_at": rfc3339(row["recorded_at"]),
        "recorded_seq": row["recorded_seq"],
        # A fact that is held then has no end on the record then; what happened to it later is in `since`.
        "invalidated_at": None,
        "supersedes": text_or_none(row["supersedes"]),
        "lineage_id": str(row["lineage_id"]),
        "phrase": row["phrase"],
        "document_ids": row["document_ids"],
        "evidence_count": row["evidence_count"],
        "evidence": row["evidence"],
        "unconfirmed": row["unconfirmed"],
        "rested_on": row["rested_on"],
        "status": _status(row),
        "successor_id": text_or_none(row["since_superseded_by"]),
        SINCE: _since(row),
    }


def _status(row: Row) -> str:
    """What to think of the fact today: how it ended on the record since, else what speaks against it."""
    if row["since_kind"] is not None:
        return "superseded" if row["since_superseded_by"] is not None else str(row["since_kind"])
    if row["contested"]:
        return "contested"
    return "unconfirmed" if row["unconfirmed"] else "held"


def _since(row: Row) -> dict[str, Any] | None:
    if row["since_invalidated_at"] is None:
        return None
    return {
        "invalidated_at": rfc3339(row["since_invalidated_at"]),
        "invalidated_kind": row["since_kind"],
        "superseded_by": text_or_none(row["since_superseded_by"]),
        "purged": row["since_purged"],
    }


def _qualifier(stored: object) -> dict[str, Any]:
    pair = stored if isinstance(stored, list) else ["", stored]
    fields = stored if isinstance(stored, dict) else {"label": pair[0], "value": pair[1]}
    label = fields.get("label") or fields.get("key")
    return {
        "qualifier_type_id": fields.get("qualifier_type_id"),
        "key": fields.get("key"),
        "label": label,
        "value": fields.get("value"),
        "entity_id": fields.get("entity_id"),
        "entity_name": fields.get("entity_name"),
    }
