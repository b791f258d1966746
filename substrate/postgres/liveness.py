"""Whether processes of a server still live, asked without trusting a pid.

A pid in a file proves nothing: in containers pids repeat within seconds. Two signs are used instead, and a
data directory counts as free only if both say so:

* the lease, a file lock inherited by every process of the server. The kernel drops it with the last of them,
  and it holds across the pid namespaces of containers that share a volume;
* on Linux, any ``postgres`` process whose working directory is the data directory, which every process of a
  server enters. This sees servers that were started by hand.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from substrate.postgres.places import Places


def owners(data: Path) -> list[int]:
    """Pids of the server processes at work in ``data``; empty where there is no /proc."""
    if not _has_proc():
        return []
    return sorted(int(p.name) for p in Path("/proc").iterdir() if p.name.isdigit() and _works_in(p, data))


def lives(places: Places) -> bool:
    """Whether any process of the server is left."""
    return _lease_is_held(places.lease) or bool(owners(places.data))


def postmaster(places: Places) -> int | None:
    """The pid of the server proper; none when it is dead, even if processes of it are left."""
    announced = places.announced()
    if _has_proc():
        heads = [pid for pid in owners(places.data) if not _is_titled(pid)]
        if announced is not None and announced[0] in heads:
            return announced[0]
        return heads[0] if heads else None
    if announced is None or not _lease_is_held(places.lease) or not _exists(announced[0]):
        return None
    return announced[0]


def signal_orphans(places: Places, number: int) -> None:
    """Send a signal to every process that a dead server left; to none while the server proper lives."""
    if postmaster(places) is not None:
        return
    for pid in owners(places.data):
        with suppress(ProcessLookupError):
            os.kill(pid, number)


@contextmanager
def lease(places: Places) -> Iterator[int | None]:
    """Take the lease to hand its descriptor to a server; none while another server has it.

    Leaving closes our descriptor alone. The lock stays with the processes that inherited it.
    """
    fd = _open(places.lease)
    try:
        yield fd if _try(fd, fcntl.LOCK_EX) else None
    finally:
        os.close(fd)


@contextmanager
def supervision(places: Places) -> Iterator[bool]:
    """Try to become the one process that may start or stop the server; yields whether it worked."""
    fd = _open(places.lock)
    try:
        yield _try(fd, fcntl.LOCK_EX)
    finally:
        os.close(fd)


def _has_proc() -> bool:
    return Path("/proc/self/cwd").is_symlink()


def _is_titled(pid: int) -> bool:
    """Children rename themselves, "postgres: checkpointer"; the server proper keeps its command line."""
    try:
        line = Path("/proc", str(pid), "cmdline").read_bytes()
    except OSError:
        return True
    # A process about to vanish has no command line left, and is no server either.
    return not line or line.startswith(b"postgres: ")


def _works_in(process: Path, data: Path) -> bool:
    try:
        if os.readlink(process / "cwd") != str(data):
            return False
        # A shell standing in the directory is no reason to wait, and none to kill it.
        return os.path.basename(os.readlink(process / "exe")).startswith("postgres")
    except OSError:
        return False


def _lease_is_held(path: Path) -> bool:
    """Asks for a shared lock, so that two who ask do not take each other for a server."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        return not _try(fd, fcntl.LOCK_SH)
    finally:
        os.close(fd)


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def _try(fd: int, kind: int) -> bool:
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except ProcessLookupError:
        return False
    return True
