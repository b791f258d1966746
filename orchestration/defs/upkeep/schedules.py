"""What happens at fixed hours: a sweep that rests on no event, checkpoints, vector indexes, the clean-up of Dagster."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import dagster as dg

from orchestration.jobs import process_base, sign_base, verify_base
from orchestration.metadata import base_tags, listed
from orchestration.partitions import BASE_TAG, BASES
from orchestration.resources import Substrate, watching
from substrate.bases import list_bases
from substrate.db import EVERY_BASE, owner_conninfo
from substrate.retrieval import vectors
from substrate.retrieval.passages import vector_key
from substrate.retrieval.vectors import EXACT_UP_TO

KEEP_DAYS = 14
KEEP_RUNS = 20
"""Newest runs of each base that stay whatever their age, so that no asset forgets that it was materialized."""
ENDED = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED]
PAGE = 200


@dg.schedule(job=process_base, cron_schedule="17 3 * * *", default_status=dg.DefaultScheduleStatus.RUNNING)
def nightly_sweep(context: dg.ScheduleEvaluationContext) -> Any:
    """One run per base, due or not: what a lost event or a new code version left behind is found by looking."""
    return sweep_of(context.instance, context.scheduled_execution_time)


def sweep_of(instance: dg.DagsterInstance, night: datetime) -> list[dg.RunRequest] | dg.SkipReason:
    """What one tick of `nightly_sweep` asks for."""
    slugs = instance.get_dynamic_partitions(BASES)
    if not slugs:
        return dg.SkipReason("there is no base yet")
    return [
        dg.RunRequest(run_key=f"{night:%Y-%m-%d}:{slug}", partition_key=slug, tags=base_tags(slug, "nightly sweep"))
        for slug in slugs
    ]


@dg.schedule(job=sign_base, cron_schedule="7 * * * *", default_status=dg.DefaultScheduleStatus.RUNNING)
def hourly_checkpoints(context: dg.ScheduleEvaluationContext) -> Any:
    """One run per base that has moved since it was signed: people write between the runs that documents ask for."""
    return unsigned(watching(), context.instance, context.scheduled_execution_time)


def unsigned(substrate: Substrate, instance: dg.DagsterInstance, hour: datetime) -> list[dg.RunRequest] | dg.SkipReason:
    """What one tick of `hourly_checkpoints` asks for."""
    from substrate.ledger.checkpoints import is_behind

    directory = substrate.settings.checkpoints_dir
    slugs = instance.get_dynamic_partitions(BASES)
    with substrate.database.read(EVERY_BASE) as connection:
        moved = [b.slug for b in list_bases(connection) if b.slug in slugs and is_behind(connection, b.id, directory)]
    if not moved:
        return dg.SkipReason("every base stands where it was signed last")
    return [
        dg.RunRequest(
            run_key=f"{hour:%Y-%m-%dT%H}:{slug}", partition_key=slug, tags=base_tags(slug, "hourly checkpoint")
        )
        for slug in moved
    ]


@dg.schedule(job=verify_base, cron_schedule="2 4 * * *", default_status=dg.DefaultScheduleStatus.RUNNING)
def nightly_verification(context: dg.ScheduleEvaluationContext) -> Any:
    """One run per base: what each run of the chain takes on trust from the last checkpoint is walked again."""
    return verifications(context.instance, context.scheduled_execution_time)


def verifications(instance: dg.DagsterInstance, night: datetime) -> list[dg.RunRequest] | dg.SkipReason:
    """What one tick of `nightly_verification` asks for. A job of checks has no partition; the tag names the base."""
    slugs = instance.get_dynamic_partitions(BASES)
    if not slugs:
        return dg.SkipReason("there is no base yet")
    return [
        dg.RunRequest(run_key=f"{night:%Y-%m-%d}:{slug}", tags=base_tags(slug, "nightly verification"))
        for slug in slugs
    ]


def forget_old_runs(
    instance: dg.DagsterInstance, now: datetime, *, days: int = KEEP_DAYS, keep: int = KEEP_RUNS
) -> int:
    """Delete ended runs older than `days` with their events; returns how many.

    The newest `keep` runs of each base stay. Ticks have a retention of their own in ``dagster.yaml``.
    """
    kept = {run_id for slug in instance.get_dynamic_partitions(BASES) for run_id in _newest(instance, slug, keep)}
    old = dg.RunsFilter(statuses=ENDED, created_before=now - timedelta(days=days))
    doomed = [run_id for run_id in _run_ids(instance, old) if run_id not in kept]
    for run_id in doomed:
        instance.delete_run(run_id)
    return len(doomed)


def _newest(instance: dg.DagsterInstance, slug: str, keep: int) -> list[str]:
    records = instance.get_run_records(dg.RunsFilter(tags={BASE_TAG: slug}, statuses=ENDED), limit=keep)
    return [record.dagster_run.run_id for record in records]


def _run_ids(instance: dg.DagsterInstance, wanted: dg.RunsFilter) -> Iterator[str]:
    cursor = None
    while records := instance.get_run_records(wanted, limit=PAGE, cursor=cursor):
        yield from (record.dagster_run.run_id for record in records)
        cursor = records[-1].dagster_run.run_id


@dg.op(description="Deletes runs older than two weeks with their events, but for the newest of each base.")
def delete_old_runs(context: dg.OpExecutionContext) -> None:
    """Dagster keeps its event log for ever otherwise: about 20 KB for each asset of each run."""
    context.log.info("deleted %d runs", forget_old_runs(context.instance, datetime.now(UTC)))


@dg.job(description="Keeps Dagster's own database from growing without end.")
def clean_event_log() -> None:
    """One op."""
    delete_old_runs()


class IndexConfig(dg.Config):
    """From how many vectors of a base on an index pays."""

    above: int = EXACT_UP_TO


@dg.op(description="Builds the vector index of each base that has outgrown the exact scan, with the owner's login.")
def build_vector_indexes(
    context: dg.OpExecutionContext, config: IndexConfig, substrate: dg.ResourceParam[Substrate]
) -> None:
    """Once per base and model in use; where the login may not, the bases are named under ``refused``."""
    model = vector_key(substrate.services.embedder)
    owner = owner_conninfo(substrate.settings)
    built, refused = vectors.build_vector_indexes(substrate.database, owner, model, above=config.above)
    for line in refused:
        context.log.warning("no vector index: %s", line)
    context.add_output_metadata({"built": listed(built), "refused": listed(refused)})


@dg.job(description="Vector indexes of bases that have outgrown the exact scan.")
def index_vectors() -> None:
    """One op."""
    build_vector_indexes()


nightly_indexes = dg.ScheduleDefinition(
    job=index_vectors,
    cron_schedule="32 3 * * *",
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Runs `index_vectors` each night.",
)

nightly_cleanup = dg.ScheduleDefinition(
    job=clean_event_log,
    cron_schedule="47 3 * * *",
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Runs `clean_event_log` each night.",
)
