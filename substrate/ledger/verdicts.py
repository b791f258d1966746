"""Verdicts of people on proposals, in batches that can be taken back. A single verdict is a batch of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from substrate import sql
from substrate.db import Database
from substrate.errors import Conflict, InvalidInput, NotFound
from substrate.identity.claims import BoundClaim, bound_claim
from substrate.identity.drafts import draft_of, drafts_of, names_in
from substrate.ledger.acts import undo
from substrate.ledger.assertions import assert_batch
from substrate.ledger.door import Door, Via, open_door
from substrate.ledger.entities import canonical_ids, cluster_members, resolve_names
from substrate.ledger.pending import ask_again
from substrate.ledger.recompute import recompute
from substrate.ledger.refusals import refuse, refused, release, settle
from substrate.ontology.store import load_ontology
from substrate.ontology.terms import Ontology

MOST = 200
"""Verdicts of one batch: the head lock is held throughout."""


@dataclass(frozen=True, slots=True)
class Decided:
    """What a batch did."""

    batch_id: UUID
    confirmed: tuple[UUID, ...]
    refusals: Mapping[UUID, UUID]
    """Rejected proposal → the refusal of its triple."""
    lineages: tuple[UUID, ...]
    """Facts that are new or changed since they were confirmed."""


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What the revert of a batch did."""

    revert_id: UUID
    waiting: Mapping[UUID, UUID]
    """Decided proposal → the one that waits in its place, where its passage is still held."""


def confirm(db: Database, kb_id: UUID, pending_id: UUID, *, actor: str, via: Via = "rest", why: str = "") -> Decided:
    """A person nods, in a transaction of its own. Raises as `decide` does."""
    with db.write(kb_id) as connection:
        with open_door(connection, kb_id, actor=actor, via=via, action="confirmed", why=why) as door:
            return decide(door, [pending_id], [], why)


def reject(db: Database, kb_id: UUID, pending_id: UUID, *, actor: str, via: Via = "rest", why: str = "") -> Decided:
    """A person says no, in a transaction of its own. Raises as `decide` does."""
    with db.write(kb_id) as connection:
        with open_door(connection, kb_id, actor=actor, via=via, action="rejected", why=why) as door:
            return decide(door, [], [pending_id], why)


def decide(door: Door, confirm: Sequence[UUID], reject: Sequence[UUID], why: str = "") -> Decided:
    """Confirm and reject proposals, all or none; rejections are judged first.

    A confirmed claim is asserted as it stands; the triple of a rejected one is refused from now on, on every path, and
    what states it already is withheld. Raises `InvalidInput` for no verdict, more than `MOST`, or two on one proposal;
    else, naming every proposal that cannot be decided in ``errors``, `NotFound` if none is there and `Conflict`.
    """
    claims = _decidable(door, confirm, reject)
    ontology = load_ontology(door.connection, door.kb_id)
    bound = {i: bound_claim(row, ontology) for i, row in claims.items()}  # in reading order
    entities = resolve_names(door, names_in(list(bound.values())), ontology.class_by_word)
    batch_id = uuid4()
    door.insert("verdict_batches", [{"id": batch_id, "why": why}])
    refusals = _reject(door, {i: bound[i] for i in reject}, entities, why)
    lineages = _confirm(door, {i: c for i, c in bound.items() if i in set(confirm)}, entities, ontology, why)
    rows = [{"batch_id": batch_id, "pending_id": i, "refusal_id": refusals.get(i)} for i in (*confirm, *reject)]
    door.insert("verdicts", rows)
    return Decided(batch_id, tuple(confirm), refusals, tuple(sorted(lineages)))


def _decidable(door: Door, confirm: Sequence[UUID], reject: Sequence[UUID]) -> dict[UUID, dict[str, Any]]:
    ids = [*confirm, *reject]
    if not ids:
        raise InvalidInput("no verdict is given", field="confirm")
    if len(ids) > MOST:
        raise InvalidInput(f"at most {MOST} verdicts at once", field="confirm" if len(confirm) > MOST else "reject")
    if twice := sorted({str(i) for i in ids if ids.count(i) > 1}):
        raise InvalidInput(f"more than one verdict on {', '.join(twice)}", field="reject" if reject else "confirm")
    rows = door.connection.execute(sql.query("claims_of_proposals"), {"kb_id": door.kb_id, "ids": ids}).fetchall()
    claims = {row["pending_id"]: row for row in rows}
    errors = {i: "no proposal with that id" for i in ids if i not in claims}
    none = len(errors) == len(ids)
    errors |= {i: f"this proposal was {row['verdict']} before" for i, row in claims.items() if row["verdict"]}
    _complain(errors, len(ids), NotFound if none else Conflict)
    return claims


def _complain(errors: Mapping[UUID, str], asked: int, kind: type[InvalidInput]) -> None:
    if not errors:
        return
    listed = [{"pending_id": str(i), "error": error} for i, error in errors.items()]
    message = listed[0]["error"]
    if asked > 1:
        told = "; ".join(f"{e['pending_id']}: {e['error']}" for e in listed)
        message = f"nothing was decided: {len(listed)} of {asked} proposals cannot be: {told}"
    raise kind(message, field="pending_id", errors=listed)


def _reject(door: Door, claims: Mapping[UUID, BoundClaim], entities: Mapping[str, UUID], why: str) -> dict[UUID, UUID]:
    drafts = {i: draft_of(claim, entities) for i, claim in claims.items()}
    for pending_id in claims:
        door.decide(pending_id, "rejected", why)
    refusals = {i: refuse(door, draft, why) for i, draft in drafts.items()}
    subjects = {d.subject_id for d in drafts.values()}
    canonical = canonical_ids(door.connection, door.kb_id, subjects)
    members = cluster_members(door.connection, door.kb_id, {canonical.get(i, i) for i in subjects})
    parameters = {"kb_id": door.kb_id, "ids": list(members)}
    settle(door, door.connection.execute(sql.query("assertions_of_entities"), parameters).fetchall())
    return refusals


def _confirm(
    door: Door, claims: Mapping[UUID, BoundClaim], entities: Mapping[str, UUID], ontology: Ontology, why: str
) -> frozenset[UUID]:
    if not claims:
        return frozenset()
    drafts = drafts_of(list(claims.values()), entities)
    ids = {i for d in drafts for i in (d.subject_id, d.object_id) if i is not None}
    hits = refused(door, drafts, canonical_ids(door.connection, door.kb_id, ids))
    errors = {i: "this triple is refused; lift the refusal first" for i, c in claims.items() if f"claim:{c.id}" in hits}
    _complain(errors, len(claims), Conflict)
    for pending_id in claims:
        door.decide(pending_id, "confirmed", why)
    return assert_batch(door, drafts, ontology).lineages


def revert_batch(door: Door, batch_id: UUID, why: str = "") -> TakenBack:
    """Take back every verdict of a batch: what is held is what would be, had it never been given.

    What only the confirmed claims assert is withdrawn, refusals of the rejected ones are lifted and what they kept out
    counts again, and the proposals wait again, each as a new one, where their passage is still held. Raises `NotFound`
    for an unknown batch and `Conflict` if it was reverted before or given in this very transaction.
    """
    asked = {"kb_id": door.kb_id, "id": batch_id}
    batch = door.connection.execute(sql.query("verdict_batch_of_id"), asked).fetchone()
    if batch is None:
        raise NotFound("no batch of verdicts with that id", field="batch_id")
    if batch["reverted_seq"] is not None:
        raise Conflict(f"this batch was reverted at seq {batch['reverted_seq']}", field="batch_id")
    if batch["recorded_seq"] == door.seq:
        raise Conflict("a batch is reverted in a later transaction", field="batch_id")
    rows = door.connection.execute(sql.query("verdicts_of_batch"), asked).fetchall()
    revert_id = undo(door, "batch", batch_id, why)
    _withdraw(door, batch_id, [row for row in rows if row["refusal_id"] is None])
    release(door, [row["refusal_id"] for row in rows if row["refusal_id"]])
    waiting = {row["id"]: uuid4() for row in rows if row["said"]}
    kept = ("claim_id", "chunk_id", "document_id", "namespace", "predicate_key", "proposed_by")
    again = [{"id": waiting[row["id"]], **{c: row[c] for c in kept}} for row in rows if row["said"]]
    door.insert("pending_facts", again)
    ask_again(door, refusals=[row["refusal_id"] for row in rows if row["refusal_id"]])
    return TakenBack(revert_id, waiting)


def _withdraw(door: Door, batch_id: UUID, rows: Sequence[Mapping[str, Any]]) -> None:
    """Withdraw what confirmed claims assert. A name that another confirmed claim needs becomes its own."""
    if not rows:
        return
    parameters: dict[str, object] = {"kb_id": door.kb_id, "ids": [row["claim_id"] for row in rows]}
    parameters |= {"document_ids": list({row["document_id"] for row in rows}), "batch_id": batch_id}
    parameters |= {"chunk_ids": list({row["chunk_id"] for row in rows})}
    gone = door.connection.execute(sql.query("assertions_of_claims"), parameters).fetchall()
    door.close("assertions", [row["id"] for row in gone], "unconfirmed")
    ontology = load_ontology(door.connection, door.kb_id)
    beside = door.connection.execute(sql.query("confirmed_beside"), parameters).fetchall()
    stay = door.connection.execute(
        sql.query("claims_of_proposals"), {"kb_id": door.kb_id, "ids": [row["id"] for row in beside]}
    ).fetchall()
    claims = [bound_claim(row, ontology) for row in stay]
    lost = {row["source_key"] for row in gone}
    drafts = drafts_of(claims, resolve_names(door, names_in(claims)))
    assert_batch(door, [d for d in drafts if d.source_key in lost], ontology)
    recompute(door, gone, ontology)
