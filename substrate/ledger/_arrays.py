"""Arrays in Postgres's binary form, made in one pass.

psycopg adapts an array value by value, which for a few hundred payloads and hashes took longer than hashing them.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from psycopg import Cursor
from psycopg.abc import Buffer
from psycopg.adapt import Dumper
from psycopg.pq import Format

_HEAD = struct.Struct(">iiIii").pack
_LENGTH = struct.Struct(">i").pack
_BYTEA, _TEXT, _BYTEA_ARRAY, _TEXT_ARRAY = 17, 25, 1001, 1009  # pg_type.oid, the same in every server


class _Array(bytes):
    """The binary form of an array, ready to be sent."""


class ByteaArray(_Array):
    """``bytea[]``."""


class TextArray(_Array):
    """``text[]``."""


def array_of_bytes(values: Sequence[bytes]) -> ByteaArray:
    """A ``bytea[]`` of one dimension, none of its elements null."""
    return ByteaArray(_packed(_BYTEA, values))


def array_of_texts(values: Sequence[str]) -> TextArray:
    """A ``text[]`` of one dimension, none of its elements null."""
    return TextArray(_packed(_TEXT, [value.encode() for value in values]))


def _packed(oid: int, values: Sequence[bytes]) -> bytes:
    parts = [_HEAD(1, 0, oid, len(values), 1)]
    for value in values:
        parts.append(_LENGTH(len(value)))
        parts.append(value)
    return b"".join(parts)


class _ByteaArrayDumper(Dumper):
    format = Format.BINARY
    oid = _BYTEA_ARRAY

    def dump(self, obj: ByteaArray) -> Buffer:
        return obj


class _TextArrayDumper(_ByteaArrayDumper):
    oid = _TEXT_ARRAY


def takes_arrays(cursor: Cursor[Any]) -> Cursor[Any]:
    """The cursor, once it knows how to send these arrays."""
    cursor.adapters.register_dumper(ByteaArray, _ByteaArrayDumper)
    cursor.adapters.register_dumper(TextArray, _TextArrayDumper)
    return cursor
