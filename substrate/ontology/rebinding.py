"""Facts brought to what their claims are bound to now, without reading a document or asking a model.

A claim stays; what it asserts is closed as ``rebound`` and asserted anew under the relation, the direction and the kind
of object that its phrase has now, in the same transaction, so that a read as of before shows the old facts whole. A
fact goes on with its lineage where nothing else rests on it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from substrate import sql
from substrate.db import AnyConnection
from substrate.extraction.claims import Value
from substrate.identity.claims import BoundClaim, bound_claim
from substrate.identity.drafts import drafts_of, names_in
from substrate.identity.late import mention_late, place_late
from substrate.ledger.assertions import assert_batch
from substrate.ledger.door import Door
from substrate.ledger.drafts import Draft
from substrate.ledger.entities import resolve_names
from substrate.ledger.recompute import recompute
from substrate.ontology.binding import Bound, bind
from substrate.ontology.terms import Ontology

BATCH = 200
"""Chunks whose claims are bound anew at a time."""
Row = Mapping[str, Any]


class Shape(NamedTuple):
    """What of a claim its binding is computed from, and what of its assertion tells how it was bound."""

    phrase: str
    wording: str
    subject_kind: str | None
    object_kind: str | None
    named: bool
    numbered: bool
    with_unit: bool
    value_type: str | None
    predicate_key: str | None
    linked: bool

    @staticmethod
    def of(row: Row) -> Shape:
        return Shape(*(row[name] for name in Shape._fields))

    def bound(self, ontology: Ontology) -> Bound:
        """Its binding, with letters for names."""
        number, unit = Decimal(1) if self.numbered else None, "u" if self.with_unit else None
        datatype: Any = self.value_type or "text"
        return bind(
            ontology,
            subject="s",
            phrase=self.phrase,
            object_name="o" if self.named else None,
            value=None if self.named else Value("o", number, unit, datatype),
            subject_kind=self.subject_kind,
            object_kind=self.object_kind,
            wording=self.wording,
        )

    def moves(self, before: Ontology, after: Ontology) -> bool:
        """Would its claims be asserted otherwise than they are?"""
        now = self.bound(after)
        if (now.predicate_key, now.object_name is not None) != (self.predicate_key, self.linked):
            return True
        return self.bound(before) != now


def any_moves(connection: AnyConnection, kb_id: UUID, ontology: Ontology) -> bool:
    """Is anything asserted otherwise than what is declared and decided now says?"""
    rows = connection.execute(sql.query("bindings_asserted"), {"kb_id": kb_id}).fetchall()
    return any(Shape.of(row).moves(ontology, ontology) for row in rows)


def rebind(door: Door, before: Ontology, after: Ontology) -> int:
    """Assert anew what held claims are bound to under `after` and are not so asserted; returns how many.

    `before` is what they were bound under, which tells the direction they have now.
    """
    asked = {"kb_id": door.kb_id}
    shapes = {Shape.of(row) for row in door.connection.execute(sql.query("bindings_asserted"), asked).fetchall()}
    moving = {shape for shape in shapes if shape.moves(before, after)}
    if not moving:
        return 0
    spelled = sorted({(shape.phrase, shape.wording) for shape in moving})
    texts = {"phrases": [p for p, _ in spelled], "wordings": [w for _, w in spelled]}
    rows = door.connection.execute(sql.query("bindings_asserted_claims"), {**asked, **texts}).fetchall()
    chunks: dict[str, dict[UUID, set[UUID]]] = defaultdict(lambda: defaultdict(set))
    for row in rows:
        if Shape.of(row) in moving:
            chunks[row["extractor"]][row["chunk_id"]].add(row["id"])
    moved = 0
    for extractor, claims in chunks.items():
        listed = list(claims)
        for start in range(0, len(listed), BATCH):
            some = listed[start : start + BATCH]
            moving_ids = {claim for chunk in some for claim in claims[chunk]}
            moved += _Batch(door, before, after).move(extractor, some, moving_ids)
    return moved


class _Batch:
    """Some chunks' claims, bound anew."""

    def __init__(self, door: Door, before: Ontology, after: Ontology) -> None:
        self.door, self.before, self.after = door, before, after

    def move(self, extractor: str, chunk_ids: Sequence[UUID], moving: set[UUID]) -> int:
        asked = {"kb_id": self.door.kb_id, "ids": list(chunk_ids), "extractor": extractor}
        by_chunk: dict[UUID, list[Row]] = defaultdict(list)
        for row in self._rows("bindings_claims_of_chunks", asked):
            if row["assertion_id"] is not None:
                by_chunk[row["chunk_id"]].append(row)
        claims = {chunk: [bound_claim(row, self.after) for row in rows] for chunk, rows in by_chunk.items()}
        entities = self._entities([row for rows in by_chunk.values() for row in rows], claims, extractor)
        drafts = [d for chunk, found in claims.items() for d in drafts_of(found, entities[chunk])]
        mine = {f"claim:{i}" for i in moving}
        gone = [row["assertion_id"] for rows in by_chunk.values() for row in rows if row["id"] in moving]
        read = {c.id for found in claims.values() for c in found}
        names = self._names_gone(chunk_ids, drafts, read)
        self._assert([*gone, *names], [d for d in drafts if _asserts(d, mine)])
        return len(gone)

    def _rows(self, name: str, parameters: Mapping[str, object]) -> list[dict[str, Any]]:
        return self.door.connection.execute(sql.query(name), parameters).fetchall()

    def _entities(
        self, rows: Sequence[Row], claims: Mapping[UUID, Sequence[BoundClaim]], extractor: str
    ) -> dict[UUID, dict[str, UUID]]:
        """Chunk → surface name → entity: as asserted, else as mentioned, else as the base knows or gets to know it.

        A literal that is a thing now is mentioned; what was mentioned stays.
        """
        found: dict[UUID, dict[str, UUID]] = {chunk: {} for chunk in claims}
        mentions = self._rows("mentions_of_claims", {"kb_id": self.door.kb_id, "ids": [row["id"] for row in rows]})
        chunk_of = {row["id"]: row["chunk_id"] for row in rows}
        for m in mentions:
            found[chunk_of[m["claim_id"]]][m["surface"]] = m["entity_id"]
        for row in rows:
            old = bound_claim(row, self.before).bound
            found[row["chunk_id"]][old.subject_name] = row["subject_id"]
            if old.object_name is not None and row["object_id"] is not None:
                found[row["chunk_id"]][old.object_name] = row["object_id"]
        late = [c for chunk, its in claims.items() for c in its if not names_in([c]).keys() <= found[chunk].keys()]
        placed = place_late(self.door, [c for c in late if c.kind == "file"], extractor, self.after)
        spelled = resolve_names(self.door, names_in([c for c in late if c.kind != "file"]), self.after.class_by_word)
        for claim in late:
            here = found[claim.row["chunk_id"]]
            for name in names_in([claim]).keys() - here.keys():
                here[name] = placed[claim.row["document_id"], name] if claim.kind == "file" else spelled[name]
        mention_late(self.door, [c for c in late if c.kind == "file"], placed)
        return found

    def _names_gone(self, chunk_ids: Sequence[UUID], drafts: Iterable[Draft], read: set[UUID]) -> list[UUID]:
        """Names that these claims tell no more, since what they named is a literal now."""
        told = {d.source_key for d in drafts}
        rows = self._rows("bindings_names_of_chunks", {"kb_id": self.door.kb_id, "ids": list(chunk_ids)})
        return [row["id"] for row in rows if row["claim_id"] in read and row["source_key"] not in told]

    def _assert(self, gone: Sequence[UUID], drafts: Sequence[Draft]) -> None:
        rows = self._rows("bindings_assertions", {"kb_id": self.door.kb_id, "ids": list(gone)})
        self.door.close("assertions", list(gone), "rebound")
        recompute(self.door, rows, self.after, withdrawal="corrected")
        lineages = {row["lineage_id"] for row in rows if row["lineage_id"] is not None}
        asked = {"kb_id": self.door.kb_id, "ids": list(lineages)}
        held = {row["lineage_id"] for row in self._rows("bindings_lineages_held", asked)}
        free = {r["source_key"]: r["lineage_id"] for r in rows if r["lineage_id"] in lineages - held}
        assert_batch(self.door, drafts, self.after, lineages=free)


def _asserts(draft: Draft, moving: set[str]) -> bool:
    """Names ride along: those that are held already are not asserted twice."""
    return draft.source_key in moving or draft.source_key.startswith("name:")
