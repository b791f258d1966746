"""The whole state of an entity, or of a base page by page, at a point of both clocks."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from substrate.axes.as_of import AsOf
from substrate.db import AnyConnection
from substrate.reads import cursors, state
from substrate.reads.confirmation import unconfirmed
from substrate.reads.entities import subject
from substrate.reads.moments import envelope


def snapshot(
    conn: AnyConnection,
    kb_id: UUID,
    as_of: AsOf,
    entity: str | None = None,
    *,
    limit: int = 200,
    cursor: str | None = None,
) -> dict[str, Any]:
    """Every row held at `as_of`; without `entity` (an id or a name) of the whole base.

    ``items`` are rows as they were written, oldest first: of ``kind`` ``entity``, ``type``, ``identity`` (an entity
    that stands for another since a merge), ``refusal`` and ``fact``. Where `as_of` has a valid time, facts that did not
    hold then are left out; the other kinds have none. ``names`` tells what each entity id in them was called and the
    cluster it belonged to at `as_of`; ``unconfirmed`` which facts (by lineage) no passage held then spoke for, with
    what they had rested on. Raises `InvalidInput` and `NotFound` naming the argument.
    """
    page = cursors.keyed(conn, kb_id, as_of, cursor, limit=limit, most=state.MOST, question=("snapshot", entity))
    bound: dict[str, object] = {"a": state.BEFORE_ALL, "b": page.as_of.seq}
    query, shown = "state_keys_of_base", None
    if entity is not None:
        who = subject(conn, kb_id, entity, page.as_of)
        members = list(who.members)
        bound |= {"members": members, "members_a": [], "members_b": members, "ever": False}
        bound |= state.bounds("a", None) | state.bounds("b", page.as_of.valid_at)
        query, shown = "state_keys_of_entity", who.shown()
    found, following = state.keys(conn, kb_id, query, page, bound)
    kept = state.rows(conn, kb_id, found)
    lineages = {k.row["lineage_id"] for k in kept if k.key[1] == "fact"}
    rested = unconfirmed(conn, kb_id, page.as_of, lineages)
    return {
        "kb_id": str(kb_id),
        "entity": shown,
        "at": as_of.at_text,
        **envelope(page.as_of),
        "limit": limit,
        "truncated": following is not None,
        "next_cursor": following,
        "items": [k.item() for k in kept],
        "names": state.names(conn, kb_id, page.as_of, kept),
        "unconfirmed": {str(lineage): passages for lineage, passages in rested.items()},
    }
