"""What the walls between bases cost; last line ``rls: reads= ratio_p50= ratio_p95= writes_ratio=``.

One generated base among others, in two databases that are copies of one another: in the second the policies are off
and the function that looks up names is the plain query that it stands for. Reads and batches of facts are put to the
two in turn, each question to both, the order drawn anew each time; a ratio is the time with walls by the time without.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import psycopg
from psycopg import sql as pgsql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from bench.database import ROOT, commit, fresh_settings
from bench.mcp.corpus import Chunk, write_chunks, write_facts, write_vectors
from substrate import reads, sql
from substrate.axes.as_of import AsOf
from substrate.bases import create_base
from substrate.db import NO_BASE, Database, ReadConnection
from substrate.migrate import migrate
from substrate.retrieval.vectors import nearest

SEED = 20240705
NEIGHBOURS = 20
"""Bases beside the one that is asked, with a few hundred facts each."""
BARE = """
do $$
declare
    wall regclass;
begin
    for wall in select oid::regclass from pg_class where relrowsecurity loop
        execute format('alter table %s no force row level security, disable row level security', wall);
    end loop;
end $$;
drop function names_like(uuid, text[]);
create function names_like(base uuid, patterns text[])
returns table (id uuid, norm text, recorded_seq bigint, invalidated_seq bigint) language sql stable as $$
    select f.subject_id, f.value_norm, f.recorded_seq, f.invalidated_seq from facts f
    where f.kb_id = base and f.predicate_key = 'known_as' and f.value_norm like any (patterns)
    union all
    select e.id, e.label_norm, e.recorded_seq, null from entities e
    where e.kb_id = base and e.label_norm like any (patterns)
$$;
"""
Read = Callable[[ReadConnection, AsOf], object]


class Drawn:
    """An embedder whose vectors are drawn by the text: what is measured is the looking up."""

    name, dimension, token_limit, truncated = "drawn@1", 64, None, 0

    def count_tokens(self, text: str) -> int | None:
        """Characters."""
        return len(text)

    def passages(self, texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Unit vectors, a row each."""
        made = np.stack([np.random.default_rng(sum(map(ord, t))).normal(size=64) for t in texts])
        return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)

    def queries(self, texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
        """As passages."""
        return self.passages(texts)


def main() -> int:
    """Measure, write the results, print the line."""
    parser = argparse.ArgumentParser(prog="bench.rls", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--facts", type=int, default=20_000)
    parser.add_argument("--chunks", type=int, default=4_000)
    parser.add_argument("--reads", type=int, default=1_400, help="questions, each put to both databases")
    parser.add_argument("--batches", type=int, default=30, help="batches of 300 facts, each written to both")
    given = parser.parse_args()
    with fresh_settings() as settings:
        assert settings.database_url is not None
        walled = settings.database_url.get_secret_value()
        migrate(walled)
        with Database(walled) as db:
            kb_id, names, chunks = _base(db, given.facts, given.chunks)
        with _without_walls(walled) as bare, Database(walled) as one, Database(bare) as other:
            times = _read(one, other, kb_id, names, chunks, given.reads)
            written = _write(one, other, kb_id, chunks, given.batches)
    return _report(given, times, written)


def _base(db: Database, facts: int, chunks: int) -> tuple[UUID, list[str], list[Chunk]]:
    with db.write(NO_BASE) as connection:
        asked = create_base(connection, "asked", "Asked")
        others = [create_base(connection, f"other-{n}", "Other") for n in range(NEIGHBOURS)]
    for n, kb_id in enumerate(others):
        write_facts(db, kb_id, write_chunks(db, kb_id, 50, n), 300, n)
    made = write_chunks(db, asked, chunks, SEED)
    write_vectors(db, asked, made, Drawn())
    return asked, write_facts(db, asked, made, facts, SEED), made


@contextmanager
def _without_walls(walled: str) -> Iterator[str]:
    """A copy of the database in which nothing is walled off."""
    name = f"bench_{uuid4().hex[:12]}"
    source = conninfo_to_dict(walled)["dbname"]
    bare = make_conninfo(walled, dbname=name)
    with psycopg.connect(make_conninfo(walled, dbname="postgres"), autocommit=True) as server:
        with psycopg.connect(walled, autocommit=True) as connection:
            connection.execute("vacuum analyze")
        copy = pgsql.SQL("create database {} template {} strategy file_copy")
        server.execute(copy.format(pgsql.Identifier(name), pgsql.Identifier(str(source))))
        try:
            with psycopg.connect(bare, autocommit=True) as connection:
                connection.execute(BARE)
            yield bare
        finally:
            server.execute(pgsql.SQL("drop database {} with (force)").format(pgsql.Identifier(name)))


def _questions(kb_id: UUID, names: list[str], chunks: list[Chunk], rng: random.Random) -> dict[str, Read]:
    name, ids = rng.choice(names), [c[0] for c in rng.sample(chunks, 6)]
    piece = name[1 : 1 + rng.randrange(4, 7)]
    embedder, words = Drawn(), f"{rng.choice(chunks)[3][:60]} {rng.random()}"

    def passages(connection: ReadConnection, moment: AsOf) -> object:
        values = sql.parameters(moment, kb_id=kb_id, ids=ids, cut=800)
        return connection.execute(sql.query("retrieval_passages", moment), values).fetchall()

    def earlier(connection: ReadConnection, moment: AsOf) -> object:
        then = reads.resolve(connection, kb_id, as_of=f"seq:{moment.seq * 3 // 4}")
        return reads.entity_facts(connection, kb_id, name, then)

    return {
        "entity_facts": lambda c, m: reads.entity_facts(c, kb_id, name, m),
        "entity_facts, earlier": earlier,
        "timeline": lambda c, m: reads.timeline(c, kb_id, name, m),
        "find_entities": lambda c, m: reads.find_entities(c, kb_id, piece, m),
        "changes": lambda c, _: reads.changes(c, kb_id, "2020", limit=20),
        "nearest vectors": lambda c, m: nearest(c, kb_id, embedder, words, m, depth=50),
        "passages": passages,
    }


def _read(
    walled: Database, bare: Database, kb_id: UUID, names: list[str], chunks: list[Chunk], count: int
) -> dict[str, tuple[list[float], list[float]]]:
    """Milliseconds of each kind of read, with walls and without, in the same order."""
    rng = random.Random(SEED)
    times: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    kinds = len(_questions(kb_id, names, chunks, rng))
    for n in range(count // kinds + 20):
        for kind, question in _questions(kb_id, names, chunks, rng).items():
            for which in rng.sample((0, 1), 2):
                taken = _timed((walled, bare)[which], kb_id, question)
                if n >= 20:  # plans are made and kept in the first rounds
                    times[kind][which].append(taken)
    return times


def _timed(db: Database, kb_id: UUID, question: Read) -> float:
    began = time.perf_counter()
    with db.read(kb_id) as connection:
        question(connection, reads.resolve(connection, kb_id))
    return (time.perf_counter() - began) * 1000


def _write(walled: Database, bare: Database, kb_id: UUID, chunks: list[Chunk], batches: int) -> tuple[float, float]:
    """Seconds of the median batch of facts, with walls and without."""
    rng = random.Random(SEED)
    taken: tuple[list[float], list[float]] = ([], [])
    for n in range(batches):
        for which in rng.sample((0, 1), 2):
            began = time.perf_counter()
            write_facts((walled, bare)[which], kb_id, chunks, 1, SEED + n)
            taken[which].append(time.perf_counter() - began)
    return statistics.median(taken[0]), statistics.median(taken[1])


def _p(values: Sequence[float], part: float) -> float:
    return float(np.quantile(values, part))


def _report(
    given: argparse.Namespace, times: dict[str, tuple[list[float], list[float]]], written: tuple[float, float]
) -> int:
    with_walls = [t for one, _ in times.values() for t in one]
    without = [t for _, one in times.values() for t in one]
    line = (
        f"rls: reads={len(with_walls)} ratio_p50={_p(with_walls, 0.5) / _p(without, 0.5):.2f} "
        f"ratio_p95={_p(with_walls, 0.95) / _p(without, 0.95):.2f} writes_ratio={written[0] / written[1]:.2f}"
    )
    table = "\n".join(
        f"| {kind} | {_p(a, 0.5):.2f} | {_p(b, 0.5):.2f} | {_p(a, 0.5) / _p(b, 0.5):.2f} | {_p(a, 0.95):.2f} "
        f"| {_p(b, 0.95):.2f} | {_p(a, 0.95) / _p(b, 0.95):.2f} |"
        for kind, (a, b) in times.items()
    )
    (ROOT / "bench" / "results" / "rls.md").write_text(
        f"""# bench-rls

- Commit: {commit()}
- Corpus: {given.facts} generated facts and {given.chunks} passages with vectors of 64 numbers in one base, beside
  {NEIGHBOURS} bases of 300 facts
- Seed: {SEED}
- Repetitions: one run; {len(with_walls)} questions and {given.batches} batches of 300 facts, each put to both
- Baseline in the same run: a copy of the database with every policy off and the look-up of names as a plain query

| read | p50 ms | without | ratio | p95 ms | without | ratio |
|---|---|---|---|---|---|---|
{table}

A batch of facts takes {written[0]:.3f} s with walls and {written[1]:.3f} s without (median).

What it does not show: many readers at once, and the transport over REST or MCP.

```
{line}
```
""",
        encoding="utf-8",
    )
    print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
