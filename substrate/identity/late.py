"""Names that claims have since they were bound anew: what was a literal when names were resolved may be a thing now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from substrate import sql
from substrate.identity.claims import BoundClaim, bound_claims
from substrate.identity.drafts import names_in
from substrate.identity.families import load_families, take
from substrate.identity.placing import place
from substrate.identity.sightings import sightings
from substrate.ledger.door import Door
from substrate.ledger.drafts import normalise_name
from substrate.ledger.entities import resolve_names, type_entities
from substrate.ontology.terms import Ontology

Place = tuple[UUID, str]
"""A document and a surface name in it."""


def place_late(door: Door, claims: Sequence[BoundClaim], extractor: str, ontology: Ontology) -> dict[Place, UUID]:
    """The entities of all names in these claims of documents, found or made as the entities stage would.

    A document that names something new is read again, as it is bound now; nothing is read where every name has its
    place. A passage that is held no more is not read: its names are found by their spelling.
    """
    wanted = {(c.row["document_id"], name): kind for c in claims for name, kind in names_in([c]).items()}
    if not wanted:
        return {}
    documents = {document for document, _ in wanted}
    found = _places(door, documents)
    if any(_key(one) not in found for one in wanted):
        _sight(door, claims, extractor, ontology)
        found = _places(door, documents)
    lost = {name: kind for (document, name), kind in wanted.items() if _key((document, name)) not in found}
    spelled = resolve_names(door, lost, ontology.class_by_word)
    placed = {one: found.get(_key(one)) or spelled[one[1]] for one in wanted}
    kinds = {placed[one]: kind for one, kind in wanted.items() if kind is not None}
    type_entities(door, kinds, ontology.class_by_word)
    return placed


def mention_late(door: Door, claims: Sequence[BoundClaim], entities: Mapping[Place, UUID]) -> None:
    """Mention what is not mentioned yet; a mention that is there stays, whatever the claim is bound to now."""
    rows = _rows(door, "mentions_of_claims", ids=[c.id for c in claims])
    there = {(row["claim_id"], row["role"]) for row in rows}
    fresh = [
        {"claim_id": c.id, "role": role, "entity_id": entities[c.row["document_id"], name], "surface": name}
        for c in claims
        for role, name in (("subject", c.bound.subject_name), ("object", c.bound.object_name))
        if name is not None and (c.id, role) not in there
    ]
    door.insert("mentions", fresh)


def _key(place: Place) -> Place:
    return place[0], normalise_name(place[1])


def _places(door: Door, documents: set[UUID]) -> dict[Place, UUID]:
    rows = _rows(door, "identity_places", documents=sorted(documents))
    return {(r["document_id"], r["norm"]): r["entity_id"] for r in rows if r["entity_id"] is not None}


def _sight(door: Door, claims: Sequence[BoundClaim], extractor: str, ontology: Ontology) -> None:
    passages = _rows(door, "identity_passages", ids=sorted({c.row["chunk_id"] for c in claims}))
    if not passages:
        return
    chunks = [row["id"] for row in passages]
    told = [c for c in bound_claims(door.connection, door.kb_id, chunks, extractor, ontology) if c.kind == "file"]
    texts = {row["id"]: row["text"] for row in passages}
    changed = take(door.connection, door.kb_id, sightings(told, texts), {row["document_id"] for row in passages})
    if changed:
        place(door, load_families(door.connection, door.kb_id, changed))


def _rows(door: Door, name: str, **asked: Any) -> list[dict[str, Any]]:
    return door.connection.execute(sql.query(name), {"kb_id": door.kb_id, **asked}).fetchall()
