"""The columns of a fact that say when it holds, and how a fact comes out otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from substrate.ledger.spans import Span


def time_of(span: Span, temporal: str) -> dict[str, Any]:
    """The columns of a fact that say when it holds."""
    holds_from, holds_to = span.holds
    return {
        "temporal": temporal,
        "valid_from": span.start,
        "valid_from_precision": span.start_precision,
        "valid_to": span.end,
        "valid_to_precision": span.end_precision,
        "valid_to_origin": span.end_origin,
        "attested_from": span.attested_from,
        "attested_to": span.attested_to,
        "holds_from": holds_from,
        "holds_to": holds_to,
        "undated": span.undated,
    }


def outcome(held: Mapping[str, Any], content: Mapping[str, Any]) -> str | None:
    """How a held fact would come out otherwise in time; None where it would not."""
    if all(held[c] == content[c] for c in TIME):
        return None
    if held["temporal"] != content["temporal"]:
        return "retyped"
    ended, ends = held["valid_to_precision"] is not None, content["valid_to_precision"] is not None
    return "changed" if ended == ends else "closed" if ends else "reopened"


TIME = tuple(time_of(Span(), "state"))
