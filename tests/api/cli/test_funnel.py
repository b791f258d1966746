"""The funnel from the terminal."""

from __future__ import annotations

import json

from click.testing import CliRunner

from api.cli.main import main
from tests.substrate.ontology.lines import new_lines


def test_the_funnel_is_a_table_or_json(dsn, tmp_path, database, settings):
    lines = new_lines(database, settings)
    lines.tell("a", "Ann | zorgles | Orion", "Bo | leads | Vega", "no line")
    environment = {"TWOCLOCKS_DATABASE_URL": dsn, "TWOCLOCKS_DATA_DIR": str(tmp_path / "data")}

    def run(*arguments):
        done = CliRunner().invoke(main, ["funnel", *arguments], env=environment)
        assert done.exit_code == 0, done.output
        return done.output

    shown = run("lines")
    assert "no_object 1" in shown and "exact 1, undecided 1" in shown and "█" in shown
    assert "2 of 3 sentences have a claim (67%)" in shown
    assert "2 claims rest on 2 facts" in shown and "undecided: zorgle 1" in shown
    assert json.loads(run("--json"))["balanced"] is True
