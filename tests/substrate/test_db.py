"""Connecting: what cannot be reached or read is one line without a secret, and two logins share the work."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from click.testing import CliRunner
from psycopg import sql as pgsql
from psycopg.conninfo import make_conninfo
from pydantic import SecretStr

from api.cli.main import main
from demo import __main__ as demo
from orchestration import home
from orchestration.home import dagster_url, sqlalchemy_url
from substrate.bases import create_base
from substrate.db import EVERY_BASE, NO_BASE, Database, check, conninfo, open_database, owner_conninfo
from substrate.errors import DatabaseUnavailable
from substrate.migrate import migrate
from substrate.retrieval.vectors import ensure_vector_index
from substrate.settings import Settings

SECRET = "SECRETPW"
ILLEGIBLE = [f"postgres//x:{SECRET}@db/kb", f"postgresql://x:a@{SECRET}@db/kb", f"postgresql://x:a/{SECRET}@db:1/kb"]
NOBODY = f"postgresql://someone:{SECRET}@127.0.0.1:1/kb?connect_timeout=3"


def _failure(call) -> tuple[str, str]:
    """The message, and all that a traceback would print."""
    with pytest.raises(DatabaseUnavailable) as caught:
        call()
    return str(caught.value), "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("url", ILLEGIBLE)
@pytest.mark.parametrize("name", ["database_url", "admin_database_url", "dagster_database_url"])
def test_a_string_that_cannot_be_read_is_named_and_not_repeated(tmp_path: Path, url, name):
    given = Settings(**{"database_url": SecretStr(NOBODY), "data_dir": tmp_path, name: SecretStr(url)})
    message, trace = _failure(lambda: (dagster_url if name.startswith("dagster") else open_database)(given))
    assert f"TWOCLOCKS_{name.upper()}" in message
    assert SECRET not in trace


@pytest.mark.parametrize(
    "call",
    [
        migrate,
        sqlalchemy_url,
        lambda url: Database(url).open(),
        lambda url: owner_conninfo(Settings(admin_database_url=SecretStr(url))),
        lambda url: ensure_vector_index(url, uuid4(), "minilm", 384),
    ],
)
def test_no_way_in_repeats_a_string_that_cannot_be_read(call):
    message, trace = _failure(lambda: call(ILLEGIBLE[0]))
    assert "connection string" in message
    assert SECRET not in trace


def test_a_server_that_is_not_there_is_told_by_its_place(tmp_path: Path):
    given = Settings(database_url=SecretStr(NOBODY), data_dir=tmp_path)
    for call in (lambda: open_database(given), lambda: migrate(NOBODY), lambda: dagster_url(given)):
        message, trace = _failure(call)
        assert all(part in message for part in ("127.0.0.1", "port 1,", "database kb", "refused"))
        assert SECRET not in trace
        assert "someone" not in trace


def test_what_the_server_says_is_passed_on(dsn):
    message, _ = _failure(lambda: migrate(make_conninfo(dsn, dbname="no_such_database")))
    assert 'database "no_such_database" does not exist' in message
    assert "\n" not in message


@pytest.mark.parametrize("url", [ILLEGIBLE[0], NOBODY])
def test_command_line_and_demo_say_it_in_one_line(url, tmp_path: Path, monkeypatch, capsys):
    environment = {"TWOCLOCKS_DATABASE_URL": url, "TWOCLOCKS_DATA_DIR": str(tmp_path)}
    for command, arguments in ((main, ["documents"]), (home.main, [])):
        done = CliRunner().invoke(command, arguments, env=environment)
        assert (done.exit_code, done.output.count("\n")) == (1, 1)
        assert done.output.startswith("Error: ")
        assert SECRET not in done.output
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert demo.main() == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "demo failed: TWOCLOCKS_DATABASE_URL" in said or "demo failed: database kb on 127.0.0.1" in said
    assert SECRET not in said


@pytest.fixture
def login(dsn) -> Iterator[str]:
    """The URI of this test's database for a login that owns nothing, may make no role, and needs quoting."""
    name = f'app "login" {uuid4().hex[:8]}'
    role = pgsql.Identifier(name)
    with psycopg.connect(dsn, autocommit=True) as server:
        server.execute(pgsql.SQL("create role {} login password {}").format(role, pgsql.Literal(SECRET)))
        yield make_conninfo(dsn, user=name, password=SECRET)
        server.execute(pgsql.SQL("drop role {}").format(role))


def test_the_pool_says_why_it_gave_no_connection(login):
    with Database(login, timeout_s=0.2) as database:
        message, trace = _failure(lambda: database.read(EVERY_BASE).__enter__())
    assert 'permission denied to set role "twoclocks_app"' in message
    assert SECRET not in trace


def test_the_pool_says_that_all_its_connections_are_taken(dsn):
    with Database(dsn, pool_size=1, timeout_s=0.2) as database, database.read(EVERY_BASE):
        message, _ = _failure(lambda: database.read(EVERY_BASE).__enter__())
    assert "all 1 connections of this process are in use" in message


def test_a_login_without_the_role_is_refused_at_once(login, tmp_path: Path):
    message, _ = _failure(lambda: check(login))
    assert 'permission denied to set role "twoclocks_app"' in message
    message, _ = _failure(lambda: open_database(Settings(database_url=SecretStr(login), data_dir=tmp_path)))
    assert "permission denied" in message
    assert "TWOCLOCKS_ADMIN_DATABASE_URL" in message


def test_an_admin_migrates_and_lets_the_applications_login_in(dsn, login, tmp_path: Path):
    with psycopg.connect(dsn, autocommit=True) as server:
        name = f"empty_{uuid4().hex[:12]}"
        server.execute(pgsql.SQL("create database {}").format(pgsql.Identifier(name)))
    try:
        given = Settings(
            database_url=SecretStr(make_conninfo(login, dbname=name)),
            admin_database_url=SecretStr(make_conninfo(dsn, dbname=name)),
            data_dir=tmp_path,
        )
        for _ in range(2):
            with open_database(given) as database, database.write(NO_BASE) as connection:
                create_base(connection, f"b{uuid4().hex[:8]}", "A base")
                row = connection.execute("select session_user as login, current_user as role").fetchone()
        assert row == {"login": psycopg.conninfo.conninfo_to_dict(login)["user"], "role": "twoclocks_app"}
    finally:
        with psycopg.connect(dsn, autocommit=True) as server:
            server.execute(pgsql.SQL("drop database {} with (force)").format(pgsql.Identifier(name)))


def test_an_admin_who_is_the_login_grants_nothing(dsn, tmp_path: Path):
    given = Settings(database_url=SecretStr(dsn), admin_database_url=SecretStr(dsn), data_dir=tmp_path)
    with open_database(given) as database, database.read(EVERY_BASE) as connection:
        assert connection.execute("select current_user as role").fetchone() == {"role": "twoclocks_app"}
    assert conninfo(given) == dsn
