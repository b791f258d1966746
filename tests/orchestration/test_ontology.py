"""An edit of the ontology wakes its vectors without a document, and what is wrong shows as a check that warns."""

from __future__ import annotations

import dagster as dg

from orchestration.definitions import defs
from orchestration.defs.ontology.sensors import ontology_tick
from orchestration.partitions import BASES
from orchestration.resources import Substrate
from substrate.bases import create_base
from substrate.db import EVERY_BASE, NO_BASE
from substrate.ontology.edits import put_term
from substrate.ontology.terms import OntologyClass
from tests.substrate.ontology.writing import Editor


def test_an_edit_asks_for_one_run_and_the_run_makes_what_is_stale(
    substrate: Substrate, instance: dg.DagsterInstance
) -> None:
    with substrate.database.write(NO_BASE) as conn:
        kb = create_base(conn, "one", "One")
        create_base(conn, "two", "Two")
    editor = Editor(substrate.database, kb)
    editor.act(put_term, OntologyClass(key="team", label="Team"))
    early = ontology_tick(substrate, instance, None)
    assert early.run_requests == []
    instance.add_dynamic_partitions(BASES, ["one", "two"])
    first = ontology_tick(substrate, instance, early.cursor)
    assert [r.partition_key for r in first.run_requests or ()] == ["one"]
    assert ontology_tick(substrate, instance, first.cursor).run_requests == []

    job = defs().resolve_job_def("embed_ontology")
    done = run(job, substrate, instance)
    assert metadata(done)["rows_written"].value == 1
    assert checked(done).passed
    editor.act(put_term, OntologyClass(key="team", label="Team", aliases=("crew",), parents=("team",)))
    second = ontology_tick(substrate, instance, first.cursor)
    assert [r.partition_key for r in second.run_requests or ()] == ["one"]
    done = run(job, substrate, instance)
    assert metadata(done)["rows_written"].value == 1
    assert not checked(done).passed
    assert checked(done).severity == dg.AssetCheckSeverity.WARN
    assert "parent_cycle" in str(checked(done).metadata["defects"].value)
    assert metadata(run(job, substrate, instance))["rows_written"].value == 0
    with substrate.database.read(EVERY_BASE) as conn:
        rows = conn.execute("select term_key, words from term_vectors").fetchall()
    assert [(r["term_key"], r["words"]) for r in rows] == [("team", "Team\ncrew")]


def run(job: dg.JobDefinition, substrate: Substrate, instance: dg.DagsterInstance) -> dg.ExecuteInProcessResult:
    return job.execute_in_process(partition_key="one", resources={"substrate": substrate}, instance=instance)


def metadata(done: dg.ExecuteInProcessResult) -> dict[str, dg.MetadataValue]:
    """Of the vectors; the same run binds phrases anew."""
    events = {e.asset_key.path[-1]: e for e in done.get_asset_materialization_events() if e.asset_key}
    assert events.keys() == {"term_vectors", "phrase_bindings"}
    return dict(events["term_vectors"].materialization.metadata)


def checked(done: dg.ExecuteInProcessResult) -> dg.AssetCheckEvaluation:
    (found,) = done.get_asset_check_evaluations()
    return found
