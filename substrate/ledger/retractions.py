"""Withdrawing: what a document no longer says, and what a person rejects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal
from uuid import UUID

from substrate import sql
from substrate.errors import NotFound
from substrate.extraction.claims import Value
from substrate.ledger.door import Door
from substrate.ledger.drafts import Draft
from substrate.ledger.entities import canonical_ids, cluster_members
from substrate.ledger.recompute import Withdrawal, recompute
from substrate.ledger.refusals import hand_overs_to, refuse, states, withhold
from substrate.ledger.scenes import Row
from substrate.ontology.store import load_ontology


@dataclass(frozen=True, slots=True)
class Retracted:
    """What a withdrawal did: the facts that are held no more, and those that changed since evidence went."""

    fact_ids: tuple[UUID, ...] = ()
    changed: tuple[UUID, ...] = ()
    """Lineages."""
    weakened: tuple[UUID, ...] = ()
    """Facts that lost evidence and stay: the rows held from now on."""
    assertion_ids: tuple[UUID, ...] = ()
    proposal_ids: tuple[UUID, ...] = ()


def close_version_assertions(
    door: Door, version_ids: Sequence[UUID], kind: Literal["deleted", "superseded"]
) -> Retracted:
    """Withdraw what these document versions assert, and the facts whose every evidence is gone with it."""
    rows = door.connection.execute(
        sql.query("assertions_of_versions"), {"kb_id": door.kb_id, "ids": list(version_ids)}
    ).fetchall()
    proposals = _withdraw_proposals(door, version_ids)
    return replace(_close(door, rows, kind), proposal_ids=proposals)


def _withdraw_proposals(door: Door, version_ids: Sequence[UUID]) -> tuple[UUID, ...]:
    waiting = door.connection.execute(
        sql.query("waiting_of_versions"), {"kb_id": door.kb_id, "ids": list(version_ids)}
    ).fetchall()
    ids = tuple(row["id"] for row in waiting)
    for proposal_id in ids:
        door.decide(proposal_id, "withdrawn", "the document no longer says so")
    return ids


def _close(door: Door, rows: Sequence[Row], kind: str, beside: Sequence[Row] = ()) -> Retracted:
    if not rows and not beside:
        return Retracted()
    door.close("assertions", [row["id"] for row in rows], kind)
    before = _lineages(door, [row["id"] for row in rows])
    withdrawal: Withdrawal = "rejected" if kind == "rejected" else "retracted"
    changed = recompute(door, [*rows, *beside], load_ontology(door.connection, door.kb_id), withdrawal=withdrawal)
    asked = {"kb_id": door.kb_id, "seq": door.seq}
    gone = door.connection.execute(sql.query("facts_closed_at"), {**asked, "lineages": list(before | changed)})
    stay = door.connection.execute(sql.query("lifecycle_held_of_lineages"), {**asked, "lineages": list(before)})
    return Retracted(
        fact_ids=tuple(row["id"] for row in gone),
        changed=tuple(sorted(changed)),
        weakened=tuple(row["id"] for row in stay),
        assertion_ids=tuple(row["id"] for row in rows),
    )


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
    return reject_triple(door, draft, why)


def reject_triple(door: Door, draft: Draft, why: str) -> UUID:
    """Refuse the triple of `draft` and withdraw what states it on those very ids; returns the refusal's id.

    What states it of an entity that is one with these by a merge alone is withheld: the revert gives it back.
    """
    refusal_id = refuse(door, draft, why)
    ids = [i for i in (draft.subject_id, draft.object_id) if i is not None]
    canonical = canonical_ids(door.connection, door.kb_id, ids)
    members = cluster_members(door.connection, door.kb_id, {canonical.get(i, i) for i in ids})
    rows = door.connection.execute(
        sql.query("assertions_of_entities"), {"kb_id": door.kb_id, "ids": list(members)}
    ).fetchall()
    said = [r for r in rows if states(r, draft)]
    own = [*said, *hand_overs_to(said, rows)]
    gone = {r["id"] for r in own}
    moved = withhold(door, [r for r in rows if r["id"] not in gone])
    _close(door, own, "rejected", moved)
    return refusal_id
