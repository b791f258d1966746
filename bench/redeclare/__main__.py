"""``make bench-redeclare``: a plain relation over 100,000 facts is declared functional, previewed and then applied.

The base is generated: subjects with five values each, most with a start of their own, some with the start of another
value, some without any. Checked beside the clock: the preview wrote nothing, what came out is what it said, and a read
as of before the declaration still shows the old state.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from bench.database import ROOT, commit, fresh_settings
from substrate.bases import create_base
from substrate.db import NO_BASE, Database, open_database
from substrate.extraction.claims import UNDATED, ClaimTime
from substrate.ledger import open_door
from substrate.ledger.assertions import assert_batch
from substrate.ledger.drafts import Draft
from substrate.ledger.entities import resolve_names
from substrate.ledger.redeclare import Plan, apply_redeclaration, preview_redeclaration
from substrate.ledger.verify import verify
from substrate.ontology.store import load_ontology
from substrate.reads.facts import entity_facts
from substrate.reads.moments import resolve

ONTOLOGY = "relations: [{key: works_at, label: works at}]"
VALUES, HOUSES, BATCH, SEED = 5, 400, 1_000, 20240705
BEGIN = datetime(2000, 1, 1, tzinfo=UTC)
SAME_DAY, NO_DAY = 0.02, 0.02
PREVIEW_S, APPLY_S = 5.0, 60.0


@dataclass(frozen=True)
class Outcome:
    """Seconds, and what came out."""

    plan: Plan
    write_s: float
    preview_s: float
    apply_s: float
    cpu_s: tuple[float, float]
    """What of the two this process itself computed, the database aside."""
    right: bool


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, prog="bench.redeclare")
    parser.add_argument("--facts", type=int, default=100_000)
    arguments = parser.parse_args()
    with fresh_settings() as settings, open_database(settings, "bench") as db:
        with db.write(NO_BASE) as connection:
            kb_id = create_base(connection, "redeclare", "Redeclare", ontology_yaml=ONTOLOGY)
        outcome = run(db, kb_id, arguments.facts)
    counts = outcome.plan.counts
    line = (
        f"redeclare: facts={outcome.plan.facts} preview_s={outcome.preview_s:.2f} apply_s={outcome.apply_s:.2f} "
        f"closed={counts['closed']} conflicts={counts['conflicts_opened']}"
    )
    if arguments.facts == 100_000:
        _write(outcome, line)
    print(line)
    return 0 if outcome.right and outcome.preview_s < PREVIEW_S and outcome.apply_s < APPLY_S else 1


def run(db: Database, kb_id: UUID, facts: int) -> Outcome:
    """Fill the base, preview, apply, and look at both clocks."""
    started = time.perf_counter()
    subjects = fill(db, kb_id, facts)
    filled = time.perf_counter()
    print(f"{facts} facts written in {filled - started:.0f} s", flush=True)
    before = picture(db, kb_id, subjects, None)
    begun, busy = time.perf_counter(), time.process_time()
    with db.read(kb_id) as connection:
        plan = preview_redeclaration(connection, kb_id, "works_at", functional=True)
    previewed, busy_preview = time.perf_counter(), time.process_time() - busy
    unchanged = picture(db, kb_id, subjects, None) == before
    print(f"previewed in {previewed - begun:.2f} s: {dict(plan.counts)}", flush=True)
    again, busy = time.perf_counter(), time.process_time()
    with (
        db.write(kb_id) as writing,
        open_door(writing, kb_id, actor="person:bench", via="cli", action="relation redeclared") as door,
    ):
        apply_redeclaration(door, plan.change, seq=plan.seq, fingerprint=plan.fingerprint)
    applied, busy_apply = time.perf_counter(), time.process_time() - busy
    print(f"applied in {applied - again:.2f} s", flush=True)
    as_before = picture(db, kb_id, subjects, plan.seq) == before
    closed = sum(f["end"] == "inferred" for answer in picture(db, kb_id, subjects, None) for f in answer)
    with db.read(kb_id) as connection:
        sound = verify(connection, kb_id).ok
    right = unchanged and as_before and closed > 0 and sound
    cpu = busy_preview, busy_apply
    return Outcome(plan, filled - started, previewed - begun, applied - again, cpu, right)


def fill(db: Database, kb_id: UUID, facts: int) -> list[str]:
    """Assert through the ledger's door; returns a sample of the subjects."""
    rng = random.Random(SEED)
    subjects = [f"Person {i:06}" for i in range(facts // VALUES)]
    said = [(s, house, when) for s in subjects for house, when in _stays(rng)]
    for i in range(0, len(said), BATCH):
        piece = said[i : i + BATCH]
        with (
            db.write(kb_id) as connection,
            open_door(connection, kb_id, actor="bench", via="import", action="facts asserted") as door,
        ):
            names = dict.fromkeys([n for s, house, _ in piece for n in (s, house)])
            ids = resolve_names(door, names)
            drafts = [
                Draft(
                    f"bench:{i + n}", ids[s], "works at", "works_at", object_id=ids[house], time=when, origin="import"
                )
                for n, (s, house, when) in enumerate(piece)
            ]
            assert_batch(door, drafts, load_ontology(connection, kb_id))
    return rng.sample(subjects, min(200, len(subjects)))


def _stays(rng: random.Random) -> list[tuple[str, ClaimTime]]:
    starts = [BEGIN + timedelta(days=d) for d in sorted(rng.sample(range(9_000), VALUES))]
    times = [ClaimTime(s, "day") for s in starts]
    for i in range(1, VALUES):
        chance = rng.random()
        if chance < SAME_DAY:
            times[i] = times[i - 1]
        elif chance < SAME_DAY + NO_DAY:
            times[i] = UNDATED
    return [(f"House {h:03}", t) for h, t in zip(rng.sample(range(HOUSES), VALUES), times, strict=True)]


def picture(db: Database, kb_id: UUID, subjects: list[str], seq: int | None) -> list[list[dict[str, object]]]:
    """What a reader sees of a sample, at the head or at a number of the record."""
    wanted = ("other_name", "valid_from", "valid_to", "end", "undated")
    with db.read(kb_id) as connection:
        as_of = resolve(connection, kb_id, as_of=None if seq is None else f"seq:{seq}")
        answers = [entity_facts(connection, kb_id, s, as_of)["facts"] for s in subjects]
    return [[{k: f[k] for k in wanted} for f in facts] for facts in answers]


def _write(outcome: Outcome, line: str) -> None:
    path = ROOT / "bench" / "results" / "redeclare.md"
    counts = "\n".join(f"| {name} | {n} |" for name, n in outcome.plan.counts.items())
    path.write_text(
        f"""# bench-redeclare

- Commit: {commit()}
- Corpus: generated, {outcome.plan.facts} facts of one plain relation, {VALUES} values a subject; seed {SEED}
- Repetitions: one run on a two-core machine that others may have shared; writing the base took {outcome.write_s:.0f} s
- Of the seconds below the process itself computed {outcome.cpu_s[0]:.1f} in the preview and {outcome.cpu_s[1]:.1f}
  in the application
- Targets: previewed in {PREVIEW_S:.0f} s, applied in {APPLY_S:.0f} s, no model call, both clocks right

| outcome | facts or conflicts |
|---|---|
{counts}

Both clocks: a sample of 200 subjects reads the same after the preview, and the same as of before the declaration.

What it does not show: a relation that is unique on both sides, or one whose values were merged.

```
{line}
```
""",
        encoding="utf-8",
    )


if __name__ == "__main__":
    sys.exit(main())
