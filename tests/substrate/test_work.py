"""Leases: disjoint, fenced, counted, and never a reason to lose an item."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from uuid import UUID, uuid4

import pytest

from substrate import work
from substrate.db import EVERY_BASE, Database
from substrate.errors import LeaseLost


def due(database: Database, kb: UUID, count: int, version: str = "v1") -> list[UUID]:
    items = [uuid4() for _ in range(count)]
    with database.write(kb) as conn:
        work.add_due(conn, kb, "embed", items, version)
    return items


def finish(database: Database, kb: UUID, lease: work.Lease, failed: dict[UUID, work.Failure] | None = None) -> None:
    with database.write(kb) as conn:
        work.finish(conn, kb, lease, [i for i in lease.items if i not in (failed or {})], failed)


def ready(database: Database, kb: UUID) -> int:
    with database.read(kb) as conn:
        return work.due_counts(conn, kb).get("embed", 0)


def state(database: Database, item: UUID) -> str:
    with database.read(EVERY_BASE) as conn:
        row = conn.execute("select state from work where item_id = %s", (item,)).fetchone()
    return row["state"]


def test_two_workers_at_once_take_disjoint_items_and_together_all(database: Database, kb: UUID) -> None:
    items = due(database, kb, 40)
    barrier = Barrier(4)

    def worker(_: int) -> list[UUID]:
        barrier.wait()
        taken = []
        while (lease := work.lease(database, kb, "embed", limit=3)) is not None:
            taken += lease.items
        return taken

    with ThreadPoolExecutor(4) as pool:
        taken = [i for part in pool.map(worker, range(4)) for i in part]
    assert sorted(taken) == sorted(items)
    assert work.lease(database, kb, "embed", limit=3) is None


def test_due_is_idempotent_and_a_finished_item_stays_finished(database: Database, kb: UUID) -> None:
    items = due(database, kb, 2)
    with database.write(kb) as conn:
        work.add_due(conn, kb, "embed", items, "v1")
    assert ready(database, kb) == 2
    lease = work.lease(database, kb, "embed", limit=10)
    assert lease is not None
    finish(database, kb, lease)
    with database.write(kb) as conn:
        work.add_due(conn, kb, "embed", items, "v1")
    assert ready(database, kb) == 0
    with database.write(kb) as conn:
        work.add_due(conn, kb, "embed", items, "v2")
    assert ready(database, kb) == 2


def test_a_worker_that_outlived_its_lease_writes_nothing(database: Database, kb: UUID) -> None:
    due(database, kb, 2)
    slow = work.lease(database, kb, "embed", limit=10, seconds=0)
    assert slow is not None
    quick = work.lease(database, kb, "embed", limit=10)
    assert quick is not None

    def write() -> None:
        with database.write(kb) as conn:
            work.add_due(conn, kb, "claims", [uuid4()], "v1")
            work.finish(conn, kb, slow, slow.items)

    with pytest.raises(LeaseLost):
        write()
    with database.read(kb) as conn:
        assert "claims" not in work.due_counts(conn, kb)
    finish(database, kb, quick)
    assert state(database, quick.items[0]) == "done"


def test_an_expired_lease_that_nobody_took_may_still_finish(database: Database, kb: UUID) -> None:
    due(database, kb, 1)
    lease = work.lease(database, kb, "embed", limit=1, seconds=0)
    assert lease is not None
    finish(database, kb, lease)
    assert state(database, lease.items[0]) == "done"
    with pytest.raises(LeaseLost):
        finish(database, kb, lease)


def test_an_item_that_kills_its_worker_three_times_is_quarantined_alone(database: Database, kb: UUID) -> None:
    items = due(database, kb, 12)
    poison = items[5]
    for _ in range(30):
        lease = work.lease(database, kb, "embed", limit=16, seconds=0)
        if lease is None:
            break
        if poison not in lease.items:
            finish(database, kb, lease)
    assert [i for i in items if state(database, i) != "done"] == [poison]
    assert state(database, poison) == "quarantined"
    with database.read(kb) as conn:
        failure = work.failures(conn, kb)[0]
    assert failure["failure_code"] == "crashed"


def test_a_failure_is_final_or_waits_for_its_retry(database: Database, kb: UUID) -> None:
    final, later = due(database, kb, 2)
    lease = work.lease(database, kb, "embed", limit=2)
    assert lease is not None
    finish(
        database,
        kb,
        lease,
        {final: work.Failure("encrypted", "no password"), later: work.Failure("down", "503", retry=True)},
    )
    assert (state(database, final), state(database, later)) == ("failed", "due")
    assert ready(database, kb) == 0
    with database.read(kb) as conn:
        assert work.remaining(conn, kb, "embed") == 1
        assert {f["failure_code"] for f in work.failures(conn, kb)} == {"encrypted", "down"}


def test_release_gives_items_back_without_counting_a_start(database: Database, kb: UUID) -> None:
    due(database, kb, 1)
    for _ in range(5):
        lease = work.lease(database, kb, "embed", limit=1)
        assert lease is not None
        work.release(database, kb, lease)
    assert ready(database, kb) == 1


def test_work_for_code_that_no_longer_runs_is_set_aside_and_can_come_back(database: Database, kb: UUID) -> None:
    items = due(database, kb, 1, "old")
    with database.write(kb) as conn:
        work.add_due(conn, kb, "embed", items, "new")
        assert work.outdate(conn, kb, "embed", "new") == 1
    lease = work.lease(database, kb, "embed", limit=5)
    assert lease is not None
    assert lease.code_version == "new"
    assert work.lease(database, kb, "embed", limit=5) is None
    with database.write(kb) as conn:
        work.add_due(conn, kb, "embed", items, "old")
    assert ready(database, kb) == 1


def test_a_backlog_is_seen_per_base_and_vanishes_when_leased(database: Database, kb: UUID) -> None:
    with database.read(kb) as conn:
        assert work.backlogs(conn) == []
    due(database, kb, 3)
    with database.read(kb) as conn:
        [backlog] = work.backlogs(conn)
    assert (backlog.kb_id, backlog.slug, backlog.items) == (kb, "test", 3)
    work.lease(database, kb, "embed", limit=5)
    with database.read(kb) as conn:
        assert work.backlogs(conn) == []
