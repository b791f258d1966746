"""A person decides what two sources say against one another: close the old, keep both, reject the new.

===============  =================================================  ==================================================
verdict          of two rival values                                of two statements about one period
===============  =================================================  ==================================================
`closed`         the old one ended where the new one begins, at a   `ends`: the earlier end stands; `disagrees`: the
                 date nobody knows where the new one states none    person's word gives way to the document's
`kept_both`      both stand: uniqueness is suspended for the pair   what stands stays, and is contested no more
`rejected_new`   the new one is refused and withheld                `ends`: the earlier end stands; `disagrees`: the
                                                                    person's word stands against the document's
===============  =================================================  ==================================================

A verdict can be reverted: what it did is taken back, and the conflict is open again as a row of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID, uuid4

from substrate import sql
from substrate.errors import Conflict, NotFound
from substrate.extraction.claims import Value
from substrate.ledger import refusals
from substrate.ledger.conflict_rules import RIVALS
from substrate.ledger.corrections import End, Start, close_fact, confirm_fact, correct_period, withdraw
from substrate.ledger.door import Door
from substrate.ledger.drafts import Draft
from substrate.ledger.entities import canonical_ids, cluster_members
from substrate.ledger.periods import ended_by
from substrate.ledger.recompute import recompute
from substrate.ledger.scenes import Row, side_of
from substrate.ontology.store import load_ontology

Verdict = Literal["closed", "kept_both", "rejected_new"]
VERDICTS: tuple[Verdict, ...] = ("closed", "kept_both", "rejected_new")


@dataclass(frozen=True, slots=True)
class Decided:
    """A verdict and what it made."""

    conflict_id: UUID
    verdict: Verdict
    correction_id: UUID | None = None
    refusal_id: UUID | None = None


def decide(door: Door, conflict_id: UUID, verdict: Verdict, why: str = "") -> Decided:
    """Give the verdict on an open conflict. Raises `NotFound`, and `Conflict` if it is not open any more."""
    conflict = _conflict(door, conflict_id)
    if conflict["verdict"] is not None:
        raise Conflict(f"this conflict was {_told(conflict)} before", field="conflict_id")
    old, new = (_fact(door, conflict, side) for side in ("old", "new"))
    door.decide_conflicts([conflict_id], verdict, why)
    if verdict == "kept_both":
        _recompute(door, old, new)
        return Decided(conflict_id, verdict)
    if conflict["reason"] in RIVALS:
        if verdict == "closed":
            closed = close_fact(door, old["id"], _where_new_begins(old, new), why, conflict_id)
            return Decided(conflict_id, verdict, correction_id=closed.correction_id)
        return Decided(conflict_id, verdict, refusal_id=_refuse(door, new, why))
    correction = _settle_period(door, conflict, old, verdict, why)
    return Decided(conflict_id, verdict, correction_id=correction)


def revert(door: Door, conflict_id: UUID, why: str = "") -> UUID:
    """Take a verdict back; returns the id of the conflict that is open again.

    Raises `NotFound`, and `Conflict` where there is no verdict of a person or it was taken back before.
    """
    conflict = _conflict(door, conflict_id)
    if conflict["verdict"] not in VERDICTS:
        raise Conflict(f"there is no verdict to take back: it is {_told(conflict)}", field="conflict_id")
    if conflict["reopened"]:
        raise Conflict("this verdict was taken back before", field="conflict_id")
    again = uuid4()
    sides = {c: conflict[c] for c in conflict if c.startswith(("old_", "new_"))}
    named = {c: conflict[c] for c in ("reason", "predicate_key", "phrase")}
    door.insert("conflicts", [{**sides, **named, "id": again, "reopens": conflict_id}])
    asked: Mapping[str, object] = {"kb_id": door.kb_id, "id": conflict_id}
    for row in door.connection.execute(sql.query("correction_of_conflict"), asked).fetchall():
        withdraw(door, row)
    if conflict["verdict"] == "rejected_new" and conflict["reason"] in RIVALS:
        _release(door, conflict)
    _recompute(door, side_of(conflict, "old"), side_of(conflict, "new"))
    return again


def _conflict(door: Door, conflict_id: UUID) -> Row:
    row = door.connection.execute(sql.query("conflict_by_id"), {"kb_id": door.kb_id, "id": conflict_id}).fetchone()
    if row is None:
        raise NotFound("no conflict with that id", field="conflict_id")
    return row


def _told(conflict: Row) -> str:
    words = {"kept_both": "decided (keep both)", "rejected_new": "decided (reject the new)", None: "still open"}
    return words.get(conflict["verdict"], str(conflict["verdict"]))


def _fact(door: Door, conflict: Row, side: str) -> Row:
    asked = {"kb_id": door.kb_id, "id": conflict[f"{side}_lineage_id"]}
    row = door.connection.execute(sql.query("held_fact_of_lineage"), asked).fetchone()
    if row is None:
        raise Conflict(f"the {side} side is not held any more", field="conflict_id")
    return row


def _where_new_begins(old: Row, new: Row) -> End:
    if new["valid_from"] is None:
        return End(None, "unknown")
    own = old["valid_from"], old["valid_from_precision"]
    return End(*ended_by(*own, new["valid_from"], new["valid_from_precision"]))


def _settle_period(door: Door, conflict: Row, fact: Row, verdict: Verdict, why: str) -> UUID:
    side = "new" if conflict["reason"] == "disagrees" else "old"
    said = _statement(door, conflict[f"{side}_assertion_id"])
    end = End(said["stated_to"], said["stated_to_precision"])
    if conflict["reason"] == "ends":
        return close_fact(door, fact["id"], end, why, conflict["id"]).correction_id
    if verdict == "rejected_new":
        return confirm_fact(door, fact["id"], why, conflict["id"]).correction_id
    start = Start(said["stated_from"], said["stated_from_precision"]) if said["stated_from"] is not None else None
    told = end if end.precision is not None or start is None else None
    return correct_period(door, fact["id"], start=start, end=told, why=why, conflict_id=conflict["id"]).correction_id


def _statement(door: Door, assertion_id: UUID) -> Row:
    asked = {"kb_id": door.kb_id, "ids": [assertion_id]}
    row = door.connection.execute(sql.query("assertions_by_id"), asked).fetchone()
    if row is None:
        raise Conflict("what one side said is not held any more", field="conflict_id")
    return row


def _refuse(door: Door, fact: Row, why: str) -> UUID:
    value = None
    if fact["object_id"] is None:
        value = Value(fact["value_raw"], fact["value_number"], fact["value_unit"], fact["value_type"])
    draft = Draft(
        source_key=f"fact:{fact['id']}",
        subject_id=fact["subject_id"],
        phrase=fact["phrase"],
        predicate_key=fact["predicate_key"],
        object_id=fact["object_id"],
        value=value,
    )
    refusal_id = refusals.refuse(door, draft, why)
    ids = [i for i in (draft.subject_id, draft.object_id) if i is not None]
    canonical = canonical_ids(door.connection, door.kb_id, ids)
    members = cluster_members(door.connection, door.kb_id, {canonical.get(i, i) for i in ids})
    asked = {"kb_id": door.kb_id, "ids": list(members)}
    refusals.settle(door, door.connection.execute(sql.query("assertions_of_entities"), asked).fetchall())
    return refusal_id


def _release(door: Door, conflict: Row) -> None:
    """Give back what the verdict refused, unless that refusal was lifted since."""
    asked: dict[str, Any] = {"kb_id": door.kb_id, "seq": conflict["invalidated_seq"], **side_of(conflict, "new")}
    rows = door.connection.execute(sql.query("refusals_made_with"), asked).fetchall()
    refusals.release(door, [row["id"] for row in rows])


def _recompute(door: Door, *triples: Row) -> None:
    ontology = load_ontology(door.connection, door.kb_id)
    recompute(door, [{**t, "corrects": False} for t in triples], ontology)
