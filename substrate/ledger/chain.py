"""The walk along a chain: every link and every hash, one transaction at a time, wherever the rows come from.

The database and an export are read by the same walk, so that both mean the same by damage.

An event is hashed over what came before it, its place, its kind and the hash of its salt and payload. Payload and salt
can therefore be erased, and the hash alone be kept: the chain still holds, and what was said is gone. That is sound
only where a later event says so::

    kind     purge
    payload  {"events": [[seq, ordinal], …], "left": {"chunks": ["{…}", …]}, …}

``events`` are the places of the erased events, each of a kind ``insert …`` and of an earlier transaction; ``left`` has
by table what stands now in place of the rows that they had written, as many as those, each as the log writes a row
(`_rows.written`). Rows are blanked and never taken out, so that what points at them still does. Anything else in the
payload is for people. `Door.purge` writes the event and erases.

Events written before there were salts are hashed over the payload itself and cannot be erased.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from substrate.ledger.canonical import canonical_bytes, chain_hash, payload_hash, unsalted_chain_hash

DamageKind = Literal["content", "link", "missing", "checkpoint", "unsealed"]
EXIT_CODES: Mapping[DamageKind, int] = {"content": 1, "link": 2, "missing": 3, "checkpoint": 4, "unsealed": 5}
"""What a command that verifies exits with; 0 is no damage."""

LogRow = tuple[int, int, str, bytes | None, bytes | None, bytes | None, bytes, bytes]
"""seq, ordinal, kind, payload, salt, hash of an erased payload, hash of the event before, hash."""
HEADER = "transaction"
PURGE = "purge"
INSERT = "insert "
Place = tuple[int, int]
"""seq and ordinal of an event."""
_STATED = ("actor", "via", "action", "why", "idempotency_key")


class Damage(Exception):
    """The first thing found that is not as it was written: its kind and the transaction it shows at."""

    def __init__(self, kind: DamageKind, seq: int, problem: str) -> None:
        super().__init__(problem)
        self.kind: DamageKind = kind
        self.seq = seq
        self.problem = problem


@dataclass(slots=True)
class Sealed:
    """One transaction whose events follow one another and are what was hashed; `events[0]` is its header."""

    seq: int
    hash: bytes = b""
    at: str = ""
    """Its record time in canonical text."""
    events: list[tuple[str, bytes | None]] = field(default_factory=list)
    """Kind and payload, None where it was erased."""
    salted: bool = True
    """Whether it is of the form that can be erased, whose rows leave out what is null."""

    def erased(self) -> list[tuple[Place, str]]:
        """The events whose payload is gone, with their kinds."""
        return [((self.seq, i), kind) for i, (kind, payload) in enumerate(self.events) if payload is None]


def header_bytes(transaction: Mapping[str, object], at: datetime | str, events: int, *, keyed: bool = True) -> bytes:
    """The header event of a transaction: all that ``ledger_transaction`` says of it but its number and its hash.

    `events` counts those after the header. The first headers ever written did not carry the idempotency key: `keyed`
    false gives that form.
    """
    stated = {name: transaction[name] for name in _STATED if keyed or name != "idempotency_key"}
    return canonical_bytes({**stated, "at": at, "events": events})


def walk(rows: Iterable[LogRow], previous: bytes, after: int = 0) -> Iterator[Sealed]:
    """Every transaction after number `after`, whose last hash is `previous`, in order. Raises `Damage`."""
    sealed: Sealed | None = None
    seq = after
    ordinal = 0
    for row_seq, row_ordinal, kind, payload, salt, kept, linked, current in rows:
        if row_seq != seq or sealed is None:
            if sealed is not None:
                yield _complete(sealed)
            _follows(row_seq, seq)
            seq, ordinal = row_seq, 0
            sealed = Sealed(seq, salted=salt is not None)
        if row_ordinal != ordinal:
            raise Damage("missing", seq, f"event {ordinal} of transaction {seq} is missing")
        if linked != previous:
            raise Damage("link", seq, f"event {ordinal} of transaction {seq} does not follow the one before it")
        old = payload is not None and salt is None
        if _hashed(previous, seq, ordinal, kind, payload, salt, kept) != current or sealed.salted is old:
            raise Damage("content", seq, f"event {ordinal} of transaction {seq} is not what was hashed")
        sealed.events.append((kind, payload))
        sealed.hash = previous = current
        ordinal += 1
    if sealed is not None:
        yield _complete(sealed)


def _hashed(
    previous: bytes, seq: int, ordinal: int, kind: str, payload: bytes | None, salt: bytes | None, kept: bytes | None
) -> bytes | None:
    """What an event's hash must be; None if it is neither whole nor erased."""
    if payload is None:
        return chain_hash(previous, seq, ordinal, kind, kept) if kept is not None and salt is None else None
    if kept is not None:
        return None
    if salt is None:
        return unsalted_chain_hash(previous, seq, ordinal, kind, payload)
    return chain_hash(previous, seq, ordinal, kind, payload_hash(salt, payload))


def _follows(seq: int, last: int) -> None:
    if seq <= last:
        raise Damage("content", seq, f"an event claims transaction {seq}, which never was")
    if seq != last + 1:
        raise Damage("missing", last + 1, f"transaction {last + 1} is missing")


def _complete(sealed: Sealed) -> Sealed:
    """The header knows how many events there were, so that none can be cut from the end or added there."""
    kind, payload = sealed.events[0]
    try:
        header = json.loads(payload) if kind == HEADER and payload is not None else {}
        sealed.at, counted = str(header["at"]), int(header["events"])
    except (ValueError, KeyError, TypeError) as error:
        raise Damage("content", sealed.seq, f"transaction {sealed.seq} has no header") from error
    found = len(sealed.events) - 1
    if found < counted:
        raise Damage("missing", sealed.seq, f"event {found + 1} of transaction {sealed.seq} is missing")
    if found > counted:
        raise Damage("content", sealed.seq, f"transaction {sealed.seq} has more events than its header counts")
    return sealed


@dataclass(frozen=True, slots=True)
class Purge:
    """What a purge event says: the events it erased, and the rows that were left, by table."""

    events: tuple[Place, ...]
    left: Mapping[str, tuple[bytes, ...]]


class Erasures:
    """Erased events beside the purges that name them. A walk tells it each transaction, in order."""

    def __init__(self, since: int = 0) -> None:
        self.accounted = 0
        """Erased events that a later purge names."""
        self._since = since
        self._open: dict[Place, str] = {}

    def passed(self, sealed: Sealed) -> list[Purge]:
        """The purges of this transaction. Raises `Damage` if one names what is not erased, or no row's event is."""
        purges = [self._purge(sealed, payload) for kind, payload in sealed.events if kind == PURGE]
        for place, kind in sealed.erased():
            if not kind.startswith(INSERT):
                raise Damage("missing", sealed.seq, f"what event {place[1]} of transaction {sealed.seq} said is gone")
            self._open[place] = kind
        return purges

    def _purge(self, sealed: Sealed, payload: bytes | None) -> Purge:
        try:
            said = json.loads(payload or b"")
            places = tuple((int(seq), int(ordinal)) for seq, ordinal in said["events"])
            left = {table: tuple(row.encode() for row in rows) for table, rows in said["left"].items()}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Damage("content", sealed.seq, f"a purge in transaction {sealed.seq} says none") from error
        for place in places:
            if place[0] <= self._since:
                continue
            if self._open.pop(place, None) is None:
                raise Damage(
                    "content", place[0], f"event {place[1]} of transaction {place[0]} was purged, and is there"
                )
            self.accounted += 1
        return Purge(places, left)

    def finish(self) -> None:
        """Raises `Damage` if something was erased that no purge names."""
        if self._open:
            seq, ordinal = min(self._open)
            raise Damage(
                "missing", seq, f"what event {ordinal} of transaction {seq} said is gone, and no purge says so"
            )
