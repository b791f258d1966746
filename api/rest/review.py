"""What waits for a person, and the verdicts of people one at a time: confirm, reject, lift."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from fastapi import APIRouter

from api.deps import Editor, Reader, StrictRoute
from api.rest.bodies import Body, Why, why_of
from substrate import reads
from substrate.identity import review as pairs
from substrate.ledger import refusals, verdicts
from substrate.ledger.retractions import reject_fact

router = APIRouter(route_class=StrictRoute, prefix="/kbs/{kb_id}", tags=["review"])


class Two(Body):
    """Two entities that are two things."""

    one: UUID
    other: UUID
    why: str = ""


@router.get("/review/pending")
def list_pending(
    kb_id: UUID, who: Reader, as_of: str | None = None, limit: int = 50, cursor: str | None = None
) -> dict[str, Any]:
    """Proposals, oldest first, each with the sentence it came from."""
    with who.read() as conn:
        return reads.list_pending(conn, kb_id, who.moment(conn, as_of=as_of), limit=limit, cursor=cursor)


@router.post("/review/pending/{pending_id}/confirm")
def confirm(kb_id: UUID, pending_id: UUID, who: Editor, body: Why | None = None) -> dict[str, Any]:
    """A person nods: the proposal becomes a fact."""
    why = why_of(body)
    who.must_not_judge(pending_ids=[pending_id])
    done = verdicts.confirm(who.db, kb_id, pending_id, actor=who.actor, via="rest", why=why)
    return {"pending_id": pending_id, "verdict": "confirmed", "batch_id": done.batch_id, "lineage_ids": done.lineages}


@router.post("/review/pending/{pending_id}/reject")
def reject(kb_id: UUID, pending_id: UUID, who: Editor, body: Why | None = None) -> dict[str, Any]:
    """A person says no: the triple stays out on every path from now on."""
    why = why_of(body)
    who.must_not_judge(pending_ids=[pending_id])
    done = verdicts.reject(who.db, kb_id, pending_id, actor=who.actor, via="rest", why=why)
    refusal = done.refusals[pending_id]
    return {"pending_id": pending_id, "verdict": "rejected", "batch_id": done.batch_id, "refusal_id": refusal}


@router.get("/review/refusals")
def list_refusals(
    kb_id: UUID,
    who: Reader,
    lifted: bool = False,
    as_of: str | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> dict[str, Any]:
    """What people said no to, oldest first, with how often and where it was said again; or what was lifted."""
    with who.read() as conn:
        moment = who.moment(conn, as_of=as_of)
        return reads.list_refusals(conn, kb_id, moment, lifted=lifted, limit=limit, cursor=cursor)


@router.post("/review/refusals/{refusal_id}/lift")
def lift_refusal(kb_id: UUID, refusal_id: UUID, who: Editor, body: Why | None = None) -> dict[str, Any]:
    """The triple may come in again from now on; what was refused meanwhile is not asserted by this."""
    who.must_not_judge(refusal_id=refusal_id)
    with who.act("refusal lifted", why_of(body)) as door:
        refusals.lift(door, refusal_id)
    return {"refusal_id": refusal_id, "verdict": "lifted", "seq": door.seq}


@router.post("/facts/{fact_id}/reject")
def reject_held_fact(kb_id: UUID, fact_id: UUID, who: Editor, body: Why | None = None) -> dict[str, Any]:
    """A person says a held fact is not so."""
    why = why_of(body)
    with who.act("fact rejected", why) as door:
        refusal = reject_fact(door, fact_id, why)
    return {"fact_id": fact_id, "verdict": "rejected", "refusal_id": refusal, "seq": door.seq}


@router.get("/review/candidates")
def list_candidates(
    kb_id: UUID, who: Reader, as_of: str | None = None, limit: int = 50, cursor: str | None = None
) -> dict[str, Any]:
    """Pairs of entities that look alike and that nothing decides, the likeliest first, with what speaks for either."""
    with who.read() as conn:
        return pairs.list_doubts(conn, kb_id, who.moment(conn, as_of=as_of), limit=limit, cursor=cursor)


@router.post("/review/candidates/{candidate_id}/same")
def they_are_one(kb_id: UUID, candidate_id: UUID, who: Editor, body: Why | None = None) -> dict[str, Any]:
    """A person says that they are one: they are merged, which can be taken back like any merge."""
    why = why_of(body)
    with who.act("entities merged", why) as door:
        merge_id = pairs.same(door, candidate_id, why)
    return {"candidate_id": candidate_id, "verdict": "same", "merge_id": merge_id, "seq": door.seq}


@router.post("/review/candidates/{candidate_id}/not-same")
def they_are_two(kb_id: UUID, candidate_id: UUID, who: Editor, body: Why | None = None) -> dict[str, Any]:
    """A person says that they are two: no document will make them one."""
    why = why_of(body)
    with who.act("entities told apart", why) as door:
        distinction_id = pairs.not_same(door, candidate_id, why)
    return {"candidate_id": candidate_id, "verdict": "not same", "distinction_id": distinction_id, "seq": door.seq}


@router.get("/distinctions")
def list_distinctions(kb_id: UUID, who: Reader, as_of: str | None = None) -> dict[str, Any]:
    """What people said are two things, newest first."""
    with who.read() as conn:
        return pairs.list_distinctions(conn, kb_id, who.moment(conn, as_of=as_of))


@router.post("/distinctions", status_code=201)
def tell_apart(kb_id: UUID, body: Two, who: Editor) -> dict[str, Any]:
    """Two entities are two things, whatever looks alike; nobody needs to have doubted it."""
    with who.act("entities told apart", body.why) as door:
        distinction_id = pairs.distinguish(door, body.one, body.other, body.why)
    return {"distinction_id": distinction_id, "seq": door.seq}


@router.post("/distinctions/{distinction_id}/revert")
def not_apart_any_more(kb_id: UUID, distinction_id: UUID, who: Editor, body: Why | None = None) -> dict[str, Any]:
    """Two entities may be one again, if documents say so."""
    with who.act("distinction reverted", why_of(body)) as door:
        pairs.take_back(door, distinction_id)
    return {"distinction_id": distinction_id, "verdict": "taken back", "seq": door.seq}
