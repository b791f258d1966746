"""A base is signed at the end of each run and each hour that it moved, and damage leaves the last checkpoint alone."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import dagster as dg
import psycopg
import pytest

from orchestration.defs.ledger.assets import ledger_checkpoints
from orchestration.defs.upkeep.schedules import hourly_checkpoints, unsigned
from orchestration.partitions import BASE_TAG, BASES
from orchestration.resources import Substrate
from substrate.errors import LedgerDamaged
from substrate.ledger.checkpoints import check_checkpoint, load_key
from tests.ledger_facts import Scribe

HOUR = datetime(2026, 1, 2, 3, 7, tzinfo=UTC)


def sign(substrate: Substrate, instance: dg.DagsterInstance) -> dg.ExecuteInProcessResult:
    return dg.materialize(
        [ledger_checkpoints],
        selection=[ledger_checkpoints],
        instance=instance,
        partition_key="test",
        resources={"substrate": substrate},
    )


@pytest.fixture
def scribe(substrate: Substrate, kb: UUID, instance: dg.DagsterInstance) -> Scribe:
    instance.add_dynamic_partitions(BASES, ["test"])
    return Scribe(substrate.database, kb)


def test_a_base_that_moved_is_signed_and_one_that_did_not_is_left(
    substrate: Substrate, kb: UUID, instance: dg.DagsterInstance, scribe: Scribe
) -> None:
    asked = unsigned(substrate, instance, HOUR)
    assert isinstance(asked, list)
    assert [(r.run_key, r.partition_key, r.tags[BASE_TAG]) for r in asked] == [("2026-01-02T03:test", "test", "test")]
    result = sign(substrate, instance)
    [made] = result.asset_materializations_for_node("ledger_checkpoints")
    assert (made.metadata["seq"].value, made.metadata["new"].value) == (scribe.seq(), True)
    latest = substrate.settings.checkpoints_dir / str(kb) / "latest.txt"
    key = load_key(substrate.settings.checkpoint_key)
    assert check_checkpoint(latest.read_text(), key.public_key()).seq == scribe.seq()
    assert isinstance(unsigned(substrate, instance, HOUR), dg.SkipReason)
    scribe.say("Ada", "leads", "Orion")
    assert isinstance(unsigned(substrate, instance, HOUR), list)
    sign(substrate, instance)
    assert len(list((latest.parent / "history").iterdir())) == 2
    assert hourly_checkpoints.cron_schedule == "7 * * * *"


def test_what_was_served_is_sealed_and_signed_and_lateness_is_a_failed_check(
    substrate: Substrate, kb: UUID, instance: dg.DagsterInstance, scribe: Scribe, dsn: str, tmp_path: Path
) -> None:
    substrate.settings = substrate.settings.model_copy(update={"checkpoint_copies": str(tmp_path / "elsewhere")})
    assert sealed_in_time(sign(substrate, instance)) == (True, 0)
    with psycopg.connect(dsn) as owner:
        owner.execute("insert into access_events (kb_id, via, action) values (%s, 'mcp', 'x')", (kb,))
    assert isinstance(unsigned(substrate, instance, HOUR), dg.SkipReason), "not sealed yet"
    assert sealed_in_time(sign(substrate, instance)) == (True, 1)
    with psycopg.connect(dsn) as owner:
        owner.execute(
            "insert into access_events (kb_id, at, via, action) values (%s, now() - interval '11 s', 'mcp', 'y')", (kb,)
        )
    assert sealed_in_time(sign(substrate, instance)) == (False, 1)
    kept = (substrate.settings.checkpoints_dir / str(kb) / "latest.txt").read_text()
    assert (tmp_path / "elsewhere" / str(kb) / "latest.txt").read_text() == kept
    signed = check_checkpoint(kept, load_key(substrate.settings.checkpoint_key).public_key())
    assert (signed.seq, signed.sealed) == (scribe.seq(), 2)


def sealed_in_time(result: dg.ExecuteInProcessResult) -> tuple[bool, object]:
    [found] = result.get_asset_check_evaluations()
    return found.passed, found.metadata["rows"].value


def test_damage_is_not_signed(
    substrate: Substrate, kb: UUID, instance: dg.DagsterInstance, scribe: Scribe, dsn: str
) -> None:
    sign(substrate, instance)
    latest = substrate.settings.checkpoints_dir / str(kb) / "latest.txt"
    before = latest.read_text()
    scribe.say("Ada", "leads", "Orion")
    with psycopg.connect(dsn) as owner:
        owner.execute("set session_replication_role = replica")
        owner.execute("update ledger_log set payload = '{}' where seq = %s and ordinal = 1", (scribe.seq(),))
    with pytest.raises(LedgerDamaged):
        ledger_checkpoints(dg.build_asset_context(partition_key="test"), substrate)
    assert latest.read_text() == before
