"""Each night a base with many vectors of the model in use gets its index, or the run says why it may not have one."""

from __future__ import annotations

from uuid import UUID

import dagster as dg
import pytest
from psycopg.conninfo import make_conninfo
from pydantic import SecretStr

from orchestration.defs.upkeep import schedules
from orchestration.resources import Substrate
from substrate.db import connect
from substrate.documents.intake import PushItem, push
from substrate.pipeline import run_pipeline
from substrate.retrieval.passages import vector_key
from substrate.retrieval.vectors import index_name


def run(substrate: Substrate, instance: dg.DagsterInstance, above: int) -> dict[str, object]:
    result = schedules.index_vectors.execute_in_process(
        instance=instance,
        resources={"substrate": substrate},
        run_config={"ops": {"build_vector_indexes": {"config": {"above": above}}}},
    )
    [output] = [e for e in result.all_node_events if e.event_type == dg.DagsterEventType.STEP_OUTPUT]
    return {name: value.value for name, value in output.step_output_data.metadata.items()}


def stands(substrate: Substrate, kb: UUID) -> bool:
    name = index_name(kb, vector_key(substrate.services.embedder))
    with substrate.database.read(kb) as conn:
        return bool(conn.execute("select 1 from pg_class where relname = %s", (name,)).fetchall())


@pytest.fixture
def embedded(substrate: Substrate, kb: UUID) -> UUID:
    items = [PushItem(f"d{n}", f"d{n}.md", f"Note {n} on Orion.".encode()) for n in range(3)]
    push(substrate.database, kb, items, actor="person:Ada", via="rest")
    run_pipeline(substrate.database, kb, substrate.services, ("parse", "embed"))
    return kb


def test_a_base_above_the_threshold_gets_its_index_once(
    substrate: Substrate, embedded: UUID, instance: dg.DagsterInstance
) -> None:
    assert run(substrate, instance, above=3) == {"built": "none", "refused": "none"}
    assert not stands(substrate, embedded)
    assert run(substrate, instance, above=2) == {"built": "- test", "refused": "none"}
    assert stands(substrate, embedded)
    assert run(substrate, instance, above=2) == {"built": "none", "refused": "none"}
    assert schedules.nightly_indexes.cron_schedule == "32 3 * * *"


def test_a_login_that_may_not_build_one_is_told_of(
    substrate: Substrate, embedded: UUID, instance: dg.DagsterInstance, dsn: str
) -> None:
    poor = SecretStr(make_conninfo(dsn, options="-c role=twoclocks_app"))
    substrate.settings = substrate.settings.model_copy(update={"database_url": poor})
    told = run(substrate, instance, above=2)
    assert told["built"] == "none"
    assert "- test: " in str(told["refused"])
    assert "TWOCLOCKS_ADMIN_DATABASE_URL" in str(told["refused"])
    assert not stands(substrate, embedded)
    substrate.settings = substrate.settings.model_copy(update={"admin_database_url": SecretStr(dsn)})
    assert run(substrate, instance, above=2)["built"] == "- test"


def test_the_asset_builds_the_index_and_changes_over(
    substrate: Substrate, embedded: UUID, instance: dg.DagsterInstance, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from orchestration.defs.retrieval.assets import vector_indexes
    from orchestration.partitions import bases
    from substrate.retrieval import vectors

    instance.add_dynamic_partitions(bases.name or "", ["test"])

    def materialized() -> dict[str, object]:
        result = dg.materialize(
            [dg.AssetSpec("chunk_embeddings"), vector_indexes],
            instance=instance,
            resources={"substrate": substrate},
            partition_key="test",
            selection=[vector_indexes],
        )
        [made] = result.asset_materializations_for_node("vector_indexes")
        return {name: value.value for name, value in made.metadata.items()}

    serves = vector_key(substrate.services.embedder)
    told = {"built": 0, "dropped": 0, "serves": serves, "set": serves}
    assert materialized() == {**told, "refused": "none"} and not stands(substrate, embedded)
    monkeypatch.setattr(vectors.see_to_indexes, "__kwdefaults__", {"above": 2})
    assert materialized()["built"] == 1 and stands(substrate, embedded)
    assert materialized()["built"] == 0
    with connect(dsn, "test") as owner:
        owner.execute(f"drop index {index_name(embedded, serves)}")
    poor = SecretStr(make_conninfo(dsn, options="-c role=twoclocks_app"))
    substrate.settings = substrate.settings.model_copy(update={"database_url": poor})
    assert "TWOCLOCKS_ADMIN_DATABASE_URL" in str(materialized()["refused"])
