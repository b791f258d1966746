"""The head lock, the sequence, the clock and the chain: what every ledger transaction passes through.

Record time is an order: a writer locks the base's head row, takes the next sequence number and a time that is
strictly after the last one, and appends its events to the chain. No model or network call belongs inside the block.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from substrate import sql
from substrate.db import WriteConnection
from substrate.errors import Conflict, NotFound
from substrate.ledger import _rows
from substrate.ledger._arrays import takes_arrays
from substrate.ledger._sending import sending
from substrate.ledger.canonical import SALT_BYTES, canonical_bytes, chain_hash, payload_hash
from substrate.ledger.chain import HEADER, PURGE, Place, header_bytes

Via = Literal["pipeline", "rest", "mcp", "cli", "import"]
Erasable = Literal["assertions"]
"""What is inserted under a natural key: a table whose rows are an event each."""
Sparse = Literal["entity_canonical", "refusals", "conflicts"]
"""Tables of which many bases hold no row, so that the door learns it once."""


class AlreadyCommitted(Conflict):
    """A transaction with this idempotency key was committed before."""

    def __init__(self, seq: int) -> None:
        super().__init__(None, seq=seq)
        self.seq = seq


_Said = tuple[str, bytes, bytes, bytes]
"""An event without its place: kind, payload, salt, `payload_hash`."""


@dataclass(slots=True)
class Door:
    """An open ledger transaction: its place in the order, and the events it will append."""

    connection: WriteConnection
    kb_id: UUID
    seq: int
    at: datetime
    actor: str
    via: Via
    action: str
    why: str
    idempotency_key: str | None
    _previous: bytes
    _holds: set[_rows.Table] = field(default_factory=set)
    statements: Counter[_rows.Table] = field(default_factory=Counter)
    """How many times this transaction wrote to each table."""
    _events: list[_Said] = field(default_factory=list)
    _erasing: list[Place] = field(default_factory=list)

    def insert(self, table: _rows.Table, rows: Sequence[Mapping[str, object]]) -> None:
        """Insert rows stamped with this transaction, and log each one whole."""
        if not rows:
            return
        self.statements[table] += 1
        self._holds.add(table)
        written = _rows.written(table, rows)
        _rows.insert(self.connection, table, self.kb_id, self.seq, self.at, written)
        self._log(f"insert {table}", _rows.payloads(table, written))

    def insert_not_held(
        self,
        table: Erasable,
        rows: Sequence[Mapping[str, object]],
        key: str,
        meanwhile: Callable[[], None] | None = None,
    ) -> list[Mapping[str, object]]:
        """As `insert`, but for rows of which one with the same `key` is held already; returns those inserted.

        `meanwhile` is called while the server inserts. It must not use the connection.
        """
        if not rows:
            return []
        self.statements[table] += 1
        written = _rows.written(table, rows)
        with sending(self.connection):
            fresh = _rows.insert_not_held(self.connection, table, self.kb_id, self.seq, self.at, written, key)
            said = _said(f"insert {table}", _rows.payloads(table, written))
            if meanwhile is not None:
                meanwhile()
            held_not = fresh()
        mine = [i for i, row in enumerate(rows) if row[key] in held_not]
        self._events.extend([said[i] for i in mine])
        return [rows[i] for i in mine]

    def close(self, table: _rows.Table, ids: Sequence[UUID], kind: str | None = None) -> None:
        """Set the closing columns of held rows. Raises `Conflict` if one was closed already."""
        if not ids:
            return
        closed = _rows.close(self.connection, table, self.kb_id, self.seq, self.at, ids, kind)
        if closed != len(set(ids)):
            raise Conflict(f"{len(set(ids)) - closed} rows of {table} were not held any more")
        event = {"ids": sorted(str(i) for i in set(ids)), "kind": kind}
        self._log(f"close {table}", [canonical_bytes(event)])

    def close_links(self, links: Sequence[tuple[UUID, UUID]]) -> None:
        """Close evidence links, each a (lineage id, assertion id). Raises `Conflict` if one was closed already."""
        if not links:
            return
        closed = _rows.close_links(self.connection, self.kb_id, self.seq, self.at, links)
        if closed != len(set(links)):
            raise Conflict(f"{len(set(links)) - closed} rows of evidence were not held any more")
        event = {"links": sorted([str(lineage), str(assertion)] for lineage, assertion in set(links))}
        self._log("close evidence", [canonical_bytes(event)])

    def decide(self, pending_id: UUID, verdict: str, why: str) -> None:
        """Close a pending fact with a person's verdict. Raises `Conflict` if it was decided before."""
        if not _rows.decide(self.connection, self.kb_id, self.seq, self.at, pending_id, verdict, self.actor, why):
            raise Conflict("this proposal was decided before", field="pending_id")
        event = {"id": pending_id, "verdict": verdict, "decided_by": self.actor, "why": why}
        self._log("decide pending_facts", [canonical_bytes(event)])

    def decide_conflicts(self, ids: Sequence[UUID], verdict: str, why: str) -> None:
        """Close open conflicts with one verdict. Raises `Conflict` if one was decided before."""
        if not ids:
            return
        by = (verdict, self.actor, why)
        if _rows.decide_conflicts(self.connection, self.kb_id, self.seq, self.at, ids, *by) != len(set(ids)):
            raise Conflict("this conflict was decided before", field="conflict_id")
        for conflict_id in sorted(set(ids)):
            event = {"id": conflict_id, "verdict": verdict, "decided_by": self.actor, "why": why}
            self._log("decide conflicts", [canonical_bytes(event)])

    def may_hold(self, table: Sparse) -> bool:
        """Whether the base may hold a row of `table`; where it cannot, there is nothing to look for.

        Exact when the door opened, and what this transaction inserts counts. Of ``conflicts`` closed ones count too.
        """
        return table in self._holds

    @property
    def previous_hash(self) -> bytes:
        """The hash of the head this transaction follows."""
        return self._previous

    def note(self, kind: str, payload: Mapping[str, object]) -> None:
        """Append an event that has no row of its own."""
        self._log(kind, [canonical_bytes(payload)])

    def purge(
        self, events: Sequence[Place], left: Mapping[_rows.Table, Sequence[Mapping[str, object]]], **said: object
    ) -> None:
        """Erase what earlier events said, each the writing of one row, and chain that it was done (`chain`).

        `left`: by table, every column of the rows as they stand now in place of those the events wrote; blanking them
        is the caller's. `said` is kept beside it, for people.
        """
        rows = {
            table: [row.logged.decode() for row in _rows.written(table, blanked)] for table, blanked in left.items()
        }
        self.note(PURGE, {**said, "events": sorted({(seq, ordinal) for seq, ordinal in events}), "left": rows})
        self._erasing.extend(set(events))

    def _log(self, kind: str, payloads: Sequence[bytes]) -> None:
        self._events.extend(_said(kind, payloads))

    def _seal(self) -> None:
        stated: dict[str, object] = {
            "actor": self.actor,
            "via": self.via,
            "action": self.action,
            "why": self.why,
            "idempotency_key": self.idempotency_key,
        }
        events = [*_said(HEADER, [header_bytes(stated, self.at, len(self._events))]), *self._events]
        log: list[_rows.Event] = []
        previous = self._previous
        for ordinal, (kind, payload, salt, content) in enumerate(events):
            current = chain_hash(previous, self.seq, ordinal, kind, content)
            log.append((kind, payload, salt, current))
            previous = current
        transaction = {**stated, "events": len(events), "head_hash": previous}
        _rows.append(self.connection, self.kb_id, self.seq, self.at, transaction, self._previous, log)
        if self._erasing:
            self._erase()

    def _erase(self) -> None:
        erased = _rows.erase(self.connection, self.kb_id, self._erasing)
        if erased != len(self._erasing):
            raise Conflict(f"{len(self._erasing) - erased} events cannot be erased: they were before, or have no salt")


def _said(kind: str, payloads: Sequence[bytes]) -> list[_Said]:
    drawn = os.urandom(SALT_BYTES * len(payloads))
    salts = [drawn[i : i + SALT_BYTES] for i in range(0, len(drawn), SALT_BYTES)]
    return [(kind, p, salt, payload_hash(salt, p)) for salt, p in zip(salts, payloads, strict=True)]


@contextmanager
def open_door(
    connection: WriteConnection,
    kb_id: UUID,
    *,
    actor: str,
    via: Via,
    action: str,
    why: str = "",
    idempotency_key: str | None = None,
) -> Iterator[Door]:
    """Lock the base's head and yield a `Door`; seal the chain at the end. Nothing written means no transaction.

    Raises `NotFound` for an unknown base and `AlreadyCommitted` for a key that was used before. The caller's
    connection must be in a READ COMMITTED transaction (`Database.write`), which commits after the block.
    """
    head = takes_arrays(connection).execute(sql.query("lock_head"), {"kb_id": kb_id}).fetchone()
    if head is None:
        raise NotFound("no knowledge base with that id")
    if idempotency_key is not None:
        parameters = {"kb_id": kb_id, "key": idempotency_key}
        done = connection.execute(sql.query("transaction_of_key"), parameters).fetchone()
        if done is not None:
            raise AlreadyCommitted(done["seq"])
    clock = connection.execute(sql.query("state_under_lock"), {"kb_id": kb_id}).fetchone()
    assert clock is not None  # noqa: S101 - a select without from always has a row
    held: dict[Sparse, bool] = {
        "entity_canonical": clock["merged"], "refusals": clock["refusing"], "conflicts": clock["contested"]
    }  # fmt: skip
    door = Door(
        connection=connection,
        kb_id=kb_id,
        seq=head["seq"] + 1,
        at=max(clock["now"], head["at"] + timedelta(microseconds=1)),
        actor=actor,
        via=via,
        action=action,
        why=why,
        idempotency_key=idempotency_key,
        _previous=bytes(head["hash"]),
        _holds={table for table, some in held.items() if some},
    )
    yield door
    if door._events:
        door._seal()
