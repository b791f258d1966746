"""What two sources say against one another: listed, decided by a person, and the verdict taken back."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from fastapi import APIRouter

from api.deps import Editor, Reader, StrictRoute
from api.rest.bodies import Body, Why, why_of
from substrate import reads
from substrate.ledger.conflicts import decide, revert

router = APIRouter(route_class=StrictRoute, prefix="/kbs/{kb_id}/review/conflicts", tags=["review"])


class Decision(Body):
    """Close the old, keep both, or reject the new, and why."""

    verdict: Literal["closed", "kept_both", "rejected_new"]
    why: str = ""


@router.get("")
def list_conflicts(
    kb_id: UUID,
    who: Reader,
    state: Literal["open", "decided"] = "open",
    as_of: str | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> dict[str, Any]:
    """Conflicts, oldest first, each with both sides and the sentences behind them."""
    with who.read() as conn:
        moment = who.moment(conn, as_of=as_of)
        return reads.list_conflicts(conn, kb_id, moment, state=state, limit=limit, cursor=cursor)


@router.post("/{conflict_id}/decide")
def decide_conflict(kb_id: UUID, conflict_id: UUID, body: Decision, who: Editor) -> dict[str, Any]:
    """A person's verdict. It can be reverted."""
    with who.act("conflict decided", body.why) as door:
        made = decide(door, conflict_id, body.verdict, body.why)
    return {
        "conflict_id": conflict_id,
        "verdict": made.verdict,
        "correction_id": made.correction_id,
        "refusal_id": made.refusal_id,
        "seq": door.seq,
    }


@router.post("/{conflict_id}/revert")
def revert_verdict(kb_id: UUID, conflict_id: UUID, who: Editor, body: Why | None = None) -> dict[str, Any]:
    """What the verdict did is taken back; the conflict waits again under an id of its own."""
    why = why_of(body)
    with who.act("verdict reverted", why) as door:
        again = revert(door, conflict_id, why)
    return {"conflict_id": conflict_id, "verdict": "reverted", "open_conflict_id": again, "seq": door.seq}
