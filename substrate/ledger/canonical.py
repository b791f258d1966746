"""Canonical bytes: what is hashed is what is stored, and the same value always gives the same bytes.

JSON with sorted keys and no white space; times as UTC with six digits; numbers of the ledger as decimal strings
without exponent; ids as lower-case text. Floats never enter but as the shortest decimal that a Postgres ``real``
gives back.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)
_PLAIN = frozenset({str, int, bool, type(None)})


def _plain(value: object) -> object:
    if type(value) in _PLAIN:
        return value
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds")[:-6] + "Z"
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, float):
        return repr(struct.unpack("f", struct.pack("f", value))[0].__round__(6))
    if isinstance(value, (bytes, memoryview)):
        return bytes(value).hex()
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value


def canonical_bytes(value: Mapping[str, object]) -> bytes:
    """The one serialisation of `value`. Text is kept as it is, byte for byte; nothing is normalised."""
    return _ENCODER.encode({k: v if type(v) in _PLAIN else _plain(v) for k, v in value.items()}).encode()


def chain_hash(previous: bytes, seq: int, ordinal: int, kind: str, payload: bytes) -> bytes:
    """SHA-256 over the previous hash, the place in the order, and the length-prefixed kind and payload."""
    name = kind.encode()
    header = struct.pack(">qiI", seq, ordinal, len(name))
    return hashlib.sha256(previous + header + name + struct.pack(">Q", len(payload)) + payload).digest()


def genesis_hash(kb_id: UUID) -> bytes:
    """What the first event of a base chains to; differs per base, so that no base's rows fit another's chain."""
    return hashlib.sha256(b"twoclocks:" + kb_id.bytes).digest()
