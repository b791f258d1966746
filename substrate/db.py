"""The only module that opens a database connection.

Two kinds of connection are two types: `ReadConnection` (one read-only snapshot, so that a head and the rows under it
agree) and `WriteConnection` (READ COMMITTED, as the ledger's head lock needs). Nobody but these context managers
commits. Both run as the role ``twoclocks_app``, which may not rewrite the ledger.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NewType

import psycopg
from psycopg import Connection, IsolationLevel
from psycopg.rows import DictRow, dict_row
from psycopg.types.json import set_json_loads
from psycopg_pool import ConnectionPool, PoolTimeout
from pydantic_core import from_json

from substrate.errors import DatabaseUnavailable
from substrate.settings import Settings

ReadConnection = NewType("ReadConnection", Connection[DictRow])
WriteConnection = NewType("WriteConnection", Connection[DictRow])
AnyConnection = ReadConnection | WriteConnection
APP_ROLE = "twoclocks_app"
# One message. A plan made once per connection and kept costs a short read a quarter of one planned for each question
# (measured); what reads look up is therefore written so that it needs no knowledge of the values.
_SNAPSHOT = "begin isolation level repeatable read read only; set local plan_cache_mode = force_generic_plan"


def _configure(connection: Connection[DictRow]) -> None:
    # The login may be the owner; the session gives its rights up before the first statement of the product.
    connection.execute(f"set role {APP_ROLE}")
    connection.execute("set timezone to 'UTC'")
    set_json_loads(from_json, connection)  # the standard reader took a quarter of a read's time
    connection.execute("set jit = off")  # compiling a query of milliseconds takes tens of them
    connection.commit()


class Database:
    """A pool over one database. ``application_name`` tells processes apart in ``pg_stat_activity``."""

    def __init__(self, conninfo: str, *, pool_size: int = 8, application_name: str = "twoclocks") -> None:
        self.conninfo = conninfo
        self._pool = ConnectionPool(
            conninfo,
            connection_class=Connection[DictRow],
            kwargs={"row_factory": dict_row, "application_name": application_name},
            min_size=0,
            max_size=pool_size,
            configure=_configure,
            open=False,
            timeout=30,
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
        except (PoolTimeout, psycopg.OperationalError) as error:
            raise DatabaseUnavailable(f"the database cannot be used: {error}") from error

    @contextmanager
    def read(self) -> Iterator[ReadConnection]:
        """One read-only snapshot."""
        with self._connection() as connection:
            connection.autocommit = True
            try:
                connection.execute(_SNAPSHOT)
                yield ReadConnection(connection)
                connection.commit()  # a rollback would make psycopg forget every prepared statement
            finally:
                connection.rollback()
                connection.autocommit = False

    @contextmanager
    def ask(self) -> Iterator[ReadConnection]:
        """For one statement that reads: no transaction around it, which would be two more trips to the server."""
        with self._connection() as connection:
            connection.autocommit = True
            try:
                yield ReadConnection(connection)
            finally:
                connection.rollback()
                connection.autocommit = False

    @contextmanager
    def write(self) -> Iterator[WriteConnection]:
        """One transaction, committed at the end of the block and rolled back by any exception."""
        with self._connection() as connection:
            connection.isolation_level = IsolationLevel.READ_COMMITTED
            try:
                with connection.transaction():
                    yield WriteConnection(connection)
            finally:
                connection.isolation_level = None


def conninfo(settings: Settings) -> str:
    """Where the product's database is: the configured one, else the embedded one, started if need be."""
    if settings.database_url is not None:
        return settings.database_url.get_secret_value()
    from substrate import postgres  # only the embedded case pays for it

    return postgres.ensure(settings.embedded_dir)


def open_database(settings: Settings, application_name: str = "twoclocks") -> Database:
    """A migrated database for `settings`, with an open pool."""
    from substrate.migrate import migrate

    dsn = conninfo(settings)
    admin = settings.admin_database_url
    migrate(admin.get_secret_value() if admin else dsn)
    return Database(dsn, pool_size=settings.pool_size, application_name=application_name).open()
