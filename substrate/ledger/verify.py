"""Verification: the chain link by link, every table against the log it is a projection of, and an outside checkpoint.

===========  ====  ===================================================================================
damage       exit  what it says
===========  ====  ===================================================================================
(none)       0     all that was checked is as it was written
content      1     something is not what was written, or was never written
link         2     an event does not follow the one before it, or the head is not the log's end
missing      3     something that was written is not there
checkpoint   4     the chain is sound in itself and is not the one that was signed
unsealed     5     the oldest transaction that no checkpoint covers is older than allowed
===========  ====  ===================================================================================

A rewritten and re-hashed suffix, a tail cut together with the head, and an older copy of the whole are sound in
themselves: they are seen only against a checkpoint kept where the database's owner cannot write.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg.rows import tuple_row

from substrate import sql
from substrate.db import AnyConnection
from substrate.errors import InvalidInput, NotFound
from substrate.ledger import _stored
from substrate.ledger.canonical import genesis_hash
from substrate.ledger.chain import EXIT_CODES, Damage, DamageKind, Erasures, LogRow, Sealed, walk
from substrate.ledger.checkpoints import Checkpoint
from substrate.ledger.projections import Tables, Transactions

FETCH = 5_000


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """The outcome. `damage` says what kind, `first_bad_seq` where it shows first.

    `events` and `rows` count what was found sound, of the log and of the tables; `purged_events` those of the events
    whose words were erased and which a later purge names; `unsealed` how many transactions came after the checkpoint,
    if there was one to compare with.
    """

    events: int
    rows: int
    head_seq: int
    damage: DamageKind | None = None
    first_bad_seq: int | None = None
    problem: str = ""
    since: int = 0
    head_hash: str = ""
    unsealed: int | None = None
    seconds: float = 0.0
    purged_events: int = 0

    @property
    def ok(self) -> bool:
        return self.damage is None

    @property
    def exit_code(self) -> int:
        """0, or the kind of damage as a number (`chain.EXIT_CODES`)."""
        return EXIT_CODES[self.damage] if self.damage else 0


class Anchor:
    """A checkpoint laid beside a walk, with the age up to which later transactions may be without one."""

    def __init__(
        self, kb_id: UUID, since: int, checkpoint: Checkpoint | None, max_age: timedelta | None, now: datetime | None
    ) -> None:
        if checkpoint is None and max_age is not None:
            raise InvalidInput("an age can only be asked of a checkpoint", field="max_age")
        if checkpoint is not None and checkpoint.kb_id != kb_id:
            raise InvalidInput(f"the checkpoint is of another base, {checkpoint.kb_id}", field="against")
        if checkpoint is not None and since > checkpoint.seq:
            raise InvalidInput(f"the checkpoint is of transaction {checkpoint.seq}, before {since}", field="since")
        self.checkpoint = checkpoint
        self._max_age, self._now = max_age, now or datetime.now(UTC)
        self._unsealed_at: str | None = None

    def passed(self, seq: int, head: bytes, at: str = "") -> None:
        """The walk has come to the end of a transaction. Raises `Damage` if another was signed under that number."""
        signed = self.checkpoint
        if signed is None:
            return
        if seq == signed.seq and head != signed.hash:
            raise Damage("checkpoint", seq, f"the chain up to transaction {seq} is not the one that was signed")
        if seq == signed.seq + 1:
            self._unsealed_at = at

    def finish(self, head_seq: int) -> int | None:
        """How many transactions came after the checkpoint. Raises `Damage` if it lies ahead or too far behind."""
        signed = self.checkpoint
        if signed is None:
            return None
        if head_seq < signed.seq:
            problem = f"transaction {signed.seq} was signed, and the ledger ends at {head_seq}: cut, or an older copy"
            raise Damage("checkpoint", head_seq + 1, problem)
        if self._max_age is not None and self._unsealed_for() > self._max_age:
            raise Damage("unsealed", signed.seq + 1, f"no checkpoint covers transaction {signed.seq + 1} or later ones")
        return head_seq - signed.seq

    def _unsealed_for(self) -> timedelta:
        return self._now - datetime.fromisoformat(self._unsealed_at) if self._unsealed_at else timedelta(0)


def verify(
    connection: AnyConnection,
    kb_id: UUID,
    *,
    since: int = 0,
    tables: bool = True,
    against: Checkpoint | None = None,
    max_age: timedelta | None = None,
    now: datetime | None = None,
) -> VerifyReport:
    """Recompute the chain and compare each logged event with its table, in one pass; memory holds one transaction.

    `since` trusts what was recorded up to that number and checks the rest; together with a checkpoint of that number
    the trust has a ground. `tables` false checks chain and transactions alone. `against` is a checkpoint kept
    elsewhere; `max_age` how long a transaction may be without one, reckoned from `now`.

    Its speed is said in rows per second, which are the log's events and the rows of the tables: each is read, encoded
    and compared once. Measured by ``make bench-ledger``.

    Run it on one snapshot (`Database.read`). Raises `NotFound` for an unknown base and `InvalidInput` for a `since`
    that the base has not reached or a checkpoint that cannot be compared.
    """
    began = time.monotonic()
    connection.execute(sql.query("read_as_logged"))
    head = connection.execute(sql.query("head_of_base"), {"kb_id": kb_id}).fetchone()
    if head is None:
        raise NotFound("no knowledge base with that id", field="kb_id")
    if not 0 <= since <= head["seq"]:
        raise InvalidInput(f"there is no transaction {since}; the last is {head['seq']}", field="since")
    anchor = Anchor(kb_id, since, against, max_age, now)
    check = _Check(connection, kb_id, since, tables, anchor)
    found = VerifyReport(0, 0, head["seq"], since=since, head_hash=bytes(head["hash"]).hex())
    try:
        check.run(head)
        found = replace(found, unsealed=anchor.finish(head["seq"]))
    except Damage as damage:
        found = replace(found, damage=damage.kind, first_bad_seq=damage.seq, problem=damage.problem)
    found = replace(found, events=check.events, rows=check.rows, purged_events=check.erasures.accounted)
    return replace(found, seconds=time.monotonic() - began)


class _Check:
    """One pass over a base: what it has found sound so far."""

    def __init__(self, connection: AnyConnection, kb_id: UUID, since: int, tables: bool, anchor: Anchor) -> None:
        self.events = 0
        self.erasures = Erasures(since)
        self._connection, self._kb_id, self._since, self._anchor = connection, kb_id, since, anchor
        # From the beginning means all there is, so that rows under numbers that never were are seen too.
        self._after = since or None
        self._tables = Tables(connection, kb_id, self._after) if tables else None

    @property
    def rows(self) -> int:
        return self._tables.rows if self._tables else 0

    def run(self, head: dict[str, Any]) -> None:
        """Raises `Damage`."""
        start = self._start()
        self._anchor.passed(self._since, start)
        last = Sealed(self._since, start)
        transactions = Transactions(self._connection, self._kb_id, self._after)
        for last in walk(self._log(), start, self._since):
            if last.seq > head["seq"]:
                break
            transactions.compare(last)
            purges = self.erasures.passed(last)
            if self._tables:
                self._tables.compare(last)
                for purge in purges:
                    self._tables.purged(purge, self._since)
            self._anchor.passed(last.seq, last.hash, last.at)
            self.events += len(last.events)
        ends_at(head["seq"], bytes(head["hash"]), last)
        if last.at and head["at"] != datetime.fromisoformat(last.at):
            raise Damage("content", last.seq, "the head's time is not the last transaction's")
        transactions.finish()
        self.erasures.finish()
        if self._tables:
            self._tables.finish()

    def _start(self) -> bytes:
        if not self._since:
            return genesis_hash(self._kb_id)
        asked = {"kb_id": self._kb_id, "seq": self._since}
        row = self._connection.execute(sql.query("last_hash_of"), asked).fetchone()
        if row is None:
            raise Damage("missing", self._since, f"transaction {self._since} is missing")
        return bytes(row["hash"])

    def _log(self) -> Iterator[LogRow]:
        with self._connection.cursor(name="verify_log", row_factory=tuple_row, binary=True) as cursor:
            cursor.execute(sql.query("log_after"), {"kb_id": self._kb_id, "after": self._after})
            yield from _stored.fetched(cursor, FETCH)


def ends_at(seq: int, head: bytes, last: Sealed) -> None:
    """Raises `Damage` unless a head of this number and hash is the end of what was walked."""
    if last.seq < seq:
        raise Damage("missing", last.seq + 1, f"the log ends at {last.seq}, before its head, which is {seq}")
    if last.seq > seq:
        raise Damage("link", seq + 1, f"transaction {seq + 1} comes after the head, which is {seq}")
    if head != last.hash:
        raise Damage("link", last.seq, "the head's hash is not the last event's")
