"""Who is asking, and what they may do in one base.

Asked anew with every call, so that revoking is immediate.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, cast
from uuid import UUID

from substrate import sql
from substrate.access.people import ROLES, Role
from substrate.access.token_shape import digest, well_formed
from substrate.access.tokens import Scope
from substrate.db import NO_BASE, AnyConnection, Database
from substrate.errors import NotFound, Unauthenticated

PUBLIC: Final = UUID("00000000-0000-4000-8000-000000000001")
"""Whom the record names where nobody said who they are."""
NO_TOKEN: Final = UUID("00000000-0000-4000-8000-000000000002")
Kind = Literal["personal", "service", "session", "agent", "anonymous"]


@dataclass(frozen=True, slots=True)
class Principal:
    """A person behind a token, as far as the token reaches."""

    person_id: UUID
    person_name: str
    token_id: UUID
    name: str
    """The token's name: which of a person's clients this is."""
    scope: Scope
    kb_ids: frozenset[UUID] | None
    use_is_stale: bool = False
    """The token's last use is more than a minute old, or none; see `note_use`."""
    kind: Kind = "personal"

    @property
    def actor(self) -> str:
        """How the ledger names who did it."""
        return f"person:{self.person_name} ({self.name})"


ANYBODY: Final = Principal(PUBLIC, "the public", NO_TOKEN, "no token", "read", None, kind="anonymous")
"""Somebody who showed no token: reads what is public."""


def admit_anybody(conn: AnyConnection, kb_id: UUID) -> tuple[Principal, Role]:
    """Somebody without a token, in a base that is public. Raises `Unauthenticated` for every other, there or not."""
    row = conn.execute(sql.query("access_role"), {"kb_id": kb_id, "person_id": PUBLIC}).fetchone()
    if row is None or row["role"] is None:
        raise Unauthenticated
    return ANYBODY, cast(Role, row["role"])


def authenticate(conn: AnyConnection, presented: str | None) -> Principal:
    """The principal of a presented token. Raises `Unauthenticated`, never saying which part was wrong."""
    return _presented(conn, presented, None)[0]


def admit(conn: AnyConnection, presented: str | None, kb_id: UUID) -> tuple[Principal, Role]:
    """The principal and their role in a base, in one query, since every call to a base begins with both.

    Raises `Unauthenticated`, and `NotFound` when the token cannot see the base, in the words used for a base that does
    not exist.
    """
    principal, role = _presented(conn, presented, kb_id)
    if role is None or (principal.kb_ids is not None and kb_id not in principal.kb_ids):
        raise NotFound("no such knowledge base", field="kb_id")
    return principal, role


def _presented(conn: AnyConnection, presented: str | None, kb_id: UUID | None) -> tuple[Principal, Role | None]:
    if presented is None or not well_formed(presented):
        raise Unauthenticated
    row = conn.execute(sql.query("access_token_by_hash"), {"hash": digest(presented), "kb_id": kb_id}).fetchone()
    if row is None or row["revoked"] or row["expired"]:
        raise Unauthenticated
    kb_ids = None if row["kb_ids"] is None else frozenset(row["kb_ids"])
    principal = Principal(
        row["person_id"], row["person_name"], row["id"], row["name"], row["scope"], kb_ids, row["stale"], row["kind"]
    )
    return principal, cast("Role | None", row["role"])


def may_write(principal: Principal, role: Role) -> bool:
    """Writing needs both: the token's scope and at least an editor behind it."""
    return principal.scope == "write" and ROLES.index(role) >= ROLES.index("editor")


def may_push(principal: Principal, role: Role) -> bool:
    """Pushing needs a service's token or a writing one, and at least an editor behind it."""
    return principal.scope in ("write", "push") and ROLES.index(role) >= ROLES.index("editor")


def may_manage(principal: Principal, role: Role) -> bool:
    """Saying who may do what in a base needs an admin and the write scope."""
    return principal.scope == "write" and ROLES.index(role) >= ROLES.index("admin")


def visible_bases(conn: AnyConnection, principal: Principal) -> list[dict[str, object]]:
    """The bases a token sees, by slug: id, slug, name, created_at, role, seq."""
    kb_ids = None if principal.kb_ids is None else list(principal.kb_ids)
    return conn.execute(
        sql.query("access_visible_bases"), {"person_id": principal.person_id, "kb_ids": kb_ids}
    ).fetchall()


def note_use(db: Database, principal: Principal) -> None:
    """Write down that the token was used, at most once a minute and never inside the read it served."""
    if principal.use_is_stale:
        with db.write(NO_BASE) as conn:
            conn.execute(sql.query("access_touch_token"), {"id": principal.token_id})


@dataclass(frozen=True, slots=True)
class Access:
    """What was served to whom."""

    principal: Principal
    kb_id: UUID
    via: str
    action: str
    seq: int | None = None
    fact_ids: Sequence[UUID] = ()
    chunk_ids: Sequence[UUID] = ()
    moment: float = field(default_factory=time.monotonic)
    """When, by this process's monotonic clock: writing may come later."""


def record_access(db: Database, *served: Access) -> None:
    """Write down what was served, in one transaction. Call it after the answers and never under a base's head lock."""
    with db.write({event.kb_id for event in served}) as conn, conn.cursor() as cursor:
        cursor.executemany(
            sql.query("access_record_event"),
            [
                {
                    "kb_id": event.kb_id,
                    "age_s": max(time.monotonic() - event.moment, 0.0),
                    "person_id": event.principal.person_id,
                    "token_id": event.principal.token_id,
                    "via": event.via,
                    "action": event.action,
                    "seq": event.seq,
                    "fact_ids": list(event.fact_ids),
                    "chunk_ids": list(event.chunk_ids),
                }
                for event in served
            ],
        )
