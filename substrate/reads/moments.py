"""Where on both clocks a read stands: the caller's words resolved to a sequence number and a bucket.

``as_of`` is a date or a moment, or ``seq:N``; it is clamped to the head and answered with the last transaction at or
before it. A bare date means its last moment, UTC. ``before`` means strictly before, and wins over ``as_of``. Since the
answer carries the sequence it stands on, asking again by ``seq:N`` gives the same bytes for ever.

What the record has not come to, the head answers for, and the answer says so (``clamped``). A clock that was set back
leaves the head's time ahead of it: whoever asks for "now" by such a clock means the head too, and has a minute for the
way here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from substrate import sql
from substrate.axes.as_of import AsOf
from substrate.axes.valid_time import Bucket, bucket
from substrate.db import AnyConnection, ReadConnection
from substrate.errors import InvalidInput, NotFound
from substrate.ledger.canonical import genesis_hash

_SEQ = re.compile(r"^seq:(\d{1,18})$")
_TICK = timedelta(microseconds=1)
_NO_OFFSET = timedelta(0)


def resolve(
    connection: AnyConnection,
    kb_id: UUID,
    *,
    at: str | None = None,
    as_of: str | None = None,
    before: str | None = None,
) -> AsOf:
    """Resolve a question's three time parameters. Raises `InvalidInput` naming the parameter."""
    head = connection.execute(sql.query("head_of_base"), {"kb_id": kb_id}).fetchone()
    if head is None:
        raise NotFound("no knowledge base with that id", field="kb_id")
    seq, clamped = _known_seq(connection, kb_id, head, as_of, before)
    valid_at = parse_bucket(at, "at") if at is not None else None
    if seq == head["seq"] and seq > 0:
        return AsOf(seq, head["at"], bytes(head["hash"]), None, valid_at, at, clamped)
    row = connection.execute(sql.query("transaction_by_seq"), {"kb_id": kb_id, "seq": seq}).fetchone()
    if row is None:  # before the first transaction
        return AsOf(0, head["created_at"], genesis_hash(kb_id), 0, valid_at, at, clamped)
    return AsOf(seq, row["recorded_at"], bytes(row["head_hash"]), seq, valid_at, at)


def _known_seq(
    connection: AnyConnection, kb_id: UUID, head: Mapping[str, Any], as_of: str | None, before: str | None
) -> tuple[int, bool]:
    """The number to stand on, and whether it is the head's in place of one that has not come."""
    text, field = (before, "before") if before is not None else (as_of, "as_of")
    if text is None:
        return head["seq"], False
    if match := _SEQ.match(text.strip()):
        wanted = int(match[1]) - (field == "before")
        return max(0, min(wanted, head["seq"])), wanted > head["seq"]
    period = parse_bucket(text, field)
    try:
        moment = period.start - _TICK if field == "before" else period.end - _TICK
    except OverflowError:
        raise _outside(field, text) from None
    values = {"kb_id": kb_id, "moment": moment, "head_at": head["at"]}
    row = connection.execute(sql.query("seq_at_moment"), values).fetchone()
    assert row is not None  # noqa: S101 - a select without from always has a row
    return (head["seq"], True) if row["at_head"] else (row["seq"], False)


def parse_bucket(text: str, field: str) -> Bucket:
    """A date of any precision, or a moment with a zone and up to microseconds, as the bucket it names."""
    cleaned = text.strip()
    if "T" in cleaned or " " in cleaned:
        try:
            moment = datetime.fromisoformat(cleaned)
        except ValueError:
            raise _bad(field, text) from None
        if moment.tzinfo is None:
            raise InvalidInput(f"{field}: {text!r} has a clock time but no zone; add Z or an offset", field=field)
        try:
            start = moment.astimezone(UTC)
            return Bucket(start, start + _TICK)
        except OverflowError:
            raise _outside(field, text) from None
    for pattern, precision in (("%Y-%m-%d", "day"), ("%Y-%m", "month"), ("%Y", "year")):
        try:
            start = datetime.strptime(cleaned, pattern).replace(tzinfo=UTC)
        except ValueError:
            continue
        return bucket(start, precision)  # type: ignore[arg-type]
    raise _bad(field, text)


def _outside(field: str, text: str) -> InvalidInput:
    return InvalidInput(f"{field}: {text!r} lies at or beyond an end of the years 1 to 9999", field=field)


def _bad(field: str, text: str) -> InvalidInput:
    return InvalidInput(
        f"{field}: {text!r} is not a date; use YYYY, YYYY-MM, YYYY-MM-DD or an RFC 3339 moment with a zone",
        field=field,
    )


def rfc3339(at: datetime | None) -> str | None:
    """UTC with six digits and Z."""
    if at is None:
        return None
    text = (at if at.utcoffset() == _NO_OFFSET else at.astimezone(UTC)).isoformat(timespec="microseconds")
    return text.removesuffix("+00:00") + "Z"


def envelope(as_of: AsOf) -> dict[str, object]:
    """What every answer carries about the record clock; ``clamped`` only where it is true."""
    stands: dict[str, object] = {
        "as_of": rfc3339(as_of.recorded_at),
        "seq": as_of.seq,
        "head_hash": as_of.head_hash.hex(),
    }
    return {**stands, "clamped": True} if as_of.clamped else stands


def head(connection: ReadConnection, kb_id: UUID) -> AsOf:
    """The present: everything held now, at any valid time."""
    return resolve(connection, kb_id)
