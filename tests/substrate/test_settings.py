"""A setting that cannot be meant is one error that names its variable, for every entry point."""

from __future__ import annotations

import subprocess
import sys

import pytest
from click.testing import CliRunner

from api.cli.main import main
from substrate.errors import InvalidInput
from substrate.settings import load_settings


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("TWOCLOCKS_API_PORT", "abc"),
        ("TWOCLOCKS_API_PORT", "0"),
        ("TWOCLOCKS_EMBEDDER", "bert"),
        ("TWOCLOCKS_THREADS", ""),
        ("TWOCLOCKS_API_PRT", "8420"),
    ],
)
def test_a_wrong_variable_is_named(monkeypatch, variable, value):
    monkeypatch.setenv(variable, value)
    with pytest.raises(InvalidInput, match=f"^{variable}: ") as caught:
        load_settings()
    assert caught.value.facts["field"] == variable


def test_a_secret_is_not_said_back(monkeypatch):
    monkeypatch.setenv("TWOCLOCKS_CHAT_API_KEY", "sk-hidden")
    monkeypatch.setenv("TWOCLOCKS_POOL_SIZE", "sk-hidden")
    with pytest.raises(InvalidInput) as caught:
        load_settings()
    assert "hidden" not in str(caught.value)


def test_variables_that_are_known_or_for_tests_pass(monkeypatch):
    monkeypatch.setenv("TWOCLOCKS_TEST_DATABASE_URL", "postgresql://nowhere/x")
    monkeypatch.setenv("TWOCLOCKS_API_PORT", "9000")
    monkeypatch.setenv("twoclocks_threads", "3")
    assert (load_settings().api_port, load_settings().threads) == (9000, 3)


def test_a_command_says_it_in_one_line():
    done = CliRunner().invoke(main, ["status"], env={"TWOCLOCKS_API_PORT": "abc"})
    assert done.exit_code == 1
    assert done.output.startswith("Error: TWOCLOCKS_API_PORT: ")
    assert done.output.count("\n") == 1


@pytest.mark.parametrize("module", ["api.serve", "orchestration.home", "demo"])
def test_a_process_says_it_without_a_traceback(module):
    setting = "import os, runpy; os.environ['TWOCLOCKS_API_PORT'] = 'abc'"
    program = f"{setting}; runpy.run_module('{module}', run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert "TWOCLOCKS_API_PORT: " in done.stderr
    assert "Traceback" not in done.stderr
