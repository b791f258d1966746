"""What passages say, before anybody decides what it means."""

from typing import Any

import dagster as dg

from orchestration.automation import on_change, retry_transient
from orchestration.defs.documents.assets import document_chunks
from orchestration.metadata import OWNERS, Materialized, stage_materialized, stored
from orchestration.partitions import bases
from orchestration.resources import Substrate
from substrate.bases import Base
from substrate.work import StageResult


@dg.asset(
    deps=[document_chunks],
    partitions_def=bases,
    group_name="extraction",
    automation_condition=on_change,
    retry_policy=retry_transient,
    pool="extractor",
    owners=OWNERS,
    kinds={"python", "postgres"},
    metadata=stored("claims", "postgres"),
)
def claims(context: dg.AssetExecutionContext, substrate: dg.ResourceParam[Substrate]) -> Materialized:
    """What each passage says word for word, once per passage and extractor; here alone a language model is asked."""
    from substrate.pipeline import run_step

    base = substrate.base(context.partition_key)
    result = run_step(substrate.database, base.id, substrate.services, "claims")
    done = stage_materialized(substrate, base, "claims", result)
    spent, alert = model_metadata(substrate, base, result)
    if alert is not None:
        context.log.warning(alert)
    return done._replace(metadata={**(done.metadata or {}), **spent})


def model_metadata(substrate: Substrate, base: Base, result: StageResult) -> tuple[dict[str, Any], str | None]:
    """What the chat model cost in this run and today, and the alert if the base's budget holds passages up."""
    from substrate.extraction.budget import Terms, standing

    terms = Terms.of(substrate.settings)
    with substrate.database.read(base.id) as connection:
        today = standing(connection, base.id, terms)
    tokens = {kind: count for kind, count in result.cost.items() if kind.endswith("_tokens")}
    metadata = {
        "model_tokens": sum(tokens.values()),
        "model_cost": float(terms.cost(tokens)),
        "model_tokens_today": today.tokens,
        "model_cost_today": float(today.cost),
        "alert": today.alert or "none",
    }
    return metadata, today.alert
