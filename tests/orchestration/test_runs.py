"""Runs of the whole chain: what they leave, what wakes what, and what a failing check stops."""

from __future__ import annotations

import warnings
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from uuid import UUID

import dagster as dg
import psycopg
import pytest

from orchestration.definitions import defs
from orchestration.defs.upkeep.schedules import forget_old_runs, nightly_verification, verifications
from orchestration.partitions import BASE_TAG, BASES
from orchestration.resources import Substrate
from orchestration.run import materialize, summary
from substrate.documents.intake import PushItem, push
from substrate.settings import Settings

BY = {"actor": "person:Ada", "via": "rest"}


def put(substrate: Substrate, kb: UUID, text: str, name: str = "memo") -> None:
    push(substrate.database, kb, [PushItem(name, f"{name}.md", text.encode())], **BY)


def run(substrate: Substrate, instance: dg.DagsterInstance, **more: Any) -> dg.ExecuteInProcessResult:
    return materialize(substrate.settings, "test", instance, substrate=substrate, **more)


def woken(instance: dg.DagsterInstance, cursor: Any = None) -> dg.EvaluateAutomationConditionsResult:
    definitions = defs()
    # Dagster's own tester asks its storage for the partitions a thousand times, where the daemon remembers them.
    known = cache(instance.get_dynamic_partitions)
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patched:
        patched.setattr(instance, "get_dynamic_partitions", known)
        # It uses a parameter that Dagster calls beta.
        warnings.simplefilter("ignore", dg.BetaWarning)
        return dg.evaluate_automation_conditions(definitions, instance=instance, cursor=cursor)


def documents_alone(substrate: Substrate, instance: dg.DagsterInstance) -> None:
    """What a person does who presses Materialize on one asset."""
    from orchestration.defs.documents.assets import documents

    dg.materialize([documents], instance=instance, partition_key="test", resources={"substrate": substrate})


def test_a_document_flows_to_facts_and_the_checks_pass(
    substrate: Substrate, kb: UUID, instance: dg.DagsterInstance
) -> None:
    put(substrate, kb, "Ada Keller leads Project Orion since March 2024.\n")
    put(substrate, kb, "", "empty")
    result = run(substrate, instance)
    done = summary(result)
    assert set(done) == {a.key.to_user_string() for a in defs().resolve_all_asset_specs()}
    assert done["document_chunks"]["rows_written"] == 1
    assert done["document_chunks"]["failed"] == 1
    assert "empty" in done["document_chunks"]["failures"]
    assert done["facts"]["rows_written"] >= 1
    assert done["facts"]["dagster/partition_row_count"] >= 1
    checks = {e.check_name: e.passed for e in result.get_asset_check_evaluations()}
    assert checks == {
        "claim_quote_is_in_its_chunk": True,
        "evidence_quote_is_in_its_chunk": True,
        "ledger_chain_verifies": True,
        "ontology_has_no_defects": True,
        "what_was_served_is_sealed_in_time": True,
    }


def test_unchanged_data_wakes_nothing_and_changed_data_wakes_what_follows(
    substrate: Substrate, kb: UUID, instance: dg.DagsterInstance
) -> None:
    put(substrate, kb, "Ada Keller leads Project Orion since March 2024.\n")
    run(substrate, instance)
    first = woken(instance)
    assert first.total_requested == 0

    run(substrate, instance)
    again = woken(instance, first.cursor)
    assert again.total_requested == 0
    documents_alone(substrate, instance)
    still = woken(instance, woken(instance, again.cursor).cursor)
    assert still.total_requested == 0

    put(substrate, kb, "Bo Lindqvist leads Project Orion since May 2024.\n")
    documents_alone(substrate, instance)
    seen = woken(instance, still.cursor)
    assert seen.total_requested == 0
    changed = woken(instance, seen.cursor)
    assert changed.get_requested_partitions(dg.AssetKey("document_chunks")) == {"test"}
    assert changed.get_requested_partitions(dg.AssetKey("facts")) == {"test"}


def test_a_run_of_the_chain_leaves_nothing_for_the_conditions(
    substrate: Substrate, kb: UUID, instance: dg.DagsterInstance
) -> None:
    put(substrate, kb, "Ada Keller leads Project Orion since March 2024.\n")
    run(substrate, instance)
    cursor = woken(instance).cursor
    put(substrate, kb, "Bo Lindqvist leads Project Orion since May 2024.\n")
    run(substrate, instance)
    for _ in range(3):
        result = woken(instance, cursor)
        assert result.total_requested == 0
        cursor = result.cursor


def damage(settings: Settings, table: str, change: str) -> None:
    """What only somebody with the database's own rights can do."""
    assert settings.database_url is not None
    with psycopg.connect(settings.database_url.get_secret_value(), autocommit=True) as connection:
        connection.execute(f"alter table {table} disable trigger user")
        connection.execute(f"update {table} set {change}")


def test_a_quote_that_is_not_in_its_chunk_stops_what_follows(
    substrate: Substrate, kb: UUID, instance: dg.DagsterInstance
) -> None:
    put(substrate, kb, "Ada Keller leads Project Orion since March 2024.\n")
    run(substrate, instance)
    damage(substrate.settings, "claims", "quote = 'Eve Moss' || substr(quote, 9)")
    with pytest.raises(Exception, match="claim_quote_is_in_its_chunk"):
        run(substrate, instance)
    [record] = instance.get_run_records(limit=1)
    run_id = record.dagster_run.run_id
    stopped = {e.asset_key.to_user_string() for e in materializations(instance, run_id)}
    assert "claims" in stopped
    assert not stopped & {"entities", "facts"}


def materializations(instance: dg.DagsterInstance, run_id: str) -> list[dg.AssetMaterialization]:
    logs = instance.all_logs(run_id, of_type=dg.DagsterEventType.ASSET_MATERIALIZATION)
    return [e.asset_materialization for e in logs if e.asset_materialization is not None]


@pytest.mark.parametrize(
    ("table", "change", "check"),
    [
        ("assertions", "quote = 'Eve Moss' || substr(quote, 9)", "evidence_quote_is_in_its_chunk"),
        ("ledger_log", "hash = sha256(hash) where seq = (select max(seq) from ledger_log)", "ledger_chain_verifies"),
    ],
)
def test_a_changed_record_fails_its_check(
    substrate: Substrate, kb: UUID, instance: dg.DagsterInstance, table: str, change: str, check: str
) -> None:
    put(substrate, kb, "Ada Keller leads Project Orion since March 2024.\n")
    run(substrate, instance)
    damage(substrate.settings, table, change)
    with pytest.raises(Exception, match=check):
        run(substrate, instance)


def verified_by_night(substrate: Substrate, instance: dg.DagsterInstance) -> tuple[bool, dict[str, Any]]:
    """What `nightly_verification` finds: whether it passed, and what it says."""
    [asked] = verifications(instance, datetime(2026, 1, 2, 4, 2, tzinfo=UTC))
    assert (asked.run_key, asked.tags[BASE_TAG], nightly_verification.job_name) == (
        "2026-01-02:test",
        "test",
        "verify_base",
    )
    job = defs().resolve_job_def("verify_base")
    ran = job.execute_in_process(
        instance=instance, tags=asked.tags, resources={"substrate": substrate}, raise_on_error=False
    )
    [found] = ran.get_asset_check_evaluations()
    return found.passed, {name: value.value for name, value in found.metadata.items()}


@pytest.mark.parametrize(
    ("table", "change", "found"),
    [
        ("facts", "valid_from = valid_from + interval '1 year'", "content"),
        ("ledger_log", "payload = payload || '\\x20'::bytea where seq = 1 and ordinal = 1", "content"),
        ("claims", "subject = 'Eve'", "content"),
        ("audit_seals", "prev_hash = sha256(prev_hash)", "link"),
    ],
)
def test_what_a_run_takes_on_trust_the_night_walks_again(
    substrate: Substrate, kb: UUID, instance: dg.DagsterInstance, table: str, change: str, found: str
) -> None:
    put(substrate, kb, "Ada Keller leads Project Orion since March 2024.\n")
    run(substrate, instance)
    passed, said = verified_by_night(substrate, instance)
    assert (passed, said["damage"], said["read"]) == (True, "none", 1)
    damage(substrate.settings, table, change)
    again = {e.check_name: e for e in run(substrate, instance).get_asset_check_evaluations()}
    assert again["ledger_chain_verifies"].metadata["since"].value > 0
    passed, said = verified_by_night(substrate, instance)
    assert (passed, said["damage"]) == (False, found)


def test_a_base_that_is_not_there_is_named(substrate: Substrate, instance: dg.DagsterInstance) -> None:
    with pytest.raises(Exception, match="no knowledge base 'nowhere'"):
        materialize(substrate.settings, "nowhere", instance, substrate=substrate)


def test_old_runs_are_forgotten_but_for_the_newest_of_each_base(
    substrate: Substrate, kb: UUID, instance: dg.DagsterInstance
) -> None:
    for _ in range(3):
        run(substrate, instance)
    now = datetime.now(UTC)
    assert forget_old_runs(instance, now, keep=1) == 0
    newest = instance.get_run_records(limit=1)[0].dagster_run.run_id
    assert forget_old_runs(instance, now + timedelta(days=15), keep=1) == 2
    assert [r.dagster_run.run_id for r in instance.get_run_records()] == [newest]
    assert instance.get_dynamic_partitions(BASES) == ["test"]
    assert instance.get_latest_materialization_event(dg.AssetKey("facts")) is not None
