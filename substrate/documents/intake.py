"""How documents come in: push and remember. How they go is in `deletion`, how they come back in `restore`.

Each verb is one ledger transaction. What is pushed is only noted here and parsed later by the pipeline; until the
new version's chunks land, the version before it stays what readers see. A remembered sentence is its own chunk and
is found by the very next search.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID, uuid4

from psycopg.types.json import Jsonb

from substrate import sql, work
from substrate.db import Database, WriteConnection
from substrate.documents.checks import (
    MAX_SENTENCE,
    DocTime,
    PushItem,
    check_items,
    check_text,
    read_doc_time,
)
from substrate.documents.deletion import Deleted, delete
from substrate.documents.parser_version import MEMORY_PARSER, PARSER
from substrate.errors import Conflict, NotFound
from substrate.ledger import Door, open_door
from substrate.ledger.door import AlreadyCommitted, Via

__all__ = ["Deleted", "PushItem", "PushResult", "RememberResult", "delete", "ensure_source", "push", "remember"]

Action = Literal["created", "updated", "unchanged", "revived"]
SourceKind = Literal["push", "folder", "memory"]


@dataclass(frozen=True, slots=True)
class PushResult:
    """What became of one pushed document, and the version that now stands for it."""

    action: Action
    document_id: UUID
    version_id: UUID
    external_id: str


@dataclass(frozen=True, slots=True)
class RememberResult:
    """The remembered sentence: a document with one chunk, recorded at `seq`."""

    document_id: UUID
    chunk_id: UUID
    seq: int


def ensure_source(conn: WriteConnection, kb_id: UUID, kind: SourceKind, name: str, config: Any = None) -> UUID:
    """The id of the base's source of that kind and name, made if need be. Raises `NotFound` for no such base."""
    if conn.execute(sql.query("base_by_id"), {"kb_id": kb_id}).fetchone() is None:
        raise NotFound("no knowledge base with that id", field="kb_id")
    key = {"kb_id": kb_id, "kind": kind, "name": name}
    conn.execute(sql.query("documents_ensure_source"), {**key, "config": Jsonb(config or {})})
    row = conn.execute(sql.query("documents_source"), key).fetchone()
    assert row is not None  # noqa: S101 - made by the statement before
    return UUID(str(row["id"]))


def push(
    db: Database,
    kb_id: UUID,
    items: Sequence[PushItem],
    *,
    source: str = "push",
    kind: Literal["push", "folder"] = "push",
    actor: str,
    via: Via,
) -> list[PushResult]:
    """Take in documents, in one transaction; one result per item, in order.

    The same name with the same bytes and date is ``unchanged`` and writes nothing. Raises `InvalidInput` naming the
    field and the document, before anything is written.
    """
    check_text(source, "source")
    dates = check_items(items)
    hashes = [hashlib.sha256(item.content).digest() for item in items]
    with db.write(kb_id) as conn:
        source_id = ensure_source(conn, kb_id, kind, source)
        _keep_blobs(conn, kb_id, dict(zip(hashes, (item.content for item in items), strict=True)))
        with open_door(conn, kb_id, actor=actor, via=via, action="documents pushed") as door:
            # Again, since a purge may have taken bytes that were known a moment ago.
            _keep_blobs(conn, kb_id, dict(zip(hashes, (item.content for item in items), strict=True)))
            known = _newest(conn, kb_id, source_id, [item.external_id for item in items])
            arrivals = [
                _Arrival(item, date, digest, known.get(item.external_id))
                for item, date, digest in zip(items, dates, hashes, strict=True)
            ]
            return _take_in(door, source_id, arrivals)


@dataclass(slots=True)
class _Arrival:
    """A pushed item beside the newest version that the base knows of it."""

    item: PushItem
    date: DocTime
    sha256: bytes
    known: dict[str, Any] | None

    def action(self) -> Action:
        if self.known is None:
            return "created"
        if self.known["namespace"] != self.item.namespace:
            message = f"document {self.item.external_id!r} is in namespace {self.known['namespace']!r}"
            raise Conflict(message, field="namespace", document=self.item.external_id)
        if self.known["invalidated_kind"] == "deleted":
            return "revived"
        date = (self.known["doc_time"], self.known["doc_time_precision"])
        same = bytes(self.known["content_sha256"]) == self.sha256
        return "unchanged" if same and date == (self.date.at, self.date.precision) else "updated"


def _newest(conn: WriteConnection, kb_id: UUID, source_id: UUID, names: list[str]) -> dict[str, dict[str, Any]]:
    values = {"kb_id": kb_id, "source_id": source_id, "external_ids": names}
    rows = conn.execute(sql.query("documents_newest_versions"), values).fetchall()
    return {row["external_id"]: row for row in rows}


def _keep_blobs(conn: WriteConnection, kb_id: UUID, blobs: dict[bytes, bytes]) -> None:
    """Before the head is locked, so that nobody waits for bytes; in hash order, so that nobody waits in a circle."""
    rows = conn.execute(sql.query("documents_known_blobs"), {"kb_id": kb_id, "hashes": list(blobs)}).fetchall()
    known = {bytes(row["sha256"]) for row in rows}
    for digest in sorted(set(blobs) - known):
        values = {"kb_id": kb_id, "sha256": digest, "content": blobs[digest]}
        conn.execute(sql.query("documents_keep_blob"), values)


def _take_in(door: Door, source_id: UUID, arrivals: Sequence[_Arrival]) -> list[PushResult]:
    documents, versions, results = [], [], []
    for arrival in arrivals:
        action, known = arrival.action(), arrival.known
        document_id = known["document_id"] if known else uuid4()
        if known is None:
            documents.append(_document_row(document_id, source_id, arrival.item, "file"))
        version_id = known["version_id"] if known and action == "unchanged" else uuid4()
        if action != "unchanged":
            number = known["number"] + 1 if known else 1
            versions.append(_version_row(version_id, document_id, number, arrival.item, arrival.sha256, arrival.date))
        results.append(PushResult(action, document_id, version_id, arrival.item.external_id))
    door.insert("documents", documents)
    door.insert("document_versions", versions)
    work.add_due(door.connection, door.kb_id, "parse", [v["id"] for v in versions], PARSER)
    ids = [result.document_id for result in results]
    door.connection.execute(sql.query("documents_found_again"), {"kb_id": door.kb_id, "ids": ids})
    return results


def _document_row(document_id: UUID, source_id: UUID, item: PushItem, kind: str) -> dict[str, Any]:
    return {
        "id": document_id,
        "source_id": source_id,
        "external_id": item.external_id,
        "kind": kind,
        "namespace": item.namespace,
    }


def _version_row(
    version_id: UUID, document_id: UUID, number: int, item: PushItem, sha256: bytes, date: DocTime
) -> dict[str, Any]:
    return {
        "id": version_id,
        "document_id": document_id,
        "number": number,
        "filename": item.filename,
        "media_type": item.media_type,
        "content_sha256": sha256,
        "doc_time": date.at,
        "doc_time_precision": date.precision,
        "author": item.author,
    }


def remember(
    db: Database,
    kb_id: UUID,
    text: str,
    occurred_at: str | None = None,
    *,
    actor: str,
    via: Via,
    author: str = "",
    namespace: str = "",
    idempotency_key: str | None = None,
) -> RememberResult:
    """Record one sentence. It is searchable as soon as this returns; what it says waits for a person's nod.

    ``occurred_at`` is the date the sentence is told from; ``author`` is who says "I" in it. A repeated
    ``idempotency_key`` writes nothing and returns what the first call did. Raises `InvalidInput`.
    """
    check_text(text, "text", most=MAX_SENTENCE)
    check_text(author, "author", blank=True)
    check_text(namespace, "namespace", blank=True)
    check_text(idempotency_key, "idempotency_key")
    date = read_doc_time(occurred_at, "occurred_at")
    content = text.encode()
    item = PushItem(str(uuid4()), "remembered.txt", content, None, namespace, "text/plain", author)
    try:
        with db.write(kb_id) as conn:
            source_id = ensure_source(conn, kb_id, "memory", "memory")
            digest = hashlib.sha256(content).digest()
            _keep_blobs(conn, kb_id, {digest: content})
            with open_door(
                conn, kb_id, actor=actor, via=via, action="sentence remembered", idempotency_key=idempotency_key
            ) as door:
                return _remember(door, source_id, item, text, digest, date)
    except AlreadyCommitted as before:
        return _remembered(db, kb_id, before.seq)


def _remember(door: Door, source_id: UUID, item: PushItem, text: str, digest: bytes, date: DocTime) -> RememberResult:
    document_id, version_id, chunk_id = uuid4(), uuid4(), uuid4()
    door.insert("documents", [_document_row(document_id, source_id, item, "memory")])
    door.insert("document_versions", [_version_row(version_id, document_id, 1, item, digest, date)])
    chunk = {
        "id": chunk_id,
        "document_id": document_id,
        "version_id": version_id,
        "position": 0,
        "text": text,
        "kind": "text",
        "heading_path": [],
        "anchor": {},
        "cells": None,
        "body_start": 0,
        "body_end": len(text),
        "namespace": item.namespace,
        "parser": MEMORY_PARSER,
    }
    door.insert("chunks", [chunk])
    # The parse stage finds the chunk there already and passes it on: one place alone knows what follows a chunk.
    work.add_due(door.connection, door.kb_id, "parse", [version_id], PARSER)
    return RememberResult(document_id, chunk_id, door.seq)


def _remembered(db: Database, kb_id: UUID, seq: int) -> RememberResult:
    values = {"kb_id": kb_id, "seq": seq, "parser": MEMORY_PARSER}
    with db.read(kb_id) as conn:
        row = conn.execute(sql.query("documents_of_transaction"), values).fetchone()
    if row is None:
        raise Conflict("this idempotency key was used for something else", field="idempotency_key")
    return RememberResult(**row)
