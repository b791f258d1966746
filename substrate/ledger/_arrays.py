"""Arrays in Postgres's binary form, made in one pass; and JSON that is text already.

psycopg adapts an array value by value, which for a few hundred payloads and hashes took longer than hashing them.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Sequence
from typing import Any, TypeVar
from uuid import UUID

from psycopg import Connection, Cursor
from psycopg.abc import Buffer
from psycopg.adapt import Dumper
from psycopg.pq import Format

_HEAD = struct.Struct(">iiIii").pack
_EMPTY = struct.Struct(">iiI").pack
_LENGTH = struct.Struct(">i").pack
_BYTEA, _TEXT, _JSON, _UUID = 17, 25, 114, 2950  # pg_type.oid, the same in every server
_BYTEA_ARRAY, _TEXT_ARRAY, _UUID_ARRAY = 1001, 1009, 2951

Sender = TypeVar("Sender", Cursor[Any], Connection[Any])


class _Array(bytes):
    """The binary form of an array, ready to be sent."""


class ByteaArray(_Array):
    """``bytea[]``."""


class TextArray(_Array):
    """``text[]``."""


class UuidArray(_Array):
    """``uuid[]``."""


class JsonText(bytes):
    """``json`` that is written already, in UTF-8."""


def array_of_ids(values: Collection[UUID]) -> UuidArray:
    """A ``uuid[]`` of one dimension."""
    prefix = _LENGTH(16)
    parts = prefix.join([value.int.to_bytes(16, "big") for value in values])
    return UuidArray(_HEAD(1, 0, _UUID, len(values), 1) + prefix + parts if values else _EMPTY(0, 0, _UUID))


def array_of_bytes(values: Sequence[bytes]) -> ByteaArray:
    """A ``bytea[]`` of one dimension."""
    return ByteaArray(_packed(_BYTEA, values))


def array_of_texts(values: Sequence[str]) -> TextArray:
    """A ``text[]`` of one dimension."""
    return TextArray(_packed(_TEXT, [value.encode() for value in values]))


def _packed(oid: int, values: Sequence[bytes]) -> bytes:
    if not values:
        return _EMPTY(0, 0, oid)
    sizes = set(map(len, values))
    if len(sizes) == 1:  # hashes and salts
        size = _LENGTH(sizes.pop())
        return _HEAD(1, 0, oid, len(values), 1) + size + size.join(values)
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


class _UuidArrayDumper(_ByteaArrayDumper):
    oid = _UUID_ARRAY


class _JsonDumper(Dumper):
    oid = _JSON

    def dump(self, obj: JsonText) -> Buffer:
        return obj


_DUMPERS: dict[type, type[Dumper]] = {
    ByteaArray: _ByteaArrayDumper,
    TextArray: _TextArrayDumper,
    UuidArray: _UuidArrayDumper,
    JsonText: _JsonDumper,
}


def takes_arrays(sender: Sender) -> Sender:
    """The cursor or connection, once it knows how to send these arrays."""
    for made, dumper in _DUMPERS.items():
        sender.adapters.register_dumper(made, dumper)
    return sender
