"""The server's clock is stepped under load, and the order of the record does not notice.

==================================================  ==================================================
while four writers write, the clock is set          then
==================================================  ==================================================
two hours back, a day ahead, an hour back           no write fails, each number is later than the last
the same                                            nothing is closed before it was recorded; the
                                                    chain verifies
the same                                            a read at the head, one as of now by the server's
                                                    clock and one as of a time to come see the latest
                                                    write, also while the head's time is ahead of it
an hour ago by a clock that was not set             the state of then, not of the head
==================================================  ==================================================

A server of the test's own runs under libfaketime, which the test extra brings; where it is missing the test fails.
"""

from __future__ import annotations

import itertools
import shutil
import tempfile
import threading
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path

import pytest

from substrate.db import NO_BASE, Database
from substrate.ledger.verify import verify
from substrate.migrate import migrate
from substrate.postgres import account, ensure, stop
from substrate.reads import entity_facts, resolve
from tests.properties.ledger_play import Play, Said
from tests.waiting import until

WRITERS, WRITES = 4, 15
STEPS = ("-7200", "+86400", "-3600")
SECOND = timedelta(seconds=1)


def library() -> Path:
    spec = find_spec("libfaketime")
    assert spec is not None and spec.origin is not None, "the wheel libfaketime is not installed: make dev"
    return Path(spec.origin).parent / "vendor" / "libfaketime" / "src" / "libfaketime.so.1"


class Clock:
    """The clock of a server, which a file sets; both lie where the server's account reaches them."""

    def __init__(self, place: Path) -> None:
        self.file = place / "offset"
        self.set("+0")
        shutil.copyfile(library(), place / "libfaketime.so.1")
        self.environment = {
            "LD_PRELOAD": str(place / "libfaketime.so.1"),
            "FAKETIME_TIMESTAMP_FILE": str(self.file),
            "FAKETIME_NO_CACHE": "1",
            "DONT_FAKE_MONOTONIC": "1",
        }

    def set(self, offset: str) -> None:
        fresh = self.file.with_suffix(".fresh")
        fresh.write_text(offset)
        fresh.chmod(0o644)
        fresh.replace(self.file)


@pytest.fixture
def stepped(monkeypatch):
    """A database on a server of its own, and the clock of that server."""
    place = Path(tempfile.mkdtemp(prefix="twoclocks-clock-"))
    place.chmod(0o755)
    clock = Clock(place)
    for name, value in clock.environment.items():
        monkeypatch.setitem(account._ENVIRONMENT, name, value)
    try:
        dsn = ensure(place / "server")
        migrate(dsn)
        with Database(dsn, pool_size=WRITERS + 2, application_name="test") as database:
            yield database, clock
    finally:
        stop(place / "server")
        shutil.rmtree(place)


class Load:
    """Writers who go on until they are told to stop; a failure ends the one that met it and is kept."""

    def __init__(self, play: Play) -> None:
        self.play, self.written, self.failures = play, [0] * WRITERS, []
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._write, args=(n,)) for n in range(WRITERS)]

    def _write(self, n: int) -> None:
        try:
            while not self._stop.is_set():
                start = (self.written[n] * 7 + n) % 90
                self.play.say(Said(f"Person {n}", "leads", f"Thing {start % 3}", start, corrects=start % 5 == 0))
                self.written[n] += 1
        except Exception as error:
            self.failures.append(error)

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def go_on(self) -> None:
        """Until each has written some more."""
        before = list(self.written)
        until(lambda: self.failures or all(w >= b + WRITES for w, b in zip(self.written, before, strict=True)), 240)
        assert self.failures == []


def now(play: Play):
    with play.database.read(NO_BASE) as connection:
        return connection.execute("select clock_timestamp() as now").fetchone()["now"]


def leaders(play: Play, thing: str, **moments) -> tuple[set[str], bool]:
    with play.database.read(play.kb_id) as connection:
        at = resolve(connection, play.kb_id, **moments)
        facts = entity_facts(connection, play.kb_id, thing, at)["facts"] if at.seq else []
    return {f["other_name"] for f in facts if f["predicate_key"] == "leads"}, at.clamped


def test_steps_under_load(stepped):
    database, clock = stepped
    play = Play.begin(database)
    with Load(play) as load:
        load.go_on()
        for step, offset in enumerate(STEPS):
            before = now(play)
            clock.set(offset)
            moved = now(play) - before
            wanted = timedelta(seconds=int(offset)) - (timedelta(seconds=int(STEPS[step - 1])) if step else 0 * SECOND)
            assert abs(moved - wanted) < 60 * SECOND, "the clock did not step"
            load.go_on()
            name = f"After {offset}"
            play.say(Said(name, "leads", f"Thing of {name}", 1))
            asked = now(play)
            with database.read(play.kb_id) as connection:
                ahead = resolve(connection, play.kb_id).recorded_at > asked
            assert ahead == (offset != "+86400")
            for moments in ({}, {"as_of": asked.isoformat()}, {"as_of": (asked + 3 * 86400 * SECOND).isoformat()}):
                assert leaders(play, f"Thing of {name}", **moments)[0] == {name}, moments
            assert leaders(play, f"Thing of {name}", as_of=asked.isoformat())[1] == ahead, "and says so"
    assert load.failures == []
    in_order(play)


def test_an_hour_ago_is_an_hour_ago(stepped):
    """The minute that a set-back clock is granted is no more than that, and only granted then."""
    database, clock = stepped
    play = Play.begin(database)
    play.say(Said("Ann", "leads", "Xi", 1))
    first = now(play)
    clock.set("+3600")
    play.say(Said("Bo", "leads", "Xi", 9))
    assert leaders(play, "Xi", as_of=first.isoformat()) == ({"Ann"}, False)
    assert leaders(play, "Xi", as_of=now(play).isoformat()) == ({"Ann", "Bo"}, False)
    clock.set("+1800")
    play.say(Said("Cy", "leads", "Xi", 20))
    assert leaders(play, "Xi", as_of=now(play).isoformat()) == ({"Ann", "Bo", "Cy"}, True)
    assert leaders(play, "Xi", as_of=(now(play) - 90 * SECOND).isoformat()) == ({"Ann"}, False)


def in_order(play: Play) -> None:
    with play.database.read(play.kb_id) as connection:
        order = connection.execute(
            "select seq, recorded_at from ledger_transaction where kb_id = %s order by seq", (play.kb_id,)
        ).fetchall()
        assert [r["seq"] for r in order] == list(range(1, len(order) + 1))
        assert all(a["recorded_at"] < b["recorded_at"] for a, b in itertools.pairwise(order))
        for table in ("facts", "assertions", "evidence"):
            backwards = connection.execute(
                f"select count(*) as n from {table} where kb_id = %s and invalidated_at < recorded_at", (play.kb_id,)
            ).fetchone()
            assert backwards["n"] == 0, table
        assert verify(connection, play.kb_id).ok
