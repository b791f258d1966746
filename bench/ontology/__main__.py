"""``make bench-ontology``: a generated ontology of 1,000 classes, from the file to the nearest terms of a phrase.

Timed: the plan of a file in each syntax, its application, the plan of an export (which must change nothing), the look
for defects, the vectors, and one query for the nearest terms. Scored: of questions in other words than the class's own,
how many have the class among the ten that are nearest. Then a relation in use is declared functional by a plan.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import TypeVar
from uuid import UUID

from bench.database import ROOT, commit, fresh_settings
from bench.ontology.words import KINDS, MARKS
from bench.redeclare.__main__ import fill
from substrate.bases import create_base
from substrate.db import NO_BASE, Database, open_database
from substrate.ledger import open_door
from substrate.ontology import candidates, edits, files
from substrate.ontology.classes import Term, terms_of
from substrate.ontology.defects import list_defects
from substrate.ontology.plans import Mode, Plan
from substrate.ontology.store import load_ontology
from substrate.ontology.terms import OntologyClass, Relation
from substrate.retrieval.embedders import Embedder, open_embedder

QUESTIONS, SEED = 200, 20261130
T = TypeVar("T")


class Clock:
    """Seconds of each step, by its name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def __call__(self, name: str, step: Callable[[], T]) -> T:
        began = time.perf_counter()
        found = step()
        self.seconds[name] = time.perf_counter() - began
        print(f"{name}: {self.seconds[name]:.2f} s", flush=True)
        return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, prog="bench.ontology")
    parser.add_argument("--facts", type=int, default=10_000)
    arguments = parser.parse_args()
    clock = Clock()
    with fresh_settings() as settings, open_database(settings, "bench") as db:
        with db.write(NO_BASE) as connection:
            kb_id = create_base(connection, "ontology", "Ontology")
        same = edit(db, kb_id, clock)
        embedder = open_embedder(settings)
        made = clock("embed", lambda: candidates.embed_terms(db, kb_id, embedder))
        hits, query_ms = ask(db, kb_id, embedder)
        closed = declare(db, kb_id, arguments.facts, clock)
    s = clock.seconds
    line = (
        f"ontology: classes={len(KINDS) * len(MARKS) + len(KINDS)} plan_s={s['plan yaml']:.2f} "
        f"apply_s={s['apply']:.2f} round_trip={'same' if same else 'CHANGED'} defects_s={s['defects']:.2f} "
        f"vectors_per_s={made.done / s['embed']:.0f} "
        f"hit10={hits:.2f} query_ms={query_ms:.1f} facts={arguments.facts} late_plan_s={s['late plan']:.2f} "
        f"late_apply_s={s['late apply']:.2f}"
    )
    _write(line, s, closed)
    print(line)
    return 0 if same and closed else 1


def terms() -> list[Term]:
    """A thousand classes under twenty-five, each pair of those disjoint, and a relation for each of them."""
    kinds = list(KINDS)
    found: list[Term] = [
        OntologyClass(key=kind, label=kind.capitalize(), disjoint_with=tuple(kinds[n + 1 :]))
        for n, kind in enumerate(kinds)
    ]
    found += [
        OntologyClass(key=f"{mark}_{kind}", label=f"{mark} {kind}", parents=(kind,)) for kind in kinds for mark in MARKS
    ]
    found += [Relation(key=f"next_to_{kind}", label=f"next to the {kind}", range=(kind,)) for kind in kinds]
    return [*found, Relation(key="works_at", label="works at")]


def plan(db: Database, kb_id: UUID, asked: list[Term], mode: Mode = "replace") -> Plan:
    with db.write(kb_id) as connection:
        return edits.keep_plan(connection, kb_id, asked, mode, by="bench")


def apply(db: Database, kb_id: UUID, made: Plan) -> None:
    with (
        db.write(kb_id) as connection,
        open_door(connection, kb_id, actor="person:bench", via="cli", action="ontology plan applied") as door,
    ):
        edits.apply_plan(door, made.id)


def edit(db: Database, kb_id: UUID, clock: Clock) -> bool:
    """Plan and apply; True where exports are planned as no change."""
    from substrate.ontology.classes import ontology_of

    text = files.write_yaml(ontology_of(terms()))
    made = clock("plan yaml", lambda: plan(db, kb_id, list(files.read_file(text.encode(), "yaml").terms)))
    clock("apply", lambda: apply(db, kb_id, made))
    with db.read(kb_id) as connection:
        held = load_ontology(connection, kb_id)
        clock("defects", lambda: list_defects(connection, kb_id))
    turtle = clock("write turtle", lambda: files.write_turtle(held))
    read = clock("read turtle", lambda: files.read_file(turtle.encode(), "turtle"))
    again = clock("plan turtle", lambda: plan(db, kb_id, list(read.terms)))
    yaml = files.write_yaml(held)
    return not again.steps and not plan(db, kb_id, list(files.read_file(yaml.encode(), "yaml").terms)).steps


def ask(db: Database, kb_id: UUID, embedder: Embedder) -> tuple[float, float]:
    """The share of questions with the class meant among the ten nearest, and the middle time of the query alone."""
    rng = random.Random(SEED)
    pairs = [(kind, mark) for kind in KINDS for mark in MARKS]
    hits, times = 0, []
    for kind, mark in rng.sample(pairs, QUESTIONS):
        vector = embedder.queries([f"{KINDS[kind]} {MARKS[mark]}"])[0].tolist()
        with db.read(kb_id) as connection:
            began = time.perf_counter()
            model = candidates.model_key(embedder)
            found = candidates.nearest(connection, kb_id, vector, model, kinds=["class"])
            times.append(time.perf_counter() - began)
        hits += f"{mark}_{kind}" in [c.key for c in found.found]
    return hits / QUESTIONS, median(times) * 1000


def declare(db: Database, kb_id: UUID, facts: int, clock: Clock) -> int:
    """A plain relation in use declared functional by a plan; returns how many facts it closed."""
    fill(db, kb_id, facts)
    with db.read(kb_id) as connection:
        held = terms_of(load_ontology(connection, kb_id))
    held["works_at"] = held["works_at"].model_copy(update={"functional": True})
    made = clock("late plan", lambda: plan(db, kb_id, list(held.values())))
    clock("late apply", lambda: apply(db, kb_id, made))
    return int(made.shown()["facts"].get("closed", 0))


def _write(line: str, seconds: dict[str, float], closed: int) -> None:
    rows = "\n".join(f"| {name} | {s:.2f} |" for name, s in seconds.items())
    text = f"""# bench-ontology

- Commit: {commit()}
- Corpus: generated, `bench/ontology/words.py`; {QUESTIONS} questions, seed {SEED}
- Repetitions: one run on a two-core machine that others shared, load {os.getloadavg()[0]:.0f} at its end
- Facts closed by the late declaration: {closed}

| step | seconds |
|---|---|
{rows}

What it does not show: an ontology that people wrote; labels here are two words, and questions their other words.

```
{line}
```
"""
    (ROOT / "bench" / "results" / "ontology.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
