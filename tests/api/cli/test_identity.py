"""Pairs in doubt from the terminal: listed with both sides, said to be two or one, and taken back."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from api.cli.main import main
from tests.substrate.ontology.lines import new_lines


@pytest.fixture
def cli(dsn, tmp_path, database, settings):
    environment = {"TWOCLOCKS_DATABASE_URL": dsn, "TWOCLOCKS_DATA_DIR": str(tmp_path / "data")}
    environment["TWOCLOCKS_MODELS_DIR"] = str(settings.models_dir.resolve())
    lines = new_lines(database, settings)
    lines.tell("acme", "Ana Ruiz | works for | Acme", "Ana Ruiz | leads | Orion")
    lines.tell("brill", "Ana Ruiz | works for | Brill", "Ana Ruiz | leads | Vega")

    def run(*arguments, code=0):
        done = CliRunner().invoke(main, ["entity", *map(str, arguments)], env=environment)
        assert done.exit_code == code, done.output
        return done.output

    return run


def test_candidates_are_listed_and_decided(cli):
    listed = cli("candidates")
    assert "Ana Ruiz ? Ana Ruiz  same name; different employers" in listed
    assert "    Ana Ruiz: Ana Ruiz | works for | Brill" in listed and listed.endswith("1 pairs\n")
    (pair,) = json.loads(cli("candidates", "--json"))["candidates"]
    distinction = cli("apart", pair["id"], "--why", "two desks").split()[1]
    assert cli("candidates") == "0 pairs\n"
    assert "in doubt no more" in cli("same", pair["id"], code=1)
    assert cli("reunite", distinction) == "taken back\n"
    assert "taken back" in cli("reunite", distinction, code=1)


def test_a_pair_that_is_one_is_merged(cli):
    (pair,) = json.loads(cli("candidates", "--json"))["candidates"]
    assert cli("same", pair["id"]).startswith("merged  ")
    assert cli("candidates") == "0 pairs\n" and "1 merges" in cli("merges")
