"""Migrations: numbered without gaps, named for a property, hashed, forward only, and what they make is checked in."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from substrate.errors import Unavailable
from substrate.migrate import load, migrate
from tools.dump_schema import TARGET, dump


def test_every_file_is_numbered_without_gaps_and_named_as_a_sentence():
    found = load()
    assert [m.number for m in found] == list(range(1, len(found) + 1))
    assert all(len(m.name.split("_")) >= 4 for m in found)


def test_applied_twice_is_applied_once(dsn):
    assert migrate(dsn) == [], "the template was migrated already"


def test_the_schema_is_the_one_checked_in(dsn):
    with psycopg.connect(dsn) as connection:
        # The harness's clones carry the same catalog as a database migrated from nothing.
        assert connection.execute("select count(*) from schema_migrations").fetchone() == (len(load()),)
    assert dump(dsn) == TARGET.read_text(encoding="utf-8"), "run tools/dump_schema.py and review the difference"


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (["0001_a_b_c.sql", "0003_a_b_c.sql"], "without gaps"),
        (["0001_a_b_c.sql", "0001_d_e_f.sql"], "without gaps"),
        (["0001-topic.sql"], "the name must be"),
    ],
)
def test_gaps_duplicates_and_topics_are_refused(tmp_path: Path, names, problem):
    for name in names:
        (tmp_path / name).write_text("select 1")
    with pytest.raises(Unavailable, match=problem):
        load(tmp_path)


def test_a_file_changed_after_it_was_applied_is_refused(dsn, tmp_path: Path):
    for m in load():
        (tmp_path / f"{m.number:04}_{m.name}.sql").write_text(m.text)
    assert migrate(dsn, tmp_path) == []
    last = max(tmp_path.iterdir())
    last.write_text(last.read_text() + "\n-- edited")
    with pytest.raises(Unavailable, match="changed after"):
        migrate(dsn, tmp_path)


def test_a_database_ahead_of_the_code_is_refused(dsn, tmp_path: Path):
    for m in load()[:-1]:
        (tmp_path / f"{m.number:04}_{m.name}.sql").write_text(m.text)
    with pytest.raises(Unavailable, match="does not know"):
        migrate(dsn, tmp_path)


def test_a_failing_migration_leaves_nothing_behind(dsn, tmp_path: Path):
    for m in load():
        (tmp_path / f"{m.number:04}_{m.name}.sql").write_text(m.text)
    following = f"{len(load()) + 1:04}_this_one_fails_half_way.sql"
    (tmp_path / following).write_text("create table half (x int); select 1/0")
    with pytest.raises(psycopg.errors.DivisionByZero):
        migrate(dsn, tmp_path)
    with psycopg.connect(dsn) as connection:
        assert connection.execute("select to_regclass('half')").fetchone() == (None,)
