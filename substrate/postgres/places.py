"""Where a server's parts lie, and where its socket is.

Two paths may be unfit for use as they stand, and neither is a reason to fail:

* A socket address holds 107 bytes. A longer one, or one the account cannot reach, or one with a comma (which
  libpq reads as a list of hosts), moves to ``twoclocks-<hash of the root>`` in the directory for temporary
  files: 0700, checked for its owner, never shared.
* As root with a root below a 0700 directory, the account that runs the server cannot walk to its own data.
  It need not: it is started inside the data directory and knows it as ``/proc/self/cwd``. No permission is
  changed and no data is moved.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from substrate.errors import DatabaseUnavailable
from substrate.postgres.account import Account

PORT = 5432
"""Only a part of the socket's name; no TCP port is opened."""

SUPERUSER = "postgres"

_SOCKET = f".s.PGSQL.{PORT}"

_LONGEST_SOCKET = 107
_HERE = Path("/proc/self/cwd")


@dataclass(frozen=True)
class Places:
    """The paths below one root (absolute, links resolved)."""

    root: Path

    @classmethod
    def of(cls, root: Path) -> Places:
        """The places of ``root``, which need not exist."""
        return cls(Path(root).resolve())

    @property
    def data(self) -> Path:
        """The cluster."""
        return self.root / "data"

    @property
    def fresh(self) -> Path:
        """The cluster while it is being made; renamed to `data` when whole."""
        return self.root / "data.new"

    @property
    def run(self) -> Path:
        """The socket's directory, where its path can serve."""
        return self.root / "run"

    @property
    def log(self) -> Path:
        """What the server says."""
        return self.root / "log" / "server.log"

    @property
    def lock(self) -> Path:
        """Locked by whoever is starting or stopping the server."""
        return self.root / "supervisor.lock"

    @property
    def lease(self) -> Path:
        """Locked by the server's processes for as long as one lives."""
        return self.root / "server.alive"

    @property
    def pid_file(self) -> Path:
        """Written by the server: its pid on line 1, its socket's directory on line 5."""
        return self.data / "postmaster.pid"

    @property
    def short_name(self) -> str:
        """The name of the socket's directory away from the root."""
        return "twoclocks-" + hashlib.sha256(os.fsencode(self.root)).hexdigest()[:16]

    def short_dirs(self) -> list[Path]:
        """Where the socket's directory may be away from the root, in order of preference."""
        bases = [Path(tempfile.gettempdir()).resolve(), Path("/tmp")]  # noqa: S108
        return [base / self.short_name for base in bases]

    def make(self, account: Account) -> None:
        """Create root, log directory and lock files. Others may pass through the root, not look in."""
        self.root.parent.mkdir(parents=True, exist_ok=True)
        self.root.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, exist_ok=True)
        account.own(self.log.parent)
        for file in (self.lock, self.lease, self.log):
            account.touch(file)

    def socket_dir_for(self, account: Account) -> Path:
        """Make and return the directory for a new server's socket."""
        if _fits(self.run) and account.can_enter(self.root):
            account.own(self.run)
            return self.run
        for short in self.short_dirs():
            if _fits(short) and short.parent.is_dir() and account.can_enter(short.parent):
                account.own(short)
                return short
        raise DatabaseUnavailable(
            f"no directory for the socket that {account.name} reaches with a path of at most "
            f"{_LONGEST_SOCKET} bytes: point TWOCLOCKS_DATA_DIR or TMPDIR to a shorter or more open one"
        )

    def announced(self) -> tuple[int, Path] | None:
        """Pid and socket directory from the pid file; none if absent, half written or not about this root.

        The pid may be dead or another program's by now. A copied or renamed root still carries the file of
        the original, hence the comparison; the owner counts because temporary directories are everybody's.
        """
        try:
            lines = self.pid_file.read_text(errors="replace").splitlines()
            pid, socket_dir = int(lines[0]), Path(lines[4])
            here = socket_dir == self.run or socket_dir.name == self.short_name
        except (OSError, ValueError, IndexError):
            return None
        return (pid, socket_dir) if here and self.is_ours(socket_dir) else None

    def is_ours(self, socket_dir: Path) -> bool:
        """Whether this is a directory, not a link to one, of the account that owns the cluster."""
        try:
            found = socket_dir.lstat()
            return stat.S_ISDIR(found.st_mode) and found.st_uid == self.data.stat().st_uid
        except FileNotFoundError:
            return False

    def as_seen_by(self, account: Account, directory: Path) -> Path:
        """The name for ``directory`` in a program that ``account`` runs with it as its working directory."""
        if account.can_enter(directory):
            return directory
        if not sys.platform.startswith("linux"):
            raise DatabaseUnavailable(
                f"{account.name} cannot reach {directory}: outside Linux the data must lie where it can; "
                "point TWOCLOCKS_DATA_DIR there or do not run as root"
            )
        return _HERE


def clear_socket(socket_dir: Path) -> None:
    """Remove the socket of a server that is dead, with the lock file in which it noted its pid."""
    for name in (_SOCKET, f"{_SOCKET}.lock"):
        (socket_dir / name).unlink(missing_ok=True)


def uri(socket_dir: Path, database: str) -> str:
    """A libpq URI, which SQLAlchemy reads as well once its scheme names a driver."""
    return f"postgresql://{SUPERUSER}@/{database}?host={quote(str(socket_dir))}&port={PORT}"


def _fits(socket_dir: Path) -> bool:
    name = str(socket_dir)
    return len(os.fsencode(socket_dir / _SOCKET)) <= _LONGEST_SOCKET and "," not in name and name.isprintable()
