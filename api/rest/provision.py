"""One call to a narrow token: what an agent asks that nobody gave one, for bases that are public."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request
from pydantic import Field

from api.challenge import origin
from api.deps import AnyCaller, StrictRoute
from api.rest.bodies import Body
from substrate import access
from substrate.db import NO_BASE
from substrate.errors import NotFound

router = APIRouter(route_class=StrictRoute, tags=["access"])
DAYS = 7
"""How long such a token lives."""


class Wanted(Body):
    """Which agent asks, in its own words, and for which public bases; left out: every one, also later."""

    name: str = Field(min_length=1, max_length=100)
    kb_ids: list[UUID] | None = Field(default=None, min_length=1, max_length=100)


@router.post("/provision", status_code=201)
def provision(body: Wanted, who: AnyCaller, request: Request) -> dict[str, Any]:
    """A token that reads public bases for a week, and where to use it. A base that is public no more stops at once."""
    request.app.state.limits.provisions(request.client.host if request.client else None)
    with who.db.write(NO_BASE) as conn:
        public = access.visible_bases(conn, access.ANYBODY)
        if not {base["id"] for base in public}.issuperset(body.kb_ids or ()) or not public:
            raise NotFound("no such public knowledge base", field="kb_ids")
        made = access.issue_token(conn, access.PUBLIC, body.name, kb_ids=body.kb_ids, days=DAYS, kind="agent")
    place = origin(request.scope, who.settings) or ""
    return _told(made.secret, made.expires_at, place, [b for b in public if b["id"] in (body.kb_ids or {b["id"]})])


def _told(secret: str, until: datetime, place: str, bases: list[dict[str, Any]]) -> dict[str, Any]:
    listed = [
        {"id": b["id"], "slug": b["slug"], "name": b["name"], "mcp_url": f"{place}/api/v1/kbs/{b['id']}/mcp"}
        for b in bases
    ]
    return {"token": secret, "scope": "read", "expires_at": until, "kbs": listed}
