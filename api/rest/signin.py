"""People sign in at an identity provider and out again; a session is a token that lives in a cookie alone."""

from __future__ import annotations

import secrets
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from api.challenge import origin
from api.deps import AnyCaller, SignedIn, StrictRoute
from api.oidc import Provider
from api.showing import COOKIE, SIGNIN_COOKIE, cookie
from substrate import access
from substrate.access import signin
from substrate.db import NO_BASE
from substrate.errors import Forbidden, InvalidInput

router = APIRouter(route_class=StrictRoute, tags=["access"])
callback = APIRouter()
"""Providers come back with parameters of their own, which are left alone."""
DAYS = 1
"""How long a session lives."""
_CALLBACK = "/api/v1/signin/callback"
_SIGNIN = "/api/v1/signin"


@router.get("/signin")
def begin(request: Request, who: AnyCaller, next: str = "/") -> Response:
    """Go to the provider; a page of ours, ``next``, comes after it."""
    if not next.startswith("/") or next[1:2] in ("/", "\\") or any(c <= " " for c in next):
        raise InvalidInput("next: a path of ours, which begins with one slash", field="next")
    address, state, begun = _provider(request).ask(next)
    browser = secrets.token_urlsafe(32)
    with who.db.write(NO_BASE) as conn:
        signin.begin(conn, state, browser, begun)
    answer = RedirectResponse(address, 302)
    _set(answer, request, SIGNIN_COOKIE, browser, signin.MINUTES * 60, _SIGNIN)
    return answer


@callback.get("/signin/callback")
def come_back(request: Request, who: AnyCaller) -> Response:
    """The provider sends the person here with a code, or says why it does not."""
    given = request.query_params
    provider = _provider(request)
    with who.db.write(NO_BASE) as conn:
        begun = signin.take(conn, given.get("state", ""), cookie(request.scope, SIGNIN_COOKIE) or "")
    if given.get("iss") not in (None, provider.issuer):
        raise Forbidden("another provider answered", field="iss")
    if "code" not in given:
        raise Forbidden("the provider did not let you in", field="error")
    identity = provider.answer(given["code"], begun)
    with who.db.write(NO_BASE) as conn:
        person_id = signin.person_of(conn, identity, who.settings.oidc_allowed_domains)
        made = access.issue_token(conn, person_id, "browser", scope="write", days=DAYS, kind="session")
    answer = RedirectResponse(begun.next, 303)
    _set(answer, request, COOKIE, made.secret, DAYS * 86_400, "/")
    answer.delete_cookie(SIGNIN_COOKIE, path=_SIGNIN)
    return answer


@router.post("/signout")
def sign_out(who: SignedIn) -> Response:
    """End this browser's session; the cookie is good for nothing from the next call on."""
    with who.db.write(NO_BASE) as conn:
        access.revoke_token(conn, who.principal.token_id, who.principal.person_id)
    answer = Response(status_code=204)
    answer.delete_cookie(COOKIE, path="/")
    return answer


@router.get("/me")
def me(who: AnyCaller) -> dict[str, Any]:
    """Who asks, as this server sees it."""
    p = who.principal
    return {"person_id": p.person_id, "name": p.person_name, "token": p.name, "kind": p.kind, "scope": p.scope}


router.include_router(callback)


def _provider(request: Request) -> Provider:
    place = origin(request.scope, request.app.state.settings)
    if place is None:
        raise InvalidInput("Host: no address of ours", field="Host")
    return Provider(request.app.state.settings, place + _CALLBACK)


def _set(answer: Response, request: Request, name: str, value: str, seconds: int, path: str) -> None:
    secure = (origin(request.scope, request.app.state.settings) or "").startswith("https:")
    answer.set_cookie(name, value, max_age=seconds, path=path, secure=secure, httponly=True, samesite="lax")
