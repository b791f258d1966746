"""What phrases of the sources name: the undecided ones by how often they are said, decisions, and taking them back.

A decision is previewed, as what becomes of the facts, and then carried out exactly so or refused.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from fastapi import APIRouter
from pydantic import Field

from api.deps import Editor, Reader, StrictRoute
from api.rest.bodies import Body
from substrate.errors import InvalidInput
from substrate.ontology.bindings_list import STATES, list_bindings
from substrate.ontology.bindings_plan import MOST, Change, Decision, Plan, apply_change, preview_change

router = APIRouter(route_class=StrictRoute, prefix="/kbs/{kb_id}/bindings", tags=["bindings"])


class Decided(Body):
    """A phrase, or a wording of it, and the relation that it names; null: it names none."""

    phrase: str = Field(min_length=1)
    relation: str | None
    backwards: bool = False
    """Subject and object change places."""


class Wanted(Body):
    """Phrases to decide, bindings of people to take back, and a kept plan of the ontology to apply first."""

    decisions: list[Decided] = Field(default=[], max_length=MOST)
    undo: list[UUID] = Field(default=[], max_length=MOST)
    ontology_plan: str | None = None

    def change(self) -> Change:
        """As the substrate takes it."""
        decided = (Decision(d.phrase, d.relation, d.backwards) for d in self.decisions)
        return Change(tuple(decided), tuple(self.undo), self.ontology_plan)


class Previewed(Wanted):
    """A change with the plan that a preview of it gave."""

    seq: int
    plan: str
    why: str = ""


@router.get("")
def list_phrases(
    kb_id: UUID, who: Reader, state: str | None = None, limit: int = 50, offset: int = 0, examples: int = 3
) -> dict[str, Any]:
    """Phrases with what they name, most frequent first; ``state=undecided`` lists what waits for a person."""
    if not 0 <= examples <= 20:
        raise InvalidInput("examples must lie between 0 and 20", field="examples")
    if state is not None and state not in STATES:
        raise InvalidInput(f"state must be one of {', '.join(STATES)}", field="state")
    with who.read() as conn:
        return list_bindings(
            conn,
            kb_id,
            state=state,
            limit=limit,
            offset=offset,
            most_examples=examples,
        )


@router.post("/preview")
def preview(kb_id: UUID, body: Wanted, who: Editor, examples: int = 10) -> dict[str, Any]:
    """What becomes of the facts: added, retyped, closed, withdrawn, with examples. Nothing of it stays written."""
    if not 0 <= examples <= 200:
        raise InvalidInput("examples must lie between 0 and 200", field="examples")
    return _shown(preview_change(who.db, kb_id, body.change(), examples=examples))


@router.post("/apply")
def apply(kb_id: UUID, body: Previewed, who: Editor) -> dict[str, Any]:
    """Carry out what was previewed; 409 where the base moved on since or another outcome came out."""
    done, seq = apply_change(
        who.db, kb_id, body.change(), seq=body.seq, plan=body.plan, actor=who.actor, via="rest", why=body.why
    )
    return {**_shown(done), "applied_seq": seq, "bindings": [str(i) for i in done.bindings]}


def _shown(plan: Plan) -> dict[str, Any]:
    return {
        **plan.change.said,
        "seq": plan.seq,
        "head_hash": plan.head_hash,
        "plan": plan.fingerprint,
        "counts": dict(plan.counts),
        "examples": plan.examples,
    }
