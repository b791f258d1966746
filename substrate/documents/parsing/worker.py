"""The child that parses: no network, bounded memory, bounded processor time, one document after the other."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import resource
import socket

from substrate.documents.parsing import wire
from substrate.documents.parsing.limits import Limits
from substrate.documents.parsing.parse import parse
from substrate.errors import DocumentRejected

_NEW_USER, _NEW_NET = 0x10000000, 0x40000000


def serve(descriptor: int) -> None:
    """Answer requests on an inherited socket until it closes.

    A request is two parts: JSON (file name, media type, limits) and the bytes. An answer is two parts:
    ``ok`` with the packed document, or ``no`` with the JSON of a refusal.
    """
    leave_network()
    channel = socket.socket(fileno=descriptor)
    with contextlib.suppress(EOFError, ConnectionError):
        while True:
            asked = json.loads(wire.receive(channel))
            limits = Limits(**asked["limits"])
            _bound(limits)
            wire.send(channel, *_answer(wire.receive(channel), asked, limits))
            gc.collect()


def leave_network() -> bool:
    """Move into a network namespace without interfaces, where the kernel lets an ordinary user do so.

    The readers open no connection by themselves; this is the second lock.
    """
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        return bool(libc.unshare(_NEW_USER | _NEW_NET) == 0)
    except (OSError, AttributeError):
        return False


def _bound(limits: Limits) -> None:
    """Set this document's share: memory for the process, processor time from now on.

    Pandoc inherits all of it, each process counting its own.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime) + limits.cpu_seconds + 1
    _lower(resource.RLIMIT_AS, limits.address_space)
    _lower(resource.RLIMIT_CPU, seconds)
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, limits.zip_bytes)


def _lower(what: int, value: int) -> None:
    hard = resource.getrlimit(what)[1]
    resource.setrlimit(what, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))


def _answer(content: bytes, asked: dict[str, str], limits: Limits) -> tuple[bytes, bytes]:
    try:
        document = parse(content, asked["filename"], media_type=asked["media_type"], limits=limits)
        return b"ok", wire.pack(document)
    except DocumentRejected as refusal:
        return b"no", json.dumps({"code": refusal.code, "message": str(refusal)}).encode()
    except MemoryError:
        message = f"{asked['filename']}: needs more memory than one document may use; split it"
        return b"no", json.dumps({"code": "out_of_memory", "message": message}).encode()
