"""``make bench-up``: memory of everything `make up` starts, idle processor time, and remember → proposal."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
from rich.console import Console

from bench.database import ROOT, commit
from bench.up.processes import Sampler, cpu_seconds

API_PORT, DAGSTER_PORT = 8430, 8431
BASELINE_S = 40.0
"""What the issue allows from `remember` to its proposal."""
console = Console(highlight=False)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, prog="bench.up")
    parser.add_argument("--remembers", type=int, default=20)
    parser.add_argument("--idle", type=float, default=60.0, help="seconds of doing nothing that are measured")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="twoclocks-up-") as folder:
        data_dir = Path(folder).resolve()
        environment = {
            **os.environ,
            "TWOCLOCKS_DATA_DIR": str(data_dir),
            "TWOCLOCKS_API_PORT": str(API_PORT),
            "TWOCLOCKS_DAGSTER_PORT": str(DAGSTER_PORT),
        }
        sampler = Sampler(data_dir)
        sampler.start()
        try:
            figures = run(environment, data_dir, arguments.remembers, arguments.idle)
        finally:
            sampler.stopping.set()
            command(environment, "down")
    figures["peak_mb"], figures["parts"], figures["samples"] = sampler.peak_mb, sampler.peak_parts, sampler.samples
    line = (
        f"up: peak_pss_mb={sampler.peak_mb:.0f} start_s={figures['start_s']:.1f} found_next_call={figures['found']} "
        f"remember_p50_s={figures['p50']:.1f} remember_p95_s={figures['p95']:.1f} idle_core={figures['idle']:.3f}"
    )
    write(figures, arguments.remembers, arguments.idle, line)
    console.print(line, soft_wrap=True)
    ok = figures["p95"] <= BASELINE_S and figures["idle"] < 0.15 and sampler.peak_mb < 2048
    return 0 if ok and figures["found"] == arguments.remembers else 1


def command(environment: dict[str, str], *words: str) -> str:
    """A run of the command line; its output."""
    asked = [str(Path(sys.executable).with_name("twoclocks")), *words]
    return subprocess.run(asked, env=environment, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def run(environment: dict[str, str], data_dir: Path, remembers: int, idle_s: float) -> dict[str, Any]:
    """Start, take in the demo, remember, then do nothing."""
    began = time.monotonic()
    with console.status("twoclocks up"):
        command(environment, "up")
    start_s = time.monotonic() - began
    with console.status("the demo's ingest"):
        subprocess.run([sys.executable, "-m", "demo"], env=environment, cwd=ROOT, check=True, capture_output=True)
    entry = json.loads(command(environment, "mcp-config"))["mcpServers"]["twoclocks-tidewell"]
    taken, found = [], 0
    with httpx.Client(
        timeout=60, headers={**entry["headers"], "Accept": "application/json, text/event-stream"}
    ) as client:
        for i in range(remembers):
            with console.status(f"remember {i + 1} of {remembers}"):
                seen, seconds = remember(client, entry["url"], i)
            found += seen
            taken.append(seconds)
    with console.status("idle"):
        time.sleep(20)  # the last run's tail is not idleness
        before = cpu_seconds(data_dir)
        time.sleep(idle_s)
        idle = (cpu_seconds(data_dir) - before) / idle_s
    taken.sort()
    p95 = taken[min(len(taken) - 1, int(len(taken) * 0.95))]
    return {"start_s": start_s, "found": found, "p50": taken[len(taken) // 2], "p95": p95, "idle": idle}


def remember(client: httpx.Client, url: str, number: int) -> tuple[bool, float]:
    """Record a sentence; was it found by the very next call, and how long until its proposal?"""
    who = f"Ines Valderas {chr(65 + number)}."
    sentence = f"{who} leads the Coral Survey since {number % 28 + 1} March 2024."
    began = time.monotonic()
    call(client, url, "remember", {"text": sentence})
    hits = call(client, url, "search_chunks", {"query": sentence})["structuredContent"]["chunks"]
    seen = any(sentence in hit["text"] for hit in hits)
    pending = url.removesuffix("/mcp") + "/review/pending?limit=100"
    while sentence not in client.get(pending).text:
        if time.monotonic() - began > 180:
            raise RuntimeError(f"no proposal for {sentence!r} within 180 s")
        time.sleep(0.25)
    return seen, time.monotonic() - began


def call(client: httpx.Client, url: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    response = client.post(url, json=body, headers={"MCP-Protocol-Version": "2025-06-18"})
    response.raise_for_status()
    answer = response.json()
    if "error" in answer or answer["result"].get("isError"):
        raise RuntimeError(f"{tool}: {answer}")
    result: dict[str, Any] = answer["result"]
    return result


def write(figures: dict[str, Any], remembers: int, idle_s: float, line: str) -> None:
    path = ROOT / "bench" / "results" / "up.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    parts = "\n".join(f"| {n} | {mb:.0f} |" for n, mb in sorted(figures["parts"].items(), key=lambda p: -p[1]))
    path.write_text(
        f"""# bench-up

- Commit: {commit()}
- Corpus: the demo's documents, then {remembers} remembered sentences; seed: none
- Repetitions: one run; PSS of all processes each second ({figures["samples"]} times); idle over {idle_s:.0f} s
- Baseline: the limits this must stay under: 2,048 MB, {BASELINE_S:.0f} s, 0.15 of a core

| process at the peak | PSS MB |
|---|---|
{parts}

What it does not show: a machine that does other work, large documents, or several bases at once. The demo's own process
is counted at the peak although `make up` does not start it.

```
{line}
```
""",
        encoding="utf-8",
    )


if __name__ == "__main__":
    sys.exit(main())
