"""A real Postgres for every test that asks for one: no server means failure, never a skip.

One server per session, embedded unless ``TWOCLOCKS_TEST_DATABASE_URL`` names another; one migrated template
database per session; one clone of it per test. Under xdist the workers share server and template.

Fixtures: ``postgres`` (URI of the server), ``dsn`` (URI of this test's own database), ``settings`` (for it),
``database`` (an open `Database` over it), ``kb`` (the id of a fresh base in it).
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID, uuid4

import psycopg
import pytest
from hypothesis import HealthCheck
from hypothesis import settings as tries
from psycopg.conninfo import conninfo_to_dict
from pydantic import SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

# The checkout is what is tested, also where nothing is installed.
sys.path.insert(0, str(Path(__file__).parents[1]))

from substrate.db import NO_BASE, Database
from substrate.migrate import migrate
from substrate.settings import Settings

PLACE = pytest.StashKey[Path]()

# Hypothesis judges by the clock unless told not to; what takes too long meets the timeout of its test.
tries.register_profile("without a clock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
tries.load_profile("without a clock")


class _TestSettings(BaseSettings):
    """The only reader of the environment among the tests."""

    model_config = SettingsConfigDict(env_prefix="TWOCLOCKS_TEST_", extra="ignore")
    database_url: SecretStr | None = None


def _external() -> str | None:
    url = _TestSettings().database_url
    return url.get_secret_value() if url else None


def pytest_configure(config: pytest.Config) -> None:
    """The controller makes the session's directory; workers are told of it."""
    given = getattr(config, "workerinput", {}).get("place")
    if given is None:
        given = tempfile.mkdtemp(prefix="twoclocks-tests-")
    config.stash[PLACE] = Path(given)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: object) -> None:
    """xdist: called in the controller once per worker."""
    node.workerinput["place"] = str(node.config.stash[PLACE])  # type: ignore[attr-defined]


def pytest_unconfigure(config: pytest.Config) -> None:
    """The controller drops what the session made: the template, the server, the directory."""
    place = config.stash.get(PLACE, None)
    if place is None or hasattr(config, "workerinput"):
        return
    external = _external()
    if external is None and (place / "postgres").exists():
        from substrate.postgres import stop

        stop(place / "postgres")
    elif external is not None and (place / "template").exists():
        with psycopg.connect(external, autocommit=True) as connection:
            connection.execute(f'drop database if exists "{_template_name(place)}"')
    shutil.rmtree(place, ignore_errors=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A search that is long on purpose is not cut where a hung test is."""
    for item in items:
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(7200))


def pytest_report_header() -> str:
    external = _external()
    if external is None:
        from substrate.postgres import bin_dir

        asked = subprocess.run([bin_dir() / "postgres", "--version"], capture_output=True, text=True, check=True)
        return f"postgres: embedded, {asked.stdout.strip()}"
    with psycopg.connect(external) as connection:
        row = connection.execute("select version()").fetchone()
    return f"postgres: external, {row[0] if row else '?'}"


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    with lock.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _template_name(place: Path) -> str:
    return "t_" + place.name.replace("-", "_").lower()


def _database_uri(uri: str, name: str) -> str:
    return psycopg.conninfo.make_conninfo("", **{**conninfo_to_dict(uri), "dbname": name})


@pytest.fixture(scope="session")
def postgres(request: pytest.FixtureRequest) -> str:
    """The URI of the session's server, with a migrated template in it."""
    place = request.config.stash[PLACE]
    with _alone(place / "lock"):
        uri = _external() or _embedded(place / "postgres")
        if not (place / "template").exists():
            name = _template_name(place)
            with psycopg.connect(uri, autocommit=True) as connection:
                connection.execute(f'create database "{name}"')
            migrate(_database_uri(uri, name))
            (place / "template").touch()
    return uri


def _embedded(root: Path) -> str:
    from substrate.postgres import ensure

    fresh = not root.exists()
    uri = ensure(root)
    if fresh:
        # Test data need not outlive a power cut, and clones are much cheaper this way.
        with psycopg.connect(uri, autocommit=True) as connection:
            connection.execute("alter system set fsync = off")
            connection.execute("alter system set full_page_writes = off")
            connection.execute("select pg_reload_conf()")
    return uri


@pytest.fixture
def dsn(postgres: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """The URI of a clone of the template, this test's own."""
    name = f"test_{os.getpid()}_{uuid4().hex[:12]}"
    template = _template_name(request.config.stash[PLACE])
    with psycopg.connect(postgres, autocommit=True) as connection:
        # A fifth of the time of the default, which writes every page to the log.
        connection.execute(f'create database "{name}" template "{template}" strategy file_copy')
        yield _database_uri(postgres, name)
        connection.execute(f'drop database "{name}" with (force)')


@pytest.fixture
def settings(dsn: str, tmp_path: Path) -> Settings:
    """Settings of this test: its database, a data directory of its own, and no limit on calls unless it is tested."""
    return Settings(
        database_url=SecretStr(dsn),
        data_dir=tmp_path / "data",
        calls_per_minute=0,
        anonymous_calls_per_minute=0,
    )


@pytest.fixture
def database(dsn: str) -> Iterator[Database]:
    """An open pool over this test's database, as the application's role."""
    with Database(dsn, pool_size=16, application_name="test") as opened:
        yield opened


@pytest.fixture
def kb(database: Database) -> UUID:
    """A fresh base with no ontology."""
    from substrate.bases import create_base

    with database.write(NO_BASE) as connection:
        return create_base(connection, "test", "Test base")
