"""One pass of a stage: lease a batch, do it, settle it in the transaction of its last write, and again.

Whatever goes wrong, no item is lost: a killed worker's lease runs out, a bug gives the batch back and counts against
it, and what only a missing model prevents waits a minute without counting.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from uuid import UUID

from substrate import work
from substrate.db import Database
from substrate.errors import LeaseLost, ModelUnavailable, Unavailable

MODEL_PAUSE_S = 60.0
"""How long a stage's items wait when its model cannot be used."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Tally:
    """What a pass has done so far."""

    done: int = 0
    skipped: int = 0
    failed: int = 0
    written: int = 0
    cost: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    unlisted: int = 0

    def fail(self, document: str, reason: str) -> None:
        """Count a failure, and name it if it is among the first 20."""
        self.failed += 1
        self._list([reason if reason.startswith(f"{document}:") else f"{document}: {reason}"])

    def pay(self, usage: Mapping[str, int]) -> None:
        """Add what a model cost."""
        for kind, amount in usage.items():
            self.cost[kind] = self.cost.get(kind, 0) + amount

    def add(self, other: Tally) -> None:
        """Take over the counts of a batch whose transaction has committed."""
        self.done += other.done
        self.skipped += other.skipped
        self.failed += other.failed
        self.written += other.written
        self.pay(other.cost)
        self.unlisted += other.unlisted
        self._list(other.failures)

    def _list(self, lines: Sequence[str]) -> None:
        room = max(work.LISTED_FAILURES - len(self.failures), 0)
        self.failures += lines[:room]
        self.unlisted += len(lines[room:])


def run_pass(
    db: Database,
    kb_id: UUID,
    stage: work.Stage,
    handle: Callable[[work.Lease], Tally],
    *,
    batch: int,
    limit: int | None = None,
    code_version: str | None = None,
    lease_seconds: float = 300,
) -> work.StageResult:
    """Work through what is due, all of it or at most `limit` items, in batches that `handle` commits."""
    started, total, taken = time.monotonic(), Tally(), 0
    while limit is None or taken < limit:
        size, stuck = batch if limit is None else min(batch, limit - taken), dict[UUID, str]()
        lease = work.lease(
            db, kb_id, stage, limit=size, seconds=lease_seconds, code_version=code_version, quarantined=stuck
        )
        if stuck:
            name_quarantined(db, kb_id, stage, stuck, total)
        if lease is None:
            break
        taken += len(lease.items)
        try:
            total.add(_settled(db, kb_id, lease, handle))
        except ModelUnavailable as error:
            _wait_for_the_model(db, kb_id, lease, error, total)
            break
    return result_of(db, kb_id, stage, total, started)


def name_quarantined(db: Database, kb_id: UUID, stage: work.Stage, stuck: Mapping[UUID, str], total: Tally) -> None:
    """Count items that were quarantined when a batch was leased, by the documents they are of."""
    with db.read(kb_id) as conn:
        documents = work.documents_of(conn, kb_id, stage, stuck)
    for item, reason in stuck.items():
        total.fail(documents.get(item, f"{stage} {item}"), reason)


def _settled(db: Database, kb_id: UUID, lease: work.Lease, handle: Callable[[work.Lease], Tally]) -> Tally:
    try:
        return handle(lease)
    except LeaseLost:
        # Its transaction was rolled back and the items are another worker's now.
        _log.warning("%s: a batch outlived its lease", lease.stage)
        return Tally()
    except ModelUnavailable:
        raise
    except (Unavailable, KeyboardInterrupt):
        with suppress(Unavailable):
            work.release(db, kb_id, lease)
        raise
    except Exception:
        with suppress(Unavailable):
            work.abandon(db, kb_id, lease)
        raise


def _wait_for_the_model(db: Database, kb_id: UUID, lease: work.Lease, error: ModelUnavailable, total: Tally) -> None:
    with db.write(kb_id) as conn:
        reason = work.Failure("model_unavailable", str(error), retry=True)
        work.finish(conn, kb_id, lease, (), dict.fromkeys(lease.items, reason))
    work.postpone(db, kb_id, lease.stage, MODEL_PAUSE_S)
    total.failed += len(lease.items)
    total.failures.append(f"{len(lease.items)} items of stage {lease.stage}: {error}")


def result_of(db: Database, kb_id: UUID, stage: work.Stage, total: Tally, started: float) -> work.StageResult:
    """What a pass did that began at `started` on the monotonic clock, and what is left."""
    with db.read(kb_id) as conn:
        left, mark = work.remaining(conn, kb_id, stage), work.watermark(conn, kb_id)
    return work.StageResult(
        stage,
        done=total.done,
        skipped=total.skipped,
        failed=total.failed,
        written=total.written,
        remaining=left,
        seconds=time.monotonic() - started,
        cost=total.cost,
        failures=tuple(total.failures),
        unlisted=total.unlisted,
        watermark=mark,
    )
