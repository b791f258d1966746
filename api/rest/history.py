"""The state of a base at a point of both clocks, its history, and what changed between two points."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from fastapi import APIRouter

from api.deps import Member, Reader, StrictRoute
from api.served import log_facts
from substrate import reads
from substrate.errors import InvalidInput

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
    page: dict[str, Any] = {"limit": limit, "cursor": cursor}
    _one_clock({"to_as_of": to_as_of, "at": at}, {"to_at": to_at, "as_of": as_of}, from_as_of, from_at)
    with who.read() as conn:
        if from_as_of is not None:
            earlier, later = who.moment(conn, as_of=from_as_of), who.moment(conn, at=at, as_of=to_as_of)
            answer = reads.record_diff(conn, kb_id, earlier, later, entity, **page)
        else:
            assert from_at is not None  # noqa: S101 - one of the two is given
            if to_at is None:
                raise InvalidInput("to_at: is required beside from_at", field="to_at")
            answer = reads.world_diff(conn, kb_id, from_at, to_at, who.moment(conn, as_of=as_of), entity, **page)
    return log_facts(who, "diff", answer)


def _one_clock(
    record: dict[str, str | None], world: dict[str, str | None], from_as_of: str | None, from_at: str | None
) -> None:
    """Raises `InvalidInput` unless the two points are points of one clock."""
    if (from_as_of is None) == (from_at is None):
        raise InvalidInput("from_as_of: give either from_as_of (record) or from_at (world)", field="from_as_of")
    clock, other = ("from_as_of", world) if from_as_of is not None else ("from_at", record)
    if strange := [name for name, value in other.items() if value is not None]:
        raise InvalidInput(f"{strange[0]}: does not go with {clock}", field=strange[0])
