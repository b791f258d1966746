"""Bases and their ontology."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.concurrency import run_in_threadpool

from api.deps import AnyCaller, Editor, Member, Reader, StrictRoute
from api.rest.bodies import Body
from substrate import access, bases
from substrate.db import NO_BASE
from substrate.errors import Forbidden, InvalidInput
from substrate.ontology.store import declare, load_ontology
from substrate.ontology.terms import parse_ontology
from substrate.reads.moments import envelope, head, rfc3339

router = APIRouter(route_class=StrictRoute, tags=["bases"])


class NewBase(Body):
    """A base to make."""

    slug: str
    name: str = Field(min_length=1)
    ontology: str | None = None
    """YAML."""


@router.get("/kbs")
def list_bases(who: AnyCaller) -> dict[str, Any]:
    """The bases this token sees."""
    with who.db.read(NO_BASE) as conn:
        found = access.visible_bases(conn, who.principal)
    return {"kbs": [{**base, "created_at": rfc3339(base["created_at"])} for base in found]}  # type: ignore[arg-type]


@router.post("/kbs", status_code=201)
def create_base(body: NewBase, who: AnyCaller) -> dict[str, Any]:
    """Make a base; whoever makes it owns it. A token narrowed to some bases cannot make another."""
    if who.principal.scope != "write" or who.principal.kb_ids is not None:
        raise Forbidden("this needs a token with the write scope that is not narrowed to some bases")
    with who.db.write(NO_BASE) as conn:
        kb_id = bases.create_base(conn, body.slug, body.name, ontology_yaml=body.ontology, actor=who.actor, via="rest")
        access.set_member(conn, kb_id, who.principal.person_id, "owner")
    return {"id": kb_id, "slug": body.slug, "name": body.name}


@router.get("/kbs/{kb_id}")
def get_base(kb_id: UUID, who: Reader) -> dict[str, Any]:
    """One base, its head, and what this token may do in it."""
    with who.read() as conn:
        base = bases.base_by_id(conn, kb_id)
        at_head = envelope(head(conn, kb_id))
    return {
        "id": base.id,
        "slug": base.slug,
        "name": base.name,
        "created_at": rfc3339(base.created_at),
        "role": who.role,
        "may_write": who.may_write,
        **at_head,
    }


@router.get("/kbs/{kb_id}/ontology")
def get_ontology(kb_id: UUID, who: Reader) -> dict[str, Any]:
    """What the base declares now."""
    with who.read() as conn:
        return load_ontology(conn, kb_id).model_dump(mode="json")


@router.put("/kbs/{kb_id}/ontology")
async def put_ontology(kb_id: UUID, request: Request, who: Editor) -> dict[str, Any]:
    """Declare the ontology: the body is the YAML file. Terms that would come out the same are left alone."""
    try:
        text = (await request.body()).decode()
    except UnicodeDecodeError:
        raise InvalidInput("ontology: must be UTF-8 text", field="ontology") from None
    return await run_in_threadpool(_declare, who, text)


def _declare(who: Member, text: str) -> dict[str, Any]:
    ontology = parse_ontology(text)
    with who.act("ontology declared") as door:
        declare(door, ontology)
    return {"classes": len(ontology.classes), "relations": len(ontology.relations)}
