"""The walk along a chain: every link and every hash, one transaction at a time, wherever the rows come from.

The database and an export are read by the same walk, so that both mean the same by damage.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from substrate.ledger.canonical import canonical_bytes, chain_hash

DamageKind = Literal["content", "link", "missing", "checkpoint", "unsealed"]
EXIT_CODES: Mapping[DamageKind, int] = {"content": 1, "link": 2, "missing": 3, "checkpoint": 4, "unsealed": 5}
"""What a command that verifies exits with; 0 is no damage."""

LogRow = tuple[int, int, str, bytes, bytes, bytes]
"""seq, ordinal, kind, payload, hash of the event before, hash."""
HEADER = "transaction"
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
    events: list[tuple[str, bytes]] = field(default_factory=list)


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
    for row_seq, row_ordinal, kind, payload, linked, current in rows:
        if row_seq != seq or sealed is None:
            if sealed is not None:
                yield _complete(sealed)
            _follows(row_seq, seq)
            seq, ordinal = row_seq, 0
            sealed = Sealed(seq)
        if row_ordinal != ordinal:
            raise Damage("missing", seq, f"event {ordinal} of transaction {seq} is missing")
        if linked != previous:
            raise Damage("link", seq, f"event {ordinal} of transaction {seq} does not follow the one before it")
        if chain_hash(previous, seq, ordinal, kind, payload) != current:
            raise Damage("content", seq, f"event {ordinal} of transaction {seq} is not what was hashed")
        sealed.events.append((kind, payload))
        sealed.hash = previous = current
        ordinal += 1
    if sealed is not None:
        yield _complete(sealed)


def _follows(seq: int, last: int) -> None:
    if seq <= last:
        raise Damage("content", seq, f"an event claims transaction {seq}, which never was")
    if seq != last + 1:
        raise Damage("missing", last + 1, f"transaction {last + 1} is missing")


def _complete(sealed: Sealed) -> Sealed:
    """The header knows how many events there were, so that none can be cut from the end or added there."""
    kind, payload = sealed.events[0]
    try:
        header = json.loads(payload) if kind == HEADER else {}
        sealed.at, counted = str(header["at"]), int(header["events"])
    except (ValueError, KeyError, TypeError) as error:
        raise Damage("content", sealed.seq, f"transaction {sealed.seq} has no header") from error
    found = len(sealed.events) - 1
    if found < counted:
        raise Damage("missing", sealed.seq, f"event {found + 1} of transaction {sealed.seq} is missing")
    if found > counted:
        raise Damage("content", sealed.seq, f"transaction {sealed.seq} has more events than its header counts")
    return sealed
