"""Who was served what, written by one thread after the answer, so that no reader waits for a commit.

Events that come close together are committed together: a commit each would cost as much as a small read.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Sequence
from uuid import UUID

from substrate import access
from substrate.access import Access, Principal
from substrate.db import Database
from substrate.errors import DatabaseUnavailable

_log = logging.getLogger(__name__)
_BACKLOG = 10_000
_TOGETHER = 500
_LINGER_S = 0.05


class AccessLog:
    """A bounded backlog of writes. When it is full the caller writes itself: an event is late, never dropped."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._queue: queue.Queue[Access | Principal | None] = queue.Queue(_BACKLOG)
        self._thread = threading.Thread(target=self._run, name="access-log", daemon=True)
        self._thread.start()

    def used(self, principal: Principal) -> None:
        """The token was used just now."""
        if principal.use_is_stale:
            self._put(principal)

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
        self._put(Access(principal, kb_id, via, action, seq, fact_ids, chunk_ids))

    def flush(self) -> None:
        """Wait until everything so far is written."""
        self._queue.join()

    def close(self) -> None:
        """Write what is left and stop."""
        self._queue.put(None)
        self._thread.join(timeout=10)

    def _put(self, event: Access | Principal) -> None:
        try:
            self._queue.put_nowait(event)
        except queue.Full:
            self._write([event])

    def _run(self) -> None:
        going = True
        while going:
            batch = self._taken()
            going = None not in batch
            self._write([event for event in batch if event is not None])
            for _ in batch:
                self._queue.task_done()

    def _taken(self) -> list[Access | Principal | None]:
        """At least one event, and those that come while we linger."""
        batch = [self._queue.get()]
        if batch[0] is not None:
            time.sleep(_LINGER_S)
        while len(batch) < _TOGETHER and not self._queue.empty():
            batch.append(self._queue.get())
        return batch

    def _write(self, events: Sequence[Access | Principal]) -> None:
        try:
            self._store(events)
        except DatabaseUnavailable:
            _log.exception("%d access events could not be written", len(events))
        except Exception:
            if len(events) == 1:
                _log.exception("an access event could not be written")
                return
            for event in events:  # one that cannot be written takes none of the others with it
                self._write([event])

    def _store(self, events: Sequence[Access | Principal]) -> None:
        used = {event.token_id: event for event in events if isinstance(event, Principal)}
        for principal in used.values():
            access.note_use(self._db, principal)
        if served := [event for event in events if isinstance(event, Access)]:
            access.record_access(self._db, *served)
