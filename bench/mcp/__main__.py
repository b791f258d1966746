"""``make bench-mcp``: how long a tool takes over MCP on a filled base, beside a tool that does nothing."""

from __future__ import annotations

import argparse
import os
import random
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import httpx
from rich.console import Console

from bench.database import ROOT, commit, fresh_settings
from bench.mcp.corpus import write_chunks, write_facts, write_vectors
from substrate.access.people import create_person, set_member
from substrate.access.tokens import issue_token
from substrate.bases import create_base
from substrate.db import NO_BASE, open_database
from substrate.retrieval.embedders import open_embedder
from substrate.retrieval.lexical import run_index
from substrate.settings import Settings

SEED = 7
QUERIES = (
    "who repaired pumps at the quartz site", "falcon team delivered cables", "valves stored before the ember order",
    "heron site filters measured", "juniper panels", "tanks shipped to the cedar site", "onyx team counted wheels",
)  # fmt: skip
HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
console = Console()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, prog="bench.mcp")
    parser.add_argument("--chunks", type=int, default=5000)
    parser.add_argument("--facts", type=int, default=20000)
    parser.add_argument("--calls", type=int, default=300)
    arguments = parser.parse_args()
    with fresh_settings() as settings:
        kb_id, token, names, held = fill(settings, arguments.chunks, arguments.facts)
        with served(settings) as base:
            figures = measure(base, str(kb_id), token, names, arguments.calls)
    noop = figures["noop"][0]
    line = "mcp: " + " ".join(
        f"{tool}_p50_ms={figures[tool][0]:.1f}" for tool in ("entity_facts", "search_chunks", "noop")
    )
    write(arguments.chunks, held, arguments.calls, figures, noop, line)
    console.print(line, highlight=False, soft_wrap=True)
    return 0


def fill(settings: Settings, chunks: int, facts: int) -> tuple[Any, str, list[str], int]:
    """A base, a read token for it, and the names to ask about."""
    with open_database(settings, "bench") as db:
        with db.write(NO_BASE) as connection:
            ontology = (ROOT / "bench" / "ontology.yaml").read_text() + "  - {key: note, label: note}\n"
            ontology = ontology.replace("attributes:", "  - {key: advises, label: advises}\nattributes:")
            kb_id = create_base(connection, "mcp", "MCP", ontology_yaml=ontology)
            person = create_person(connection, "Bench")
            set_member(connection, kb_id, person, "viewer")
            token = issue_token(connection, person, "bench").secret
        with console.status("writing chunks"):
            written = write_chunks(db, kb_id, chunks, SEED)
        with console.status("embedding"):
            write_vectors(db, kb_id, written, open_embedder(settings))
        with console.status("indexing"):
            run_index(db, kb_id, settings)
        with console.status("writing facts"):
            names = write_facts(db, kb_id, written, facts, SEED)
        with db.read(kb_id) as connection:
            row = connection.execute("select count(*) as n from facts where invalidated_seq is null").fetchone()
        analyse(settings)
    return kb_id, token, names, row["n"] if row else 0


def analyse(settings: Settings) -> None:
    """What autovacuum would have done by the time anyone asks."""
    import psycopg

    assert settings.database_url is not None
    with psycopg.connect(settings.database_url.get_secret_value(), autocommit=True) as connection:
        connection.execute("vacuum analyze")


class served:
    """The server as a process of its own, on a free port."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def __enter__(self) -> str:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        assert self.settings.database_url is not None
        environment = {
            **os.environ,
            "TWOCLOCKS_DATABASE_URL": self.settings.database_url.get_secret_value(),
            "TWOCLOCKS_DATA_DIR": str(self.settings.data_dir),
            "TWOCLOCKS_MODELS_DIR": str(self.settings.models_dir.resolve()),
        }
        command = [sys.executable, "-m", "bench.mcp.server", str(port)]
        self.process = subprocess.Popen(command, cwd=ROOT, env=environment)
        base = f"http://127.0.0.1:{port}"
        for _ in range(300):
            try:
                httpx.get(f"{base}/api/v1/health", timeout=1)
                return base
            except httpx.TransportError:
                time.sleep(0.1)
        raise RuntimeError("the server did not start")

    def __exit__(self, *exception: object) -> None:
        self.process.terminate()
        self.process.wait(20)


def measure(base: str, kb_id: str, token: str, names: list[str], calls: int) -> dict[str, tuple[float, float]]:
    """p50 and p95 in ms of each tool, calls interleaved so that all meet the same machine."""
    rng = random.Random(SEED)
    endpoint = f"{base}/api/v1/kbs/{kb_id}/mcp"
    noop = f"{base}/noop/mcp"
    auth = {**HEADERS, "Authorization": f"Bearer {token}"}
    with httpx.Client(timeout=30) as client:
        tools: dict[str, Callable[[], dict[str, Any]]] = {
            "entity_facts": lambda: call(client, endpoint, auth, "entity_facts", {"entity_id": rng.choice(names)}),
            "entity_facts_past": lambda: call(
                client, endpoint, auth, "entity_facts",
                {"entity_id": rng.choice(names), "at": f"20{rng.randrange(15, 25)}-06", "as_of": "seq:60"},
            ),
            "search_chunks": lambda: call(
                client, endpoint, auth, "search_chunks", {"query": f"{rng.choice(QUERIES)} {rng.randrange(2, 90)}"}
            ),
            "noop": lambda: call(client, noop, HEADERS, "noop", {}),
        }  # fmt: skip
        taken: dict[str, list[float]] = {name: [] for name in tools}
        for i in range(calls + 20):
            for name, ask in tools.items():
                began = time.perf_counter()
                answer = ask()
                spent = (time.perf_counter() - began) * 1000
                if "error" in answer or answer["result"].get("isError"):
                    raise RuntimeError(f"{name}: {answer}")
                if i >= 20:
                    taken[name].append(spent)
    return {name: (statistics.median(t), sorted(t)[int(len(t) * 0.95)]) for name, t in taken.items()}


def call(
    client: httpx.Client, url: str, headers: dict[str, str], tool: str, arguments: dict[str, Any]
) -> dict[str, Any]:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    response = client.post(url, json=body, headers=headers)
    response.raise_for_status()
    found: dict[str, Any] = response.json()
    return found


def write(chunks: int, facts: int, calls: int, figures: dict[str, tuple[float, float]], noop: float, line: str) -> None:
    path = ROOT / "bench" / "results" / "mcp.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = "\n".join(f"| {t} | {p50:.1f} | {p95:.1f} | {p50 / noop:.1f} |" for t, (p50, p95) in figures.items())
    path.write_text(
        f"""# bench-mcp

- Commit: {commit()}
- Corpus: generated, {chunks} chunks of about forty words with e5-small vectors, {facts} held facts; seed {SEED}
- Repetitions: {calls} calls of each tool, interleaved, one client on loopback, after 20 that do not count
- Baseline in the same run: a tool that does nothing, of the same SDK in the same process, without authentication

| tool | p50 ms | p95 ms | times the no-op |
|---|---|---|---|
{rows}

What it does not show: many clients at once, a cold cache, or a base that does not fit in memory.

```
{line}
```
""",
        encoding="utf-8",
    )


if __name__ == "__main__":
    sys.exit(main())
