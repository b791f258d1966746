"""How values of the ledger look in an answer: ids as text, times as RFC 3339 with microseconds, numbers as numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

from substrate.ledger.drafts import plain_decimal
from substrate.reads.moments import rfc3339

Row = Mapping[str, Any]
SINCE = "since"
"""The field of a fact that tells what became of it after the sequence an answer stands on."""
TODAY = (SINCE, "status", "successor_id")
"""Fields of a row that are as of today, whatever sequence an answer stands on."""
HINTS = "hints"
CHECKPOINT = "checkpoint"


def text_or_none(value: object) -> str | None:
    """An id as text."""
    return None if value is None else str(value)


def ids(values: Sequence[UUID] | None) -> list[str]:
    """Ids as text; an absent list is an empty one."""
    return [str(v) for v in values or ()]


def number(value: Decimal) -> int | float | str:
    """A JSON number where it says exactly the same, else the decimal's digits as text."""
    if value == value.to_integral_value() and abs(value) < 2**53:
        return int(value)
    return float(value) if Decimal(repr(float(value))) == value else plain_decimal(value)


def object_value(row: Row) -> dict[str, object] | None:
    """A literal object as {value, unit, raw}; None when the object is an entity."""
    if row["value_raw"] is None:
        return None
    value: object = row["value_raw"]
    if row["value_number"] is not None:
        value = number(row["value_number"])
    elif row["value_type"] == "bool":
        value = row["value_norm"] in ("true", "yes", "1")
    return {"value": value, "unit": row["value_unit"], "raw": row["value_raw"]}


def stated_interval(row: Row) -> dict[str, object]:
    """The interval a source states, with the precision of either end."""
    return {
        "valid_from": rfc3339(row["valid_from"]),
        "valid_to": rfc3339(row["valid_to"]),
        "valid_from_precision": row["valid_from_precision"],
        "valid_to_precision": row["valid_to_precision"],
    }


def end_state(row: Row) -> str:
    """The three states of an end, and who closed it: open, unknown, stated, inferred."""
    if row["valid_to_precision"] is None:
        return "open"
    if row["valid_to_precision"] == "unknown":
        return "unknown"
    return "stated" if row["valid_to_origin"] == "stated" else "inferred"


def confidence(row: Row) -> float:
    """Stored as a four-byte float; six digits are what it really says."""
    return round(float(row["confidence"]), 6)


def promised(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The part of an answer that asking again by ``seq:N`` gives byte for byte: all but what is as of today."""
    kept = {key: value for key, value in answer.items() if key not in (HINTS, CHECKPOINT)}
    return {key: _promised(value) for key, value in kept.items()}


def _promised(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _promised(inside) for key, inside in value.items() if key not in TODAY}
    return [_promised(item) for item in value] if isinstance(value, list) else value
