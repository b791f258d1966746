"""What phrases name, from the terminal: listed, previewed and decided, taken back, bound now."""

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
    lines.tell("a", "Ann | zorgles | Orion | 2024-01-01", "Bo | zorgles | Vega", "Cy | works for | Acme")

    def run(*arguments, code=0, said=None):
        done = CliRunner().invoke(main, ["bindings", *map(str, arguments)], env=environment, input=said)
        assert done.exit_code == code, done.output
        return done.output

    run.lines = lines
    return run


def test_a_phrase_is_listed_decided_and_taken_back(cli):
    listed = cli("list", "--state", "undecided")
    assert listed.startswith("     2  zorgle  →  -  (undecided)") and "Ann | zorgles" in listed
    assert listed.endswith("1 of 1 phrases; exact 1, undecided 1\n")
    refused = cli("decide", "zorgles", "leads", said="n\n", code=1)
    assert "retyped: Ann zorgles Orion ⇒ Ann leads Orion" in refused and "claims 2, retyped 2" in refused
    assert cli.lines.held()[0][1] == "~zorgles"
    made = cli("decide", "zorgles", "leads", "--yes", "--why", "same").split("decided  ")[1].split()[0]
    assert cli.lines.held()[0][1] == "leads"
    assert "zorgle  →  leads  (person)" in cli("list", "--state", "person")
    assert "taken back" in cli("undo", made, "--yes") and cli.lines.held()[0][1] == "~zorgles"
    cli("decide", "zorgles", "--none", "--yes")
    assert json.loads(cli("list", "--json"))["by_method"] == {"exact": 1, "person": 1}
    assert "give a RELATION" in cli("decide", "zorgles", code=2)
    assert "not declared" in cli("decide", "zorgles", "nowhere", "--yes", code=1)


def test_phrases_are_bound_now(cli):
    assert cli("run").startswith("decided 2, stand 0")
    assert cli("run").startswith("decided 0, stand 2")
