"""Sealing: what was served and what extractors read, gathered into batches that follow one another.

A seal is a row of ``audit_seals``: how many rows it covers, the root of the Merkle tree over their hashes, and a hash
that continues the seal before it. Each sealed row names its seal. Nothing here waits for a base's head lock.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from substrate import sql
from substrate.audit import merkle
from substrate.db import AnyConnection, Database
from substrate.ledger.canonical import canonical_bytes

MOST = 5_000
"""Rows of each kind under one seal: what one transaction of the sealer costs at most."""
LATE_S = 10.0
"""Seconds after which a row without a seal is damage: sealing runs each second."""


@dataclass(frozen=True, slots=True)
class Seal:
    """The end of a base's chain of seals; number 0 is its beginning."""

    number: int
    hash: bytes


@dataclass(frozen=True, slots=True)
class Waiting:
    """What no seal covers yet."""

    rows: int
    oldest_s: float
    """Seconds since the oldest was written, by the database's clock; 0 if none waits."""

    @property
    def late(self) -> bool:
        return self.oldest_s > LATE_S


def genesis(kb_id: UUID) -> Seal:
    """What the first seal of a base continues; differs per base, so that no base's seals fit another's."""
    return Seal(0, hashlib.sha256(b"twoclocks seals:" + kb_id.bytes).digest())


def seal_hash(
    previous: bytes, kb_id: UUID, number: int, sealed_at: datetime | str, events: int, extractions: int, root: bytes
) -> bytes:
    """SHA-256 over the hash before it and the canonical bytes of all that a seal says."""
    said = {"base": kb_id, "number": number, "sealed_at": sealed_at, "events": events, "extractions": extractions}
    return hashlib.sha256(previous + canonical_bytes({**said, "root": root})).digest()


def newest(connection: AnyConnection, kb_id: UUID) -> Seal:
    """The last seal of a base, or `genesis`."""
    row = connection.execute(sql.query("seal_last"), {"kb_id": kb_id}).fetchone()
    return Seal(row["number"], bytes(row["hash"])) if row else genesis(kb_id)


def waiting(connection: AnyConnection, kb_id: UUID) -> Waiting:
    """How much waits for a seal, and for how long."""
    row = connection.execute(sql.query("seal_waiting"), {"kb_id": kb_id}).fetchone()
    assert row is not None  # noqa: S101 - an aggregate always has a row
    return Waiting(row["rows"], row["oldest_s"])


def unsealed_bases(connection: AnyConnection) -> set[UUID]:
    """Bases that the connection reaches in which anything waits."""
    return {row["id"] for row in connection.execute(sql.query("seal_bases_waiting")).fetchall()}


def seal_base(db: Database, kb_id: UUID, *, most: int = MOST) -> int:
    """Seal all that is committed and unsealed, `most` rows of each kind at a time; returns how many rows.

    0 also where another process seals this base at the moment: what it does not see, the next call finds.
    """
    total = 0
    while sealed := _seal_once(db, kb_id, most):
        total += sealed
        if sealed < most:
            break
    return total


def seal_bases(db: Database, kb_ids: Iterable[UUID]) -> int:
    """`seal_base` for each; returns how many rows."""
    return sum(seal_base(db, kb_id) for kb_id in kb_ids)


def _seal_once(db: Database, kb_id: UUID, most: int) -> int:
    with db.write(kb_id) as conn:
        alone = conn.execute(sql.query("seal_alone"), {"kb_id": kb_id}).fetchone()
        if not (alone and alone["mine"]):
            return 0
        asked = {"kb_id": kb_id, "most": most}
        events = conn.execute(sql.query("seal_unsealed_events"), asked).fetchall()
        extractions = conn.execute(sql.query("seal_unsealed_extractions"), asked).fetchall()
        if not events and not extractions:
            return 0
        last = conn.execute(sql.query("seal_last"), {"kb_id": kb_id}).fetchone()
        clock = conn.execute(sql.query("clock")).fetchone()
        assert clock is not None  # noqa: S101 - a select without from always has a row
        previous, number, at = genesis(kb_id).hash, 1, clock["now"]
        if last:
            previous, number = bytes(last["hash"]), last["number"] + 1
            at = max(at, last["sealed_at"] + timedelta(microseconds=1))
        root = merkle.root([bytes(row["hash"]) for row in (*events, *extractions)])
        stated = {"number": number, "sealed_at": at, "events": len(events), "extractions": len(extractions)}
        seal = {**stated, "root": root, "prev_hash": previous}
        current = seal_hash(previous, kb_id, number, at, len(events), len(extractions), root)
        conn.execute(sql.query("seal_insert"), {**seal, "kb_id": kb_id, "hash": current})
        place = {"kb_id": kb_id, "number": number}
        conn.execute(sql.query("seal_events"), {**place, "ids": [row["id"] for row in events]})
        chunks, extractors = [r["chunk_id"] for r in extractions], [r["extractor"] for r in extractions]
        conn.execute(sql.query("seal_extractions"), {**place, "chunk_ids": chunks, "extractors": extractors})
        return len(events) + len(extractions)
