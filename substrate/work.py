"""What needs work: items of a stage at one version of the code, leased by workers that may die at any moment.

An item becomes due in the transaction that made it so. A worker leases items, works outside any transaction,
and proves by its token, in the transaction of its last write, that it still owns them. So a worker may be
killed anywhere, and two may run at once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal
from uuid import UUID, uuid4

from substrate import sql
from substrate.db import AnyConnection, Database, WriteConnection
from substrate.errors import LeaseLost

Stage = Literal["parse", "embed", "claims", "entities", "facts"]
STAGES: tuple[Stage, ...] = ("parse", "embed", "claims", "entities", "facts")
LISTED_FAILURES = 20
UNKNOWN_VERSION = "unknown"
"""The code version of what waits for a model that could not be opened to say its name."""


@dataclass(frozen=True, slots=True)
class StageResult:
    """What one pass of a stage did. ``watermark`` is the base's sequence number after it."""

    stage: str
    done: int = 0
    skipped: int = 0
    """Items that needed nothing, for example a chunk of a version that was deleted meanwhile."""
    failed: int = 0
    written: int = 0
    """Rows added to the stage's tables."""
    remaining: int = 0
    """Items left: over the limit, held by another worker, or waiting for a retry."""
    seconds: float = 0.0
    cost: Mapping[str, int] = field(default_factory=dict)
    """Tokens paid for, by kind."""
    failures: tuple[str, ...] = ()
    """The first 20, each as ``document: reason``."""
    unlisted: int = 0
    """How many more there were."""
    watermark: int = 0


@dataclass(frozen=True, slots=True)
class Lease:
    """Items that one worker owns until it finishes, releases or outlives its time."""

    stage: Stage
    token: UUID
    items: tuple[UUID, ...]
    code_version: str


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an item was not done. With `retry` it becomes due again after a pause."""

    code: str
    message: str
    retry: bool = False


@dataclass(frozen=True, slots=True)
class Backlog:
    """A base where something can be leased now."""

    kb_id: UUID
    slug: str
    items: int
    latest: datetime
    """When the youngest of the items became due."""


def add_due(conn: WriteConnection, kb_id: UUID, stage: Stage, item_ids: Iterable[UUID], code_version: str) -> None:
    """Make items due where their cause is written. Items known at this version stay as they are."""
    values = {"kb_id": kb_id, "stage": stage, "items": list(item_ids), "code_version": code_version}
    conn.execute(sql.query("add_due"), values)


def outdate(conn: WriteConnection, kb_id: UUID, stage: Stage, code_version: str) -> int:
    """Set aside what waits for another version than `code_version`; returns how many items."""
    values = {"kb_id": kb_id, "stage": stage, "code_version": code_version}
    return conn.execute(sql.query("outdate_work"), values).rowcount


def lease(
    db: Database,
    kb_id: UUID,
    stage: Stage,
    *,
    limit: int,
    seconds: float = 300,
    max_started: int = 3,
    code_version: str | None = None,
    quarantined: dict[UUID, str] | None = None,
) -> Lease | None:
    """Take up to `limit` free items of one code version for `seconds`, and commit; None if there are none.

    An item whose workers died `max_started` times in a row is quarantined instead of leased; it is put into
    `quarantined` with the reason.
    """
    token = uuid4()
    values = {
        "kb_id": kb_id,
        "stage": stage,
        "most": limit,
        "seconds": seconds,
        "max_started": max_started,
        "code_version": code_version,
        "token": token,
    }
    with db.write(kb_id) as conn:
        stuck = conn.execute(sql.query("quarantine_work"), values).fetchall()
        rows = conn.execute(sql.query("lease_work"), values).fetchall()
    if quarantined is not None:
        quarantined.update({r["item_id"]: r["failure"] for r in stuck})
    if not rows:
        return None
    ordered = sorted(rows, key=lambda r: (r["due_at"], r["item_id"]))
    return Lease(stage, token, tuple(r["item_id"] for r in ordered), rows[0]["code_version"])


def finish(
    conn: WriteConnection,
    kb_id: UUID,
    lease: Lease,
    done: Collection[UUID],
    failed: Mapping[UUID, Failure | tuple[str, str, bool]] | None = None,
) -> None:
    """Settle items of `lease` in the transaction of the last write about them.

    Raises `LeaseLost`, which rolls that transaction back, if another worker took one of them over.
    """
    failed = failed or {}
    key = {"kb_id": kb_id, "stage": lease.stage, "code_version": lease.code_version, "token": lease.token}
    settled = 0
    if done:
        settled += conn.execute(sql.query("finish_done"), {**key, "items": list(done)}).rowcount
    if failed:
        reasons = [f if isinstance(f, Failure) else Failure(*f) for f in failed.values()]
        values = {
            "items": list(failed),
            "codes": [f.code for f in reasons],
            "messages": [f.message.replace("\0", "\ufffd") for f in reasons],
            "retries": [f.retry for f in reasons],
        }
        settled += conn.execute(sql.query("finish_failed"), {**key, **values}).rowcount
    if settled != len(done) + len(failed):
        raise LeaseLost(None, stage=lease.stage, lost=len(done) + len(failed) - settled)


def release(db: Database, kb_id: UUID, lease: Lease) -> None:
    """Give back what is not settled yet; it does not count as a start."""
    values = {"kb_id": kb_id, "stage": lease.stage, "token": lease.token}
    with db.write(kb_id) as conn:
        conn.execute(sql.query("release_work"), values)


def abandon(db: Database, kb_id: UUID, lease: Lease) -> None:
    """Free what is not settled yet at once; it counts as a start that did not finish."""
    values = {"kb_id": kb_id, "stage": lease.stage, "token": lease.token}
    with db.write(kb_id) as conn:
        conn.execute(sql.query("abandon_work"), values)


def postpone(db: Database, kb_id: UUID, stage: Stage, seconds: float) -> None:
    """Let everything of a stage that nobody holds wait, since what it needs is not there now."""
    with db.write(kb_id) as conn:
        conn.execute(sql.query("postpone_work"), {"kb_id": kb_id, "stage": stage, "seconds": seconds})


def add_due_chunks(conn: WriteConnection, kb_id: UUID, stage: Stage, code_version: str, *, held_only: bool) -> int:
    """Make due every chunk that the stage has not met at this version of the code; returns how many."""
    values = {"kb_id": kb_id, "stage": stage, "code_version": code_version, "held_only": held_only}
    return conn.execute(sql.query("add_due_chunks"), values).rowcount


def add_due_unmet_chunks(conn: WriteConnection, kb_id: UUID, stage: Stage, *, held_only: bool) -> int:
    """Make due what the stage never met, at a version yet unknown, so that it is seen to wait; returns how many.

    The stage itself sets these aside (`outdate`) and makes the same chunks due at the version it then runs at.
    """
    values = {"kb_id": kb_id, "stage": stage, "code_version": UNKNOWN_VERSION, "held_only": held_only}
    return conn.execute(sql.query("add_due_unmet_chunks"), values).rowcount


def due_counts(conn: AnyConnection, kb_id: UUID) -> dict[str, int]:
    """Per stage with any, how many items could be leased now."""
    rows = conn.execute(sql.query("due_counts"), {"kb_id": kb_id}).fetchall()
    return {row["stage"]: row["items"] for row in rows}


def remaining(conn: AnyConnection, kb_id: UUID, stage: Stage) -> int:
    """Items of a stage not finished: free, leased, or waiting for a retry."""
    row = conn.execute(sql.query("work_remaining"), {"kb_id": kb_id, "stage": stage}).fetchone()
    return int(row["items"]) if row else 0


def backlogs(conn: AnyConnection) -> list[Backlog]:
    """Every base where something can be leased now."""
    rows = conn.execute(sql.query("bases_with_due_work")).fetchall()
    return [Backlog(r["id"], r["slug"], r["items"], r["latest"]) for r in rows]


def failures(conn: AnyConnection, kb_id: UUID, *, limit: int = 100) -> list[dict[str, object]]:
    """What did not get through, newest first: stage, state, code, reason and the document."""
    return conn.execute(sql.query("work_failures"), {"kb_id": kb_id, "most": limit}).fetchall()


def documents_of(conn: AnyConnection, kb_id: UUID, stage: Stage, items: Iterable[UUID]) -> dict[UUID, str]:
    """The external id of the document that each item of a stage belongs to; an item of none is left out."""
    values = {"kb_id": kb_id, "stage": stage, "items": list(items)}
    rows = conn.execute(sql.query("work_documents"), values).fetchall()
    return {r["item_id"]: r["external_id"] for r in rows if r["external_id"] is not None}


def watermark(conn: AnyConnection, kb_id: UUID) -> int:
    """The base's sequence number now; 0 for a base nobody wrote to."""
    row = conn.execute(sql.query("head_seq"), {"kb_id": kb_id}).fetchone()
    return int(row["seq"]) if row else 0
