"""A person's word on a fact: its period corrected, closed, confirmed, and each taken back."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from fastapi import APIRouter

from api.deps import Editor, Reader, StrictRoute
from api.rest.bodies import Body, Why, why_of
from substrate import reads
from substrate.errors import InvalidInput
from substrate.ledger.corrections import (
    Corrected,
    close_fact,
    confirm_fact,
    correct_period,
    parse_end,
    parse_start,
    undo_correction,
)

router = APIRouter(route_class=StrictRoute, prefix="/kbs/{kb_id}", tags=["corrections"])


class Period(Body):
    """What is left out stays as the statements have it. `valid_from` null: nobody knows. `valid_to` null: it still
    holds; ``unknown``: it ended, nobody knows when. A date ends with its unit, a moment is the first one after."""

    valid_from: str | None = None
    valid_from_precision: str | None = None
    valid_to: str | None = None
    valid_to_precision: str | None = None
    why: str = ""


class Closing(Body):
    """When it ended: a date, a moment, or ``unknown``."""

    valid_to: str
    valid_to_precision: str | None = None
    why: str = ""


@router.patch("/facts/{fact_id}")
def correct(kb_id: UUID, fact_id: UUID, body: Period, who: Editor) -> dict[str, Any]:
    """A person says when a held fact began or ended; no engine and no later document moves that."""
    given = body.model_fields_set
    for name in ("valid_from", "valid_to"):
        if f"{name}_precision" in given and name not in given:
            raise InvalidInput(f"{name}_precision: needs {name}", field=f"{name}_precision")
    start = parse_start(body.valid_from, body.valid_from_precision) if "valid_from" in given else None
    end = parse_end(body.valid_to, body.valid_to_precision) if "valid_to" in given else None
    with who.act("period corrected", body.why) as door:
        done = correct_period(door, fact_id, start=start, end=end, why=body.why)
    return _shown(fact_id, done, door.seq)


@router.post("/facts/{fact_id}/close")
def close(kb_id: UUID, fact_id: UUID, body: Closing, who: Editor) -> dict[str, Any]:
    """A person says that a held fact ended."""
    end = parse_end(body.valid_to, body.valid_to_precision)
    with who.act("fact closed", body.why) as door:
        done = close_fact(door, fact_id, end, body.why)
    return _shown(fact_id, done, door.seq)


@router.post("/facts/{fact_id}/confirm")
def confirm(kb_id: UUID, fact_id: UUID, who: Editor, body: Why | None = None) -> dict[str, Any]:
    """A person vouches for a held fact."""
    why = why_of(body)
    with who.act("fact confirmed", why) as door:
        done = confirm_fact(door, fact_id, why)
    return _shown(fact_id, done, door.seq)


@router.get("/corrections")
def list_corrections(
    kb_id: UUID,
    who: Reader,
    fact_id: UUID | None = None,
    as_of: str | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> dict[str, Any]:
    """People's words in force, newest first."""
    with who.read() as conn:
        moment = who.moment(conn, as_of=as_of)
        return reads.list_corrections(conn, kb_id, moment, fact_id=fact_id, limit=limit, cursor=cursor)


@router.post("/corrections/{correction_id}/undo")
def undo(kb_id: UUID, correction_id: UUID, who: Editor, body: Why | None = None) -> dict[str, Any]:
    """An earlier word stands again, else what the statements say."""
    why = why_of(body)
    with who.act("correction undone", why) as door:
        done = undo_correction(door, correction_id)
    return {**_shown(done.fact_id, done, door.seq), "undone": True}


def _shown(asked: UUID | None, done: Corrected, seq: int) -> dict[str, Any]:
    return {
        "fact_id": done.fact_id,
        "corrected": asked,
        "correction_id": done.correction_id,
        "lineage_id": done.lineage_id,
        "changed_lineage_ids": done.changed,
        "seq": seq,
    }
