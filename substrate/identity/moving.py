"""Names that turn out to mean another entity than they stand on, moved with everything their documents state of them.

What a moved mention's claim asserts is closed as ``rebound`` and asserted anew on the other entity in the same
transaction, so that a read as of before it shows the old state whole. Where a person judged what one of the claims
asserts, nothing of that document's name moves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from substrate import sql
from substrate.identity.claims import bound_claims
from substrate.identity.drafts import drafts_of
from substrate.ledger.assertions import assert_batch
from substrate.ledger.door import Door
from substrate.ledger.drafts import Draft, normalise_name
from substrate.ledger.recompute import recompute
from substrate.ontology.store import load_ontology

Row = Mapping[str, Any]
Spot = tuple[UUID, str]
"""A document and a name in it."""


@dataclass(frozen=True, slots=True)
class Move:
    """Every sighting of a name with a signature that stands on an entity goes to another."""

    norm: str
    signature: str
    source: UUID
    target: UUID


def move_names(door: Door, moves: Sequence[Move]) -> set[str]:
    """Carry moves out. Returns the names of which some stay where they are, since a person had a say in them."""
    if not moves:
        return set()
    target = _spots(door, moves)
    documents = sorted({document for document, _ in target})
    mentions = _rows(door, "identity_mentions_of_documents", {"documents": documents})
    mine = [m for m in mentions if (m["document_id"], normalise_name(m["surface"])) in target]
    live = _rows(door, "identity_assertions_of_claims", {"ids": sorted({m["claim_id"] for m in mine})})
    judged = {a["claim_id"] for a in live if a["judged"]}
    pinned = {_spot(m) for m in mine if m["claim_id"] in judged}
    moved = [m for m in mine if _spot(m) not in pinned]
    _note_moves(door, {spot: entity for spot, entity in target.items() if spot not in pinned}, moved)
    ids = {m["claim_id"] for m in moved}
    _assert_anew(door, [a for a in live if a["claim_id"] in ids], [m for m in mentions if m["held"]], ids)
    return {norm for _, norm in pinned}


def _rows(door: Door, query: str, parameters: Mapping[str, object]) -> list[dict[str, Any]]:
    return door.connection.execute(sql.query(query), {"kb_id": door.kb_id, **parameters}).fetchall()


def _spots(door: Door, moves: Sequence[Move]) -> dict[Spot, UUID]:
    to = {(m.norm, m.signature, m.source): m.target for m in moves}
    asked = {
        "norms": [m.norm for m in moves],
        "signatures": [m.signature for m in moves],
        "entities": [m.source for m in moves],
    }
    rows = _rows(door, "identity_sightings_on", asked)
    return {(r["document_id"], r["norm"]): to[r["norm"], r["signature"], r["entity_id"]] for r in rows}


def _spot(mention: Row) -> Spot:
    return mention["document_id"], normalise_name(mention["surface"])


def _note_moves(door: Door, target: Mapping[Spot, UUID], mentions: Sequence[Row]) -> None:
    door.insert(
        "mention_moves",
        [
            {"id": uuid4(), "claim_id": m["claim_id"], "role": m["role"], "entity_id": target[_spot(m)]}
            for m in mentions
            if m["entity_id"] != target[_spot(m)]
        ],
    )
    spots = sorted(target)
    placed = {"documents": [d for d, _ in spots], "norms": [n for _, n in spots]}
    placed_on = {"entities": [target[s] for s in spots]}
    door.connection.execute(sql.query("identity_move_sightings"), {"kb_id": door.kb_id, **placed, **placed_on})


def _assert_anew(door: Door, gone: Sequence[Row], mentions: Sequence[Row], moved: Collection[UUID]) -> None:
    """Close what these claims assert, and assert it with the names where they stand now."""
    if not gone:
        return
    ontology = load_ontology(door.connection, door.kb_id)
    door.close("assertions", [a["id"] for a in gone], "rebound")
    recompute(door, gone, ontology, withdrawal="parted")
    stated = {a["claim_id"] for a in gone}
    drafts: list[Draft] = []
    for extractor, chunks in _chunks(mentions, moved).items():
        claims = [c for c in bound_claims(door.connection, door.kb_id, chunks, extractor, ontology) if c.kind == "file"]
        rows = _rows(door, "mentions_of_claims", {"ids": [c.id for c in claims]})
        document_of = {c.id: c.row["document_id"] for c in claims}
        entities: dict[UUID, dict[str, UUID]] = defaultdict(dict)
        for row in rows:
            entities[document_of[row["claim_id"]]][row["surface"]] = row["entity_id"]
        for document in sorted(entities):
            mentioned = {r["claim_id"] for r in rows}
            its = [c for c in claims if document_of[c.id] == document and c.id in mentioned]
            drafts += drafts_of(its, entities[document])
    assert_batch(door, [d for d in drafts if d.evidence.claim_id in stated], ontology)


def _chunks(mentions: Sequence[Row], moved: Collection[UUID]) -> dict[str, list[UUID]]:
    found: dict[str, set[UUID]] = defaultdict(set)
    for m in mentions:
        if m["claim_id"] in moved:
            found[m["extractor"]].add(m["chunk_id"])
    return {extractor: sorted(chunks) for extractor, chunks in sorted(found.items())}
