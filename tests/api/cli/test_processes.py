"""A process is known again by who it is, not by its number."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys

import pytest

from api.cli import processes
from tests.waiting import until

STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"
)
PARENT = (
    "import subprocess, sys, time;"
    "c = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']);"
    "print(c.pid, flush=True); time.sleep(600)"
)


@pytest.fixture
def started(tmp_path):
    made = []

    def start(name, program):
        process = processes.start(
            tmp_path, tmp_path / "log", name, [sys.executable, "-c", program], dict(os.environ), tmp_path
        )
        made.append(process)
        return process

    yield start
    processes.stop(tmp_path, made, timeout_s=0)


def test_what_was_started_is_stopped_and_forgotten(started, tmp_path):
    process = started("one", "import time; time.sleep(600)")
    assert process.alive()
    assert processes.recorded(tmp_path) == [process]
    assert processes.stop(tmp_path, processes.recorded(tmp_path)) == ["one"]
    assert not process.alive()
    assert processes.recorded(tmp_path) == []


def test_a_stranger_with_the_same_pid_is_left_alone(started, tmp_path):
    stranger = started("stranger", "import time; time.sleep(600)")
    record = tmp_path / "old.process"
    old = dataclasses.replace(stranger, name="old", started="another boot:1")
    record.write_text(json.dumps(dataclasses.asdict(old)))
    assert not old.alive()
    assert processes.stop(tmp_path, [old]) == []
    assert stranger.alive()
    assert not record.exists()


def test_one_who_does_not_listen_is_ended_with_all_its_children(started, tmp_path):
    deaf, parent = started("deaf", STUBBORN), started("parent", PARENT)
    until(lambda: processes.tail(deaf.log) == "up" and processes.tail(parent.log))
    child = int(processes.tail(parent.log))
    assert processes.identity(child) is not None
    assert processes.stop(tmp_path, [deaf, parent], timeout_s=0.5) == ["deaf", "parent"]
    until(lambda: not deaf.alive() and processes.identity(child) is None)


def test_the_dead_have_no_identity():
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    assert processes.identity(os.getpid()) is not None
    until(lambda: processes.identity(child.pid) is None)  # a remainder that nobody waited for yet
    child.wait()
    assert processes.identity(child.pid) is None


def test_a_broken_record_is_no_process(tmp_path):
    (tmp_path / "x.process").write_text("{ not json")
    (tmp_path / "y.process").write_text('{"name": "y"}')
    assert processes.recorded(tmp_path) == []
