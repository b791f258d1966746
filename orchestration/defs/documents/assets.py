"""Documents and the passages they are cut into."""

import dagster as dg

from orchestration.automation import on_change, retry_transient
from orchestration.metadata import OWNERS, Materialized, documents_materialized, stage_materialized, stored
from orchestration.partitions import bases
from orchestration.resources import Substrate


@dg.asset(
    partitions_def=bases,
    group_name="documents",
    retry_policy=retry_transient,
    owners=OWNERS,
    kinds={"python", "postgres"},
    metadata=stored("document_versions", "postgres"),
)
def documents(context: dg.AssetExecutionContext, substrate: dg.ResourceParam[Substrate]) -> Materialized:
    """Every version of every document of the base, as it came by push, from a watched folder, or remembered.

    A materialization brings the watched folders in step; pushes and remembered sentences are there already.
    """
    from substrate.documents.folders import sync_watched

    base = substrate.base(context.partition_key)
    return documents_materialized(substrate, base, sync_watched(substrate.database, base.id))


@dg.asset(
    deps=[documents],
    partitions_def=bases,
    group_name="documents",
    automation_condition=on_change,
    retry_policy=retry_transient,
    owners=OWNERS,
    kinds={"python", "postgres"},
    metadata=stored("chunks", "postgres"),
)
def document_chunks(context: dg.AssetExecutionContext, substrate: dg.ResourceParam[Substrate]) -> Materialized:
    """Passages of the documents with heading path and anchor; one closed version's passages stay on the record.

    A document that cannot be read is named under failures and stops no other.
    """
    from substrate.pipeline import run_step

    base = substrate.base(context.partition_key)
    result = run_step(substrate.database, base.id, substrate.services, "parse")
    return stage_materialized(substrate, base, "document_chunks", result)
