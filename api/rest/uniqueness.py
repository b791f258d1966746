"""What is unique and how a relation lives in time, declared late: candidates, preview, and then exactly that."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from fastapi import APIRouter

from api.deps import Editor, Reader, StrictRoute
from api.rest.bodies import Body
from substrate import reads
from substrate.ledger.redeclare import Change, Plan, apply_redeclaration, preview_redeclaration

router = APIRouter(route_class=StrictRoute, prefix="/kbs/{kb_id}/ontology", tags=["ontology"])


class Declaration(Body):
    """What is declared of a relation; what is left out stays."""

    functional: bool | None = None
    inverse_functional: bool | None = None
    temporal: Literal["state", "event", "eternal"] | None = None


class Previewed(Declaration):
    """A declaration with the plan that a preview of it gave."""

    seq: int
    plan: str
    why: str = ""


@router.get("/uniqueness")
def looks_unique(kb_id: UUID, who: Reader, as_of: str | None = None) -> dict[str, Any]:
    """State relations in use, those that look unique first, with what declaring it would end and leave to people."""
    with who.read() as conn:
        return reads.uniqueness(conn, kb_id, who.moment(conn, as_of=as_of))


@router.post("/relations/{relation}/preview")
def preview(kb_id: UUID, relation: str, body: Declaration, who: Reader, examples: int = 10) -> dict[str, Any]:
    """What the base would hold if the relation were declared so. Writes nothing and asks no model."""
    with who.read() as conn:
        plan = preview_redeclaration(
            conn,
            kb_id,
            relation,
            functional=body.functional,
            inverse_functional=body.inverse_functional,
            temporal=body.temporal,
            examples=examples,
        )
    return _shown(plan)


@router.post("/relations/{relation}/redeclare")
def redeclare(kb_id: UUID, relation: str, body: Previewed, who: Editor) -> dict[str, Any]:
    """Carry out the plan of a preview; 409 where the base moved on since."""
    change = Change(relation, body.functional, body.inverse_functional, body.temporal)
    with who.act("relation redeclared", body.why) as door:
        done = apply_redeclaration(door, change, seq=body.seq, fingerprint=body.plan)
    return {**_shown(done), "applied_seq": door.seq}


def _shown(plan: Plan) -> dict[str, Any]:
    return {
        "relation": plan.change.relation,
        **plan.change.given,
        "seq": plan.seq,
        "head_hash": plan.head_hash,
        "plan": plan.fingerprint,
        "facts": plan.facts,
        "counts": plan.counts,
        "examples": plan.examples,
    }
