"""How pushed statements come in: one transaction, a passage and a claim for each, the rest as for any document.

A push is a version of the document that the sender names. The entities and facts stages take it from there, so that
identity, bindings, refusals and uniqueness are judged as they always are; no extractor and no model reads it. Pushing
the same name again takes the place of what was pushed before: what is repeated keeps its facts, the rest is withdrawn.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from substrate import sql, work
from substrate.db import AnyConnection, Database, WriteConnection
from substrate.documents.checks import DocTime, check_text, read_doc_time
from substrate.documents.deletion import Deleted, close_versions, delete
from substrate.documents.intake import ensure_source
from substrate.errors import Conflict, InvalidInput, NotFound
from substrate.extraction.claims import Extraction
from substrate.extraction.keeping import keep
from substrate.ledger.canonical import canonical_bytes
from substrate.ledger.door import AlreadyCommitted, Door, Via, open_door
from substrate.ledger.ids import new_id
from substrate.ontology.store import load_ontology
from substrate.statements.shapes import MOST, Problem, Read, read_names, read_statements

SOURCE = "statements"
PARSER = "statements@1"
"""Marks passages that no parser cut and no extractor reads."""
EXTRACTOR = "pushed@1"
MEDIA_TYPE = "application/vnd.twoclocks.statements+json"
Mode = Literal["all", "each"]
"""``all``: one mistake refuses the push. ``each``: what can be read is taken, the rest is told."""
Action = Literal["created", "updated", "unchanged", "revived"]


@dataclass(frozen=True, slots=True)
class Push:
    """A push as it arrives. `statements` and `names` are judged one by one."""

    external_id: str
    statements: Sequence[Mapping[str, Any]] = ()
    names: Sequence[Mapping[str, Any]] = ()
    doc_time: str | None = None
    """The date that the statements are told from; it attests what is not dated itself."""
    title: str = ""
    namespace: str = ""
    mode: Mode = "all"
    idempotency_key: str | None = None

    @property
    def said(self) -> dict[str, Any]:
        """What makes two pushes the same."""
        return {
            "external_id": self.external_id,
            "statements": list(self.statements),
            "names": list(self.names),
            "doc_time": self.doc_time,
            "title": self.title,
            "namespace": self.namespace,
            "mode": self.mode,
        }


@dataclass(frozen=True, slots=True)
class Pushed:
    """What became of a push. `chunks`: index of an item (names after statements) → its passage."""

    action: Action
    document_id: UUID
    version_id: UUID
    seq: int | None
    chunks: Mapping[int, UUID] = field(default_factory=dict)
    problems: Mapping[int, Sequence[Problem]] = field(default_factory=dict)
    repeated: bool = False
    """The idempotency key was used before, for this very push."""


def push_statements(db: Database, kb_id: UUID, push: Push, *, actor: str, via: Via) -> Pushed:
    """Take in what a push states. Raises `InvalidInput` naming every field that is wrong, and `Conflict`."""
    date = _checked(push)
    with db.read(kb_id) as connection:
        ontology = load_ontology(connection, kb_id)
    good, bad = read_statements(push.statements, ontology)
    more, worse = read_names(push.names, len(push.statements))
    _complain(push, [*good, *more], {**bad, **worse})
    arrival = _Arrival(push, date, [*good, *more], {**bad, **worse}, actor)
    try:
        with db.write(kb_id) as conn:
            source_id = ensure_source(conn, kb_id, "push", SOURCE)
            arrival.keep_blob(conn, kb_id)
            key = push.idempotency_key
            with open_door(conn, kb_id, actor=actor, via=via, action="statements pushed", idempotency_key=key) as door:
                return arrival.take_in(door, source_id)
    except AlreadyCommitted as before:
        return _repeated(db, kb_id, arrival, before.seq)


def withdraw(db: Database, kb_id: UUID, external_id: str, *, actor: str, via: Via, why: str = "") -> Deleted:
    """Delete the document of pushed statements of that name. Raises `NotFound`."""
    check_text(external_id, "external_id")
    with db.read(kb_id) as connection:
        row = connection.execute(
            sql.query("statements_document"), {"kb_id": kb_id, "source": SOURCE, "external_id": external_id}
        ).fetchone()
    if row is None:
        raise NotFound(f"nothing was pushed as {external_id!r}", field="external_id")
    return delete(db, kb_id, document_id=row["id"], actor=actor, via=via, why=why)


def _checked(push: Push) -> DocTime:
    check_text(push.external_id, "external_id")
    check_text(push.title, "title", blank=True)
    check_text(push.namespace, "namespace", blank=True)
    check_text(push.idempotency_key, "idempotency_key")
    if not push.statements and not push.names:
        raise InvalidInput("a push states something; to withdraw a document, delete it", field="statements")
    if len(push.statements) + len(push.names) > MOST:
        raise InvalidInput(f"at most {MOST} statements and names in one push", field="statements")
    if push.mode not in ("all", "each"):
        raise InvalidInput("mode must be all or each", field="mode")
    return read_doc_time(push.doc_time, "doc_time")


def _complain(push: Push, good: Sequence[Read], bad: Mapping[int, Sequence[Problem]]) -> None:
    if not bad or (push.mode == "each" and good):
        return
    listed = [problem for index in sorted(bad) for problem in bad[index]]
    told = "; ".join(f"{p['field']}: {p['message']}" for p in listed[:5])
    more = f"; and {len(listed) - 5} more" if len(listed) > 5 else ""
    total = len(push.statements) + len(push.names)
    message = f"nothing was taken: {len(bad)} of {total} items cannot be read: {told}{more}"
    raise InvalidInput(message, field=listed[0]["field"], errors=listed)


@dataclass(frozen=True, slots=True)
class _Arrival:
    """A push that was read."""

    push: Push
    date: DocTime
    read: Sequence[Read]
    problems: Mapping[int, Sequence[Problem]]
    actor: str

    @property
    def content(self) -> bytes:
        """The items that were taken, as bytes: what the version consists of."""
        items = [*self.push.statements, *self.push.names]
        return canonical_bytes({"items": [items[r.index] for r in self.read], "title": self.push.title})

    @property
    def body_sha256(self) -> bytes:
        return hashlib.sha256(canonical_bytes(self.push.said)).digest()

    def keep_blob(self, conn: WriteConnection, kb_id: UUID) -> None:
        digest = hashlib.sha256(self.content).digest()
        known = conn.execute(sql.query("documents_known_blobs"), {"kb_id": kb_id, "hashes": [digest]}).fetchone()
        if known is None:
            values = {"kb_id": kb_id, "sha256": digest, "content": self.content}
            conn.execute(sql.query("documents_keep_blob"), values)

    def take_in(self, door: Door, source_id: UUID) -> Pushed:
        # Again, since a purge may have taken bytes that were known a moment ago.
        self.keep_blob(door.connection, door.kb_id)
        asked = {"kb_id": door.kb_id, "source_id": source_id, "external_ids": [self.push.external_id]}
        known = door.connection.execute(sql.query("documents_newest_versions"), asked).fetchone()
        action = self._action(known)
        if known is not None and action == "unchanged":
            chunks = _chunks(door.connection, door.kb_id, known["version_id"])
            return Pushed(action, known["document_id"], known["version_id"], None, chunks, self.problems)
        document_id = known["document_id"] if known else new_id()
        if known is None:
            door.insert("documents", [self._document(document_id, source_id)])
        version_id = self._version(door, document_id, known["number"] + 1 if known else 1)
        chunks = self._passages(door, document_id, version_id)
        row = {"id": new_id(), "document_id": document_id, "version_id": version_id, "pushed_by": self.actor}
        row |= {"body_sha256": self.body_sha256, "accepted": len(self.read), "refused": len(self.problems)}
        door.insert("statement_pushes", [row])
        door.connection.execute(sql.query("documents_found_again"), {"kb_id": door.kb_id, "ids": [document_id]})
        return Pushed(action, document_id, version_id, door.seq, chunks, self.problems)

    def _action(self, known: Mapping[str, Any] | None) -> Action:
        if known is None:
            return "created"
        if known["namespace"] != self.push.namespace:
            raise Conflict(f"{self.push.external_id!r} is in namespace {known['namespace']!r}", field="namespace")
        if known["invalidated_kind"] == "deleted":
            return "revived"
        same = bytes(known["content_sha256"]) == hashlib.sha256(self.content).digest()
        date = (known["doc_time"], known["doc_time_precision"])
        return "unchanged" if same and date == (self.date.at, self.date.precision) else "updated"

    def _document(self, document_id: UUID, source_id: UUID) -> dict[str, Any]:
        return {
            "id": document_id,
            "source_id": source_id,
            "external_id": self.push.external_id,
            "kind": "file",
            "namespace": self.push.namespace,
        }

    def _version(self, door: Door, document_id: UUID, number: int) -> UUID:
        """The version in place of the one before it, with a note that nothing is to be parsed."""
        before = {"kb_id": door.kb_id, "document_id": document_id, "below": number}
        rows = door.connection.execute(sql.query("documents_held_versions"), before).fetchall()
        close_versions(door, [row["id"] for row in rows], "superseded")
        version_id = new_id()
        row = {
            "id": version_id,
            "document_id": document_id,
            "number": number,
            "filename": self.push.title or self.push.external_id,
            "media_type": MEDIA_TYPE,
            "content_sha256": hashlib.sha256(self.content).digest(),
            "doc_time": self.date.at,
            "doc_time_precision": self.date.precision,
            "author": self.actor,
        }
        door.insert("document_versions", [row])
        said = {"kb_id": door.kb_id, "version_id": version_id, "parser": PARSER, "title": self.push.title}
        said |= dict.fromkeys(("doc_time", "doc_time_precision", "doc_time_source", "failure_code", "failure"))
        door.connection.execute(sql.query("documents_parse_result"), {**said, "media_type": MEDIA_TYPE})
        return version_id

    def _passages(self, door: Door, document_id: UUID, version_id: UUID) -> dict[int, UUID]:
        """A passage for each item, its claim, and both due for the stage that resolves names."""
        made = {read.index: new_id() for read in self.read}
        where = {"document_id": document_id, "version_id": version_id, "namespace": self.push.namespace}
        rows = [
            {
                **where,
                "id": made[read.index],
                "position": position,
                "text": read.text,
                "kind": "text",
                "heading_path": [self.push.title] if self.push.title else [],
                "anchor": {"statement": read.index} | ({"ref": read.ref} if read.ref else {}),
                "cells": None,
                "body_start": 0,
                "body_end": len(read.text),
                "parser": PARSER,
            }
            for position, read in enumerate(self.read)
        ]
        door.insert("chunks", rows)
        found = [({"id": made[r.index], "text": r.text}, Extraction((r.claim,))) for r in self.read]
        keep(door.connection, door.kb_id, EXTRACTOR, found)
        work.add_due(door.connection, door.kb_id, "entities", list(made.values()), EXTRACTOR)
        return made


def _chunks(connection: AnyConnection, kb_id: UUID, version_id: UUID) -> dict[int, UUID]:
    asked = {"kb_id": kb_id, "version_id": version_id, "parser": PARSER}
    rows = connection.execute(sql.query("statements_chunks"), asked).fetchall()
    return {row["index"]: row["id"] for row in rows}


def _repeated(db: Database, kb_id: UUID, arrival: _Arrival, seq: int) -> Pushed:
    """What the first call with this key did. Raises `Conflict` where it said something else."""
    with db.read(kb_id) as connection:
        asked = {"kb_id": kb_id, "seq": seq}
        row = connection.execute(sql.query("statements_push_of_transaction"), asked).fetchone()
        if row is None or bytes(row["body_sha256"]) != arrival.body_sha256:
            raise Conflict("this idempotency key was used for something else", field="idempotency_key")
        chunks = _chunks(connection, kb_id, row["version_id"])
    action: Action = "created" if row["number"] == 1 else "updated"
    return Pushed(action, row["document_id"], row["version_id"], seq, chunks, arrival.problems, repeated=True)
