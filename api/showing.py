"""What a caller shows of who they are: a token in the Authorization header, or a browser's session in its cookie.

A session is good in a cookie alone and every other token in the header alone. A browser sends its cookie with whatever
page makes it call, so that a call which changes something must come from a page of ours: browsers name the page's
origin with each such call, and one that names none is refused.
"""

from __future__ import annotations

from http.cookies import CookieError, SimpleCookie

from starlette.types import Scope

from api.challenge import origin
from substrate.access.token_shape import kind_of
from substrate.errors import Forbidden
from substrate.settings import Settings

COOKIE = "twoclocks_session"
SIGNIN_COOKIE = "twoclocks_signin"
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


def shown(scope: Scope, settings: Settings) -> str | None:
    """The token that counts; None where none was shown, and "" for one that is shown in the wrong place.

    Raises `Forbidden` for a session that another site's page sends along with something that changes. A token in a
    query string would end up in logs and is never read.
    """
    authorization = header(scope, b"authorization")
    if authorization is not None:
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer":
            return None
        return "" if kind_of(token.strip()) == "session" else token.strip()
    session = cookie(scope, COOKIE)
    if session is None:
        return None
    if kind_of(session) != "session":
        return ""
    if scope["method"] not in SAFE:
        _must_be_ours(scope, settings)
    return session


def cookie(scope: Scope, name: str) -> str | None:
    """A cookie's value; None where there is none of the name."""
    try:
        found = SimpleCookie(header(scope, b"cookie") or "").get(name)
    except CookieError:
        return None
    return found.value if found is not None else None


def header(scope: Scope, wanted: bytes) -> str | None:
    """The first header of the name."""
    return next((value.decode("latin-1") for name, value in scope["headers"] if name == wanted), None)


def _must_be_ours(scope: Scope, settings: Settings) -> None:
    came_from, ours = header(scope, b"origin"), origin(scope, settings)
    if came_from is None or ours is None or came_from.rstrip("/").lower() != ours.lower():
        raise Forbidden("a session in a cookie changes something from a page of ours alone", field="Origin")
