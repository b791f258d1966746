"""The log of a base as a file, one JSON document per line, and its verification by whoever holds the file alone.

The first line names the base and the head; each line after it is one event with its hashes in hex::

    {"twoclocks": "ledger", "version": 2, "base": "0b5c…", "seq": 1042, "hash": "e3b0…"}
    {"seq": 1, "ordinal": 0, "kind": "transaction", "payload": "{\\"action\\":…}", "salt": "77d1…", "prev": "5f1e…",
     "hash": "9a0c…"}
    {"seq": 1, "ordinal": 1, "kind": "insert chunks", "erased": "c0de…", "prev": "9a0c…", "hash": "40aa…"}

``payload`` is the canonical text whose bytes were hashed with ``salt``; where both were purged, ``erased`` is the hash
that the chain holds of them. An event of format 1 has no salt, and files of version 1 have no other events. Bytes that
are no UTF-8 (none were ever written) survive as lone surrogates, so that damage is carried out as it is.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import BinaryIO
from uuid import UUID

from psycopg.rows import tuple_row

from substrate import sql
from substrate.db import AnyConnection
from substrate.errors import InvalidInput, NotFound
from substrate.ledger import _stored
from substrate.ledger.canonical import genesis_hash
from substrate.ledger.chain import Damage, Erasures, LogRow, Sealed, walk
from substrate.ledger.checkpoints import Checkpoint
from substrate.ledger.verify import FETCH, Anchor, VerifyReport, ends_at

VERSION = 2
_READ = (1, 2)
_encode = json.JSONEncoder(ensure_ascii=True).encode


@dataclass(frozen=True, slots=True)
class Header:
    """The first line: whose log this is, and where it ended."""

    kb_id: UUID
    seq: int
    hash: bytes


def export_log(connection: AnyConnection, kb_id: UUID, out: BinaryIO) -> int:
    """Write the whole log of a base; returns the number of events. Use one snapshot (`Database.read`).

    Raises `NotFound`. What is written is what is there: whether it is sound is for `verify_export` to say.
    """
    head = connection.execute(sql.query("head_of_base"), {"kb_id": kb_id}).fetchone()
    if head is None:
        raise NotFound("no knowledge base with that id", field="kb_id")
    first = {"twoclocks": "ledger", "version": VERSION, "base": str(kb_id), "seq": head["seq"]}
    out.write((_encode({**first, "hash": bytes(head["hash"]).hex()}) + "\n").encode())
    events = 0
    with connection.cursor(name="export_log", row_factory=tuple_row, binary=True) as cursor:
        cursor.execute(sql.query("log_after"), {"kb_id": kb_id, "after": None})
        for row in _stored.fetched(cursor, FETCH):
            out.write(_line(row))
            events += 1
    return events


def _line(row: LogRow) -> bytes:
    seq, ordinal, kind, payload, salt, kept, previous, current = row
    event: dict[str, object] = {"seq": seq, "ordinal": ordinal, "kind": kind}
    if payload is not None:
        event["payload"] = payload.decode("utf-8", "surrogateescape")
    event |= {name: value.hex() for name, value in (("salt", salt), ("erased", kept)) if value is not None}
    return (_encode({**event, "prev": previous.hex(), "hash": current.hex()}) + "\n").encode()


def verify_export(
    lines: Iterable[bytes],
    *,
    against: Checkpoint | None = None,
    max_age: timedelta | None = None,
    now: datetime | None = None,
) -> VerifyReport:
    """Walk an export as `verify` walks the log; no database is needed and none is opened.

    Without `against` it says that the file is one unbroken chain, not that it is the one that was written. Raises
    `InvalidInput` if the first line is not an export's, or the checkpoint is of another base.
    """
    began = time.monotonic()
    rows = _Rows(iter(lines))
    header = rows.header
    anchor = Anchor(header.kb_id, 0, against, max_age, now)
    found = VerifyReport(0, 0, header.seq, head_hash=header.hash.hex())
    events, last, erasures = 0, Sealed(0, genesis_hash(header.kb_id)), Erasures()
    try:
        anchor.passed(0, last.hash)
        for sealed in walk(rows, genesis_hash(header.kb_id)):
            last = sealed
            erasures.passed(last)
            anchor.passed(last.seq, last.hash, last.at)
            events += len(last.events)
        ends_at(header.seq, header.hash, last)
        erasures.finish()
        found = replace(found, unsealed=anchor.finish(header.seq))
    except Damage as damage:
        found = replace(found, damage=damage.kind, first_bad_seq=damage.seq, problem=damage.problem)
    found = replace(found, events=events, purged_events=erasures.accounted)
    return replace(found, seconds=time.monotonic() - began)


class _Rows:
    """The events of an export, read line by line; `header` is read at once."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self._lines = lines
        try:
            first = json.loads(next(lines))
            if first["twoclocks"] != "ledger" or first["version"] not in _READ:
                raise InvalidInput("this is an export of another version", field="export")
            self.header = Header(UUID(first["base"]), int(first["seq"]), bytes.fromhex(first["hash"]))
        except (StopIteration, ValueError, KeyError, TypeError) as error:
            raise InvalidInput("this is not an export of a ledger", field="export") from error

    def __iter__(self) -> Iterator[LogRow]:
        seq = 0
        for number, line in enumerate(self._lines, 2):
            try:
                event = json.loads(line)
                seq, ordinal = int(event["seq"]), int(event["ordinal"])
                said = event.get("payload")
                payload = None if said is None else str(said).encode("utf-8", "surrogateescape")
                salt, kept = _hex(event.get("salt")), _hex(event.get("erased"))
                hashes = bytes.fromhex(event["prev"]), bytes.fromhex(event["hash"])
                row = (seq, ordinal, str(event["kind"]), payload, salt, kept, *hashes)
            except (ValueError, KeyError, TypeError) as error:
                raise Damage("content", seq, f"line {number} is not an event") from error
            yield row


def _hex(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)
