"""The edge: something happened outside, so one run of the whole chain is asked for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import dagster as dg

from orchestration.jobs import process_base
from orchestration.metadata import base_tags
from orchestration.partitions import BASE_TAG, BASES, bases
from orchestration.resources import Substrate, watching
from substrate.bases import list_bases
from substrate.db import EVERY_BASE
from substrate.documents.folders import WatchedFolder, fingerprint, watched_folders
from substrate.work import Backlog, backlogs

UNDER_WAY = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
]


def _under_way(instance: dg.DagsterInstance, slug: str) -> bool:
    found = instance.get_run_records(dg.RunsFilter(tags={BASE_TAG: slug}, statuses=UNDER_WAY), limit=1)
    return bool(found)


def _missing_partitions(instance: dg.DagsterInstance, slugs: Iterable[str], cursor: str | None) -> list[str]:
    """Bases that are no partition yet. Dagster's storage is asked only if the list of bases has changed."""
    wanted = sorted(slugs)
    if json.dumps(wanted) == cursor:
        return []
    return sorted(set(wanted) - set(instance.get_dynamic_partitions(BASES)))


def due_work_tick(substrate: Substrate, instance: dg.DagsterInstance, cursor: str | None) -> dg.SensorResult:
    """What one tick of `due_work` decides. ``cursor`` is the list of bases that the last tick saw."""
    with substrate.database.read(EVERY_BASE) as connection:
        due = backlogs(connection)
        slugs = sorted(base.slug for base in list_bases(connection))
    new = _missing_partitions(instance, slugs, cursor)
    waiting = [backlog for backlog in due if not _under_way(instance, backlog.slug)]
    reason = None if waiting else _why_not(due)
    return dg.SensorResult(
        run_requests=[_chain(backlog) for backlog in waiting],
        skip_reason=reason,
        dynamic_partitions_requests=[bases.build_add_request(new)] if new else [],
        cursor=json.dumps(slugs),
    )


def _why_not(due: list[Backlog]) -> str:
    if not due:
        return "nothing is due in any base"
    return "a run is under way for " + ", ".join(backlog.slug for backlog in due)


def _chain(backlog: Backlog) -> dg.RunRequest:
    # No run key: whether a run is under way was asked, and the same backlog after a crash must be asked for again.
    return dg.RunRequest(partition_key=backlog.slug, tags=base_tags(backlog.slug, "due work"))


def folders_tick(substrate: Substrate, instance: dg.DagsterInstance, cursor: str | None) -> dg.SensorResult:
    """What one tick of `watched_folders_changed` decides. ``cursor`` maps each folder to its last fingerprint."""
    with substrate.database.read(EVERY_BASE) as connection:
        folders = [folder for folder in watched_folders(connection) if folder.path.is_dir()]
    seen: dict[str, str] = json.loads(cursor) if cursor else {}
    marks = {_key(folder): fingerprint(folder.path) for folder in folders}
    known = set(instance.get_dynamic_partitions(BASES)) if marks != seen else set()
    changed = {f.slug for f in folders if f.slug in known and seen.get(_key(f)) != marks[_key(f)]}
    ready = {slug for slug in changed if not _under_way(instance, slug)}
    kept = {_key(f): marks[_key(f)] for f in folders if f.slug in ready or seen.get(_key(f)) == marks[_key(f)]}
    return dg.SensorResult(
        run_requests=[dg.RunRequest(partition_key=s, tags=base_tags(s, "folder changed")) for s in sorted(ready)],
        skip_reason=None if ready else _no_folder(folders, changed),
        cursor=json.dumps(kept | _unseen(seen, folders, kept), sort_keys=True),
    )


def _key(folder: WatchedFolder) -> str:
    return f"{folder.slug}:{folder.path}"


def _unseen(seen: Mapping[str, str], folders: list[WatchedFolder], kept: Mapping[str, str]) -> dict[str, str]:
    """Old marks of folders whose change waits for a run to end."""
    return {_key(f): seen[_key(f)] for f in folders if _key(f) in seen and _key(f) not in kept}


def _no_folder(folders: list[WatchedFolder], changed: set[str]) -> str:
    if changed:
        return "a run is under way for " + ", ".join(sorted(changed))
    return f"none of {len(folders)} watched folders has changed"


@dg.sensor(
    job=process_base, minimum_interval_seconds=5, default_status=dg.DefaultSensorStatus.RUNNING, tags={"edge": "due"}
)
def due_work(context: dg.SensorEvaluationContext) -> Any:
    """Asks for one run per base that has something due: pushes, remembered sentences, retries, what a crash left."""
    return due_work_tick(watching(), context.instance, context.cursor)


@dg.sensor(
    job=process_base,
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.RUNNING,
    tags={"edge": "folder"},
)
def watched_folders_changed(context: dg.SensorEvaluationContext) -> Any:
    """Asks for a run where a name, a size or a change time in a watched folder is not what it was. Reads no file."""
    return folders_tick(watching(), context.instance, context.cursor)


automation = dg.AutomationConditionSensorDefinition(
    "automation",
    target=dg.AssetSelection.all(),
    default_status=dg.DefaultSensorStatus.RUNNING,
    minimum_interval_seconds=30,
    description="Keeps the graph in step when an asset is materialized by hand; unchanged data wakes nothing.",
)
