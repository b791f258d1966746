"""Issuing, listing and revoking tokens of every kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from substrate import sql
from substrate.access.token_shape import Kind, digest, new_secret, shown_prefix
from substrate.db import AnyConnection, WriteConnection
from substrate.errors import InvalidInput, NotFound

Scope = Literal["read", "write", "push"]
DEFAULT_DAYS = 90
MAX_DAYS = 3650


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """A new token; `secret` is nowhere else and cannot be shown again."""

    id: UUID
    secret: str
    expires_at: datetime

    def __repr__(self) -> str:
        return f"IssuedToken(id={self.id}, secret={shown_prefix(self.secret)}…)"


def issue_token(
    conn: WriteConnection,
    person_id: UUID,
    name: str,
    *,
    scope: Scope = "read",
    kb_ids: Sequence[UUID] | None = None,
    days: int = DEFAULT_DAYS,
    kind: Kind = "personal",
) -> IssuedToken:
    """Make a token for a person. `kb_ids` narrows it; None reaches every base its owner can open.

    A token never can more than its owner: `scope` is a ceiling, and ``push`` makes it a service's, which reads nothing
    and names its bases. Raises `InvalidInput` naming the field.
    """
    if not name.strip():
        raise InvalidInput("a token needs a name", field="name")
    if scope not in ("read", "write", "push"):
        raise InvalidInput("scope must be read, write or push", field="scope")
    if scope == "push":
        kind = "service"
        if kb_ids is None:
            raise InvalidInput("a token that pushes names the bases that it pushes to", field="kb_ids")
    if not 1 <= days <= MAX_DAYS:
        raise InvalidInput(f"days must lie between 1 and {MAX_DAYS}", field="days")
    if kb_ids is not None and not kb_ids:
        raise InvalidInput("an empty list of bases would make a token that sees nothing; omit it", field="kb_ids")
    secret = new_secret(kind)
    row = conn.execute(
        sql.query("access_insert_token"),
        {
            "person_id": person_id,
            "name": name.strip(),
            "prefix": shown_prefix(secret),
            "hash": digest(secret),
            "scope": scope,
            "kb_ids": None if kb_ids is None else list(kb_ids),
            "days": days,
            "kind": kind,
        },
    ).fetchone()
    assert row is not None  # noqa: S101 - an insert with returning has a row
    return IssuedToken(row["id"], secret, row["expires_at"])


def list_tokens(conn: AnyConnection, person_id: UUID | None = None) -> list[dict[str, Any]]:
    """Tokens of a person (None: of everybody), newest first; neither secret nor hash."""
    return conn.execute(sql.query("access_tokens"), {"person_id": person_id}).fetchall()


def revoke_token(conn: WriteConnection, token_id: UUID, person_id: UUID | None = None) -> None:
    """Refuse the token from the next call on; revoking twice is no error.

    Raises `NotFound`, also where a person is named and it is somebody else's.
    """
    asked = {"id": token_id, "person_id": person_id}
    if conn.execute(sql.query("access_revoke_token"), asked).fetchone() is not None:
        return
    if conn.execute(sql.query("access_token_exists"), asked).fetchone() is None:
        raise NotFound("no such token", field="token_id")


def list_service_tokens(conn: AnyConnection, kb_id: UUID) -> list[dict[str, Any]]:
    """Tokens that push to a base, newest first, whoever made them; as `list_tokens`."""
    return conn.execute(sql.query("access_service_tokens"), {"kb_id": kb_id}).fetchall()


def revoke_service_token(conn: WriteConnection, kb_id: UUID, token_id: UUID) -> None:
    """Refuse a token that pushes to this base and to no other. Raises `NotFound`."""
    if conn.execute(sql.query("access_revoke_service_token"), {"kb_id": kb_id, "id": token_id}).fetchone() is None:
        raise NotFound("no such token", field="token_id")
