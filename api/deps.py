"""What a route is given: the caller behind the gate, and connections of the kind that the route needs.

A handler opens its connection itself, inside its one thread. A connection made by a generator dependency would be
held while the handler waits for a thread, and a pool of threads as large as the pool of connections would lock up.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from starlette.responses import Response

from api.access_log import AccessLog
from api.gate import Admission
from substrate import access, reads
from substrate.access import Principal, Role
from substrate.access.people import ROLES
from substrate.axes.as_of import AsOf
from substrate.db import Database, ReadConnection, WriteConnection
from substrate.documents.checks import check_text
from substrate.errors import Forbidden, InvalidInput, ModelUnavailable, NotFound
from substrate.ledger import Door, open_door
from substrate.retrieval.embedders.protocol import Embedder
from substrate.settings import Settings


@dataclass(frozen=True, slots=True)
class Caller:
    """Someone past the gate, with what they may reach."""

    principal: Principal
    db: Database
    settings: Settings
    access_log: AccessLog
    embedder: Callable[[], Embedder]

    @property
    def actor(self) -> str:
        return self.principal.actor

    def embedder_or_error(self) -> Embedder | ModelUnavailable:
        """The error where the model cannot be opened: search answers by words then, and says why."""
        try:
            return self.embedder()
        except ModelUnavailable as error:
            return error


@dataclass(frozen=True, slots=True)
class Member(Caller):
    """A caller in one base."""

    kb_id: UUID
    role: Role
    may_write: bool

    @contextmanager
    def read(self) -> Iterator[ReadConnection]:
        """One snapshot for the whole answer."""
        with self.db.read(self.kb_id) as conn:
            yield conn

    @contextmanager
    def write(self) -> Iterator[WriteConnection]:
        """One transaction. Raises `Forbidden` before it is opened if the caller may not write."""
        self.must_write()
        with self.db.write(self.kb_id) as conn:
            yield conn

    @contextmanager
    def act(self, action: str, why: str = "") -> Iterator[Door]:
        """One ledger transaction in the caller's name. Raises `Forbidden` as `write` does."""
        with (
            self.write() as conn,
            open_door(conn, self.kb_id, actor=self.actor, via="rest", action=action, why=why) as door,
        ):
            yield door

    def must_not_judge(self, **proposals: Any) -> None:
        """Raises `Forbidden` if this client recorded what is to be decided; see `access.must_not_be_own`."""
        with self.read() as conn:
            access.must_not_be_own(conn, self.principal, self.kb_id, **proposals)

    def must_write(self) -> None:
        """Raises `Forbidden` unless scope and role both allow writing."""
        if not self.may_write:
            raise Forbidden("this needs a token with the write scope, held by an editor in this base")

    def moment(
        self, conn: ReadConnection, *, at: str | None = None, as_of: str | None = None, before: str | None = None
    ) -> AsOf:
        """Resolve the caller's time parameters in this base."""
        return reads.resolve(conn, self.kb_id, at=at, as_of=as_of, before=before)


def caller(request: Request) -> Caller:
    """The caller of a route that belongs to no base."""
    admission: Admission = request.state.admission
    return Caller(admission.principal, *_shared(request))


def member(request: Request) -> Member:
    """The caller of a route of a base that they may see."""
    return member_of(request)


def editor(request: Request) -> Member:
    """The caller of a route that writes. Raises `Forbidden` before the body is judged."""
    found = member_of(request)
    found.must_write()
    return found


def reviewer(request: Request) -> Member:
    """The caller of a route that shows what members do and ask. Raises `Forbidden` for whoever only reads the base:
    a base may be open to anybody, and what its people ask is not part of it."""
    found = member_of(request)
    if ROLES.index(found.role) < ROLES.index("editor"):
        raise Forbidden("this is shown to editors, admins and owners of this base")
    return found


def manager(request: Request) -> Member:
    """The caller of a route that says who may do what in a base. Raises `Forbidden` before the body is judged."""
    found = member_of(request)
    access.must_manage(found.principal, found.role)
    return found


def signed_in(request: Request) -> Caller:
    """A person at a browser that signed in. Raises `Forbidden` for every token: one that leaks shall make no other."""
    found = caller(request)
    if found.principal.kind != "session":
        raise Forbidden("this needs a person who signed in; a token makes, lists and revokes none")
    return found


def member_of(request: Request) -> Member:
    """The `Member` that the gate admitted to this request."""
    admission: Admission = request.state.admission
    if admission.kb_id is None or admission.role is None:
        raise NotFound("no such knowledge base", field="kb_id")
    return Member(admission.principal, *_shared(request), admission.kb_id, admission.role, admission.may_write)


def _shared(request: Request) -> tuple[Database, Settings, AccessLog, Callable[[], Embedder]]:
    state = request.app.state
    return state.database, state.settings, state.access_log, state.embedder


AnyCaller = Annotated[Caller, Depends(caller)]
Reader = Annotated[Member, Depends(member)]
Reviewer = Annotated[Member, Depends(reviewer)]
Editor = Annotated[Member, Depends(editor)]
Manager = Annotated[Member, Depends(manager)]
SignedIn = Annotated[Caller, Depends(signed_in)]


class StrictRoute(APIRoute):
    """A route that refuses query parameters it does not know, and text that cannot be stored, by name."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        known = _query_names(self.dependant)

        async def strict(request: Request) -> Response:
            if unknown := sorted(set(request.query_params) - known):
                raise InvalidInput(f"{unknown[0]}: unknown query parameter", field=unknown[0])
            for name, value in (*request.query_params.multi_items(), *request.path_params.items()):
                check_text(str(value), name, blank=True, most=len(str(value)))
            return await handle(request)

        return strict


def _query_names(dependant: Dependant) -> set[str]:
    names = {p.alias for p in dependant.query_params}
    return names.union(*(_query_names(d) for d in dependant.dependencies))
