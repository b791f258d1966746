"""Conflicts, corrections and late declarations from the terminal."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from api.cli.main import main
from tests.ledger_facts import Scribe, day


@pytest.fixture
def cli(dsn, tmp_path, database, kb):
    environment = {"TWOCLOCKS_DATABASE_URL": dsn, "TWOCLOCKS_DATA_DIR": str(tmp_path / "data")}
    scribe = Scribe(database, kb)

    def run(*arguments, code=0):
        done = CliRunner().invoke(main, [str(a) for a in arguments], env=environment)
        assert done.exit_code == code, done.output
        return done.output

    run.say = scribe.say
    return run


def test_a_conflict_is_listed_decided_and_reverted(cli):
    assert cli("conflicts", "list") == "0 conflicts wait\n"
    for who in ("Ada", "Bo"):
        cli.say(who, "leads", "Orion", start=day("2024-01-01"))
    listed = cli("conflicts", "list")
    assert "simultaneous" in listed and "2024-01-01 → open" in listed and listed.endswith("1 conflicts wait\n")
    assert "[contested: " in cli("facts", "Orion")
    conflict = json.loads(cli("conflicts", "list", "--json"))["conflicts"][0]["id"]
    assert cli("conflicts", "decide", conflict, "keep-both", "--why", "a pair") == "decided\n"
    assert "kept_both by person:owner: a pair" in cli("conflicts", "list", "--decided")
    assert "[contested: " not in cli("facts", "Orion")
    assert cli("conflicts", "decide", conflict, "close-old", code=1).count("\n") == 1
    assert cli("conflicts", "revert", conflict).startswith("open again  ")
    assert cli("conflicts", "list").endswith("1 conflicts wait\n")


def test_a_period_is_corrected_and_undone(cli):
    cli.say("Ada", "works_on", "Orion", start=day("2020-01-01"))
    fact = json.loads(cli("facts", "Ada", "--json"))["facts"][0]["id"]
    said = cli("fact", "correct", fact, "--from", "2020-03", "--to", "unknown", "--why", "payslip").split()
    assert "2020-03 → ended, date unknown" in cli("facts", "Ada")
    assert "2020-03-01 → unknown  (payslip)" in cli("fact", "corrections")
    closed = cli("fact", "close", said[1], "2021").split()
    assert "2020-03 → 2021" in cli("facts", "Ada")
    assert cli("fact", "correct", closed[1], "--to", "2019", code=1).startswith("Error: valid_to")
    cli("fact", "confirm", closed[1])
    for correction in (closed[3], said[3]):
        cli("fact", "undo", correction)
    assert "1 in force" in cli("fact", "corrections")
    fact = json.loads(cli("facts", "Ada", "--json"))["facts"][0]["id"]
    assert cli("fact", "reject", fact).startswith("refused  ")
    assert "0 of 0 facts" in cli("facts", "Orion") or "Error" in cli("facts", "Ada", code=1)


def test_a_relation_is_declared_late(cli):
    for year, other in ((2020, "Orion"), (2021, "Heron")):
        cli.say("Ada", "works_on", other, start=day(f"{year}-01-01"))
    assert "works_on  functional  looks unique  holders 1, with several 1, would close 1" in cli(
        "relation", "candidates"
    )
    assert "closed 1; previewed at seq" in cli("relation", "preview", "works_on", "--functional")
    assert cli("relation", "declare", "works_on", "--functional", "--yes").endswith("declared\n")
    assert "(next one begins)" in cli("facts", "Ada")
    assert "works_on  functional  declared" in cli("relation", "candidates")
    assert cli("relation", "preview", "works_on", "--functional", code=1).startswith("Error: ")
