"""Bases for bench-search: documents of ten passages with versions, deletions and vectors, written with COPY.

The ledger's transactions are real and few; the bulk of the rows is copied in beside them under their numbers, as the
owner, past the triggers. What is measured reads those rows exactly as it reads others.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg.types.json import Jsonb

from bench.generate import documents
from substrate.db import Database
from substrate.documents.intake import ensure_source
from substrate.ledger import open_door
from substrate.retrieval.embedders import Embedder
from substrate.retrieval.passages import passage_text

EACH, WAVES, REPLACED, DELETED = 10, 8, 0.08, 0.02
"""Passages of a document, ledger transactions; shares of the documents so far that a transaction replaces, deletes."""
RARE, TENTH = "rare", "tenth"
"""A namespace with one document, ten passages; and one with a tenth of all."""
WORDS, VOCABULARY, LATENT, DIMENSION = 60, 40_000, 32, 384
FUNCTION_WORDS = 50
"""The commonest invented words, which no question asks for: searching leaves real ones out."""
BEGIN = datetime(2018, 1, 1, tzinfo=UTC)
Floats = NDArray[np.float32]


@dataclass
class Made:
    """A filled base: what its questions may be drawn from."""

    kb_id: UUID
    seqs: list[int] = field(default_factory=list)
    samples: list[tuple[str, Floats | None]] = field(default_factory=list)
    """Texts of passages held at the head, each with its seeded vector."""
    chunks: int = 0
    held: int = 0


@dataclass(slots=True)
class _Document:
    id: UUID
    number: int
    namespace: str
    version: UUID | None = None
    chunks: tuple[UUID, ...] = ()


class Seeded:
    """Texts and vectors of a seeded generator.

    Words are drawn by Zipf's law from an invented vocabulary; a document has words and a place of its own. A vector is
    the image of a point of 32 dimensions near its document's, so that neighbours exist as they do among real ones.
    """

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        weights = 1 / (np.arange(VOCABULARY) + 2.7)
        self._cumulated = np.cumsum(weights / weights.sum())
        letters = np.array(list("bcdfghklmnprstvz")), np.array(list("aeiou"))
        names = random.Random(seed)
        made = dict.fromkeys(
            "".join(names.choice(letters[n % 2].tolist()) for n in range(names.randrange(4, 11)))
            for _ in range(3 * VOCABULARY)
        )
        self._words = np.array(list(made)[:VOCABULARY])
        self.common = frozenset(self._words[:FUNCTION_WORDS].tolist())
        self._lift = self._rng.normal(size=(LATENT, DIMENSION)).astype(np.float32)
        self._centres = self._rng.normal(size=(400, LATENT)).astype(np.float32)

    def document(self, count: int) -> tuple[list[str], Floats]:
        """Passages of one document, with their vectors."""
        own = self._rng.integers(200, VOCABULARY, 12)
        places = np.searchsorted(self._cumulated, self._rng.random((count, WORDS)))
        places = np.where(self._rng.random((count, WORDS)) < 0.12, self._rng.choice(own, (count, WORDS)), places)
        texts = [" ".join(row) + "." for row in self._words[np.minimum(places, VOCABULARY - 1)]]
        centre = self._centres[self._rng.integers(len(self._centres))] + 0.6 * self._rng.normal(size=LATENT)
        points = centre + 0.5 * self._rng.normal(size=(count, LATENT))
        return texts, self.lifted(points)

    def lifted(self, points: Any) -> Floats:
        """Points of the small space as unit vectors of the large one."""
        vectors = points.astype(np.float32) @ self._lift
        vectors += 0.02 * np.linalg.norm(vectors, axis=1, keepdims=True) * self._noise(vectors.shape)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)

    def near(self, vector: Floats) -> Floats:
        """A question's vector beside a passage's."""
        moved = vector + 0.35 * self._noise(vector.shape) / np.sqrt(len(vector))
        return np.asarray(moved / np.linalg.norm(moved), np.float32)

    def _noise(self, shape: tuple[int, ...]) -> Any:
        return self._rng.normal(size=shape)


class Real:
    """Turns of the conversations at hand, then generated memos; vectors of the model in use."""

    def __init__(self, data: Path | None, seed: int, embedder: Embedder, chunks: int) -> None:
        self._texts = _real_texts(data, seed, chunks)
        self.common: frozenset[str] = frozenset()
        self._embedder = embedder

    def document(self, count: int) -> tuple[list[str], Floats]:
        """Passages of one document, with their vectors."""
        texts = list(islice(self._texts, count))
        passages = [passage_text(text, filename="memo", heading_path=()) for text in texts]
        return texts, self._embedder.passages(passages)


def _real_texts(data: Path | None, seed: int, chunks: int) -> Iterator[str]:
    path = data / "locomo" / "locomo-1-5.json" if data else None
    if path and path.exists():
        for talk in json.loads(path.read_text(encoding="utf-8")):
            sessions = talk["conversation"]
            for name in sorted(k for k in sessions if k.startswith("session_") and isinstance(sessions[k], list)):
                yield from (f"{turn['speaker']}: {turn['text']}" for turn in sessions[name])
    for memo in documents(chunks, seed, 4000):
        yield from (part for part in memo.text.split("\n\n") if len(part) > 40)


def fill(db: Database, owner: str, made: Made, source: Seeded | Real, model: str, chunks: int, seed: int) -> None:
    """Write about `chunks` passages, closed ones included, in `WAVES` ledger transactions."""
    rng = random.Random(seed)
    held: list[_Document] = []
    with db.write(made.kb_id) as conn:
        source_id = ensure_source(conn, made.kb_id, "push", "bench")
    numbers = iter(range(chunks))
    # Each transaction adds as many documents as its replacements leave of its share of the passages.
    share = chunks // EACH // WAVES
    with psycopg.connect(owner) as bulk:
        bulk.execute("set session_replication_role = replica")
        for wave in range(WAVES):
            seq, at = _transaction(db, made.kb_id, wave)
            made.seqs.append(seq)
            rng.shuffle(held)
            held.sort(key=lambda document: document.namespace == RARE)  # the ten stay what they are
            gone, again = int(len(held) * DELETED), int(len(held) * REPLACED)
            deleted, replaced, held = held[:gone], held[gone : gone + again], held[gone:]
            _close(bulk, made.kb_id, deleted, seq, at, "deleted")
            _close(bulk, made.kb_id, replaced, seq, at, "superseded")
            fresh = [_named(rng, next(numbers)) for _ in range(max(share - again, 1))]
            _write(bulk, made, source, model, source_id, [*fresh, *replaced], fresh, seq, at)
            held += fresh
            bulk.commit()
    made.held = sum(len(d.chunks) for d in held)


def _named(rng: random.Random, number: int) -> _Document:
    namespace = RARE if number == 3 else TENTH if number % 10 == 0 else ""
    return _Document(UUID(int=rng.getrandbits(128)), number, namespace)


def _transaction(db: Database, kb_id: UUID, wave: int) -> tuple[int, datetime]:
    with (
        db.write(kb_id) as conn,
        open_door(conn, kb_id, actor="bench", via="import", action="chunks") as door,
    ):
        door.note("wave", {"number": wave})
        return door.seq, door.at


def _close(bulk: Any, kb_id: UUID, gone: Sequence[_Document], seq: int, at: datetime, kind: str) -> None:
    versions = [d.version for d in gone]
    for table, column in (("chunks", "version_id"), ("document_versions", "id")):
        bulk.execute(
            f"update {table} set invalidated_seq = %s, invalidated_at = %s, invalidated_kind = %s "
            f"where kb_id = %s and {column} = any(%s) and invalidated_seq is null",
            (seq, at, kind, kb_id, versions),
        )


def _write(
    bulk: Any,
    made: Made,
    source: Seeded | Real,
    model: str,
    source_id: UUID,
    documents: Sequence[_Document],
    fresh: Sequence[_Document],
    seq: int,
    at: datetime,
) -> None:
    """New versions of `documents`, of which `fresh` are new themselves."""
    kb_id, ids = made.kb_id, random.Random(seq)
    stamp = (seq, at)
    bulk.execute(
        "insert into blobs (kb_id, sha256, content) values (%s, %s, '') on conflict do nothing", (kb_id, _digest())
    )
    with bulk.cursor().copy(
        "copy documents (kb_id, id, source_id, external_id, kind, namespace, recorded_seq, recorded_at) from stdin"
    ) as copy:
        for d in fresh:
            copy.write_row((kb_id, d.id, source_id, f"doc-{d.number:07}", "file", d.namespace, *stamp))
    written: list[tuple[_Document, list[str], Floats]] = []
    for d in documents:
        texts, vectors = source.document(EACH)
        d.version = UUID(int=ids.getrandbits(128))
        d.chunks = tuple(UUID(int=ids.getrandbits(128)) for _ in texts)
        written.append((d, texts, vectors))
        made.chunks += len(texts)
        if len(made.samples) < 4000 or ids.random() < 0.02:
            made.samples.append((texts[0], vectors[0] if isinstance(source, Seeded) else None))
        if len(written) == 500:
            _copy(bulk, kb_id, model, written, stamp)
            written.clear()
    _copy(bulk, kb_id, model, written, stamp)


def _copy(
    bulk: Any,
    kb_id: UUID,
    model: str,
    written: Sequence[tuple[_Document, list[str], Floats]],
    stamp: tuple[int, datetime],
) -> None:
    with bulk.cursor().copy(
        "copy document_versions (kb_id, id, document_id, number, filename, media_type, content_sha256, doc_time,"
        " doc_time_precision, author, recorded_seq, recorded_at) from stdin"
    ) as copy:
        for d, *_ in written:
            when = BEGIN + timedelta(days=d.number % 2500)
            name = f"memo-{d.number:07}.md"
            copy.write_row(
                (kb_id, d.version, d.id, stamp[0], name, "text/markdown", _digest(), when, "day", "", *stamp)
            )
    with bulk.cursor().copy(
        "copy chunks (kb_id, id, document_id, version_id, position, text, kind, anchor, body_start, body_end,"
        " namespace, parser, recorded_seq, recorded_at) from stdin"
    ) as copy:
        for d, texts, _ in written:
            for n, (chunk, text) in enumerate(zip(d.chunks, texts, strict=True)):
                row = (kb_id, chunk, d.id, d.version, n, text, "text", Jsonb({}), 0, len(text), d.namespace, "bench")
                copy.write_row((*row, *stamp))
    with bulk.cursor().copy("copy embeddings (kb_id, chunk_id, model, embedding) from stdin") as copy:
        for d, _, vectors in written:
            for chunk, vector in zip(d.chunks, vectors, strict=True):
                copy.write_row((kb_id, chunk, model, "[" + ",".join(f"{x:.5g}" for x in vector.tolist()) + "]"))


def _digest() -> bytes:
    return hashlib.sha256(b"").digest()
