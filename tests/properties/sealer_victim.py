"""A process that serves, seals and is killed: ``python sealer_victim.py DSN KB PERSON TOKEN NAME``.

Prints the action of each event once it is on record: the answer before which it was written is then acknowledged.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
from pathlib import Path
from uuid import UUID

sys.path.insert(0, str(Path(__file__).parents[2]))

from api.access_log import AccessLog
from api.sealing import Sealing
from substrate.access import Principal
from substrate.db import Database
from substrate.errors import Unavailable


def serve(log: AccessLog, who: Principal, kb_id: UUID, name: str) -> None:
    for n in itertools.count():
        action = f"{name}.{n}"
        try:
            log.served(who, kb_id, via="mcp", action=action)
        except Unavailable:
            continue
        os.write(1, f"{action}\n".encode())  # whole, whatever thread writes


def main() -> None:
    dsn, kb_id, person, token, name = sys.argv[1], *map(UUID, sys.argv[2:5]), sys.argv[5]
    who = Principal(person, "Ada", token, "victim", "read", None)
    database = Database(dsn, application_name="victim").open()
    sealing = Sealing(database, every_s=0.01)
    log = AccessLog(database, when="before", wrote=sealing.wrote)
    threads = [threading.Thread(target=serve, args=(log, who, kb_id, f"{name}.{n}"), daemon=True) for n in range(3)]
    for thread in threads:
        thread.start()
    threading.Event().wait()


if __name__ == "__main__":
    main()
