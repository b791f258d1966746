"""The funnel of a base: where everything went between passages and facts."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from fastapi import APIRouter

from api.deps import Reader, StrictRoute
from substrate.funnel import count_funnel

router = APIRouter(route_class=StrictRoute, prefix="/kbs/{kb_id}", tags=["funnel"])


@router.get("/funnel")
def funnel(kb_id: UUID, who: Reader) -> dict[str, Any]:
    """Each level with what came in, what went on, and what was dropped by code; ``balanced`` if nothing is missing."""
    with who.read() as conn:
        return count_funnel(conn, kb_id).shown()
