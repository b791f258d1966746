"""Passages in flight to a server: leased ahead of the answers, and written as these come, in whatever order.

No connection to the database is held while an answer is awaited. Whatever goes wrong, no passage is lost: one that was
not answered waits and is due again, and what is not settled when the worker dies is free when its lease runs out.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import Any
from uuid import UUID

from substrate import sql, work
from substrate.db import Database
from substrate.errors import LeaseLost, ModelUnavailable, Unavailable
from substrate.extraction.budget import RECHECK_S, Terms, reserve, settle, standing
from substrate.extraction.claims import Asking, Extraction, Passage
from substrate.extraction.keeping import held_rows, keep, known_things, passage_of
from substrate.passes import MODEL_PAUSE_S, Tally, name_quarantined, result_of

ROUNDS = 3
"""Passages leased, for each that can be in flight: the next ones wait in line while answers are written."""
GATHER_S = 0.1
LEASE_S = 900.0
"""A passage waits for at most two calls before its own, and each has `SECONDS_PER_CALL`."""
GIVE_UP_AFTER = 3
"""Passages in a row, with none answered between them, for which the endpoint stayed down: then the pass ends."""
OURS_FOR_S = 1.0
"""How long a base counts as read by this extractor after that was looked up."""
_FOR_GOOD = (401, 403, 404)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Asked:
    row: dict[str, Any]
    lease: work.Lease
    passage: Passage


class Flight:
    """One pass over what is due in a base."""

    def __init__(
        self, db: Database, kb_id: UUID, key: str, extractor: Asking, terms: Terms, *, limit: int | None = None
    ) -> None:
        self._db, self._kb_id, self._key = db, kb_id, key
        self._extractor, self._terms, self._left = extractor, terms, limit
        self._flying: dict[Future[Extraction], _Asked] = {}
        self._landing: dict[Future[Extraction], _Asked] = {}
        self._failed: dict[Future[Extraction], ModelUnavailable] = {}
        """Of those that are landing, why they have no answer."""
        self._waiting: list[_Asked] = []
        """Leased, and the budget has no room for them as long as calls under way may use it up."""
        self._total = Tally()
        self._over = False
        """Nothing more is leased."""
        self._down: ModelUnavailable | None = None
        self._in_a_row = 0
        self._pause_s = 0.0
        self._abandoned: set[UUID] = set()
        self._asking = Lock()
        self._rival: str | None = None
        self._ours_until = 0.0

    def run(self) -> work.StageResult:
        """Until nothing is due, the limit is reached, the endpoint stays down or the budget is spent."""
        started = time.monotonic()
        try:
            self._fill()
            while self._flying:
                wait(self._flying, return_when=FIRST_COMPLETED)
                if len(self._flying) > self._extractor.at_once:
                    # Its places are taken from those in line: what comes together is written together.
                    wait(self._flying, timeout=GATHER_S)
                done = {f: asked for f, asked in self._flying.items() if f.done()}
                for future in done:
                    del self._flying[future]
                self._landing = done
                self._failed = {future: error for future in done if (error := self._failure(future)) is not None}
                # The endpoint is given more to do first; what it said can be written meanwhile.
                self._fill()
                self._land(list(done.items()))
                self._landing = {}
                if self._waiting:
                    self._fill()
        except BaseException:
            self._give_back()
            raise
        if self._rival is not None:
            with self._db.write(self._kb_id) as conn:
                work.outdate(conn, self._kb_id, "claims", self._rival)
        elif self._pause_s:
            work.postpone(self._db, self._kb_id, "claims", self._pause_s)
        return result_of(self._db, self._kb_id, "claims", self._total, started)

    def _fill(self) -> None:
        """Lease as much as keeps every place of the extractor taken while the next answers are written."""
        most = ROUNDS * self._extractor.at_once
        self._begin()
        while not (self._over or self._waiting) and len(self._flying) <= most - max(self._extractor.at_once // 2, 1):
            size = most - len(self._flying)
            size = size if self._left is None else min(size, self._left)
            lease = self._lease(size) if size else None
            if lease is None:
                self._over = True
                return
            if self._left is not None:
                self._left -= len(lease.items)
            self._take(lease)
            self._begin()
        if self._waiting and not self._flying and not self._landing:
            self._pause()

    def _lease(self, size: int) -> work.Lease | None:
        stuck: dict[UUID, str] = {}
        lease = work.lease(
            self._db,
            self._kb_id,
            "claims",
            limit=size,
            seconds=LEASE_S,
            code_version=self._key,
            quarantined=stuck,
        )
        if stuck:
            name_quarantined(self._db, self._kb_id, "claims", stuck, self._total)
        return lease

    def _take(self, lease: work.Lease) -> None:
        """Read what was leased; what nobody holds any more is done with."""
        with self._db.read(self._kb_id) as conn:
            rows = held_rows(conn, self._kb_id, lease.items)
            known = known_things(conn, self._kb_id, self._key, [row["id"] for row in rows])
        held = {row["id"] for row in rows}
        idle = [item for item in lease.items if item not in held]
        if idle:
            with self._db.write(self._kb_id) as conn:
                work.finish(conn, self._kb_id, lease, idle)
        self._total.skipped += len(idle)
        self._waiting += [_Asked(row, lease, passage_of(row, known.get(row["id"], ()))) for row in rows]

    def _begin(self) -> None:
        """Ask about what waits, as far as the budget has room for it."""
        if not self._waiting or self._down is not None:
            return
        calls = [(asked.row["id"], self._extractor.estimate(asked.passage)) for asked in self._waiting]
        # An answer that is not settled yet counts as under way, for it is not known to the budget.
        places = max(self._extractor.at_once - len(self._flying) - len(self._landing), 0)
        with self._db.write(self._kb_id) as conn:
            granted = reserve(conn, self._kb_id, self._terms, calls, seconds=LEASE_S, most=places)
        for asked in self._waiting[:granted]:
            self._flying[self._extractor.submit(asked.passage, self._must_be_ours)] = asked
        del self._waiting[:granted]

    def _must_be_ours(self) -> None:
        """Raises `ModelUnavailable` if another extractor took the base over; asked before each call, which is paid."""
        with self._asking:
            if self._rival is None and time.monotonic() >= self._ours_until:
                with self._db.read(self._kb_id) as conn:
                    found = conn.execute(sql.query("epoch_latest"), {"kb_id": self._kb_id}).fetchone()
                self._rival = found["extractor"] if found is not None and found["extractor"] != self._key else None
                self._ours_until = time.monotonic() + OURS_FOR_S
            if self._rival is not None:
                raise ModelUnavailable(f"passages are read by {self._rival} now", taken_over=self._rival)

    def _pause(self) -> None:
        """The budget is spent, or the endpoint is down: what was leased and not sent is due again later."""
        with self._db.read(self._kb_id) as conn:
            now = standing(conn, self._kb_id, self._terms)
        reason = work.Failure("budget_spent", now.alert or "", retry=True)
        if self._down is not None:
            reason = work.Failure("model_unavailable", str(self._down), retry=True)
        else:
            _log.warning("base %s: %s", self._kb_id, reason.message)
            left = (now.ends - datetime.now(now.ends.tzinfo)).total_seconds()
            self._pause_s = min(max(left, 1.0), RECHECK_S)
        self._over = True
        self._total.failed += len(self._waiting)
        self._total.failures.append(f"{len(self._waiting)} items and those after them wait: {reason.message}")
        for lease in {asked.lease.token: asked.lease for asked in self._waiting}.values():
            ids = [asked.row["id"] for asked in self._waiting if asked.lease is lease]
            with suppress(LeaseLost), self._db.write(self._kb_id) as conn:
                work.finish(conn, self._kb_id, lease, (), dict.fromkeys(ids, reason))
        self._waiting.clear()

    def _land(self, done: Sequence[tuple[Future[Extraction], _Asked]]) -> None:
        """Settle passages whose calls are over, those that were answered in one transaction for each lease."""
        landed = [(asked, future) for future, asked in done]
        bugs = [error for _, future in landed if (error := _bug(future)) is not None]
        with self._db.write(self._kb_id) as conn:
            settle(conn, self._kb_id, self._terms, {asked.row["id"]: _usage(future) for asked, future in landed})
        by_lease: dict[UUID, list[tuple[_Asked, Future[Extraction]]]] = {}
        for asked, future in landed:
            by_lease.setdefault(asked.lease.token, []).append((asked, future))
        for group in by_lease.values():
            self._settle(group)
        if bugs:
            for token, lease in {asked.lease.token: asked.lease for asked, f in landed if _bug(f)}.items():
                # It counts against all of the lease, which then comes in ever smaller ones until the culprit is alone.
                work.abandon(self._db, self._kb_id, lease)
                self._abandoned.add(token)
            raise bugs[0]

    def _settle(self, group: Collection[tuple[_Asked, Future[Extraction]]]) -> None:
        lease = next(iter(group))[0].lease
        answered = [(asked.row, future.result()) for asked, future in group if _answered(future)]
        tally = Tally(done=len(answered))
        reasons: dict[UUID, work.Failure] = {}
        for asked, future in group:
            if (error := self._failed.get(future)) is not None:
                reasons[asked.row["id"]] = work.Failure("model_unavailable", str(error), retry=True)
                tally.fail(asked.row["external_id"], str(error))
        try:
            with self._db.write(self._kb_id) as conn:
                tally.written += keep(conn, self._kb_id, self._key, answered)
                ids = [row["id"] for row, _ in answered]
                work.finish(conn, self._kb_id, lease, ids, reasons)
                work.add_due(conn, self._kb_id, "entities", ids, self._key)
        except LeaseLost:
            _log.warning("claims: %d passages outlived their lease", len(group))
            tally = Tally()
        for _, future in group:
            tally.pay(_usage(future))
        self._total.add(tally)

    def _failure(self, future: Future[Extraction]) -> ModelUnavailable | None:
        """Why a passage has no answer, counted towards giving the endpoint up; None for one that has or that broke."""
        if future.cancelled():
            return self._down or ModelUnavailable("the pass was given up")
        error = future.exception()
        if not isinstance(error, ModelUnavailable):
            self._in_a_row = 0
            return None
        self._in_a_row += 1
        if error.facts.get("taken_over"):
            self._stop(error)
        elif self._down is None and (error.facts.get("status") in _FOR_GOOD or self._in_a_row >= GIVE_UP_AFTER):
            self._give_up(error)
        return error

    def _give_up(self, error: ModelUnavailable) -> None:
        """The endpoint is down: what was not sent yet is not sent, and everything that is due waits."""
        self._stop(error)
        self._pause_s = max(self._pause_s, MODEL_PAUSE_S, float(error.facts.get("retry_after") or 0.0))  # type: ignore[arg-type]

    def _stop(self, error: ModelUnavailable) -> None:
        """Nothing more is leased, and what was not sent yet is not sent."""
        self._down, self._over = error, True
        for future in self._flying:
            future.cancel()

    def _give_back(self) -> None:
        """Nothing of what is in flight is waited for; what it will cost is counted by nobody but its server."""
        for future in self._flying:
            future.cancel()
        held = [*self._flying.values(), *self._landing.values(), *self._waiting]
        for lease in {asked.lease.token: asked.lease for asked in held}.values():
            if lease.token not in self._abandoned:
                with suppress(Unavailable):
                    work.release(self._db, self._kb_id, lease)


def _answered(future: Future[Extraction]) -> bool:
    return not future.cancelled() and future.exception() is None


def _bug(future: Future[Extraction]) -> BaseException | None:
    with suppress(CancelledError):
        error = future.exception()
        return None if error is None or isinstance(error, ModelUnavailable) else error
    return None


def _usage(future: Future[Extraction]) -> Mapping[str, int]:
    """What a call has cost, also where it came to nothing."""
    if future.cancelled():
        return {}
    error = future.exception()
    if error is None:
        return future.result().usage
    usage = error.facts.get("usage") if isinstance(error, ModelUnavailable) else None
    return usage if isinstance(usage, Mapping) else {}
