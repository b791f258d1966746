"""A pipeline run that kills itself: ``python pipeline_victim.py DSN KBS DATA MODELS WHERE COUNT``.

KBS are ids of bases with commas between. WHERE is ``lease`` (a batch is leased and nothing is written), ``finish``
(everything of a batch is written and not committed), ``commit`` (a batch has just been committed) or ``never``.
COUNT says at which time of passing there.
"""

from __future__ import annotations

import hashlib
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

sys.path.insert(0, str(Path(__file__).parents[2]))

import numpy as np
from pydantic import SecretStr

from substrate import work
from substrate.db import Database
from substrate.pipeline import ALL, Services, run_pipeline
from substrate.settings import Settings


class HashEmbedder:
    """Vectors from a hash: deterministic, and no model to load."""

    name, dimension, token_limit, truncated = "hash@1", 8, None, 0

    def count_tokens(self, text: str) -> int:
        return len(text)

    def passages(self, texts: Sequence[str]) -> Any:
        rows = [np.frombuffer(hashlib.sha256(t.encode()).digest()[:8], dtype=np.uint8) for t in texts]
        vectors = np.array(rows, dtype=np.float32).reshape(len(rows), 8) + 1
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    queries = passages


def small_batches() -> None:
    """Two items per batch, so that there are many places between batches."""
    import substrate.documents.stage
    import substrate.extraction.stage
    import substrate.identity.stage
    import substrate.ledger.stage
    import substrate.retrieval.embed_stage as embed

    for module in (substrate.documents, substrate.extraction, substrate.identity, substrate.ledger):
        module.stage.BATCH = 2
    embed.BATCH = 2


def services(settings: Settings) -> Services:
    return Services(settings, embedder=HashEmbedder())


def arm(where: str, count: int) -> None:
    """Let the process die at the `count`-th passing of `where`."""
    passed = 0

    def pass_by() -> None:
        nonlocal passed
        passed += 1
        if passed == count:
            os.kill(os.getpid(), signal.SIGKILL)

    lease, finish, write = work.lease, work.finish, Database.write

    def fatal_lease(*arguments: Any, **more: Any) -> Any:
        taken = lease(*arguments, **more)
        if taken is not None:
            pass_by()
        return taken

    def fatal_finish(*arguments: Any, **more: Any) -> None:
        finish(*arguments, **more)
        pass_by()

    def fatal_write(self: Database) -> Any:
        from contextlib import contextmanager

        @contextmanager
        def block() -> Any:
            with write(self) as conn:
                yield conn
            pass_by()

        return block()

    if where == "lease":
        work.lease = fatal_lease
    elif where == "finish":
        work.finish = fatal_finish
    elif where == "commit":
        Database.write = fatal_write  # type: ignore[method-assign]


def main() -> None:
    dsn, kb_ids, data, models, where, count = sys.argv[1:]
    settings = Settings(database_url=SecretStr(dsn), data_dir=Path(data), models_dir=Path(models))
    small_batches()
    arm(where, int(count))
    with Database(dsn, application_name="victim") as database, services(settings) as opened:
        for kb_id in kb_ids.split(","):
            for result in run_pipeline(database, UUID(kb_id), opened, ALL):
                if result.failed:
                    sys.exit(f"{result.stage}: {result.failures}")


if __name__ == "__main__":
    main()
