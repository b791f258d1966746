"""Applies ``migrations/*.sql`` in order, forward only, under an advisory lock, and records each file's hash.

Refuses gaps, duplicate numbers, a file that changed after it was applied, and a database that is ahead of the code.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.rows import DictRow

from substrate.db import APP_ROLE, READ_BASES, WRITE_BASES, connect, unusable
from substrate.errors import DatabaseUnavailable, Unavailable

_FILE = re.compile(r"^(\d{4})_([a-z0-9]+(?:_[a-z0-9]+)*)\.sql$")
_LOCK = 0x7470636C  # any constant of ours: the key of the advisory lock
_TABLE = """
create table if not exists schema_migrations (
    number      integer primary key,
    name        text not null,
    sha256      text not null,
    applied_at  timestamptz not null default clock_timestamp()
)"""


@dataclass(frozen=True, slots=True)
class Migration:
    """One file: its number, the property it makes true, and its text."""

    number: int
    name: str
    text: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


def migrations_dir() -> Path:
    """The folder in a checkout, else the copy inside the installed package."""
    here = Path(__file__).resolve().parent
    for candidate in (here.parent / "migrations", here / "_migrations"):
        if candidate.is_dir():
            return candidate
    raise Unavailable("the migrations are not part of this installation")


def load(directory: Path | None = None) -> list[Migration]:
    """Every migration in order. Raises `Unavailable` for a bad name, a gap or a duplicate."""
    found = []
    for path in sorted((directory or migrations_dir()).glob("*.sql")):
        match = _FILE.match(path.name)
        if not match:
            raise Unavailable(f"migration {path.name}: the name must be NNNN_a_sentence.sql")
        found.append(Migration(int(match[1]), match[2], path.read_text(encoding="utf-8")))
    numbers = [m.number for m in found]
    if numbers != list(range(1, len(found) + 1)):
        raise Unavailable(f"migrations must be numbered 1 to {len(found)} without gaps: {numbers}")
    return found


def migrate(conninfo: str, directory: Path | None = None, *, login: str | None = None) -> list[str]:
    """Bring the database up to the code; returns the names newly applied. One transaction per file.

    `login`, if it is another than the one migrating, may then become the application's role. Raises
    `DatabaseUnavailable` where the database cannot be reached or may not be let to `login`.
    """
    wanted = load(directory)
    with connect(conninfo, "twoclocks-migrate") as connection:
        try:
            return _migrate(connection, wanted, login)
        except psycopg.errors.InsufficientPrivilege as error:
            told = f"{unusable(conninfo, error)}; TWOCLOCKS_ADMIN_DATABASE_URL names a login that may migrate and grant"
            raise DatabaseUnavailable(told) from None


def _migrate(connection: psycopg.Connection[DictRow], wanted: list[Migration], login: str | None) -> list[str]:
    applied = []
    connection.execute("select pg_advisory_lock(%s)", (_LOCK,))
    if not _is_current(connection, wanted):
        connection.execute(_TABLE)
        done = _applied(connection)
        for migration in wanted:
            if migration.number not in done:
                _apply(connection, migration)
                applied.append(migration.name)
    if login is not None and login != connection.info.user:
        _let_in(connection, login)
    connection.execute("select pg_advisory_unlock(%s)", (_LOCK,))
    return applied


def _let_in(connection: psycopg.Connection[DictRow], login: str) -> None:
    held = connection.execute("select pg_has_role(%s, %s, 'set') as held", (login, APP_ROLE)).fetchone()
    if not held or not held["held"]:
        connection.execute(sql.SQL("grant {} to {}").format(sql.Identifier(APP_ROLE), sql.Identifier(login)))


def _applied(connection: psycopg.Connection[DictRow]) -> dict[int, str]:
    rows = connection.execute("select number, sha256 from schema_migrations").fetchall()
    return {row["number"]: row["sha256"] for row in rows}


def _is_current(connection: psycopg.Connection[DictRow], wanted: list[Migration]) -> bool:
    exists = connection.execute("select to_regclass('schema_migrations') is not null as there").fetchone()
    if not exists or not exists["there"]:
        return False
    done = _applied(connection)
    for migration in wanted:
        if done.get(migration.number, migration.sha256) != migration.sha256:
            raise Unavailable(f"migration {migration.number:04} was changed after it was applied to this database")
    if ahead := set(done) - {m.number for m in wanted}:
        raise Unavailable(f"the database has migrations {sorted(ahead)} that this version does not know")
    return set(done) == {m.number for m in wanted}


def _reach_every_base(connection: psycopg.Connection[DictRow]) -> None:
    # An owner who is no superuser meets the walls as well, and a migration of data would change no row and not say so.
    walled = connection.execute("select to_regprocedure('every_base()') is not null as is").fetchone()
    if walled and walled["is"]:
        for setting in (READ_BASES, WRITE_BASES):
            connection.execute("select set_config(%s, every_base(), true)", (setting,))


def _apply(connection: psycopg.Connection[DictRow], migration: Migration) -> None:
    with connection.transaction():
        _reach_every_base(connection)
        connection.execute(migration.text.encode())
        connection.execute(
            "insert into schema_migrations (number, name, sha256) values (%s, %s, %s)",
            (migration.number, migration.name, migration.sha256),
        )
