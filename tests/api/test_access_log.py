"""Access events are written late and together, and each for itself where one of them cannot be written."""

from __future__ import annotations

from uuid import uuid4

import pytest

from api.access_log import AccessLog
from substrate import access
from substrate.db import EVERY_BASE


@pytest.fixture
def log(database):
    opened = AccessLog(database)
    yield opened
    opened.close()


def written(database):
    with database.read(EVERY_BASE) as conn:
        return conn.execute("select action, xmin::text as xid from access_events order by id").fetchall()


def test_one_event_that_cannot_be_written_takes_none_of_the_others_with_it(database, kb, tokens, log):
    with database.read(kb) as conn:
        principal = access.authenticate(conn, tokens.read)
    log.used(principal)
    for base, action in ((kb, "first"), (uuid4(), "of no base"), (kb, "second")):
        log.served(principal, base, via="mcp", action=action)
    log.flush()
    assert [row["action"] for row in written(database)] == ["first", "second"]
    log.served(principal, kb, via="mcp", action="third")
    log.flush()
    assert [row["action"] for row in written(database)] == ["first", "second", "third"]
    with database.read(kb) as conn:
        assert not access.authenticate(conn, tokens.read).use_is_stale


def test_events_that_come_together_share_a_commit(database, kb, tokens, log):
    with database.read(kb) as conn:
        principal = access.authenticate(conn, tokens.read)
    for number in range(5):
        log.served(principal, kb, via="mcp", action=str(number))
    log.flush()
    rows = written(database)
    assert [row["action"] for row in rows] == ["0", "1", "2", "3", "4"]
    assert len({row["xid"] for row in rows}) == 1
