"""The ``entities`` stage: every name in the claims of a chunk comes to mean an entity of the base.

Within a document a name means one thing. Across documents, what a name means follows from all that documents tell of it
(`clusters`): most names find the entity that bears them, some make one, and what joins or parts entities that are there
already is left to `settling`, in a transaction of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from substrate import sql, work
from substrate.db import Database, WriteConnection
from substrate.identity.claims import BoundClaim, bound_claims
from substrate.identity.drafts import names_in
from substrate.identity.families import load_families, take
from substrate.identity.placing import place
from substrate.identity.settling import mark_changed_documents, settle
from substrate.identity.sightings import sightings
from substrate.identity.votes import Judged, PairVoter, judge_doubts
from substrate.ledger.door import Door, open_door
from substrate.ledger.drafts import normalise_name
from substrate.ledger.entities import type_entities
from substrate.ontology.store import load_ontology
from substrate.ontology.terms import Ontology
from substrate.passes import Tally, run_pass

BATCH = 200
"""Chunks per transaction: a few hundred names under the head lock."""
Place = tuple[UUID, str]
"""A document and a name in it."""


def run_entities(
    db: Database, kb_id: UUID, voter: PairVoter | None = None, *, limit: int | None = None
) -> work.StageResult:
    """Resolve the names in due chunks, make the entities that are not there yet, and settle who is who.

    What stays in doubt a model votes on, if there is one, and else a person. A remembered sentence makes no entity
    here: what it proposes waits for a person's nod.
    """

    def handle(lease: work.Lease) -> Tally:
        with db.write(kb_id) as connection:
            written = _resolve(connection, kb_id, lease)
            work.finish(connection, kb_id, lease, lease.items)
            work.add_due(connection, kb_id, "facts", lease.items, lease.code_version)
        return Tally(done=len(lease.items), written=written)

    mark_changed_documents(db, kb_id)
    result = run_pass(db, kb_id, "entities", handle, batch=BATCH, limit=limit)
    settle(db, kb_id)
    return result if voter is None else _with_votes(result, judge_doubts(db, kb_id, voter))


def _with_votes(result: work.StageResult, judged: Judged) -> work.StageResult:
    cost = Counter(result.cost)
    cost.update(judged.cost)
    told = (f"pairs in doubt wait for the model: {judged.problem}",) if judged.problem else ()
    return replace(result, written=result.written + judged.merged, cost=dict(cost), failures=(*result.failures, *told))


def _resolve(connection: WriteConnection, kb_id: UUID, lease: work.Lease) -> int:
    # Read under the head lock: a version deleted a moment ago must not make entities any more.
    with open_door(connection, kb_id, actor="pipeline", via="pipeline", action="entities resolved") as door:
        ontology = load_ontology(connection, kb_id)
        due = set(lease.items)
        passages = connection.execute(
            sql.query("identity_passages"), {"kb_id": kb_id, "ids": list(lease.items)}
        ).fetchall()
        chunks = [row["id"] for row in passages]
        claims = [c for c in bound_claims(connection, kb_id, chunks, lease.code_version, ontology) if c.kind == "file"]
        _take(door, claims, {row["id"]: row["text"] for row in passages}, {row["document_id"] for row in passages})
        fresh = [c for c in claims if c.row["chunk_id"] in due and not c.row["mentioned"]]
        return _mention(door, fresh, ontology)


def _take(door: Door, claims: Sequence[BoundClaim], passages: Mapping[UUID, str], documents: set[UUID]) -> None:
    """Read what these documents tell of the names in them, and give every name that has none an entity."""
    if not documents:
        return
    changed = take(door.connection, door.kb_id, sightings(claims, passages), documents)
    if changed:
        place(door, load_families(door.connection, door.kb_id, changed))


def _mention(door: Door, claims: Sequence[BoundClaim], ontology: Ontology) -> int:
    if not claims:
        return 0
    documents = sorted({c.row["document_id"] for c in claims})
    rows = door.connection.execute(
        sql.query("identity_places"), {"kb_id": door.kb_id, "documents": documents}
    ).fetchall()
    places: dict[Place, UUID] = {(r["document_id"], r["norm"]): r["entity_id"] for r in rows}

    def entity(claim: BoundClaim, surface: str) -> UUID:
        return places[claim.row["document_id"], normalise_name(surface)]

    mentions = [
        {"claim_id": c.id, "role": role, "entity_id": entity(c, name), "surface": name}
        for c in claims
        for role, name in (("subject", c.bound.subject_name), ("object", c.bound.object_name))
        if name is not None
    ]
    door.insert("mentions", mentions)
    kinds: dict[UUID, str] = {}
    for claim in claims:
        for name, kind in names_in([claim]).items():
            if kind is not None:
                kinds.setdefault(entity(claim, name), kind)
    type_entities(door, kinds, ontology.class_by_word)
    return len(mentions)
