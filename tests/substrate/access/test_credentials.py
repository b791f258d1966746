"""A secret goes into the database sealed, opens where it was sealed and nowhere else, and moves to another key."""

from __future__ import annotations

import base64

import psycopg
import pytest
from click.testing import CliRunner
from pydantic import SecretStr

from api.cli.main import main
from substrate.access.credentials import open_credential, rotate_credentials, set_credential
from substrate.access.keys import Keys, parse_keys
from substrate.bases import create_base
from substrate.db import NO_BASE
from substrate.errors import InvalidInput, NotFound

SECRET = "sk-zqsecret-0123456789"


def _keys(*bytes_: int) -> Keys:
    return parse_keys(",".join(base64.b64encode(bytes([b]) * 32).decode() for b in bytes_), "here")


@pytest.fixture
def sealed(database, kb):
    with database.write(kb) as conn:
        set_credential(conn, kb, "model", SecretStr(SECRET), _keys(1), by="person:Ada")
    return kb


def _open(database, kb, keys, name="model") -> str:
    with database.read(kb) as conn:
        return open_credential(conn, kb, name, keys).get_secret_value()


def test_a_secret_opens_with_its_key_and_with_no_other(database, sealed):
    assert _open(database, sealed, _keys(1)) == SECRET
    assert _open(database, sealed, _keys(2, 1)) == SECRET
    with pytest.raises(InvalidInput, match="which is not here"):
        _open(database, sealed, _keys(2))
    with pytest.raises(NotFound):
        _open(database, sealed, _keys(1), "other")


def test_the_same_secret_is_never_sealed_to_the_same_bytes(database, sealed):
    with database.write(sealed) as conn:
        set_credential(conn, sealed, "again", SecretStr(SECRET), _keys(1), by="person:Ada")
        rows = conn.execute("select sealed from credentials").fetchall()
    assert len({bytes(r["sealed"])[:12] for r in rows}) == 2
    assert len({bytes(r["sealed"])[12:] for r in rows}) == 2


def test_a_row_that_was_moved_or_changed_opens_nowhere(database, sealed):
    with database.write(NO_BASE) as conn:
        other = create_base(conn, "second", "Second")
    changes = {
        "other name": "update credentials set name = 'moved' where name = 'model'",
        "a bit": "update credentials set name = 'model', sealed = set_byte(sealed, 20, get_byte(sealed, 20) # 1)",
    }
    for change, name in zip(changes.values(), ("moved", "model"), strict=True):
        with database.write(sealed) as conn:
            conn.execute(change)
        with pytest.raises(InvalidInput, match="is broken"):
            _open(database, sealed, _keys(1), name)
    with database.write({sealed, other}) as conn:
        set_credential(conn, sealed, "model", SecretStr(SECRET), _keys(1), by="person:Ada")
        conn.execute("update credentials set kb_id = %s", (other,))
    with pytest.raises(InvalidInput, match="is broken"):
        _open(database, other, _keys(1))


def test_of_another_base_no_credential_is_there(database, sealed):
    with database.write(NO_BASE) as conn:
        other = create_base(conn, "second", "Second")
    with database.read(other) as conn, pytest.raises(NotFound):
        open_credential(conn, sealed, "model", _keys(1))


def test_rotating_seals_anew_once_and_the_old_key_is_not_needed_any_more(database, sealed):
    for expected in (1, 0):
        with database.write(sealed) as conn:
            assert rotate_credentials(conn, sealed, _keys(2, 1)) == expected
    assert _open(database, sealed, _keys(2)) == SECRET
    with pytest.raises(InvalidInput):
        _open(database, sealed, _keys(1))


def test_bad_keys_and_secrets_are_refused_without_being_shown(database, kb):
    for text in ("", "short", base64.b64encode(b"x" * 31).decode(), "§" * 44):
        with pytest.raises(InvalidInput) as refused:
            parse_keys(text, "the file")
        assert not text or text not in str(refused.value)
    for name, secret in (("Model", "x"), ("", "x"), ("a/b", "x"), ("model", ""), ("model", "x" * 70_000)):
        with database.write(kb) as conn, pytest.raises(InvalidInput):
            set_credential(conn, kb, name, SecretStr(secret), _keys(1), by="person:Ada")
    assert SECRET not in repr(_keys(1)) and "AQEB" not in repr(_keys(1))


def test_from_the_terminal_a_secret_is_sealed_rotated_and_never_said(dsn, tmp_path, database, kb):
    environment = {"TWOCLOCKS_DATABASE_URL": dsn, "TWOCLOCKS_DATA_DIR": str(tmp_path / "data")}

    def run(*arguments, code=0, said=None):
        done = CliRunner().invoke(main, ["credentials", *arguments], env=environment, input=said)
        assert done.exit_code == code, done.output
        assert SECRET not in done.output
        return done.output

    assert "twoclocks credentials key" in run("set", "model", said=SECRET, code=1)
    assert "twoclocks credentials key" in run("rotate", code=1)
    first = run("key").split("key ")[-1].strip()
    assert run("key").strip() == f"key {first}"
    file = tmp_path / "data" / "keys" / "credentials.keys"
    assert file.stat().st_mode & 0o777 == 0o600
    run("set", "model", said=SECRET + "\n")
    run("set", "gone", said=SECRET)
    run("remove", "gone")
    assert "gone" in run("remove", "gone", code=1)
    listed = run("list")
    assert first in listed and "gone" not in listed
    assert _dumped(dsn).count("model") >= 1
    key = file.read_text().splitlines()[0]
    for secret in (SECRET, SECRET.encode().hex(), key, base64.b64decode(key).hex()):
        assert secret not in _dumped(dsn)
    assert "1 sealed anew" in run("rotate")
    assert first not in run("list") and len(file.read_text().splitlines()) == 2
    assert "1 sealed anew" in run("rotate", "--drop")
    assert len(file.read_text().splitlines()) == 1
    assert _open(database, kb, parse_keys(file.read_text(), "file")) == SECRET


def _dumped(dsn: str) -> str:
    """Every row of every table, as a dump would have it."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        named = "select oid::regclass::text from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace"
        found = conn.execute(named)
        tables = [name for (name,) in found.fetchall()]
        return "\n".join(str(conn.execute(f"select t::text from {name} t").fetchall()) for name in tables)
