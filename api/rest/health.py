"""Is the API up, and can it reach its database? The only route that asks for no token."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from api.deps import StrictRoute
from substrate import sql
from substrate.db import NO_BASE

router = APIRouter(route_class=StrictRoute, tags=["health"])


@router.get("/health")
def health(request: Request) -> dict[str, Any]:
    """``{"status": "ok"}`` when a query went through; else a 503 problem."""
    with request.app.state.database.read(NO_BASE) as conn:
        conn.execute(sql.query("clock"))
    return {"status": "ok", "version": request.app.version}
