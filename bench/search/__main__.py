"""``make bench-search``: hybrid search at several sizes, beside its arms alone in the same run.

The smallest size has real text and the vectors of the model in use; larger ones have seeded text and vectors, while
each question is still read by the model, so that its cost is in the figures. Last lines, one a size: ``search: chunks=
p50_ms= p95_ms= slowest_arm_ratio= asof_ratio= hnsw_recall=``.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from itertools import pairwise
from pathlib import Path

import psycopg

from bench.database import ROOT, commit, fresh_settings
from bench.search.corpus import Made, Real, Seeded, fill
from bench.search.measure import Bench, Figures, Questions, sizes
from substrate.bases import create_base
from substrate.db import NO_BASE, Database, open_database, owner_conninfo
from substrate.reads.moments import resolve
from substrate.retrieval import vectors
from substrate.retrieval.embedders import open_embedder
from substrate.retrieval.lexical import run_index
from substrate.retrieval.passages import vector_key
from substrate.settings import Settings

SEED = 20260105
STEPS = (500, 1_000, 2_000, 4_000, 8_000)
"""Sizes at which the exact scan is set against the index."""


def main() -> int:
    """Fill and measure each size, write the results, print a line each."""
    parser = argparse.ArgumentParser(prog="bench.search", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="a folder with locomo/, whose turns the real text begins with")
    parser.add_argument("--sizes", default="10000,100000", help="passages, by comma; the first has real text")
    parser.add_argument("--repeats", type=int, default=200, help="questions of each kind")
    parser.add_argument("--seeded", action="store_true", help="seeded text and vectors at every size")
    parser.add_argument("--threshold", action="store_true", help="set the exact scan against the index at small sizes")
    given = parser.parse_args()
    wanted = [int(size) for size in given.sizes.split(",") if size]
    lines, tables = [], []
    steps = _threshold(given.repeats) if given.threshold else []
    for n, size in enumerate(wanted):
        line, table = _size(given, size, real=n == 0 and not given.seeded)
        lines.append(line)
        tables.append(table)
        print(table)
    _write(given, tables, steps, lines)
    print("\n".join([*steps, *lines]))
    return 0


def _size(given: argparse.Namespace, chunks: int, *, real: bool) -> tuple[str, str]:
    with fresh_settings() as settings, open_database(settings, "bench") as db:
        owner, model = owner_conninfo(settings), open_embedder(settings)
        made = _base(db, f"n{chunks}")
        source = Real(given.data, SEED, model, chunks) if real else Seeded(SEED)
        questions = Questions(model, source, made, SEED)
        took = [time.monotonic()]
        fill(db, owner, made, source, vector_key(questions), chunks, SEED)
        took.append(time.monotonic())
        run_index(db, made.kb_id, settings)
        took.append(time.monotonic())
        _indexed(owner, made, questions)
        took.append(time.monotonic())
        figures = Bench(db, settings, made, questions).measure(given.repeats)
        name = vectors.index_name(made.kb_id, vector_key(questions))
        figures.sizes = sizes(owner, settings.index_dir, name)
    seconds = [after - before for before, after in pairwise(took)]
    return _line(made, figures), _table(made, figures, seconds, real=real)


def _base(db: Database, slug: str) -> Made:
    with db.write(NO_BASE) as conn:
        return Made(create_base(conn, slug, slug))


def _indexed(owner: str, made: Made, questions: Questions) -> None:
    vectors.ensure_vector_index(owner, made.kb_id, vector_key(questions), questions.dimension, above=0)
    with psycopg.connect(owner, autocommit=True) as conn:
        conn.execute("vacuum analyze")


def _threshold(repeats: int) -> list[str]:
    """Median milliseconds of the arm's query by the exact scan and by the index, at each of `STEPS`."""
    lines = []
    with fresh_settings() as settings, open_database(settings, "bench") as db:
        model, owner = open_embedder(settings), owner_conninfo(settings)
        for size in STEPS:
            made, source = _base(db, f"t{size}"), Seeded(SEED)
            questions = Questions(model, source, made, SEED)
            fill(db, owner, made, source, vector_key(questions), size, SEED)
            with psycopg.connect(owner, autocommit=True) as conn:
                conn.execute("vacuum analyze")
            exact = _arm(db, settings, made, questions, repeats)
            vectors.ensure_vector_index(owner, made.kb_id, vector_key(questions), questions.dimension, above=0)
            vectors.forget_indexes()
            indexed = _arm(db, settings, made, questions, repeats)
            lines.append(f"threshold: chunks={made.chunks} exact_ms={exact:.2f} indexed_ms={indexed:.2f}")
    return lines


def _arm(db: Database, settings: Settings, made: Made, questions: Questions, repeats: int) -> float:
    asked = [questions.ask() for _ in range(repeats)]
    times = []
    with db.read(made.kb_id) as conn:
        moment = resolve(conn, made.kb_id)
        for question in asked:
            vectors.question_vector(questions, question)
        for question in asked:
            begun = time.perf_counter()
            vectors.nearest(conn, made.kb_id, questions, question, moment, depth=50)
            times.append((time.perf_counter() - begun) * 1000)
    return statistics.median(times)


def _line(made: Made, figures: Figures) -> str:
    slowest = max(figures.p50("lexical"), figures.p50("vector"))
    return (
        f"search: chunks={made.chunks} p50_ms={figures.p50('hybrid'):.1f} p95_ms={figures.p95('hybrid'):.1f}"
        f" slowest_arm_ratio={figures.p50('hybrid') / slowest:.2f}"
        f" asof_ratio={figures.p50('past') / figures.p50('hybrid'):.2f} hnsw_recall={min(figures.recall.values()):.3f}"
    )


def _table(made: Made, figures: Figures, seconds: list[float], *, real: bool) -> str:
    names = {
        "hybrid": "hybrid, the question embedded",
        "cached": "hybrid, its vector cached",
        "lexical": "words alone",
        "vector": "vectors alone, the question embedded",
        "past": "hybrid, halfway through the record",
        "rare": "hybrid, a filter that leaves ten passages",
        "tenth": "hybrid, a filter that leaves a tenth",
    }
    rows = [f"| {told} | {figures.p50(kind):.1f} | {figures.p95(kind):.1f} |" for kind, told in names.items()]
    rows += [f"| hybrid, {n} clients | {p50:.1f} | {p95:.1f} |" for n, (p50, p95) in figures.clients.items()]
    recall = ", ".join(f"{name} {value:.3f}" for name, value in figures.recall.items())
    mb = ", ".join(f"{name} {value / 2**20:.0f}" for name, value in figures.sizes.items())
    filled, indexed, built = seconds
    return "\n".join(
        [
            f"\n## {made.chunks} passages, {made.held} of them held now\n",
            f"- Text and vectors: {'real text, vectors of the model in use' if real else 'from a seeded generator'}",
            f"- Written in {filled:.0f} s, lexical index in {indexed:.0f} s, vector index in {built:.0f} s",
            f"- Recall at 10 of the vectors' arm against an exact scan: {recall}; of ten under a filter,"
            f" {figures.rare_found} found",
            f"- MB: {mb}\n",
            "| search | p50 ms | p95 ms |",
            "|---|---|---|",
            *rows,
        ]
    )


def _write(given: argparse.Namespace, tables: list[str], steps: list[str], lines: list[str]) -> None:
    load = os.getloadavg()
    head = [
        "# bench-search\n",
        f"- Commit: {commit()}",
        f"- Corpus: conversations at hand and generated memos, or seeded text; seed {SEED}; versions and deletions",
        f"- Repetitions: {given.repeats} of each kind, in turn, after ten that do not count",
        f"- Load of the two-core machine at the end: {load[0]:.1f} (1 min), {load[1]:.1f} (5), {load[2]:.1f} (15)",
        "- Baseline in the same run: each arm alone; the exact scan\n",
        "What it does not show: a cold cache, other bases beside this one, the transport over REST or MCP. Clients are",
        "threads of one process with a pool of eight connections, as the API's are.",
    ]
    text = "\n".join([*head, *tables, "\n```", *steps, *lines, "```"]) + "\n"
    (ROOT / "bench" / "results" / "search.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
