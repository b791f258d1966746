"""The commands over a real database: what they print, and that a mistake is one line and exit status 1."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from api.cli.main import _COMMANDS, main
from substrate import access
from substrate.db import EVERY_BASE
from tests.ledger_facts import Scribe, day


@pytest.fixture
def cli(dsn, tmp_path):
    environment = {"TWOCLOCKS_DATABASE_URL": dsn, "TWOCLOCKS_DATA_DIR": str(tmp_path / "data")}

    def run(*arguments, code=0):
        done = CliRunner().invoke(main, [str(a) for a in arguments], env=environment)
        assert done.exit_code == code, done.output
        return done.output

    return run


def test_help_imports_nothing_heavy():
    program = (
        "import sys; from api.cli.main import main; main(['--help'], standalone_mode=False);"
        "print('HEAVY', {'psycopg', 'fastapi', 'mcp', 'rich', 'numpy', 'dagster', 'onnxruntime'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "HEAVY set()" in done.stdout
    for name in _COMMANDS:
        assert name in done.stdout


@pytest.mark.parametrize("name", list(_COMMANDS))
def test_every_command_has_help(cli, name):
    assert "Usage:" in cli(name, "--help")


def test_a_base_is_made_and_documents_come_and_go(cli, tmp_path):
    assert cli("documents", code=1).startswith("Error: there is no base yet")
    assert cli("kb", "create", "one").startswith("one  ")
    assert cli("kb", "create", "one", code=1) == "Error: there is a base 'one' already\n"
    assert cli("kb", "create", "Not A Slug", code=1).count("\n") == 1
    note = tmp_path / "note.md"
    note.write_text("Ada leads Heron.")
    assert cli("push", note).startswith("created")
    assert cli("push", note).startswith("unchanged")
    assert "waiting" in cli("documents")
    assert "facts are held no more" in cli("delete", note)
    assert cli("delete", note) == "it was deleted before\n"
    assert cli("delete", "nothing", code=1).startswith("Error: ")
    assert "verifies" in cli("ledger", "verify")
    cli("kb", "create", "two")
    assert "say which with --kb: one, two" in cli("documents", code=1)
    assert cli("documents", "--kb", "two") == ""


def test_a_folder_is_brought_in_step(cli, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.md").write_text("Ada leads Heron.")
    cli("kb", "create", "one")
    assert cli("sync", folder) == "1 created\n"
    (folder / "a.md").unlink()
    assert "missing at source: a.md" in cli("sync", folder)


def test_a_folder_is_let_go_and_taken_up_again(cli, tmp_path, database):
    from substrate.documents.folders import watched_folders

    def watched():
        with database.read(EVERY_BASE) as conn:
            return [f.path for f in watched_folders(conn)]

    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.md").write_text("Ada leads Heron.")
    cli("kb", "create", "one")
    cli("sync", folder)
    assert watched() == [folder]
    assert cli("sync", folder, "--stop") == "watched no more; its documents stay\n"
    assert watched() == []
    assert "a.md" in cli("documents")
    assert cli("sync", folder, "--stop", code=1).startswith("Error: ")
    assert cli("sync", folder) == "1 unchanged\n"
    assert watched() == [folder]
    (folder / "a.md").unlink()
    folder.rmdir()
    assert cli("sync", folder, "--stop").startswith("watched no more")
    assert cli("sync", folder, code=1) == f"Error: {folder} is not a folder\n"


def test_a_file_is_one_document_however_its_path_is_spelt(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.md").write_text("Ada leads Heron.")
    cli("kb", "create", "one")
    assert cli("push", "a.md").startswith("created")
    for spelt in ("./a.md", "sub/../a.md", ".//a.md"):
        assert cli("push", spelt) == "unchanged  a.md\n"
    assert "facts are held no more" in cli("delete", "./a.md")


def test_members_are_added_listed_and_removed(cli, database, kb):
    assert cli("member", "list") == ""
    assert cli("member", "add", "Ada", "--role", "editor") == "Ada is editor\n"
    assert cli("member", "add", "Ada", "--role", "viewer") == "Ada is viewer\n"
    assert cli("member", "list") == "viewer  Ada\n"
    with database.read(kb) as conn:
        assert [m["name"] for m in access.list_members(conn, kb)] == ["Ada"]
    assert cli("member", "remove", "Ada") == "Ada is no member now\n"
    assert cli("member", "list") == ""
    assert cli("member", "remove", "Ada", code=1) == "Error: this person is no member of the base\n"
    assert cli("member", "remove", "Nobody", code=1) == "Error: nobody is named 'Nobody'\n"


def test_questions_are_asked_on_both_clocks(cli, database, kb):
    scribe = Scribe(database, kb)
    scribe.say("Ada", "leads", "Heron", start=day("2021-01-01"))
    then = scribe.seq()
    scribe.say("Bob", "leads", "Heron", start=day("2023-04-01"))
    assert "Bob" in cli("facts", "Heron", "--at", "2024-08")
    believed = cli("ask", "Heron", "--at", "2024-08", "--as-of", f"seq:{then}")
    assert "Ada" in believed
    assert "Bob" not in believed
    answer = json.loads(cli("facts", "Heron", "--limit", 1, "--json"))
    assert answer["matched_facts"] == 2
    rest = json.loads(cli("facts", "Heron", "--limit", 1, "--json", "--cursor", answer["next_cursor"]))
    assert rest["facts"][0]["id"] != answer["facts"][0]["id"]
    assert "2021-01-01 → 2023-03-31" in cli("timeline", "Heron")
    assert "corrected" in cli("changes", "2020")
    assert cli("facts", "Nobody", code=1).startswith("Error: entity: no entity 'Nobody'")
    assert cli("facts", "Heron", "--at", "spring", code=1).startswith("Error: at: 'spring' is not a date")


def test_a_sentence_waits_until_a_person_decides(cli, database, kb):
    assert "await confirmation" in cli("remember", "Ada leads Heron.", "--occurred-at", "2024-05-01")
    assert cli("review", "list") == "0 proposals wait\n"
    unknown = "00000000-0000-0000-0000-000000000000"
    assert cli("review", "confirm", unknown, code=1) == "Error: no proposal with that id\n"
    assert cli("review", "reject", unknown, code=1) == "Error: no proposal with that id\n"


def test_a_refusal_is_listed_and_lifted(cli, database, kb):
    scribe = Scribe(database, kb)
    scribe.say("Ada", "works_on", "Heron")
    with database.read(kb) as conn:
        [fact] = conn.execute("select id from facts where predicate_key = 'works_on'").fetchall()
    assert cli("review", "refusals") == "0 refusals in force\n"
    scribe.reject(fact["id"])
    [line, total] = cli("review", "refusals").splitlines()
    assert "Ada works on Heron" in line
    assert total == "1 refusals in force"
    refusal = line.split()[0]
    assert json.loads(cli("review", "refusals", "--json"))["refusals"][0]["id"] == refusal
    assert cli("review", "lift", refusal) == "lifted\n"
    assert cli("review", "refusals") == "0 refusals in force\n"
    assert cli("review", "lift", refusal, code=1) == "Error: no refusal with that id is in force\n"


def test_a_token_is_shown_once_and_revoked(cli, database, kb):
    made = cli("token", "create", "agent", "--scope", "write", "--days", "7").splitlines()
    secret = made[0]
    with database.read(kb) as conn:
        principal, role = access.admit(conn, secret, kb)
        assert (role, access.may_write(principal, role)) == ("owner", True)
    listed = cli("token", "list")
    assert secret not in listed
    assert "live" in listed
    cli("token", "revoke", principal.token_id)
    assert "revoked" in cli("token", "list")
    with database.read(kb) as conn, pytest.raises(Exception, match="valid token"):
        access.authenticate(conn, secret)
    assert cli("token", "create", "x", "--kb", "none", code=1) == "Error: no knowledge base 'none'\n"


def test_the_client_configuration_carries_one_token_in_a_file_of_ones_own(cli, tmp_path, database, kb):
    first = json.loads(cli("mcp-config"))
    [entry] = first["mcpServers"].values()
    assert entry["url"].endswith(f"/api/v1/kbs/{kb}/mcp")
    kept = tmp_path / "data" / "run" / "client-token"
    assert kept.stat().st_mode & 0o077 == 0
    assert entry["headers"]["Authorization"] == f"Bearer {kept.read_text().strip()}"
    assert json.loads(cli("mcp-config")) == first
    with database.write(kb) as conn:
        conn.execute("update tokens set revoked_at = clock_timestamp()")
    assert json.loads(cli("mcp-config")) != first


def test_nothing_runs_and_status_says_so(cli):
    assert cli("status", code=1).count("stopped") == 4
    assert cli("down") == "nothing ran\n"
