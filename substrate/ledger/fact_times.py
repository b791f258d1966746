"""The columns of a fact that say when it holds, and how a fact comes out otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from typing import Any

from substrate.axes.valid_time import bucket_end
from substrate.ledger.spans import NOWHERE, Span

TIME = (
    "temporal", "valid_from", "valid_from_precision", "valid_to", "valid_to_precision", "valid_to_origin",
    "attested_from", "attested_to", "holds_from", "holds_to", "undated",
)  # fmt: skip
_values = itemgetter(*TIME)


def time_values(span: Span, temporal: str) -> tuple[Any, ...]:
    """What the columns of `TIME` are for a span."""
    return (
        temporal, span.start, span.start_precision, span.end, span.end_precision, span.end_origin,
        span.attested_from, span.attested_to, *span.holds, span.undated,
    )  # fmt: skip


def time_alone(row: Mapping[str, Any], temporal: str) -> tuple[Any, ...] | None:
    """What the columns of `TIME` are where one statement stands alone, read off its columns.

    None where it speaks of an end, which takes the walk along a timeline. `Timelines` gives the same, ten times slower.
    """
    if row["stated_to_precision"] is not None:
        return None
    start, precision, attested = row["stated_from"], row["stated_from_precision"], row["attested_at"]
    if temporal == "eternal":
        return (temporal, *(None,) * 9, True)
    undated = start is None and attested is None
    if temporal == "state":
        opens = attested if start is None else start
        return (temporal, start, precision, None, None, None, attested, None, opens, None, undated)
    first = attested or NOWHERE if start is None else start
    last = first if start is None else bucket_end(start, precision)
    return (temporal, start, precision, None, None, None, attested, None, first, last, undated)


def time_of(span: Span, temporal: str) -> dict[str, Any]:
    """The columns of a fact that say when it holds."""
    return dict(zip(TIME, time_values(span, temporal), strict=True))


def outcome(held: Mapping[str, Any], content: Mapping[str, Any]) -> str | None:
    """How a held fact would come out otherwise in time; None where it would not."""
    return outcome_of(_values(held), _values(content))


def outcome_of(held: tuple[Any, ...], content: tuple[Any, ...]) -> str | None:
    """As `outcome`, of the values of `TIME`."""
    if held == content:
        return None
    if held[0] != content[0]:
        return "retyped"
    ended, ends = held[4] is not None, content[4] is not None
    return "changed" if ended == ends else "closed" if ends else "reopened"
