"""Whoever is killed, and when: what was acknowledged is on record, once, and is under a seal soon after the restart."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from uuid import UUID

import pytest

from api.sealing import Sealing
from substrate import access, audit
from substrate.bases import create_base
from substrate.db import NO_BASE, Database
from substrate.errors import DatabaseUnavailable
from substrate.migrate import migrate
from substrate.postgres import ensure, status, stop
from tests.waiting import until

VICTIM = Path(__file__).parent / "sealer_victim.py"


def people(database: Database, kb: UUID) -> tuple[str, str]:
    with database.write(NO_BASE) as conn:
        person = access.create_person(conn, "Ada")
        return str(person), str(access.issue_token(conn, person, "victim").id)


def acknowledged(dsn: str, kb: UUID, who: tuple[str, str], name: str, most: int, kill: Callable[[], None]) -> set[str]:
    """Run a victim until it has acknowledged `most` events, kill, and return what it acknowledged until it was dead."""
    command = [sys.executable, str(VICTIM), dsn, str(kb), *who, name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as victim:
        assert victim.stdout is not None
        said = [victim.stdout.readline() for _ in range(most)]
        kill()
        victim.send_signal(signal.SIGKILL)
        said += victim.stdout.readlines()
    return {line.strip() for line in said if line.endswith("\n")}


def everything_is_there(dsn: str, kb: UUID, expected: set[str]) -> audit.SealReport:
    with Database(dsn) as database:
        sealing = Sealing(database, every_s=0.05)
        with suppress(DatabaseUnavailable):
            until(lambda: left(database, kb) == 0)
        sealing.close()
        with database.read(kb) as conn:
            rows = [r["action"] for r in conn.execute("select action from access_events").fetchall()]
            report = audit.verify_seals(conn, kb)
    assert len(rows) == len(set(rows)), "none is written twice"
    assert expected <= set(rows), "what was acknowledged is on record"
    assert (report.exit_code, report.waiting, report.events) == (0, 0, len(rows)), report
    return report


def left(database: Database, kb: UUID) -> int:
    with database.read(kb) as conn:
        return audit.waiting(conn, kb).rows


def killed_many_times(database: Database, dsn: str, kb: UUID, times: int) -> None:
    rnd, expected, who = random.Random(times), set(), people(database, kb)
    for n in range(times):
        expected |= acknowledged(dsn, kb, who, str(n), rnd.randint(1, 60), lambda: None)
        everything_is_there(dsn, kb, expected)
    assert len(expected) > times


def test_a_server_that_is_killed(database, dsn, kb):
    killed_many_times(database, dsn, kb, 4)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_server_that_is_killed_50_times(database, dsn, kb):
    killed_many_times(database, dsn, kb, 50)


def postgres_killed(root: Path, times: int) -> None:
    """A cluster of our own, as `twoclocks up` has one, whose postmaster is killed while events are written."""
    dsn = ensure(root)
    try:
        migrate(dsn)
        with Database(dsn) as database:
            with database.write(NO_BASE) as conn:
                kb = create_base(conn, "test", "Test")
            who = people(database, kb)
        rnd, expected = random.Random(times), set()
        for n in range(times):

            def kill() -> None:
                pid = status(root).pid
                assert pid is not None
                os.kill(pid, signal.SIGKILL)

            expected |= acknowledged(dsn, kb, who, str(n), rnd.randint(1, 60), kill)
            assert ensure(root) == dsn
            everything_is_there(dsn, kb, expected)
        assert len(expected) > times
    finally:
        stop(root)


def test_a_database_server_that_is_killed(tmp_path):
    postgres_killed(tmp_path / "postgres", 2)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_database_server_that_is_killed_25_times(tmp_path):
    postgres_killed(tmp_path / "postgres", 25)
