"""People edit an ontology without a document: its vectors are asked for by looking at where the terms stand."""

from __future__ import annotations

import json
from typing import Any

import dagster as dg

from orchestration.jobs import embed_ontology
from orchestration.metadata import base_tags
from orchestration.partitions import BASES
from orchestration.resources import Substrate, watching
from substrate.db import EVERY_BASE
from substrate.ontology.candidates import marks_of_terms


def ontology_tick(substrate: Substrate, instance: dg.DagsterInstance, cursor: str | None) -> dg.SensorResult:
    """What one tick of `ontology_changed` decides. ``cursor`` maps each base to where its terms stood last."""
    with substrate.database.read(EVERY_BASE) as connection:
        marks = marks_of_terms(connection)
    seen: dict[str, str] = json.loads(cursor) if cursor else {}
    known = set(instance.get_dynamic_partitions(BASES)) if marks != seen else set()
    changed = sorted(slug for slug, mark in marks.items() if slug in known and seen.get(slug) != mark)
    return dg.SensorResult(
        run_requests=[dg.RunRequest(partition_key=slug, tags=base_tags(slug, "ontology changed")) for slug in changed],
        skip_reason=None if changed else f"none of {len(marks)} ontologies has changed",
        cursor=json.dumps({s: m for s, m in marks.items() if s in changed or seen.get(s) == m}, sort_keys=True),
    )


@dg.sensor(
    job=embed_ontology,
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.RUNNING,
    tags={"edge": "ontology"},
)
def ontology_changed(context: dg.SensorEvaluationContext) -> Any:
    """Asks for the vectors of a base whose terms were edited. Opens no model."""
    return ontology_tick(watching(), context.instance, context.cursor)
