"""A claim as the case files of the built-in extractor write it."""

from __future__ import annotations

from datetime import UTC, datetime

from substrate.extraction.claims import Claim

_CUT = {"year": 4, "month": 7, "day": 10, "hour": 13, "minute": 16, "second": 19}
ANCHOR = datetime(2026, 3, 2, tzinfo=UTC)
"""The date of every passage that is made from a case."""


def spelled(claim: Claim) -> str:
    """A claim as the case files write it."""
    t = claim.time
    start = t.valid_from.isoformat()[: _CUT[t.valid_from_precision]] if t.valid_from and t.valid_from_precision else ""
    end = "?" if t.valid_to_precision == "unknown" else ""
    if t.valid_to and t.valid_to_precision:
        end = t.valid_to.isoformat()[: _CUT[t.valid_to_precision]]
    marks = [
        claim.mood or "",
        "=" if t.at_event else "",
        "corrects" if claim.corrects else "",
        "denies" if claim.denies else "",
    ]
    value = claim.value
    target = claim.object or ""
    if value is not None:
        target = f"{value.number} {value.unit or ''}".strip() if value.number is not None else value.raw
    fields = [claim.subject, claim.phrase, target, start, end, " ".join(m for m in marks if m)]
    while not fields[-1]:
        fields.pop()
    return " | ".join(fields)
