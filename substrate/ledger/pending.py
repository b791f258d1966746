"""Proposals: what an agent recorded waits for a person, who confirms or rejects it beneath its sentence."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID, uuid4

from substrate import sql
from substrate.db import Database
from substrate.errors import Conflict, NotFound
from substrate.identity.claims import BoundClaim, bound_claim
from substrate.identity.drafts import draft_of, drafts_of, names_in
from substrate.ledger.assertions import assert_batch
from substrate.ledger.door import Door, Via, open_door
from substrate.ledger.drafts import normalise_name
from substrate.ledger.entities import canonical_ids, resolve_names
from substrate.ledger.refusals import count_restatements, refuse, refused
from substrate.ontology.store import load_ontology


def propose(door: Door, claims: Sequence[BoundClaim]) -> int:
    """Queue claims of remembered sentences; a triple that was refused is counted and not asked again."""
    fresh = _not_proposed(door, claims)
    if not fresh:
        return 0
    entities = _known_entities(door, fresh)
    known = [c for c in fresh if all(n in entities for n in _names(c))]
    drafts = [draft_of(c, entities) for c in known]
    ids = {i for d in drafts for i in (d.subject_id, d.object_id) if i is not None}
    hits = refused(door, drafts, canonical_ids(door.connection, door.kb_id, ids)) if drafts else {}
    if hits:
        count_restatements(door, hits, drafts)
    rows = [_row(c) for c in fresh if f"claim:{c.id}" not in hits]
    door.insert("pending_facts", rows)
    return len(rows)


def _names(claim: BoundClaim) -> list[str]:
    return [n for n in (claim.bound.subject_name, claim.bound.object_name) if n is not None]


def _not_proposed(door: Door, claims: Sequence[BoundClaim]) -> list[BoundClaim]:
    if not claims:
        return []
    rows = door.connection.execute(
        sql.query("proposed_claims"), {"kb_id": door.kb_id, "ids": [c.id for c in claims]}
    ).fetchall()
    asked = {row["claim_id"] for row in rows}
    return [c for c in claims if c.id not in asked]


def _known_entities(door: Door, claims: Sequence[BoundClaim]) -> dict[str, UUID]:
    """Names that are entities already; a proposal makes none."""
    names = list(names_in(claims))
    rows = door.connection.execute(
        sql.query("entities_named"), {"kb_id": door.kb_id, "norms": sorted({normalise_name(n) for n in names})}
    ).fetchall()
    found: dict[str, UUID] = {}
    for row in rows:
        found.setdefault(row["norm"], row["id"])
    return {n: found[normalise_name(n)] for n in names if normalise_name(n) in found}


def _row(claim: BoundClaim) -> dict[str, object]:
    row = claim.row
    return {
        "id": uuid4(),
        "claim_id": claim.id,
        "chunk_id": row["chunk_id"],
        "document_id": row["document_id"],
        "namespace": row["namespace"],
        "predicate_key": claim.bound.predicate_key,
        "proposed_by": row["author"] or "unknown",
    }


def confirm(db: Database, kb_id: UUID, pending_id: UUID, *, actor: str, via: Via = "rest", why: str = "") -> list[UUID]:
    """A person nods: the claim is asserted as it stands. Returns the lineages that are new or changed.

    Raises `NotFound`, and `Conflict` if it was decided before or if its triple is refused.
    """
    with (
        db.write(kb_id) as connection,
        open_door(connection, kb_id, actor=actor, via=via, action="confirmed", why=why) as door,
    ):
        claim = _claim(door, pending_id)
        ontology = load_ontology(connection, kb_id)
        entities = resolve_names(door, names_in([claim]), ontology.class_by_word)
        outcome = assert_batch(door, drafts_of([claim], entities), ontology)
        if outcome.refused:
            raise Conflict("this triple is refused; lift the refusal first", field="pending_id")
        door.decide(pending_id, "confirmed", why)
    return sorted(outcome.lineages)


def reject(db: Database, kb_id: UUID, pending_id: UUID, *, actor: str, via: Via = "rest", why: str = "") -> UUID:
    """A person says no: the triple is refused from now on, on every path. Returns the refusal's id."""
    with (
        db.write(kb_id) as connection,
        open_door(connection, kb_id, actor=actor, via=via, action="rejected", why=why) as door,
    ):
        claim = _claim(door, pending_id)
        ontology = load_ontology(connection, kb_id)
        entities = resolve_names(door, names_in([claim]), ontology.class_by_word)
        door.decide(pending_id, "rejected", why)
        return refuse(door, draft_of(claim, entities), why)


def _claim(door: Door, pending_id: UUID) -> BoundClaim:
    row = door.connection.execute(sql.query("claim_of_proposal"), {"kb_id": door.kb_id, "id": pending_id}).fetchone()
    if row is None:
        raise NotFound("no proposal with that id", field="pending_id")
    if row["verdict"] is not None:
        raise Conflict(f"this proposal was {row['verdict']} before", field="pending_id")
    return bound_claim(row, load_ontology(door.connection, door.kb_id))
