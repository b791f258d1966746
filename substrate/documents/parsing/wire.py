"""How a parsed document crosses from the worker: JSON, so that a captured worker cannot hand back code."""

from __future__ import annotations

import json
import socket
import struct
from datetime import datetime
from typing import Any

from substrate.documents.blocks import Block, DocumentDate, ParsedDocument

_HEAD = struct.Struct("!I")
_LARGEST = 1 << 30


def pack(document: ParsedDocument) -> bytes:
    """One parsed document as JSON."""
    date = document.date
    return json.dumps(
        {
            "media_type": document.media_type,
            "title": document.title,
            "date": date and [date.at.isoformat(), date.precision, date.source, date.words],
            "blocks": [[b.kind, b.text, b.level, b.rows, b.header, b.caption, dict(b.anchor)] for b in document.blocks],
        }
    ).encode()


def unpack(packed: bytes) -> ParsedDocument:
    """The inverse of `pack`."""
    value: Any = json.loads(packed)
    date = value["date"]
    return ParsedDocument(
        media_type=value["media_type"],
        title=value["title"],
        blocks=tuple(
            Block(kind, text, level, tuple(map(tuple, rows)), tuple(header), caption, anchor)
            for kind, text, level, rows, header, caption, anchor in value["blocks"]
        ),
        date=date and DocumentDate(datetime.fromisoformat(date[0]), *date[1:]),
    )


def send(channel: socket.socket, *parts: bytes) -> None:
    """A message of one or more parts, each with its length before it. Waits as the timeout allows."""
    for part in parts:
        channel.sendall(_HEAD.pack(len(part)))
        channel.sendall(part)


def receive(channel: socket.socket) -> bytes:
    """The next part. Raises EOFError when the other side is gone."""
    (length,) = _HEAD.unpack(_exactly(channel, _HEAD.size))
    if length > _LARGEST:
        raise EOFError("a reply larger than any document")
    return _exactly(channel, length)


def _exactly(channel: socket.socket, length: int) -> bytes:
    held = bytearray()
    while len(held) < length:
        piece = channel.recv(min(length - len(held), 1 << 20))
        if not piece:
            raise EOFError("the other side closed the channel")
        held += piece
    return bytes(held)
