"""A process of threads that write to one base until told to stop: ``python settling_writer.py DSN KB THREADS BOOK``.

The file BOOK is its only memory: ``begin KEY`` before a write and ``done KEY`` once it is known to be committed. What
an earlier process began and did not see done is settled first, under the same key; so is a write whose connection
broke. It ends when a file ``BOOK.stop`` is there.
"""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import UUID, uuid4

sys.path.insert(0, str(Path(__file__).parents[2]))

import psycopg

from substrate.db import Database
from substrate.errors import DatabaseUnavailable
from substrate.ledger.door import AlreadyCommitted
from tests.properties.ledger_play import Play, Said

PEOPLE, THINGS, DAYS = 9, 40, 300


def statement(key: str) -> Said:
    """What is said under a key: everyone's writes meet on a few timelines.

    Each attempt is a statement of its own, so that nothing but the key of its transaction keeps it from doubling.
    """
    thread, n = map(int, key.split("."))
    name, thing = f"Person {(thread * 5 + n) % PEOPLE}", f"Thing {(thread * 11 + n * 7) % THINGS}"
    return Said(name, "leads", thing, start=(thread * 97 + n * 31) % DAYS, key=f"{key}:{uuid4()}")


class Book:
    """Lines that survive the process that wrote them."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    def write(self, word: str, key: str) -> None:
        os.write(self._file, f"{word} {key}\n".encode())

    @staticmethod
    def keys(path: Path, word: str) -> list[str]:
        lines = path.read_text().splitlines() if path.exists() else []
        return [line.split()[1] for line in lines if line.startswith(f"{word} ")]


def settle(play: Play, key: str) -> None:
    """Write once, however often it takes to know that it is written."""
    while True:
        try:
            with play.transaction(key):
                play.say(statement(key))
            return
        except AlreadyCommitted:
            return
        except (DatabaseUnavailable, psycopg.OperationalError, psycopg.InterfaceError):
            time.sleep(0.05)


def main() -> None:
    dsn, kb, threads, path = sys.argv[1], UUID(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
    begun, done = Book.keys(path, "begin"), set(Book.keys(path, "done"))
    book, stop = Book(path), path.with_name(path.name + ".stop")

    def work(thread: int) -> None:
        mine = [key for key in begun if key.startswith(f"{thread}.")]
        for key in mine:
            if key not in done:
                settle(play, key)
                book.write("done", key)
        n = len(mine)
        while not stop.exists():
            key = f"{thread}.{n}"
            book.write("begin", key)
            settle(play, key)
            book.write("done", key)
            n += 1

    with Database(dsn, pool_size=threads, application_name="settling") as database:
        play = Play(database, kb)
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, range(threads)))


if __name__ == "__main__":
    main()
