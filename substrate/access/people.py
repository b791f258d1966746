"""People and their role in a base."""

from __future__ import annotations

import re
from typing import Literal, cast, get_args
from uuid import UUID

from substrate import sql
from substrate.db import AnyConnection, WriteConnection
from substrate.errors import Conflict, InvalidInput, NotFound

Role = Literal["viewer", "editor", "admin", "owner"]
ROLES: tuple[Role, ...] = get_args(Role)
"""From the least to the most."""


def create_person(conn: WriteConnection, name: str, email: str | None = None) -> UUID:
    """Make a person. Raises `Conflict` when the address is taken."""
    if not name.strip():
        raise InvalidInput("a person needs a name", field="name")
    row = conn.execute(sql.query("access_insert_person"), {"name": name.strip(), "email": email}).fetchone()
    if row is None:
        raise Conflict("somebody has this email address already", field="email")
    return cast(UUID, row["id"])


def person_named(conn: AnyConnection, name: str) -> UUID | None:
    """The one person of that name; None when there is none. Raises `Conflict` when there are several."""
    rows = conn.execute(sql.query("access_person_by_name"), {"name": name}).fetchall()
    if len(rows) > 1:
        raise Conflict(f"several people are named {name!r}", field="person")
    return rows[0]["id"] if rows else None


def person_with_email(conn: WriteConnection, email: str, name: str | None = None) -> UUID:
    """The person of an e-mail address, made if there is none: who signs in with it later is this person."""
    if not re.fullmatch(r"[^@\s]+@[^@\s]+", email):
        raise InvalidInput("email: no e-mail address", field="email")
    rows = conn.execute(sql.query("access_person_by_email"), {"email": email}).fetchall()
    if len(rows) > 1:
        raise Conflict("several people have this e-mail address in different spellings", field="email")
    return rows[0]["id"] if rows else create_person(conn, name or email, email)


def set_member(conn: WriteConnection, kb_id: UUID, person_id: UUID, role: Role) -> None:
    """Give a person a role in a base, or change it."""
    if role not in ROLES:
        raise InvalidInput(f"role must be one of {', '.join(ROLES)}", field="role")
    conn.execute(sql.query("access_set_member"), {"kb_id": kb_id, "person_id": person_id, "role": role})


def remove_member(conn: WriteConnection, kb_id: UUID, person_id: UUID) -> None:
    """Take a person out of a base; their tokens stop seeing it with the next call."""
    found = conn.execute(sql.query("access_remove_member"), {"kb_id": kb_id, "person_id": person_id}).fetchone()
    if found is None:
        raise NotFound("this person is no member of the base", field="person_id")


def list_members(conn: AnyConnection, kb_id: UUID) -> list[dict[str, object]]:
    """Members of a base by name: person_id, name, email, role."""
    return conn.execute(sql.query("access_members"), {"kb_id": kb_id}).fetchall()


def adopt_bases(conn: WriteConnection, person_id: UUID) -> None:
    """Make a person the owner of every base that has no member, for example one made by a script."""
    conn.execute(sql.query("access_adopt_bases"), {"person_id": person_id})
