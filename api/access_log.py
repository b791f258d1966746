"""Who was served what, written by one thread after the answer, so that no reader waits for a commit."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Sequence
from uuid import UUID

from substrate import access
from substrate.access import Principal
from substrate.db import Database
from substrate.errors import TwoclocksError

_log = logging.getLogger(__name__)
_BACKLOG = 10_000


class AccessLog:
    """A bounded backlog of writes. When it is full the caller writes itself: an event is late, never dropped."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._queue: queue.Queue[Callable[[], None] | None] = queue.Queue(_BACKLOG)
        self._thread = threading.Thread(target=self._run, name="access-log", daemon=True)
        self._thread.start()

    def used(self, principal: Principal) -> None:
        """The token was used just now."""
        if principal.use_is_stale:
            self._put(lambda: access.note_use(self._db, principal))

    def served(
        self,
        principal: Principal,
        kb_id: UUID,
        *,
        via: str,
        action: str,
        seq: int | None = None,
        fact_ids: Sequence[UUID] = (),
        chunk_ids: Sequence[UUID] = (),
    ) -> None:
        """These facts and passages were handed out."""
        self._put(
            lambda: access.record_access(
                self._db, principal, kb_id, via=via, action=action, seq=seq, fact_ids=fact_ids, chunk_ids=chunk_ids
            )
        )

    def flush(self) -> None:
        """Wait until everything so far is written."""
        self._queue.join()

    def close(self) -> None:
        """Write what is left and stop."""
        self._queue.put(None)
        self._thread.join(timeout=10)

    def _put(self, write: Callable[[], None]) -> None:
        try:
            self._queue.put_nowait(write)
        except queue.Full:
            _attempt(write)

    def _run(self) -> None:
        while (write := self._queue.get()) is not None:
            _attempt(write)
            self._queue.task_done()
        self._queue.task_done()


def _attempt(write: Callable[[], None]) -> None:
    try:
        write()
    except TwoclocksError:
        _log.exception("an access event could not be written")
