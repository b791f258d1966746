"""Pipeline runs that kill themselves: ``python pipeline_victim.py DSN DATA MODELS POINT…``, each ``KB:WHERE:COUNT``.

WHERE is ``lease`` (a batch is leased and nothing is written), ``finish`` (everything of a batch is written and not
committed), ``commit`` (a transaction has just been committed) or ``never``. COUNT says at which time of passing there.
The models are loaded once; each point is a forked child. One line a point says how it ended, after one that says how
often each place was passed if nothing killed it.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

sys.path.insert(0, str(Path(__file__).parents[2]))

import numpy as np
from pydantic import SecretStr

from substrate import work
from substrate.db import Database
from substrate.extraction.claims import Extractor, Passage
from substrate.pipeline import ALL, Services, open_extractor, run_pipeline
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


def arm(where: str, count: int) -> Counter[str]:
    """Let the process die at the `count`-th passing of `where`; returns how often each place was passed."""
    passed: Counter[str] = Counter()
    lease, finish, write = work.lease, work.finish, Database.write

    def pass_by(place: str) -> None:
        passed[place] += 1
        if (place, passed[place]) == (where, count):
            os.kill(os.getpid(), signal.SIGKILL)

    def fatal_lease(*arguments: Any, **more: Any) -> Any:
        taken = lease(*arguments, **more)
        if taken is not None:
            pass_by("lease")
        return taken

    def fatal_finish(*arguments: Any, **more: Any) -> None:
        finish(*arguments, **more)
        pass_by("finish")

    @contextmanager
    def fatal_write(self: Database) -> Iterator[Any]:
        with write(self) as conn:
            yield conn
        pass_by("commit")

    work.lease, work.finish = fatal_lease, fatal_finish
    Database.write = fatal_write  # type: ignore[method-assign]
    return passed


def run(settings: Settings, extractor: Extractor, kb_id: UUID) -> None:
    """One pipeline over a pool of this process."""
    assert settings.database_url is not None
    opened = Services(settings, embedder=HashEmbedder(), extractor=extractor)
    with Database(settings.database_url.get_secret_value(), application_name="victim") as database, opened:
        for result in run_pipeline(database, kb_id, opened, ALL):
            if result.failed:
                raise SystemExit(f"{result.stage}: {result.failures}")


def main() -> None:
    dsn, data, models, *points = sys.argv[1:]
    settings = Settings(database_url=SecretStr(dsn), data_dir=Path(data), models_dir=Path(models))
    extractor = open_extractor(settings)
    extractor.extract([Passage("Ada leads Orion.")])
    small_batches()
    for point in points:
        kb_id, where, count = point.split(":")
        child = os.fork()
        if child == 0:
            passed = arm(where, int(count))
            run(settings, extractor, UUID(kb_id))
            print("passed", json.dumps(passed), flush=True)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
