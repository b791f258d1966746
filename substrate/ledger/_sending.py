"""Statements that are handed over at once and answered later, so that the server works while the writer does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from select import select

from substrate.db import WriteConnection


@contextmanager
def sending(connection: WriteConnection) -> Iterator[None]:
    """Inside the block a statement does not wait for its answer until something is fetched; its errors come late.

    How many rows a statement changed is not known before either.
    """
    with connection.pipeline():
        yield


def hand_over(connection: WriteConnection) -> None:
    """Send to the last byte what was begun: half a statement in a buffer would leave the server idle."""
    link = connection.pgconn
    while link.flush():
        readable, _, _ = select([link.socket], [link.socket], [])
        if readable:  # or both sides would wait for the other to read
            link.consume_input()
