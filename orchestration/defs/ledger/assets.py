"""What the base holds: what phrases name, entities, and facts on two clocks."""

import dagster as dg

from orchestration.automation import on_change, retry_transient
from orchestration.defs.extraction.assets import claims
from orchestration.metadata import (
    OWNERS,
    SEALED_IN_TIME,
    Materialized,
    bindings_materialized,
    checkpoint_materialized,
    funnel_materialized,
    stage_materialized,
    stored,
)
from orchestration.partitions import bases
from orchestration.resources import Substrate


@dg.asset(
    deps=[claims],
    partitions_def=bases,
    group_name="ledger",
    automation_condition=on_change,
    retry_policy=retry_transient,
    pool="embedder",
    owners=OWNERS,
    kinds={"python", "postgres"},
    metadata=stored("bindings", "postgres"),
)
def phrase_bindings(context: dg.AssetExecutionContext, substrate: dg.ResourceParam[Substrate]) -> Materialized:
    """Which declared relation each phrase of the claims names, in which direction, and what that was decided on.

    Undecided phrases are listed by how often they are said. Facts follow a binding that changes.
    """
    from substrate.pipeline import run_step

    base = substrate.base(context.partition_key)
    result = run_step(substrate.database, base.id, substrate.services, "bindings")
    return bindings_materialized(substrate, base, result)


@dg.asset(
    deps=[phrase_bindings],
    partitions_def=bases,
    group_name="ledger",
    automation_condition=on_change,
    retry_policy=retry_transient,
    owners=OWNERS,
    kinds={"python", "postgres"},
    metadata=stored("entities", "postgres"),
)
def entities(context: dg.AssetExecutionContext, substrate: dg.ResourceParam[Substrate]) -> Materialized:
    """People, organizations, projects and other things that claims name, with the mentions that name them."""
    from substrate.pipeline import run_step

    base = substrate.base(context.partition_key)
    result = run_step(substrate.database, base.id, substrate.services, "entities")
    return stage_materialized(substrate, base, "entities", result)


@dg.asset(
    deps=[entities],
    partitions_def=bases,
    group_name="ledger",
    automation_condition=on_change,
    retry_policy=retry_transient,
    owners=OWNERS,
    kinds={"python", "postgres"},
    metadata=stored("facts", "postgres"),
)
def facts(context: dg.AssetExecutionContext, substrate: dg.ResourceParam[Substrate]) -> Materialized:
    """What the base holds to be so, each fact with the time it holds in the world and the time it was on record.

    What a remembered sentence claims waits as a proposal instead.
    """
    from substrate.pipeline import run_step

    base = substrate.base(context.partition_key)
    result = run_step(substrate.database, base.id, substrate.services, "facts")
    return stage_materialized(substrate, base, "facts", result)


@dg.asset(
    deps=[facts],
    partitions_def=bases,
    group_name="ledger",
    automation_condition=on_change,
    retry_policy=retry_transient,
    owners=OWNERS,
    kinds={"python", "postgres"},
    metadata=stored("reading_coverage", "postgres"),
)
def funnel(context: dg.AssetExecutionContext, substrate: dg.ResourceParam[Substrate]) -> Materialized:
    """Where everything went between passages and facts: what came in at each level, what went on, drops by code.

    With the share of sentences that have a claim, and the phrases that nobody has decided yet.
    """
    from substrate.pipeline import run_step

    base = substrate.base(context.partition_key)
    result = run_step(substrate.database, base.id, substrate.services, "funnel")
    return funnel_materialized(substrate, base, result)


@dg.asset(
    deps=[facts],
    partitions_def=bases,
    group_name="ledger",
    automation_condition=on_change,
    retry_policy=retry_transient,
    owners=OWNERS,
    kinds={"python", "file"},
    metadata=stored("checkpoints", "file"),
    check_specs=[
        dg.AssetCheckSpec(SEALED_IN_TIME, asset="ledger_checkpoints", description="Nothing waited over ten seconds.")
    ],
)
def ledger_checkpoints(
    context: dg.AssetExecutionContext, substrate: dg.ResourceParam[Substrate]
) -> dg.MaterializeResult:  # type: ignore[type-arg]  # Dagster knows the bare class alone where a check rides along
    """Where chain and seals of a base stand, signed, for a copy out of reach of whoever can write to the database.

    Fails, and leaves the last one as it is, where the chain does not follow from what was signed before.
    """
    from substrate.audit.signing import keep_checkpoint

    base = substrate.base(context.partition_key)
    return checkpoint_materialized(keep_checkpoint(substrate.database, base.id, substrate.settings))
