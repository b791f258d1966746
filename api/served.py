"""Which facts and passages an answer hands out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID


def fact_ids_in(answer: Mapping[str, Any]) -> list[UUID]:
    """Ids of the facts shown, in order."""
    found = [f["id"] for f in answer.get("facts", ())]
    found += [c["fact_id"] for c in answer.get("changes", ()) if c["fact_id"] is not None]
    return [UUID(i) for i in found]


def chunk_ids_in(answer: Mapping[str, Any]) -> list[UUID]:
    """Ids of the passages shown, in order."""
    shown = [*answer.get("chunks", ()), *answer.get("sections", ())]
    return [UUID(c["chunk_id"]) for c in shown]
