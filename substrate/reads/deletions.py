"""Deletions of documents as events of the record: what each took, and whether it was undone."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from substrate import sql
from substrate.axes.as_of import AsOf
from substrate.db import AnyConnection
from substrate.errors import NotFound
from substrate.reads import cursors
from substrate.reads.entities import names_of
from substrate.reads.moments import envelope, rfc3339
from substrate.reads.shapes import Row, ids, object_value, text_or_none

MOST = 200


def list_deletions(
    conn: AnyConnection, kb_id: UUID, as_of: AsOf, *, limit: int = 50, cursor: str | None = None
) -> dict[str, Any]:
    """Deletions recorded by `as_of`, newest first, with how much each took; `document_deletions` has the lists."""
    page, rows = _page(conn, kb_id, as_of, None, limit, cursor)
    lists = ("versions", "chunks", "assertions", "proposals", "facts", "weakened")
    counts = [{word: len(row[f"{_one(word)}_ids"]) for word in lists} for row in rows if row["id"] is not None]
    shown = [{**_event(row), **count} for row, count in zip(rows, counts, strict=False)]
    return _answer(kb_id, page, rows[0]["total"], shown)


def document_deletions(
    conn: AnyConnection, kb_id: UUID, as_of: AsOf, document_id: UUID, *, limit: int = 50, cursor: str | None = None
) -> dict[str, Any]:
    """The deletions of one document, newest first, each with its exact list.

    ``facts`` are those whose every evidence went, ``weakened`` those that lost some and stayed; each has id, lineage,
    both ends, relation, and (once undone) ``restored_as``, the row that came back, null where none did. Ids of
    versions, chunks, assertions and proposals are given as they are. Raises `NotFound` for an unknown document.
    """
    values = {"kb_id": kb_id, "document_id": document_id}
    if conn.execute(sql.query("documents_by_id"), values).fetchone() is None:
        raise NotFound("No document with that id in this knowledge base.", field="document_id")
    page, rows = _page(conn, kb_id, as_of, document_id, limit, cursor)
    found = [row for row in rows if row["id"] is not None]
    told = facts_told(conn, kb_id, page.as_of, {i for row in found for i in (*row["fact_ids"], *row["weakened_ids"])})
    return _answer(kb_id, page, rows[0]["total"], [_with_lists(row, told) for row in found])


def _page(
    conn: AnyConnection, kb_id: UUID, as_of: AsOf, document_id: UUID | None, limit: int, cursor: str | None
) -> tuple[cursors.Page, list[Row]]:
    question = ("deletions", None if document_id is None else str(document_id))
    page = cursors.page(conn, kb_id, as_of, cursor, limit=limit, most=MOST, question=question)
    parameters = sql.parameters(page.as_of, kb_id=kb_id, document_id=document_id, limit=page.limit, offset=page.offset)
    return page, list(conn.execute(sql.query("lifecycle_deletions", page.as_of), parameters).fetchall())


def _answer(kb_id: UUID, page: cursors.Page, total: int, shown: list[dict[str, Any]]) -> dict[str, Any]:
    following = page.following(total)
    return {
        "kb_id": str(kb_id),
        **envelope(page.as_of),
        "total": total,
        "limit": page.limit,
        "truncated": following is not None,
        "next_cursor": following,
        "deletions": shown,
    }


def _event(row: Row) -> dict[str, Any]:
    restored = None
    if row["restoration_id"] is not None:
        restored = {
            "id": str(row["restoration_id"]),
            "at": rfc3339(row["restored_at"]),
            "seq": row["restored_seq"],
            "by": row["restored_by"],
            "why": row["restored_why"],
        }
    purged = None
    if row["purged_seq"] is not None:
        at = rfc3339(row["purged_at"])
        purged = {"at": at, "seq": row["purged_seq"], "by": row["purged_by"], "why": row["purged_why"]}
    return {
        "id": str(row["id"]),
        "document_id": str(row["document_id"]),
        "external_id": row["external_id"],
        "kind": row["kind"],
        "at": rfc3339(row["recorded_at"]),
        "seq": row["recorded_seq"],
        "by": row["actor"],
        "via": row["via"],
        "why": row["why"],
        "restored": restored,
        "purged": purged,
    }


def purges_of(conn: AnyConnection, kb_id: UUID, documents: Collection[UUID]) -> dict[UUID, dict[str, Any]]:
    """Document id → its purge (``at``, ``seq``, ``by``, ``why``), for those that were purged, whenever that was."""
    if not documents:
        return {}
    rows = conn.execute(sql.query("lifecycle_purges"), {"kb_id": kb_id, "ids": list(documents)})
    return {
        row["document_id"]: {
            "at": rfc3339(row["recorded_at"]),
            "seq": row["recorded_seq"],
            "by": row["actor"],
            "why": row["why"],
        }
        for row in rows
    }


def _with_lists(row: Row, told: Mapping[UUID, dict[str, Any]]) -> dict[str, Any]:
    back = dict(row["facts_back"] or [])
    undone = row["restoration_id"] is not None
    facts = [{**told[i], **({"restored_as": back.get(str(i))} if undone else {})} for i in row["fact_ids"]]
    return {
        **_event(row),
        "facts": facts,
        "weakened": [told[i] for i in row["weakened_ids"]],
        **{f"{word}_ids": ids(row[f"{word}_ids"]) for word in ("version", "chunk", "assertion", "proposal")},
    }


def _one(word: str) -> str:
    return "fact" if word == "facts" else word.removesuffix("s")


def facts_told(conn: AnyConnection, kb_id: UUID, as_of: AsOf, wanted: set[UUID]) -> dict[UUID, dict[str, Any]]:
    """Fact rows by id: lineage, both ends with their names at `as_of`, and the relation."""
    if not wanted:
        return {}
    parameters = sql.parameters(as_of, kb_id=kb_id, ids=list(wanted))
    rows = conn.execute(sql.query("lifecycle_facts_told", as_of), parameters).fetchall()
    names = names_of(conn, kb_id, as_of, {row[end] for row in rows for end in ("subject_id", "object_id")} - {None})
    return {row["id"]: _fact(row, names) for row in rows}


def _fact(row: Row, names: Mapping[UUID, str]) -> dict[str, Any]:
    return {
        "id": str(row["id"]),
        "lineage_id": str(row["lineage_id"]),
        "subject_id": str(row["subject_id"]),
        "subject_name": names.get(row["subject_id"]),
        "predicate_key": row["predicate_key"],
        "predicate_label": row["label"],
        "object_id": text_or_none(row["object_id"]),
        "object_name": names.get(row["object_id"]),
        "object_value": object_value(row),
    }
