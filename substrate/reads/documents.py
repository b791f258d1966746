"""A document's text as it was at a moment of the record, in pages."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from substrate import sql
from substrate.axes.as_of import AsOf
from substrate.db import AnyConnection
from substrate.errors import InvalidInput, NotFound
from substrate.reads import cursors
from substrate.reads.deletions import purges_of
from substrate.reads.moments import envelope, rfc3339
from substrate.reads.shapes import Row, text_or_none

PAGE = 24_000
"""Body characters of one page."""
MOST = 500
STATES = ("waiting", "parsed", "incomplete", "failed")
"""``failed``: it could not be read. ``incomplete``: it was read, and a later stage gave up on a part of it."""


def get_document(
    conn: AnyConnection, kb_id: UUID, document_id: UUID, offset: int, as_of: AsOf, *, page: int = PAGE
) -> dict[str, Any]:
    """The sections of the version held at `as_of`, from `offset`, at most `page` characters of them.

    Offsets count Unicode characters over the trimmed section bodies in order; headings and separators do not count.
    ``next_offset`` is null on the last page; at or past the end there are no sections. Of a document that was purged
    since there is a stub without sections, and ``purged`` says when, by whom and why. Raises `NotFound` for an id
    that is unknown, of another base or not held then.
    """
    if offset < 0:
        raise InvalidInput("offset: must not be negative", field="offset")
    row = conn.execute(
        sql.query("reads_document", as_of), sql.parameters(as_of, kb_id=kb_id, document_id=document_id)
    ).fetchone()
    if row is None:
        raise NotFound("No document with that id in this knowledge base.", field="document_id")
    purged = purges_of(conn, kb_id, [document_id]).get(document_id)
    parameters = sql.parameters(as_of, kb_id=kb_id, version_id=row["version_id"])
    sections = [] if purged else conn.execute(sql.query("reads_document_sections", as_of), parameters).fetchall()
    total = int(sections[-1]["start"]) + len(sections[-1]["text"]) if sections else 0
    end = min(offset + page, total)
    return {
        "kb_id": str(kb_id),
        **envelope(as_of),
        **_document(row),
        "purged": purged,
        "offset": offset,
        "total_chars": total,
        "truncated": end < total,
        "next_offset": end if end < total else None,
        "sections": [s for section in sections if (s := _section(section, offset, end)) is not None],
    }


def _document(row: Row) -> dict[str, Any]:
    return {
        "document_id": str(row["id"]),
        "version_id": str(row["version_id"]),
        "version": row["number"],
        "external_id": row["external_id"],
        "kind": row["kind"],
        "filename": row["filename"],
        "title": row["title"],
        "author": row["author"] or None,
        "doc_time": rfc3339(row["doc_time"]),
        "doc_time_precision": row["doc_time_precision"],
        "recorded_at": rfc3339(row["recorded_at"]),
        "state": "failed" if row["failure_code"] else "parsed" if row["parsed"] else "waiting",
        "failure": row["failure"],
        "missing_since": rfc3339(row["missing_at"]),
        "waiting_version": row["waiting_version"],
    }


def _section(row: Row, offset: int, end: int) -> dict[str, Any] | None:
    """The part of a section that lies on the page."""
    start, text = int(row["start"]), row["text"]
    first, last = max(offset - start, 0), min(end - start, len(text))
    if first >= last:
        return None
    return {
        "chunk_id": str(row["id"]),
        "seq": row["position"],
        "kind": row["kind"],
        "heading_path": list(row["heading_path"]),
        "anchor": row["anchor"],
        "offset": start + first,
        "text": text[first:last],
    }


def list_documents(
    conn: AnyConnection,
    kb_id: UUID,
    as_of: AsOf,
    *,
    state: str | None = None,
    kind: str | None = None,
    limit: int = 100,
    cursor: str | None = None,
) -> dict[str, Any]:
    """Documents held at `as_of` by file name, each with its newest version and, if a stage failed, which and why.

    ``failures`` has stage, state (``failed``, ``quarantined``, or ``due`` where it is tried again), code, reason and
    the number of items, as they stand now. `state` is one of `STATES`; `kind` is ``file`` or ``memory``.
    """
    for field, value, allowed in (("state", state, STATES), ("kind", kind, ("file", "memory"))):
        if value is not None and value not in allowed:
            raise InvalidInput(f"{field}: must be one of {', '.join(allowed)}", field=field)
    page = cursors.page(conn, kb_id, as_of, cursor, limit=limit, most=MOST, question=("documents", state, kind))
    rows = conn.execute(
        sql.query("reads_documents", page.as_of),
        sql.parameters(page.as_of, kb_id=kb_id, state=state, kind=kind, limit=limit, offset=page.offset),
    ).fetchall()
    following = page.following(rows[0]["total"])
    return {
        "kb_id": str(kb_id),
        **envelope(page.as_of),
        "total": rows[0]["total"],
        "failed": rows[0]["failed"],
        "limit": limit,
        "truncated": following is not None,
        "next_cursor": following,
        "documents": [_listed(row) for row in rows if row["id"] is not None],
    }


def _listed(row: Row) -> dict[str, Any]:
    return {
        "document_id": str(row["id"]),
        "version_id": text_or_none(row["version_id"]),
        "version": row["number"],
        "external_id": row["external_id"],
        "kind": row["kind"],
        "source": row["source"],
        "source_kind": row["source_kind"],
        "namespace": row["namespace"],
        "filename": row["filename"],
        "title": row["title"],
        "media_type": row["media_type"],
        "doc_time": rfc3339(row["known_doc_time"]),
        "doc_time_precision": row["known_precision"],
        "recorded_at": rfc3339(row["recorded_at"]),
        "state": row["state"],
        "failure_code": row["failure_code"],
        "failure": row["failure"],
        "failures": row["failures"],
        "chunks": row["chunks"],
        "missing_since": rfc3339(row["missing_at"]),
    }
