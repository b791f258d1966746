"""To whom a base is open besides its members, and the tokens of sources that push to it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from fastapi import APIRouter
from pydantic import Field

from api.deps import Manager, StrictRoute
from api.rest.bodies import Body
from api.rest.tokens import told
from substrate import access
from substrate.access import Openness, OpenTo
from substrate.access.tokens import DEFAULT_DAYS

router = APIRouter(prefix="/kbs/{kb_id}", route_class=StrictRoute, tags=["access"])


class NewOpenness(Body):
    """To whom the base shall be open. Opening it to a workspace needs somebody who is in that workspace."""

    open_to: OpenTo
    public_read: bool = False
    workspace: str | None = None


class NewService(Body):
    """A source that pushes documents and statements, and reads nothing."""

    name: str = Field(min_length=1, max_length=200)
    days: int = DEFAULT_DAYS


@router.get("/access")
def get_access(kb_id: UUID, who: Manager) -> dict[str, Any]:
    """To whom the base is open."""
    with who.read() as conn:
        return _told(access.openness(conn, kb_id))


@router.put("/access")
def put_access(kb_id: UUID, body: NewOpenness, who: Manager) -> dict[str, Any]:
    """Open the base to a workspace, its organisation or the public, or close it; in force with the next call."""
    wanted = Openness(body.open_to, body.public_read, body.workspace)
    with who.write() as conn:
        access.must_be_in_workspace(conn, kb_id, wanted, who.principal.person_id)
        access.set_openness(conn, kb_id, wanted)
    return _told(wanted)


@router.get("/service-tokens")
def list_service_tokens(kb_id: UUID, who: Manager) -> dict[str, Any]:
    """Tokens that push to this base, newest first, whoever made them."""
    with who.read() as conn:
        return {"tokens": [told(token) for token in access.list_service_tokens(conn, kb_id)]}


@router.post("/service-tokens", status_code=201)
def make_service_token(kb_id: UUID, body: NewService, who: Manager) -> dict[str, Any]:
    """A token that pushes to this base alone, shown this once. It stops when whoever made it is an editor no more."""
    with who.write() as conn:
        made = access.issue_token(
            conn, who.principal.person_id, body.name, scope="push", kb_ids=[kb_id], days=body.days
        )
    return {"id": made.id, "token": made.secret, "scope": "push", "kb_ids": [kb_id], "expires_at": made.expires_at}


@router.delete("/service-tokens/{token_id}")
def revoke_service_token(kb_id: UUID, token_id: UUID, who: Manager) -> dict[str, Any]:
    """Refuse a token that pushes to this base alone from the next call on."""
    with who.write() as conn:
        access.revoke_service_token(conn, kb_id, token_id)
    return {"id": token_id, "revoked": True}


def _told(openness: Openness) -> dict[str, Any]:
    return {"open_to": openness.open_to, "public_read": openness.public_read, "workspace": openness.workspace}
