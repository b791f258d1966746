"""What a base may spend on the chat model in a day, what it has spent, and the alert while that holds extraction up."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Request

from api.deps import Member, Reviewer, StrictRoute, member_of
from api.rest.bodies import Body
from substrate.access.people import ROLES
from substrate.errors import Forbidden
from substrate.extraction.budget import Standing, Terms, set_limits, standing
from substrate.reads.moments import rfc3339

router = APIRouter(route_class=StrictRoute, prefix="/kbs/{kb_id}/model-budget", tags=["extraction"])


class Limits(Body):
    """A base's own limits from now on; null is no limit."""

    tokens_per_day: int | None
    cost_per_day: Decimal | None
    why: str = ""


def _keeper(request: Request) -> Member:
    """For admins and owners. Raises `Forbidden` before the body is judged."""
    found = member_of(request)
    found.must_write()
    if ROLES.index(found.role) < ROLES.index("admin"):
        raise Forbidden("what may be spent is set by an admin or owner of this base")
    return found


@router.get("")
def get_budget(kb_id: UUID, who: Reviewer) -> dict[str, Any]:
    """Today's limits, spending and reservations. ``alert`` says why passages wait and until when, else null."""
    with who.read() as conn:
        return _shown(standing(conn, kb_id, Terms.of(who.settings)))


@router.put("")
def put_budget(kb_id: UUID, body: Limits, who: Annotated[Member, Depends(_keeper)]) -> dict[str, Any]:
    """Give the base limits of its own; what waits for the budget is due at once."""
    with who.write() as conn:
        found = set_limits(
            conn,
            kb_id,
            Terms.of(who.settings),
            tokens_per_day=body.tokens_per_day,
            cost_per_day=body.cost_per_day,
            set_by=who.actor,
            why=body.why,
        )
    return _shown(found)


def _shown(now: Standing) -> dict[str, Any]:
    """Money as decimal text, so that no digit is lost on the way."""
    return {
        "day": now.day.isoformat(),
        "own": now.own,
        "limits": {"tokens_per_day": now.tokens_per_day, "cost_per_day": _money(now.cost_per_day)},
        "spent": {
            "answers": now.answers,
            "tokens": now.tokens,
            "prompt_tokens": now.prompt_tokens,
            "completion_tokens": now.completion_tokens,
            "estimated_tokens": now.estimated_tokens,
            "cost": _money(now.cost),
        },
        "reserved": {"tokens": now.reserved_tokens, "cost": _money(now.reserved_cost)},
        "paused_at": rfc3339(now.paused_at) if now.paused_at else None,
        "alert": now.alert,
    }


def _money(amount: Decimal | None) -> str | None:
    return None if amount is None else format(amount.normalize(), "f")
