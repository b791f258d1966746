"""``make bench-ledger``: what the ledger costs while it grows, on one base that every size is reached on.

All is written through the door, batch by batch, each a transaction with chain, references, triggers and row-level
security on and its commit on disk. At each size: the rate of the last batches, `entity_facts` at the head and at past
numbers, the same read by a login that row-level security does not bind, and a whole verification. Beside it, as the
baseline, the same rows inserted into tables of the same columns and indexes with nothing else on them.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import statistics
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID, uuid4

import psycopg
from psycopg.rows import dict_row

from bench.database import ROOT, commit, fresh_settings
from bench.generate import ONTOLOGY, drafts
from substrate.bases import create_base
from substrate.db import NO_BASE, Database, ReadConnection, open_database
from substrate.documents.intake import PushItem, push
from substrate.errors import NotFound
from substrate.ledger import _rows, open_door
from substrate.ledger.assertions import assert_batch
from substrate.ledger.drafts import Evidence
from substrate.ledger.ids import new_id
from substrate.ledger.verify import verify
from substrate.ontology.store import load_ontology
from substrate.reads.facts import entity_facts
from substrate.reads.moments import resolve

SEED, BATCH, RECENT, READS = 20261130, 500, 30, 200
PER_ENTITY = 20
"""Statements for each entity, over all."""
PAST = (0.25, 0.5, 0.75, 0.9)
GROWN: tuple[_rows.Table, ...] = ("assertions", "facts", "evidence")


class Cost(NamedTuple):
    """Seconds: on the clock, on the CPU here, and on the CPU in the server (0 where it is on another machine)."""

    wall: float
    client: float
    server: float


def _on_cpu(connection: Any) -> float:
    """Seconds that a connection's server process has run. It says what a busy machine hides."""
    try:
        return int(Path(f"/proc/{connection.info.backend_pid}/schedstat").read_text().split()[0]) / 1e9
    except FileNotFoundError:
        return 0.0


@dataclass
class Base:
    """A base, its entities, and how long its batches took."""

    database: Database
    kb_id: UUID
    entities: list[UUID]
    evidence: Evidence
    rng: random.Random
    name: str = ""
    """Makes the source keys of one of several writers its own."""
    written: int = 0
    recent: deque[Cost] = field(default_factory=lambda: deque(maxlen=RECENT))

    def grow(self, facts: int, *, report: bool = False) -> None:
        """Write statements until there have been so many."""
        with self.database.read(self.kb_id) as connection:
            ontology = load_ontology(connection, self.kb_id)
        while self.written < facts:
            key = f"{self.name}{self.written}"
            batch = drafts(self.rng, self.entities, min(BATCH, facts - self.written), key, self.evidence)
            wall, client = time.perf_counter(), time.process_time()
            with self.database.write(self.kb_id) as connection:
                server = _on_cpu(connection)
                with open_door(connection, self.kb_id, actor="bench", via="import", action="told") as door:
                    assert_batch(door, batch, ontology)
                server = _on_cpu(connection) - server
            spent = (time.perf_counter() - wall, time.process_time() - client, server)
            self.recent.append(Cost(*(seconds / len(batch) for seconds in spent)))
            self.written += len(batch)
            if report and self.written % 50_000 == 0:
                print(f"  {self.written} facts, {1 / self.cost().wall:.0f} facts/s", flush=True)

    def cost(self) -> Cost:
        """Of a fact, over the last batches."""
        return Cost(*(statistics.fmean(column) for column in zip(*self.recent, strict=True)))


def make_base(database: Database, slug: str, facts: int) -> Base:
    """A base with a document and as many entities as `facts` statements ask for."""
    return furnish(database, empty_base(database, slug), facts)


def empty_base(database: Database, slug: str) -> UUID:
    """A base with an ontology and nothing else."""
    with database.write(NO_BASE) as connection:
        return create_base(connection, slug, slug.title(), ontology_yaml=ONTOLOGY)


def furnish(database: Database, kb_id: UUID, facts: int, name: str = "") -> Base:
    """A writer's document and entities in a base."""
    entities = [new_id() for _ in range(max(200, facts // PER_ENTITY))]
    for first in range(0, len(entities), 5000):
        rows = [
            {"id": entity, "label": f"Entity {first + i}", "label_norm": f"entity {first + i}"}
            for i, entity in enumerate(entities[first : first + 5000])
        ]
        with database.write(kb_id) as connection:
            with open_door(connection, kb_id, actor="bench", via="import", action="named") as door:
                door.insert("entities", rows)
    return Base(
        database, kb_id, entities, _document(database, kb_id, f"memo{name}"), random.Random(f"{SEED}{name}"), name
    )


def _document(database: Database, kb_id: UUID, external_id: str) -> Evidence:
    item = PushItem(external_id=external_id, filename="memo.md", content=b"A memo.")
    pushed = push(database, kb_id, [item], actor="bench", via="import")[0]
    chunk = dict.fromkeys(_rows.SHAPES["chunks"].columns) | {"id": new_id(), "document_id": pushed.document_id}
    chunk |= {"version_id": pushed.version_id, "position": 0, "text": "A memo.", "kind": "text", "heading_path": []}
    chunk |= {"anchor": {}, "body_start": 0, "body_end": 7, "namespace": "", "parser": "bench"}
    with database.write(kb_id) as connection:
        with open_door(connection, kb_id, actor="bench", via="import", action="parsed") as door:
            door.insert("chunks", [chunk])
    return Evidence(None, chunk["id"], pushed.document_id, pushed.version_id, "A memo.", 0, 7)


def read_times(connection: Any, base: Base, wanted: list[tuple[UUID, str | None]], *, cpu: bool = False) -> list[float]:
    """Milliseconds of each `entity_facts`: on the clock, or those that a CPU worked, here and in the server."""
    times = []
    for entity, seq in wanted:
        began = _worked(connection) if cpu else time.perf_counter()
        with suppress(NotFound):  # nobody had said a word of it by then
            entity_facts(connection, base.kb_id, str(entity), resolve(connection, base.kb_id, as_of=seq))
            times.append(((_worked(connection) if cpu else time.perf_counter()) - began) * 1000)
    return times


def _worked(connection: Any) -> float:
    return time.process_time() + _on_cpu(connection)


def questions(base: Base, share: float | None) -> list[tuple[UUID, str | None]]:
    """Entities to ask about, at the head or at a share of the way there."""
    with base.database.read(base.kb_id) as connection:
        head = resolve(connection, base.kb_id).seq
    batches = base.written // BATCH
    seq = None if share is None else f"seq:{head - batches + int(batches * share)}"
    return [(base.rng.choice(base.entities), seq) for _ in range(READS)]


def p95(times: list[float]) -> float:
    return sorted(times)[int(len(times) * 0.95)]


@contextmanager
def unbound(dsn: str) -> Iterator[ReadConnection]:
    """A login that owns the tables and that no policy binds."""
    with psycopg.connect(dsn, row_factory=dict_row) as connection:
        connection.execute("set timezone to 'UTC'")
        connection.execute("set jit = off")
        connection.commit()
        connection.execute("set transaction isolation level repeatable read")
        connection.execute("set local plan_cache_mode = force_generic_plan")
        yield ReadConnection(connection)


def measure_reads(base: Base, dsn: str) -> dict[str, float]:
    """p95 at the head and in the past in ms, their ratio, and what row-level security costs."""
    now = questions(base, None)
    with base.database.read(base.kb_id) as connection:
        read_times(connection, base, now[:50])
        head = read_times(connection, base, now)
        past = {share: read_times(connection, base, questions(base, share)) for share in PAST}
        bound = read_times(connection, base, now)
        worked = read_times(connection, base, now, cpu=True)
    with unbound(dsn) as connection:
        read_times(connection, base, now[:50])
        free = read_times(connection, base, now)
    worst = max(p95(times) for times in past.values())
    return {
        "head": p95(head),
        "past": worst,
        "p50": statistics.median(head),
        "p95_cpu": p95(worked),
        "asof_ratio": worst / p95(head),
        "rls_ratio": statistics.median(bound) / statistics.median(free),
    }


def plain_rate(dsn: str, base: Base) -> float:
    """Facts per second of the last batches' rows in tables without chain, triggers, references or security."""
    with psycopg.connect(dsn, row_factory=dict_row) as connection:
        head = connection.execute("select seq from kb_head where kb_id = %s", (base.kb_id,)).fetchone()
        assert head is not None
        seqs = range(head["seq"] - len(base.recent) + 1, head["seq"] + 1)
        for table in GROWN:
            connection.execute(f"create temp table {table} (like public.{table} including all)")
        rows = {seq: {table: _written(connection, table, base.kb_id, seq) for table in GROWN} for seq in seqs}
        connection.commit()
        facts, began = 0, time.perf_counter()
        for seq in seqs:
            for table in GROWN:
                told = _rows.written(table, rows[seq][table])
                _rows.insert(connection, table, base.kb_id, seq, rows[seq]["facts"][0]["recorded_at"], told)  # type: ignore[arg-type]
            connection.commit()
            facts += len(rows[seq]["assertions"])
        return facts / (time.perf_counter() - began)


def _written(connection: psycopg.Connection[dict[str, Any]], table: str, kb_id: UUID, seq: int) -> list[dict[str, Any]]:
    return connection.execute(
        f"select * from public.{table} where kb_id = %s and recorded_seq = %s and invalidated_seq is null",
        (kb_id, seq),
    ).fetchall()


def _write_alone(url: str, kb_id: UUID, name: str, facts: int, start: Any) -> None:
    """One of several writers, with entities of its own."""
    with Database(url, pool_size=2) as database:
        base = furnish(database, kb_id, facts, name)
        base.grow(BATCH * 4)
        start.wait()
        base.grow(facts)


def writers_rate(url: str, writers: int, bases: int, facts: int) -> float:
    """Facts per second of several processes, each of which writes `facts`, to one or more bases of one server."""
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(writers + 1)
    with Database(url, pool_size=2) as database:
        kb_ids = [empty_base(database, f"shared-{uuid4().hex[:8]}") for _ in range(bases)]
    each = [(url, kb_ids[i % bases], f"{i}:", facts, start) for i in range(writers)]
    processes = [context.Process(target=_write_alone, args=arguments) for arguments in each]
    for process in processes:
        process.start()
    start.wait()
    began = time.perf_counter()
    for process in processes:
        process.join()
    if failed := [p.exitcode for p in processes if p.exitcode]:
        raise SystemExit(f"{len(failed)} of {writers} writers failed")
    return writers * (facts - BATCH * 4) / (time.perf_counter() - began)


def shared_rates(url: str, facts: int) -> dict[tuple[int, int], float]:
    """(writers, bases) → facts per second of all together."""
    return {(w, b): writers_rate(url, w, b, facts) for w, b in ((1, 1), (2, 1), (4, 1), (2, 2), (4, 2))}


def at_size(base: Base, dsn: str, size: int) -> tuple[str, dict[str, float]]:
    """Grow to a size and measure; returns the line and the rest of the figures."""
    base.grow(size, report=size > 200_000)
    cost = base.cost()
    write = 1 / cost.wall
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("vacuum (analyze)")
    reads = measure_reads(base, dsn)
    with base.database.read(base.kb_id) as connection:
        began = _worked(connection)
        report = verify(connection, base.kb_id)
        worked = _worked(connection) - began
    if not report.ok:
        raise SystemExit(f"the ledger does not verify: {report.problem}")
    checked = (report.events + report.rows) / report.seconds
    plain = plain_rate(dsn, base)
    line = (
        f"ledger: facts={size} p95_ms={max(reads['head'], reads['past']):.2f} asof_ratio={reads['asof_ratio']:.2f} "
        f"write_per_s={write:.0f} verify_per_s={checked:.0f} rls_ratio={reads['rls_ratio']:.2f}"
    )
    more = {"events": report.events, "rows": report.rows, "verify_s": report.seconds, "plain": plain}
    more["verify_cpu"] = (report.events + report.rows) / worked
    more |= {"overhead": plain / write, "client_us": cost.client * 1e6, "server_us": cost.server * 1e6}
    return line, reads | more | {"load": os.getloadavg()[0]}


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.ledger", description="What the ledger costs while it grows.")
    parser.add_argument("--sizes", default="10000,100000,1000000", help="facts, ascending, by comma")
    parser.add_argument("--shared", type=int, default=20_000, help="facts of each of several writers; 0: not asked")
    parser.add_argument("--record", action="store_true", help="write bench/results/ledger.md")
    arguments = parser.parse_args()
    sizes = [int(size) for size in arguments.sizes.split(",")]
    with fresh_settings() as settings, open_database(settings, "bench-ledger") as database:
        assert settings.database_url is not None
        dsn = settings.database_url.get_secret_value()
        shared = shared_rates(dsn, arguments.shared) if arguments.shared else {}
        base = make_base(database, f"ledger-{uuid4().hex[:6]}", sizes[-1])
        found = []
        for size in sizes:
            found.append(at_size(base, dsn, size))
            print(found[-1][0], {name: round(value, 2) for name, value in found[-1][1].items()}, flush=True)
    if shared:
        print(_shared(shared))
    lines = [line for line, _ in found]
    if arguments.record:
        _record([*found], shared)
    print("\n".join(lines))
    return 0


def _shared(shared: dict[tuple[int, int], float]) -> str:
    """One line of what several writers reach together."""
    rates = (f"{w} on {b}: {rate:.0f}" for (w, b), rate in shared.items())
    return f"Processes on bases, facts/s together: {', '.join(rates)}"


def _record(found: list[tuple[str, dict[str, float]]], shared: dict[tuple[int, int], float]) -> None:
    details = "\n".join(_detail(line, m) for line, m in found)
    both = f"- {_shared(shared)}\n" if shared else ""
    lines = "\n".join(line for line, _ in found)
    Path(ROOT / "bench" / "results" / "ledger.md").write_text(
        f"""# bench-ledger

- Commit: {commit()}
- Corpus: generated statements, one base that grows, {BATCH} a transaction, {PER_ENTITY} for each entity, all through
  the door; 28 % of relations that ask for uniqueness
- Seed: {SEED}
- Repetitions: one run; the rate is of the last {RECENT} batches of one writer; {READS} reads at the head and {READS} at
  each of {len(PAST)} past numbers, p95 the worst of these; verified rows are events of the log and rows of the tables
- Baseline in the same run: the same rows in tables of the same indexes without chain, triggers, references or security
{both}{details}

What it does not show: reading documents and binding what they say, which precede the door; a cold cache. Writers on
one base take turns at its head.

```
{lines}
```
""",
        encoding="utf-8",
    )


def _detail(line: str, m: dict[str, float]) -> str:
    rate = 1e6 / (m["client_us"] + m["server_us"])
    return (
        f"- {line.split()[1]}: {int(m['events'])} events and {int(m['rows'])} rows verified in {m['verify_s']:.1f} s; "
        f"median read {m['p50']:.2f} ms; plain tables take {m['plain']:.0f} facts/s, {m['overhead']:.1f} times it.\n"
        f"  Load {m['load']:.1f} on {os.cpu_count()} cores. On the CPU alone, which says what a busy machine hides: a "
        f"fact takes {m['client_us']:.0f} us in the writer and {m['server_us']:.0f} us in Postgres ({rate:.0f} "
        f"facts/s), a read {m['p95_cpu']:.2f} ms (p95), verification {m['verify_cpu']:.0f} rows/s"
    )


if __name__ == "__main__":
    sys.exit(main())
