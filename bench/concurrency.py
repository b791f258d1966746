"""Twelve writers correct one base at once; last line ``concurrency: done= errors= overlaps=``.

Every correction says, under a date of its own, who leads a project from some day on; a later date wins. Since each
project has one leader at a time, everybody's corrections cut everybody's stretches. Afterwards one writer alone says
the same in the order of the dates, and must come to the same timelines.

The baseline in the same run is what is written where nobody thought of a lock: read the current rows of a project,
close those that the correction overlaps, put back what is left of them, with ``now()`` as record time. It runs twice,
on a plain table and on one whose exclusion constraint forbids two beliefs at once.
"""

from __future__ import annotations

import argparse
import random
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import psycopg

from bench.database import ROOT, commit, fresh_settings
from substrate.bases import create_base
from substrate.db import NO_BASE, Database, open_database
from substrate.extraction.claims import ClaimTime
from substrate.ledger import open_door
from substrate.ledger.assertions import assert_batch
from substrate.ledger.drafts import Draft, Evidence
from substrate.ledger.entities import resolve_names
from substrate.ledger.verify import verify
from substrate.ontology.store import load_ontology

SEED, PEOPLE, DAYS = 20240705, 30, 400
EPOCH = datetime(2020, 1, 1, tzinfo=UTC)
ONTOLOGY = "relations:\n  - {key: leads, label: leads, inverse_functional: true}\n"
OVERLAPS = """
    select count(*) as n from facts f
    join facts g on g.kb_id = f.kb_id and g.object_id = f.object_id and g.id < f.id
    where f.kb_id = %(kb_id)s and f.predicate_key = 'leads' and g.predicate_key = 'leads'
      and int8range(f.recorded_seq, f.invalidated_seq) && int8range(g.recorded_seq, g.invalidated_seq)
      and tstzrange(f.holds_from, f.holds_to) && tstzrange(g.holds_from, g.holds_to)"""
"""Pairs of beliefs about one project that were held at once and hold at once."""


@dataclass(frozen=True)
class Correction:
    """From day `start` on `person` led `project`, says a text of day `said`."""

    said: int
    project: str
    person: str
    start: int


@dataclass(frozen=True)
class Outcome:
    """What became of the corrections; `errors` by kind."""

    done: int
    errors: dict[str, int]
    overlaps: int
    seconds: float

    @property
    def failed(self) -> int:
        """How many corrections raised."""
        return sum(self.errors.values())


def corrections(count: int, projects: int) -> list[Correction]:
    """So many, from one seed."""
    rnd = random.Random(SEED)
    return [
        Correction(n, f"Project {rnd.randrange(projects)}", f"Person {rnd.randrange(PEOPLE)}", rnd.randrange(DAYS))
        for n in range(count)
    ]


def at_once(writers: int, work: Sequence[Correction], correct: Callable[[int, Correction], None]) -> Outcome:
    """Each writer takes every n-th correction and goes on after an error, which is counted. No overlaps are."""
    errors: dict[str, int] = {}
    counting, together = threading.Lock(), threading.Barrier(writers)

    def write(writer: int) -> int:
        done = 0
        together.wait()
        for c in work[writer::writers]:
            try:
                correct(writer, c)
                done += 1
            except Exception as error:
                kind = getattr(error, "sqlstate", None) or type(error).__name__
                with counting:
                    errors[kind] = errors.get(kind, 0) + 1
        return done

    begun = time.monotonic()
    with ThreadPoolExecutor(writers) as pool:
        done = sum(pool.map(write, range(writers)))
    return Outcome(done, errors, 0, time.monotonic() - begun)


class Base:
    """The product's way: every correction through the door of one base."""

    def __init__(self, db: Database, slug: str) -> None:
        self.db = db
        with db.write(NO_BASE) as connection:
            self.kb_id = create_base(connection, slug, slug, ontology_yaml=ONTOLOGY)

    def correct(self, writer: int, c: Correction) -> None:
        """One transaction."""
        with self.db.write(self.kb_id) as connection:
            with open_door(
                connection, self.kb_id, actor=f"writer-{writer}", via="pipeline", action="corrected"
            ) as door:
                who = resolve_names(door, {c.project: None, c.person: None})
                assert_batch(door, [_draft(c, who)], load_ontology(connection, self.kb_id))

    def timelines(self) -> list[tuple[object, ...]]:
        """What is held of every project, without ids."""
        with self.db.read(self.kb_id) as connection:
            rows = connection.execute(
                """select o.label as project, s.label as person, f.holds_from, f.holds_to from facts f
                   join entities s on s.kb_id = f.kb_id and s.id = f.subject_id
                   join entities o on o.kb_id = f.kb_id and o.id = f.object_id
                   where f.kb_id = %(kb_id)s and f.invalidated_seq is null order by 1, 3, 2""",
                {"kb_id": self.kb_id},
            ).fetchall()
        return [tuple(row.values()) for row in rows]

    def overlaps(self) -> int:
        """`OVERLAPS` now."""
        with self.db.read(self.kb_id) as connection:
            row = connection.execute(OVERLAPS, {"kb_id": self.kb_id}).fetchone()
        assert row is not None
        return int(row["n"])

    def verified(self) -> bool:
        """Does the chain verify?"""
        with self.db.read(self.kb_id) as connection:
            return verify(connection, self.kb_id).ok


def _draft(c: Correction, who: dict[str, UUID]) -> Draft:
    return Draft(
        source_key=f"bench:{c.said}",
        subject_id=who[c.person],
        phrase="leads",
        predicate_key="leads",
        object_id=who[c.project],
        time=ClaimTime(EPOCH + timedelta(days=c.start), "day"),
        attested_at=EPOCH + timedelta(days=c.said),
        corrects=True,
        evidence=Evidence(quote=f"{c.person} led {c.project}"),
    )


def many_writers(db: Database, slug: str, writers: int, work: Sequence[Correction]) -> tuple[Outcome, bool]:
    """All of `work` by `writers` at once; and whether one writer alone comes to the same, and the chain holds."""
    crowded, alone = Base(db, slug), Base(db, f"{slug}-alone")
    outcome = at_once(writers, work, crowded.correct)
    with db.write(alone.kb_id) as connection:
        with open_door(connection, alone.kb_id, actor="alone", via="pipeline", action="corrected") as door:
            who = resolve_names(door, dict.fromkeys(n for c in work for n in (c.project, c.person)))
            assert_batch(door, [_draft(c, who) for c in work], load_ontology(connection, alone.kb_id))
    same = alone.timelines() == crowded.timelines() and crowded.verified()
    return Outcome(outcome.done, outcome.errors, crowded.overlaps(), outcome.seconds), same


class Naive:
    """Read, then write, in one transaction and without a lock."""

    FORBIDS = "exclude using gist (project with =, valid with &&, known with &&)"

    def __init__(self, dsn: str, name: str, rule: str = "") -> None:
        self.dsn, self.name = dsn, name
        self.connections: dict[int, psycopg.Connection] = {}
        with psycopg.connect(dsn) as connection:
            connection.execute("create extension if not exists btree_gist")
            connection.execute(
                f"create table {name} (id bigserial primary key, project text, person text, valid tstzrange,"
                f" known tstzrange{', ' + rule if rule else ''})"
            )

    def correct(self, writer: int, c: Correction) -> None:
        """The correction holds from its start to the next start that is known of the project."""
        if writer not in self.connections:
            # Writers who wait for one another are found at once instead of after a second, or it takes all day.
            self.connections[writer] = psycopg.connect(self.dsn, options="-c deadlock_timeout=20ms")
        connection = self.connections[writer]
        with connection.transaction():
            start = EPOCH + timedelta(days=c.start)
            found = connection.execute(
                f"select id, person, lower(valid) as a, upper(valid) as b from {self.name}"
                " where project = %s and upper_inf(known)",
                (c.project,),
            ).fetchall()
            end = min((a for _, _, a, _ in found if a > start), default=None)
            for row, person, a, b in found:
                if (b is None or b > start) and (end is None or a < end):
                    connection.execute(
                        f"update {self.name} set known = tstzrange(lower(known), now()) where id = %s", (row,)
                    )
                    if a < start:
                        self._insert(connection, c.project, person, a, start)
            self._insert(connection, c.project, c.person, start, end)

    def _insert(
        self, connection: psycopg.Connection, project: str, person: str, a: datetime, b: datetime | None
    ) -> None:
        connection.execute(
            f"insert into {self.name} (project, person, valid, known)"
            " values (%s, %s, tstzrange(%s, %s), tstzrange(now(), null))",
            (project, person, a, b),
        )

    def overlaps(self) -> int:
        """Pairs of beliefs about one project that are held now and hold at once; of former ones there are too many."""
        with psycopg.connect(self.dsn) as connection:
            row = connection.execute(
                f"select count(*) from {self.name} f join {self.name} g on g.project = f.project and g.id < f.id"
                " and f.valid && g.valid and upper_inf(f.known) and upper_inf(g.known)"
            ).fetchone()
        assert row is not None
        return int(row[0])

    def run(self, writers: int, work: Sequence[Correction]) -> Outcome:
        """All of `work`; the connections are closed."""
        outcome = at_once(writers, work, self.correct)
        for connection in self.connections.values():
            connection.close()
        return Outcome(outcome.done, outcome.errors, self.overlaps(), outcome.seconds)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, prog="bench.concurrency")
    parser.add_argument("--writers", type=int, default=12)
    parser.add_argument("--corrections", type=int, default=1800)
    parser.add_argument("--projects", type=int, default=12)
    arguments = parser.parse_args()
    writers, work = arguments.writers, corrections(arguments.corrections, arguments.projects)
    with fresh_settings() as settings:
        settings = settings.model_copy(update={"pool_size": writers + 4})
        with open_database(settings, "bench") as db:
            ours, same = many_writers(db, "concurrency", writers, work)
        assert settings.database_url is not None
        dsn = settings.database_url.get_secret_value()
        naive = {
            "no lock": Naive(dsn, "naive").run(writers, work),
            "no lock, exclusion constraint": Naive(dsn, "naive_excluding", Naive.FORBIDS).run(writers, work),
        }
    for name, o in {"twoclocks": ours, **naive}.items():
        print(f"{name}: done={o.done} errors={o.failed} {o.errors or ''} overlaps={o.overlaps} in {o.seconds:.1f} s")
    line = f"concurrency: done={ours.done} errors={ours.failed} overlaps={ours.overlaps}"
    _write(arguments, ours, naive, same, line)
    print(line)
    return 0 if same and (ours.done, ours.failed, ours.overlaps) == (len(work), 0, 0) else 1


def _row(name: str, o: Outcome) -> str:
    kinds = ", ".join(f"{count} x {kind}" for kind, count in sorted(o.errors.items())) or "none"
    return f"| {name} | {o.done} | {o.failed} | {kinds} | {o.overlaps} | {o.seconds:.1f} |"


def _write(arguments: argparse.Namespace, ours: Outcome, naive: dict[str, Outcome], same: bool, line: str) -> None:
    rows = "\n".join(_row(name, o) for name, o in {"Twoclocks": ours, **naive}.items())
    path = Path(ROOT) / "bench" / "results" / "concurrency.md"
    path.write_text(
        f"""# bench-concurrency

- Commit: {commit()}
- Work: {arguments.corrections} corrections of {arguments.projects} projects' leaders by {arguments.writers} writers
  at once, a transaction each
- Overlapping pairs: of beliefs about one project; Twoclocks' at any number of its order, the baseline's at the end
- Seed: {SEED}
- Repetitions: one run
- Baseline in the same run: read, then write, without a lock and with `now()` as record time; once on a plain table,
  once under an exclusion constraint over project, valid time and record time
- One writer alone, told the same in the order of the dates, comes to the same timelines, and the chain verifies:
  {"yes" if same else "NO"}

| way | done | errors | of which | overlapping pairs | seconds |
|---|---|---|---|---|---|
{rows}

What it does not show: speed as such (the product keeps evidence, a chain and every former belief; the baseline keeps
none of these), and writers on many bases, which do not meet.

```
{line}
```
""",
        encoding="utf-8",
    )


if __name__ == "__main__":
    sys.exit(main())
