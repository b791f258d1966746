"""Who may decide what waits: never the client that recorded the sentence.

A person's nod is worth something because it is not the agent's own. The ledger names person and token of every
recording, so that a token renewed under its old name is still the same client.
"""

from __future__ import annotations

from uuid import UUID

from substrate import sql
from substrate.access.principals import Principal
from substrate.db import AnyConnection
from substrate.errors import Forbidden


def must_not_be_own(conn: AnyConnection, principal: Principal, kb_id: UUID, pending_id: UUID) -> None:
    """Raise `Forbidden` if this token's client recorded the sentence that the proposal rests on."""
    rows = conn.execute(sql.query("access_recorders_of_proposal"), {"kb_id": kb_id, "id": pending_id}).fetchall()
    if any(row["actor"] == principal.actor for row in rows):
        raise Forbidden(
            f"the token {principal.name!r} recorded this sentence; a verdict needs another token, or the command line",
            field="pending_id",
        )
