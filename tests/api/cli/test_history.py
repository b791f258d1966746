"""``twoclocks history`` and ``twoclocks diff`` over a real database."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from api.cli.main import main
from tests.ledger_facts import Scribe, day


@pytest.fixture
def cli(dsn, tmp_path, database, kb):
    scribe = Scribe(database, kb)
    scribe.say("Ada", "leads", "Heron", start=day("2021-01-01"))
    scribe.say("Bob", "leads", "Heron", start=day("2023-04-01"))
    environment = {"TWOCLOCKS_DATABASE_URL": dsn, "TWOCLOCKS_DATA_DIR": str(tmp_path / "data")}

    def run(*arguments, code=0):
        done = CliRunner().invoke(main, [str(a) for a in arguments], env=environment)
        assert done.exit_code == code, done.output
        return done.output

    return run


def test_history_tells_who_closed_a_row(cli):
    said = cli("history", "Heron")
    assert "Ada leads Heron (2021-01-01 → …)" in said
    assert "corrected seq:" in said
    assert "by person:test via import, test" in said
    items = json.loads(cli("history", "Heron", "--json"))["items"]
    fact = next(i for i in items if i["closed"])
    of_fact = cli("history", fact["id"])
    assert "Bob" not in of_fact
    assert 'rests on "Ada leads Heron."' in of_fact
    assert "at: goes with an entity" in cli("history", fact["id"], "--at", "2020", code=1)
    assert cli("history", "Nobody", code=1).startswith("Error: entity: no entity 'Nobody'")
    assert "more rows: --cursor " in cli("history", "Heron", "--limit", "1")


def test_diff_tells_what_came_and_what_went(cli):
    said = cli("diff", "--from-at", "2022", "--to-at", "2024")
    assert "+ Bob leads Heron (2023-04-01 → …)" in said
    assert "- Ada leads Heron (2021-01-01 → 2023-04-01)" in said
    assert "- " not in cli("diff", "--from-as-of", "seq:0")
    assert cli("diff", "--from-at", "2024", "--to-at", "2024").startswith("nothing\n(record as of ")
    assert cli("diff", code=1) == "Error: from_as_of: give either from_as_of (record) or from_at (world)\n"
