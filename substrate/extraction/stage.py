"""The ``claims`` stage: what each held chunk says, written once per chunk and extractor version.

Here alone is a language model asked.
"""

from __future__ import annotations

from uuid import UUID

from substrate import sql, work
from substrate.audit.seals import seal_base
from substrate.db import Database
from substrate.extraction.budget import Terms
from substrate.extraction.claims import Asking, Extractor
from substrate.extraction.flight import Flight
from substrate.extraction.keeping import held_rows, keep, passage_of
from substrate.passes import Tally, run_pass

BATCH = 32
"""Chunks per call and transaction, of an extractor that reads by itself."""


def extractor_key(extractor: Extractor) -> str:
    """What claims are cached under: ``name@version``."""
    return f"{extractor.name}@{extractor.version}"


def run_claims(
    db: Database, kb_id: UUID, extractor: Extractor, *, limit: int | None = None, terms: Terms | None = None
) -> work.StageResult:
    """Extract from what is due or was never read by this extractor; makes the chunks due for ``entities``.

    An extractor that asks a server is kept busy with many passages at once, within the budget of the base; `terms`
    are limits and prices where the base has none of its own.
    """
    key = extractor_key(extractor)
    with db.write(kb_id) as conn:
        conn.execute(sql.query("epoch_begin"), {"kb_id": kb_id, "extractor": key})
        work.outdate(conn, kb_id, "claims", key)
        work.add_due_chunks(conn, kb_id, "claims", key, held_only=True)
    if isinstance(extractor, Asking):
        result = Flight(db, kb_id, key, extractor, terms or Terms(), limit=limit).run()
    else:
        result = _in_batches(db, kb_id, extractor, key, limit)
    seal_base(db, kb_id)  # no server need run for what a pipeline read to be sealed
    return result


def _in_batches(db: Database, kb_id: UUID, extractor: Extractor, key: str, limit: int | None) -> work.StageResult:
    def handle(lease: work.Lease) -> Tally:
        with db.read(kb_id) as conn:
            rows = held_rows(conn, kb_id, lease.items)
        extractions = extractor.extract([passage_of(row) for row in rows]) if rows else []
        tally = Tally(done=len(rows), skipped=len(lease.items) - len(rows))
        with db.write(kb_id) as conn:
            tally.written += keep(conn, kb_id, key, list(zip(rows, extractions, strict=True)))
            for extraction in extractions:
                tally.pay(extraction.usage)
            work.finish(conn, kb_id, lease, lease.items)
            work.add_due(conn, kb_id, "entities", [row["id"] for row in rows], key)
        return tally

    return run_pass(db, kb_id, "claims", handle, batch=BATCH, limit=limit, code_version=key)
