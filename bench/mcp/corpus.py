"""A base with thousands of chunks, their vectors, and tens of thousands of facts, written through the door."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from bench.generate import people
from substrate import sql
from substrate.db import Database
from substrate.documents.intake import ensure_source
from substrate.extraction.claims import ClaimTime, Value
from substrate.ledger import open_door
from substrate.ledger.assertions import assert_batch
from substrate.ledger.door import Door
from substrate.ledger.drafts import Draft, Evidence
from substrate.ledger.entities import resolve_names
from substrate.ontology.store import load_ontology
from substrate.retrieval.embedders import Embedder
from substrate.retrieval.passages import vector_key

CHUNKS_EACH, BATCH = 10, 300
Chunk = tuple[UUID, UUID, UUID, str]
"""Chunk, document, version, text."""
BEGIN = datetime(2015, 1, 1, tzinfo=UTC)
_TOPICS = (
    "harbour lantern meadow quartz falcon juniper cobalt saffron birch granite willow ember heron cedar onyx".split()
)
_ACTS = "inspected repaired delivered reviewed moved cleaned measured painted sold counted stored shipped".split()
_THINGS = "crates pumps cables panels filters lenses boards valves tanks frames wheels signs".split()


def write_chunks(db: Database, kb_id: UUID, count: int, seed: int) -> list[Chunk]:
    """Chunks of some forty words; returns them."""
    rng, made = random.Random(seed), []
    for first in range(0, count, CHUNKS_EACH * 50):
        with db.write(kb_id) as connection:
            source = ensure_source(connection, kb_id, "push", "bench")
            with open_door(connection, kb_id, actor="bench", via="import", action="chunks") as door:
                for number in range(first, min(count, first + CHUNKS_EACH * 50), CHUNKS_EACH):
                    made += _document(door, source, number // CHUNKS_EACH, rng)
    return made


def _document(door: Door, source: UUID, number: int, rng: random.Random) -> list[Chunk]:
    document, version, content = uuid4(), uuid4(), f"bench {number}".encode()
    digest = hashlib.sha256(content).digest()
    door.connection.execute(
        "insert into blobs (kb_id, sha256, content) values (%s, %s, %s) on conflict do nothing",
        (door.kb_id, digest, content),
    )
    name = f"log-{number:05}.md"
    door.insert(
        "documents",
        [{"id": document, "source_id": source, "external_id": name, "kind": "file", "namespace": ""}],
    )
    row = {"id": version, "document_id": document, "number": 1, "filename": name, "media_type": "text/markdown"}
    when = BEGIN + timedelta(days=rng.randrange(3600))
    row |= {"content_sha256": digest, "doc_time": when, "doc_time_precision": "day", "author": ""}
    door.insert("document_versions", [row])
    chunks = [_chunk(document, version, i, _text(rng)) for i in range(CHUNKS_EACH)]
    door.insert("chunks", chunks)
    return [(c["id"], document, version, c["text"]) for c in chunks]


def _chunk(document: UUID, version: UUID, position: int, text: str) -> dict[str, Any]:
    return {
        "id": uuid4(), "document_id": document, "version_id": version, "position": position, "text": text,
        "kind": "text", "heading_path": [], "anchor": {}, "cells": None, "body_start": position * 300,
        "body_end": position * 300 + len(text), "namespace": "", "parser": "bench",
    }  # fmt: skip


def _text(rng: random.Random) -> str:
    def one() -> str:
        return (
            f"The {rng.choice(_TOPICS)} team {rng.choice(_ACTS)} {rng.randrange(2, 90)} {rng.choice(_THINGS)} at the "
            f"{rng.choice(_TOPICS)} site before the {rng.choice(_TOPICS)} order."
        )

    return " ".join(one() for _ in range(3))


def write_vectors(db: Database, kb_id: UUID, chunks: list[Chunk], embedder: Embedder) -> None:
    """One vector per chunk, as the embed stage would write it."""
    from pgvector.psycopg import register_vector

    for first in range(0, len(chunks), 500):
        part = chunks[first : first + 500]
        vectors = embedder.passages([text for *_, text in part])
        rows = [
            {"kb_id": kb_id, "chunk_id": chunk, "model": vector_key(embedder), "embedding": vector}
            for (chunk, *_), vector in zip(part, vectors, strict=True)
        ]
        with db.write(kb_id) as connection:
            register_vector(connection)
            with connection.cursor() as cursor:
                cursor.executemany(sql.query("stage_keep_embedding"), rows)


def write_facts(db: Database, kb_id: UUID, chunks: list[Chunk], count: int, seed: int) -> list[str]:
    """At least `count` held facts about some hundreds of people; returns their names."""
    rng = random.Random(seed)
    staff = people(rng, 320)
    projects = [f"Project {topic.title()} {n}" for topic in _TOPICS for n in range(20)]
    houses = [f"{topic.title()} Works" for topic in _TOPICS]
    written = 0
    while written < count:
        with db.write(kb_id) as connection:
            ontology = load_ontology(connection, kb_id)
            with open_door(connection, kb_id, actor="bench", via="import", action="facts") as door:
                entities = resolve_names(door, dict.fromkeys([*staff, *projects, *houses]))
                drafts = [_draft(rng, staff, projects, houses, entities, chunks) for _ in range(BATCH)]
                assert_batch(door, drafts, ontology)
        with db.read(kb_id) as connection:
            row = connection.execute("select count(*) as n from facts where invalidated_seq is null").fetchone()
            written = row["n"] if row else 0
    return staff


def _draft(
    rng: random.Random,
    staff: Sequence[str],
    projects: Sequence[str],
    houses: Sequence[str],
    entities: Mapping[str, UUID],
    chunks: Sequence[Chunk],
) -> Draft:
    chunk, document, version, text = rng.choice(chunks)
    kind = rng.random()
    other: str | None
    value: Value | None
    subject, key, other, value = rng.choice(staff), "advises", rng.choice(projects), None
    if kind < 0.2:
        key, other = "works_for", rng.choice(houses)
    elif kind < 0.4:
        pay = rng.randrange(300, 900) * 100
        key, other, value = "salary", None, Value(str(pay), Decimal(pay), "EUR", "money")
    elif kind < 0.55:
        key = "leads"
    return Draft(
        source_key=f"bench:{uuid4()}",
        subject_id=entities[subject],
        phrase=key.replace("_", " "),
        predicate_key=key,
        object_id=entities[other] if other else None,
        value=value,
        time=ClaimTime(BEGIN + timedelta(days=rng.randrange(3600)), "day"),
        evidence=Evidence(None, chunk, document, version, text[:60], 0, 60, key),
    )
