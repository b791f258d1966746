"""What people say of two entities that look alike: they are one, they are two, and that taken back.

A word of a person's is never overridden. "One" is a merge like any other; "two" is a distinction on the record clock,
which keeps every automatic merge of the two, and of what is one with them, from being made.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

from substrate import sql
from substrate.axes.as_of import AsOf
from substrate.db import AnyConnection
from substrate.errors import Conflict, NotFound
from substrate.identity.families import names_on
from substrate.ledger.door import Door
from substrate.ledger.entities import canonical_ids
from substrate.ledger.merges import merge
from substrate.reads import cursors
from substrate.reads.moments import envelope, rfc3339

MOST = 200
SENTENCES = 3
"""How many sentences about either side an answer shows."""


def same(door: Door, doubt_id: UUID, why: str = "") -> UUID:
    """A person says that a pair in doubt is one thing. Returns the merge's id, by which it is taken back.

    The entity that was there first gives the name. Raises `NotFound` for an unknown pair, `Conflict` for one that is
    not in doubt any more.
    """
    doubt = _open(door, doubt_id)
    ids = [doubt["one_id"], doubt["other_id"]]
    rows = door.connection.execute(sql.query("identity_entities"), {"kb_id": door.kb_id, "ids": ids}).fetchall()
    keep, absorbed = (row["id"] for row in rows)
    _withdraw_distinction(door, *ids)
    door.close("doubts", [doubt_id])
    merge_id = merge(door, keep, absorbed, why)
    _look_again(door, ids)
    return merge_id


def not_same(door: Door, doubt_id: UUID, why: str = "") -> UUID:
    """A person says that a pair in doubt is two things. Returns the distinction's id. Raises as `same` does."""
    doubt = _open(door, doubt_id)
    door.close("doubts", [doubt_id])
    return _tell_apart(door, doubt["one_id"], doubt["other_id"], why)


def distinguish(door: Door, one_id: UUID, other_id: UUID, why: str = "") -> UUID:
    """A person says that two entities are two things. Returns the distinction's id.

    Raises `NotFound` for an unknown entity and `Conflict` if they are one now (revert the merge instead) or were told
    apart before.
    """
    ids = [one_id, other_id]
    rows = door.connection.execute(sql.query("identity_entities"), {"kb_id": door.kb_id, "ids": ids}).fetchall()
    for wanted, field in ((one_id, "one"), (other_id, "other")):
        if wanted not in {row["id"] for row in rows}:
            raise NotFound(f"{field}: no entity with that id", field=field)
    canonical = canonical_ids(door.connection, door.kb_id, ids)
    if canonical.get(one_id, one_id) == canonical.get(other_id, other_id):
        raise Conflict("these two are one entity; revert the merge that made them one", field="other")
    return _tell_apart(door, one_id, other_id, why)


def take_back(door: Door, distinction_id: UUID) -> None:
    """Two entities may be one again. Raises `NotFound`, and `Conflict` if it was taken back before."""
    asked = {"kb_id": door.kb_id, "id": distinction_id}
    row = door.connection.execute(sql.query("identity_distinction_of_id"), asked).fetchone()
    if row is None:
        raise NotFound("no distinction with that id", field="distinction_id")
    if row["invalidated_seq"] is not None:
        raise Conflict(f"this was taken back at seq {row['invalidated_seq']}", field="distinction_id")
    door.close("distinctions", [distinction_id])
    _look_again(door, [row["one_id"], row["other_id"]])


def _open(door: Door, doubt_id: UUID) -> dict[str, Any]:
    asked = {"kb_id": door.kb_id, "id": doubt_id}
    row = door.connection.execute(sql.query("identity_doubt_of_id"), asked).fetchone()
    if row is None:
        raise NotFound("no pair in doubt with that id", field="candidate_id")
    if row["invalidated_seq"] is not None:
        raise Conflict(f"this pair is in doubt no more since seq {row['invalidated_seq']}", field="candidate_id")
    return row


def _tell_apart(door: Door, one_id: UUID, other_id: UUID, why: str) -> UUID:
    one, other = sorted((one_id, other_id))
    held = door.connection.execute(
        sql.query("identity_distinction_of_pair"), {"kb_id": door.kb_id, "one_id": one, "other_id": other}
    ).fetchone()
    if held is not None:
        raise Conflict("these two were told apart before", field="other")
    row = {"id": uuid4(), "one_id": one, "other_id": other, "why": why}
    door.insert("distinctions", [row])
    _look_again(door, [one, other])
    return row["id"]  # type: ignore[return-value]


def _withdraw_distinction(door: Door, *ids: UUID) -> None:
    one, other = sorted(ids)
    held = door.connection.execute(
        sql.query("identity_distinction_of_pair"), {"kb_id": door.kb_id, "one_id": one, "other_id": other}
    ).fetchone()
    if held is not None:
        door.close("distinctions", [held["id"]])


def _look_again(door: Door, entities: list[UUID]) -> None:
    """The next run of the entities stage settles what hangs on it."""
    norms = sorted(names_on(door.connection, door.kb_id, entities))
    asked = {"kb_id": door.kb_id, "norms": norms, "unsettled": True}
    door.connection.execute(sql.query("identity_mark"), asked)


def list_doubts(
    conn: AnyConnection, kb_id: UUID, as_of: AsOf, *, limit: int = 50, cursor: str | None = None
) -> dict[str, Any]:
    """Pairs of entities that nothing decided by `as_of`, the likeliest first.

    Each has ``one`` and ``other`` with id, first name and up to `SENTENCES` sentences, ``score`` (0 to 1: how much
    speaks for one thing) and ``reasons`` in words.
    """
    page = cursors.page(conn, kb_id, as_of, cursor, limit=limit, most=MOST, question=("candidates",))
    asked = sql.parameters(page.as_of, kb_id=kb_id, limit=limit, offset=page.offset)
    rows = conn.execute(sql.query("reads_doubts", page.as_of), asked).fetchall()
    shown = [row for row in rows if row["id"] is not None]
    told = _sentences(conn, kb_id, page.as_of, {row[end] for row in shown for end in ("one_id", "other_id")})
    return {
        **page.head(kb_id, rows[0]["total"]),
        "candidates": [
            {
                "id": str(row["id"]),
                "score": round(row["score"], 3),
                "reasons": list(row["reasons"]),
                **{
                    end: {"id": str(row[f"{end}_id"]), "name": row[end], "sentences": told.get(row[f"{end}_id"], [])}
                    for end in ("one", "other")
                },
                "recorded_at": rfc3339(row["recorded_at"]),
                "recorded_seq": row["recorded_seq"],
            }
            for row in shown
        ],
    }


def _sentences(conn: AnyConnection, kb_id: UUID, as_of: AsOf, ids: set[UUID]) -> dict[UUID, list[dict[str, Any]]]:
    found: dict[UUID, list[dict[str, Any]]] = {}
    if not ids:
        return found
    asked = sql.parameters(as_of, kb_id=kb_id, ids=sorted(ids), each=SENTENCES)
    for row in conn.execute(sql.query("reads_doubt_evidence", as_of), asked).fetchall():
        said = {"quote": row["quote"], "document_id": str(row["document_id"]), "filename": row["filename"]}
        found.setdefault(row["id"], []).append(said)
    return found


def list_distinctions(conn: AnyConnection, kb_id: UUID, as_of: AsOf) -> dict[str, Any]:
    """What people said are two things, as held at `as_of`, newest first."""
    rows = conn.execute(sql.query("reads_distinctions", as_of), sql.parameters(as_of, kb_id=kb_id)).fetchall()
    return {
        "kb_id": str(kb_id),
        **envelope(as_of),
        "distinctions": [
            {
                "id": str(row["id"]),
                "one": {"id": str(row["one_id"]), "name": row["one"]},
                "other": {"id": str(row["other_id"]), "name": row["other"]},
                "why": row["why"],
                "by": row["actor"],
                "recorded_at": rfc3339(row["recorded_at"]),
                "recorded_seq": row["recorded_seq"],
            }
            for row in rows
        ],
    }
