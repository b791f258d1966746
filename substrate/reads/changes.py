"""What a base learned or revised in a window of record time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from substrate import sql
from substrate.axes.as_of import AsOf
from substrate.db import AnyConnection
from substrate.errors import InvalidInput
from substrate.reads import cursors
from substrate.reads.entities import names_of, subject
from substrate.reads.moments import envelope, parse_bucket, resolve, rfc3339
from substrate.reads.shapes import Row, confidence, object_value, stated_interval, text_or_none

KINDS = ("asserted", "corrected", "rejected", "merged", "parted", "retracted")
"""What can happen to a fact on the record. ``retracted``: every source of it is gone; ``parted``: by a revert."""
_IDENTITY = {"merged": "is the same as", "parted": "is not the same as"}
MOST = 100


def changes(
    conn: AnyConnection,
    kb_id: UUID,
    since: str,
    until: str | None = None,
    entity: str | None = None,
    kinds: Sequence[str] | None = None,
    limit: int = 40,
    cursor: str | None = None,
    *,
    as_of: AsOf | None = None,
) -> dict[str, Any]:
    """Events of the ledger recorded from `since` to the end of `until`, newest first.

    Both are dates or moments of the record, not of the world; `until` names its last moment and may be left out.
    Nothing after `as_of` (None: the head) is seen. An event's ``at`` can be given to ``before`` to read what was
    held until it. ``fact_id`` is the row written or closed; it is null for a merge or its
    revert, which has a ``merge_id``.
    """
    question = ("changes", since, until, entity, tuple(sorted(kinds)) if kinds is not None else None)
    stands = as_of or resolve(conn, kb_id)
    page = cursors.page(conn, kb_id, stands, cursor, limit=limit, most=MOST, question=question)
    start = parse_bucket(since, "since").start
    end = parse_bucket(until, "until").end if until is not None else datetime.max.replace(tzinfo=UTC)
    if start >= end:
        raise InvalidInput("until: must not lie before since", field="until")
    rows = _rows(conn, kb_id, page, start, end, entity, _kinds(kinds))
    names = _names(conn, kb_id, page.as_of, rows)
    total = rows[0]["total"]
    following = page.following(total)
    return {
        "kb_id": str(kb_id),
        **envelope(page.as_of),
        "since": rfc3339(start),
        "until": rfc3339(end) if until is not None else None,
        "limit": limit,
        "limit_reached": following is not None,
        "truncated": following is not None,
        "total": total,
        "next_cursor": following,
        "changes": [_event(row, names) for row in rows if row["place"] is not None],
    }


def _rows(
    conn: AnyConnection,
    kb_id: UUID,
    page: cursors.Page,
    start: datetime,
    end: datetime,
    entity: str | None,
    kinds: list[str] | None,
) -> list[Row]:
    members = None
    if entity is not None:
        members = list(subject(conn, kb_id, entity, page.as_of).members)
    first = conn.execute(sql.query("reads_first_seq_at"), {"kb_id": kb_id, "moment": start}).fetchone()
    parameters = sql.parameters(
        page.as_of,
        kb_id=kb_id,
        seq=page.as_of.seq,
        first_seq=first["seq"] if first else page.as_of.seq + 1,
        since=start,
        until=end,
        kinds=kinds,
        members=members,
        limit=page.limit,
        offset=page.offset,
    )
    return list(conn.execute(sql.query("reads_changes", page.as_of), parameters).fetchall())


def _kinds(kinds: Sequence[str] | None) -> list[str] | None:
    if kinds is None:
        return None
    if unknown := sorted(set(kinds) - set(KINDS)):
        raise InvalidInput(f"kinds: {', '.join(unknown)} is none of {', '.join(KINDS)}", field="kinds")
    if not kinds:
        raise InvalidInput("kinds: an empty list matches nothing; leave it out", field="kinds")
    return list(kinds)


def _names(conn: AnyConnection, kb_id: UUID, as_of: AsOf, rows: Sequence[Row]) -> dict[UUID, str]:
    wanted = {row[end] for row in rows for end in ("subject_canonical", "object_canonical")} - {None}
    return names_of(conn, kb_id, as_of, wanted)


def _event(row: Row, names: dict[UUID, str]) -> dict[str, Any]:
    is_merge = row["merge_id"] is not None
    return {
        "fact_id": text_or_none(row["fact_id"]),
        "merge_id": text_or_none(row["merge_id"]),
        "at": rfc3339(row["at"]),
        "seq": row["seq"],
        "kind": row["kind"],
        "subject_id": str(row["subject_canonical"]),
        "subject_name": names.get(row["subject_canonical"]),
        "predicate_key": row["predicate_key"],
        "predicate_label": _IDENTITY[row["kind"]] if is_merge else row["predicate_label"],
        "object_id": text_or_none(row["object_canonical"]),
        "object_name": names.get(row["object_canonical"]),
        "object_value": None if is_merge else object_value(row),
        "confidence": None if is_merge else confidence(row),
        **stated_interval(row),
        "supersedes": text_or_none(row["supersedes"]),
        "superseded_by": text_or_none(row["superseded_by"]),
        "document_id": text_or_none(row["document_id"]),
        "filename": row["filename"],
        "quote": row["quote"],
    }
