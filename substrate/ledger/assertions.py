"""Asserting: the one path by which a statement becomes, or adds to, a fact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast
from uuid import UUID

from substrate.ledger._rows import Ready
from substrate.ledger.door import Door
from substrate.ledger.drafts import Draft, TimeColumns, normalise_value
from substrate.ledger.entities import merged_into
from substrate.ledger.ids import new_id
from substrate.ledger.lone import facts_if_alone
from substrate.ledger.recompute import recompute
from substrate.ledger.refusals import count_restatements, refused, withheld_rows
from substrate.ledger.scenes import Row, only_ends
from substrate.ontology.terms import Ontology


@dataclass(frozen=True, slots=True)
class Asserted:
    """What became of a batch."""

    assertions: tuple[UUID, ...] = ()
    known: int = 0
    """Inputs the ledger held already."""
    refused: int = 0
    lineages: frozenset[UUID] = frozenset()
    """Facts that are new or changed."""


def assert_batch(
    door: Door, drafts: Sequence[Draft], ontology: Ontology, *, lineages: Mapping[str, UUID] | None = None
) -> Asserted:
    """Assert drafts, refusals judged and timelines recomputed in the same transaction.

    The same input twice is asserted once. Give a few hundred at a time: the head lock is held throughout. `lineages`:
    source key → the lineage, held no more, that a fact which rests on that draft goes on with.
    """
    unique = {d.source_key: d for d in drafts}
    told = [assertion_row(d) for d in unique.values()]
    alone: dict[UUID, Ready] = {}
    rows = door.insert_not_held(
        "assertions", told, "source_key", meanwhile=lambda: alone.update(facts_if_alone(told, ontology))
    )
    known = len(unique) - len(rows)
    if not rows:
        return Asserted(known=known)
    fresh = [unique[cast(str, r["source_key"])] for r in rows]
    ids = (i for d in fresh for i in (d.subject_id, d.object_id) if i is not None)
    hits = refused(door, fresh, merged_into(door, ids))
    accepted = _withhold(door, rows, fresh, hits) if hits else rows
    made = tuple(cast(UUID, r["id"]) for r in accepted)
    former: dict[UUID, UUID] = {}
    if lineages:
        keys = [cast(str, r["source_key"]) for r in accepted]
        former = {i: lineages[key] for i, key in zip(made, keys, strict=True) if key in lineages}
    changed = recompute(door, accepted, ontology, added=True, alone=alone, lineages=former)
    return Asserted(made, known, len(hits), frozenset(changed))


def _withhold(door: Door, rows: Sequence[Row], fresh: Sequence[Draft], hits: Mapping[str, Sequence[UUID]]) -> list[Row]:
    """Count and withhold what refusals reach; returns the rows that they do not."""
    count_restatements(door, hits, fresh)
    kept_out = {d.source_key: {*hits.get(d.source_key, ()), *_of_one_refused(d, fresh, hits)} for d in fresh}
    pairs = [(r["id"], refusal) for r in rows for refusal in kept_out[r["source_key"]]]
    door.insert("withheld", withheld_rows(pairs))
    return [r for r in rows if not kept_out[r["source_key"]]]


def _of_one_refused(draft: Draft, fresh: Sequence[Draft], hits: Mapping[str, Sequence[UUID]]) -> set[UUID]:
    """The refusals of the one this leaves for, if so: "Bo replaced Ann": if not Bo, Ann did not go."""
    e = draft.evidence
    if e.chunk_id is None or not only_ends(draft.time.valid_from, draft.time.valid_to_precision):
        return set()
    told = (e.chunk_id, e.quote_start, draft.relation)
    others = (d for d in fresh if d.source_key in hits and d.source_key != draft.source_key)
    met = (d for d in others if (d.evidence.chunk_id, d.evidence.quote_start, d.relation) == told)
    return {refusal for d in met for refusal in hits[d.source_key]}


def assertion_row(draft: Draft) -> dict[str, object]:
    """A draft as a row of ``assertions``."""
    time = TimeColumns.of(draft.time)
    value = draft.value
    return {
        "id": new_id(),
        "source_key": draft.source_key,
        "subject_id": draft.subject_id,
        "predicate_key": draft.predicate_key,
        "phrase": draft.phrase,
        "object_id": draft.object_id,
        "value_raw": value.raw if value else None,
        "value_norm": normalise_value(value) if value else None,
        "value_number": value.number if value else None,
        "value_unit": value.unit if value else None,
        "value_type": value.datatype if value else None,
        "qualifiers": [list(q) for q in draft.qualifiers],
        "stated_from": time.start,
        "stated_from_precision": time.start_precision,
        "stated_to": time.end,
        "stated_to_precision": time.end_precision,
        "at_event": draft.time.at_event and time.start is not None,
        "grade": draft.time.grade,
        "attested_at": draft.attested_at,
        "denies": draft.denies,
        "corrects": draft.corrects,
        "replaces": draft.replaces,
        "origin": draft.origin,
        "confidence": round(draft.confidence, 6),  # what the column's four bytes give back unchanged
        "claim_id": draft.evidence.claim_id,
        "chunk_id": draft.evidence.chunk_id,
        "document_id": draft.evidence.document_id,
        "version_id": draft.evidence.version_id,
        "quote": draft.evidence.quote,
        "quote_start": draft.evidence.quote_start,
        "quote_end": draft.evidence.quote_end,
        "wording": draft.evidence.wording,
    }
