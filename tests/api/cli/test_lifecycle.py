"""``twoclocks documents``: what is missing at its source, what was deleted, and how it comes back."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from api.cli.main import main


@pytest.fixture
def cli(dsn, tmp_path):
    environment = {"TWOCLOCKS_DATABASE_URL": dsn, "TWOCLOCKS_DATA_DIR": str(tmp_path / "data")}

    def run(*arguments, code=0, **more):
        done = CliRunner().invoke(main, [str(a) for a in arguments], env=environment, **more)
        assert done.exit_code == code, done.output
        return done.output

    return run


def test_a_deletion_is_listed_and_undone(cli, tmp_path):
    note = tmp_path / "note.md"
    note.write_text("Ada leads Heron.")
    cli("kb", "create", "one")
    cli("push", note)
    assert cli("documents", "deletions") == ""
    gone = cli("delete", note, "--why", "withdrawn")
    assert str(note) not in cli("documents")
    [deletion] = json.loads(cli("documents", "deletions", "--json"))["deletions"]
    assert f"twoclocks documents restore {deletion['id']}" in gone
    shown = cli("documents", "deletions")
    assert deletion["id"] in shown and ": withdrawn" in shown and "restored" not in shown
    assert "restored at seq:" in cli("documents", "restore", deletion["id"], "--why", "a mistake")
    assert str(note) in cli("documents")
    assert "restored at seq:" in cli("documents", "deletions")
    assert cli("documents", "restore", deletion["id"], code=1).startswith("Error: this deletion was undone before")
    assert "verifies" in cli("ledger", "verify")


def test_what_is_missing_at_its_source_is_shown_so_until_it_is_there_again(cli, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.md").write_text("Ada leads Heron.")
    cli("kb", "create", "one")
    cli("sync", folder)
    assert "missing" not in cli("documents")
    (folder / "a.md").unlink()
    cli("sync", folder)
    assert "a.md  missing at source since 20" in cli("documents")
    (folder / "a.md").write_text("Ada leads Heron.")
    assert cli("sync", folder) == "1 unchanged\n"
    assert "missing" not in cli("documents")


def test_a_purge_asks_first_and_cannot_be_undone(cli, tmp_path):
    note = tmp_path / "note.md"
    note.write_text("Ada leads Heron.")
    cli("kb", "create", "one")
    cli("push", note)
    assert "delete it first" in cli("documents", "purge", note, "--why", "asked for", "--yes", code=1)
    cli("delete", note)
    [deletion] = json.loads(cli("documents", "deletions", "--json"))["deletions"]
    assert "Missing option '--why'" in cli("documents", "purge", note, code=2)
    assert "for good?" in cli("documents", "purge", note, "--why", "asked for", code=1, input="n\n")
    assert "purged at seq:" in cli("documents", "purge", note, "--why", "asked for", input="y\n")
    assert "nothing is left to restore" in cli("documents", "restore", deletion["id"], code=1)
    again = cli("documents", "purge", deletion["document_id"], "--why", "asked for", "--yes", code=1)
    assert "purged before" in again
    shown = cli("documents", "deletions")
    assert "note.md" not in shown and ": asked for" in shown
    checked = cli("ledger", "verify")
    assert "verifies" in checked and "events say nothing any more, each named by a purge" in checked
