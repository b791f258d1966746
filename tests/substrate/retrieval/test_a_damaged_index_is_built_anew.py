"""An index whose files cannot be read is built anew by the next run, which says so, or by a command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from click.testing import CliRunner

from api.cli.main import main
from substrate.db import Database
from substrate.retrieval.lexical import rebuild_index, run_index
from substrate.retrieval.lexical_files import IndexFiles
from substrate.settings import Settings


def overwrite_meta(directory: Path) -> None:
    (directory / "meta.json").write_text("not json")


def remove_meta(directory: Path) -> None:
    (directory / "meta.json").unlink()


def remove_segments(directory: Path) -> None:
    for name in ("*.store", "*.term", "*.idx"):
        for file in directory.glob(name):
            file.unlink()


@pytest.mark.parametrize("damage", [overwrite_meta, remove_meta, remove_segments])
def test_the_next_run_builds_it_anew_and_says_so(
    shelf: Any, ask: Any, database: Database, kb: UUID, settings: Settings, damage: Callable[[Path], None]
) -> None:
    shelf.put("a.txt", ["a crate of tools"])
    assert run_index(database, kb, settings).failures == ()
    broken = IndexFiles(settings.index_dir, kb).current()
    assert broken is not None
    damage(broken)
    arms = ask("crate")["arms"]
    assert "twoclocks index rebuild" in arms["lexical"]
    mended = run_index(database, kb, settings)
    assert (mended.written, mended.failed) == (1, 0)
    [line] = mended.failures
    assert "could not be read" in line
    assert "built anew" in line
    assert IndexFiles(settings.index_dir, kb).current() != broken
    assert [c["text"] for c in ask("crate")["chunks"]] == ["a crate of tools"]
    assert ask("crate")["arms"]["lexical"] == "ok"
    assert run_index(database, kb, settings).failures == ()


def test_a_damaged_index_that_another_process_writes_is_left_to_it(
    shelf: Any, database: Database, kb: UUID, settings: Settings
) -> None:
    shelf.put("a.txt", ["a crate of tools"])
    run_index(database, kb, settings)
    files = IndexFiles(settings.index_dir, kb)
    broken = files.current()
    assert broken is not None
    overwrite_meta(broken)
    with files.writer():
        assert (run_index(database, kb, settings).skipped, rebuild_index(database, kb, settings).remaining) == (1, 1)


def test_the_command_builds_it_anew(shelf: Any, database: Database, kb: UUID, settings: Settings, dsn: str) -> None:
    shelf.put("a.txt", ["a crate of tools", "a rope"])
    run_index(database, kb, settings)
    files = IndexFiles(settings.index_dir, kb)
    before = files.current()
    environment = {"TWOCLOCKS_DATABASE_URL": dsn, "TWOCLOCKS_DATA_DIR": str(settings.data_dir)}
    done = CliRunner().invoke(main, ["index", "rebuild", "--kb", "test"], env=environment)
    assert (done.exit_code, done.output.split(" in ")[0]) == (0, "2 passages indexed"), done.output
    assert files.current() != before
    with files.writer():
        refused = CliRunner().invoke(main, ["index", "rebuild"], env=environment)
    assert refused.exit_code == 1
    assert "another process is writing it" in refused.output
