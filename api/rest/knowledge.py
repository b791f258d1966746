"""Reading what a base holds: the same answers that the MCP tools give."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query

from api.deps import Reader, StrictRoute
from api.searching import find, gather
from api.searching import search as search_as_served
from api.served import log_facts
from substrate import reads

router = APIRouter(route_class=StrictRoute, prefix="/kbs/{kb_id}", tags=["knowledge"])


@router.get("/entities")
def find_entities(
    kb_id: UUID,
    who: Reader,
    name: str,
    as_of: str | None = None,
    before: str | None = None,
    limit: Annotated[int, Query(ge=1, le=50)] = 8,
) -> dict[str, Any]:
    """Entities by whole or partial name."""
    return find(who, name, limit, as_of=as_of, before=before)


@router.get("/entities/{entity}/facts")
def entity_facts(
    kb_id: UUID,
    entity: str,
    who: Reader,
    at: str | None = None,
    as_of: str | None = None,
    before: str | None = None,
    predicate: str | None = None,
    object_type: str | None = None,
    since: str | None = None,
    until: str | None = None,
    limit: int = 80,
    cursor: str | None = None,
) -> dict[str, Any]:
    """One entity's facts, by its id or name."""
    with who.read() as conn:
        moment = who.moment(conn, at=at, as_of=as_of, before=before)
        answer = reads.entity_facts(
            conn,
            kb_id,
            entity,
            moment,
            predicate=predicate,
            object_type=object_type,
            since=since,
            until=until,
            limit=limit,
            cursor=cursor,
        )
        given: dict[str, Any] = {"entity_id": entity, "at": at, "as_of": as_of, "before": before, "limit": limit}
        given |= {"predicate": predicate, "object_type": object_type, "since": since, "until": until}
        answer = reads.with_hints(conn, kb_id, moment, "entity_facts", given, answer)
    return log_facts(who, "entity_facts", {**answer, "before": before})


@router.get("/entities/{entity}/timeline")
def timeline(
    kb_id: UUID,
    entity: str,
    who: Reader,
    as_of: str | None = None,
    before: str | None = None,
    predicate: str | None = None,
    since: str | None = None,
    until: str | None = None,
    limit: int = 60,
    cursor: str | None = None,
) -> dict[str, Any]:
    """One entity's dated facts in world order."""
    with who.read() as conn:
        moment = who.moment(conn, as_of=as_of, before=before)
        answer = reads.timeline(
            conn,
            kb_id,
            entity,
            moment,
            predicate=predicate,
            since=since,
            until=until,
            limit=limit,
            cursor=cursor,
        )
        given: dict[str, Any] = {"entity": entity, "as_of": as_of, "before": before, "predicate": predicate}
        given |= {"since": since, "until": until, "limit": limit}
        answer = reads.with_hints(conn, kb_id, moment, "timeline", given, answer)
    return log_facts(who, "timeline", answer)


@router.get("/changes")
def changes(
    kb_id: UUID,
    who: Reader,
    since: str,
    until: str | None = None,
    entity: str | None = None,
    kinds: Annotated[list[str] | None, Query()] = None,
    as_of: str | None = None,
    limit: int = 40,
    cursor: str | None = None,
) -> dict[str, Any]:
    """What the record learned or revised in a window of record time."""
    with who.read() as conn:
        moment = who.moment(conn, as_of=as_of)
        answer = reads.changes(conn, kb_id, since, until, entity, kinds, limit, cursor, as_of=moment)
        given = {"since": since, "until": until, "entity_id": entity, "kinds": kinds, "as_of": as_of, "limit": limit}
        answer = reads.with_hints(conn, kb_id, moment, "changes", given, answer)
    return log_facts(who, "changes", answer)


@router.get("/neighbors")
def neighbors(
    kb_id: UUID,
    who: Reader,
    entity: str,
    predicate: str | None = None,
    object_type: str | None = None,
    at: str | None = None,
    as_of: str | None = None,
    before: str | None = None,
    limit: int = 40,
    cursor: str | None = None,
) -> dict[str, Any]:
    """The entities that facts join to one entity, one hop away, by relation."""
    given = {"entity": entity, "predicate": predicate, "object_type": object_type, "at": at, "as_of": as_of}
    given |= {"before": before}
    with who.read() as conn:
        moment = who.moment(conn, at=at, as_of=as_of, before=before)
        answer = reads.neighbors(
            conn, kb_id, entity, moment, predicate=predicate, object_type=object_type, limit=limit, cursor=cursor
        )
        answer = reads.with_hints(conn, kb_id, moment, "neighbors", {**given, "limit": limit}, answer)
    return log_facts(who, "neighbors", answer)


@router.get("/paths")
def paths(
    kb_id: UUID,
    who: Reader,
    start: Annotated[str, Query(alias="from")],
    to: str,
    max_hops: int = 3,
    at: str | None = None,
    as_of: str | None = None,
    before: str | None = None,
) -> dict[str, Any]:
    """The chains of facts that join two entities, up to three hops, shortest first."""
    given = {"from": start, "to": to, "max_hops": max_hops, "at": at, "as_of": as_of, "before": before}
    with who.read() as conn:
        moment = who.moment(conn, at=at, as_of=as_of, before=before)
        answer = reads.paths_between(conn, kb_id, start, to, moment, max_hops=max_hops)
        answer = reads.with_hints(conn, kb_id, moment, "paths_between", given, answer)
    return log_facts(who, "paths_between", answer)


@router.get("/facts/{fact_id}/explanation")
def explain_fact(
    kb_id: UUID, fact_id: UUID, who: Reader, as_of: str | None = None, before: str | None = None
) -> dict[str, Any]:
    """One fact with its evidence, its history on the record, what speaks against it, and its place in the chain."""
    with who.read() as conn:
        moment = who.moment(conn, as_of=as_of, before=before)
        answer = reads.explain_fact(conn, kb_id, fact_id, moment, checkpoints=who.settings.checkpoints_dir)
        answer = reads.with_hints(conn, kb_id, moment, "explain_fact", {"fact_id": str(fact_id)}, answer)
    return log_facts(who, "explain_fact", answer)


@router.get("/rules")
def list_rules(kb_id: UUID, who: Reader, as_of: str | None = None) -> dict[str, Any]:
    """What relations and classes are declared to be, and what follows from it."""
    with who.read() as conn:
        return reads.list_rules(conn, kb_id, who.moment(conn, as_of=as_of))


@router.get("/manual")
def search_manual(kb_id: UUID, who: Reader, query: str) -> dict[str, Any]:
    """The product's own manual; never a document of a user."""
    return {"kb_id": str(kb_id), **reads.search_manual(query)}


@router.get("/search")
def search(
    kb_id: UUID,
    who: Reader,
    query: str,
    as_of: str | None = None,
    limit: Annotated[int, Query(ge=1, le=50)] = 6,
    namespace: str | None = None,
    document_id: Annotated[list[str] | None, Query()] = None,
    source: Annotated[list[str] | None, Query()] = None,
    type: Annotated[list[str] | None, Query()] = None,
    entity: str | None = None,
    since: str | None = None,
    until: str | None = None,
    phrase: Annotated[list[str] | None, Query()] = None,
    without: Annotated[list[str] | None, Query()] = None,
    title: Annotated[list[str] | None, Query()] = None,
    operators: bool = False,
    min_score: float | None = None,
    explain: bool = False,
) -> dict[str, Any]:
    """The best passages for a question, among those that every filter leaves.

    ``source`` is a name or an id, ``type`` a kind (``file``, ``memory``) or a media type, ``entity`` a name or an id;
    ``since`` and ``until`` are of the document's own date, and ``until`` names its last moment. Each ``phrase`` must
    stand word after word, no ``without`` may, each ``title`` must in the file name, title, author or a heading. With
    ``operators`` the query itself may hold ``"a phrase"``, ``-word``, ``title:``, ``type:``, ``source:`` and
    ``namespace:``; without, no character of it means anything. Passages that are
    less likely than ``min_score`` (0 to 1) to answer are not shown, which may leave none. ``explain`` tells each hit's
    rank and score per arm.
    """
    from substrate.retrieval.filters import Narrowing

    filters = (namespace, document_id or (), source or (), type or (), entity, since, until)
    narrowing = Narrowing(*filters, phrase or (), without or (), title or ())
    answer = search_as_served(
        who, query, as_of, limit, narrowing, operators=operators, min_score=min_score, explain=explain
    )
    return log_facts(who, "search_chunks", answer)


@router.get("/context")
def context(
    kb_id: UUID,
    who: Reader,
    question: str,
    budget_tokens: int = 1500,
    at: str | None = None,
    as_of: str | None = None,
    before: str | None = None,
) -> dict[str, Any]:
    """Facts and passages for a question, packed under a budget of tokens."""
    answer = gather(who, question, budget_tokens, at=at, as_of=as_of, before=before)
    return log_facts(who, "context", answer)
