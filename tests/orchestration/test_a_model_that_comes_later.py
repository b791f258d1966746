"""Passages that were cut while no model could be opened ask for a run themselves, a minute later."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import dagster as dg
import pytest

from orchestration.defs.documents.sensors import due_work_tick
from orchestration.resources import Substrate
from substrate import work
from substrate.db import EVERY_BASE
from substrate.documents.intake import PushItem, push
from substrate.pipeline import Services, run_pipeline, run_step


def later(substrate: Substrate) -> None:
    with substrate.database.write(EVERY_BASE) as conn:
        conn.execute("update work set due_at = due_at - interval '61 seconds' where state = 'due'")


def asked(substrate: Substrate, instance: dg.DagsterInstance) -> list[str | None]:
    return [r.partition_key for r in due_work_tick(substrate, instance, None).run_requests or ()]


@pytest.mark.parametrize("missing", ["embed", "claims"])
def test_what_a_missing_model_left_is_seen_by_the_sensor(
    substrate: Substrate, kb: UUID, instance: dg.DagsterInstance, tmp_path: Path, missing: work.Stage
) -> None:
    push(substrate.database, kb, [PushItem("memo", "memo.md", b"Ada leads Orion.")], actor="person:Ada", via="rest")
    change = {"models_dir": tmp_path} if missing == "embed" else {"extractor": "openai", "chat_api_key": None}
    given = substrate.services
    model = {"extractor": given.extractor} if missing == "embed" else {"embedder": given.embedder}
    with Services(substrate.settings.model_copy(update=change), **model) as bare:
        first = {r.stage: r for r in run_pipeline(substrate.database, kb, bare)}
        assert (first[missing].failed, first[missing].remaining) == (1, 1)
        assert asked(substrate, instance) == []
        later(substrate)
        assert asked(substrate, instance) == ["test"]
        assert run_step(substrate.database, kb, bare, missing).remaining == 1
        assert asked(substrate, instance) == []
        later(substrate)
    second = {r.stage: r for r in run_pipeline(substrate.database, kb, given)}
    assert (second[missing].done, second[missing].remaining) == (1, 0)
    later(substrate)
    assert asked(substrate, instance) == []
