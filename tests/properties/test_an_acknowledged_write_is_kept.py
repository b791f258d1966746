"""Postgres or the writers are killed at random: what was acknowledged is there, once, and what was in doubt is settled.

===================================================  =======================================================
after any number of kills -9                         then
===================================================  =======================================================
a write that the writer saw committed                is in the ledger
a write whose commit nobody saw, tried again under   is in the ledger once
its key
the order, the chain                                 has no gap; verifies
what is held                                         is what a writer who was never killed would hold
===================================================  =======================================================

Five kills here, fifty with ``pytest -m slow``. The server is a real one of the test's own, with fsync, and is brought
up again by the product's own supervisor.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from substrate.db import Database
from substrate.ledger.verify import verify
from substrate.migrate import migrate
from substrate.postgres import ensure, status, stop
from tests.properties.ledger_play import Play
from tests.properties.settling_writer import Book, settle, statement
from tests.waiting import until

WRITER = Path(__file__).with_name("settling_writer.py")
THREADS = 4


class Scene:
    """A server, a base in it, a process that writes to the base, and the book of what it began and saw done."""

    def __init__(self, place: Path, seed: int) -> None:
        self.rnd, self.root, self.book = random.Random(seed), place / "server", place / "book"
        self.dsn = ensure(self.root)
        migrate(self.dsn)
        with Database(self.dsn, pool_size=1, application_name="test") as database:
            self.kb = Play.begin(database).kb_id
        self.killed = {"postgres": 0, "writer": 0}
        self.writer = self.start()

    def start(self) -> subprocess.Popen:
        return subprocess.Popen([sys.executable, WRITER, self.dsn, str(self.kb), str(THREADS), self.book])

    def kill(self) -> None:
        """At a random moment after some more writes."""
        wanted = len(self.done()) + self.rnd.randrange(1, 25)
        until(lambda: self.writer.poll() is not None or len(self.done()) >= wanted, 240)
        assert self.writer.poll() is None, "the writer ended by itself"
        what = self.rnd.choice(("postgres", "writer"))
        self.killed[what] += 1
        if what == "writer":
            self.writer.kill()
            self.writer.wait()
            self.writer = self.start()
        else:
            os.kill(status(self.root).pid, signal.SIGKILL)
            assert ensure(self.root) == self.dsn

    def done(self) -> list[str]:
        return Book.keys(self.book, "done")

    def end(self) -> None:
        self.book.with_name("book.stop").touch()
        assert self.writer.wait(240) == 0

    def check(self) -> None:
        begun, done = Book.keys(self.book, "begin"), self.done()
        assert sorted(begun) == sorted(done), "every write was settled"
        assert len(set(done)) == len(done)
        with Database(self.dsn, pool_size=4, application_name="test") as database:
            play = Play(database, self.kb)
            with database.read(self.kb) as connection:
                order = connection.execute(
                    "select seq, idempotency_key from ledger_transaction where kb_id = %s order by seq", (self.kb,)
                ).fetchall()
                said = connection.execute("select source_key from assertions where kb_id = %s", (self.kb,)).fetchall()
                assert verify(connection, self.kb).ok
            assert [r["seq"] for r in order] == list(range(1, len(order) + 1))
            assert sorted(r["idempotency_key"] for r in order if r["idempotency_key"]) == sorted(done)
            assert sorted(r["source_key"].partition(":")[0] for r in said) == sorted(done), "none lost, none doubled"
            alone = Play.begin(database)
            alone.say(*map(statement, done))
            assert held(alone) == held(play)


def held(play: Play) -> list[tuple]:
    """Facts but for the keys of the attempts that they rest on."""
    return [tuple(column for column in row if column[0] != "evidence") for row in play.natural()]


def play_with_kills(seed: int, kills: int) -> Scene:
    place = Path(tempfile.mkdtemp(prefix="twoclocks-kills-"))
    place.chmod(0o755)
    scene = None
    try:
        scene = Scene(place, seed)
        for _ in range(kills):
            scene.kill()
        scene.end()
        scene.check()
        return scene
    finally:
        if scene is not None:
            scene.writer.kill()
            scene.writer.wait()
        stop(place / "server")
        shutil.rmtree(place)


def test_what_is_tried_again_under_its_key_is_there_once(database):
    """The writer that saw its connection break does just this, whether or not the first attempt was committed."""
    play = Play.begin(database)
    before = play.seq()
    for _ in range(3):
        settle(play, "0.7")
    assert play.seq() == before + 1
    [row] = play.rows()
    assert len(row["evidence"]) == 1


def test_five_kills():
    killed = play_with_kills(1, 5).killed
    assert min(killed.values()) >= 1, killed


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_fifty_kills():
    killed = play_with_kills(2, 50).killed
    assert min(killed.values()) >= 15, killed
