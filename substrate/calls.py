"""A call from outside that may end before its answer, and what of it runs on the database until then.

Whoever serves a call makes it the current one; each connection that its threads use is known to it for as long as a
statement may run there, so that leaving cancels the statement and nothing of the call is committed afterwards.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import psycopg
from psycopg import Connection

from substrate.errors import CallEnded

_log = logging.getLogger(__name__)
CANCEL_S = 1.0
"""Seconds that the server may take to accept the wish to cancel one statement."""


class Call:
    """One call; `what` says for the record what was asked. Its methods may be called from any thread."""

    def __init__(self, what: str = "") -> None:
        self.what = what
        self._lock = threading.Lock()
        self._running: set[Connection[Any]] = set()
        self._ended = False

    @property
    def ended(self) -> bool:
        """The caller is gone."""
        return self._ended

    def end(self) -> None:
        """The caller left: cancel what runs for it and let nothing begin or commit. Blocks; see `end_soon`."""
        with self._lock:  # held until the server has the wish, so that no connection is handed on meanwhile
            self._ended = True
            for connection in self._running:
                try:
                    connection.cancel_safe(timeout=CANCEL_S)
                except psycopg.Error as error:
                    _log.warning("a statement could not be cancelled: %s", error)

    def end_soon(self) -> None:
        """`end` on a thread of its own, for an event loop; the pool's threads may all be busy with what is to end."""
        self._ended = True
        threading.Thread(target=self.end, name="call-ends", daemon=True).start()

    @contextmanager
    def using(self, connection: Connection[Any]) -> Iterator[None]:
        """The connection works for this call in the block. Raises `CallEnded` at either end if the caller is gone."""
        with self._lock:
            if self._ended:
                raise CallEnded
            self._running.add(connection)
        try:
            yield
        except psycopg.errors.QueryCanceled:
            if self._ended:
                raise CallEnded from None
            raise
        finally:
            with self._lock:
                self._running.discard(connection)
        if self._ended:
            raise CallEnded


_current: ContextVar[Call | None] = ContextVar("call", default=None)


def current() -> Call | None:
    """The call that this task or thread serves, if any."""
    return _current.get()


@contextmanager
def serving(call: Call) -> Iterator[Call]:
    """`call` is the current one in the block, and in the threads and tasks started there."""
    token = _current.set(call)
    try:
        yield call
    finally:
        _current.reset(token)


@contextmanager
def using(connection: Connection[Any]) -> Iterator[None]:
    """`Call.using` of the current call; nothing where there is none."""
    call = _current.get()
    if call is None:
        yield
        return
    with call.using(connection):
        yield
