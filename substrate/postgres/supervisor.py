"""`ensure`, `stop` and `status`: the life of one server, by whichever process asks first.

Whether a server is there is asked of its socket, never of a pid. Starting is done by one process at a time;
the others wait for the socket to answer. A server that says it is starting up is waited for without limit,
because recovery after a crash takes as long as it takes; one that dies is reported at once.
"""

from __future__ import annotations

import logging
import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from substrate.errors import DatabaseUnavailable
from substrate.postgres.account import Account, choose
from substrate.postgres.binaries import usable_by
from substrate.postgres.cluster import create_database, failure, initialise, launch, log_tail
from substrate.postgres.liveness import lease, lives, owners, postmaster, signal_orphans, supervision
from substrate.postgres.places import PORT, SUPERUSER, Places, clear_socket, uri

DATABASES = ("twoclocks", "twoclocks_dagster")
"""Created by `ensure`; it returns the URI of the first."""

_ORPHANS_ASKED_S = 5.0
_ORPHANS_KILLED_S = 10.0
_PAUSE_S = 0.03

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Status:
    """What `status` saw."""

    state: Literal["absent", "stopped", "starting", "running", "orphaned"]
    """``starting`` also while it shuts down; ``orphaned``: the server was killed, its children are left."""
    pid: int | None
    url: str | None
    log: Path


def ensure(root: Path, *, timeout_s: float = 60.0) -> str:
    """Make sure a server runs over ``root`` and has our databases; return the URI of ``twoclocks``.

    ``timeout_s`` bounds the wait for a server that does not answer at all. The superuser of the returned URI
    needs no password, because only the server's own account and root reach the socket.

    Raises `DatabaseUnavailable` with ``reason`` and ``log_tail`` among its facts where the server spoke.
    """
    places = Places.of(root)
    try:
        return _attached(places) or _started(places, timeout_s)
    except OSError as error:
        raise DatabaseUnavailable(f"the database below {places.root}: {error}", reason=str(error)) from error


def stop(root: Path, *, timeout_s: float = 60.0) -> bool:
    """Stop the server over ``root`` after its current transactions are rolled back; false if none ran.

    Raises `DatabaseUnavailable` if it outlives ``timeout_s`` or belongs to somebody else.
    """
    places = Places.of(root)
    try:
        announced = places.announced()
        stopped = _stopped(places, time.monotonic() + timeout_s)
        _clear_socket_dirs(places, announced)
        return stopped
    except OSError as error:
        raise DatabaseUnavailable(f"cannot stop the database below {places.root}: {error}") from error


def status(root: Path) -> Status:
    """Look at ``root`` without changing anything there."""
    places = Places.of(root)
    try:
        pid, announced, ping = postmaster(places), places.announced(), _ping(places)
        url = uri(announced[1], DATABASES[0]) if ping == "ok" and announced else None
        return Status(_state(places, pid, ping), pid, url, places.log)
    except OSError as error:
        raise DatabaseUnavailable(f"cannot look at the database below {places.root}: {error}") from error


def _state(
    places: Places, pid: int | None, ping: str
) -> Literal["absent", "stopped", "starting", "running", "orphaned"]:
    if ping == "ok":
        return "running"
    if ping == "starting" or pid is not None:
        return "starting"
    if lives(places):
        return "orphaned"
    return "stopped" if (places.data / "PG_VERSION").exists() else "absent"


class _Patience:
    """A deadline that moves on while the server answers, be it that it is starting up."""

    def __init__(self, places: Places, timeout_s: float) -> None:
        self._places = places
        self._timeout_s = timeout_s
        self._deadline = time.monotonic() + timeout_s

    def pause(self, waiting_for: str) -> None:
        """Sleep a little; raise `DatabaseUnavailable` if that has been done for too long."""
        if _ping(self._places) != "silent":
            self._deadline = time.monotonic() + self._timeout_s
        elif time.monotonic() > self._deadline:
            raise DatabaseUnavailable(
                f"gave up after {self._timeout_s:g} s waiting for {waiting_for} (log: {self._places.log})",
                reason=waiting_for,
                log=str(self._places.log),
                log_tail=log_tail(self._places),
            )
        time.sleep(_PAUSE_S)


def _attached(places: Places) -> str | None:
    """The URI, if a server answers and lacks nothing."""
    announced = places.announced()
    if announced is None or _ping(places) != "ok":
        return None
    if any(_is_missing(announced[1], name) for name in DATABASES):
        return None
    return uri(announced[1], DATABASES[0])


def _started(places: Places, timeout_s: float) -> str:
    account = choose(places.data)
    places.make(account)
    programs = usable_by(account, places.root)
    patience = _Patience(places, timeout_s)
    while True:
        with supervision(places) as alone:
            if alone:
                return _brought_up(places, account, programs, patience)
        patience.pause("another process that is starting the server")


def _brought_up(places: Places, account: Account, programs: Path, patience: _Patience) -> str:
    """Start the server if no process of one is left, wait until it answers, complete its databases."""
    mark: int | None = None
    orphaned_at: float | None = None
    while _ping(places) != "ok":
        waiting_for = "the server to answer on its socket"
        if not lives(places):
            if mark is not None:
                raise failure(places, mark)
            mark = _launched(places, account, programs)
        elif mark is None and postmaster(places) is None:
            waiting_for = "the last processes of a killed server to end"
            orphaned_at = orphaned_at or time.monotonic()
            _press_orphans(places, time.monotonic() - orphaned_at)
        patience.pause(waiting_for)
    return _completed(places, account, programs)


def _launched(places: Places, account: Account, programs: Path) -> int | None:
    with lease(places) as fd:
        if fd is None or owners(places.data):
            return None
        initialise(places, account, programs)
        _log.info("starting Postgres over %s as %s", places.data, account.name)
        return launch(places, account, programs, fd)


def _press_orphans(places: Places, waited_s: float) -> None:
    """They end by themselves within a moment unless they compute; then they are told, and in the end made to.

    Their shared memory has no server any more, so nothing they could still write would be kept.
    """
    if waited_s > _ORPHANS_KILLED_S:
        signal_orphans(places, signal.SIGKILL)
    elif waited_s > _ORPHANS_ASKED_S:
        signal_orphans(places, signal.SIGQUIT)


def _completed(places: Places, account: Account, programs: Path) -> str:
    announced = places.announced()
    if announced is None:
        raise DatabaseUnavailable("the server stopped again while its databases were looked at")
    for name in DATABASES:
        if _is_missing(announced[1], name):
            create_database(announced[1], account, programs, name)
    return uri(announced[1], DATABASES[0])


def _stopped(places: Places, deadline: float) -> bool:
    pid = postmaster(places)
    if pid is None and not lives(places):
        return False
    if pid is not None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGINT)
    while not _ended(places, pid):
        signal_orphans(places, signal.SIGQUIT)
        if time.monotonic() > deadline:
            raise DatabaseUnavailable(f"the server over {places.data} does not end", log_tail=log_tail(places))
        time.sleep(_PAUSE_S)
    return True


def _ended(places: Places, pid: int | None) -> bool:
    """Whether the server ``pid`` is gone; one that somebody else has started since is not the one to stop."""
    now = postmaster(places)
    return now != pid if now is not None else not lives(places)


def _clear_socket_dirs(places: Places, announced: tuple[int, Path] | None) -> None:
    """Remove what lies outside the root, once no server is left to use it."""
    used = [announced[1]] if announced is not None and announced[1] != places.run else []
    ours = [path for path in {*used, *places.short_dirs()} if places.is_ours(path)]
    if not ours:
        return
    with supervision(places) as alone:
        if alone and not lives(places):
            for path in ours:
                clear_socket(path)
                with suppress(OSError):
                    path.rmdir()


def _ping(places: Places) -> Literal["ok", "starting", "silent"]:
    """What the server's socket answers. A full or refusing server is ``ok``: it runs."""
    announced = places.announced()
    if announced is None:
        return "silent"
    from psycopg import pq
    from psycopg.conninfo import make_conninfo

    target = make_conninfo(host=str(announced[1]), port=PORT, user=SUPERUSER, dbname=SUPERUSER, connect_timeout=5)
    answer = pq.PGconn.ping(target.encode())
    if answer == pq.Ping.OK:
        return "ok"
    return "starting" if answer == pq.Ping.REJECT else "silent"


def _is_missing(socket_dir: Path, database: str) -> bool:
    import psycopg

    try:
        psycopg.connect(uri(socket_dir, database), connect_timeout=5).close()
    except psycopg.OperationalError as error:
        # libpq passes on no SQLSTATE for a refused connection; the server is told to speak English.
        if f'database "{database}" does not exist' in str(error):
            return True
        raise DatabaseUnavailable(f"database {database}: {error}", reason=str(error)) from error
    return False
