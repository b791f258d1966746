"""A run of the claims asset shows what the chat model cost, and the alert while a budget holds passages up."""

from __future__ import annotations

from decimal import Decimal
from uuid import UUID

from orchestration.defs.extraction.assets import model_metadata
from orchestration.resources import Substrate
from substrate.bases import base_by_id
from substrate.extraction.budget import Terms, reserve, set_limits, settle
from substrate.work import StageResult

PRICES = {"chat_prompt_price": Decimal(2), "chat_completion_price": Decimal(8)}


def test_tokens_cost_and_alert_are_metadata(substrate: Substrate, kb: UUID) -> None:
    substrate.settings = substrate.settings.model_copy(update=PRICES)
    terms = Terms.of(substrate.settings)
    usage = {"prompt_tokens": 500_000, "completion_tokens": 250_000}
    with substrate.database.write(kb) as conn:
        base = base_by_id(conn, kb)
        settle(conn, kb, terms, {kb: usage})
    shown, alert = model_metadata(substrate, base, StageResult("claims", cost=usage))
    assert shown == {
        "model_tokens": 750_000,
        "model_cost": 3.0,
        "model_tokens_today": 750_000,
        "model_cost_today": 3.0,
        "alert": "none",
    }
    assert alert is None
    with substrate.database.write(kb) as conn:
        set_limits(conn, kb, terms, tokens_per_day=None, cost_per_day=Decimal(3), set_by="person:Ada")
        assert reserve(conn, kb, terms, [(kb, usage)], seconds=60) == 0
    shown, alert = model_metadata(substrate, base, StageResult("claims"))
    assert shown["model_cost"] == 0 and "budget of 3" in str(shown["alert"]) and alert == shown["alert"]
