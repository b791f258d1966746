"""The ontology from a terminal: exported, planned, applied; packs and defects."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from api.cli.main import main
from tests.ledger_facts import ONTOLOGY
from tests.substrate.ontology.writing import SYNTAXES


@pytest.fixture
def cli(dsn, tmp_path):
    environment = {"TWOCLOCKS_DATABASE_URL": dsn, "TWOCLOCKS_DATA_DIR": str(tmp_path / "data")}

    def run(*arguments, code=0):
        done = CliRunner().invoke(main, [str(a) for a in arguments], env=environment)
        assert done.exit_code == code, done.output
        return done.output

    file = tmp_path / "first.yaml"
    file.write_text(ONTOLOGY)
    run("kb", "create", "one", "--ontology", file)
    return run


def test_a_file_is_exported_planned_and_applied(cli, tmp_path):
    assert "relation   leads  leads" in cli("ontology", "show")
    assert json.loads(cli("ontology", "show", "leads"))["inverse_functional"] is True
    for suffix, form in ((".yaml", "yaml"), (".ttl", "turtle")):
        file = tmp_path / f"out{suffix}"
        cli("ontology", "export", "--format", form, "--to", file)
        assert "added 0, changed 0, removed 0, refused 0, unchanged 5" in cli("ontology", "plan", file)
    assert cli("ontology", "export") == (tmp_path / "out.yaml").read_text()
    file = tmp_path / "ships.owl"
    file.write_text(SYNTAXES["rdfxml"])
    shown = cli("ontology", "plan", file)
    assert "  added     class ferry\n" in shown and "note: imports https://elsewhere.example/sea" in shown
    plan = shown.split()[-1]
    assert "ferry" not in cli("ontology", "show")
    assert "added 10" in cli("ontology", "apply", plan, "--why", "ships")
    assert "ferry" in cli("ontology", "show")
    assert cli("ontology", "apply", plan, code=1).startswith("Error: this plan was applied at seq")
    assert json.loads(cli("ontology", "plan", file, "--json"))["counts"]["unchanged"] == 15
    odd = tmp_path / "x.csv"
    odd.write_text("")
    assert cli("ontology", "plan", odd, code=1).startswith("Error: x.csv: say the format")
    big = tmp_path / "big.ttl"
    with big.open("wb") as sparse:
        sparse.truncate(100_000_000)
    assert "at most 8388608 are taken" in cli("ontology", "plan", big, code=1)


def test_packs_are_added_by_name_and_defects_listed(cli):
    assert "foaf" in cli("ontology", "pack", "list")
    assert "added" in cli("ontology", "pack", "add", "prov", "--plan-only")
    assert "was_generated_by" not in cli("ontology", "show")
    assert "applied at seq" in cli("ontology", "pack", "add", "prov")
    assert "was_generated_by" in cli("ontology", "show")
    assert "applied" not in cli("ontology", "pack", "add", "prov")
    assert cli("ontology", "pack", "add", "nothing", code=1).startswith("Error: no pack 'nothing'")
    assert cli("ontology", "defects").endswith("0 defects\n")
