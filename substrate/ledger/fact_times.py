"""The columns of a fact that say when it holds, and how a fact comes out otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from typing import Any

from substrate.ledger.spans import Span

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
