"""Who may decide what waits: never the client that recorded the sentence.

A person's nod is worth something because it is not the agent's own. The ledger names person and token of every
recording, so that a token renewed under its old name is still the same client.
"""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from substrate import sql
from substrate.access.principals import Principal
from substrate.db import AnyConnection
from substrate.errors import Forbidden


def must_not_be_own(
    conn: AnyConnection,
    principal: Principal,
    kb_id: UUID,
    *,
    pending_ids: Collection[UUID] = (),
    batch_id: UUID | None = None,
    refusal_id: UUID | None = None,
) -> None:
    """Raise `Forbidden` if this token's client recorded a sentence that one of these proposals rests on.

    To take a verdict back decides too: proposals are meant by their ids, by the batch that decided them, or by the
    refusal that came of them.
    """
    asked = {"kb_id": kb_id, "pending_ids": list(pending_ids), "batch_id": batch_id, "refusal_id": refusal_id}
    rows = conn.execute(sql.query("access_recorders_of_proposals"), asked).fetchall()
    if any(row["actor"] == principal.actor for row in rows):
        raise Forbidden(
            f"the token {principal.name!r} recorded this sentence; a verdict needs another token, or the command line",
            field="refusal_id" if refusal_id else "batch_id" if batch_id else "pending_id",
        )
