"""Where Dagster lives: its home directory, its database, and the variables its processes need.

``python -m orchestration.home`` prepares them and prints one ``NAME=value`` a line, or one line of what is wrong.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, urlencode

import click
import dagster as dg
import psycopg
from psycopg import sql as pgsql
from psycopg.conninfo import make_conninfo

from substrate import sql
from substrate.db import connect, conninfo, parts_of, readable
from substrate.errors import DatabaseUnavailable, TwoclocksError, Unavailable
from substrate.settings import Settings, load_settings, native_thread_environment

DATABASE = "twoclocks_dagster"


def template() -> Path:
    """``dagster.yaml``, of the checkout or else of the installed package."""
    here = Path(__file__).resolve().parent
    for candidate in (here.parent / "dagster.yaml", here / "_dagster.yaml"):
        if candidate.is_file():
            return candidate
    raise Unavailable("dagster.yaml is not part of this installation")


def prepare(settings: Settings) -> Mapping[str, str]:
    """Make Dagster's home and database if need be; returns the variables for its processes.

    Raises `DatabaseUnavailable` where the database cannot be made: name one that exists in
    ``TWOCLOCKS_DAGSTER_DATABASE_URL`` then.
    """
    home = settings.data_dir.resolve() / "dagster"
    home.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(template(), home / "dagster.yaml")
    return {
        "DAGSTER_HOME": str(home),
        "DAGSTER_POSTGRES_URL": dagster_url(settings),
        "DAGSTER_DISABLE_TELEMETRY": "yes",
        **native_thread_environment(settings.threads),
    }


def open_instance(settings: Settings) -> dg.DagsterInstance:
    """Dagster's instance for use in this process, whose environment is left alone. Use as a context manager."""
    from dagster._core.instance.ref import InstanceRef

    variables = prepare(settings)
    storage = {"storage": {"postgres": {"postgres_url": variables["DAGSTER_POSTGRES_URL"]}}}
    return dg.DagsterInstance.from_ref(InstanceRef.from_dir(variables["DAGSTER_HOME"], overrides=storage))


def dagster_url(settings: Settings) -> str:
    """The SQLAlchemy URL of Dagster's own database, which exists afterwards."""
    if settings.dagster_database_url is not None:
        return sqlalchemy_url(readable(settings.dagster_database_url, "TWOCLOCKS_DAGSTER_DATABASE_URL"))
    ours = conninfo(settings)
    theirs = make_conninfo(ours, dbname=DATABASE)
    _ensure_database(ours)
    return sqlalchemy_url(theirs)


def _ensure_database(ours: str) -> None:
    try:
        with connect(ours, "twoclocks-dagster") as connection:
            known = connection.execute(sql.query("dagster_database"), {"name": DATABASE}).fetchone()
            if known is None:
                connection.execute(pgsql.SQL("create database {}").format(pgsql.Identifier(DATABASE)))
    except psycopg.errors.DuplicateDatabase:
        return
    except psycopg.Error as error:
        said = error.diag.message_primary or str(error)
        message = f"Dagster's database cannot be made ({said}); set TWOCLOCKS_DAGSTER_DATABASE_URL"
        raise DatabaseUnavailable(message) from error


def sqlalchemy_url(uri: str) -> str:
    """A libpq string or URI as a URL for psycopg2; everything beyond host and port goes into the query."""
    parts = parts_of(uri)
    user, password = parts.pop("user", ""), parts.pop("password", "")
    name = parts.pop("dbname", "")
    login = quote(user, safe="") + (f":{quote(password, safe='')}" if password else "")
    host = "" if parts.get("host", "").startswith("/") else parts.pop("host", "")
    port = f":{parts.pop('port')}" if host and "port" in parts else ""
    query = f"?{urlencode(parts)}" if parts else ""
    return f"postgresql+psycopg2://{login}{'@' if login else ''}{host}{port}/{quote(name, safe='')}{query}"


@click.command(help="Prepare Dagster's home and database and print the variables its processes need.")
def main() -> None:
    """One ``NAME=value`` a line."""
    try:
        variables = prepare(load_settings())
    except TwoclocksError as error:
        raise click.ClickException(str(error)) from None
    for name, value in variables.items():
        click.echo(f"{name}={value}")


if __name__ == "__main__":
    main()
