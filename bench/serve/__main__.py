"""``make bench-serve``: fifty calls a second over a filled base, then calls without a token and callers that hang up.

``ARGS=--quick`` takes a tenth of the base and half a minute. Vectors are drawn with a seed, since what is measured is
how they are searched; questions are read by the real model.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from rich.console import Console

from bench.database import ROOT, commit, fresh_settings
from bench.mcp.__main__ import QUERIES, analyse
from bench.mcp.corpus import write_chunks, write_facts, write_vectors
from substrate.access.people import create_person, set_member
from substrate.access.tokens import issue_token
from substrate.bases import create_base
from substrate.db import NO_BASE, open_database
from substrate.retrieval.embedders import open_embedder
from substrate.retrieval.embedders.protocol import Embedder
from substrate.retrieval.lexical import run_index
from substrate.settings import Settings, child_environment

SEED = 7
console = Console()


@dataclass(frozen=True, slots=True)
class Filled:
    """A base to ask, and what to ask it about."""

    kb_id: str
    token: str
    names: Sequence[str]
    facts: int
    seq: int


class Drawn:
    """The real model's name over drawn vectors: four hundred directions, each passage near to one of them."""

    def __init__(self, model: Embedder) -> None:
        self._model, self._rng = model, np.random.default_rng(SEED)
        self._centres = self._rng.normal(size=(400, model.dimension))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def passages(self, texts: Sequence[str]) -> Any:
        near = self._centres[self._rng.integers(len(self._centres), size=len(texts))]
        vectors = near + 0.4 * self._rng.normal(size=near.shape)
        return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, prog="bench.serve")
    parser.add_argument("--quick", action="store_true", help="10,000 chunks, 30,000 facts, 30 seconds")
    parser.add_argument("--chunks", type=int)
    parser.add_argument("--facts", type=int)
    parser.add_argument("--seconds", type=int)
    parser.add_argument("--rps", type=float, default=50)
    given = parser.parse_args()
    chunks, facts, seconds = (10_000, 30_000, 30) if given.quick else (100_000, 300_000, 180)
    chunks, facts, seconds = given.chunks or chunks, given.facts or facts, given.seconds or seconds
    refused, aborted = (1000, 200) if given.quick else (10_000, 1000)
    with fresh_settings() as settings:
        filled = fill(settings, chunks, facts)
        with served(settings) as (url, pid):
            load(url, filled, given.rps, 5)  # what is opened once is opened
            spent = load(url, filled, given.rps, seconds)
            peak = memory_mb(pid, "VmHWM")
            before = memory_mb(pid, "VmRSS")
            flood(url, filled, refused, aborted)
            time.sleep(2)
            growth = memory_mb(pid, "VmRSS") - before
    report(given.rps, seconds, chunks, filled, spent, peak, growth, (refused, aborted))
    return 0


def fill(settings: Settings, chunks: int, facts: int) -> Filled:
    """A base with `chunks` passages and at least `facts` held facts."""
    with open_database(settings, "bench") as db:
        with db.write(NO_BASE) as connection:
            ontology = (ROOT / "bench" / "ontology.yaml").read_text() + "  - {key: note, label: note}\n"
            ontology = ontology.replace("attributes:", "  - {key: advises, label: advises}\nattributes:")
            kb_id = create_base(connection, "serve", "Serve", ontology_yaml=ontology)
            person = create_person(connection, "Bench")
            set_member(connection, kb_id, person, "viewer")
            token = issue_token(connection, person, "bench").secret
        with console.status("writing chunks"):
            written = write_chunks(db, kb_id, chunks, SEED)
            write_vectors(db, kb_id, written, Drawn(open_embedder(settings)))
        with console.status("indexing"):
            run_index(db, kb_id, settings)
        with console.status("writing facts"):
            names = write_facts(db, kb_id, written, facts, SEED)
        with db.read(kb_id) as connection:
            held = connection.execute("select count(*) as n from facts where invalidated_seq is null").fetchone()
            head = connection.execute("select seq from kb_head where kb_id = %s", (kb_id,)).fetchone()
        analyse(settings)
    assert held is not None and head is not None
    return Filled(str(kb_id), token, names, held["n"], head["seq"])


@contextmanager
def served(settings: Settings) -> Iterator[tuple[str, int]]:
    """The product as a process of its own: its address and process id. No limit on calls."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    assert settings.database_url is not None
    environment = child_environment(
        settings,
        TWOCLOCKS_DATABASE_URL=settings.database_url.get_secret_value(),
        TWOCLOCKS_API_PORT=str(port),
        TWOCLOCKS_CALLS_PER_MINUTE="0",
        TWOCLOCKS_ANONYMOUS_CALLS_PER_MINUTE="0",
    )
    process = subprocess.Popen([sys.executable, "-m", "api.serve"], cwd=ROOT, env=environment)
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            try:
                httpx.get(f"{url}/api/v1/health", timeout=1)
                break
            except httpx.TransportError:
                time.sleep(0.1)
        else:
            raise RuntimeError("the server did not start")
        yield url, process.pid
    finally:
        process.terminate()
        process.wait(30)


def load(url: str, filled: Filled, rps: float, seconds: int) -> list[tuple[int, float]]:
    """(status, seconds) of each call of the generator's process."""
    plan = {
        "url": f"{url}/api/v1/kbs/{filled.kb_id}/mcp",
        "token": filled.token,
        "names": list(filled.names),
        "queries": QUERIES,
        "seq": max(filled.seq // 2, 1),
        "seed": SEED,
        "rps": rps,
        "seconds": seconds,
    }
    command = [sys.executable, "-m", "bench.serve.load"]
    done = subprocess.run(command, cwd=ROOT, input=json.dumps(plan), capture_output=True, text=True, check=True)
    return [(status, spent) for status, spent in json.loads(done.stdout)]


def memory_mb(pid: int, what: str) -> float:
    """``VmRSS`` (now) or ``VmHWM`` (at most so far) of a process, in MB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(what)).split()[1]) / 1024


def flood(url: str, filled: Filled, refused: int, aborted: int) -> None:
    """Calls without a token, and callers that hang up before the answer, half of them in the middle of their words."""
    path, port = f"/api/v1/kbs/{filled.kb_id}/mcp", int(url.rpartition(":")[2])

    def anonymous(count: int) -> None:
        with httpx.Client(base_url=url, timeout=60) as client:
            for _ in range(count):
                assert client.post(path, json={}).status_code == 401

    params = {"name": "entity_facts", "arguments": {"entity_id": filled.names[0]}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {filled.token}\r\n"
        "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode()

    def hang_up(count: int) -> None:
        for number in range(count):
            with socket.create_connection(("127.0.0.1", port), timeout=60) as line:
                line.sendall(head + (body if number % 2 else body[:10]))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(anonymous, [refused // 4] * 4))
        list(pool.map(hang_up, [aborted // 4] * 4))


def report(
    rps: float,
    seconds: int,
    chunks: int,
    filled: Filled,
    spent: list[tuple[int, float]],
    peak: float,
    growth: float,
    flooded: tuple[int, int],
) -> None:
    """Print the last line and write the results."""
    times = sorted(taken * 1000 for _, taken in spent)
    p50, p95, p99 = (times[min(int(len(times) * part), len(times) - 1)] for part in (0.5, 0.95, 0.99))
    errors = sum(status != 200 for status, _ in spent)
    line = f"serve: rps={rps:g} p95_ms={p95:.0f} errors={errors}"
    (ROOT / "bench" / "results" / "serve.md").write_text(
        f"""# bench-serve

- Commit: {commit()}
- Corpus: generated, {chunks} chunks with drawn vectors, {filled.facts} held facts; seed {SEED}
- Load: {rps:g} calls a second for {seconds} s, sent at their instants by a process of its own and timed from them;
  40 % facts now, 20 % facts of a past moment, 20 % search, 10 % find, 10 % timeline; one server process
- Machine: {os.cpu_count()} cores, shared with database and generator; load average {os.getloadavg()[0]:.1f} at the end

| calls | p50 ms | p95 ms | p99 ms | slowest ms | errors | peak memory MB |
|---|---|---|---|---|---|---|
| {len(spent)} | {p50:.0f} | {p95:.0f} | {p99:.0f} | {times[-1]:.0f} | {errors} | {peak:.0f} |

After that {flooded[0]} calls without a token and {flooded[1]} callers that hung up: resident memory grew by
{growth:.1f} MB (at most 20 are allowed in the full run).

```
{line}
```
""",
        encoding="utf-8",
    )
    console.print(f"peak_mb={peak:.0f} growth_mb={growth:.1f} p50_ms={p50:.0f} p99_ms={p99:.0f}", highlight=False)
    console.print(line, highlight=False, soft_wrap=True)


if __name__ == "__main__":
    sys.exit(main())
