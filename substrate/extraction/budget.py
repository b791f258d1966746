"""What a base may spend on the chat model in a day: reserved before a call, settled after it, and paused in the open.

A call begins only if what was spent today, what calls under way have reserved and its own estimate stay within the
limits. An estimate may be too low, so that each call under way can pass the limit by what it costs beyond its own
estimate, and by no more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from substrate import sql
from substrate.db import AnyConnection, WriteConnection
from substrate.errors import InvalidInput
from substrate.settings import Settings

RECHECK_S = 900.0
"""How long passages wait at most before the budget is looked at again: a limit may be raised in the settings."""
_KINDS = ("prompt_tokens", "completion_tokens", "estimated_tokens")
_MILLION = Decimal(1_000_000)
Usage = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Terms:
    """Limits of a base that has none of its own, and prices for a million tokens in one currency."""

    tokens_per_day: int | None = None
    cost_per_day: Decimal | None = None
    prompt_price: Decimal = Decimal(0)
    completion_price: Decimal = Decimal(0)

    @staticmethod
    def of(settings: Settings) -> Terms:
        """Those of the settings. Raises `InvalidInput` for a limit on cost where no price is known."""
        terms = Terms(
            settings.chat_tokens_per_day,
            settings.chat_cost_per_day,
            settings.chat_prompt_price,
            settings.chat_completion_price,
        )
        terms.must_have_prices(terms.cost_per_day, "TWOCLOCKS_CHAT_COST_PER_DAY")
        return terms

    def must_have_prices(self, cost: Decimal | None, field: str) -> None:
        """Raises `InvalidInput` where a limit on cost would never be met."""
        if cost is not None and not (self.prompt_price or self.completion_price):
            need = "TWOCLOCKS_CHAT_PROMPT_PRICE or _CHAT_COMPLETION_PRICE"
            raise InvalidInput(
                f"{field}: without {need} every call costs nothing and the limit is never met", field=field
            )

    def cost(self, usage: Usage) -> Decimal:
        """What `usage` costs. Estimated tokens are mostly prompt and are priced as such."""
        prompt = usage.get("prompt_tokens", 0) + usage.get("estimated_tokens", 0)
        return (prompt * self.prompt_price + usage.get("completion_tokens", 0) * self.completion_price) / _MILLION


@dataclass(frozen=True, slots=True)
class Standing:
    """A base's budget today."""

    day: date
    ends: datetime
    own: bool
    """Whether the limits are the base's own."""
    tokens_per_day: int | None
    cost_per_day: Decimal | None
    answers: int
    prompt_tokens: int
    completion_tokens: int
    estimated_tokens: int
    cost: Decimal
    reserved_tokens: int
    reserved_cost: Decimal
    paused_at: datetime | None
    paused_by: str | None

    @property
    def tokens(self) -> int:
        """Spent today, by the servers' counts and by estimates."""
        return self.prompt_tokens + self.completion_tokens + self.estimated_tokens

    @property
    def limited(self) -> bool:
        return self.tokens_per_day is not None or self.cost_per_day is not None

    @property
    def alert(self) -> str | None:
        """Why no passage is asked about now; None while there is no reason."""
        if self.paused_by is None:
            return None
        return f"{self.paused_by}; extraction goes on at {self.ends:%Y-%m-%dT%H:%MZ} or when the limit is raised"


def standing(conn: AnyConnection, kb_id: UUID, terms: Terms) -> Standing:
    """How a base stands today, UTC, by the database's clock."""
    [row] = conn.execute(sql.query("budget_standing"), {"kb_id": kb_id}).fetchall()
    own = row.pop("number") is not None
    given: dict[str, Any] = {} if own else {"tokens_per_day": terms.tokens_per_day, "cost_per_day": terms.cost_per_day}
    return Standing(**{**row, **given, "own": own})


def reserve(
    conn: WriteConnection,
    kb_id: UUID,
    terms: Terms,
    calls: Sequence[tuple[UUID, Usage]],
    *,
    seconds: float,
    most: int | None = None,
) -> int:
    """How many of the calls, from the first on, may begin now; each is reserved for at most `seconds`.

    Where the base has a limit, no more than `most` may: what only stands in line is judged when its turn comes.
    The first that may not begin pauses the base, which `Standing.alert` tells from then on; the pause ends when a
    later call has room.
    """
    day = _lock(conn, kb_id)
    now = standing(conn, kb_id, terms)
    if not now.limited and now.paused_by is None:
        return len(calls)
    calls = calls[:most]
    costs = [terms.cost(usage) for _, usage in calls]
    tokens = [sum(usage.get(kind, 0) for kind in _KINDS) for _, usage in calls]
    granted, reason = _granted(now, tokens, costs)
    conn.execute(sql.query("budget_pause"), {"kb_id": kb_id, "day": day, "paused_by": reason})
    values = {"chunks": [call for call, _ in calls[:granted]], "tokens": tokens[:granted], "costs": costs[:granted]}
    if granted:
        conn.execute(sql.query("budget_reserve"), {"kb_id": kb_id, "day": day, "seconds": seconds, **values})
    return granted


def _granted(now: Standing, tokens: Sequence[int], costs: Sequence[Decimal]) -> tuple[int, str | None]:
    used, paid = now.tokens + now.reserved_tokens, now.cost + now.reserved_cost
    for number, (more, cost) in enumerate(zip(tokens, costs, strict=True)):
        used, paid = used + more, paid + cost
        if now.tokens_per_day is not None and used > now.tokens_per_day:
            return number, f"the budget of {now.tokens_per_day} tokens for {now.day} has no room for another call"
        if now.cost_per_day is not None and paid > now.cost_per_day:
            return number, f"the budget of {now.cost_per_day} for {now.day} has no room for another call"
    return len(tokens), None


def settle(conn: WriteConnection, kb_id: UUID, terms: Terms, paid: Mapping[UUID, Usage]) -> None:
    """Count what calls have cost, used or not, and free what was reserved for them."""
    if not paid:
        return
    day = _lock(conn, kb_id)
    conn.execute(sql.query("budget_free"), {"kb_id": kb_id, "chunks": list(paid)})
    sums = {kind: sum(usage.get(kind, 0) for usage in paid.values()) for kind in _KINDS}
    spent = {"answers": sum(any(usage.values()) for usage in paid.values()), "cost": terms.cost(sums), **sums}
    conn.execute(sql.query("budget_spend"), {"kb_id": kb_id, "day": day, **spent})


def set_limits(
    conn: WriteConnection,
    kb_id: UUID,
    terms: Terms,
    *,
    tokens_per_day: int | None,
    cost_per_day: Decimal | None,
    set_by: str,
    why: str = "",
) -> Standing:
    """Give a base limits of its own, None for none; passages that wait for the budget are due at once.

    Raises `InvalidInput` for a negative limit, and for one on cost where no price is known.
    """
    for field, limit in (("tokens_per_day", tokens_per_day), ("cost_per_day", cost_per_day)):
        if limit is not None and not (Decimal(limit).is_finite() and 0 <= limit < 2**63):
            raise InvalidInput(f"{field}: a number from 0 on, or null for no limit", field=field)
    terms.must_have_prices(cost_per_day, "cost_per_day")
    day = _lock(conn, kb_id)
    limits = {"tokens_per_day": tokens_per_day, "cost_per_day": cost_per_day}
    conn.execute(sql.query("budget_set"), {"kb_id": kb_id, "set_by": set_by, "why": why, **limits})
    conn.execute(sql.query("budget_pause"), {"kb_id": kb_id, "day": day, "paused_by": None})
    conn.execute(sql.query("postpone_work"), {"kb_id": kb_id, "stage": "claims", "seconds": 0})
    return standing(conn, kb_id, terms)


def _lock(conn: WriteConnection, kb_id: UUID) -> date:
    [row] = conn.execute(sql.query("budget_lock_day"), {"kb_id": kb_id}).fetchall()
    day: date = row["day"]
    return day
