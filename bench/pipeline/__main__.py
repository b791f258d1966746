"""``make bench-pipeline``: generated documents through every stage with no model; where the time goes."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from bench.database import ROOT, commit, fresh_settings
from bench.generate import Generated, documents
from substrate.bases import create_base
from substrate.db import NO_BASE, open_database
from substrate.documents.intake import PushItem, push
from substrate.pipeline import Services, run_pipeline
from substrate.settings import Settings
from substrate.work import StageResult

SEED, PUSHED_AT_ONCE = 1, 100
Row = tuple[str, int, float, float, int, int]
"""Stage, items, seconds, items/s, rows written, failed."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, prog="bench.pipeline")
    parser.add_argument("--documents", type=int, default=1000)
    arguments = parser.parse_args()
    corpus = documents(arguments.documents, SEED)
    size = sum(len(d.text) for d in corpus)
    with fresh_settings() as settings:
        pushed_s, results, counts = run(settings, corpus)
    seconds = {r.stage: r.seconds for r in results}
    whole = pushed_s + sum(seconds.values())
    rows = [
        (r.stage, r.done, r.seconds, r.done / r.seconds if r.seconds else 0.0, r.written, r.failed) for r in results
    ]
    show(rows, pushed_s, len(corpus))
    line = (
        f"pipeline: documents={len(corpus)} documents_per_s={len(corpus) / whole:.2f} parse_s={seconds['parse']:.1f} "
        f"embed_s={seconds['embed']:.1f} claims_s={seconds['claims']:.1f} "
        f"facts_s={seconds['entities'] + seconds['facts']:.1f}"
    )
    write(rows, pushed_s, whole, size, counts, line)
    print(line)
    return 0 if all(r.failed == 0 and r.remaining == 0 for r in results) else 1


def run(settings: Settings, corpus: Sequence[Generated]) -> tuple[float, list[StageResult], dict[str, int]]:
    """Push in batches, then every stage to its end."""
    with open_database(settings, "bench") as db:
        with db.write(NO_BASE) as connection:
            ontology = (ROOT / "bench" / "ontology.yaml").read_text()
            kb_id = create_base(connection, "pipeline", "Pipeline", ontology_yaml=ontology)
        started = time.monotonic()
        for i in range(0, len(corpus), PUSHED_AT_ONCE):
            items = [
                PushItem(d.external_id, d.filename, d.text.encode(), d.doc_time) for d in corpus[i : i + PUSHED_AT_ONCE]
            ]
            push(db, kb_id, items, actor="bench", via="cli")
        pushed_s = time.monotonic() - started
        with Services(settings) as services:
            results = run_pipeline(db, kb_id, services)
        with db.read(kb_id) as connection:
            counts = {
                table: connection.execute(f"select count(*) as n from {table}").fetchone()["n"]  # type: ignore[index]
                for table in ("chunks", "claims", "entities", "facts", "ledger_log")
            }
    return pushed_s, results, counts


def show(rows: Sequence[Row], pushed_s: float, count: int) -> None:
    table = Table(title="where the time goes")
    for name in ("stage", "items", "seconds", "items/s", "rows written", "failed"):
        table.add_column(name, justify="left" if name == "stage" else "right")
    table.add_row("push", str(count), f"{pushed_s:.1f}", f"{count / pushed_s:.0f}", "", "")
    for stage, done, seconds, speed, written, failed in rows:
        table.add_row(stage, str(done), f"{seconds:.1f}", f"{speed:.1f}", str(written), str(failed))
    Console().print(table)


def write(rows: Sequence[Row], pushed_s: float, whole: float, size: int, counts: dict[str, int], line: str) -> None:
    path = ROOT / "bench" / "results" / "pipeline.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    stages = "\n".join(f"| {s} | {d} | {t:.1f} | {t / whole:.0%} | {v:.1f} |" for s, d, t, v, _, _ in rows)
    path.write_text(
        f"""# bench-pipeline

- Commit: {commit()}
- Corpus: generated Markdown memos, {size / 1e6:.1f} MB; seed {SEED}
- Repetitions: one run on a two-core machine that others may have shared
- Rows at the end: {", ".join(f"{k} {v}" for k, v in counts.items())}

| stage | items | seconds | share | items/s |
|---|---|---|---|---|
| push | | {pushed_s:.1f} | {pushed_s / whole:.0%} | |
{stages}

What it does not show: office formats (parsing them is slower), documents of other sizes, more than one worker, or
quality.

```
{line}
```
""",
        encoding="utf-8",
    )


if __name__ == "__main__":
    sys.exit(main())
