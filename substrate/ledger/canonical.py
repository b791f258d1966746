"""Canonical bytes: what is hashed is what is stored, and the same value always gives the same bytes.

JSON with sorted keys and no white space; times as UTC with six digits (one without a zone is UTC, as the session reads
it); numbers of the ledger as decimal strings without exponent; ids as lower-case text. A float that is a column's value
is the decimal that a Postgres ``real`` gives back, to six places; one inside a JSON value is what ``jsonb`` gives back.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any
from uuid import UUID

from pydantic_core import to_json

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)
_PLAIN = frozenset({str, int, bool, type(None)})
_READY = frozenset({str, int, bool, type(None), UUID})
_PLACE = struct.Struct(">qiI").pack
_LENGTH = struct.Struct(">Q").pack
SALT_BYTES = 16
_FORMAT_2 = b"twoclocks event 2"  # no event of format 1 begins with it: those begin with a hash


def _plain(value: object) -> object:
    if type(value) in _PLAIN:
        return value
    if isinstance(value, datetime):
        return _time(value)
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, Decimal):
        return format(value.copy_abs() if value.is_zero() else value, "f")  # numeric knows no negative zero
    if isinstance(value, float):
        return _real(value)
    if isinstance(value, (bytes, memoryview)):
        return bytes(value).hex()
    if isinstance(value, Mapping):
        return {k: _inside(v) for k, v in sorted((str(k), v) for k, v in value.items())}
    if isinstance(value, (list, tuple)):
        return _listed(value)
    return value


@lru_cache(maxsize=4096)
def _time(value: datetime) -> str:
    zoned = value if value.tzinfo else value.replace(tzinfo=UTC)
    return zoned.astimezone(UTC).isoformat(timespec="microseconds")[:-6] + "Z"


@lru_cache(maxsize=1024)
def _real(value: float) -> str:
    return repr(round(struct.unpack("f", struct.pack("f", value))[0], 6) + 0.0)


def _inside(value: object) -> object:
    if not isinstance(value, float):
        return _plain(value)
    # From here on Python writes an exponent, which jsonb spells out: the value comes back whole.
    return int(Decimal(repr(value))) if abs(value) >= 1e16 else repr(value + 0.0)


def _listed(value: Iterable[object]) -> list[object]:
    return [_inside(v) for v in value]


_SPELLED: Mapping[type, Callable[[Any], object]] = {datetime: _time, float: _real, list: _listed}


def canonical_bytes(value: Mapping[str, object]) -> bytes:
    """The one serialisation of `value`. Text is kept as it is, byte for byte; nothing is normalised."""
    return _ENCODER.encode({k: v if type(v) in _PLAIN else _plain(v) for k, v in value.items()}).encode()


def row_bytes(
    names: Sequence[str], values: Iterable[object], *, sparse: bool, raw: Mapping[str, object] | None = None
) -> bytes:
    """`canonical_bytes` of a row whose columns come in the order of their names, ten times as quick.

    `sparse`: what is null is left out. `raw` are more columns, put into JSON as they are.
    """
    columns = zip(names, values, strict=True)
    row = {name: value for name, value in columns if value is not None} if sparse else dict(columns)
    for name, value in row.items():
        kind = type(value)
        if kind not in _READY:
            row[name] = _SPELLED.get(kind, _plain)(value)
    return to_json({**raw, **row} if raw else row)


def as_stored(value: object) -> object:
    """What a column takes of a value that is not text: numbers inside JSON stay numbers, bytes are hex with a mark."""
    return f"\\x{bytes(value).hex()}" if isinstance(value, (bytes, memoryview)) else value


def payload_hash(salt: bytes, payload: bytes) -> bytes:
    """What the chain holds of a payload, so that it can be erased with its salt: SHA-256 over both."""
    return hashlib.sha256(salt + payload).digest()


def chain_hash(previous: bytes, seq: int, ordinal: int, kind: str, content: bytes) -> bytes:
    """Format 2: SHA-256 over the previous hash, the place in the order, the length-prefixed kind and `payload_hash`."""
    name = kind.encode()
    return hashlib.sha256(b"".join((_FORMAT_2, previous, _PLACE(seq, ordinal, len(name)), name, content))).digest()


def unsalted_chain_hash(previous: bytes, seq: int, ordinal: int, kind: str, payload: bytes) -> bytes:
    """Format 1, of events without a salt: over the length-prefixed payload itself."""
    name = kind.encode()
    place = _PLACE(seq, ordinal, len(name))
    return hashlib.sha256(b"".join((previous, place, name, _LENGTH(len(payload)), payload))).digest()


def genesis_hash(kb_id: UUID) -> bytes:
    """What the first event of a base chains to; differs per base, so that no base's rows fit another's chain."""
    return hashlib.sha256(b"twoclocks:" + kb_id.bytes).digest()
