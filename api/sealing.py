"""One thread that seals what was served, within a second, and signs checkpoints, each minute and at the end.

It lives where the events are written, since a process that serves nothing has little to seal. Any number of replicas
may run it: a base is sealed by whoever takes its lock, and each looks now and then for what others left behind.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection
from typing import Any
from uuid import UUID

from substrate import audit
from substrate.db import EVERY_BASE, Database
from substrate.errors import TwoclocksError

_log = logging.getLogger(__name__)
EVERY_S = 1.0
SWEEP_S = 5.0
"""Seconds between looks at every base: for what a killed process or a pipeline run left."""


class Sealing:
    """Sealing as a thread. `sign`, if given, is called each `sign_every_s` seconds and once more at the end."""

    def __init__(
        self,
        db: Database,
        *,
        sign: Callable[[], None] | None = None,
        sign_every_s: float = 60.0,
        every_s: float = EVERY_S,
    ) -> None:
        self._db, self._sign = db, sign
        self._sign_every_s, self._every_s = sign_every_s, every_s
        self._touched: set[UUID] = set()
        self._lock, self._stopping = threading.Lock(), threading.Event()
        self._swept = self._signed = float("-inf")
        self._oldest_s, self._problem = 0.0, ""
        self._thread = threading.Thread(target=self._run, name="sealing", daemon=True)
        self._thread.start()

    def wrote(self, kb_ids: Collection[UUID]) -> None:
        """There is something to seal in these bases."""
        with self._lock:
            self._touched |= set(kb_ids)

    def state(self) -> dict[str, Any]:
        """For ``/health``: seconds since the oldest row without a seal was written, and what went wrong last."""
        return {"oldest_unsealed_s": round(self._oldest_s, 1), "problem": self._problem}

    @property
    def late(self) -> bool:
        return self._oldest_s > audit.LATE_S

    def close(self) -> None:
        """Seal and sign once more and stop."""
        self._stopping.set()
        self._thread.join(timeout=20)

    def _run(self) -> None:
        while not self._stopping.wait(self._every_s):
            self._turn()
        self._signed = float("-inf")
        self._turn()

    def _turn(self) -> None:
        try:
            self._seal()
            if self._sign is not None and time.monotonic() - self._signed >= self._sign_every_s:
                self._signed = time.monotonic()
                self._sign()
        except Exception as error:
            # The thread outlives whatever happens: a database that is away comes back.
            self._problem = str(error) if isinstance(error, TwoclocksError) else type(error).__name__
            _log.exception("sealing failed")
        else:
            self._problem = ""

    def _seal(self) -> None:
        with self._lock:
            bases, self._touched = self._touched, set()
        try:
            if time.monotonic() - self._swept >= SWEEP_S or self._stopping.is_set():
                with self._db.read(EVERY_BASE) as conn:
                    bases |= audit.unsealed_bases(conn)
                self._swept = time.monotonic()
            audit.seal_bases(self._db, bases)
            self._oldest_s, left = self._left(bases)
        except BaseException:
            self.wrote(bases)
            raise
        self.wrote(left)

    def _left(self, bases: Collection[UUID]) -> tuple[float, set[UUID]]:
        """Seconds that the oldest of what still waits has waited, and the bases where any does."""
        oldest, left = 0.0, set()
        for kb_id in bases:
            with self._db.read(kb_id) as conn:
                waiting = audit.waiting(conn, kb_id)
            if waiting.rows:
                left.add(kb_id)
                oldest = max(oldest, waiting.oldest_s)
        return oldest, left
