"""Who was served what, written by one thread, so that events which come together share one commit.

A read is on record or it is refused; which of the two comes first is a setting. ``after``: the answer does not wait
for the commit. While the database is away events are kept and tried again; with the backlog full, further reads fail,
so that nothing more is handed out that cannot be put on record. A process that is killed takes with it what it served
in its last twentieth of a second. ``before``: the answer waits, and fails if its event cannot be written.

An event that the database refuses for good is counted: ``/health`` shows it until the process ends, and the log names
it. Nothing is dropped in silence.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from substrate import access
from substrate.access import Access, Principal
from substrate.db import Database
from substrate.errors import DatabaseUnavailable, Unavailable

_log = logging.getLogger(__name__)
_BACKLOG = 10_000
_TOGETHER = 500
_LINGER_S = 0.05
_AGAIN_S = 0.5
_CLOSING_S = 10.0
_WAIT_S = 30.0

When = Literal["after", "before"]


@dataclass(frozen=True, slots=True)
class _Item:
    """What is to be written, and who waits for it."""

    event: Access | Principal
    written: Future[None] | None = None


class AccessLog:
    """A bounded backlog of writes. `wrote` is told which bases were written to."""

    def __init__(
        self,
        db: Database,
        *,
        when: When = "after",
        wrote: Callable[[Collection[UUID]], None] = lambda _: None,
        backlog: int = _BACKLOG,
    ) -> None:
        self.lost = 0
        """Events that were served and could not be put on record."""
        self._db, self._when, self._wrote = db, when, wrote
        self._queue: queue.Queue[_Item | None] = queue.Queue(backlog)
        self._give_up_at: float | None = None
        self._thread = threading.Thread(target=self._run, name="access-log", daemon=True)
        self._thread.start()

    @property
    def unwritten(self) -> int:
        """How many events wait to be written."""
        return self._queue.qsize()

    def used(self, principal: Principal) -> None:
        """The token was used just now. No record of what was served: with the backlog full it is left out."""
        if principal.use_is_stale:
            try:
                self._queue.put_nowait(_Item(principal))
            except queue.Full:
                _log.warning("the use of a token could not be noted: the backlog is full")

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
        """These facts and passages are handed out. Raises `Unavailable` where they cannot be put on record."""
        event = Access(principal, kb_id, via, action, seq, fact_ids, chunk_ids)
        if self._when == "before":
            self._write_first(event)
            return
        try:
            self._queue.put_nowait(_Item(event))
        except queue.Full:
            self._store([event])  # late, and by the caller; what cannot be written fails the read

    def flush(self) -> None:
        """Wait until everything so far is written."""
        self._queue.join()

    def close(self) -> None:
        """Write what is left and stop; what cannot be written within ten seconds is lost, and counted."""
        self._give_up_at = time.monotonic() + _CLOSING_S
        self._queue.put(None)
        self._thread.join(timeout=_CLOSING_S + 10)

    def _write_first(self, event: Access) -> None:
        written: Future[None] = Future()
        try:
            self._queue.put(_Item(event, written), timeout=_WAIT_S)
            written.result(timeout=_WAIT_S)
        except (queue.Full, TimeoutError):
            raise Unavailable("the answer could not be put on record in time") from None

    def _run(self) -> None:
        going = True
        while going:
            batch = self._taken()
            going = None not in batch
            self._write([item for item in batch if item is not None])
            for _ in batch:
                self._queue.task_done()

    def _taken(self) -> list[_Item | None]:
        """At least one event, and those that come while we linger, if nobody waits."""
        batch = [self._queue.get()]
        if batch[0] is not None and batch[0].written is None:
            time.sleep(_LINGER_S)
        while len(batch) < _TOGETHER and not self._queue.empty():
            batch.append(self._queue.get())
        return batch

    def _write(self, items: Sequence[_Item]) -> None:
        while True:
            try:
                self._store([item.event for item in items])
            except DatabaseUnavailable as error:
                if waits := [item for item in items if item.written is not None]:
                    self._fail(waits, error)
                    items = [item for item in items if item.written is None]
                if self._may_try_again(items, error):
                    continue
            except Exception as error:
                if len(items) > 1:
                    for item in items:  # one that cannot be written takes none of the others with it
                        self._write([item])
                    return
                self._fail(items, error)
            else:
                for item in items:
                    if item.written is not None:
                        item.written.set_result(None)
            return

    def _may_try_again(self, items: Sequence[_Item], error: Exception) -> bool:
        if not items:
            return False
        if self._give_up_at is not None and time.monotonic() > self._give_up_at:
            self._fail(items, error)
            return False
        _log.warning("%d access events wait for the database: %s", len(items), error)
        time.sleep(_AGAIN_S)
        return True

    def _fail(self, items: Sequence[_Item], error: Exception) -> None:
        for item in items:
            if item.written is not None:  # not served: whoever waits is told
                item.written.set_exception(Unavailable("the answer could not be put on record"))
            elif isinstance(item.event, Access):
                self.lost += 1
                said = item.event
                _log.error(
                    "an access event is lost: %s by token %s in base %s: %s",
                    said.action,
                    said.principal.token_id,
                    said.kb_id,
                    error,
                )
            else:
                _log.error("the use of token %s could not be noted: %s", item.event.token_id, error)

    def _store(self, events: Sequence[Access | Principal]) -> None:
        used = {event.token_id: event for event in events if isinstance(event, Principal)}
        for principal in used.values():
            access.note_use(self._db, principal)
        if served := [event for event in events if isinstance(event, Access)]:
            access.record_access(self._db, *served)
            self._wrote({event.kb_id for event in served})
