"""What the UI shows stands alone: every asset says what it is, whose it is and where it lies, and bodies are thin."""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from pathlib import Path

import dagster as dg
import psycopg
import pytest
from dagster._core.run_coordinator import QueuedRunCoordinator
from psycopg.conninfo import make_conninfo
from pydantic import SecretStr

from orchestration.definitions import defs
from orchestration.home import open_instance, prepare, sqlalchemy_url
from substrate.settings import Settings

ASSETS = {"documents", "document_chunks", "chunk_embeddings", "lexical_index", "claims", "entities", "facts"} | {
    "ledger_checkpoints",
    "phrase_bindings",
    "funnel",
    "term_vectors",
    "vector_indexes",
}
ORCHESTRATION = Path(__file__).parents[2] / "orchestration"


@pytest.fixture(scope="module")
def loaded() -> dg.Definitions:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = defs()
        dg.Definitions.validate_loadable(found)
    return found


def test_the_lineage_is_the_one_that_is_drawn(loaded: dg.Definitions) -> None:
    graph = {s.key.to_user_string(): {d.asset_key.to_user_string() for d in s.deps} for s in specs(loaded)}
    assert set(graph) == ASSETS
    assert graph == {
        "documents": set(),
        "document_chunks": {"documents"},
        "chunk_embeddings": {"document_chunks"},
        "lexical_index": {"document_chunks"},
        "vector_indexes": {"chunk_embeddings"},
        "claims": {"document_chunks"},
        "phrase_bindings": {"claims"},
        "entities": {"phrase_bindings"},
        "facts": {"entities"},
        "funnel": {"facts"},
        "ledger_checkpoints": {"facts"},
        "term_vectors": {"facts"},
    }


def specs(loaded: dg.Definitions) -> list[dg.AssetSpec]:
    return list(loaded.resolve_all_asset_specs())


def test_every_asset_says_what_it_is(loaded: dg.Definitions) -> None:
    for spec in specs(loaded):
        assert spec.owners == ["team:twoclocks"], spec.key
        assert spec.group_name not in (None, "default"), spec.key
        assert spec.kinds, spec.key
        assert spec.metadata["dagster/table_name"], spec.key
        first = (spec.description or "").split("\n")[0]
        assert len(first) > 40, spec.key
        assert first.endswith((".", ",", ";")), spec.key
        assert not first.lower().startswith(("run", "create", "write", "compute", "update")), spec.key
        assert isinstance(spec.partitions_def, dg.DynamicPartitionsDefinition), spec.key
    leaves = Counter(spec.key.path[-1] for spec in specs(loaded))
    assert max(leaves.values()) == 1


def test_all_but_the_edge_run_on_a_change_and_the_sensors_run_from_the_start(loaded: dg.Definitions) -> None:
    without = {s.key.to_user_string() for s in specs(loaded) if s.automation_condition is None}
    assert without == {"documents"}
    edges = {"due_work", "watched_folders_changed", "ontology_changed"}
    assert {s.name for s in loaded.sensors or ()} == edges | {"automation"}
    for sensor in loaded.sensors or ():
        assert sensor.default_status == dg.DefaultSensorStatus.RUNNING
        assert (sensor.minimum_interval_seconds or 0) >= (5 if sensor.name == "due_work" else 30)
    for schedule in loaded.schedules or ():
        assert schedule.default_status == dg.DefaultScheduleStatus.RUNNING


def test_checks_block(loaded: dg.Definitions) -> None:
    checks = {spec.name: spec.blocking for check in loaded.asset_checks or () for spec in check.check_specs}
    assert checks == {
        "claim_quote_is_in_its_chunk": True,
        "evidence_quote_is_in_its_chunk": True,
        "ledger_chain_verifies": True,
        "ontology_has_no_defects": False,
        "whole_ledger_verifies": False,
    }


def too_thick(tree: ast.AST) -> list[str]:
    """Functions with over 15 statements, or, if decorated as an asset or a check, with a loop, a try or SQL."""
    found = []
    for function in (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)):
        inner = [n for n in ast.walk(function) if isinstance(n, ast.stmt)][1:]
        thin = any(ast.unparse(d).startswith("dg.asset") for d in function.decorator_list)
        bad = [n for n in inner if isinstance(n, (ast.For, ast.While, ast.Try))]
        sql = [n for n in ast.walk(function) if isinstance(n, ast.Attribute) and n.attr in {"execute", "cursor"}]
        if len(inner) > 15 or (thin and (bad or sql)):
            found.append(function.name)
    return found


def test_bodies_are_thin() -> None:
    for file in ORCHESTRATION.rglob("*.py"):
        assert too_thick(ast.parse(file.read_text())) == [], file
    looping = "@dg.asset\ndef bad():\n    for x in y:\n        pass\n"
    querying = "@dg.asset_check(asset=a)\ndef bad():\n    c.execute('select 1')\n"
    assert too_thick(ast.parse(looping)) == too_thick(ast.parse(querying)) == ["bad"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("postgresql://a:p%40ss@db.example:5433/x", "postgresql+psycopg2://a:p%40ss@db.example:5433/x"),
        ("host=db user=a dbname=x sslmode=require", "postgresql+psycopg2://a@db/x?sslmode=require"),
        (
            "postgresql://postgres@/x?host=/run/pg&port=5432",
            "postgresql+psycopg2://postgres@/x?host=%2Frun%2Fpg&port=5432",
        ),
    ],
)
def test_dagsters_database_is_reached_by_the_driver_that_works(given: str, expected: str) -> None:
    assert sqlalchemy_url(given) == expected


def test_dagsters_home_and_database_are_made_and_its_configuration_is_accepted(settings: Settings, dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("create schema dagster")
    theirs = SecretStr(make_conninfo(dsn, options="-csearch_path=dagster"))
    given = settings.model_copy(update={"dagster_database_url": theirs})
    with open_instance(given) as instance:
        assert instance.get_run_records(limit=1) == []
        assert isinstance(instance.run_coordinator, QueuedRunCoordinator)
        queue = instance.get_concurrency_config().run_queue_config
        assert queue is not None
        assert (queue.max_concurrent_runs, queue.tag_concurrency_limits[0]["limit"]) == (2, 1)
        assert instance.run_retries_enabled
        assert not instance.telemetry_enabled
    assert (settings.data_dir / "dagster" / "dagster.yaml").is_file()
    assert prepare(given)["DAGSTER_POSTGRES_URL"].startswith("postgresql+psycopg2://")
