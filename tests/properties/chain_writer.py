"""A process of threads that append to one base: ``python chain_writer.py DSN KB THREADS APPENDS SEED``.

Each thread has a connection of its own. One append in twenty runs under another isolation level than the product's,
where Postgres may refuse to serialise it; it is then tried again.
"""

from __future__ import annotations

import random
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import UUID, uuid4

sys.path.insert(0, str(Path(__file__).parents[2]))

import psycopg
from psycopg import IsolationLevel
from psycopg.rows import dict_row

from substrate.db import APP_ROLE
from substrate.ledger import open_door

OTHERS = (IsolationLevel.REPEATABLE_READ, IsolationLevel.SERIALIZABLE)


def append(connection: psycopg.Connection, kb_id: UUID, name: str) -> None:
    with connection.transaction():
        with open_door(connection, kb_id, actor="test", via="import", action="appended", idempotency_key=name) as door:
            door.insert("entities", [{"id": uuid4(), "label": name, "label_norm": name}])


def work(dsn: str, kb_id: UUID, thread: str, appends: int) -> None:
    rnd = random.Random(thread)
    with psycopg.connect(dsn, row_factory=dict_row) as connection:
        connection.execute(f"set role {APP_ROLE}")
        for reach in ("read", "write"):
            connection.execute(f"set twoclocks.{reach}_bases = '{{{kb_id}}}'")
        connection.commit()
        for n in range(appends):
            level = rnd.choice(OTHERS) if rnd.random() < 0.05 else IsolationLevel.READ_COMMITTED
            while True:
                connection.isolation_level = level
                try:
                    append(connection, kb_id, f"{thread}:{n}")
                    break
                except psycopg.errors.SerializationFailure:
                    continue


def main() -> None:
    dsn, kb_id, threads, appends, seed = sys.argv[1], UUID(sys.argv[2]), *map(int, sys.argv[3:6])
    share = [appends // threads + (n < appends % threads) for n in range(threads)]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda n: work(dsn, kb_id, f"{seed}.{n}", share[n]), range(threads)))


if __name__ == "__main__":
    main()
