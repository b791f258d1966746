"""What is imported is declared, and the locks name packages and hashes alone."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OURS = {"substrate", "orchestration", "api", "demo", "bench", "tools", "tests", "twoclocks"}


@cache
def _providers() -> Mapping[str, list[str]]:
    # The pool of psycopg is a package of its own that one declares as an extra.
    return {**packages_distributions(), "psycopg_pool": ["psycopg"]}


def _name(text: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[\[<>=!~; ]", text)[0]).lower()


def _declared(*extras: str) -> set[str]:
    lists = [PROJECT["dependencies"], *(PROJECT["optional-dependencies"][extra] for extra in extras)]
    return {_name(entry) for entries in lists for entry in entries}


def _imports(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(p for p in folder.rglob("*.py") if "node_modules" not in p.parts):
        local = {p.stem for p in path.parent.glob("*.py")}  # a script imports what lies beside it
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
            yield from ((top, path) for n in names if (top := n.partition(".")[0]) not in local)


@pytest.mark.parametrize(
    ("folder", "extras"),
    [
        ("substrate", ()),
        ("orchestration", ()),
        ("api", ()),
        ("demo", ()),
        ("bench", ("bench",)),
        ("tools", ("models", "dev")),
        ("tests", ("models", "bench", "dev")),
    ],
)
def test_what_is_imported_is_declared(folder, extras):
    declared, providers = _declared(*extras), _providers()
    found = dict(_imports(ROOT / folder))
    foreign = {name: path for name, path in found.items() if name not in OURS | set(sys.stdlib_module_names)}
    missing = {
        f"{name} ({path.relative_to(ROOT)})"
        for name, path in foreign.items()
        if not declared & {_name(p) for p in providers.get(name, [])}
    }
    assert missing == set()


@pytest.mark.parametrize("name", ["bootstrap", "runtime", "dev", "models"])
def test_a_lock_holds_hashes_and_neither_an_address_nor_a_gpu_stack(name):
    lines = (ROOT / "locks" / f"{name}.lock").read_text(encoding="utf-8").splitlines()
    packages = [line for line in lines if re.match(r"[a-z0-9]", line)]
    assert packages
    assert all("==" in line for line in packages)
    assert sum("--hash=sha256:" in line for line in lines) >= len(packages)
    assert [line for line in lines if re.search(r"://|--(extra-)?index-url|--find-links|-i ", line)] == []
    assert [line for line in packages if re.match(r"(torch|nvidia|triton)\b", line)] == []


def test_what_is_declared_is_locked():
    for lock, extras in (("runtime", ("models", "bench")), ("dev", ("models", "bench", "dev"))):
        text = (ROOT / "locks" / f"{lock}.lock").read_text(encoding="utf-8")
        locked = {_name(line) for line in text.splitlines() if re.match(r"[a-z0-9]", line)}
        assert _declared(*extras) <= locked
