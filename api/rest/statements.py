"""Statements that a program pushes ready made: typed, with their evidence, and no model in between."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from fastapi import APIRouter
from pydantic import Field

from api.deps import Editor, Reader, StrictRoute
from api.rest.bodies import Body
from substrate.errors import InvalidInput
from substrate.statements.intake import Push, Pushed, push_statements, withdraw
from substrate.statements.listing import list_pushes
from substrate.statements.shapes import MOST

router = APIRouter(route_class=StrictRoute, prefix="/kbs/{kb_id}/statements", tags=["statements"])


class Pushing(Body):
    """A document of statements, under the name that the sender gives it. Items are judged one by one."""

    external_id: str
    statements: list[dict[str, Any]] = Field(default=[], max_length=MOST)
    names: list[dict[str, Any]] = Field(default=[], max_length=MOST)
    doc_time: str | None = None
    title: str = ""
    namespace: str = ""
    mode: Literal["all", "each"] = "all"
    idempotency_key: str | None = None
    deleted: bool = False
    """The sender has it no more: what was pushed under the name is withdrawn."""
    why: str = Field(default="", max_length=2_000)


@router.post("")
def push(kb_id: UUID, body: Pushing, who: Editor) -> dict[str, Any]:
    """Take in statements; names are resolved and facts made by the pipeline, soon, under the rules of the ledger.

    With ``mode`` ``all`` one mistake refuses the push, and the answer names every field that is wrong; with ``each``
    what can be read is taken.
    """
    if body.deleted:
        return _withdrawn(kb_id, body, who)
    asked = body.model_dump(exclude={"deleted", "why"})
    done = push_statements(who.db, kb_id, Push(**asked), actor=who.actor, via="rest")
    return {
        "external_id": body.external_id,
        "document_id": done.document_id,
        "version_id": done.version_id,
        "action": done.action,
        "repeated": done.repeated,
        "seq": done.seq,
        "accepted": len(done.chunks),
        "refused": len(done.problems),
        "results": _results(body, done),
    }


def _results(body: Pushing, done: Pushed) -> list[dict[str, Any]]:
    """One for each item, in the order in which they came: statements, then names."""
    listed = [f"statements[{i}]" for i in range(len(body.statements))]
    listed += [f"names[{i}]" for i in range(len(body.names))]
    return [
        {"item": item, "status": "refused", "errors": done.problems[i]}
        if i in done.problems
        else {"item": item, "status": "accepted", "chunk_id": done.chunks.get(i)}
        for i, item in enumerate(listed)
    ]


def _withdrawn(kb_id: UUID, body: Pushing, who: Editor) -> dict[str, Any]:
    given = {name: getattr(body, name) for name in ("statements", "names", "doc_time", "idempotency_key")}
    if extra := next((name for name, value in given.items() if value), None):
        raise InvalidInput(f"{extra}: what is deleted states nothing", field=extra)
    done = withdraw(who.db, kb_id, body.external_id, actor=who.actor, via="rest", why=body.why)
    return {
        "external_id": body.external_id,
        "document_id": done.document_id,
        "action": "deleted" if done.seq is not None else "unchanged",
        "retracted_fact_ids": list(done.retracted),
        "weakened_fact_ids": list(done.weakened),
        "deletion_id": done.deletion_id,
        "seq": done.seq,
    }


@router.get("")
def list_statement_pushes(
    kb_id: UUID,
    who: Reader,
    external_id: str | None = None,
    as_of: str | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> dict[str, Any]:
    """Pushes, newest first: who sent which, and how much of it was taken."""
    with who.read() as conn:
        moment = who.moment(conn, as_of=as_of)
        return list_pushes(conn, kb_id, moment, external_id=external_id, limit=limit, cursor=cursor)
