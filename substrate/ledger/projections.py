"""Every ledger table beside the log it is a projection of, one transaction at a time.

Each table is read twice through a server-side cursor, in the order its rows were recorded and in the order they were
closed, so that memory holds one transaction and no table.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from substrate import sql
from substrate.db import AnyConnection
from substrate.ledger import _rows, _stored
from substrate.ledger.chain import INSERT, Damage, Purge, Sealed, header_bytes

_END = sys.maxsize


class Lane:
    """Rows in order of a transaction number, handed out by that number. Each row begins with it."""

    def __init__(self, name: str, rows: Iterator[Any]) -> None:
        self.name = name
        self._rows = rows
        self._row = next(rows, None)
        self.next: int = self._row[0] if self._row else _END
        """The number of the first row that was not taken yet."""

    def take(self, seq: int) -> list[Any]:
        """The rows of this transaction. Raises `Damage` for rows of a number that no transaction has."""
        if self.next > seq:
            return []
        if self.next < seq:
            raise Damage("content", self.next, f"{self.name} names transaction {self.next}, which wrote none")
        taken = [self._row]
        for row in self._rows:
            if row[0] != seq:
                self._row, self.next = row, row[0]
                return taken
            taken.append(row)
        self._row, self.next = None, _END
        return taken

    def finish(self) -> None:
        """Raises `Damage` if rows are left."""
        if self.next != _END:
            raise Damage("content", self.next, f"{self.name} names transaction {self.next}, which never was")


class Transactions:
    """``ledger_transaction`` beside the headers of the log."""

    def __init__(self, connection: AnyConnection, kb_id: UUID, after: int | None) -> None:
        self._lane = Lane("a row of transactions", self._read(connection, kb_id, after))

    @staticmethod
    def _read(connection: AnyConnection, kb_id: UUID, after: int | None) -> Iterator[tuple[int, dict[str, Any]]]:
        with connection.cursor(name="transactions") as cursor:
            _stored.as_logged(cursor)
            cursor.execute(sql.query("transactions_after"), {"kb_id": kb_id, "after": after})
            for row in _stored.fetched(cursor, _stored.FETCH):
                yield row["seq"], row

    def compare(self, sealed: Sealed) -> None:
        """Raises `Damage` if the transaction's row is not its logged header."""
        taken = self._lane.take(sealed.seq)
        if not taken:
            raise Damage("missing", sealed.seq, f"the row of transaction {sealed.seq} is missing")
        row, events = taken[0][1], len(sealed.events) - 1
        headers = (header_bytes(row, row["recorded_at"], events, keyed=keyed) for keyed in (True, False))
        if (
            (sealed.events[0][1] or b"") not in headers
            or row["events"] != events + 1
            or bytes(row["head_hash"]) != sealed.hash
        ):
            raise Damage("content", sealed.seq, f"the row of transaction {sealed.seq} is not its logged header")

    def finish(self) -> None:
        """Raises `Damage` if there are transactions that the log does not know."""
        self._lane.finish()


class Tables:
    """Every table the door writes to, beside the events that wrote and closed its rows."""

    def __init__(self, connection: AnyConnection, kb_id: UUID, after: int | None) -> None:
        self.rows = 0
        self._left: dict[tuple[str, bytes], list[int]] = defaultdict(list)
        """Rows in place of what erased events wrote, with their transactions, until a purge says that it left them."""
        self._written = {t: Lane(f"a row of {t}", _stored.stored(connection, t, kb_id, after)) for t in _rows.SHAPES}
        self._closed = {
            t: Lane(f"the closing of a row of {t}", _stored.closings(connection, t, kb_id, after))
            for t in _rows.CLOSABLE
        }

    def compare(self, sealed: Sealed) -> None:
        """Raises `Damage` if what this transaction wrote or closed is not what the tables hold."""
        written, closed = _said(sealed)
        seq = sealed.seq
        for table, lane in self._written.items():
            if lane.next <= seq or table in written:
                rows = lane.take(seq)
                self.rows += len(rows)
                for row in _beside(sealed, table, written.get(table, []), rows):
                    self._left[table, row].append(seq)
        for table, lane in self._closed.items():
            if lane.next <= seq or table in closed:
                _same_closings(sealed, table, closed.get(table, []), lane.take(seq))

    def purged(self, purge: Purge, since: int) -> None:
        """Raises `Damage` if what a purge left is not there. Of transactions up to `since` nothing is asked."""
        unasked = any(seq <= since for seq, _ in purge.events)
        for table, rows in purge.left.items():
            for row in rows:
                seqs = self._left.get((table, row))
                if seqs:
                    seqs.pop()
                elif not unasked:
                    raise Damage("content", purge.events[0][0], f"a row of {table} is not what its purge left")

    def finish(self) -> None:
        """Raises `Damage` if rows are left that name a transaction after the last, or that no purge left."""
        strange = sorted((min(seqs), table) for (table, _), seqs in self._left.items() if seqs)
        if strange:
            seq, table = strange[0]
            raise Damage(
                "content", seq, f"a row of {table} is neither what transaction {seq} wrote nor what a purge left"
            )
        for lane in (*self._written.values(), *self._closed.values()):
            lane.finish()


def _said(sealed: Sealed) -> tuple[dict[str, list[bytes | None]], dict[str, list[_stored.Closing]]]:
    """By table: the rows that the events of a transaction wrote (None: erased), and those they closed."""
    written: dict[str, list[bytes | None]] = {}
    closed: dict[str, list[_stored.Closing]] = {}
    for kind, payload in sealed.events:
        if kind.startswith(INSERT):
            written.setdefault(kind[7:], []).extend([payload] if payload is None else payload.split(b"\n"))
        elif kind.startswith(("close ", "decide ")):
            try:
                table, names = _stored.closed_by(kind, payload or b"")
            except (ValueError, KeyError, TypeError) as error:
                raise Damage(
                    "content", sealed.seq, f"an event {kind!r} of transaction {sealed.seq} says none"
                ) from error
            closed.setdefault(table, []).extend(names)
    return written, closed


def _beside(sealed: Sealed, table: _rows.Table, logged: list[bytes | None], rows: list[_stored.Stored]) -> list[bytes]:
    """The rows that stand where an erased event wrote one. Raises `Damage` if another is not what was logged."""
    seq = sealed.seq
    encode = _rows.logged_as(table, sealed.salted)
    found = [encode(values) for _, _, values in rows]
    left: list[bytes] = []
    if len(found) != len(logged) or None in logged or sorted(found) != sorted(logged):  # type: ignore[type-var]
        whole = Counter(row for row in logged if row is not None)
        left = list((Counter(found) - whole).elements())
        if len(left) > len(logged) - whole.total():
            raise Damage("content", seq, f"a row of {table} is not what transaction {seq} wrote")
        if len(found) < len(logged) or whole - Counter(found):
            raise Damage("missing", seq, f"a row of {table} that transaction {seq} wrote is missing")
    if any(at is not None and at != sealed.at for _, at, _ in rows):
        raise Damage("content", seq, f"a row of {table} has another time than its transaction {seq}")
    return left


def _same_closings(sealed: Sealed, table: str, logged: list[_stored.Closing], rows: list[_stored.Stored]) -> None:
    found = Counter(said for _, _, said in rows)
    if found != Counter(logged):
        what = "was not closed so by" if found - Counter(logged) else "is not closed as it was by"
        raise Damage("content", sealed.seq, f"a row of {table} {what} transaction {sealed.seq}")
    if any(at != sealed.at for _, at, _ in rows):
        raise Damage(
            "content", sealed.seq, f"a row of {table} was closed at another time than transaction {sealed.seq}"
        )
