"""What passages say, before anybody decides what it means."""

import dagster as dg

from orchestration.automation import on_change, retry_transient
from orchestration.defs.documents.assets import document_chunks
from orchestration.metadata import OWNERS, Materialized, stage_materialized, stored
from orchestration.partitions import bases
from orchestration.resources import Substrate


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
    return stage_materialized(substrate, base, "claims", result)
