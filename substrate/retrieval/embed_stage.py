"""The ``embed`` stage: every chunk gets a vector of the model in use.

Chunks of closed versions too, since a search as of an earlier moment looks among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from substrate import sql, work
from substrate.db import Database, WriteConnection
from substrate.passes import Tally, run_pass
from substrate.retrieval.embedders import Embedder, Vectors
from substrate.retrieval.passages import passage_text, vector_key

BATCH = 64
"""Chunks per call of the model and per transaction."""


def run_embed(db: Database, kb_id: UUID, embedder: Embedder, *, limit: int | None = None) -> work.StageResult:
    """Embed what is due or has no vector of this model and this recipe of text yet.

    Vectors are cached by chunk and `vector_key` for ever.
    """
    key = vector_key(embedder)
    with db.write(kb_id) as conn:
        work.outdate(conn, kb_id, "embed", key)
        work.add_due_chunks(conn, kb_id, "embed", key, held_only=False)

    def handle(lease: work.Lease) -> Tally:
        with db.read(kb_id) as conn:
            rows = conn.execute(sql.query("stage_passages"), {"kb_id": kb_id, "ids": list(lease.items)}).fetchall()
        cut = embedder.truncated
        vectors = embedder.passages([_words(row) for row in rows])
        tally = Tally(done=len(rows), skipped=len(lease.items) - len(rows))
        tally.pay({"texts_truncated": embedder.truncated - cut})
        with db.write(kb_id) as conn:
            tally.written = _keep(conn, kb_id, key, [row["id"] for row in rows], vectors)
            work.finish(conn, kb_id, lease, lease.items)
        return tally

    return run_pass(db, kb_id, "embed", handle, batch=BATCH, limit=limit, code_version=key)


def _words(row: dict[str, Any]) -> str:
    return passage_text(
        row["text"],
        filename=row["filename"],
        heading_path=row["heading_path"],
        author=row["author"],
        title=row["title"],
        doc_time=row["doc_time"],
    )


def _keep(conn: WriteConnection, kb_id: UUID, model: str, chunk_ids: Sequence[UUID], vectors: Vectors) -> int:
    from pgvector.psycopg import register_vector

    register_vector(conn)
    rows = [
        {"kb_id": kb_id, "chunk_id": chunk_id, "model": model, "embedding": vector}
        for chunk_id, vector in zip(chunk_ids, vectors, strict=True)
    ]
    with conn.cursor() as cursor:
        cursor.executemany(sql.query("stage_keep_embedding"), rows)
        return max(cursor.rowcount, 0)
