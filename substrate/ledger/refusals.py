"""Refusals: a triple that a person said no to stays out on every path, follows merges, and counts its restatements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID, uuid4

from substrate import sql
from substrate.errors import NotFound
from substrate.ledger.door import Door
from substrate.ledger.drafts import Draft
from substrate.ledger.entities import canonical_ids, cluster_members
from substrate.ledger.scenes import Row, Triple, triple_of


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refused triple, on the ids it was refused with."""

    id: UUID
    subject_id: UUID
    predicate_key: str | None
    phrase: str
    object_id: UUID | None
    value_norm: str | None


def refuse(door: Door, draft: Draft, why: str) -> UUID:
    """Refuse the triple of `draft` from now on."""
    refusal_id = uuid4()
    row = {
        "id": refusal_id,
        "subject_id": draft.subject_id,
        "predicate_key": draft.predicate_key,
        "phrase": draft.phrase,
        "object_id": draft.object_id,
        "value_norm": None if draft.object_id is not None else draft.object_key({})[1:],
        "why": why,
    }
    door.insert("refusals", [row])
    return refusal_id


def lift(door: Door, refusal_id: UUID) -> None:
    """Let the triple in again from now on; what was refused meanwhile is not asserted by this."""
    row = door.connection.execute(sql.query("held_refusal"), {"kb_id": door.kb_id, "id": refusal_id}).fetchone()
    if row is None:
        raise NotFound("no refusal with that id is in force", field="refusal_id")
    door.close("refusals", [refusal_id])


def refused(door: Door, drafts: Sequence[Draft], canonical: Mapping[UUID, UUID]) -> dict[str, UUID]:
    """source key → refusal, for the drafts whose triple is refused now, judged on canonical ids."""
    by_triple = _refused_triples(door, {canonical.get(d.subject_id, d.subject_id) for d in drafts}, canonical)
    if not by_triple:
        return {}
    known = dict(canonical)
    found: dict[str, UUID] = {}
    for d in drafts:
        subject, target = canonical.get(d.subject_id, d.subject_id), d.object_key(known)
        for relation in filter(None, (d.predicate_key, f"phrase:{d.phrase}")):
            if hit := by_triple.get((subject, relation, target)):
                found[d.source_key] = hit
    return found


def refused_assertions(door: Door, rows: Sequence[Row]) -> list[UUID]:
    """Which of these live assertions state a triple that is refused now: a merge may have made it so."""
    ids: set[UUID] = {i for r in rows for i in (r["subject_id"], r["object_id"]) if i is not None}
    canonical = canonical_ids(door.connection, door.kb_id, ids)
    by_triple = _refused_triples(door, {triple_of(r, canonical)[0] for r in rows}, canonical)
    if not by_triple:
        return []
    found = []
    for row in rows:
        subject, relation, target = triple_of(row, canonical)
        if not {(subject, r, target) for r in (relation, f"phrase:{row['phrase']}")}.isdisjoint(by_triple):
            found.append(row["id"])
    return found


def _refused_triples(door: Door, subjects: set[UUID], canonical: Mapping[UUID, UUID]) -> dict[Triple, UUID]:
    members = cluster_members(door.connection, door.kb_id, subjects)
    rows = door.connection.execute(
        sql.query("refusals_of_subjects"), {"kb_id": door.kb_id, "ids": list(members)}
    ).fetchall()
    refusals = [Refusal(**row) for row in rows]
    objects = {r.object_id for r in refusals if r.object_id is not None and r.object_id not in canonical}
    known = {**canonical, **canonical_ids(door.connection, door.kb_id, objects)}
    found: dict[Triple, UUID] = {}
    for r in refusals:
        target = str(known.get(r.object_id, r.object_id)) if r.object_id else f"={r.value_norm}"
        for relation in filter(None, (r.predicate_key, f"phrase:{r.phrase}")):
            found[members[r.subject_id], relation, target] = r.id
    return found


def count_restatements(door: Door, hits: Mapping[str, UUID], drafts: Sequence[Draft]) -> None:
    """Keep each restatement of a refused triple once, with the document that made it."""
    rows = door.connection.execute(
        sql.query("counted_restatements"), {"kb_id": door.kb_id, "keys": list(hits)}
    ).fetchall()
    counted = {(row["refusal_id"], row["source_key"]) for row in rows}
    fresh = [d for d in drafts if d.source_key in hits and (hits[d.source_key], d.source_key) not in counted]
    door.insert(
        "refusal_restatements",
        [
            {
                "refusal_id": hits[d.source_key],
                "source_key": d.source_key,
                "document_id": d.evidence.document_id,
            }
            for d in fresh
        ],
    )
