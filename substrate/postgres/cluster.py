"""Making a cluster, launching its server, and reading why one died.

Sizes are for a product that is to live in 2 GB with everything it runs.
"""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

from substrate.errors import DatabaseUnavailable
from substrate.postgres.account import Account
from substrate.postgres.places import PORT, SUPERUSER, Places, clear_socket

_SETTINGS = {
    "max_connections": "200",
    "fsync": "on",
    "shared_buffers": "128MB",
    "work_mem": "8MB",
    "maintenance_work_mem": "128MB",
    "autovacuum_work_mem": "64MB",
    # A fresh base fills faster than a minute; until it is analysed, plans know nothing but the base's id.
    "autovacuum_naptime": "10s",
    # A container's /dev/shm has 64 MB by default; a parallel index build would want more there.
    "max_parallel_maintenance_workers": "0",
    "max_wal_size": "1GB",
    "wal_compression": "on",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] ",
    "log_lock_waits": "on",
}

_ROTATE_BYTES = 8 * 1024 * 1024


def initialise(places: Places, account: Account, programs: Path) -> None:
    """Make the cluster unless it is there. It appears whole or not at all.

    Raises `DatabaseUnavailable` if ``initdb`` fails or the data directory holds something else.
    """
    if (places.data / "PG_VERSION").exists():
        return
    if places.data.exists():
        if any(places.data.iterdir()):
            raise DatabaseUnavailable(f"{places.data} is neither empty nor a Postgres cluster; it is left alone")
        places.data.rmdir()
    if places.fresh.exists():
        shutil.rmtree(places.fresh)
    account.own(places.fresh)
    options = ["--encoding=UTF8", "--locale-provider=builtin", "--locale=C.UTF-8", "--no-instructions"]
    access = ["--username", SUPERUSER, "--auth-local=trust", "--auth-host=reject"]
    where = ["--pgdata", str(places.as_seen_by(account, places.fresh))]
    made = account.run([programs / "initdb", *where, *access, *options], cwd=places.fresh)
    if made.returncode != 0:
        raise DatabaseUnavailable(f"initdb failed: {_reason(made.stdout)}", log_tail=made.stdout[-2000:])
    with (places.fresh / "postgresql.conf").open("a", encoding="utf-8") as conf:
        conf.write("\ninclude_if_exists = 'twoclocks.conf'\n")
    places.fresh.rename(places.data)


def launch(places: Places, account: Account, programs: Path, lease_fd: int) -> int:
    """Start the server and return at once; what it says from now on begins at the returned byte of its log.

    The caller holds the lease, which proves that no process of an earlier server is left: its pid file and
    socket are stale whatever pid they name, and are removed.
    """
    socket_dir = places.socket_dir_for(account)
    places.pid_file.unlink(missing_ok=True)
    clear_socket(socket_dir)
    account.write(places.data / "twoclocks.conf", _configuration())
    # On the command line, above every file: where it listens, and the language we read.
    options = f"-k {shlex.quote(str(socket_dir))} -p {PORT} -c listen_addresses='' -c lc_messages=C"
    options += " -c unix_socket_permissions=0700 -c logging_collector=off -c log_destination=stderr"
    where = places.as_seen_by(account, places.data)
    _rotate(places.log)
    account.touch(places.log)
    log_fd = os.open(places.log, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        mark = os.fstat(log_fd).st_size
        account.run(
            [programs / "pg_ctl", "-D", where, "-s", "-W", "-o", options, "start"],
            cwd=places.data,
            output=log_fd,
            pass_fds=(lease_fd,),
        )
    finally:
        os.close(log_fd)
    return mark


def create_database(socket_dir: Path, account: Account, programs: Path, name: str) -> None:
    """Create a database. Raises `DatabaseUnavailable` with what ``createdb`` said."""
    where = ["--host", str(socket_dir), "--port", str(PORT), "--username", SUPERUSER]
    made = account.run([programs / "createdb", *where, name])
    if made.returncode != 0:
        raise DatabaseUnavailable(f"cannot create database {name}: {_reason(made.stdout)}")


def failure(places: Places, mark: int) -> DatabaseUnavailable:
    """The error for a server that died while starting, with its own words since ``mark``."""
    tail = log_tail(places, mark)
    return DatabaseUnavailable(
        f"Postgres did not start: {_reason(tail)} (log: {places.log})",
        reason=_reason(tail),
        log=str(places.log),
        log_tail=tail,
    )


def log_tail(places: Places, mark: int = 0) -> str:
    """The end of the server's log, at most 2000 bytes and nothing before ``mark``; empty without a log."""
    try:
        with places.log.open("rb") as log:
            log.seek(max(mark, os.fstat(log.fileno()).st_size - 2000))
            return log.read().decode(errors="replace")
    except FileNotFoundError:
        return ""


def _configuration() -> str:
    heading = "# Written at every start. Own settings: ALTER SYSTEM, or postgresql.conf after the include.\n"
    return heading + "".join(f"{name} = '{value}'\n" for name, value in _SETTINGS.items())


def _rotate(log: Path) -> None:
    if log.exists() and log.stat().st_size > _ROTATE_BYTES:
        log.replace(log.with_name(f"{log.name}.1"))


def _reason(said: str) -> str:
    """The lines that matter: a FATAL one with the line before it, which names the setting; else the last."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    fatal = [i for i, line in enumerate(lines) if any(w in line for w in ("FATAL:", "PANIC:", "error:"))]
    if not fatal:
        return lines[-1] if lines else "it said nothing"
    return " / ".join(lines[max(0, fatal[0] - 1) : fatal[0] + 1])
