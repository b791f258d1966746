"""The only module that opens the product's database connections.

A connection string holds a password, and both libpq and tracebacks repeat what they are given. Strings are therefore
read here first, and every failure to connect becomes a `DatabaseUnavailable` that names the place and the reason.

Two kinds of connection are two types: `ReadConnection` (one read-only snapshot, so that a head and the rows under it
agree) and `WriteConnection` (READ COMMITTED, as the ledger's head lock needs). Nobody but these context managers
commits. Both run as the role ``twoclocks_app``, which may not rewrite the ledger.

Each says which bases it reaches, and the database's row-level security holds it to that: what belongs to another base
is not there, and cannot be written. The list lives as long as its transaction, so that neither a pool here nor a
pooler of transactions between here and the server can hand it on; where there is no list there are no rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from typing import Final, Literal, NewType
from uuid import UUID

import psycopg
from psycopg import Connection
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import DictRow, dict_row
from psycopg.types.json import set_json_loads
from psycopg_pool import ConnectionPool, PoolTimeout
from pydantic import SecretStr
from pydantic_core import from_json

from substrate import calls
from substrate.errors import DatabaseUnavailable
from substrate.settings import Settings

ReadConnection = NewType("ReadConnection", Connection[DictRow])
WriteConnection = NewType("WriteConnection", Connection[DictRow])
AnyConnection = ReadConnection | WriteConnection
APP_ROLE = "twoclocks_app"
CONNECT_SECONDS = 10
"""How long one attempt to connect may take where the string names no ``connect_timeout``."""


class _Every(Enum):
    BASE = "every base"


EVERY_BASE: Final = _Every.BASE
"""For an operator: the command line, orchestration, upkeep. Nothing that answers a request may reach this far."""
NO_BASE: Final[tuple[UUID, ...]] = ()
"""For what belongs to no base, such as people and tokens, and for a transaction that makes a base."""
Reach = UUID | Collection[UUID] | Literal[_Every.BASE]
"""The bases that a transaction reaches."""
# A plan made once per connection and kept costs a short read a quarter of one planned for each question (measured);
# what reads look up is therefore written so that it needs no knowledge of the values.
_SNAPSHOT = "begin isolation level repeatable read read only; set local plan_cache_mode = force_generic_plan"
# The head lock needs each statement to see what committed before it.
_CHANGE = "begin isolation level read committed"
READ_BASES, WRITE_BASES = "twoclocks.read_bases", "twoclocks.write_bases"
"""The settings that the walls go by; see the migration that builds them."""


def _reaching(begin: str, reach: Reach, *settings: str) -> bytes:
    """One message that begins a transaction and says what it reaches, so that the walls cost no trip of their own."""
    if reach is EVERY_BASE:
        says = [f"select set_config('{name}', every_base(), true)" for name in settings]
    else:
        bases = [reach] if isinstance(reach, UUID) else reach
        listed = "{" + ",".join(str(UUID(bytes=base.bytes)) for base in bases) + "}"
        says = [f"set local {name} = '{listed}'" for name in settings]
    return "; ".join([begin, *says]).encode()


def _configure(connection: Connection[DictRow]) -> None:
    # The login may be the owner; the session gives its rights up before the first statement of the product.
    connection.execute(f"set role {APP_ROLE}")
    # A database may give its sessions other styles than those that values are read and hashed in.
    connection.execute("set timezone to 'UTC'; set datestyle to 'ISO, YMD'; set extra_float_digits to 1")
    set_json_loads(from_json, connection)  # the standard reader took a quarter of a read's time
    connection.execute("set jit = off")  # compiling a query of milliseconds takes tens of them


def readable(url: SecretStr, variable: str) -> str:
    """The connection string of a setting. Raises `DatabaseUnavailable` that names `variable` if it is none."""
    parts_of(url.get_secret_value(), variable)
    return url.get_secret_value()


def parts_of(conninfo: str, name: str = "the connection string") -> dict[str, str]:
    """What a connection string says, by libpq's keywords. Raises `DatabaseUnavailable` that calls it `name`."""
    try:
        parts = {key: str(value) for key, value in conninfo_to_dict(conninfo).items() if value is not None}
    except (psycopg.Error, ValueError):
        raise DatabaseUnavailable(
            f"{name} is no connection string: postgresql://user:password@host:port/name"
        ) from None
    # An @ or / that is not escaped ends the login early: libpq then takes part of the password for a host or a name.
    scheme, _, rest = conninfo.partition("://")
    uri = scheme in ("postgres", "postgresql")
    if uri and ("@" in rest.split("?")[0].partition("/")[2] or "@" in parts.get("host", "")):
        raise DatabaseUnavailable(f"{name} is no connection string: write @ and / of a password as %40 and %2F")
    return parts


def connect(conninfo: str, application_name: str) -> Connection[DictRow]:
    """One connection outside the pool, as the login itself, in autocommit. Raises `DatabaseUnavailable`."""
    wait = int(parts_of(conninfo).get("connect_timeout") or CONNECT_SECONDS)
    try:
        return Connection[DictRow].connect(
            conninfo,
            autocommit=True,
            row_factory=dict_row,
            application_name=application_name,
            connect_timeout=wait,
        )
    except psycopg.Error as error:
        raise unusable(conninfo, error) from None


def unusable(conninfo: str, error: psycopg.Error) -> DatabaseUnavailable:
    """`error` as one line with the host, port and name of the database, and nothing of the login."""
    parts = parts_of(conninfo)
    host, port = parts.get("host") or parts.get("hostaddr", "the default host"), parts.get("port", "5432")
    said = (error.diag.message_primary or str(error)).strip().rpartition(" failed: ")[2].split("\n")[0]
    secret = parts.get("password")
    reason = "" if secret and secret in said else f": {said}"
    name = parts.get("dbname", "the default database")
    return DatabaseUnavailable(f"database {name} on {host}, port {port}, cannot be used{reason}")


def check(conninfo: str, application_name: str = "twoclocks") -> None:
    """Connect once as the pool does. Raises `DatabaseUnavailable` with the reason, which a pool never tells."""
    with connect(conninfo, application_name) as connection:
        try:
            _configure(connection)
        except psycopg.Error as error:
            raise unusable(conninfo, error) from None


class Database:
    """A pool over one database. ``application_name`` tells processes apart in ``pg_stat_activity``.

    Whoever waits longer than ``timeout_s`` seconds for a connection gets `DatabaseUnavailable` with the reason.
    """

    def __init__(
        self, conninfo: str, *, pool_size: int = 8, application_name: str = "twoclocks", timeout_s: float = 30
    ) -> None:
        parts_of(conninfo)
        self.conninfo = conninfo
        self._pool = ConnectionPool(
            conninfo,
            connection_class=Connection[DictRow],
            # Transactions are begun by hand, in one message with what they reach.
            kwargs={"row_factory": dict_row, "application_name": application_name, "autocommit": True},
            min_size=0,
            max_size=pool_size,
            configure=_configure,
            open=False,
            timeout=timeout_s,
        )

    def open(self) -> Database:
        """Start the pool; connections are made on first use."""
        self._pool.open()
        return self

    def close(self) -> None:
        self._pool.close()

    def __enter__(self) -> Database:
        return self.open()

    def __exit__(self, *exception: object) -> None:
        self.close()

    @contextmanager
    def _connection(self) -> Iterator[Connection[DictRow]]:
        try:
            with self._pool.connection() as connection:
                yield connection
        except PoolTimeout:
            raise self._refusal() from None
        except psycopg.OperationalError as error:
            raise DatabaseUnavailable(f"the database cannot be used: {error}") from error

    def _refusal(self) -> DatabaseUnavailable:
        """What one more attempt meets; if it meets nothing, all connections are taken."""
        try:
            check(self.conninfo)
        except DatabaseUnavailable as error:
            return error
        size, waited = self._pool.max_size, self._pool.timeout
        return DatabaseUnavailable(f"all {size} connections of this process are in use since {waited:g} s")

    @contextmanager
    def _transaction(self, begin: bytes) -> Iterator[Connection[DictRow]]:
        with self._connection() as connection:
            try:
                with calls.using(connection):
                    connection.execute(begin)
                    yield connection
                connection.commit()  # a rollback would make psycopg forget every prepared statement
            except BaseException:
                with suppress(psycopg.Error):  # the pool throws away what cannot be rolled back
                    connection.rollback()
                raise

    @contextmanager
    def read(self, reach: Reach) -> Iterator[ReadConnection]:
        """One read-only snapshot of the bases in `reach`."""
        with self._transaction(_reaching(_SNAPSHOT, reach, READ_BASES)) as connection:
            yield ReadConnection(connection)

    @contextmanager
    def ask(self) -> Iterator[ReadConnection]:
        """For one statement that reads: no transaction around it, which would be two more trips to the server.

        It reaches no base: a list of them would outlive the statement.
        """
        with self._connection() as connection, calls.using(connection):
            yield ReadConnection(connection)

    @contextmanager
    def write(self, reach: Reach) -> Iterator[WriteConnection]:
        """One transaction, committed at the end of the block and rolled back by any exception.

        It reads and writes the bases in `reach`; a base that it makes is added to them.
        """
        with self._transaction(_reaching(_CHANGE, reach, READ_BASES, WRITE_BASES)) as connection:
            yield WriteConnection(connection)


def conninfo(settings: Settings) -> str:
    """Where the product's database is: the configured one, else the embedded one, started if need be."""
    if settings.database_url is not None:
        return readable(settings.database_url, "TWOCLOCKS_DATABASE_URL")
    from substrate import postgres  # only the embedded case pays for it

    return postgres.ensure(settings.embedded_dir)


def owner_conninfo(settings: Settings) -> str:
    """The login that may change the schema: the administrator's, else the one there is (embedded: the owner)."""
    admin = settings.admin_database_url
    return readable(admin, "TWOCLOCKS_ADMIN_DATABASE_URL") if admin else conninfo(settings)


def open_database(settings: Settings, application_name: str = "twoclocks") -> Database:
    """A migrated database for `settings`, with an open pool.

    Raises `DatabaseUnavailable` at once where it cannot be reached or the login may not become `APP_ROLE`. A login of
    its own for migrations lets the application's login in.
    """
    from substrate.migrate import migrate

    dsn = conninfo(settings)
    if settings.admin_database_url is None:
        migrate(dsn)
    else:
        owner = owner_conninfo(settings)
        with connect(dsn, application_name) as connection:
            login = connection.info.user
        migrate(owner, login=login)
    check(dsn, application_name)
    return Database(dsn, pool_size=settings.pool_size, application_name=application_name).open()
