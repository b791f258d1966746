"""``make bench-overhead``: what a served answer costs beside what it cannot do without.

``entity_facts`` beside the bare SQL that it ran, put again in one read transaction; ``search_chunks`` beside the slower
of its two arms alone. Either tool as it is served but for the network: hints, text, JSON and the note of what was
handed out included. Last line ``overhead: entity_facts_ratio= search_ratio=``.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from pydantic_core import to_json
from rich.console import Console

from api.access_log import AccessLog
from api.deps import Member
from api.mcp import tools
from bench.database import ROOT, commit, fresh_settings
from bench.mcp.__main__ import QUERIES, analyse
from bench.mcp.corpus import write_chunks, write_facts, write_vectors
from substrate import access
from substrate.access import Principal
from substrate.bases import create_base
from substrate.db import NO_BASE, Database, open_database
from substrate.reads import resolve
from substrate.retrieval import vectors
from substrate.retrieval.embedders import Embedder, open_embedder
from substrate.retrieval.lexical import run_index
from substrate.retrieval.lexical_reader import current_view
from substrate.retrieval.lexical_schema import near_terms, question_terms
from substrate.retrieval.search import DEPTH, search_chunks
from substrate.settings import Settings

SEED = 7
WARM = 20
console = Console()


class Recording:
    """A connection that keeps what is put to it."""

    def __init__(self, conn: Any, kept: list[tuple[Any, Any]]) -> None:
        self._conn, self._kept = conn, kept

    def execute(self, query: Any, parameters: Any = None) -> Any:
        self._kept.append((query, parameters))
        return self._conn.execute(query, parameters)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._conn, name)


class Recorded(Member):
    """A caller whose statements are kept."""

    kept: list[tuple[Any, Any]] = []  # noqa: RUF012 - one for the one caller of a process

    @contextmanager
    def read(self) -> Iterator[Any]:
        with self.db.read(self.kb_id) as conn:
            yield Recording(conn, self.kept)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, prog="bench.overhead")
    parser.add_argument("--chunks", type=int, default=1500)
    parser.add_argument("--facts", type=int, default=6000)
    parser.add_argument("--calls", type=int, default=200)
    given = parser.parse_args()
    with fresh_settings() as settings, open_database(settings, "bench") as db:
        embedder = open_embedder(settings)
        kb_id, names = _fill(db, settings, embedder, given.chunks, given.facts)
        log = AccessLog(db)
        shared: tuple[Any, ...] = (_principal(db, kb_id), db, settings, log, lambda: embedder, kb_id, "viewer", False)
        times = _measure(Member(*shared), Recorded(*shared), names, embedder, given.calls)
        log.close()
    line = _write(given, times)
    console.print(line, highlight=False, soft_wrap=True)
    return 0


def _fill(db: Database, settings: Settings, embedder: Embedder, chunks: int, facts: int) -> tuple[UUID, list[str]]:
    with db.write(NO_BASE) as conn:
        ontology = (ROOT / "bench" / "ontology.yaml").read_text() + "  - {key: note, label: note}\n"
        ontology = ontology.replace("attributes:", "  - {key: advises, label: advises}\nattributes:")
        kb_id = create_base(conn, "overhead", "Overhead", ontology_yaml=ontology)
    with console.status("filling a base"):
        written = write_chunks(db, kb_id, chunks, SEED)
        write_vectors(db, kb_id, written, embedder)
        run_index(db, kb_id, settings)
        names = write_facts(db, kb_id, written, facts, SEED)
        analyse(settings)
    return kb_id, names


def _principal(db: Database, kb_id: UUID) -> Principal:
    with db.write(kb_id) as conn:
        person = access.create_person(conn, "Bench")
        access.set_member(conn, kb_id, person, "viewer")
        return access.authenticate(conn, access.issue_token(conn, person, "bench").secret)


def _measure(
    who: Member, recorded: Recorded, names: list[str], embedder: Embedder, calls: int
) -> dict[str, list[float]]:
    """Milliseconds by kind; the kinds in turn, in an order drawn anew, each with a question of its own."""
    rng = random.Random(SEED)
    kinds: dict[str, Callable[[], float]] = {
        "entity_facts": lambda: _timed(lambda: _served(who, "entity_facts", {"entity_id": rng.choice(names)})),
        "bare SQL": lambda: _bare(recorded, rng.choice(names)),
        "search_chunks": lambda: _timed(lambda: _served(who, "search_chunks", {"query": _question(rng)})),
        "search before hints": lambda: _timed(lambda: _search(who, embedder, _question(rng))),
        "words alone": lambda: _timed(lambda: _words(who, _question(rng))),
        "vectors alone": lambda: _timed(lambda: _vectors(who, embedder, _question(rng))),
    }
    times: dict[str, list[float]] = {kind: [] for kind in kinds}
    for n in range(calls + WARM):
        for kind in rng.sample(list(kinds), len(kinds)):
            spent = kinds[kind]()
            if n >= WARM:
                times[kind].append(spent)
    return times


def _timed(run: Callable[[], object]) -> float:
    begun = time.perf_counter()
    run()
    return (time.perf_counter() - begun) * 1000


def _question(rng: random.Random) -> str:
    return f"{rng.choice(QUERIES)} {rng.randrange(2, 10_000)}"


def _served(who: Member, tool: str, arguments: dict[str, Any]) -> bytes:
    result = tools.run(tool, who, arguments)
    return to_json({"content": result.text, "structuredContent": result.structured})


def _bare(who: Recorded, name: str) -> float:
    """The statements of one call, put again: with their rows fetched and nothing made of them."""
    who.kept.clear()
    tools.run("entity_facts", who, {"entity_id": name})
    kept = list(who.kept)

    def again() -> None:
        with who.db.read(who.kb_id) as conn:
            for query, parameters in kept:
                conn.execute(query, parameters).fetchall()

    return _timed(again)


def _search(who: Member, embedder: Embedder, question: str) -> None:
    with who.read() as conn:
        moment = resolve(conn, who.kb_id)
        search_chunks(conn, who.kb_id, question, moment, embedder=embedder, settings=who.settings)


def _words(who: Member, question: str) -> None:
    with who.read() as conn:
        seq = resolve(conn, who.kb_id).seq
        view = current_view(who.settings, who.kb_id)
        view.catch_up(conn, who.kb_id, seq)
        view.search(question_terms(question), seq, None, DEPTH)
        view.search(near_terms(question), seq, None, DEPTH)


def _vectors(who: Member, embedder: Embedder, question: str) -> None:
    with who.read() as conn:
        vectors.nearest(conn, who.kb_id, embedder, question, resolve(conn, who.kb_id), depth=DEPTH)


def _write(given: argparse.Namespace, times: dict[str, list[float]]) -> str:
    p50 = {kind: statistics.median(taken) for kind, taken in times.items()}
    p95 = {kind: sorted(taken)[int(len(taken) * 0.95)] for kind, taken in times.items()}
    facts = p50["entity_facts"] / p50["bare SQL"]
    search = p50["search_chunks"] / max(p50["words alone"], p50["vectors alone"])
    line = f"overhead: entity_facts_ratio={facts:.2f} search_ratio={search:.2f}"
    rows = "\n".join(f"| {kind} | {p50[kind]:.1f} | {p95[kind]:.1f} |" for kind in times)
    (ROOT / "bench" / "results" / "overhead.md").write_text(
        f"""# bench-overhead

- Commit: {commit()}
- Corpus: generated, {given.chunks} chunks with e5-small vectors, at least {given.facts} held facts; seed {SEED}
- Repetitions: {given.calls} of each kind after {WARM} that do not count, in turn, each with a question of its own
- Load while it ran: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores
- Baseline in the same run: the statements that a call of entity_facts ran, put again; either arm of the search alone

| kind | p50 ms | p95 ms |
|---|---|---|
{rows}

The targets are 3 and 1.5, of medians. What it does not show: the network, the gate, or many clients at once.

```
{line}
```
""",
        encoding="utf-8",
    )
    return line


if __name__ == "__main__":
    sys.exit(main())
