"""Many writers correct one base at once: all are done, none fails, and no two beliefs that exclude each other overlap.

====================================================  =============================================
given                                                 then
====================================================  =============================================
1,800 corrections of twelve timelines by twelve       1,800 done, no error, no overlapping pair at
writers                                               any number of the order
the same                                              what one writer alone comes to
the same without a lock                               errors or overlaps: the check can see them
====================================================  =============================================

``pytest -m slow`` has sixteen writers make 20,000.
"""

from __future__ import annotations

import psycopg
import pytest

from bench.concurrency import OVERLAPS, Base, Naive, corrections, many_writers
from substrate.db import Database


def check(dsn: str, writers: int, count: int, projects: int) -> None:
    with Database(dsn, pool_size=writers, application_name="test") as database:
        outcome, same = many_writers(database, "crowded", writers, corrections(count, projects))
    assert (outcome.done, outcome.errors, outcome.overlaps) == (count, {}, 0)
    assert same, "one writer alone comes to other timelines, or the chain is broken"


def test_twelve_writers_make_1800_corrections(dsn):
    check(dsn, 12, 1_800, 12)


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_sixteen_writers_make_20000_corrections(dsn):
    check(dsn, 16, 20_000, 80)


def test_without_a_lock_it_goes_wrong_and_is_seen(dsn):
    plain = Naive(dsn, "naive").run(12, corrections(400, 2))
    assert plain.overlaps > 0
    assert Naive(dsn, "naive_excluding", Naive.FORBIDS).run(12, corrections(60, 2)).errors


def test_the_count_of_overlaps_sees_one(dsn, database):
    base = Base(database, "one")
    for c in corrections(40, 1):
        base.correct(0, c)
    assert base.overlaps() == 0
    with psycopg.connect(dsn) as owner:
        owner.execute("set session_replication_role = replica")
        owner.execute("update facts set holds_to = null where invalidated_seq is null and holds_to is not null")
        assert owner.execute(OVERLAPS, {"kb_id": base.kb_id}).fetchone()[0] > 0
