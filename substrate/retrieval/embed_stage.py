"""The ``embed`` stage: every chunk gets a vector of the model that is set.

Chunks of closed versions too, since a search as of an earlier moment looks among them. While another model serves, its
vectors are kept up for what comes in, so that the change is not noticed; see `serving`.
"""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from substrate import sql, work
from substrate.db import Database, WriteConnection
from substrate.errors import ModelUnavailable
from substrate.passes import Tally, run_pass
from substrate.retrieval.embedders import Embedder, open_recorded
from substrate.retrieval.passages import passage_text, vector_key
from substrate.retrieval.serving import meet_model, take_over
from substrate.settings import Settings

BATCH = 64
"""Chunks per call of the model and per transaction."""
SLICE = 2048
"""Chunks of a new model between two looks at what the serving one lacks."""
_log = logging.getLogger(__name__)


def run_embed(
    db: Database, kb_id: UUID, embedder: Embedder, *, limit: int | None = None, settings: Settings | None = None
) -> work.StageResult:
    """Embed what is due or has no vector of this model and this recipe of text yet.

    Vectors are cached by chunk and `vector_key` for ever, and one text is never read twice by one model. With
    `settings` the model that serves, where that is another one, is opened and kept up meanwhile.
    """
    with db.write(kb_id) as conn:
        serves, opening = meet_model(conn, kb_id, embedder)
    if serves == vector_key(embedder):
        return _pass(db, kb_id, embedder, limit)
    result = _beside(db, kb_id, embedder, _serving(settings, serves, opening), limit)
    with db.write(kb_id) as conn:
        take_over(conn, kb_id, vector_key(embedder))
    return result


def _serving(settings: Settings | None, model: str, opening: Mapping[str, str]) -> Embedder | None:
    try:
        other = open_recorded(settings, opening) if settings else None
    except ModelUnavailable as error:
        _log.warning("%s serves and cannot be kept up: %s", model, error)
        return None
    return other if other is not None and vector_key(other) == model else None


def _beside(
    db: Database, kb_id: UUID, embedder: Embedder, serving: Embedder | None, limit: int | None
) -> work.StageResult:
    total: work.StageResult | None = None
    while True:
        if serving is not None and not _keep_up(db, kb_id, serving):
            serving = None
        left = SLICE if limit is None else min(SLICE, limit - (total.done + total.skipped if total else 0))
        part = _pass(db, kb_id, embedder, left)
        total = part if total is None else _joined(total, part)
        if part.done + part.skipped < left or (limit is not None and total.done + total.skipped >= limit):
            return total


def _joined(one: work.StageResult, other: work.StageResult) -> work.StageResult:
    room = max(work.LISTED_FAILURES - len(one.failures), 0)
    return replace(
        other,
        done=one.done + other.done,
        skipped=one.skipped + other.skipped,
        failed=one.failed + other.failed,
        written=one.written + other.written,
        seconds=one.seconds + other.seconds,
        cost=Counter(one.cost) + Counter(other.cost),
        failures=(*one.failures, *other.failures[:room]),
        unlisted=one.unlisted + other.unlisted + len(other.failures[room:]),
    )


def _keep_up(db: Database, kb_id: UUID, serving: Embedder) -> bool:
    """Read with the serving model what came in since; False where it cannot be used now."""
    values = {"kb_id": kb_id, "model": vector_key(serving), "most": BATCH}
    while True:
        with db.read(kb_id) as conn:
            ids = [row["id"] for row in conn.execute(sql.query("serving_unread"), values)]
        try:
            if not ids or not _read(db, kb_id, serving, ids, None).written:
                return True
        except ModelUnavailable as error:
            _log.warning("%s serves and cannot be kept up: %s", serving.name, error)
            return False


def _pass(db: Database, kb_id: UUID, embedder: Embedder, limit: int | None) -> work.StageResult:
    key = vector_key(embedder)
    with db.write(kb_id) as conn:
        work.outdate(conn, kb_id, "embed", key)
        work.add_due_chunks(conn, kb_id, "embed", key, held_only=False)

    def handle(lease: work.Lease) -> Tally:
        return _read(db, kb_id, embedder, lease.items, lease)

    return run_pass(db, kb_id, "embed", handle, batch=BATCH, limit=limit, code_version=key)


def _read(db: Database, kb_id: UUID, embedder: Embedder, ids: Sequence[UUID], lease: work.Lease | None) -> Tally:
    """Give these chunks their vectors: of the same text where there is one, else by the model."""
    with db.read(kb_id) as conn:
        rows = conn.execute(sql.query("stage_passages"), {"kb_id": kb_id, "ids": list(ids)}).fetchall()
    texts = {row["id"]: _words(row) for row in rows}
    digests = {i: hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for i, text in texts.items()}
    known = _keep_known(db, kb_id, vector_key(embedder), digests)
    missing = {digests[i]: text for i, text in texts.items() if i not in known}
    cut = embedder.truncated
    vectors = dict(zip(missing, embedder.passages(list(missing.values())), strict=True)) if missing else {}
    tally = Tally(done=len(rows), skipped=len(ids) - len(rows), written=len(known))
    tally.pay({"texts_truncated": embedder.truncated - cut, "texts_known": len(texts) - len(missing)})
    with db.write(kb_id) as conn:
        made = [(i, digests[i], vectors[digests[i]]) for i in texts if i not in known]
        tally.written += _keep(conn, kb_id, vector_key(embedder), made)
        if lease is not None:
            work.finish(conn, kb_id, lease, lease.items)
    return tally


def _words(row: Mapping[str, Any]) -> str:
    return passage_text(
        row["text"],
        filename=row["filename"],
        heading_path=row["heading_path"],
        author=row["author"],
        title=row["title"],
        doc_time=row["doc_time"],
    )


def _keep_known(db: Database, kb_id: UUID, model: str, digests: Mapping[UUID, bytes]) -> set[UUID]:
    values = {"kb_id": kb_id, "model": model, "ids": list(digests), "digests": list(digests.values())}
    with db.write(kb_id) as conn:
        return {row["chunk_id"] for row in conn.execute(sql.query("embed_keep_known"), values)}


def _keep(conn: WriteConnection, kb_id: UUID, model: str, made: Sequence[tuple[UUID, bytes, Any]]) -> int:
    from pgvector.psycopg import register_vector

    if not made:
        return 0
    register_vector(conn)
    rows = [
        {"kb_id": kb_id, "chunk_id": chunk_id, "model": model, "embedding": vector, "digest": digest}
        for chunk_id, digest, vector in made
    ]
    with conn.cursor() as cursor:
        cursor.executemany(sql.query("embed_keep"), rows)
        return max(cursor.rowcount, 0)
