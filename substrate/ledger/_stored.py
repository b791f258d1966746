"""What the ledger's tables hold, read in record order and as the log spells it, to be held against the log."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar
from uuid import UUID

from psycopg import Cursor, ServerCursor
from psycopg import sql as pgsql
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.rows import tuple_row
from psycopg.types.string import TextLoader

from substrate import sql
from substrate.db import AnyConnection
from substrate.ledger._rows import HAS_KIND, NAMES, SHAPES, Table, ordered_columns

FETCH = 1_000

T = TypeVar("T")
AnyCursor = Cursor[Any] | ServerCursor[Any]
Closing = tuple[str | None, ...]
"""The names of a closed row, then its kind or its verdict where its table has one."""
Stored = tuple[int, str | None, Any]


def stored(connection: AnyConnection, table: Table, kb_id: UUID, after: int | None) -> Iterator[Stored]:
    """Rows recorded after a transaction (None: all there are) in record order: seq, time, values by column name."""
    at = pgsql.Identifier("recorded_at") if SHAPES[table].timed else pgsql.NULL
    wanted = [at, *map(pgsql.Identifier, ordered_columns(table))]
    for row in _ordered(connection, table, kb_id, "recorded_seq", wanted, after):
        yield row[0], row[1], row[2:]


def closings(connection: AnyConnection, table: Table, kb_id: UUID, after: int | None) -> Iterator[Stored]:
    """Rows closed after a transaction, in that order: seq, time, and what the closing event says of the row."""
    at = pgsql.Identifier("invalidated_at")
    wanted = [at, *map(pgsql.Identifier, (*NAMES.get(table, ("id",)), *_closing_details(table)))]
    for seq, moment, *said in _ordered(connection, table, kb_id, "invalidated_seq", wanted, after):
        yield seq, moment, tuple(said)


def closed_by(kind: str, payload: bytes) -> tuple[str, Sequence[Closing]]:
    """The table that a closing event names, and for each row it closed the words of `closings`."""
    verb, _, table = kind.partition(" ")
    event = json.loads(payload)
    if verb == "decide":
        return table, [(event["id"], event["verdict"], event["decided_by"], event["why"])]
    if "links" in event:
        return table, [tuple(link) for link in event["links"]]
    details = (event["kind"],) if table in HAS_KIND else ()
    return table, [(name, *details) for name in sorted(set(event["ids"]))]


def _closing_details(table: Table) -> tuple[str, ...]:
    if table in ("pending_facts", "conflicts"):
        return ("verdict", "decided_by", "why")
    return ("invalidated_kind",) if table in HAS_KIND else ()


def _ordered(
    connection: AnyConnection,
    table: Table,
    kb_id: UUID,
    order: str,
    wanted: Sequence[pgsql.Composable],
    after: int | None,
) -> Iterator[tuple[Any, ...]]:
    """Through a server-side cursor, as the log spells values: ids, numbers and times stay text."""
    statement = pgsql.SQL(sql.query("rows_in_order")).format(
        order=pgsql.Identifier(order),
        wanted=pgsql.SQL(", ").join(wanted),
        table=pgsql.Identifier(table),
        after=pgsql.SQL("" if after is None else "and {} > %(after)s").format(pgsql.Identifier(order)),
    )
    with connection.cursor(name=f"{order}_of_{table}", row_factory=tuple_row) as cursor:
        as_logged(cursor)
        cursor.execute(statement, {"kb_id": kb_id, "after": after})
        yield from fetched(cursor, FETCH)


def fetched(cursor: ServerCursor[T], size: int) -> Iterator[T]:
    """Every row of a server-side cursor, so many at a time; quicker than the cursor's own iteration."""
    while rows := cursor.fetchmany(size):
        yield from rows


def as_logged(cursor: AnyCursor) -> None:
    """Make a cursor read ids, numbers and times as the log writes them. The session must be at UTC, dates ISO.

    No value is too odd to be read this way, so that a forged one is reported and does not end the check.
    """
    for type_name in ("uuid", "numeric"):
        cursor.adapters.register_loader(type_name, TextLoader)
    cursor.adapters.register_loader("timestamptz", _TimeLoader)


class _TimeLoader(Loader):
    """``2024-03-01 09:30:00.5+00`` to ``2024-03-01T09:30:00.500000Z``."""

    def load(self, data: Buffer) -> str:
        text = bytes(data).decode()
        return f"{text[:10]}T{text[11:19]}.{text[20:-3]:0<6}Z"
