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
    """``{"status": "ok"}`` when a query went through; else a 503 problem.

    ``audit`` tells how this process keeps record of what it serves: events that wait to be written, events that are
    lost, the seconds that the oldest row waits for a seal, and what went wrong last. ``degraded``: any of it is amiss.
    """
    state = request.app.state
    with state.database.read(NO_BASE) as conn:
        conn.execute(sql.query("clock"))
    log, sealing = state.access_log, state.sealing
    audit = {"unwritten": log.unwritten, "lost": log.lost, **sealing.state()}
    amiss = log.lost or sealing.late or audit["problem"]
    return {"status": "degraded" if amiss else "ok", "version": request.app.version, "audit": audit}
