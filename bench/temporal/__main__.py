"""``make bench-temporal``: two-clock questions over documents taken in by the real pipeline, with no model.

``--data FOLDER`` runs a corpus of the third-party format in place of ours.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import yaml

from bench.database import ROOT, commit, fresh_settings
from bench.temporal.score import Report, load, measure, write_results
from bench.temporal.world import Dataset
from demo.world import PipelineWorld
from substrate.bases import create_base
from substrate.db import NO_BASE, open_database
from substrate.settings import Settings


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, prog="bench.temporal")
    parser.add_argument("--data", type=Path, help="a folder with corpus.json and questions.json")
    parser.add_argument("--show", action="store_true", help="print the answers to every question that is wrong")
    arguments = parser.parse_args()
    if arguments.data and not (arguments.data / "corpus.json").exists():
        print(f"bench-temporal: no corpus.json in {arguments.data}", file=sys.stderr)
        return 2
    dataset = load(arguments.data) if arguments.data else load()
    with fresh_settings() as settings:
        report = run(settings, dataset, show=arguments.show)
    if not arguments.data:
        write_results(ROOT / "bench" / "results" / "temporal.md", report, commit=commit())
    print(report.line())
    right = report.score.right == report.score.total
    return 0 if right and (arguments.data or report.ok()) else 1


def run(settings: Settings, dataset: Dataset, *, show: bool) -> Report:
    """Play the dataset through Dagster's assets and score it."""
    from orchestration.run import materialize

    with open_database(settings, "bench") as db:
        with db.write(NO_BASE) as connection:
            ontology = yaml.safe_dump(dict(dataset.ontology), allow_unicode=True)
            kb_id = create_base(connection, "temporal", dataset.name, ontology_yaml=ontology)
        world = PipelineWorld(db, kb_id, lambda: materialize(settings, "temporal"))
        report = measure(world, dataset)
        if show:
            show_wrong(report, world)
    return report


def show_wrong(report: Report, world: PipelineWorld) -> None:
    """What was held about the subject of each wrong question, at any time, now."""
    wrong = set(report.score.wrong)
    for question in report.dataset.questions:
        if question.id in wrong:
            held = world.read(question.subject, None, None)
            print(f"{question.id} [{question.kind}] {question.ask}")
            print(f"  at={question.at} as_of={question.as_of} expect={question.expect} not={question.excluded}")
            print(f"  held now: {[(a.predicate, a.other) for a in held or []]}")


if __name__ == "__main__":
    sys.exit(main())
