"""The gate before every route under /api: who asks, and does the base exist for them?

It stands before routing and before any body is read, so that no route can be reached, and no body parsed, without a
valid token, whatever a later route forgets. It bounds how often one may call, and every body: by the length announced,
and in size and time while it comes in. A caller that leaves before the answer is put on record, and its call ends.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from uuid import UUID

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import State
from starlette.types import ASGIApp, Receive, Scope, Send

from api.challenge import challenged
from api.errors import problem, too_large
from api.limits import Limits
from api.line import Line
from api.showing import shown
from substrate import access, calls
from substrate.access import Principal, Role
from substrate.calls import Call
from substrate.db import Database
from substrate.errors import Forbidden, NotFound, TwoclocksError, Unauthenticated

OPEN = frozenset({"/api/v1/health"})
MOST_BODY = 1024 * 1024
"""Bytes of a request's body, where its route is in none of the classes below."""
MOST_ONTOLOGY = 2 * 1024 * 1024
MOST_CALL = 4 * 1024 * 1024
"""A call over MCP."""
MOST_DOCUMENTS = 40 * 1024 * 1024
"""A pushed batch: one document of the largest size, as base64 and with its JSON around it."""
MOST_FILE = 8 * 1024 * 1024
"""A file of an ontology that is to be planned: as large as its readers take."""
_MOST = {
    ("POST", "documents"): MOST_DOCUMENTS,
    ("PUT", "ontology"): MOST_ONTOLOGY,
    ("POST", "ontology/plans"): MOST_FILE,
    ("POST", "mcp"): MOST_CALL,
}
UNSIGNED = frozenset({"/api/v1/provision", "/api/v1/signin", "/api/v1/signin/callback"})
"""Where whoever calls is nobody yet: counted by address like everyone without a token."""
_PUSHES = frozenset({("POST", "documents"), ("POST", "statements")})
_BASE = re.compile(r"^/api/v1/kbs/([^/]+)(?:/|$)")


@dataclass(frozen=True, slots=True)
class Admission:
    """Who asks and, on a path of a base, which base and under which role."""

    principal: Principal
    kb_id: UUID | None = None
    role: Role | None = None
    pushes: bool = False
    """The call is one that a service's token may make."""

    @property
    def may_write(self) -> bool:
        may = access.may_push if self.pushes else access.may_write
        return self.role is not None and may(self.principal, self.role)


class Gate:
    """ASGI middleware; puts an `Admission` into ``scope["state"]["admission"]``."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if scope["type"] != "http" or not path.startswith("/api/") or path in OPEN:
            await self.app(scope, receive, send)
            return
        state = scope["app"].state
        try:
            admission = await run_in_threadpool(_admit, state, scope, path)
        except TwoclocksError as error:
            await challenged(problem(error), scope, state.settings)(scope, receive, send)
            return
        state.access_log.used(admission.principal)
        most = most_body(scope["method"], path)
        if (announced := _announced(scope)) is not None and announced > most:
            await too_large(most)(scope, receive, send)
            return
        scope.setdefault("state", {})["admission"] = admission
        line = Line(scope, receive, most, state.settings.slow_request_s)
        call = Call(f"{scope['method']} {path}")
        try:
            with calls.serving(call):
                async with line.ending(call):
                    await self.app(scope, line.receive, send)
        finally:
            if call.ended:
                await run_in_threadpool(_left, state, admission, call, path)


def _admit(state: State, scope: Scope, path: str) -> Admission:
    """`admit`, within what the token is allowed, or the address where there is no valid one."""
    limits: Limits = state.limits
    presented = None
    try:
        if path not in UNSIGNED:
            presented = shown(scope, state.settings)
        admission = admit(state.database, presented, path, scope["method"])
    except Unauthenticated:
        limits.address_calls(_address(scope))
        raise
    except (NotFound, Forbidden):
        _count(limits, scope, presented)
        raise
    _count(limits, scope, presented)
    return admission


def _count(limits: Limits, scope: Scope, presented: str | None) -> None:
    if presented is None:
        limits.address_calls(_address(scope))
    else:
        limits.token_calls(presented)


def _left(state: State, admission: Admission, call: Call, path: str) -> None:
    """The record keeps that somebody asked and left: nothing was handed out, and nothing was written."""
    if admission.kb_id is not None:
        via = "mcp" if path.endswith("/mcp") else "rest"
        state.access_log.served(admission.principal, admission.kb_id, via=via, action=f"left before: {call.what}")


def _address(scope: Scope) -> str | None:
    client = scope.get("client")
    return client[0] if client else None


def most_body(method: str, path: str) -> int:
    """Bytes that the body of a request may have, by the class of its route."""
    match = _BASE.match(path)
    tail = path[match.end() :] if match else ""
    return _MOST.get((method, tail), MOST_BODY)


def _announced(scope: Scope) -> int | None:
    found = [value for name, value in scope["headers"] if name == b"content-length"]
    return int(found[0]) if found and found[0].isdigit() else None


def admit(db: Database, presented: str | None, path: str, method: str = "GET") -> Admission:
    """Judge token and path. Raises `Unauthenticated`, `Forbidden` for a service's token that does not push, and
    `NotFound` for a base the token cannot see."""
    if presented is None and path in UNSIGNED:
        return Admission(access.ANYBODY)
    match = _BASE.match(path)
    pushes = match is not None and (method, path[match.end() :]) in _PUSHES
    with db.ask() as conn:
        if match is None:
            if presented is None:
                raise Unauthenticated
            return _of_a_person(Admission(access.authenticate(conn, presented)))
        kb_id = _uuid(match[1])
        if presented is None:
            if kb_id is None or not _reads(method, path[match.end() :]):
                raise Unauthenticated
            principal, role = access.admit_anybody(conn, kb_id)
            return Admission(principal, kb_id, role)
        if kb_id is None:
            access.authenticate(conn, presented)  # who has no token learns nothing about paths
            raise NotFound("no such knowledge base", field="kb_id")
        principal, role = access.admit(conn, presented, kb_id)
        return _of_a_person(Admission(principal, kb_id, role, pushes))


def _of_a_person(admission: Admission) -> Admission:
    """What a service's token may not do is refused here, whatever the route."""
    if admission.principal.kind == "service" and not admission.pushes:
        raise Forbidden("a service's token pushes documents and statements to its bases, and does nothing else")
    return admission


def _reads(method: str, tail: str) -> bool:
    """May somebody without a token make such a call in a public base? Who is to write shall show who they are."""
    return method in ("GET", "HEAD") or (method, tail) == ("POST", "mcp")


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
