"""What a person says of a fact's period: corrected, closed, confirmed, and each taken back.

A person's word is an assertion of its own and stands in ``corrections``; the fact's row is closed as corrected and
followed by one of the same lineage. No engine and no later document moves what it fixes (`periods`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID, uuid4

from substrate import sql
from substrate.axes.valid_time import PRECISIONS, Precision, bucket_end, truncate
from substrate.errors import Conflict, InvalidInput, NotFound
from substrate.extraction.times.points import parse_point
from substrate.ledger.door import Door
from substrate.ledger.entities import canonical_ids
from substrate.ledger.periods import is_empty, period_key
from substrate.ledger.recompute import recompute
from substrate.ledger.scenes import Row, Scene, triple_of, value_of
from substrate.ledger.spans import EndPrecision
from substrate.ontology.store import load_ontology

Kind = Literal["period", "closed", "confirmed"]
UNKNOWN: Literal["unknown"] = "unknown"
OPEN = "open"


@dataclass(frozen=True, slots=True)
class Start:
    """A start as a person says it; without a moment: nobody knows it."""

    at: datetime | None = None
    precision: Precision | None = None


@dataclass(frozen=True, slots=True)
class End:
    """An end as a person says it: a moment (exclusive), ``unknown`` for one that nobody knows, or neither: open."""

    at: datetime | None = None
    precision: EndPrecision | None = None


@dataclass(frozen=True, slots=True)
class Corrected:
    """What became of a fact: the row that is held now, None where it is not held any more."""

    correction_id: UUID
    lineage_id: UUID
    fact_id: UUID | None
    changed: tuple[UUID, ...]
    """Lineages, the rivals' included."""


def parse_start(text: str | None, precision: str | None = None) -> Start:
    """``YYYY``, ``YYYY-MM``, ``YYYY-MM-DD`` or a moment with a zone; None: nobody knows. Raises `InvalidInput`."""
    if text is None:
        if precision is not None:
            raise InvalidInput("valid_from_precision: needs a date", field="valid_from_precision")
        return Start()
    at, unit, _ = _point(text, precision, "valid_from")
    return Start(at, unit)


def parse_end(text: str | None, precision: str | None = None) -> End:
    """As `parse_start`; a date ends with its unit ("2024-03" is until April), a moment is the first one after.

    None and ``open``: it still holds. ``unknown``: it ended, nobody knows when. Raises `InvalidInput`.
    """
    if text is None or text.strip().casefold() in (OPEN, UNKNOWN):
        unknown = text is not None and text.strip().casefold() == UNKNOWN
        if precision is not None and not (unknown and precision == UNKNOWN):
            raise InvalidInput("valid_to_precision: needs a date", field="valid_to_precision")
        return End(None, UNKNOWN if unknown else None)
    at, unit, moment = _point(text, precision, "valid_to")
    return End(moment if moment is not None and moment == at else bucket_end(at, unit), unit)


def _point(text: str, precision: str | None, field: str) -> tuple[datetime, Precision, datetime | None]:
    """The first moment of the unit, the unit, and the moment itself where one was given and not a date."""
    found = parse_point(text)
    if found is None:
        raise InvalidInput(
            f"{field}: {text!r} is not a date; use YYYY, YYYY-MM, YYYY-MM-DD or an RFC 3339 moment with a zone",
            field=field,
        )
    at, unit = found
    moment = at if unit in ("minute", "second") else None
    if precision is None:
        return at, unit, moment
    if precision not in PRECISIONS:
        allowed = ", ".join(PRECISIONS)
        raise InvalidInput(f"{field}_precision: must be one of {allowed}", field=f"{field}_precision")
    if PRECISIONS.index(precision) > PRECISIONS.index(unit):
        raise InvalidInput(
            f"{field}_precision: {text!r} says no {precision}, only a {unit}", field=f"{field}_precision"
        )
    return truncate(at, precision), precision, moment


def correct_period(
    door: Door,
    fact_id: UUID,
    *,
    start: Start | None = None,
    end: End | None = None,
    why: str = "",
    kind: Kind = "period",
    conflict_id: UUID | None = None,
) -> Corrected:
    """A person says when a held fact began or ended; what is None is left to the statements.

    Raises `NotFound` if no such fact is held, `InvalidInput` naming the field for a period that is empty or runs
    backwards, for a date on what is eternal and for an end of an event.
    """
    if start is None and end is None:
        raise InvalidInput("valid_from: give valid_from, valid_to or both", field="valid_from")
    fact = _held(door, fact_id)
    _fits(fact, start, end)
    return _say(door, fact, kind, start, end, why, conflict_id)


def close_fact(door: Door, fact_id: UUID, end: End, why: str = "", conflict_id: UUID | None = None) -> Corrected:
    """A person says that a held fact ended, at a date or at one nobody knows. Raises as `correct_period`."""
    if end.precision is None:
        raise InvalidInput("valid_to: closing needs a date, or unknown", field="valid_to")
    return correct_period(door, fact_id, end=end, why=why, kind="closed", conflict_id=conflict_id)


def confirm_fact(door: Door, fact_id: UUID, why: str = "", conflict_id: UUID | None = None) -> Corrected:
    """A person vouches for a held fact: it stands on their word too, and what is stated of its period is fixed.

    An end that the engine made stays the engine's. Raises `NotFound` if no such fact is held.
    """
    fact = _held(door, fact_id)
    start = Start(fact["valid_from"], fact["valid_from_precision"]) if fact["valid_from"] is not None else None
    end = End(fact["valid_to"], fact["valid_to_precision"]) if fact["valid_to_origin"] == "stated" else None
    if fact["temporal"] != "state":
        end = None
    return _say(door, fact, "confirmed", start, end, why, conflict_id)


def undo_correction(door: Door, correction_id: UUID) -> Corrected:
    """Take a person's word on a period back: an earlier word on it stands again, else what the statements say.

    Raises `NotFound`, and `Conflict` for a word that a verdict on a conflict made.
    """
    row = door.connection.execute(sql.query("held_correction"), {"kb_id": door.kb_id, "id": correction_id}).fetchone()
    if row is None:
        raise NotFound("no correction with that id is in force", field="correction_id")
    if row["conflict_id"] is not None:
        raise Conflict(f"the verdict on conflict {row['conflict_id']} made it; revert that", field="correction_id")
    return withdraw(door, row)


def withdraw(door: Door, correction: Row) -> Corrected:
    """Close a held row of ``corrections`` with its assertion, and recompute."""
    lineage = _lineage(door, correction["fact_id"])
    door.close("corrections", [correction["id"]])
    door.close("assertions", [correction["assertion_id"]], "undone")
    return _recomputed(door, correction["id"], lineage, {**correction, "corrects": False})


def _held(door: Door, fact_id: UUID) -> Row:
    fact = door.connection.execute(sql.query("held_fact"), {"kb_id": door.kb_id, "id": fact_id}).fetchone()
    if fact is None:
        raise NotFound("no fact with that id is held", field="fact_id")
    return fact


def _fits(fact: Row, start: Start | None, end: End | None) -> None:
    """Raises `InvalidInput` for a period that what the fact is cannot have."""
    relation = fact["predicate_key"] or fact["phrase"]
    given = "valid_from" if start is not None else "valid_to"
    if fact["temporal"] == "eternal":
        raise InvalidInput(f"{given}: {relation} is eternal and takes no dates", field=given)
    if fact["temporal"] == "event":
        if end is not None:
            raise InvalidInput(f"valid_to: {relation} is an event and has one moment, its valid_from", field="valid_to")
        if start is not None and start.at is None:
            raise InvalidInput("valid_from: an event needs its moment", field="valid_from")
        return
    begins = start.at if start is not None else fact["valid_from"]
    stated = fact["valid_to"] if fact["valid_to_origin"] == "stated" else None
    ends = end.at if end is not None else stated
    if is_empty(begins, ends):
        field = "valid_to" if end is not None else "valid_from"
        raise InvalidInput(
            f"{field}: the period would be empty: it begins at {begins:%F %T} and is over by {ends:%F %T}",
            field=field,
        )


def _say(
    door: Door,
    fact: Row,
    kind: Kind,
    start: Start | None,
    end: End | None,
    why: str,
    conflict_id: UUID | None,
) -> Corrected:
    row = _assertion(fact, start or Start(), end or End())
    seen = _seen(door, fact)
    door.insert("assertions", [row])
    correction = {
        "id": uuid4(),
        "kind": kind,
        "assertion_id": row["id"],
        "fact_id": fact["id"],
        "fixes_start": start is not None,
        "fixes_end": end is not None,
        "seen": sorted(seen),
        "conflict_id": conflict_id,
        "why": why,
    }
    door.insert("corrections", [correction])
    return _recomputed(door, correction["id"], fact["lineage_id"], row)


def _recomputed(door: Door, correction_id: UUID, lineage: UUID, row: Row) -> Corrected:
    changed = recompute(door, [row], load_ontology(door.connection, door.kb_id))
    held = door.connection.execute(sql.query("held_fact_of_lineage"), {"kb_id": door.kb_id, "id": lineage}).fetchone()
    return Corrected(correction_id, lineage, held["id"] if held else None, tuple(sorted(changed)))


def _lineage(door: Door, fact_id: UUID) -> UUID:
    row = door.connection.execute(sql.query("lineage_of_fact"), {"kb_id": door.kb_id, "id": fact_id}).fetchone()
    assert row is not None  # noqa: S101 - a correction's fact is a row for ever
    lineage: UUID = row["lineage_id"]
    return lineage


def _assertion(fact: Row, start: Start, end: End) -> dict[str, Any]:
    said = uuid4()
    nothing = ("attested_at", "replaces", "claim_id", "chunk_id", "document_id", "version_id", "quote_start")
    copied = ("subject_id", "predicate_key", "phrase", "object_id", "value_raw", "value_norm", "value_number")
    return {
        **dict.fromkeys((*nothing, "quote_end")),
        **{c: fact[c] for c in (*copied, "value_unit", "value_type", "qualifiers")},
        "id": said,
        "source_key": f"correction:{said}",
        "stated_from": start.at,
        "stated_from_precision": start.precision,
        "stated_to": end.at,
        "stated_to_precision": end.precision,
        "at_event": False,
        "grade": "A",
        "denies": False,
        "corrects": False,
        "origin": "person",
        "confidence": 1.0,
        "quote": "",
        "wording": "",
    }


def _seen(door: Door, fact: Row) -> set[str]:
    """What the statements under a fact say of time: as they stand, and as the timelines read them."""
    scene = _scene(door, [fact])
    triple = triple_of(fact, scene.canonical)
    scene.load({triple}, correcting=False)
    rows = door.connection.execute(
        sql.query("assertions_under_lineage"), {"kb_id": door.kb_id, "id": fact["lineage_id"]}
    ).fetchall()
    ids = {r["id"] for r in rows}
    read = [a for a in scene.settled.said(value_of(triple)) if a.id in ids]
    return {period_key(a) for a in (*read, *(scene.statement(r, triple) for r in rows))}


def _scene(door: Door, rows: Iterable[Row]) -> Scene:
    ids = {i for r in rows for i in (r["subject_id"], r["object_id"]) if i is not None}
    return Scene(door, load_ontology(door.connection, door.kb_id), canonical_ids(door.connection, door.kb_id, ids))
