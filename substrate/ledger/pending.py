"""Proposals: what an agent recorded waits for a person, who decides it beneath its sentence (see `verdicts`)."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID, uuid4

from substrate import sql
from substrate.identity.claims import BoundClaim, bound_claim
from substrate.identity.drafts import draft_of, names_in
from substrate.ledger.door import Door
from substrate.ledger.drafts import Draft, normalise_name
from substrate.ledger.entities import canonical_ids
from substrate.ledger.refusals import count_restatements, kept_silent, refused
from substrate.ontology.store import load_ontology


def propose(door: Door, claims: Sequence[BoundClaim]) -> int:
    """Queue claims of remembered sentences; a triple that was refused is counted and not asked again."""
    fresh = _not_proposed(door, claims)
    if not fresh:
        return 0
    drafts, canonical = _drafts(door, fresh)
    hits = refused(door, drafts, canonical) if drafts else {}
    if hits:
        count_restatements(door, hits, drafts)
    rows = [_row(c) for c in fresh if f"claim:{c.id}" not in hits]
    door.insert("pending_facts", rows)
    return len(rows)


def _drafts(door: Door, claims: Sequence[BoundClaim]) -> tuple[list[Draft], dict[UUID, UUID]]:
    """Drafts of the claims whose names are all known, with the canonical ids of these names."""
    entities = _known_entities(door, claims)
    drafts = [draft_of(c, entities) for c in claims if all(n in entities for n in _names(c))]
    ids = {i for d in drafts for i in (d.subject_id, d.object_id) if i is not None}
    return drafts, canonical_ids(door.connection, door.kb_id, ids)


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


def ask_again(door: Door, *, entities: Sequence[UUID] = (), refusals: Sequence[UUID] = ()) -> int:
    """Propose the remembered claims that one of these refusals, or one about these entities, kept from being asked.

    Those that are still refused are not asked, nor those that a refusal lifted since would have kept out all the same:
    lifting asks nothing. Returns how many wait now that did not.
    """
    parameters = {"kb_id": door.kb_id, "entities": list(entities), "refusals": list(refusals)}
    rows = door.connection.execute(sql.query("claims_refused_by"), parameters).fetchall()
    unique = {row["id"]: row for row in rows}
    ontology = load_ontology(door.connection, door.kb_id)
    claims = _not_proposed(door, [bound_claim(row, ontology) for row in unique.values()])
    silent = kept_silent(door, *_drafts(door, claims)) if claims else set()
    return propose(door, [c for c in claims if f"claim:{c.id}" not in silent])
