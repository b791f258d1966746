"""The built wheel carries all that it reads, and reads it without a checkout around it."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("substrate", "orchestration", "api")
BUILD = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
READ = """
import sys
from pathlib import Path
place = Path(sys.argv[1])
sys.path[:] = [str(place)] + [p for p in sys.path if p and not (Path(p) / "substrate" / "__init__.py").exists()]
import substrate
from orchestration.home import template
from substrate import sql
from substrate.migrate import load, migrations_dir
from substrate.reads.manual import pages
assert Path(substrate.__file__).is_relative_to(place)
assert template() == place / "orchestration" / "_dagster.yaml"
assert migrations_dir() == place / "substrate" / "_migrations"
assert {"README.md", "GLOSSARY.md", "docs/checking-from-outside.md"} <= dict(pages()).keys()
print(len(load()), bool(sql.query("dagster_database")))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Built as an installation builds it; hatchling is a pinned tool of this environment."""
    place = tmp_path_factory.mktemp("wheel")
    done = subprocess.run(
        [sys.executable, "-c", BUILD, str(place)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return place / done.stdout.split()[-1]


def _files(folder: Path) -> list[Path]:
    return [p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts]


def test_every_file_of_the_packages_and_every_migration_is_in_it(wheel):
    with zipfile.ZipFile(wheel) as built:
        held = {name: built.read(name) for name in built.namelist()}
    wanted = {p.relative_to(ROOT).as_posix(): p for package in PACKAGES for p in _files(ROOT / package)}
    wanted |= {f"substrate/_migrations/{p.name}": p for p in (ROOT / "migrations").glob("*.sql")}
    wanted["orchestration/_dagster.yaml"] = ROOT / "dagster.yaml"
    wanted["substrate/_manual/README.md"] = ROOT / "README.md"
    assert {"substrate/py.typed", "substrate/sql/reads.sql", "api/cli/main.py"} <= wanted.keys()
    assert [name for name, path in wanted.items() if held.get(name) != path.read_bytes()] == []
    [licences] = {name.partition("/")[0] for name in held if name.endswith("/licenses/LICENSE")}
    assert held[f"{licences}/licenses/NOTICE"] == (ROOT / "NOTICE").read_bytes()
    assert not any(name.startswith(("tests/", "demo/", "bench/", "tools/")) for name in held)


def test_it_finds_what_it_reads_without_a_checkout(wheel, tmp_path: Path):
    with zipfile.ZipFile(wheel) as built:
        built.extractall(tmp_path / "site")
    done = subprocess.run(
        [sys.executable, "-c", READ, str(tmp_path / "site")], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(len(list((ROOT / "migrations").glob("*.sql")))), "True"]
