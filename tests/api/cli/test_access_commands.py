"""Members, workspaces, open bases and service tokens from the terminal."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from api.cli.main import main
from substrate import access
from substrate.errors import NotFound


@pytest.fixture
def cli(dsn, tmp_path):
    environment = {"TWOCLOCKS_DATABASE_URL": dsn, "TWOCLOCKS_DATA_DIR": str(tmp_path / "data")}

    def run(*arguments, code=0):
        done = CliRunner().invoke(main, list(map(str, arguments)), env=environment)
        assert done.exit_code == code, done.output
        return done.output

    return run


def _role(database, kb, secret) -> str | None:
    with database.read(kb) as conn:
        try:
            return access.admit(conn, secret, kb)[1]
        except NotFound:
            return None


def test_the_last_owner_stays(cli, kb):
    cli("member", "add", "Olga", "--role", "owner")
    assert "last owner" in cli("member", "remove", "Olga", code=1)
    assert "last owner" in cli("member", "add", "Olga", "--role", "viewer", code=1)
    cli("member", "add", "Adam", "--role", "owner")
    assert "no member now" in cli("member", "remove", "Olga")
    assert "Olga" not in cli("member", "list")
    assert "nobody" in cli("member", "add", "the public", "--role", "viewer", code=1)


def test_a_base_is_opened_to_a_workspace_and_closed(cli, database, kb):
    secret = cli("token", "create", "agent", "--person", "Pia").splitlines()[0]
    assert cli("workspace", "create", "press", "--organisation", "Heron Works") == "press of Heron Works\n"
    assert "already" in cli("workspace", "create", "press", "--organisation", "Limpet", code=1)
    cli("workspace", "join", "press", "Pia")
    assert "press  Heron Works  1 people" in cli("workspace", "list")
    assert "workspace" in cli("member", "open", "--to", "workspace", code=1)
    assert _role(database, kb, secret) is None
    assert "open to its workspace" in cli("member", "open", "--to", "workspace", "--workspace", "press")
    assert _role(database, kb, secret) == "viewer"
    cli("workspace", "leave", "press", "Pia")
    assert _role(database, kb, secret) is None
    assert "to anybody" in cli("member", "open", "--public")
    assert _role(database, kb, secret) == "viewer"
    assert "to anybody" not in cli("member", "open", "--not-public", "--to", "members")
    assert _role(database, kb, secret) is None


def test_a_services_token_names_its_bases(cli, kb):
    assert "names the bases" in cli("token", "create", "crawler", "--scope", "push", code=1)
    made = cli("token", "create", "crawler", "--scope", "push", "--kb", "test")
    assert made.startswith("tc_svc_")
    assert "push" in cli("token", "list")
