"""Edits of the ontology carried out: a plan that was kept and shown, or one term.

Both go the same way: the plan is computed anew under the head lock and must be the one that was shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID, uuid4

from psycopg.types.json import Jsonb

from substrate import sql
from substrate.db import AnyConnection, WriteConnection
from substrate.errors import Conflict, InvalidInput, NotFound
from substrate.ledger.door import Door
from substrate.ledger.redeclare import recompute_relation
from substrate.ledger.relation_state import OUTCOMES
from substrate.ontology.classes import Term, kind_of, terms_of
from substrate.ontology.plans import Mode, Plan, Step, make_plan
from substrate.ontology.store import load_ontology
from substrate.ontology.terms import Ontology, OntologyClass, Relation
from substrate.reads.moments import rfc3339

KEPT = 20
"""Plans of a base that nobody applied yet, the newest; older ones are forgotten."""
_SHORTEST = 8


def keep_plan(
    conn: WriteConnection,
    kb_id: UUID,
    asked: Sequence[Term],
    mode: Mode,
    *,
    by: str,
    notes: Sequence[str] = (),
    source: str = "",
    source_name: str = "",
) -> Plan:
    """Make a plan and keep it with the text it came from, so that `apply_plan` finds it by its id."""
    plan = make_plan(conn, kb_id, asked, mode, notes)
    wanted = {"terms": [_stored(t) for t in asked], "notes": list(notes)}
    row = {"kb_id": kb_id, "id": plan.id, "source": source, "source_name": source_name, "mode": mode, "made_by": by}
    conn.execute(sql.query("keep_plan"), {**row, "wanted": Jsonb(wanted), "shown": Jsonb(plan.shown())})
    conn.execute(sql.query("forget_plans"), {"kb_id": kb_id, "keep": KEPT})
    return plan


def kept_plan(conn: AnyConnection, kb_id: UUID, plan_id: str) -> dict[str, Any]:
    """A kept plan as it was shown, by its id or at least eight characters of its beginning. Raises `NotFound`."""
    row = _row(conn, kb_id, plan_id)
    return {**row["shown"], **_about(row)}


def list_plans(conn: AnyConnection, kb_id: UUID, *, limit: int = 50) -> list[dict[str, Any]]:
    """Kept plans, the newest first."""
    rows = conn.execute(sql.query("list_plans"), {"kb_id": kb_id, "limit": limit}).fetchall()
    return [{"plan": row["id"], "mode": row["mode"], **_about(row)} for row in rows]


def apply_plan(door: Door, plan_id: str) -> Plan:
    """Carry out exactly the plan that was kept under this id, but for what it refuses.

    Raises `NotFound` for an unknown plan, `Conflict` where it was applied before, where it changes nothing, or where
    the base moved on in what the plan rests on: plan it again then.
    """
    row = _row(door.connection, door.kb_id, plan_id)
    if row["applied_seq"] is not None:
        raise Conflict(f"this plan was applied at seq {row['applied_seq']}", field="plan")
    asked = [_term(t) for t in row["wanted"]["terms"]]
    plan = make_plan(door.connection, door.kb_id, asked, row["mode"], row["wanted"]["notes"])
    if plan.id != row["id"]:
        raise Conflict("the base moved on since this was planned: plan it again", field="plan")
    if not plan.accepted:
        raise Conflict("this plan changes nothing", field="plan")
    carry_out(door, plan)
    door.connection.execute(sql.query("plan_applied"), {"kb_id": door.kb_id, "id": plan.id, "seq": door.seq})
    return plan


def carry_out(door: Door, plan: Plan) -> None:
    """Write the accepted steps and bring the facts to agree. Raises `Conflict` where other facts came out."""
    held = door.connection.execute(sql.query("held_terms"), {"kb_id": door.kb_id}).fetchall()
    touched = {step.key for step in plan.accepted}
    final = terms_of(plan.final)
    door.close("ontology_terms", [row["id"] for row in held if row["key"] in touched])
    rows = [{"id": uuid4(), **_stored(final[key]), "key": key} for key in sorted(touched & final.keys())]
    door.insert("ontology_terms", rows)
    recomputed = [step for step in plan.accepted if step.outcomes]
    ontology = load_ontology(door.connection, door.kb_id) if recomputed else plan.final
    for step in recomputed:
        _recompute(door, ontology, step)


def _recompute(door: Door, ontology: Ontology, step: Step) -> None:
    tally = recompute_relation(door, ontology, step.key)
    came_out = {outcome: tally[outcome] for outcome in OUTCOMES}
    if came_out != dict(step.outcomes):
        raise Conflict(f"{step.key}: what came out is not what was planned: {came_out}", field="plan")


def put_term(door: Door, term: Term) -> Step | None:
    """Declare one term, new or instead of the one of its key; None where it is declared so already.

    Raises `Conflict` where it may not be, or where facts would come out otherwise: that is planned first and shown.
    """
    held = terms_of(load_ontology(door.connection, door.kb_id))
    return _edit(door, {**held, term.key: term}, term.key)


def delete_term(door: Door, key: str) -> Step:
    """Take one term out. Raises `NotFound`, and `Conflict` with the number of what uses it."""
    held = terms_of(load_ontology(door.connection, door.kb_id))
    if key not in held:
        raise NotFound(f"no term {key!r} is declared", field="key")
    step = _edit(door, {k: t for k, t in held.items() if k != key}, key)
    assert step is not None  # noqa: S101 - a term that is held and not asked for is a step
    return step


def _edit(door: Door, asked: Mapping[str, Term], key: str) -> Step | None:
    plan = make_plan(door.connection, door.kb_id, list(asked.values()), "replace")
    for step in plan.steps:
        if step.action == "refused":
            raise Conflict(f"{step.key}: {step.why}", field="key", uses=dict(step.uses))
        if any(step.outcomes.values()):
            raise Conflict(f"facts rest on {step.key} and would come out otherwise: plan the change and apply it",
                           field="key", outcomes=dict(step.outcomes))  # fmt: skip
    if plan.steps:
        carry_out(door, plan)
    return next((step for step in plan.steps if step.key == key), None)


def get_term(conn: AnyConnection, kb_id: UUID, key: str) -> Term:
    """One term. Raises `NotFound`."""
    found = terms_of(load_ontology(conn, kb_id)).get(key)
    if found is None:
        raise NotFound(f"no term {key!r} is declared", field="key")
    return found


def _row(conn: AnyConnection, kb_id: UUID, plan_id: str) -> Mapping[str, Any]:
    """A shortened id is a beginning that no other plan has."""
    if len(plan_id) < _SHORTEST or set(plan_id) - set("0123456789abcdef"):
        raise NotFound(f"no plan {plan_id!r}: give its id, or at least {_SHORTEST} characters of it", field="plan")
    row = conn.execute(sql.query("plan_of_id"), {"kb_id": kb_id, "id": plan_id}).fetchone()
    if row is None:
        raise NotFound(f"no plan {plan_id!r}", field="plan")
    if row["alike"] > 1:
        raise InvalidInput(f"{row['alike']} plans begin with {plan_id!r}", field="plan")
    return row


def _about(row: Mapping[str, Any]) -> dict[str, Any]:
    said = {name: row[name] for name in ("source_name", "made_by", "applied_seq")}
    return {**said, "made_at": rfc3339(row["made_at"])}


def _stored(term: Term) -> dict[str, Any]:
    return {"kind": kind_of(term), "definition": term.model_dump(mode="json")}


def _term(stored: Mapping[str, Any]) -> Term:
    if stored["kind"] == "class":
        return OntologyClass(**stored["definition"])
    return Relation(**stored["definition"])
