"""The state of a base at a point of both clocks, its history, and what changed between two points."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from fastapi import APIRouter

from api.deps import Member, Reader, StrictRoute
from api.served import log_facts
from substrate import reads

router = APIRouter(route_class=StrictRoute, prefix="/kbs/{kb_id}", tags=["history"])


@router.get("/snapshot")
def snapshot(
    kb_id: UUID,
    who: Reader,
    at: str | None = None,
    as_of: str | None = None,
    before: str | None = None,
    limit: int = 200,
    cursor: str | None = None,
) -> dict[str, Any]:
    """Every row the base held, page by page."""
    return _snapshot(who, None, at, as_of, before, limit, cursor)


@router.get("/entities/{entity}/snapshot")
def entity_snapshot(
    kb_id: UUID,
    entity: str,
    who: Reader,
    at: str | None = None,
    as_of: str | None = None,
    before: str | None = None,
    limit: int = 200,
    cursor: str | None = None,
) -> dict[str, Any]:
    """Every row held about one entity, by its id or name."""
    return _snapshot(who, entity, at, as_of, before, limit, cursor)


def _snapshot(
    who: Member,
    entity: str | None,
    at: str | None,
    as_of: str | None,
    before: str | None,
    limit: int,
    cursor: str | None,
) -> dict[str, Any]:
    with who.read() as conn:
        moment = who.moment(conn, at=at, as_of=as_of, before=before)
        answer = reads.snapshot(conn, who.kb_id, moment, entity, limit=limit, cursor=cursor)
    return log_facts(who, "snapshot", answer)


@router.get("/entities/{entity}/history")
def entity_history(
    kb_id: UUID,
    entity: str,
    who: Reader,
    at: str | None = None,
    as_of: str | None = None,
    before: str | None = None,
    limit: int = 200,
    cursor: str | None = None,
) -> dict[str, Any]:
    """Every row ever written about one entity, with who wrote and who closed it, and why."""
    with who.read() as conn:
        moment = who.moment(conn, at=at, as_of=as_of, before=before)
        answer = reads.entity_history(conn, kb_id, moment, entity, limit=limit, cursor=cursor)
    return log_facts(who, "history", answer)


@router.get("/facts/{fact_id}/history")
def fact_history(
    kb_id: UUID,
    fact_id: UUID,
    who: Reader,
    as_of: str | None = None,
    before: str | None = None,
    limit: int = 200,
    cursor: str | None = None,
) -> dict[str, Any]:
    """The rows of one fact and what it rested on, with who wrote and who closed each, and why."""
    with who.read() as conn:
        moment = who.moment(conn, as_of=as_of, before=before)
        answer = reads.fact_history(conn, kb_id, moment, fact_id, limit=limit, cursor=cursor)
    return log_facts(who, "history", answer)


@router.get("/diff")
def diff(
    kb_id: UUID,
    who: Reader,
    from_as_of: str | None = None,
    to_as_of: str | None = None,
    at: str | None = None,
    from_at: str | None = None,
    to_at: str | None = None,
    as_of: str | None = None,
    entity: str | None = None,
    limit: int = 200,
    cursor: str | None = None,
) -> dict[str, Any]:
    """What changed on the record (`from_as_of`, `to_as_of`, `at`) or in the world (`from_at`, `to_at`, `as_of`)."""
    with who.read() as conn:
        answer = reads.diff_between(
            conn,
            kb_id,
            from_as_of=from_as_of,
            to_as_of=to_as_of,
            at=at,
            from_at=from_at,
            to_at=to_at,
            as_of=as_of,
            entity=entity,
            limit=limit,
            cursor=cursor,
        )
    return log_facts(who, "diff", answer)
