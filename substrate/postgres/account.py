"""Under which account the server's programs run.

Postgres refuses to run as root, and ``initdb`` refuses a uid without a passwd entry. Both are settled here
before anything is written.
"""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from substrate.errors import DatabaseUnavailable

_CANDIDATES = ("twoclocks", "postgres", "nobody")
_WAY_OUT = "or set TWOCLOCKS_DATABASE_URL to a server of your own"

# Nothing is inherited: PGDATA, PGPORT or PGOPTIONS of the caller must not steer a private server.
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}


@dataclass(frozen=True)
class Account:
    """A uid and gid able to run Postgres; ``dropped`` when it is not the calling process's own."""

    name: str
    uid: int
    gid: int
    dropped: bool

    def run(
        self,
        argv: Sequence[str | Path],
        *,
        cwd: Path = Path("/"),
        output: int = subprocess.PIPE,
        pass_fds: Sequence[int] = (),
        umask: int = 0o077,
    ) -> subprocess.CompletedProcess[str]:
        """Run a program under this account to its end; its output comes back as text unless redirected.

        ``cwd`` is entered before the switch, so it may lie below directories the account cannot traverse.
        Raises `OSError` where the program or the switch is not permitted.
        """
        return subprocess.run(
            argv,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=pass_fds,
            env=_ENVIRONMENT,
            text=True,
            errors="replace",
            check=False,
            umask=umask,
            user=self.uid if self.dropped else None,
            group=self.gid if self.dropped else None,
            extra_groups=[] if self.dropped else None,
        )

    def can_enter(self, directory: Path) -> bool:
        """Whether the account reaches this directory by its path."""
        if not self.dropped:
            return os.access(directory, os.X_OK)
        return self.run(["/bin/sh", "-c", 'cd -- "$1"', "sh", directory]).returncode == 0

    def own(self, directory: Path) -> None:
        """Make a directory of ours exist, belong to this account and be closed to everyone else.

        Raises `DatabaseUnavailable` for a symlink or for somebody else's directory.
        """
        directory.mkdir(mode=0o700, exist_ok=True)
        # By descriptor: a name below somebody's directory can turn into a link between two looks at it.
        try:
            fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            raise DatabaseUnavailable(f"{directory} cannot be used: {error.strerror}; remove it") from error
        try:
            owner = os.fstat(fd).st_uid
            if owner not in {self.uid, os.geteuid()}:
                raise DatabaseUnavailable(f"{directory} belongs to uid {owner}, not to {self.name}; remove it")
            if owner != self.uid:
                os.fchown(fd, self.uid, self.gid)
            os.fchmod(fd, 0o700)
        finally:
            os.close(fd)

    def touch(self, file: Path) -> None:
        """Make a file of this account's exist; its content is kept."""
        fd = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            if self.dropped:
                os.fchown(fd, self.uid, self.gid)
        finally:
            os.close(fd)

    def write(self, path: Path, text: str) -> None:
        """Put a file of this account's at ``path``, whole or not at all; a link there is replaced."""
        partial = path.with_name(f".{path.name}.{os.getpid()}")
        partial.unlink(missing_ok=True)
        fd = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(fd, "w", encoding="utf-8") as file:
            if self.dropped:
                os.fchown(fd, self.uid, self.gid)
            file.write(text)
        partial.replace(path)


def choose(data: Path) -> Account:
    """The account for the cluster at ``data``, which need not exist yet.

    Root keeps to the owner of an existing cluster, else takes the first of twoclocks, postgres and nobody.
    Raises `DatabaseUnavailable` when no account can serve.
    """
    owner = data.lstat().st_uid if os.path.lexists(data) else None
    own_uid = os.geteuid()
    if own_uid != 0:
        entry = _passwd(own_uid)
        if owner not in {None, own_uid}:
            raise DatabaseUnavailable(f"{data} belongs to uid {owner}; this process runs as {entry.pw_name}")
        return Account(entry.pw_name, own_uid, entry.pw_gid, dropped=False)
    if owner == 0:
        raise DatabaseUnavailable(
            f"{data} belongs to root, as whom Postgres refuses to run: chown -R it to the account that shall"
        )
    entry = _passwd(owner) if owner is not None else _first_candidate()
    account = Account(entry.pw_name, entry.pw_uid, entry.pw_gid, dropped=True)
    try:
        account.can_enter(Path("/"))
    except PermissionError:
        raise DatabaseUnavailable(
            f"root may not become {entry.pw_name} here (capability SETUID): run as a plain user, {_WAY_OUT}"
        ) from None
    return account


def _passwd(uid: int) -> pwd.struct_passwd:
    try:
        return pwd.getpwuid(uid)
    except KeyError:
        raise DatabaseUnavailable(
            f"uid {uid} has no passwd entry, which Postgres needs: add a line to /etc/passwd, {_WAY_OUT}",
            uid=uid,
        ) from None


def _first_candidate() -> pwd.struct_passwd:
    for name in _CANDIDATES:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise DatabaseUnavailable(
        f"Postgres refuses to run as root and none of the accounts {', '.join(_CANDIDATES)} exists: "
        f"add one, run as an ordinary user, {_WAY_OUT}"
    )
