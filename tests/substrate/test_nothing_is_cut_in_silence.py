"""A pass does all that is due unless it is told how much, and what a list leaves out is counted."""

from __future__ import annotations

from uuid import UUID

import pytest
from click.testing import CliRunner

from api.cli.main import main
from orchestration.metadata import counts
from substrate import work
from substrate.db import Database
from substrate.documents.intake import PushItem, push
from substrate.pipeline import Services, run_step
from substrate.settings import Settings


def empty_documents(database: Database, kb: UUID, count: int) -> None:
    items = [PushItem(f"d{n}", f"d{n}.md", b"") for n in range(count)]
    push(database, kb, items, actor="person:Ada", via="rest")


def test_failures_beyond_the_listed_ones_are_counted(database: Database, kb: UUID, settings: Settings) -> None:
    empty_documents(database, kb, 25)
    with Services(settings) as services:
        result = run_step(database, kb, services, "parse")
    assert (result.failed, len(result.failures), result.unlisted) == (25, 20, 5)
    shown = counts(result)["failures"].md_str
    assert shown.count("\n- ") == 20
    assert shown.endswith("- … and 5 more")
    assert "more" not in counts(work.StageResult("parse", failed=1, failures=("a: b",)))["failures"].md_str


@pytest.mark.parametrize(("limit", "taken"), [(None, 3), (3, 3), (2, 2), (0, 0)])
def test_a_limit_is_a_limit_and_no_limit_is_none(
    database: Database, kb: UUID, settings: Settings, limit: int | None, taken: int
) -> None:
    empty_documents(database, kb, 3)
    with Services(settings) as services:
        result = run_step(database, kb, services, "parse", limit=limit)
    assert (result.failed, result.remaining) == (taken, 3 - taken)


def test_the_command_line_says_what_remains_and_what_it_does_not_list(
    database: Database, kb: UUID, settings: Settings, dsn: str
) -> None:
    empty_documents(database, kb, 21)
    environment = {"TWOCLOCKS_DATABASE_URL": dsn, "TWOCLOCKS_DATA_DIR": str(settings.data_dir)}
    environment["TWOCLOCKS_MODELS_DIR"] = str(settings.data_dir / "no models")
    done = CliRunner().invoke(main, ["run"], env=environment)
    assert done.exit_code == 1, done.output
    assert "failed 21, written 0, remaining 0," in done.output
    assert "… and 1 more" in done.output
