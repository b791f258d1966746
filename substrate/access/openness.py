"""Who may read a base without being its member: a workspace, an organisation, anybody; and who is in a workspace.

A base is for its members alone until somebody says otherwise. Whoever else sees it is a viewer there, by the database's
own `role_in_base`, so that every call is judged anew.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal, get_args
from uuid import UUID

from substrate import sql
from substrate.access.principals import PUBLIC
from substrate.db import AnyConnection, WriteConnection
from substrate.errors import Conflict, InvalidInput, NotFound

OpenTo = Literal["members", "workspace", "organisation"]
_SLUG = re.compile(r"^[a-z0-9][a-z0-9-]{0,62}$")


@dataclass(frozen=True, slots=True)
class Openness:
    """To whom a base is open; `workspace` is the slug of the one it belongs to."""

    open_to: OpenTo = "members"
    public_read: bool = False
    workspace: str | None = None


def openness(conn: AnyConnection, kb_id: UUID) -> Openness:
    """To whom the base is open. Raises `NotFound`."""
    row = conn.execute(sql.query("access_openness"), {"kb_id": kb_id}).fetchone()
    if row is None:
        raise NotFound("no such knowledge base", field="kb_id")
    return Openness(**row)


def set_openness(conn: WriteConnection, kb_id: UUID, wanted: Openness) -> None:
    """Open or close a base. Raises `InvalidInput` and `NotFound` naming the field."""
    if wanted.open_to not in get_args(OpenTo):
        raise InvalidInput(f"open_to must be one of {', '.join(get_args(OpenTo))}", field="open_to")
    if wanted.open_to != "members" and wanted.workspace is None:
        raise InvalidInput("a base that is open to more than its members belongs to a workspace", field="workspace")
    if wanted.workspace is not None:
        _workspace(conn, wanted.workspace)
    bound = {
        "kb_id": kb_id,
        "open_to": wanted.open_to,
        "public_read": wanted.public_read,
        "workspace": wanted.workspace,
    }
    conn.execute(sql.query("access_set_openness"), bound)


def must_be_in_workspace(conn: AnyConnection, kb_id: UUID, wanted: Openness, person_id: UUID) -> None:
    """Raises `NotFound` unless the workspace is the base's already, or the person is in it: nobody opens a base to
    strangers, and nobody learns which workspaces there are."""
    named = wanted.workspace
    if named is not None and named != openness(conn, kb_id).workspace and not is_in_workspace(conn, named, person_id):
        raise NotFound(f"no workspace {named!r}", field="workspace")


def make_workspace(conn: WriteConnection, slug: str, organisation: str) -> UUID:
    """Make a workspace, and its organisation if there is none of the name. Raises `Conflict` for a taken slug."""
    if not _SLUG.match(slug):
        raise InvalidInput(f"slug {slug!r}: lower-case letters, digits and hyphens, at most 63", field="slug")
    if not organisation.strip():
        raise InvalidInput("an organisation needs a name", field="organisation")
    made = conn.execute(sql.query("access_make_organisation"), {"name": organisation.strip()}).fetchone()
    assert made is not None  # noqa: S101 - the statement returns a row whether or not it was there
    row = conn.execute(sql.query("access_make_workspace"), {"organisation_id": made["id"], "slug": slug}).fetchone()
    if row is None:
        raise Conflict(f"there is a workspace {slug!r} already", field="slug")
    found: UUID = row["id"]
    return found


def list_workspaces(conn: AnyConnection) -> list[dict[str, Any]]:
    """Workspaces with their organisation and how many people are in them: slug, organisation, people."""
    return conn.execute(sql.query("access_workspaces")).fetchall()


def join_workspace(conn: WriteConnection, slug: str, person_id: UUID) -> None:
    """Put a person into a workspace. Raises `NotFound`."""
    if person_id == PUBLIC:
        raise InvalidInput("the public is in no workspace; a base may be public", field="person")
    conn.execute(sql.query("access_join_workspace"), {"workspace_id": _workspace(conn, slug), "person_id": person_id})


def leave_workspace(conn: WriteConnection, slug: str, person_id: UUID) -> None:
    """Take a person out of a workspace; what is open to it is gone for them with the next call. Raises `NotFound`."""
    asked = {"workspace_id": _workspace(conn, slug), "person_id": person_id}
    if conn.execute(sql.query("access_leave_workspace"), asked).fetchone() is None:
        raise NotFound("this person is not in the workspace", field="person")


def is_in_workspace(conn: AnyConnection, slug: str, person_id: UUID) -> bool:
    """Is the person in the workspace? False for one that is not there."""
    row = conn.execute(sql.query("access_workspace"), {"slug": slug}).fetchone()
    if row is None:
        return False
    asked = {"workspace_id": row["id"], "person_id": person_id}
    return conn.execute(sql.query("access_is_in_workspace"), asked).fetchone() is not None


def _workspace(conn: AnyConnection, slug: str) -> UUID:
    row = conn.execute(sql.query("access_workspace"), {"slug": slug}).fetchone()
    if row is None:
        raise NotFound(f"no workspace {slug!r}", field="workspace")
    found: UUID = row["id"]
    return found
