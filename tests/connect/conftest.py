"""A home of one's own, a base, and the command as a person calls it."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from api.cli.main import main


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Where clients keep things on this machine; the working directory is a project in it."""
    home = tmp_path / "home"
    (home / "project").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.chdir(home / "project")
    return home


@pytest.fixture
def connect(dsn, tmp_path, database, kb, home):
    environment = {"TWOCLOCKS_DATABASE_URL": dsn, "TWOCLOCKS_DATA_DIR": str(tmp_path / "data")}

    def run(*arguments, code=0):
        done = CliRunner().invoke(main, ["connect", *(str(a) for a in arguments)], env=environment)
        assert done.exit_code == code, done.output
        return done.output

    return run
