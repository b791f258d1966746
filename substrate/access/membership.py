"""Who may do what in a base, as its admins and owners say it; never is a base left without an owner."""

from __future__ import annotations

from uuid import UUID

from substrate import sql
from substrate.access.people import ROLES, Role, remove_member, set_member
from substrate.access.principals import PUBLIC, Principal, may_manage
from substrate.db import AnyConnection, WriteConnection
from substrate.errors import Conflict, Forbidden, InvalidInput, NotFound


def must_manage(principal: Principal, role: Role) -> None:
    """Raises `Forbidden` unless scope and role both allow to say who may do what."""
    if not may_manage(principal, role):
        raise Forbidden("this needs a token with the write scope, held by an admin or owner of this base")


def give_role(conn: WriteConnection, kb_id: UUID, by: Role, person_id: UUID, role: Role) -> None:
    """An admin or owner gives a person a role, or changes it; what an owner is, owners alone say.

    Raises `Forbidden`, and `Conflict` where the base would lose its last owner.
    """
    if role not in ROLES:
        raise InvalidInput(f"role must be one of {', '.join(ROLES)}", field="role")
    _must_be_a_person(conn, person_id)
    had = _may_change(conn, kb_id, by, person_id)
    if role == "owner" and by != "owner":
        raise Forbidden("an owner is made by an owner")
    if had == "owner" and role != "owner":
        _must_not_be_last(conn, kb_id, person_id)
    set_member(conn, kb_id, person_id, role)


def take_out(conn: WriteConnection, kb_id: UUID, by: Principal, role: Role, person_id: UUID) -> None:
    """Take a person out of a base; anybody may go themselves, with a token that may write.

    Raises `NotFound` for who is no member, `Forbidden`, and `Conflict` for the last owner.
    """
    if by.person_id == person_id:
        if by.scope != "write":
            raise Forbidden("this needs a token with the write scope")
        had = _role_of(conn, kb_id, person_id)
    else:
        must_manage(by, role)
        had = _may_change(conn, kb_id, role, person_id)
    _leave(conn, kb_id, person_id, had)


def take_out_by_operator(conn: WriteConnection, kb_id: UUID, person_id: UUID) -> None:
    """The same by whoever reaches the database. Raises `NotFound`, and `Conflict` for the last owner."""
    _leave(conn, kb_id, person_id, _role_of(conn, kb_id, person_id))


def _leave(conn: WriteConnection, kb_id: UUID, person_id: UUID, had: Role | None) -> None:
    if had == "owner":
        _must_not_be_last(conn, kb_id, person_id)
    remove_member(conn, kb_id, person_id)


def must_be_member(conn: AnyConnection, kb_id: UUID, person_id: UUID) -> None:
    """Raises `NotFound` for who is no member."""
    if conn.execute(sql.query("access_member_role"), {"kb_id": kb_id, "person_id": person_id}).fetchone() is None:
        raise NotFound("this person is no member of the base", field="person_id")


def _may_change(conn: WriteConnection, kb_id: UUID, by: Role, person_id: UUID) -> Role | None:
    had = _role_of(conn, kb_id, person_id)
    if had == "owner" and by != "owner":
        raise Forbidden("what an owner may do is changed by an owner")
    return had


def _role_of(conn: WriteConnection, kb_id: UUID, person_id: UUID) -> Role | None:
    conn.execute(sql.query("access_lock_owners"), {"kb_id": kb_id})
    row = conn.execute(sql.query("access_member"), {"kb_id": kb_id, "person_id": person_id}).fetchone()
    return None if row is None else row["role"]


def _must_not_be_last(conn: WriteConnection, kb_id: UUID, person_id: UUID) -> None:
    owners = conn.execute(sql.query("access_lock_owners"), {"kb_id": kb_id}).fetchall()
    if {o["person_id"] for o in owners} <= {person_id}:
        raise Conflict("the last owner of a base cannot go; make somebody else an owner first", field="person_id")


def _must_be_a_person(conn: AnyConnection, person_id: UUID) -> None:
    if person_id == PUBLIC or conn.execute(sql.query("access_person"), {"id": person_id}).fetchone() is None:
        raise NotFound("nobody has this id", field="person_id")
