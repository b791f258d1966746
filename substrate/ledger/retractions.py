"""Withdrawing: what a document no longer says, and what a person rejects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from substrate import sql
from substrate.errors import NotFound
from substrate.extraction.claims import Value
from substrate.ledger.assertions import only_ends
from substrate.ledger.door import Door
from substrate.ledger.drafts import Draft
from substrate.ledger.entities import canonical_ids, cluster_members
from substrate.ledger.recompute import Withdrawal, recompute
from substrate.ledger.refusals import refuse
from substrate.ledger.scenes import Row, relation_of, triple_of
from substrate.ontology.store import load_ontology


@dataclass(frozen=True, slots=True)
class Retracted:
    """What a withdrawal did: the facts that are held no more, and those that changed since evidence went."""

    fact_ids: tuple[UUID, ...] = ()
    changed: tuple[UUID, ...] = ()


def close_version_assertions(
    door: Door, version_ids: Sequence[UUID], kind: Literal["deleted", "superseded"]
) -> Retracted:
    """Withdraw what these document versions assert, and the facts whose every evidence is gone with it."""
    rows = door.connection.execute(
        sql.query("assertions_of_versions"), {"kb_id": door.kb_id, "ids": list(version_ids)}
    ).fetchall()
    _withdraw_proposals(door, version_ids)
    return _close(door, rows, kind)


def _withdraw_proposals(door: Door, version_ids: Sequence[UUID]) -> None:
    waiting = door.connection.execute(
        sql.query("waiting_of_versions"), {"kb_id": door.kb_id, "ids": list(version_ids)}
    ).fetchall()
    for row in waiting:
        door.decide(row["id"], "withdrawn", "the document no longer says so")


def _close(door: Door, rows: Sequence[Row], kind: str) -> Retracted:
    if not rows:
        return Retracted()
    door.close("assertions", [row["id"] for row in rows], kind)
    before = _lineages(door, [row["id"] for row in rows])
    withdrawal: Withdrawal = "rejected" if kind == "rejected" else "retracted"
    changed = recompute(door, rows, load_ontology(door.connection, door.kb_id), withdrawal=withdrawal)
    gone = door.connection.execute(
        sql.query("facts_closed_at"),
        {"kb_id": door.kb_id, "seq": door.seq, "lineages": list(before | changed)},
    ).fetchall()
    return Retracted(tuple(row["id"] for row in gone), tuple(sorted(changed)))


def _lineages(door: Door, assertion_ids: Sequence[UUID]) -> set[UUID]:
    rows = door.connection.execute(
        sql.query("lineages_of_assertions"), {"kb_id": door.kb_id, "ids": list(assertion_ids)}
    ).fetchall()
    return {row["lineage_id"] for row in rows}


def reject_fact(door: Door, fact_id: UUID, why: str) -> UUID:
    """A person says a held fact is not so: its triple is refused from now on and every statement of it withdrawn.

    Returns the refusal's id. Raises `NotFound` if no such fact is held.
    """
    fact = door.connection.execute(sql.query("held_fact"), {"kb_id": door.kb_id, "id": fact_id}).fetchone()
    if fact is None:
        raise NotFound("no fact with that id is held", field="fact_id")
    value = None
    if fact["object_id"] is None:
        value = Value(fact["value_raw"], fact["value_number"], fact["value_unit"], fact["value_type"])
    draft = Draft(
        source_key=f"fact:{fact_id}",
        subject_id=fact["subject_id"],
        phrase=fact["phrase"],
        predicate_key=fact["predicate_key"],
        object_id=fact["object_id"],
        value=value,
    )
    refusal_id = refuse(door, draft, why)
    ids = [i for i in (fact["subject_id"], fact["object_id"]) if i is not None]
    canonical = canonical_ids(door.connection, door.kb_id, ids)
    members = cluster_members(door.connection, door.kb_id, {canonical.get(i, i) for i in ids})
    rows = door.connection.execute(
        sql.query("assertions_of_entities"), {"kb_id": door.kb_id, "ids": list(members)}
    ).fetchall()
    triple = triple_of(fact, members)
    refused = [r for r in rows if triple_of(r, members) == triple]
    _close(door, [*refused, *_hand_overs_to(refused, rows)], "rejected")
    return refusal_id


def _hand_overs_to(refused: Sequence[Row], rows: Sequence[Row]) -> list[Row]:
    """The other halves of hand-overs told in the refused sentences: "Bo replaced Ann": if not Bo, Ann did not go."""
    told = {(r["chunk_id"], r["quote_start"], relation_of(r)) for r in refused if r["chunk_id"] is not None}
    own = {r["id"] for r in refused}
    return [
        r
        for r in rows
        if r["id"] not in own
        and (r["chunk_id"], r["quote_start"], relation_of(r)) in told
        and only_ends(r["stated_from"], r["stated_to_precision"])
    ]
