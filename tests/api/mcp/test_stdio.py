"""The tools over standard input and output: a real process, and the SDK's own client at its other end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from psycopg.conninfo import make_conninfo

ROOT = Path(__file__).parents[3]


def environment(dsn, tmp_path):
    return {
        **os.environ,
        "TWOCLOCKS_DATABASE_URL": make_conninfo(dsn),
        "TWOCLOCKS_DATA_DIR": str(tmp_path / "data"),
        "PYTHONPATH": str(ROOT),
    }


def command(*words):
    return ["-c", "from api.cli.main import main; main()", "mcp", *words]


def with_process(words, environment, tmp_path, use):
    """Run `use(client)` with the SDK's client around ``twoclocks mcp`` and those words."""
    started = StdioServerParameters(command=sys.executable, args=command(*words), env=environment, cwd=tmp_path)

    async def main():
        with (tmp_path / "stderr").open("w") as errors:
            async with Client(stdio_client(started, errlog=errors)) as client:
                return await use(client)

    return anyio.run(main)


async def ask(client):
    listed = await client.list_tools()
    called = await client.call_tool("entity_facts", {"entity_id": "Ada"})
    wrong = await client.call_tool("entity_facts", {"entity_id": "nobody"})
    return [tool.name for tool in listed.tools], called, wrong


def test_a_client_starts_the_process_and_asks_the_local_database(dsn, tmp_path, kb, scribe):
    scribe.say("Ada", "works_on", "Heron")
    names, called, wrong = with_process(["--base", "test"], environment(dsn, tmp_path), tmp_path, ask)
    assert {"search_chunks", "entity_facts", "remember"} <= set(names)  # one's own rights on one's own machine
    assert called.structured_content["facts"][0]["other_name"] == "Heron"
    assert wrong.is_error is True


def test_what_a_token_may_not_do_is_not_done_over_stdio_either(dsn, tmp_path, kb, tokens):
    held = tmp_path / "token"
    held.write_text(tokens.read + "\n")
    words = ["--base", "test", "--token-file", str(held)]
    names, _, _ = with_process(words, environment(dsn, tmp_path), tmp_path, ask)
    assert "entity_facts" in names and "remember" not in names


@pytest.mark.parametrize("token", ["revoked", "elsewhere", "nonsense"])
def test_a_token_that_opens_nothing_serves_nothing(dsn, tmp_path, kb, tokens, token):
    words = ["--base", "test", "--token", getattr(tokens, token)]
    done = subprocess.run(
        [sys.executable, *command(*words)], env=environment(dsn, tmp_path), cwd=tmp_path, input="", text=True,
        capture_output=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stdout == ""
    assert getattr(tokens, token) not in done.stderr


def test_a_server_elsewhere_answers_through_the_process(server, scribe, dsn, tmp_path):
    scribe.say("Ada", "works_on", "Heron")
    words = ["--url", server.url, "--base", "test", "--token", server.tokens.read]
    names, called, wrong = with_process(words, environment(dsn, tmp_path), tmp_path, ask)
    assert "entity_facts" in names and "remember" not in names
    assert called.structured_content["facts"][0]["other_name"] == "Heron"
    assert wrong.is_error is True


def test_nothing_but_messages_is_on_the_output(dsn, tmp_path, kb):
    said = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "drop_tables", "arguments": {}}},
    ]  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, *command()], env=environment(dsn, tmp_path), cwd=tmp_path, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdin is not None and process.stdout is not None
    with process:
        for message in said:
            process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.stdin.close()
        assert process.stdout.read() == ""
    assert process.returncode == 0
    assert answers[0]["result"]["serverInfo"]["version"]
    assert answers[1]["error"]["code"] == -32602
