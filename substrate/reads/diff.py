"""What changed between two points of either clock, as the rows that came and the rows that went."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from substrate.axes.as_of import AsOf
from substrate.db import AnyConnection
from substrate.errors import InvalidInput, NotFound
from substrate.reads import cursors, state
from substrate.reads.entities import Subject, as_id, subject
from substrate.reads.moments import envelope, parse_bucket, resolve, rfc3339


def diff_between(
    conn: AnyConnection,
    kb_id: UUID,
    *,
    from_as_of: str | None = None,
    to_as_of: str | None = None,
    at: str | None = None,
    from_at: str | None = None,
    to_at: str | None = None,
    as_of: str | None = None,
    entity: str | None = None,
    limit: int = 200,
    cursor: str | None = None,
) -> dict[str, Any]:
    """`record_diff` of `from_as_of` and `to_as_of` (None: the head) looking at `at`, or `world_diff` of `from_at` and
    `to_at` read at `as_of`, all as a caller gives them. Raises `InvalidInput` where they are no points of one clock.
    """
    if (from_as_of is None) == (from_at is None):
        raise InvalidInput("from_as_of: give either from_as_of (record) or from_at (world)", field="from_as_of")
    if from_as_of is not None:
        _refuse("from_as_of", to_at=to_at, as_of=as_of)
        earlier, later = resolve(conn, kb_id, as_of=from_as_of), resolve(conn, kb_id, at=at, as_of=to_as_of)
        return record_diff(conn, kb_id, earlier, later, entity, limit=limit, cursor=cursor)
    _refuse("from_at", to_as_of=to_as_of, at=at)
    if to_at is None:
        raise InvalidInput("to_at: is required beside from_at", field="to_at")
    stands = resolve(conn, kb_id, as_of=as_of)
    return world_diff(conn, kb_id, str(from_at), to_at, stands, entity, limit=limit, cursor=cursor)


def _refuse(beside: str, **strange: str | None) -> None:
    for name, value in strange.items():
        if value is not None:
            raise InvalidInput(f"{name}: does not go with {beside}", field=name)


def record_diff(
    conn: AnyConnection,
    kb_id: UUID,
    earlier: AsOf,
    as_of: AsOf,
    entity: str | None = None,
    *,
    limit: int = 200,
    cursor: str | None = None,
) -> dict[str, Any]:
    """Rows held at one point of the record and not at the other, of a base or of one entity (id or name at `as_of`).

    Both points look at the same valid time, that of `as_of`. ``added`` are rows of the later snapshot that the earlier
    lacks, ``removed`` the reverse: snapshot, minus removed, plus added, gives the later snapshot. Each has ``by``, the
    transaction that wrote or closed it; null where a merge or its revert alone moved the row to or from the entity.
    Raises `InvalidInput` when the points are in the wrong order.
    """
    question = ("diff", earlier.seq, entity)
    page = cursors.keyed(conn, kb_id, as_of, cursor, limit=limit, most=state.MOST, question=question)
    if earlier.seq > page.as_of.seq:
        raise InvalidInput("from_as_of: must not lie after to_as_of", field="from_as_of")
    bound: dict[str, object] = {"a": earlier.seq, "b": page.as_of.seq}
    query, shown = "state_keys_of_base", None
    if entity is not None:
        query = "state_keys_of_entity"
        members, shown = _members(conn, kb_id, entity, earlier, page.as_of)
        bound |= members | state.bounds("a", page.as_of.valid_at) | state.bounds("b", page.as_of.valid_at)
    found, following = state.keys(conn, kb_id, query, page, bound)
    answer = _answer(conn, kb_id, page, found, following, earlier.seq)
    return {
        **answer,
        "entity": shown,
        "at": as_of.at_text,
        "from": {"as_of": rfc3339(earlier.recorded_at), "seq": earlier.seq},
        "to": {"as_of": rfc3339(page.as_of.recorded_at), "seq": page.as_of.seq},
    }


def world_diff(
    conn: AnyConnection,
    kb_id: UUID,
    from_at: str,
    to_at: str,
    as_of: AsOf,
    entity: str | None = None,
    *,
    limit: int = 200,
    cursor: str | None = None,
) -> dict[str, Any]:
    """Facts held at `as_of` that held in the world at one date and not at the other; ``added`` are the later date's."""
    first, last = parse_bucket(from_at, "from_at"), parse_bucket(to_at, "to_at")
    if first.start > last.start:
        raise InvalidInput("from_at: must not lie after to_at", field="from_at")
    question = ("world diff", from_at, to_at, entity)
    stands = replace(as_of, valid_at=None, at_text=None)
    page = cursors.keyed(conn, kb_id, stands, cursor, limit=limit, most=state.MOST, question=question)
    bound: dict[str, object] = {**state.bounds("a", first), **state.bounds("b", last)}
    query, shown = "state_keys_in_world", None
    if entity is not None:
        query = "state_keys_of_entity"
        members, shown = _members(conn, kb_id, entity, page.as_of, page.as_of)
        bound |= {"a": page.as_of.seq, "b": page.as_of.seq} | members
    found, following = state.keys(conn, kb_id, query, page, bound)
    answer = _answer(conn, kb_id, page, found, following, page.as_of.seq)
    return {**answer, "entity": shown, "from": {"at": from_at}, "to": {"at": to_at}}


def _members(
    conn: AnyConnection, kb_id: UUID, entity: str, earlier: AsOf, later: AsOf
) -> tuple[dict[str, object], dict[str, object]]:
    """What the query binds of an entity, and the entity as shown.

    It may be there at one of the points alone. An id is the same id at both, whatever it stood for; a name is what it
    means at the later one.
    """
    after = _present(conn, kb_id, entity, later)
    same = entity if after is None or as_id(entity.strip()) else str(after.id)
    before = _present(conn, kb_id, same, earlier)
    who = after or before or subject(conn, kb_id, entity, later)  # the last raises what there is to say
    members = {point: list(found.members) if found else [] for point, found in (("a", before), ("b", after))}
    bound: dict[str, object] = {f"members_{point}": ids for point, ids in members.items()}
    return {**bound, "members": list({*members["a"], *members["b"]}), "ever": False}, who.shown()


def _present(conn: AnyConnection, kb_id: UUID, entity: str, as_of: AsOf) -> Subject | None:
    try:
        return subject(conn, kb_id, entity, as_of)
    except NotFound:
        return None


def _answer(
    conn: AnyConnection,
    kb_id: UUID,
    page: cursors.Keyed,
    found: list[tuple[state.Key, bool]],
    following: str | None,
    since_seq: int,
) -> dict[str, Any]:
    kept = state.rows(conn, kb_id, found)
    moved = {k.key: s for k in kept if since_seq < (s := _moved_at(k)) <= page.as_of.seq}
    by = state.transactions(conn, kb_id, set(moved.values()))
    told = [(k.came, {**k.item(), "by": by[moved[k.key]] if k.key in moved else None}) for k in kept]
    return {
        "kb_id": str(kb_id),
        **envelope(page.as_of),
        "limit": page.limit,
        "truncated": following is not None,
        "next_cursor": following,
        "added": [item for came, item in told if came],
        "removed": [item for came, item in told if not came],
        "names": state.names(conn, kb_id, page.as_of, kept),
    }


def _moved_at(kept: state.Kept) -> int:
    """When the row was written, or closed; -1 where it never was."""
    seq = kept.row["recorded_seq" if kept.came else "invalidated_seq"]
    return state.BEFORE_ALL if seq is None else int(seq)
