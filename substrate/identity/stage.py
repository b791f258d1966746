"""The ``entities`` stage: every name in the claims of a chunk comes to mean one entity of the base."""

from __future__ import annotations

from uuid import UUID

from substrate import work
from substrate.db import Database, WriteConnection
from substrate.identity.claims import bound_claims
from substrate.identity.drafts import names_in
from substrate.ledger.door import open_door
from substrate.ledger.entities import resolve_names
from substrate.ontology.store import load_ontology
from substrate.passes import Tally, run_pass

BATCH = 200
"""Chunks per transaction: a few hundred names under the head lock."""


def run_entities(db: Database, kb_id: UUID, *, limit: int | None = None) -> work.StageResult:
    """Resolve the names in due chunks and make the entities that are not there yet.

    A remembered sentence makes no entity here: what it proposes waits for a person's nod.
    """

    def handle(lease: work.Lease) -> Tally:
        with db.write(kb_id) as connection:
            written = _resolve(connection, kb_id, lease)
            work.finish(connection, kb_id, lease, lease.items)
            work.add_due(connection, kb_id, "facts", lease.items, lease.code_version)
        return Tally(done=len(lease.items), written=written)

    return run_pass(db, kb_id, "entities", handle, batch=BATCH, limit=limit)


def _resolve(connection: WriteConnection, kb_id: UUID, lease: work.Lease) -> int:
    # Read under the head lock: a version deleted a moment ago must not make entities any more.
    with open_door(connection, kb_id, actor="pipeline", via="pipeline", action="entities resolved") as door:
        ontology = load_ontology(connection, kb_id)
        claims = bound_claims(connection, kb_id, lease.items, lease.code_version, ontology)
        claims = [c for c in claims if c.kind == "file"]
        entities = resolve_names(door, names_in(claims), ontology.class_by_word)
        rows = [
            {"claim_id": c.id, "role": role, "entity_id": entities[name], "surface": name}
            for c in claims
            if not c.row["mentioned"]
            for role, name in (("subject", c.bound.subject_name), ("object", c.bound.object_name))
            if name is not None
        ]
        door.insert("mentions", rows)
    return len(rows)
