"""Verification: the chain link by link, and every table against the log it is a projection of."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from substrate import sql
from substrate.db import AnyConnection
from substrate.errors import NotFound
from substrate.ledger import _rows
from substrate.ledger.canonical import canonical_bytes, chain_hash, genesis_hash

Damage = Literal["content", "link", "missing"]
FETCH = 5_000


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """The outcome. `damage` says what kind, `first_bad_seq` where it shows first."""

    events: int
    rows: int
    head_seq: int
    damage: Damage | None = None
    first_bad_seq: int | None = None
    problem: str = ""

    @property
    def ok(self) -> bool:
        return self.damage is None


def verify(connection: AnyConnection, kb_id: UUID) -> VerifyReport:
    """Recompute the chain from its genesis and compare each logged row with its table. Raises `NotFound`.

    Run it on one snapshot (`Database.read`). A rewrite of the whole suffix with matching hashes is seen only against
    a checkpoint kept elsewhere.
    """
    head = connection.execute(sql.query("head_of_base"), {"kb_id": kb_id}).fetchone()
    if head is None:
        raise NotFound("no knowledge base with that id", field="kb_id")
    previous, expected_seq, ordinal, events = genesis_hash(kb_id), 0, 0, 0

    def bad(damage: Damage, seq: int, problem: str) -> VerifyReport:
        return VerifyReport(events, 0, head["seq"], damage, seq, problem)

    for row in _log(connection, kb_id):
        seq, payload = row["seq"], bytes(row["payload"])
        if seq != expected_seq:
            if seq != expected_seq + 1:
                return bad("missing", expected_seq + 1, f"transaction {expected_seq + 1} is missing")
            expected_seq, ordinal = seq, 0
        if row["ordinal"] != ordinal:
            return bad("missing", seq, f"event {ordinal} of transaction {seq} is missing")
        if bytes(row["prev_hash"]) != previous:
            return bad("link", seq, f"event {ordinal} of transaction {seq} does not follow the one before it")
        if chain_hash(previous, seq, ordinal, row["kind"], payload) != bytes(row["hash"]):
            return bad("content", seq, f"event {ordinal} of transaction {seq} is not what was hashed")
        previous, ordinal, events = bytes(row["hash"]), ordinal + 1, events + 1
    if expected_seq != head["seq"] or previous != bytes(head["hash"]):
        return bad("missing", expected_seq + 1, "the log ends before the head")
    return _projections(connection, kb_id, events, head["seq"])


def _log(connection: AnyConnection, kb_id: UUID) -> Iterator[dict[str, Any]]:
    with connection.cursor(name="verify_log") as cursor:
        cursor.itersize = FETCH
        cursor.execute(sql.query("log_in_order"), {"kb_id": kb_id})
        yield from cursor


def _projections(connection: AnyConnection, kb_id: UUID, events: int, head_seq: int) -> VerifyReport:
    rows = 0
    for table in _rows.SHAPES:
        logged, closed = _logged(connection, kb_id, table)
        for row in _rows.stored(connection, table, kb_id):
            rows += 1
            content = canonical_bytes(_rows.logged(table, row))
            seq = row["recorded_seq"]
            if content not in logged.get(seq, ()):
                problem = f"a row of {table} is not what transaction {seq} wrote"
                return VerifyReport(events, rows, head_seq, "content", seq, problem)
            logged[seq].remove(content)
            end = row.get("invalidated_seq")
            if end is not None and _rows.name_of(table, row) not in closed.get(end, ()):
                problem = f"a row of {table} was closed by no transaction"
                return VerifyReport(events, rows, head_seq, "content", end, problem)
        if lost := min((seq for seq, left in logged.items() if left), default=None):
            return VerifyReport(events, rows, head_seq, "missing", lost, f"a row of {table} is missing")
    return VerifyReport(events, rows, head_seq)


def _logged(
    connection: AnyConnection, kb_id: UUID, table: _rows.Table
) -> tuple[dict[int, list[bytes]], dict[int, set[str]]]:
    """By transaction: the canonical rows it wrote to `table`, and the names of the rows it closed there."""
    inserts: dict[int, list[bytes]] = {}
    closings: dict[int, set[str]] = {}
    kinds = [f"insert {table}", f"close {table}", f"decide {table}"]
    with connection.cursor(name="verify_table") as cursor:
        cursor.itersize = FETCH
        cursor.execute(sql.query("log_of_kinds"), {"kb_id": kb_id, "kinds": kinds})
        for row in cursor:
            if row["kind"].startswith("insert "):
                inserts.setdefault(row["seq"], []).append(bytes(row["payload"]))
                continue
            event = json.loads(bytes(row["payload"]))
            names = event.get("ids") or ["/".join(link) for link in event.get("links", ())] or [event["id"]]
            closings.setdefault(row["seq"], set()).update(names)
    return inserts, closings
