"""Writers for bench-repeat: each asserts, corrects and ends facts on one base until told to stop."""

from __future__ import annotations

import random
import threading
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID

from substrate.db import Database
from substrate.extraction.claims import ClaimTime, Value
from substrate.ledger import open_door
from substrate.ledger.assertions import assert_batch
from substrate.ledger.drafts import Draft, Evidence
from substrate.ledger.entities import resolve_names
from substrate.ledger.retractions import reject_fact
from substrate.ontology.store import load_ontology

ONTOLOGY = """
relations:
  - {key: leads, label: leads, inverse_functional: true}
  - {key: works_for, label: works for}
  - {key: part_of, label: part of}
attributes:
  - {key: salary, label: salary, functional: true, datatype: number, unit: EUR}
"""
PEOPLE = [f"Person {i:03}" for i in range(120)]
PROJECTS = [f"Project {i:02}" for i in range(40)]
HOUSES = [f"House {i:02}" for i in range(12)]
BEGIN = datetime(2015, 1, 1, tzinfo=UTC)
DAYS = 3650


def random_day(rng: random.Random) -> datetime:
    return BEGIN + timedelta(days=rng.randrange(DAYS))


def _time(rng: random.Random) -> ClaimTime:
    start = random_day(rng)
    if rng.random() < 0.2:
        end = start + timedelta(days=rng.randrange(30, 900))
        return ClaimTime(start, "day", end, "day")
    if rng.random() < 0.1:
        return ClaimTime(valid_to=None, valid_to_precision="unknown")
    return ClaimTime(start, "day")


def _statement(rng: random.Random) -> tuple[str, str, str | None, Value | None]:
    kind = rng.random()
    person = rng.choice(PEOPLE)
    if kind < 0.4:
        return person, "leads", rng.choice(PROJECTS), None
    if kind < 0.6:
        return person, "works_for", rng.choice(HOUSES), None
    if kind < 0.7:
        return rng.choice(PROJECTS), "part_of", rng.choice(HOUSES), None
    pay = rng.randrange(30, 90) * 1000
    return person, "salary", None, Value(str(pay), Decimal(pay), "EUR", "number")


class Writer(threading.Thread):
    """One writer with a random sequence of its own."""

    def __init__(self, db: Database, kb_id: UUID, seed: int, stop: threading.Event, pause_s: float) -> None:
        super().__init__(name=f"writer-{seed}")
        self.db, self.kb_id, self.stop_event, self.pause_s = db, kb_id, stop, pause_s
        self.rng = random.Random(seed)
        self.seed = seed
        self.written = 0
        self.failure: Exception | None = None

    def run(self) -> None:
        try:
            while not self.stop_event.wait(self.pause_s):
                self.reject() if self.rng.random() < 0.05 else self.say(self.rng.randrange(1, 6))
        except Exception as error:
            self.failure = error

    def say(self, count: int) -> None:
        """Assert a few statements in one transaction."""
        said = [_statement(self.rng) for _ in range(count)]
        with self.db.write(self.kb_id) as connection:
            ontology = load_ontology(connection, self.kb_id)
            with open_door(connection, self.kb_id, actor=self.name, via="pipeline", action="said") as door:
                names = {s for s, _, _, _ in said} | {o for _, _, o, _ in said if o is not None}
                entities = resolve_names(door, dict.fromkeys(names))
                drafts = [self._draft(entities, *s) for s in said]
                self.written += len(assert_batch(door, drafts, ontology).assertions)

    def _draft(
        self, entities: dict[str, UUID], subject: str, key: str, other: str | None, value: Value | None
    ) -> Draft:
        self.count = getattr(self, "count", 0) + 1
        return Draft(
            source_key=f"bench:{self.seed}:{self.count}",
            subject_id=entities[subject],
            phrase=key.replace("_", " "),
            predicate_key=key,
            object_id=None if other is None else entities[other],
            value=value,
            time=_time(self.rng),
            attested_at=random_day(self.rng) if self.rng.random() < 0.7 else None,
            evidence=Evidence(quote=f"{subject} {key} {other or value}"),
        )

    def reject(self) -> None:
        """Reject a random held fact, which also closes and reopens its neighbours."""
        with self.db.write(self.kb_id) as connection:
            with open_door(connection, self.kb_id, actor=self.name, via="rest", action="rejected") as door:
                row = connection.execute(
                    "select id from facts where kb_id = %s and invalidated_seq is null and id > %s order by id limit 1",
                    (self.kb_id, UUID(int=self.rng.getrandbits(128))),
                ).fetchone()
                if row is not None:
                    reject_fact(door, row["id"], "bench")
