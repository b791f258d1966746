"""A base's documents for retrieval tests, written through the door the way the pipeline writes them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from uuid import UUID, uuid4

import numpy as np
from psycopg.types.json import Jsonb

from substrate.db import Database
from substrate.ledger import open_door
from substrate.retrieval.passages import passage_text, vector_key


class Shelf:
    """Documents by name; each method is one ledger transaction and returns its sequence."""

    def __init__(self, database: Database, kb_id: UUID) -> None:
        self.database = database
        self.kb_id = kb_id
        self.source_id = uuid4()
        self.document_ids: dict[str, UUID] = {}
        self.chunk_ids: dict[str, UUID] = {}
        self.versions: Counter[str] = Counter()
        self.held: dict[str, tuple[UUID, list[UUID]]] = {}
        with database.write(kb_id) as conn:
            conn.execute(
                "insert into sources (kb_id, id, kind, name, config) values (%s, %s, 'push', 'shelf', %s)",
                (kb_id, self.source_id, Jsonb({})),
            )

    def put(self, name: str, texts: Sequence[str], *, namespace: str = "", headings: Sequence[str] = ()) -> int:
        """A document, or its next version, with one chunk per text."""
        digest = hashlib.sha256("\n".join(texts).encode()).digest()
        with self.database.write(self.kb_id) as conn:
            conn.execute(
                "insert into blobs (kb_id, sha256, content) values (%s, %s, '') on conflict do nothing",
                (self.kb_id, digest),
            )
            with open_door(conn, self.kb_id, actor="person:Ada", via="pipeline", action="put") as door:
                self._close(door, name, "superseded")
                self.versions[name] += 1
                if name not in self.document_ids:
                    self.document_ids[name] = uuid4()
                    row = {"id": self.document_ids[name], "source_id": self.source_id, "external_id": name}
                    door.insert("documents", [{**row, "kind": "file", "namespace": namespace}])
                self._insert(door, name, self.versions[name], digest, texts, namespace, headings)
                return door.seq

    def _insert(self, door, name, number, digest, texts, namespace, headings):
        document_id, version_id = self.document_ids[name], uuid4()
        version = {"id": version_id, "document_id": document_id, "number": number, "filename": name}
        version |= {"media_type": "text/plain", "content_sha256": digest, "author": ""}
        door.insert("document_versions", [{**version, "doc_time": None, "doc_time_precision": None}])
        chunks = [
            {
                "id": uuid4(),
                "document_id": document_id,
                "version_id": version_id,
                "position": position,
                "text": text,
                "kind": "text",
                "heading_path": list(headings),
                "anchor": {},
                "cells": None,
                "body_start": 0,
                "body_end": len(text),
                "namespace": namespace,
                "parser": "test@1",
            }
            for position, text in enumerate(texts)
        ]
        door.insert("chunks", chunks)
        self.chunk_ids.update({chunk["text"]: chunk["id"] for chunk in chunks})
        self.held[name] = (version_id, [chunk["id"] for chunk in chunks])

    def _close(self, door, name: str, kind: str) -> None:
        if name in self.held:
            version_id, chunk_ids = self.held.pop(name)
            door.close("chunks", chunk_ids, kind)
            door.close("document_versions", [version_id], kind)

    def delete(self, name: str) -> int:
        with self.database.write(self.kb_id) as conn:
            with open_door(conn, self.kb_id, actor="person:Ada", via="pipeline", action="delete") as door:
                self._close(door, name, "deleted")
                return door.seq

    def embed(self, embedder) -> int:
        """A vector for every chunk that has none, closed ones too."""
        with self.database.write(self.kb_id) as conn:
            rows = conn.execute(
                """select c.id, c.text, c.heading_path, v.filename from chunks c
                   join document_versions v on v.kb_id = c.kb_id and v.id = c.version_id
                   where c.kb_id = %s and not exists
                     (select from embeddings e where e.kb_id = c.kb_id and e.chunk_id = c.id and e.model = %s)""",
                (self.kb_id, vector_key(embedder)),
            ).fetchall()
            texts = [passage_text(r["text"], filename=r["filename"], heading_path=r["heading_path"]) for r in rows]
            for row, vector in zip(rows, embedder.passages(texts), strict=True):
                conn.execute(
                    "insert into embeddings (kb_id, chunk_id, model, embedding) values (%s, %s, %s, %s::vector)",
                    (self.kb_id, row["id"], vector_key(embedder), str(vector.tolist())),
                )
            return len(rows)


class LetterEmbedder:
    """A real, tiny embedder: letter pairs hashed to 64 numbers. Similar spelling is similar meaning to it."""

    name = "letters@1"
    dimension = 64
    token_limit = None
    truncated = 0

    def count_tokens(self, text: str) -> int | None:
        return len(text)

    def passages(self, texts: Sequence[str]):
        made = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(made, texts, strict=True):
            for pair in zip(text.lower(), text.lower()[1:], strict=False):
                row[hashlib.md5("".join(pair).encode()).digest()[0] % self.dimension] += 1
            row /= max(float(np.linalg.norm(row)), 1e-9)
        return made

    queries = passages
