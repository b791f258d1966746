"""The server as a process of its own: no secret is in its log, its answers or its tables, and it leaks nothing.

Everything a caller sends is private too: questions, sentences and headers are in no log line.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID, uuid4

import httpx
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from api.app import create_app
from substrate import audit
from substrate.postgres import bin_dir
from substrate.settings import Settings
from tests.ledger_facts import Scribe
from tests.waiting import until

ROOT = Path(__file__).parents[2]
PASSWORD, CHAT_KEY, EMBEDDING_KEY = "pw-canary-5f1c", "sk-chat-canary-9a0c", "sk-embed-canary-77e2"
QUESTION, SENTENCE = "question-canary-31bd", "Sentence-canary-c0de leads Orion."


@dataclass
class Process:
    """A running ``python -m api.serve``."""

    child: subprocess.Popen[bytes]
    url: str
    log: Path

    def client(self, token: str | None = None) -> httpx.Client:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60)

    def rss_kb(self) -> int:
        status = Path(f"/proc/{self.child.pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])

    def stop(self) -> int:
        self.child.send_signal(signal.SIGTERM)
        return self.child.wait(60)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/api/v1/health", timeout=5).status_code == 200
    except httpx.HTTPError:
        return False


@pytest.fixture
def served(dsn, tmp_path) -> Iterator[Process]:
    port = free_port()
    given = {
        "TWOCLOCKS_DATABASE_URL": make_conninfo(dsn, password=PASSWORD),
        "TWOCLOCKS_DATA_DIR": str(tmp_path / "data"),
        "TWOCLOCKS_MODELS_DIR": str(tmp_path / "no models"),
        "TWOCLOCKS_API_PORT": str(port),
        "TWOCLOCKS_CHAT_API_KEY": CHAT_KEY,
        "TWOCLOCKS_EMBEDDING_API_KEY": EMBEDDING_KEY,
        "TWOCLOCKS_CALLS_PER_MINUTE": "0",
        "TWOCLOCKS_ANONYMOUS_CALLS_PER_MINUTE": "0",
        "PYTHONUNBUFFERED": "1",
        "PYTHONPATH": str(ROOT),
    }
    log = tmp_path / "api.log"
    with log.open("wb") as out:
        child = subprocess.Popen(
            [sys.executable, "-m", "api.serve"], env={**os.environ, **given}, stdout=out, stderr=out, cwd=tmp_path
        )
    process = Process(child, f"http://127.0.0.1:{port}", log)
    try:
        until(lambda: answers(process.url) or child.poll() is not None)
        assert child.poll() is None, log.read_text()
        yield process
    finally:
        if child.poll() is None:
            child.kill()
            child.wait(60)


def every_call(process: Process, kb: UUID, token: str | None) -> list[httpx.Response]:
    """Each route of the API with a body, a query and headers that hold canaries, whatever comes of it."""
    with process.client(token) as client:
        answers = []
        for path, methods in routes().items():
            url = path.replace("{kb_id}", str(kb))
            while "{" in url:
                url = url[: url.index("{")] + str(uuid4()) + url[url.index("}") + 1 :]
            for method in methods:
                for body in ({"text": SENTENCE, "question": QUESTION, "q": QUESTION}, [QUESTION], None):
                    answers.append(client.request(method, url, json=body, headers={"X-Private": QUESTION}))
                answers.append(client.request(method, f"{url}?q={QUESTION}&name={QUESTION}"))
                answers.append(client.request(method, url, content=f'{{"q": "{QUESTION}'.encode()))
        return answers


def routes() -> dict[str, list[str]]:
    """Every path of the API and its methods."""
    paths = create_app(Settings()).openapi()["paths"]
    return {
        path: [m for m in methods if m in ("get", "post", "put", "patch", "delete")] for path, methods in paths.items()
    }


def mcp(client: httpx.Client, kb: UUID, tool: str, **arguments: object) -> httpx.Response:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
    return client.post(f"/api/v1/kbs/{kb}/mcp", json=call, headers=headers)


def test_no_secret_and_nothing_private_is_in_the_log_the_answers_or_the_tables(
    served, database, kb, tokens, dsn, tmp_path
):
    Scribe(database, kb).say("Ada", "leads", "Orion")
    tried = [tokens.write, tokens.read, tokens.expired, tokens.revoked, "tc_pat_" + "x" * 49, "not-a-token-canary"]
    answers = []
    for token in tried:
        answers += every_call(served, kb, token)
    with served.client(tokens.write) as client:
        answers.append(mcp(client, kb, "remember", text=SENTENCE))
        answers.append(mcp(client, kb, "entity_facts", entity=QUESTION))
        answers.append(mcp(client, kb, "search_chunks", query=QUESTION))
        answers.append(mcp(client, kb, QUESTION, query=QUESTION))
        answers.append(client.get(f"/api/v1/kbs/{kb}/entities?token={tokens.write}"))
    seen = {a.status_code for a in answers}
    assert len(answers) > 200 and {200, 401, 404, 422} <= seen, seen
    with psycopg.connect(dsn) as owner:  # the database goes away under the server: its error names no password
        owner.execute("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'twoclocks-api'")
    with served.client(tokens.read) as client:
        answers += [client.get(f"/api/v1/kbs/{kb}/changes") for _ in range(10)]
    assert served.stop() in (0, -signal.SIGTERM)

    secrets = [PASSWORD, CHAT_KEY, EMBEDDING_KEY, *tried]
    log = served.log.read_text()
    assert "Uvicorn running" in log, "there is a log to look into"
    assert [s for s in (*secrets, QUESTION, SENTENCE, str(tmp_path)) if s in log] == []
    told = "\n".join(a.text + str(dict(a.headers)) for a in answers)
    assert [s for s in secrets if s in told] == []
    dumped = subprocess.run([bin_dir() / "pg_dump", dsn], check=True, capture_output=True, text=True).stdout
    assert SENTENCE in dumped, "what was meant to be kept is"
    assert [s for s in (*secrets, QUESTION) if s in dumped] == []
    files = [p for p in (tmp_path / "data").rglob("*") if p.is_file() and p.suffix != ".pem"]
    assert files
    assert [p for p in files for s in secrets if s.encode() in p.read_bytes()] == []
    with database.read(kb) as conn:
        report = audit.verify_seals(conn, kb, late_s=1e9)
    assert report.ok and report.events > 0 and report.waiting == 0, "the last of it was sealed at the end"


@pytest.mark.parametrize("variable", ["TWOCLOCKS_DATABASE_URL", "TWOCLOCKS_ADMIN_DATABASE_URL"])
def test_a_server_that_cannot_start_says_why_and_no_password(variable, dsn, tmp_path):
    nowhere = make_conninfo(dsn, password=PASSWORD, host="127.0.0.1", port="1", dbname="none")
    given = {"TWOCLOCKS_DATABASE_URL": dsn, "TWOCLOCKS_DATA_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "api.serve"],
        env={**os.environ, **given, variable: nowhere, "TWOCLOCKS_API_PORT": str(free_port())},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode != 0
    assert PASSWORD not in done.stdout + done.stderr
    assert "cannot be used" in done.stderr


def connections(dsn: str) -> dict[str, int]:
    with psycopg.connect(dsn) as owner:
        rows = owner.execute(
            """select state, count(*) from pg_stat_activity where application_name = 'twoclocks-api' and datname = %s
               group by state""",
            (conninfo_to_dict(dsn)["dbname"],),
        ).fetchall()
    return dict(rows)


def flood(process: Process, kb: UUID, token: str, refused: int, aborted: int) -> None:
    """Calls without a token, and calls whose caller hangs up before the answer."""

    def anonymous(count: int) -> None:
        with process.client() as client:
            for _ in range(count):
                assert client.post(f"/api/v1/kbs/{kb}/mcp", json={}).status_code == 401

    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
    head = (
        f"POST /api/v1/kbs/{kb}/mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
        f"Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
    ).encode()

    def hang_up(count: int) -> None:
        port = int(process.url.rpartition(":")[2])
        for n in range(count):
            with socket.create_connection(("127.0.0.1", port), timeout=60) as line:
                # Half of them leave in the middle of what they say.
                said = body if n % 2 else body[:10]
                line.sendall(head + f"Content-Length: {len(body)}\r\n\r\n".encode() + said)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(anonymous, [refused // 4] * 4))
        list(pool.map(hang_up, [aborted // 4] * 4))


def leaks_nothing(process: Process, dsn: str, kb: UUID, token: str, refused: int, aborted: int) -> None:
    flood(process, kb, token, 400, 100)  # what is made once is made
    before = process.rss_kb()
    flood(process, kb, token, refused, aborted)
    until(lambda: set(connections(dsn)) <= {"idle"})
    assert process.rss_kb() - before < 20 * 1024
    assert sum(connections(dsn).values()) <= 8
    with process.client() as client:
        assert client.get("/api/v1/health").json()["audit"]["lost"] == 0


def test_refused_and_aborted_calls_leak_nothing(served, dsn, kb, tokens):
    leaks_nothing(served, dsn, kb, tokens.read, 400, 200)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_ten_thousand_refused_and_a_thousand_aborted_calls_leak_nothing(served, dsn, kb, tokens):
    leaks_nothing(served, dsn, kb, tokens.read, 10_000, 1_000)
