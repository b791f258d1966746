"""The commands that join, part, type and decide, and those that take each back."""

from __future__ import annotations

import json

import pytest

from tests.api.cli.test_commands import cli  # noqa: F401 - a fixture
from tests.ledger_facts import Scribe

NOBODY = "00000000-0000-0000-0000-000000000000"


@pytest.fixture
def scribe(database, kb):
    return Scribe(database, kb)


def test_two_are_merged_by_name_and_parted(cli, scribe):  # noqa: F811
    scribe.say("Bob Smith", "works_on", "Egret")
    scribe.say("Robert Smith", "works_on", "Heron")
    merge_id = cli("entity", "merge", "Robert Smith", "Bob Smith", "--why", "one desk").split()[1]
    assert "Heron" in cli("facts", "Bob Smith")
    assert cli("entity", "merge", "Robert Smith", "Bob Smith", code=1).startswith("Error: these two are one")
    assert "Robert Smith = Bob Smith" in cli("entity", "merges")
    assert cli("entity", "part", merge_id) == "parted\n"
    assert "Heron" not in cli("facts", "Bob Smith")
    assert "parted by person:owner" in cli("entity", "merges")
    assert json.loads(cli("entity", "merges", "--json"))["total"] == 1
    assert cli("entity", "part", merge_id, code=1).startswith("Error: this merge was reverted at seq")
    assert cli("entity", "merge", "Robert Smith", "Nobody", code=1).startswith("Error: absorb: no entity 'Nobody'")


def test_a_person_says_what_something_is(cli, scribe):  # noqa: F811
    scribe.say("Ada", "works_on", "Heron", kinds={"Heron": "person"})
    retyping = cli("entity", "retype", "Heron", "project").split()[1]
    assert "Heron: project" in cli("entity", "retypings")
    assert "in force" in cli("entity", "retypings")
    assert "no class 'bird' is declared" in cli("entity", "retype", "Heron", "bird", code=1)
    assert "give TYPE_KEY or --none" in cli("entity", "retype", "Heron", code=2)
    assert "retyped" in cli("entity", "retype", "Heron", "--none")
    assert "Heron: no type" in cli("entity", "retypings")
    told = cli("history", "Heron")
    assert "type of Heron: person (extracted)" in told
    assert "type of Heron: project (human)" in told
    assert "type of Heron: none (human)" in told
    assert cli("entity", "untype", retyping) == "taken back\n"
    assert cli("entity", "untype", retyping, code=1).startswith("Error: this retyping was reverted")
    assert json.loads(cli("entity", "retypings", "--json"))["total"] == 2


@pytest.mark.usefixtures("scribe")
def test_proposals_are_decided_together_and_taken_back(cli, database, kb, settings):  # noqa: F811
    from substrate.documents.intake import remember
    from substrate.extraction.stage import run_claims
    from tests.api.rest.test_routes import _pipeline

    for text in ("Ada leads Heron.", "Bob leads Egret."):
        remember(database, kb, text, "2024-05-01", actor="agent:x", via="mcp")
    _pipeline(database, kb, settings, run_claims)()
    waiting = {p["sentence"]: p["id"] for p in json.loads(cli("review", "list", "--json"))["pending"]}
    yes, no = waiting["Ada leads Heron."], waiting["Bob leads Egret."]
    assert "no proposal with that id" in cli("review", "decide", "--confirm", NOBODY, code=1)
    assert "no verdict is given" in cli("review", "decide", code=1)
    done = cli("review", "decide", "--confirm", yes, "--reject", no, "--why", "read")
    assert done.startswith("1 confirmed, 1 rejected  (batch ")
    batch = done.split()[-1].rstrip(")")
    assert "confirmed  Ada leads Heron" in cli("review", "verdicts")
    assert cli("review", "revert", batch, "--why", "misread") == "taken back; 2 proposals wait again\n"
    assert "taken back by person:owner" in cli("review", "verdicts")
    [line, total] = cli("review", "refusals", "--lifted").splitlines()
    assert "Bob leads Egret" in line
    assert line.endswith("by person:owner misread")
    assert total == "1 refusals lifted"
    assert json.loads(cli("review", "refusals", "--lifted", "--json"))["total"] == 1
    assert cli("review", "revert", batch, code=1).startswith("Error: this batch was reverted")
