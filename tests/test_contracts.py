"""Each import contract and house lint is broken once in a small tree, and the tool that guards it says so."""

from __future__ import annotations

import itertools
import runpy
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CONTRACTS = [
    c["name"] for c in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
]
MODULES = (
    "substrate/__init__.py",
    "substrate/settings.py",
    "substrate/sql/__init__.py",
    "substrate/axes/__init__.py",
    "substrate/axes/valid_time.py",
    "substrate/axes/transaction_time.py",
    "substrate/ledger/__init__.py",
    "substrate/ledger/_rows.py",
    "substrate/ledger/door.py",
    "substrate/reads.py",
    "orchestration/__init__.py",
    "api/__init__.py",
)
IMPORTS = [
    (0, "api/__init__.py", "import orchestration", "api -> orchestration"),
    (0, "orchestration/__init__.py", "import api", "orchestration -> api"),
    (0, "substrate/reads.py", "import api", "substrate.reads -> api"),
    (1, "substrate/reads.py", "import dagster", "substrate.reads -> dagster"),
    (1, "substrate/reads.py", "def late():\n    from fastapi import FastAPI", "substrate.reads -> fastapi"),
    (2, "substrate/axes/valid_time.py", "from substrate.axes import transaction_time", "-> substrate.axes.transaction"),
    (3, "substrate/reads.py", "from substrate.ledger import _rows", "substrate.reads -> substrate.ledger._rows"),
]
"""The contract's place in pyproject.toml, a module, what it must not import, and how that is told."""
LINTS = [
    ("environment:", "api/__init__.py", "import os\nx = os.environ['HOME']"),
    ("environment:", "substrate/reads.py", "import os\nx = os.getenv('HOME')"),
    ("sql:", "orchestration/__init__.py", "x = 'select id from facts'"),
    ("sql:", "substrate/reads.py", "x = 'with held as (select 1) select 2'"),
    ("sql:", "substrate/reads.py", "t = 'facts'\nx = f'delete from {t}'"),
    ("axis:", "substrate/sql/reads.sql", "-- name: one\nselect 1 from facts f where f.recorded_seq <= 4"),
    ("axis:", "substrate/sql/reads.sql", "-- name: one\nselect 1 from facts f where %(seq)s >= f.recorded_seq"),
    ("axis:", "substrate/reads.py", "x = row['valid_from'] <= at"),
    ("axis:", "substrate/reads.py", "x = row.recorded_seq <= seq < row.invalidated_seq"),
    ("axis:", "api/__init__.py", "x = fact.valid_to - day"),
    ("size:", "substrate/reads.py", "def long():\n" + "    x = 1\n" * 60),
    ("size:", "substrate/reads.py", "x = 1\n" * 501),
    ("asset:", "orchestration/__init__.py", "@dg.asset\ndef facts():\n" + "    x = 1\n" * 16),
]
ALLOWED = [
    ("substrate/settings.py", "import os\nx = os.environ['HOME']"),
    ("substrate/ledger/_rows.py", "x = 'insert into facts values (1)'"),
    ("substrate/reads.py", "x = 'select id from facts'  # lint: sql one reason"),
    (
        "substrate/sql/reads.sql",
        "-- name: one\n-- lint: axis one reason\nselect 1 from facts f where f.recorded_seq <= 4",
    ),
    ("substrate/axes/valid_time.py", "x = fact.valid_to - day"),
    ("substrate/reads.py", "x = row['valid_from'] <= at  # lint: axis one reason"),
    ("substrate/reads.py", "x = row['valid_from'] == at or row['valid_to'] is None"),
    ("substrate/ledger/door.py", "from substrate.ledger import _rows"),
    ("substrate/reads.py", "def long():\n" + "    x = 1\n" * 59),
    ("orchestration/__init__.py", "@dg.asset\ndef facts():\n" + "    x = 1\n" * 15),
]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Packages with hardly anything in them, the project's contracts and the lint."""
    for name in MODULES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "tools").mkdir()
    shutil.copyfile(ROOT / "tools" / "lint.py", tmp_path / "tools" / "lint.py")
    shutil.copyfile(ROOT / "pyproject.toml", tmp_path / "pyproject.toml")
    return tmp_path


def _imports(tree: Path) -> tuple[int, str]:
    program = "import sys; sys.path.insert(0, '.'); from importlinter.cli import lint_imports_command as lint; lint()"
    done = subprocess.run([sys.executable, "-c", program, "--no-cache"], cwd=tree, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def lints(tree: Path, capsys) -> Callable[[], tuple[int, str]]:
    """Runs the tree's own copy of the lint, which reads what lies around it."""

    def run() -> tuple[int, str]:
        code: int = runpy.run_path(str(tree / "tools" / "lint.py"))["main"]()
        return code, capsys.readouterr().out

    return run


def test_a_tree_without_a_breach_passes(tree, lints):
    code, said = _imports(tree)
    assert (code, f"{len(CONTRACTS)} kept, 0 broken" in said) == (0, True), said
    assert lints() == (0, "")


def test_imports_that_break_a_contract_are_refused_each_by_its_own(tree):
    for _, where, text, _ in IMPORTS:
        with (tree / where).open("a") as file:
            file.write(text + "\n")
    code, said = _imports(tree)
    assert code == 1
    told = said.partition("Broken contracts")[2]
    begins = [told.index(contract) for contract in CONTRACTS]  # a contract that nothing here breaks is not found
    sections = [told[a:b] for a, b in itertools.pairwise([*begins, len(told)])]
    assert [edge for at, *_, edge in IMPORTS if edge not in sections[at]] == [], said


@pytest.mark.parametrize(("rule", "where", "text"), LINTS)
def test_a_breach_of_a_house_rule_is_named_with_its_place(tree, lints, rule, where, text):
    (tree / where).write_text(text + "\n")
    code, said = lints()
    assert code == 1
    assert f"{where}:" in said
    assert rule in said


@pytest.mark.parametrize(("where", "text"), ALLOWED)
def test_what_the_rules_allow_passes(tree, lints, where, text):
    (tree / where).write_text(text + "\n")
    assert lints() == (0, "")
