"""The ``parse`` stage: a pushed version becomes chunks, and takes the place of the version before it.

Bytes are read outside any transaction. The chunks of a batch land together with the closing of what they supersede,
so that no reader ever sees both versions of a document or neither.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from substrate import sql, work
from substrate.db import Database
from substrate.documents.blocks import ChunkDraft, ParsedDocument
from substrate.documents.deletion import close_versions
from substrate.documents.parser_version import MEMORY_PARSER, PARSER
from substrate.documents.parsing import ParserPool
from substrate.errors import DocumentRejected
from substrate.ledger import Door, open_door
from substrate.ledger.retractions import close_version_assertions
from substrate.passes import Tally, run_pass

BATCH = 16
"""Versions per transaction: their chunks are a few hundred rows under the head lock."""


@dataclass(slots=True)
class _Version:
    """A leased version with what reading it gave; memory is not read."""

    row: Mapping[str, Any]
    document: ParsedDocument | None = None
    drafts: Sequence[ChunkDraft] = ()
    refusal: work.Failure | None = None
    chunk_ids: list[UUID] = field(default_factory=list)

    @property
    def id(self) -> UUID:
        return UUID(str(self.row["id"]))


def run_parse(
    db: Database,
    kb_id: UUID,
    *,
    next_versions: Mapping[work.Stage, str] | None = None,
    pool: ParserPool | None = None,
    limit: int | None = None,
) -> work.StageResult:
    """Parse and chunk what is due. ``next_versions`` names, per stage that follows, the code version to make due.

    A document that cannot be read is reported by name and kept from nobody else's way; the version before it stays.
    """
    own = None if pool else ParserPool()
    readers = pool or own
    assert readers is not None  # noqa: S101 - one of the two lines above made it

    def handle(lease: work.Lease) -> Tally:
        versions = _read(db, kb_id, lease, readers)
        return _land(db, kb_id, lease, versions, next_versions or {})

    try:
        return run_pass(db, kb_id, "parse", handle, batch=BATCH, limit=limit)
    finally:
        if own is not None:
            own.close()


def _read(db: Database, kb_id: UUID, lease: work.Lease, readers: ParserPool) -> list[_Version]:
    with db.read(kb_id) as conn:
        rows = conn.execute(sql.query("documents_to_parse"), {"kb_id": kb_id, "ids": list(lease.items)}).fetchall()
    versions = [_Version(row) for row in rows]
    for version in versions:
        if version.row["kind"] == "file" and version.row["invalidated_seq"] is None:
            _parse(db, kb_id, version, readers)
    # A document's versions land in their own order, whatever order they were leased in.
    return sorted(versions, key=lambda v: (v.row["document_id"], v.row["number"]))


def _parse(db: Database, kb_id: UUID, version: _Version, readers: ParserPool) -> None:
    from substrate.documents.chunking import chunk

    row = version.row
    with db.read(kb_id) as conn:  # one at a time: a batch of the largest documents would not fit
        values = {"kb_id": kb_id, "sha256": row["content_sha256"]}
        blob = conn.execute(sql.query("documents_blob"), values).fetchone()
    assert blob is not None  # noqa: S101 - a foreign key says so
    try:
        version.document = readers.parse(bytes(blob["content"]), row["filename"], row["media_type"])
        version.drafts = chunk(version.document)
    except DocumentRejected as refused:
        version.refusal = work.Failure(refused.code, str(refused))


def _land(
    db: Database,
    kb_id: UUID,
    lease: work.Lease,
    versions: Sequence[_Version],
    next_versions: Mapping[work.Stage, str],
) -> Tally:
    tally = Tally()
    with db.write(kb_id) as conn:
        with open_door(conn, kb_id, actor="pipeline", via="pipeline", action="documents parsed") as door:
            ids = [version.id for version in versions]
            values = {"kb_id": kb_id, "ids": ids, "parsers": [PARSER, MEMORY_PARSER]}
            found = conn.execute(sql.query("documents_standing"), values).fetchall()
            standing = {row["id"]: row for row in found}
            for version in versions:
                _settle(door, version, standing[version.id], tally)
            chunk_ids = [chunk_id for version in versions for chunk_id in version.chunk_ids]
            for stage, code_version in next_versions.items():
                work.add_due(conn, kb_id, stage, chunk_ids, code_version)
            failed = {v.id: v.refusal for v in versions if v.refusal is not None}
            work.finish(conn, kb_id, lease, [i for i in lease.items if i not in failed], failed)
    return tally


def _settle(door: Door, version: _Version, standing: Mapping[str, Any], tally: Tally) -> None:
    if version.refusal is not None:
        _note(door, version)
        tally.fail(version.row["external_id"], str(version.refusal.message))
    elif standing["landed"]:
        version.chunk_ids = _held_chunks(door, version.id)
        tally.done += 1
    elif not standing["held"] or standing["overtaken"] or version.document is None:
        # Deleted meanwhile, or a later version landed first: it is never shown.
        close_versions(door, [version.id] if standing["held"] else [], "superseded")
        tally.skipped += 1
    else:
        closed = _supersede(door, version)
        rows = [_chunk_row(version, draft) for draft in version.drafts]
        if not rows:  # no facts stage will come by to take leave of what was said
            close_version_assertions(door, closed, "superseded")
        door.insert("chunks", rows)
        version.chunk_ids = [row["id"] for row in rows]
        _note(door, version)
        tally.done += 1
        tally.written += len(rows)


def _held_chunks(door: Door, version_id: UUID) -> list[UUID]:
    values = {"kb_id": door.kb_id, "version_ids": [version_id]}
    rows = door.connection.execute(sql.query("documents_held_chunks"), values).fetchall()
    return [row["id"] for row in rows]


def _supersede(door: Door, version: _Version) -> list[UUID]:
    values = {
        "kb_id": door.kb_id,
        "document_id": version.row["document_id"],
        "below": version.row["number"],
    }
    rows = door.connection.execute(sql.query("documents_held_versions"), values).fetchall()
    version_ids = [row["id"] for row in rows]
    close_versions(door, version_ids, "superseded")
    return version_ids


def _chunk_row(version: _Version, draft: ChunkDraft) -> dict[str, Any]:
    cells = {"header": list(draft.header), "rows": [list(row) for row in draft.rows]} if draft.rows else None
    return {
        "id": uuid4(),
        "document_id": version.row["document_id"],
        "version_id": version.id,
        "position": draft.position,
        "text": draft.text,
        "kind": draft.kind,
        "heading_path": list(draft.heading_path),
        "anchor": dict(draft.anchor),
        "cells": cells,
        "body_start": draft.body_start,
        "body_end": draft.body_end,
        "namespace": version.row["namespace"],
        "parser": PARSER,
    }


def _note(door: Door, version: _Version) -> None:
    """Write down what parsing found, or why it found nothing."""
    document, refusal = version.document, version.refusal
    date = document.date if document else None
    values = {
        "kb_id": door.kb_id,
        "version_id": version.id,
        "parser": PARSER,
        "title": document.title if document else "",
        "media_type": document.media_type if document else "",
        "doc_time": date.at if date else None,
        "doc_time_precision": date.precision if date else None,
        "doc_time_source": date.source if date else None,
        "failure_code": refusal.code if refusal else None,
        "failure": refusal.message if refusal else None,
    }
    door.connection.execute(sql.query("documents_parse_result"), values)
