"""The rows of one fact or one entity over the record clock: what was held when, who changed it, and why."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from substrate import sql
from substrate.axes.as_of import AsOf
from substrate.db import AnyConnection
from substrate.errors import NotFound
from substrate.reads import cursors, state
from substrate.reads.entities import subject
from substrate.reads.moments import envelope, rfc3339
from substrate.reads.shapes import SINCE


def entity_history(
    conn: AnyConnection, kb_id: UUID, as_of: AsOf, entity: str, *, limit: int = 200, cursor: str | None = None
) -> dict[str, Any]:
    """Every row about an entity (id or name) written by `as_of`, oldest first, held still or not.

    ``items`` are those of a snapshot with ``recorded`` and ``closed``: the transactions that wrote and that closed the
    row (``seq``, ``at``, ``actor``, ``via``, ``action``, ``why``; ``closed`` is null while it was held and has a
    ``kind`` for facts). A closing later than `as_of` is told in ``since`` alone. ``names`` as in a snapshot. Rows
    written about an entity that was absorbed by then are this one's. Raises `NotFound` and `InvalidInput`.
    """
    page = cursors.keyed(conn, kb_id, as_of, cursor, limit=limit, most=state.MOST, question=("history", entity))
    who = subject(conn, kb_id, entity, page.as_of)
    members = list(who.members)
    bound: dict[str, object] = {"a": state.BEFORE_ALL, "b": page.as_of.seq, "ever": True}
    bound |= {"members": members, "members_a": [], "members_b": members}
    bound |= state.bounds("a", None) | state.bounds("b", page.as_of.valid_at)
    found, following = state.keys(conn, kb_id, "state_keys_of_entity", page, bound)
    kept = state.rows(conn, kb_id, found)
    return {**_answer(conn, kb_id, page, kept, following), "entity": who.shown(), "at": as_of.at_text}


def fact_history(
    conn: AnyConnection, kb_id: UUID, as_of: AsOf, fact_id: UUID, *, limit: int = 200, cursor: str | None = None
) -> dict[str, Any]:
    """Every row of a fact's lineage, and (kind ``evidence``) what it came to rest on and ceased to; else as above.

    `fact_id` is any row of the lineage written by `as_of`. Raises `NotFound` when there is none.
    """
    page = cursors.keyed(conn, kb_id, as_of, cursor, limit=limit, most=state.MOST, question=("history", fact_id))
    parameters = sql.parameters(page.as_of, kb_id=kb_id, fact_id=fact_id)
    line = conn.execute(sql.query("state_lineage", page.as_of), parameters).fetchone()
    if line is None:
        raise NotFound(f"fact_id: no fact {fact_id} in this knowledge base as of seq {page.as_of.seq}", field="fact_id")
    found, following = state.keys(conn, kb_id, "state_keys_of_fact", page, {"fact_id": fact_id})
    kept = state.rows(conn, kb_id, found, lineage_id=line["lineage_id"])
    return {
        **_answer(conn, kb_id, page, kept, following),
        "fact_id": str(fact_id),
        "lineage_id": str(line["lineage_id"]),
    }


def _answer(
    conn: AnyConnection, kb_id: UUID, page: cursors.Keyed, kept: list[state.Kept], following: str | None
) -> dict[str, Any]:
    seqs = {s for k in kept for s in (k.row["recorded_seq"], k.row["invalidated_seq"]) if s is not None}
    by = state.transactions(conn, kb_id, seqs)
    return {
        "kb_id": str(kb_id),
        **envelope(page.as_of),
        "limit": page.limit,
        "truncated": following is not None,
        "next_cursor": following,
        "items": [_told(k, by, page.as_of.seq) for k in kept],
        "names": state.names(conn, kb_id, page.as_of, kept),
    }


def _told(kept: state.Kept, by: Any, seq: int) -> dict[str, Any]:
    row = kept.row
    closed = row["invalidated_seq"]
    known = closed is not None and closed <= seq
    later = closed is not None and not known
    return {
        **kept.item(),
        "recorded": by[row["recorded_seq"]],
        "closed": {"kind": row.get("invalidated_kind"), **by[closed]} if known else None,
        SINCE: {"invalidated_at": rfc3339(row["invalidated_at"]), "invalidated_kind": row.get("invalidated_kind")}
        if later
        else None,
    }
