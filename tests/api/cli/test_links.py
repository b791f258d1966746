"""``twoclocks neighbors``, ``paths``, ``explain``, ``rules``, ``manual`` and ``gaps`` over a real database."""

from __future__ import annotations

import json

from substrate import gaps
from tests.api.cli.test_history import cli as cli


def test_links_chains_reasons_and_rules(cli):
    assert "- Bob (untyped; 2023-04-01 → open)" in cli("neighbors", "Heron", "--at", "2024")
    assert "Ada —leads→ Heron" in cli("paths", "Ada", "Bob")
    [link] = json.loads(cli("neighbors", "Ada", "--json"))["neighbors"]
    assert 'evidence: "Ada leads Heron."' in cli("explain", link["fact_id"])
    assert "inverse_functional" in cli("rules")
    assert "README.md" in cli("manual", "twoclocks up starts the database")
    assert "to: the same entity" in cli("paths", "Ada", "Ada", code=1)


def test_questions_without_answer(cli, database, kb):
    assert cli("gaps", "list") == "0 questions\n"
    kept = gaps.keep(database, kb, "Who signed?", asker="person:A", via="report_gap", seq=1)
    assert "1 times by 1: Who signed?  [open]" in cli("gaps", "list")
    cli("gaps", "dismiss", kept.id, "--why", "not ours")
    assert cli("gaps", "list") == "0 questions\n"
    assert "[dismissed]" in cli("gaps", "list", "--state", "any")
    cli("gaps", "reopen", kept.id)
    assert "[open]" in cli("gaps", "list")
