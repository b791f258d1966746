"""Access events are written together, none is dropped in silence, and each is sealed within moments."""

from __future__ import annotations

import logging
import threading
import time
from datetime import timedelta
from uuid import uuid4

import psycopg
import pytest

from api.access_log import AccessLog
from api.sealing import Sealing
from substrate import access, audit
from substrate.db import NO_BASE, Database
from substrate.errors import DatabaseUnavailable, Unavailable
from tests.waiting import until


@pytest.fixture
def log(database):
    opened = AccessLog(database)
    yield opened
    opened.close()


@pytest.fixture
def principal(database, tokens):
    with database.read(NO_BASE) as conn:
        return access.authenticate(conn, tokens.read)


def written(database, kb):
    with database.read(kb) as conn:
        return conn.execute("select action, xmin::text as xid, seal from access_events order by id").fetchall()


def actions(database, kb):
    return [row["action"] for row in written(database, kb)]


class Away(Database):
    """A database that cannot be written to while `away` is set."""

    away = threading.Event()

    def write(self, reach):
        if self.away.is_set():
            raise DatabaseUnavailable("the database cannot be used: gone for a moment")
        return super().write(reach)


@pytest.fixture
def shaky(dsn):
    Away.away = threading.Event()
    with Away(dsn, pool_size=4) as opened:
        yield opened


def test_one_event_that_cannot_be_written_takes_none_of_the_others_with_it(database, kb, tokens, principal, log):
    log.used(principal)
    for base, action in ((kb, "first"), (uuid4(), "of no base"), (kb, "second")):
        log.served(principal, base, via="mcp", action=action)
    log.flush()
    assert actions(database, kb) == ["first", "second"]
    assert log.lost == 1, "the one of no base is not forgotten"
    log.served(principal, kb, via="mcp", action="third")
    log.flush()
    assert actions(database, kb) == ["first", "second", "third"]
    with database.read(NO_BASE) as conn:
        assert not access.authenticate(conn, tokens.read).use_is_stale


def test_events_that_come_together_share_a_commit(database, kb, principal, log):
    for number in range(5):
        log.served(principal, kb, via="mcp", action=str(number))
    log.flush()
    rows = written(database, kb)
    assert [row["action"] for row in rows] == ["0", "1", "2", "3", "4"]
    assert len({row["xid"] for row in rows}) == 1


def test_what_is_served_while_the_database_is_away_is_written_when_it_is_back(database, kb, principal, shaky):
    log = AccessLog(shaky)
    shaky.away.set()
    for number in range(3):
        log.served(principal, kb, via="mcp", action=str(number))
    until(lambda: log.unwritten == 0)  # taken up, and tried again and again
    log.served(principal, kb, via="mcp", action="3")
    assert actions(database, kb) == []
    with database.read(kb) as conn:
        served_by = conn.execute("select clock_timestamp() as now").fetchone()["now"]
    time.sleep(1)  # away for longer than the clocks can be apart
    shaky.away.clear()
    log.flush()
    assert (actions(database, kb), log.lost) == (["0", "1", "2", "3"], 0)
    with database.read(kb) as conn:
        last = conn.execute("select max(at) as at from access_events").fetchone()["at"]
    assert last <= served_by + timedelta(seconds=0.5), "when it was served, not when it was written"
    log.close()


def test_a_full_backlog_with_the_database_away_refuses_the_read(kb, principal, shaky, database):
    log = AccessLog(shaky, backlog=2)
    shaky.away.set()
    log.served(principal, kb, via="mcp", action="taken up")
    until(lambda: log.unwritten == 0)
    for number in range(2):
        log.served(principal, kb, via="mcp", action=str(number))
    with pytest.raises(Unavailable):
        log.served(principal, kb, via="mcp", action="refused")
    log.used(principal)  # never in the way of a read
    shaky.away.clear()
    log.flush()
    assert (actions(database, kb), log.lost) == (["taken up", "0", "1"], 0)
    log.served(principal, kb, via="mcp", action="again")
    log.close()
    assert actions(database, kb)[-1] == "again"


def test_what_cannot_be_written_before_the_end_is_counted_and_named(
    kb, principal, shaky, database, monkeypatch, caplog
):
    monkeypatch.setattr("api.access_log._CLOSING_S", 0.2)
    log = AccessLog(shaky)
    shaky.away.set()
    log.served(principal, kb, via="mcp", action="get_facts")
    with caplog.at_level(logging.ERROR):
        log.close()
    assert log.lost == 1
    assert f"get_facts by token {principal.token_id} in base {kb}" in caplog.text
    assert actions(database, kb) == []


def test_before_an_answer_its_event_is_on_record_or_the_answer_fails(database, kb, principal, shaky):
    log = AccessLog(shaky, when="before")
    log.served(principal, kb, via="mcp", action="first")
    assert actions(database, kb) == ["first"], "without waiting for anything"
    shaky.away.set()
    with pytest.raises(Unavailable, match="put on record"):
        log.served(principal, kb, via="mcp", action="refused")
    shaky.away.clear()
    with pytest.raises(Unavailable, match="put on record"):
        log.served(principal, uuid4(), via="mcp", action="of no base")
    log.served(principal, kb, via="mcp", action="second")
    assert (actions(database, kb), log.lost) == (["first", "second"], 0)
    log.close()


def test_what_is_served_is_sealed_by_one_of_several_replicas(database, kb, principal):
    replicas = [Sealing(database, every_s=0.05) for _ in range(3)]
    log = AccessLog(database, wrote=replicas[0].wrote)
    for number in range(5):
        log.served(principal, kb, via="mcp", action=str(number))
        log.flush()
    until(lambda: all(row["seal"] for row in written(database, kb)))
    with database.write(kb) as conn:
        conn.execute("insert into access_events (kb_id, via, action) values (%s, 'mcp', 'left behind')", (kb,))
    replicas[1]._swept = float("-inf")
    until(lambda: all(row["seal"] for row in written(database, kb)))
    log.served(principal, kb, via="mcp", action="at the end")
    log.close()
    for replica in replicas:
        replica.close()
        assert (replica.state(), replica.late) == ({"oldest_unsealed_s": 0.0, "problem": ""}, False)
    with database.read(kb) as conn:
        report = audit.verify_seals(conn, kb)
    assert (report.exit_code, report.events, report.waiting) == (0, 7, 0)


def test_a_sealer_outlives_a_database_that_is_away_and_says_so(database, kb, shaky):
    sealing = Sealing(shaky, every_s=0.05)
    shaky.away.set()
    with database.write(kb) as conn:
        conn.execute(
            "insert into access_events (kb_id, at, via, action) values (%s, now() - interval '1 minute', 'mcp', 'x')",
            (kb,),
        )
    sealing.wrote([kb])
    until(lambda: "gone for a moment" in sealing.state()["problem"])
    shaky.away.clear()
    until(lambda: all(row["seal"] for row in written(database, kb)))
    until(lambda: sealing.state()["problem"] == "")
    sealing.close()


def test_a_row_that_nobody_can_seal_is_late(database, kb, dsn, monkeypatch):
    """A lock that another session holds: the alert is what is left, and whoever saw it comes back to it."""
    monkeypatch.setattr("api.sealing.SWEEP_S", 3600)
    with psycopg.connect(dsn) as stuck:
        stuck.execute("select pg_advisory_lock(hashtextextended('twoclocks seal ' || %s::text, 0))", (kb,))
        with database.write(kb) as conn:
            conn.execute(
                """insert into access_events (kb_id, at, via, action)
                   values (%s, now() - interval '1 minute', 'mcp', 'x')""",
                (kb,),
            )
        sealing = Sealing(database, every_s=0.05)
        until(lambda: sealing.late)
        assert sealing.state()["oldest_unsealed_s"] > 59
        stuck.execute("select pg_advisory_unlock_all()")
    until(lambda: all(row["seal"] for row in written(database, kb)))
    until(lambda: not sealing.late)
    sealing.close()


def test_the_end_signs_and_a_signature_that_fails_does_not_stop_sealing(database, kb, principal):
    signed = []

    def sign():
        with database.read(kb) as conn:
            signed.append(conn.execute("select count(*) as n from access_events where seal is null").fetchone()["n"])
        raise Unavailable("no key")

    sealing = Sealing(database, sign=sign, sign_every_s=3600, every_s=0.05)
    until(lambda: "no key" in sealing.state()["problem"])
    access.record_access(database, access.Access(principal, kb, "mcp", "x"))
    sealing.wrote([kb])
    until(lambda: all(row["seal"] for row in written(database, kb)))
    assert len(signed) == 1
    sealing.close()
    assert signed == [0, 0], "once at the start, once at the end, after sealing"


def test_health_tells_of_lost_and_late_events(server, database):
    with server.client(None) as client:
        answer = client.get("/api/v1/health").json()
        assert answer["status"] == "ok"
        assert answer["audit"] == {"unwritten": 0, "lost": 0, "oldest_unsealed_s": 0.0, "problem": ""}
        server.app.state.access_log.lost = 2
        answer = client.get("/api/v1/health").json()
        assert (answer["status"], answer["audit"]["lost"]) == ("degraded", 2)
