"""A person's own tokens: listed, made and revoked by the person who signed in, never by a token."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal
from uuid import UUID

from fastapi import APIRouter
from pydantic import Field

from api.deps import SignedIn, StrictRoute
from api.rest.bodies import Body
from substrate import access
from substrate.access.tokens import DEFAULT_DAYS
from substrate.db import NO_BASE
from substrate.errors import NotFound

router = APIRouter(prefix="/tokens", route_class=StrictRoute, tags=["access"])


class NewToken(Body):
    """A token for one of a person's clients. The scope is a ceiling: it never can more than its owner."""

    name: str = Field(min_length=1, max_length=200)
    scope: Literal["read", "write"] = "read"
    kb_ids: list[UUID] | None = Field(default=None, min_length=1, max_length=1000)
    """Left out: every base that its owner sees, also later."""
    days: int = DEFAULT_DAYS


@router.get("")
def list_tokens(who: SignedIn) -> dict[str, Any]:
    """One's own tokens and sessions, newest first; what could be presented is shown once, when it is made."""
    with who.db.read(NO_BASE) as conn:
        return {"tokens": [told(token) for token in access.list_tokens(conn, who.principal.person_id)]}


@router.post("", status_code=201)
def make_token(body: NewToken, who: SignedIn) -> dict[str, Any]:
    """A new token, shown this once."""
    with who.db.write(NO_BASE) as conn:
        seen = {base["id"] for base in access.visible_bases(conn, who.principal)}
        if not seen.issuperset(body.kb_ids or ()):
            raise NotFound("no such knowledge base", field="kb_ids")
        made = access.issue_token(
            conn, who.principal.person_id, body.name, scope=body.scope, kb_ids=body.kb_ids, days=body.days
        )
    return {
        "id": made.id,
        "token": made.secret,
        "scope": body.scope,
        "kb_ids": body.kb_ids,
        "expires_at": made.expires_at,
    }


@router.delete("/{token_id}")
def revoke_token(token_id: UUID, who: SignedIn) -> dict[str, Any]:
    """Refuse one's own token from the next call on; revoking twice is no error."""
    with who.db.write(NO_BASE) as conn:
        access.revoke_token(conn, token_id, who.principal.person_id)
    return {"id": token_id, "revoked": True}


def told(token: Mapping[str, Any]) -> dict[str, Any]:
    """A token as a list shows it."""
    shown = ("id", "name", "prefix", "kind", "scope", "kb_ids", "created_at", "expires_at", "last_used_at")
    state = "revoked" if token["revoked_at"] else "expired" if token["expired"] else "live"
    return {name: token[name] for name in shown} | {"state": state}
