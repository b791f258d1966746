"""Acts of people that can be taken back: an id that keeps their order, and the row that undoes one."""

from __future__ import annotations

from typing import Literal
from uuid import UUID, uuid4

from substrate import sql
from substrate.ledger.door import Door

Act = Literal["merge", "retyping", "batch"]
_LOW = (1 << 96) - 1


def act_id(door: Door, act: Literal["merge", "retyping"]) -> UUID:
    """A fresh id, greater than those of the same acts before it in this transaction: (seq, id) is their order.

    The first 32 bits count up from a random start below half of their range; the rest is random.
    """
    parameters = {"kb_id": door.kb_id, "seq": door.seq}
    last = door.connection.execute(sql.query(f"last_{act}_of_transaction"), parameters).fetchone()
    fresh = uuid4().int
    first = (fresh >> 97) if last is None else (last["id"].int >> 96) + 1
    return UUID(int=first << 96 | fresh & _LOW)


def act_ids(door: Door, act: Literal["merge", "retyping"], many: int) -> list[UUID]:
    """So many of `act_id`, in their order."""
    if not many:
        return []
    first = act_id(door, act)
    return [first, *(UUID(int=((first.int >> 96) + i) << 96 | uuid4().int & _LOW) for i in range(1, many))]


def undo(door: Door, act: Act, undone_id: UUID, why: str) -> UUID:
    """Record that an act is taken back; returns the revert's id. What follows from it is the caller's to settle."""
    revert_id = uuid4()
    none: dict[str, UUID | None] = {"merge_id": None, "retyping_id": None, "batch_id": None}
    door.insert("reverts", [{"id": revert_id, "why": why, **none, f"{act}_id": undone_id}])
    return revert_id
