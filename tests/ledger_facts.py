"""Facts put into a ledger through its own door, for tests that read them."""

from __future__ import annotations

import hashlib
import itertools
from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID, uuid4

from substrate.extraction.claims import ClaimTime, Value
from substrate.ledger import open_door
from substrate.ledger.assertions import Asserted, assert_batch
from substrate.ledger.drafts import KNOWN_AS, Draft, Evidence
from substrate.ledger.entities import resolve_names
from substrate.ledger.merges import merge
from substrate.ledger.retractions import close_version_assertions, reject_fact
from substrate.ontology.store import declare, load_ontology
from substrate.ontology.terms import parse_ontology

ONTOLOGY = """
classes:
  - {key: person, label: Person}
  - {key: project, label: Project}
relations:
  - {key: leads, label: leads, domain: person, range: project, inverse_functional: true}
  - {key: works_on, label: works on, aliases: [contributes to]}
  - {key: salary, label: salary, kind: attribute, datatype: money, functional: true}
"""


class Scribe:
    """Writes documents and facts into one base, a transaction each."""

    def __init__(self, database, kb_id: UUID) -> None:
        self.database, self.kb_id = database, kb_id
        self._numbers = itertools.count()
        with database.write(kb_id) as conn, self._door(conn) as door:
            declare(door, parse_ontology(ONTOLOGY))

    def _door(self, conn):
        return open_door(conn, self.kb_id, actor="person:test", via="import", action="test")

    def document(self, text: str, *, filename: str = "note.md", doc_time: datetime | None = None) -> Evidence:
        """A parsed document of one section per paragraph; the evidence points at its first section."""
        document, version = uuid4(), uuid4()
        digest = hashlib.sha256(text.encode()).digest()
        with self.database.write(self.kb_id) as conn:
            source = conn.execute(
                "insert into sources (kb_id, kind, name) values (%s, 'push', 'push') "
                "on conflict (kb_id, kind, name) do update set name = excluded.name returning id",
                (self.kb_id,),
            ).fetchone()["id"]
            conn.execute(
                "insert into blobs (kb_id, sha256, content) values (%s, %s, %s) on conflict do nothing",
                (self.kb_id, digest, text.encode()),
            )
            with self._door(conn) as door:
                door.insert(
                    "documents",
                    [
                        {
                            "id": document,
                            "source_id": source,
                            "external_id": f"doc-{next(self._numbers)}",
                            "kind": "file",
                            "namespace": "",
                        }
                    ],
                )
                door.insert("document_versions", [self._version(document, version, digest, filename, doc_time)])
                chunks = [self._chunk(document, version, i, t) for i, t in enumerate(text.split("\n\n"))]
                door.insert("chunks", chunks)
        first = chunks[0]
        return Evidence(None, first["id"], document, version, first["text"], 0, len(first["text"]))

    @staticmethod
    def _version(document, version, digest, filename, doc_time):
        return {
            "id": version,
            "document_id": document,
            "number": 1,
            "filename": filename,
            "media_type": "text/markdown",
            "content_sha256": digest,
            "doc_time": doc_time,
            "doc_time_precision": "day" if doc_time else None,
            "author": "",
        }

    @staticmethod
    def _chunk(document, version, position, text):
        return {
            "id": uuid4(),
            "document_id": document,
            "version_id": version,
            "position": position,
            "text": text,
            "kind": "text",
            "heading_path": ["Notes"],
            "anchor": {"line": position + 1},
            "cells": None,
            "body_start": 0,
            "body_end": len(text),
            "namespace": "",
            "parser": "test@1",
        }

    def say(
        self,
        subject: str,
        predicate: str | None,
        other: str | Value,
        *,
        start: datetime | None = None,
        end: datetime | None = None,
        end_unknown: bool = False,
        precision: str = "day",
        evidence: Evidence | None = None,
        attested: datetime | None = None,
        phrase: str | None = None,
        kinds: dict[str, str] | None = None,
        source_key: str | None = None,
        **more,
    ) -> Asserted:
        """Assert one triple, and the names of its ends, as the pipeline would."""
        names = {subject: None} | ({other: None} if isinstance(other, str) else {}) | (kinds or {})
        evidence = evidence or self.document(f"{subject} {phrase or predicate} {other}.")
        time = ClaimTime(
            start,
            precision if start else None,
            None if end_unknown else end,
            "unknown" if end_unknown else precision if end else None,
        )
        with self.database.write(self.kb_id) as conn, self._door(conn) as door:
            ids = resolve_names(door, names, {"person": "person", "project": "project"})
            drafts = [
                Draft(
                    source_key or f"person:{uuid4()}",
                    ids[subject],
                    phrase or (predicate or "").replace("_", " "),
                    predicate,
                    object_id=ids[other] if isinstance(other, str) else None,
                    value=None if isinstance(other, str) else other,
                    time=time,
                    attested_at=attested,
                    evidence=evidence,
                    **more,
                ),
                *(
                    Draft(
                        f"name:{evidence.chunk_id}:{ids[n]}:{n}",
                        ids[n],
                        "known as",
                        KNOWN_AS,
                        value=Value(n),
                        evidence=evidence,
                    )
                    for n in names
                ),
            ]
            return assert_batch(door, drafts, load_ontology(conn, self.kb_id))

    def merge(self, keep: UUID, absorbed: UUID) -> None:
        with self.database.write(self.kb_id) as conn, self._door(conn) as door:
            merge(door, keep, absorbed, "test")

    def reject(self, fact_id: UUID) -> None:
        with self.database.write(self.kb_id) as conn, self._door(conn) as door:
            reject_fact(door, fact_id, "test")

    def delete(self, evidence: Evidence) -> None:
        """Withdraw what a document's version says."""
        with self.database.write(self.kb_id) as conn, self._door(conn) as door:
            close_version_assertions(door, [evidence.version_id], "deleted")

    def seq(self) -> int:
        with self.database.read(self.kb_id) as conn:
            return conn.execute("select seq from kb_head where kb_id = %s", (self.kb_id,)).fetchone()["seq"]


def day(text: str) -> datetime:
    """Midnight UTC of an ISO date."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def money(raw: str, amount: str, unit: str = "EUR") -> Value:
    return Value(raw, Decimal(amount), unit, "money")
