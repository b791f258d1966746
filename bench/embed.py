"""What the embedding stage gets out of the runtime; last line ``embed: ratio=``.

The same texts, short, middling and long, are read by the embedder, tokenising included, and by the bare runtime from
ids made beforehand, in both ways that one would write: one text after the other, and in batches of like length. Each
way in turn, the order drawn anew each time; the ratio is the faster bare way's median time by the embedder's.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bench.database import ROOT, commit
from bench.generate import documents
from substrate.models import model_path
from substrate.retrieval.embedders import open_embedder
from substrate.retrieval.embedders.local import LocalEmbedder, open_session
from substrate.settings import load_settings, tame_native_threads

SEED, BATCH = 3, 8
Way = Callable[[], object]


def main() -> int:
    """Measure, write the results, print the line."""
    parser = argparse.ArgumentParser(prog="bench.embed", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--texts", type=int, default=192, help="a third of them short, a third long")
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    settings = load_settings()
    tame_native_threads(settings.threads)
    model = open_embedder(settings)
    assert isinstance(model, LocalEmbedder)
    texts = list(_texts(given.texts))
    path = model_path(settings, settings.embedder) / "encoder.int8.onnx"
    session = open_session(path, settings.threads)
    ways = {"embedder": lambda: model.passages(texts), **_bare(model, session, texts)}
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for n in range(given.repeats + 1):
        order = list(ways)
        random.Random(n).shuffle(order)
        for name in order:
            taken = _timed(ways[name])
            if n:
                times[name].append(taken)
    return _report(given, settings.embedder, settings.threads, times)


def _texts(count: int) -> Iterator[str]:
    memos = documents(count, SEED, 3000)
    for memo in memos[: count // 3]:
        parts = [part for part in memo.text.split("\n\n") if len(part) > 40]
        yield from (parts[0].split(". ")[0], parts[1], " ".join(parts[2:8]))


def _bare(model: LocalEmbedder, session: Any, texts: list[str]) -> dict[str, Way]:
    ids = [model._tokenizer.encode(model._passage + text).ids for text in texts]
    one = [_feeds(model, [row]) for row in ids]
    order = sorted(ids, key=len)
    batches = [_feeds(model, order[n : n + BATCH]) for n in range(0, len(order), BATCH)]

    def run(feeds: list[Any]) -> Way:
        return lambda: [session.run(["embedding"], feed) for feed in feeds]

    return {"bare, one by one": run(one), f"bare, batches of {BATCH}": run(batches)}


def _feeds(model: LocalEmbedder, rows: list[list[int]]) -> Any:
    ids = np.zeros((len(rows), max(map(len, rows))), np.int64)
    mask = np.zeros_like(ids)
    for n, row in enumerate(rows):
        ids[n, : len(row)], mask[n, : len(row)] = row, 1
    return model._feeds(ids, mask)


def _timed(way: Way) -> tuple[float, float]:
    wall, busy = time.perf_counter(), time.process_time()
    way()
    return time.perf_counter() - wall, time.process_time() - busy


def _report(given: argparse.Namespace, model: str, threads: int, times: dict[str, list[tuple[float, float]]]) -> int:
    medians = {name: tuple(map(statistics.median, zip(*taken, strict=True))) for name, taken in times.items()}
    bare = min(wall for name, (wall, _) in medians.items() if name != "embedder")
    line = f"embed: ratio={bare / medians['embedder'][0]:.2f}"
    rows = [
        f"| {name} | {given.texts / wall:.1f} | {wall:.2f} | {busy:.2f} |" for name, (wall, busy) in medians.items()
    ]
    load = ", ".join(f"{part:.1f}" for part in os.getloadavg())
    lines = [
        "# bench-embed\n",
        f"- Commit: {commit()}",
        f"- Corpus: generated, {given.texts} texts, a third of one sentence, a third of one paragraph, a third of six;",
        f"  seed {SEED}",
        f"- Model: {model}, {threads} threads either way",
        f"- Repetitions: {given.repeats} of each way in turn, after one that does not count; medians",
        f"- Load of the machine: {load}",
        "- Baseline in the same run: the bare runtime over ids made beforehand\n",
        "| way | texts/s | s | s of a core |",
        "|---|---|---|---|",
        *rows,
        "\nWhat it does not show: the transaction that keeps the vectors.\n",
        f"```\n{line}\n```",
    ]
    (ROOT / "bench" / "results" / "embed.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join([*rows, line]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
