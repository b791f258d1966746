"""A process that remembers sentences one after the other: ``python remembering_writer.py DSN KB NAME COUNT``.

It prints the word that each holds once it is committed, and goes on without waiting for anybody.
"""

from __future__ import annotations

import sys
from pathlib import Path
from uuid import UUID

sys.path.insert(0, str(Path(__file__).parents[2]))

from substrate.db import Database
from substrate.documents.intake import remember


def main() -> None:
    dsn, kb, name, count = sys.argv[1], UUID(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    with Database(dsn, pool_size=1, application_name="writer") as database:
        for n in range(count):
            word = f"q{name}x{n}"
            remember(database, kb, f"The crate {word} is on the quay.", actor="person:Ada", via="rest")
            sys.stdout.write(f"{word}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
