"""Acts of people and their reverts: merges, types, batches of verdicts. Each revert is a row of its own."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from fastapi import APIRouter

from api.deps import Editor, Reader, StrictRoute
from api.rest.bodies import Body, Why, why_of
from substrate import reads
from substrate.ledger.merges import merge, revert_merge
from substrate.ledger.types import retype, revert_retype
from substrate.ledger.verdicts import decide, revert_batch

router = APIRouter(route_class=StrictRoute, prefix="/kbs/{kb_id}", tags=["undo"])


class Merge(Body):
    """Two entities that are one; `keep` gives the name."""

    keep: UUID
    absorb: UUID
    why: str = ""


class Type(Body):
    """The class a person gives an entity; null: none of those declared."""

    type_key: str | None
    why: str = ""


class Verdicts(Body):
    """Proposals to confirm and to reject, all or none."""

    confirm: tuple[UUID, ...] = ()
    reject: tuple[UUID, ...] = ()
    why: str = ""


@router.get("/merges")
def list_merges(
    kb_id: UUID, who: Reader, as_of: str | None = None, limit: int = 50, cursor: str | None = None
) -> dict[str, Any]:
    """Merges, newest first, reverted ones included."""
    with who.read() as conn:
        return reads.list_merges(conn, kb_id, who.moment(conn, as_of=as_of), limit=limit, cursor=cursor)


@router.post("/merges", status_code=201)
def merge_entities(kb_id: UUID, body: Merge, who: Editor) -> dict[str, Any]:
    """Two entities are one from now on; reads as of before still show two."""
    with who.act("entities merged", body.why) as door:
        merge_id = merge(door, body.keep, body.absorb, body.why)
    return {"merge_id": merge_id, "keep": body.keep, "absorb": body.absorb, "seq": door.seq}


@router.post("/merges/{merge_id}/revert")
def part_entities(kb_id: UUID, merge_id: UUID, who: Editor, body: Why | None = None) -> dict[str, Any]:
    """The two are told apart: what is held is what would be, had they never been merged."""
    why = why_of(body)
    with who.act("merge reverted", why) as door:
        revert_id = revert_merge(door, merge_id, why)
    return {"merge_id": merge_id, "revert_id": revert_id, "seq": door.seq}


@router.put("/entities/{entity_id}/type")
def give_type(kb_id: UUID, entity_id: UUID, body: Type, who: Editor) -> dict[str, Any]:
    """A person says of what class an entity is; no guess overrides that."""
    with who.act("entity retyped", body.why) as door:
        retyping_id = retype(door, entity_id, body.type_key, body.why)
    return {"entity_id": entity_id, "retyping_id": retyping_id, "type_key": body.type_key, "seq": door.seq}


@router.get("/retypings")
def list_retypings(
    kb_id: UUID,
    who: Reader,
    entity_id: UUID | None = None,
    as_of: str | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> dict[str, Any]:
    """What people said of types, newest first, reverted words included."""
    with who.read() as conn:
        moment = who.moment(conn, as_of=as_of)
        return reads.list_retypings(conn, kb_id, moment, entity_id=entity_id, limit=limit, cursor=cursor)


@router.post("/retypings/{retyping_id}/revert")
def take_type_back(kb_id: UUID, retyping_id: UUID, who: Editor, body: Why | None = None) -> dict[str, Any]:
    """The word before it counts again, or the guess there would be without any."""
    why = why_of(body)
    with who.act("retyping reverted", why) as door:
        revert_id = revert_retype(door, retyping_id, why)
    return {"retyping_id": retyping_id, "revert_id": revert_id, "seq": door.seq}


@router.get("/verdicts")
def list_verdicts(
    kb_id: UUID, who: Reader, as_of: str | None = None, limit: int = 50, cursor: str | None = None
) -> dict[str, Any]:
    """Batches of verdicts, newest first, reverted ones included."""
    with who.read() as conn:
        return reads.list_verdicts(conn, kb_id, who.moment(conn, as_of=as_of), limit=limit, cursor=cursor)


@router.post("/verdicts", status_code=201)
def give_verdicts(kb_id: UUID, body: Verdicts, who: Editor) -> dict[str, Any]:
    """Many proposals decided at once, all or none; ``errors`` of a refusal names those that cannot be."""
    who.must_not_judge(pending_ids={*body.confirm, *body.reject})
    with who.act("verdicts given", body.why) as door:
        done = decide(door, body.confirm, body.reject, body.why)
    return {
        "batch_id": done.batch_id,
        "confirmed": list(done.confirmed),
        "rejected": [{"pending_id": i, "refusal_id": r} for i, r in done.refusals.items()],
        "lineage_ids": list(done.lineages),
        "seq": door.seq,
    }


@router.post("/verdicts/{batch_id}/revert")
def take_verdicts_back(kb_id: UUID, batch_id: UUID, who: Editor, body: Why | None = None) -> dict[str, Any]:
    """Exactly that batch is taken back; its proposals wait again, each as a new one."""
    why = why_of(body)
    who.must_not_judge(batch_id=batch_id)
    with who.act("verdicts reverted", why) as door:
        done = revert_batch(door, batch_id, why)
    waiting = [{"was": was, "pending_id": now} for was, now in done.waiting.items()]
    return {"batch_id": batch_id, "revert_id": done.revert_id, "waiting": waiting, "seq": door.seq}
