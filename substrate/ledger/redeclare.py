"""A relation declared otherwise while facts rest on it: what would change, and then the change itself.

What is unique and how a relation lives in time may be found out late. The preview computes, from the held assertions
and without writing or asking a model, which facts would be added, closed, opened again, moved, retyped or withdrawn and
which conflicts would open. The change is one transaction, so that a read as of before it shows the old state whole; it
is taken only as it was previewed: at the same head, with the same figures.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from substrate import sql
from substrate.db import AnyConnection
from substrate.errors import Conflict, InvalidInput, NotFound
from substrate.ledger.canonical import canonical_bytes, genesis_hash
from substrate.ledger.door import Door
from substrate.ledger.entities import canonical_ids
from substrate.ledger.recompute import recompute
from substrate.ledger.relation_state import OUTCOMES, RelationState, Settled
from substrate.ledger.scenes import Row
from substrate.ledger.spans import Temporal
from substrate.ontology.store import load_ontology, replace_term
from substrate.ontology.terms import Ontology, Relation

BATCH = 2_000
"""Triples recomputed at a time."""


@dataclass(frozen=True, slots=True)
class Change:
    """What is declared of a relation; None leaves it as it is."""

    relation: str
    functional: bool | None = None
    inverse_functional: bool | None = None
    temporal: Temporal | None = None

    @property
    def given(self) -> dict[str, object]:
        """The properties that are declared."""
        all_three = {
            "functional": self.functional,
            "inverse_functional": self.inverse_functional,
            "temporal": self.temporal,
        }
        return {k: v for k, v in all_three.items() if v is not None}


@dataclass(frozen=True, slots=True)
class Plan:
    """What a change would do at a head of the record. `counts` has a figure for each of `OUTCOMES`."""

    change: Change
    seq: int
    head_hash: str
    facts: int
    counts: Mapping[str, int]
    examples: Mapping[str, Sequence[Mapping[str, Any]]] = field(compare=False, default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """What a plan is known by: the change, the head it was made at and its figures."""
        said = {"relation": self.change.relation, **self.change.given, "seq": self.seq, "head_hash": self.head_hash}
        return hashlib.sha256(canonical_bytes({**said, "facts": self.facts, "counts": dict(self.counts)})).hexdigest()


def preview_redeclaration(
    conn: AnyConnection,
    kb_id: UUID,
    relation: str,
    *,
    functional: bool | None = None,
    inverse_functional: bool | None = None,
    temporal: Temporal | None = None,
    examples: int = 10,
) -> Plan:
    """What the base would hold if `relation` were declared so. Reads alone; at most `examples` of each outcome.

    Raises `NotFound` for a relation that is not declared, `InvalidInput` where nothing would be declared or the
    relation cannot be so.
    """
    change = Change(relation, functional, inverse_functional, temporal)
    ontology = revised(load_ontology(conn, kb_id), change)
    seq, head_hash = _head(conn, kb_id)
    settled = RelationState(conn, kb_id, ontology, relation).settle(examples)
    return _plan(change, seq, head_hash, settled)


def _plan(change: Change, seq: int, head_hash: str, settled: Settled) -> Plan:
    counts = {outcome: settled.counts[outcome] for outcome in OUTCOMES}
    return Plan(change, seq, head_hash, settled.facts, counts, settled.examples)


def _head(conn: AnyConnection, kb_id: UUID) -> tuple[int, str]:
    row = conn.execute(sql.query("head_of_base"), {"kb_id": kb_id}).fetchone()
    if row is None:
        raise NotFound("no knowledge base with that id", field="kb_id")
    return row["seq"], bytes(row["hash"] if row["seq"] else genesis_hash(kb_id)).hex()


def apply_redeclaration(door: Door, change: Change, *, seq: int, fingerprint: str) -> Plan:
    """Declare what was previewed at `seq` and bring every fact of the relation to agree, in the transaction of `door`.

    `fingerprint` is the plan's. Raises `Conflict` where the base moved on since (preview again), or where what came out
    is not what was planned; nothing is written then. Returns the plan as it was carried out.
    """
    if door.seq - 1 != seq:
        raise Conflict(
            f"the base moved on since this was previewed (seq {seq}, now {door.seq - 1}): preview it again",
            field="plan",
        )
    ontology = revised(load_ontology(door.connection, door.kb_id), change)
    replace_term(door, ontology.by_key[change.relation])
    facts = _count(door, change.relation)
    tally = recompute_relation(door, ontology, change.relation)
    counts = {outcome: tally[outcome] for outcome in OUTCOMES}
    done = Plan(change, seq, door.previous_hash.hex(), facts, counts)
    if done.fingerprint != fingerprint:
        raise Conflict(f"what came out is not what was planned: {counts}", field="plan")
    return done


def recompute_relation(door: Door, ontology: Ontology, relation: str, batch: int = BATCH) -> Counter[str]:
    """Recompute every fact of a relation under `ontology`, some triples at a time; returns how many came out how.

    For any edit of an ontology that leaves the assertions as they are.
    """
    tally: Counter[str] = Counter()
    for rows in _batches(door, ontology, relation, batch):
        recompute(door, rows, ontology, tally=tally)
    return tally


def _batches(door: Door, ontology: Ontology, relation: str, size: int) -> Iterator[list[Row]]:
    """Triples of a relation in pieces that share no timeline with one another."""
    asked = {"kb_id": door.kb_id, "relation": relation}
    rows = door.connection.execute(sql.query("triples_of_relation"), asked).fetchall()
    ids = {i for r in rows for i in (r["subject_id"], r["object_id"]) if i is not None}
    canonical = canonical_ids(door.connection, door.kb_id, ids)
    groups = _groups(rows, canonical, *ontology.unique(relation))
    piece: list[Row] = []
    for group in groups:
        if piece and len(piece) + len(group) > size:
            yield piece
            piece = []
        piece += group
    if piece:
        yield piece


def _groups(rows: Sequence[Row], canonical: Mapping[UUID, UUID], functional: bool, inverse: bool) -> list[list[Row]]:
    """Rows that hang together: by what must be unique, and by being of one triple."""
    parent: dict[object, object] = {}

    def root(x: object) -> object:
        while (up := parent.setdefault(x, x)) != x:
            parent[x] = parent[up]
            x = up
        return x

    def ends(r: Row) -> tuple[object, object]:
        target = canonical.get(r["object_id"], r["object_id"]) if r["object_id"] is not None else f"={r['value_norm']}"
        return ("s", canonical.get(r["subject_id"], r["subject_id"])), ("o", target)

    for r in rows:
        subject, target = ends(r)
        if functional and inverse:
            parent[root(subject)] = root(target)
    found: dict[object, list[Row]] = {}
    for r in rows:
        subject, target = ends(r)
        key = root(subject) if functional and inverse else target if inverse else subject
        found.setdefault(key, []).append(r)
    return list(found.values())


def _count(door: Door, relation: str) -> int:
    asked = {"kb_id": door.kb_id, "relation": relation}
    row = door.connection.execute(sql.query("count_facts_of_relation"), asked).fetchone()
    assert row is not None  # noqa: S101 - a count has a row
    return int(row["facts"])


def revised(ontology: Ontology, change: Change) -> Ontology:
    """The ontology with `change` in it. Raises `NotFound` and `InvalidInput` naming the field."""
    old = ontology.by_key.get(change.relation)
    if old is None:
        raise NotFound(f"relation: {change.relation!r} is not declared", field="relation")
    if all(getattr(old, name) == value for name, value in change.given.items()):
        raise InvalidInput(f"{change.relation} is declared so already", field="relation")
    try:
        new = Relation.model_validate({**old.model_dump(), **change.given})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field_name = str(first["loc"][0]) if first["loc"] else next(iter(change.given))
        raise InvalidInput(f"{change.relation}: {first['msg']}", field=field_name) from error
    if new.temporal != "state" and (new.functional or new.inverse_functional):
        wrong = "temporal" if change.temporal is not None else "functional"
        raise InvalidInput(f"{wrong}: only a state can be unique at a time, not an {new.temporal}", field=wrong)
    return Ontology(
        classes=ontology.classes, relations=tuple(new if r.key == old.key else r for r in ontology.relations)
    )
