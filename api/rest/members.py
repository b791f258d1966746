"""Who belongs to a base, in which role; admins and owners say it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from fastapi import APIRouter

from api.deps import Manager, Reader, StrictRoute
from api.rest.bodies import Body
from substrate import access
from substrate.access import Role

router = APIRouter(prefix="/kbs/{kb_id}/members", route_class=StrictRoute, tags=["access"])


class NewMember(Body):
    """A person by the e-mail address with which they sign in, whether or not they ever did."""

    email: str
    role: Role


class NewRole(Body):
    """What a person shall be."""

    role: Role


@router.get("")
def list_members(kb_id: UUID, who: Manager) -> dict[str, Any]:
    """Members by name: person_id, name, email, role."""
    with who.read() as conn:
        return {"members": access.list_members(conn, kb_id)}


@router.post("", status_code=201)
def add_member(kb_id: UUID, body: NewMember, who: Manager) -> dict[str, Any]:
    """Give a role to whoever signs in with this address. Owners are made by owners."""
    with who.write() as conn:
        person_id = access.person_with_email(conn, body.email)
        access.give_role(conn, kb_id, who.role, person_id, body.role)
    return {"person_id": person_id, "email": body.email, "role": body.role}


@router.put("/{person_id}")
def change_role(kb_id: UUID, person_id: UUID, body: NewRole, who: Manager) -> dict[str, Any]:
    """Give a member another role. The last owner stays one."""
    with who.write() as conn:
        access.must_be_member(conn, kb_id, person_id)
        access.give_role(conn, kb_id, who.role, person_id, body.role)
    return {"person_id": person_id, "role": body.role}


@router.delete("/{person_id}")
def remove_member(kb_id: UUID, person_id: UUID, who: Reader) -> dict[str, Any]:
    """Take a person out; their tokens stop seeing the base with the next call. Anybody may go themselves."""
    if person_id != who.principal.person_id:
        access.must_manage(who.principal, who.role)
    with who.db.write(kb_id) as conn:
        access.take_out(conn, kb_id, who.principal, who.role, person_id)
    return {"person_id": person_id, "role": None}
