"""The edge of the graph: when a run is asked for, and what a skipped tick says."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import dagster as dg

from orchestration import resources
from orchestration.defs.documents.sensors import due_work, due_work_tick, folders_tick
from orchestration.defs.upkeep.schedules import sweep_of
from orchestration.partitions import BASE_TAG, BASES
from orchestration.resources import Substrate
from substrate.documents.folders import sync_folder
from substrate.documents.intake import PushItem, push, remember

BY = {"actor": "person:Ada", "via": "rest"}


def asked(result: dg.SensorResult) -> list[str | None]:
    return [request.partition_key for request in result.run_requests or ()]


def adopt(instance: dg.DagsterInstance, result: dg.SensorResult) -> str | None:
    """What the daemon does with a tick's result, but for launching."""
    for request in result.dynamic_partitions_requests or ():
        instance.add_dynamic_partitions(BASES, list(request.partition_keys))
    return result.cursor


def under_way(instance: dg.DagsterInstance, slug: str) -> None:
    @dg.job
    def long() -> None: ...

    run = instance.create_run_for_job(long, tags={BASE_TAG: slug}, status=dg.DagsterRunStatus.STARTED)
    assert run.status == dg.DagsterRunStatus.STARTED


def test_a_new_base_becomes_a_partition_and_asks_for_no_run(
    substrate: Substrate, kb: UUID, instance: dg.DagsterInstance
) -> None:
    result = due_work_tick(substrate, instance, None)
    assert asked(result) == []
    assert "nothing is due" in str(result.skip_reason)
    cursor = adopt(instance, result)
    assert instance.get_dynamic_partitions(BASES) == ["test"]
    assert due_work_tick(substrate, instance, cursor).dynamic_partitions_requests == []


def test_what_is_due_asks_for_one_run_until_it_is_done(
    substrate: Substrate, kb: UUID, instance: dg.DagsterInstance
) -> None:
    push(substrate.database, kb, [PushItem("memo", "memo.md", b"Ada leads Orion.")], **BY)
    remember(substrate.database, kb, "Bo leads Zephyr.", **BY)
    result = due_work_tick(substrate, instance, None)
    assert asked(result) == ["test"]
    assert result.skip_reason is None
    [request] = result.run_requests or ()
    assert request.tags[BASE_TAG] == "test"
    adopt(instance, result)
    # The run crashed before it did anything: the same backlog is asked for again.
    assert asked(due_work_tick(substrate, instance, result.cursor)) == ["test"]

    under_way(instance, "test")
    busy = due_work_tick(substrate, instance, result.cursor)
    assert asked(busy) == []
    assert "under way for test" in str(busy.skip_reason)


def test_a_run_of_another_base_holds_up_nobody(substrate: Substrate, kb: UUID, instance: dg.DagsterInstance) -> None:
    remember(substrate.database, kb, "Bo leads Zephyr.", **BY)
    under_way(instance, "other")
    assert asked(due_work_tick(substrate, instance, None)) == ["test"]


def test_the_sensor_itself_ticks(
    substrate: Substrate, kb: UUID, instance: dg.DagsterInstance, monkeypatch: Any
) -> None:
    monkeypatch.setattr(resources, "_watching", [substrate])
    remember(substrate.database, kb, "Bo leads Zephyr.", **BY)
    result = due_work(dg.build_sensor_context(instance=instance))
    assert isinstance(result, dg.SensorResult)
    assert asked(result) == ["test"]


def test_a_changed_folder_asks_for_a_run_and_an_unchanged_one_does_not(
    substrate: Substrate, kb: UUID, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.txt").write_text("a")
    sync_folder(substrate.database, kb, folder, **BY)
    instance.add_dynamic_partitions(BASES, ["test"])
    first = folders_tick(substrate, instance, None)
    assert asked(first) == ["test"]
    second = folders_tick(substrate, instance, first.cursor)
    assert asked(second) == []
    assert "none of 1 watched folders" in str(second.skip_reason)

    (folder / "a.txt").write_text("b")
    os.utime(folder / "a.txt", (1, 1))
    under_way(instance, "test")
    third = folders_tick(substrate, instance, second.cursor)
    assert asked(third) == []
    assert "under way" in str(third.skip_reason)
    instance.wipe()
    instance.add_dynamic_partitions(BASES, ["test"])
    # The change was not forgotten while it waited.
    assert asked(folders_tick(substrate, instance, third.cursor)) == ["test"]


def test_the_sweep_asks_for_every_base_once_a_night(instance: dg.DagsterInstance) -> None:
    night = datetime(2026, 1, 2, 3, 17, tzinfo=UTC)
    nothing = sweep_of(instance, night)
    assert isinstance(nothing, dg.SkipReason)
    assert "no base" in str(nothing.skip_message)
    instance.add_dynamic_partitions(BASES, ["a", "b"])
    requests = sweep_of(instance, night)
    assert isinstance(requests, list)
    assert [(r.run_key, r.partition_key) for r in requests] == [("2026-01-02:a", "a"), ("2026-01-02:b", "b")]
