"""`up` for real: healthy, twice is once, one killed comes back, a taken port is told; `down` leaves nothing."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import closing

import httpx
import pytest

from api.cli import processes


def free_port():
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def twoclocks(dsn, tmp_path):
    environment = {
        **os.environ,
        "TWOCLOCKS_DATABASE_URL": dsn,
        "TWOCLOCKS_DAGSTER_DATABASE_URL": dsn,
        "TWOCLOCKS_DATA_DIR": str(tmp_path / "data"),
        "TWOCLOCKS_API_PORT": str(free_port()),
        "TWOCLOCKS_DAGSTER_PORT": str(free_port()),
    }

    def run(*arguments, code=0):
        program = "from api.cli.main import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", program, *arguments],
            capture_output=True,
            text=True,
            env=environment,
            timeout=240,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    run.environment = environment
    yield run
    run("down")


@pytest.mark.slow
def test_up_and_down(twoclocks, tmp_path):
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", int(twoclocks.environment["TWOCLOCKS_API_PORT"])))
        taken.listen()
        assert "set TWOCLOCKS_API_PORT" in twoclocks("up", code=1)
    said = twoclocks("up")
    assert "started: api, dagster-code, dagster-ui, dagster-daemon" in said
    config = json.loads(said[said.index("{\n") : said.rindex("}") + 1])
    [entry] = config["mcpServers"].values()
    answer = httpx.post(
        entry["url"],
        headers={**entry["headers"], "Accept": "application/json, text/event-stream"},
        json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    )
    assert {"remember", "entity_facts"} <= {tool["name"] for tool in answer.json()["result"]["tools"]}
    token = entry["headers"]["Authorization"].removeprefix("Bearer ")
    for log in (tmp_path / "data" / "log").iterdir():
        assert token not in log.read_text()
    assert "everything runs already" in twoclocks("up")
    everything = processes.recorded(tmp_path / "data" / "run")
    [api] = [p for p in everything if p.name == "api"]
    os.kill(api.pid, signal.SIGKILL)
    assert "api             stopped" in twoclocks("status", code=1)
    assert "started: api\n" in twoclocks("up")
    assert "stopped" not in twoclocks("status")
    everything += processes.recorded(tmp_path / "data" / "run")
    assert "stopped: api, dagster-code, dagster-daemon, dagster-ui" in twoclocks("down")
    assert not any(p.alive() for p in everything)
