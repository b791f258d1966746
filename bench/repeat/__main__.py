"""``make bench-repeat``: 2,000 random questions over the four ledger tools, asked again and compared byte by byte.

Asked while eight writers write; again 60 s later; after the pipeline ran; after Postgres was restarted. Beside it the
naive reader, who takes the clock for the record's order (`recorded_at <= now`), asks and re-asks the same way.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from bench.database import ROOT, commit
from bench.repeat.load import HOUSES, ONTOLOGY, PEOPLE, PROJECTS, Writer, random_day
from substrate import postgres
from substrate.bases import create_base
from substrate.db import NO_BASE, Database, ReadConnection, open_database
from substrate.documents.intake import PushItem, push
from substrate.ledger.verify import verify
from substrate.reads.changes import changes
from substrate.reads.entities import find_entities
from substrate.reads.facts import entity_facts, timeline
from substrate.reads.moments import resolve
from substrate.settings import Settings, tame_native_threads

WRITERS, SEED = 8, 20240705
MIN_NONEMPTY, MIN_MOVED = 0.8, 0.3


@dataclass(frozen=True)
class Question:
    """A tool, what it is asked about, and where on both clocks."""

    tool: str
    name: str
    at: str | None
    seq: int


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, prog="bench.repeat")
    parser.add_argument("--questions", type=int, default=2000)
    parser.add_argument("--wait", type=float, default=60.0, help="seconds before the second round")
    arguments = parser.parse_args()
    tame_native_threads(2)
    with tempfile.TemporaryDirectory(prefix="twoclocks-repeat-") as folder:
        settings = Settings(data_dir=Path(folder), database_url=None, pool_size=24)
        root = settings.embedded_dir
        try:
            outcome = run(settings, root, arguments.questions, arguments.wait)
        finally:
            postgres.stop(root)
    _write(outcome, arguments.questions)
    print(outcome["line"])
    return 0 if outcome["ok"] else 1


def run(settings: Settings, root: Path, wanted: int, wait_s: float) -> dict[str, Any]:
    """All rounds; returns the figures."""
    with open_database(settings, "bench") as db:
        with db.write(NO_BASE) as connection:
            kb_id = create_base(connection, "repeat", "Repeat", ontology_yaml=ONTOLOGY)
        stop = threading.Event()
        writers = [Writer(db, kb_id, SEED + i, stop, 0.02) for i in range(WRITERS)]
        for writer in writers:
            writer.start()
        time.sleep(15)
        questions, first, naive_first = ask_under_load(db, kb_id, wanted)
        print(f"asked {len(questions)} under load, seq up to {max(q.seq for q in questions)}", flush=True)
        time.sleep(wait_s)
        stop.set()
        for writer in writers:
            writer.join()
        if failed := [w.failure for w in writers if w.failure]:
            raise failed[0]
        rounds = {"later": answers(db, kb_id, questions)}
        naive_again = [naive(db, kb_id, t)[1] for t, _ in naive_first]
        rerun_pipeline(settings, db, kb_id)
        rounds["after the pipeline"] = answers(db, kb_id, questions)
    postgres.stop(root)
    with open_database(settings, "bench") as db:
        rounds["after a restart"] = answers(db, kb_id, questions)
        moved = sum(different_from_head(db, kb_id, q, a) for q, a in zip(questions, first, strict=True))
        with db.read(kb_id) as connection:
            report = verify(connection, kb_id)
    same = sum(all(r[i] == a for r in rounds.values()) for i, a in enumerate(first))
    naive_same = sum(n == before for n, (_, before) in zip(naive_again, naive_first, strict=True))
    nonempty = sum(not is_empty(a) for a in first)
    total = len(questions)
    ok = (
        same == total
        and nonempty >= MIN_NONEMPTY * total
        and moved >= MIN_MOVED * total
        and naive_same < len(naive_again)
    )
    naive_share = naive_same / len(naive_again)
    return {
        "line": f"repeat: same={same} total={total} nonempty={nonempty / total:.3f} moved={moved / total:.3f} "
        f"naive_same={naive_share:.3f}",
        "ok": ok and report.ok,
        "rounds": list(rounds),
        "written": sum(w.written for w in writers),
        "seq": report.head_seq,
        "naive": len(naive_again),
    }


def ask_under_load(db: Database, kb_id: UUID, wanted: int) -> tuple[list[Question], list[str], list[tuple[Any, str]]]:
    """Random questions with their first answers, and the naive reader's, while the writers write."""
    rng = random.Random(SEED)
    questions: list[Question] = []
    first: list[str] = []
    naive_first: list[tuple[Any, str]] = []
    for _ in range(wanted):
        with db.read(kb_id) as connection:
            head = resolve(connection, kb_id).seq
        q = Question(
            tool=rng.choice(("find_entities", "entity_facts", "timeline", "changes")),
            name=rng.choice(PEOPLE + PROJECTS * 2 + HOUSES),
            at=None if rng.random() < 0.4 else random_day(rng).strftime(rng.choice(("%Y", "%Y-%m", "%Y-%m-%d"))),
            seq=head if rng.random() < 0.1 else rng.randrange(max(1, head // 8), head + 1),
        )
        questions.append(q)
        first.append(answer(db, kb_id, q))
        if len(naive_first) < 500:
            naive_first.append(naive(db, kb_id, None))
    return questions, first, naive_first


def answer(db: Database, kb_id: UUID, q: Question) -> str:
    """The answer's bytes without what is outside the promise (`since` of facts); an error is an answer too."""
    with db.read(kb_id) as connection:
        try:
            return json.dumps(_strip(TOOLS[q.tool](connection, kb_id, q)), sort_keys=True)
        except Exception as error:
            return f"{type(error).__name__}: {error}"


def answers(db: Database, kb_id: UUID, questions: list[Question]) -> list[str]:
    return [answer(db, kb_id, q) for q in questions]


def _moment(connection: ReadConnection, kb_id: UUID, q: Question) -> Any:
    return resolve(connection, kb_id, at=q.at, as_of=f"seq:{q.seq}")


TOOLS: dict[str, Callable[[ReadConnection, UUID, Question], dict[str, Any]]] = {
    "find_entities": lambda c, kb, q: find_entities(c, kb, q.name.split()[0], _moment(c, kb, q)),
    "entity_facts": lambda c, kb, q: entity_facts(c, kb, q.name, _moment(c, kb, q), limit=300),
    "timeline": lambda c, kb, q: timeline(c, kb, q.name, _moment(c, kb, q), limit=300),
    "changes": lambda c, kb, q: changes(c, kb, "2000", None, None, None, 40, as_of=_moment(c, kb, q)),
}


def _strip(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _strip(v) for k, v in value.items() if not (k == "since" and (v is None or isinstance(v, dict)))}
    return [_strip(v) for v in value] if isinstance(value, list) else value


def is_empty(text: str) -> bool:
    """No row in the answer: an error, or every list of rows empty."""
    if not text.startswith("{"):
        return True
    found = json.loads(text)
    return not any(found.get(key) for key in ("entities", "facts", "changes"))


def different_from_head(db: Database, kb_id: UUID, q: Question, first: str) -> bool:
    """Does the same question, asked at the head, have other rows?"""
    with db.read(kb_id) as connection:
        head = resolve(connection, kb_id).seq
    now = answer(db, kb_id, Question(q.tool, q.name, q.at, head))
    rows = [json.loads(t) if t.startswith("{") else {} for t in (now, first)]
    return any(rows[0].get(k) != rows[1].get(k) for k in ("entities", "facts", "changes"))


def naive(db: Database, kb_id: UUID, moment: Any) -> tuple[Any, str]:
    """The reader this design avoids: what was recorded by a moment of the wall clock, and not closed by then."""
    with db.read(kb_id) as connection:
        row = connection.execute(
            """with t as (select coalesce(%(moment)s::timestamptz, clock_timestamp()) as at)
               select t.at, count(*) as n, max(f.id::text) as top from t left join facts f on f.kb_id = %(kb_id)s
                and f.recorded_at <= t.at and (f.invalidated_at is null or f.invalidated_at > t.at)
               group by t.at""",
            {"kb_id": kb_id, "moment": moment},
        ).fetchone()
    assert row is not None
    return row["at"], f"{row['n']} {row['top']}"


def rerun_pipeline(settings: Settings, db: Database, kb_id: UUID) -> None:
    """Take in a document that changes facts, and run the whole pipeline."""
    from substrate.pipeline import Services, run_pipeline

    text = "\n\n".join(f"{PEOPLE[i]} leads {PROJECTS[i]} from 2024-0{i + 1}-01." for i in range(6))
    push(db, kb_id, [PushItem("bench", "bench.md", text.encode(), "2024-09-01")], actor="bench", via="pipeline")
    with Services(settings) as services:
        run_pipeline(db, kb_id, services)


def _write(outcome: dict[str, Any], questions: int) -> None:
    path = ROOT / "bench" / "results" / "repeat.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f"""# bench-repeat

- Commit: {commit()}
- Corpus: generated statements, {outcome["written"]} asserted by {WRITERS} writers in {outcome["seq"]} transactions
- Seed: {SEED}
- Repetitions: one run; {questions} questions over find_entities, entity_facts, timeline, changes, asked under load
  and again: {", ".join(outcome["rounds"])}
- Baseline in the same run: the reader by clock, asked {outcome["naive"]} times

What it does not show: `search_chunks` (which promises the candidates, not the scores), answers after an erasure, or the
transport over MCP.

```
{outcome["line"]}
```
""",
        encoding="utf-8",
    )


if __name__ == "__main__":
    sys.exit(main())
