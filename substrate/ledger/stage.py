"""The ``facts`` stage: bound claims with resolved names are asserted; those of remembered sentences are proposed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

from substrate import sql, work
from substrate.db import Database, WriteConnection
from substrate.identity.claims import BoundClaim, bound_claims
from substrate.identity.drafts import drafts_of, names_in
from substrate.identity.late import mention_late, place_late
from substrate.ledger.assertions import assert_batch
from substrate.ledger.door import Door, open_door
from substrate.ledger.pending import propose
from substrate.ledger.retractions import close_version_assertions
from substrate.ontology.store import load_ontology
from substrate.ontology.terms import Ontology
from substrate.passes import Tally, run_pass

BATCH = 100
"""Chunks per transaction: some hundreds of assertions under the head lock."""


def run_facts(db: Database, kb_id: UUID, *, limit: int | None = None) -> work.StageResult:
    """Assert what due chunks claim, in committed batches; safe to kill, to rerun and to run twice at once."""

    def handle(lease: work.Lease) -> Tally:
        with db.write(kb_id) as connection:
            written = _assert(connection, kb_id, lease)
            work.finish(connection, kb_id, lease, lease.items)
        return Tally(done=len(lease.items), written=written)

    return run_pass(db, kb_id, "facts", handle, batch=BATCH, limit=limit)


def _assert(connection: WriteConnection, kb_id: UUID, lease: work.Lease) -> int:
    # Read under the head lock: what a version deleted a moment ago claims must not become a fact.
    with open_door(connection, kb_id, actor="pipeline", via="pipeline", action="facts asserted") as door:
        ontology = load_ontology(connection, kb_id)
        claims = bound_claims(connection, kb_id, lease.items, lease.code_version, ontology)
        stated = _assert_documents(door, [c for c in claims if c.kind == "file"], lease.code_version, ontology)
        proposed = propose(door, [c for c in claims if c.kind == "memory"])
        _take_leave(door, lease)
    return stated + proposed


def _take_leave(door: Door, lease: work.Lease) -> None:
    """Withdraw what superseded versions assert once everything their successor says is asserted, this batch included.

    In one transaction with the successor's last batch: nobody sees the document without its facts.
    """
    values = {"kb_id": door.kb_id, "chunk_ids": list(lease.items)}
    rows = door.connection.execute(sql.query("versions_replaced_by"), values).fetchall()
    if rows:
        close_version_assertions(door, [row["version_id"] for row in rows], "superseded")


def _assert_documents(door: Door, claims: Sequence[BoundClaim], extractor: str, ontology: Ontology) -> int:
    if not claims:
        return 0
    rows = door.connection.execute(
        sql.query("mentions_of_claims"), {"kb_id": door.kb_id, "ids": [c.id for c in claims]}
    ).fetchall()
    document_of = {c.id: c.row["document_id"] for c in claims}
    entities: dict[UUID, dict[str, UUID]] = defaultdict(dict)  # one name may mean another thing in another document
    for row in rows:
        entities[document_of[row["claim_id"]]][row["surface"]] = row["entity_id"]
    by_document: dict[UUID, list[BoundClaim]] = defaultdict(list)
    for claim in claims:
        by_document[document_of[claim.id]].append(claim)
    # A phrase may have been bound otherwise since its claims' names were resolved.
    late = [c for c in claims if not names_in([c]).keys() <= entities[document_of[c.id]].keys()]
    placed = place_late(door, late, extractor, ontology)
    mention_late(door, late, placed)
    for (document, name), entity in placed.items():
        entities[document].setdefault(name, entity)
    drafts = [d for document, its in by_document.items() for d in drafts_of(its, entities[document])]
    return len(assert_batch(door, drafts, ontology).lineages)
