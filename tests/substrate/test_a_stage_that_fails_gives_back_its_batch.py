"""The stages that write the ledger: an error frees their batch at once, and what is set aside is counted and named."""

from __future__ import annotations

from uuid import UUID

import psycopg
import pytest

from substrate import work
from substrate.db import Database
from substrate.documents.intake import PushItem, push
from substrate.pipeline import Services, Step, run_pipeline, run_step
from substrate.settings import Settings

BEFORE: tuple[Step, ...] = ("parse", "claims", "entities")


@pytest.fixture
def services(settings: Settings) -> Services:
    return Services(settings)


def two_documents(database: Database, kb: UUID) -> None:
    items = [
        PushItem("good", "good.md", b"Ada Keller leads Project Orion."),
        PushItem("bad", "bad.md", b"Eve Moss leads Project Vega."),
    ]
    push(database, kb, items, actor="person:Ada", via="rest")


def poison(dsn: str, table: str, column: str) -> None:
    """From now on the database refuses one row that a stage wants to write."""
    with psycopg.connect(dsn, autocommit=True) as owner:
        owner.execute(
            f"""create function poison() returns trigger language plpgsql as $$ begin
                if new.{column} like '%Eve Moss%' then raise exception 'poison'; end if; return new; end $$"""
        )
        owner.execute(f"create trigger poison before insert on {table} for each row execute function poison()")


@pytest.mark.parametrize(
    ("stage", "table", "column"), [("entities", "mentions", "surface"), ("facts", "assertions", "quote")]
)
def test_an_error_frees_the_batch_and_in_the_end_sets_aside_the_one_chunk_by_name(
    database: Database, kb: UUID, services: Services, dsn: str, stage: Step, table: str, column: str
) -> None:
    two_documents(database, kb)
    run_pipeline(database, kb, services, BEFORE[: BEFORE.index("entities") + (stage == "facts")])
    poison(dsn, table, column)
    failed, named = 0, []
    for attempt in range(12):
        try:
            result = run_step(database, kb, services, stage)
        except psycopg.errors.RaiseException:
            with database.read(kb) as conn:
                assert work.due_counts(conn, kb)[stage], attempt
            continue
        failed, named = result.failed, list(result.failures)
        break
    assert failed == 1
    assert named == ["bad: its worker died 3 times"]
    with database.read(kb) as conn:
        assert work.due_counts(conn, kb).get(stage) is None
        [failure] = work.failures(conn, kb)
        assert (failure["external_id"], failure["state"]) == ("bad", "quarantined")
        written = conn.execute(f"select count(*) as n from {table}").fetchone()
        assert written is not None
        assert written["n"] > 0
    assert run_step(database, kb, services, stage).failed == 0
