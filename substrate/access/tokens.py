"""Issuing, listing and revoking personal tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from substrate import sql
from substrate.access.token_shape import digest, new_secret, shown_prefix
from substrate.db import AnyConnection, WriteConnection
from substrate.errors import InvalidInput, NotFound

Scope = Literal["read", "write"]
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
) -> IssuedToken:
    """Make a token for a person. `kb_ids` narrows it; None reaches every base its owner can open.

    A token never can more than its owner: `scope` is a ceiling. Raises `InvalidInput` naming the field.
    """
    if not name.strip():
        raise InvalidInput("a token needs a name", field="name")
    if scope not in ("read", "write"):
        raise InvalidInput("scope must be read or write", field="scope")
    if not 1 <= days <= MAX_DAYS:
        raise InvalidInput(f"days must lie between 1 and {MAX_DAYS}", field="days")
    if kb_ids is not None and not kb_ids:
        raise InvalidInput("an empty list of bases would make a token that sees nothing; omit it", field="kb_ids")
    secret = new_secret()
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
        },
    ).fetchone()
    assert row is not None  # noqa: S101 - an insert with returning has a row
    return IssuedToken(row["id"], secret, row["expires_at"])


def list_tokens(conn: AnyConnection, person_id: UUID | None = None) -> list[dict[str, object]]:
    """Tokens of a person (None: of everybody), newest first; neither secret nor hash."""
    return conn.execute(sql.query("access_tokens"), {"person_id": person_id}).fetchall()


def revoke_token(conn: WriteConnection, token_id: UUID) -> None:
    """Refuse the token from the next call on; revoking twice is no error. Raises `NotFound`."""
    if conn.execute(sql.query("access_revoke_token"), {"id": token_id}).fetchone() is not None:
        return
    if conn.execute(sql.query("access_token_exists"), {"id": token_id}).fetchone() is None:
        raise NotFound("no such token", field="token_id")
