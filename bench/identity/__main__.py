"""``make bench-identity``: documents → mentions → clusters over labelled pairs, by kind and in ten random orders.

Two parts: ``open``, which the rules may be looked at against, and ``held``, written before them. Each order is a base
of its own, documents pushed in batches of random size, every stage run after each batch. The baseline is one thing for
one normalised name, which is what the product did before. What an extractor says of a passage is kept between orders:
it is the same each time, and identity is what is measured.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import psycopg

from bench.database import ROOT, commit, fresh_settings
from bench.identity.pairs import Case, Document, Score, Where, load, score
from substrate import sql
from substrate.bases import create_base
from substrate.db import NO_BASE, Database, conninfo, open_database
from substrate.documents.intake import PushItem, push
from substrate.extraction.builtin import BuiltinExtractor
from substrate.extraction.claims import Extraction, Extractor, Passage
from substrate.ledger.drafts import normalise_name
from substrate.ledger.verify import verify
from substrate.pipeline import Services, run_pipeline
from substrate.settings import Settings

ORDERS, SEED = 10, 20261130
F1, WRONG = 0.90, 0.01
BATCHES = (1, 200)
"""Least and most documents that arrive together."""


class Remembering:
    """The built-in extractor, asked once for each passage."""

    def __init__(self, inner: Extractor) -> None:
        self.inner, self.told = inner, dict[Passage, Extraction]()
        self.name, self.version = inner.name, inner.version

    def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
        fresh = [p for p in dict.fromkeys(passages) if p not in self.told]
        self.told |= dict(zip(fresh, self.inner.extract(fresh), strict=True))
        return [self.told[p] for p in passages]


@dataclass
class Run:
    """What came out of one order."""

    entity: dict[Where, UUID] = field(default_factory=dict)
    doubts: int = 0
    merges: int = 0
    reverts: int = 0
    moves: int = 0
    sound: bool = False
    seconds: float = 0.0

    def clusters(self) -> frozenset[frozenset[Where]]:
        """Which names are one thing, without the ids."""
        by: dict[UUID, set[Where]] = defaultdict(set)
        for where, entity in self.entity.items():
            by[entity].add(where)
        return frozenset(frozenset(c) for c in by.values())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, prog="bench.identity")
    parser.add_argument("--part", choices=("open", "held", "both"), default="both")
    parser.add_argument("--orders", type=int, default=ORDERS)
    parser.add_argument("--wrong", action="store_true", help="list what came out wrong in the open part")
    arguments = parser.parse_args()
    parts = ("open", "held") if arguments.part == "both" else (arguments.part,)
    cases = {part: load(part) for part in parts}
    with fresh_settings() as settings, open_database(settings, "bench") as db:
        reader = Remembering(BuiltinExtractor(settings))
        with Services(settings, extractor=reader) as services:
            runs = {p: list(_orders(db, services, p, cases[p], arguments.orders)) for p in parts}
    return _report(cases, runs, arguments.wrong)


def _orders(db: Database, services: Services, part: str, cases: Sequence[Case], orders: int) -> Iterator[Run]:
    documents = [d for case in cases for d in case.documents]
    for i in range(orders):
        rng = random.Random(SEED + i)
        order = rng.sample(documents, len(documents)) if i else documents
        yield run(db, services, f"{part}-{i}", order, rng if i else None)
        print(f"{part}: order {i + 1} of {orders}", flush=True)


def run(db: Database, services: Services, slug: str, order: Sequence[Document], rng: random.Random | None) -> Run:
    """Take documents in, in that order, into a base of their own."""
    with db.write(NO_BASE) as connection:
        kb_id = create_base(connection, slug, slug)
    started, at = time.perf_counter(), 0
    while at < len(order):
        size = rng.randint(*BATCHES) if rng else len(order)
        items = [PushItem(d.external_id, d.external_id, d.text.encode()) for d in order[at : at + size]]
        for start in range(0, len(items), 100):
            push(db, kb_id, items[start : start + 100], actor="person:bench", via="rest")
        run_pipeline(db, kb_id, services, ("parse", "claims", "entities", "facts"))
        at += size
        _look_around(services.settings)
    seconds = time.perf_counter() - started
    return _read(db, kb_id, seconds)


def _look_around(settings: Settings) -> None:
    """Statistics as autovacuum would keep them, or plans hang on when it came by."""
    with psycopg.connect(conninfo(settings), autocommit=True) as connection:
        connection.execute("analyze")


def _read(db: Database, kb_id: UUID, seconds: float) -> Run:
    with db.read(kb_id) as connection:
        asked = {"kb_id": kb_id}
        rows = connection.execute(sql.query("identity_where_names_stand"), asked).fetchall()
        counts = connection.execute(sql.query("identity_counts"), asked).fetchone()
        assert counts is not None
        sound = verify(connection, kb_id).ok
    entity = {(row["external_id"], row["norm"]): row["entity_id"] for row in rows}
    return Run(entity, counts["doubts"], counts["merges"], counts["reverts"], counts["moves"], sound, seconds)


def _scores(cases: Sequence[Case], run: Run) -> dict[str, Score]:
    def same(one: Document, other: Document) -> bool:
        ids = [_meant(run, d) for d in (one, other)]
        return ids[0] is not None and ids[0] == ids[1]

    return score(cases, same)


def _meant(run: Run, document: Document) -> UUID | None:
    """What the labelled name means; where a claim has it without its title or legal form, what that means."""
    norm = normalise_name(document.name)
    if (document.external_id, norm) in run.entity:
        return run.entity[document.external_id, norm]
    near = [e for (d, n), e in run.entity.items() if d == document.external_id and n in norm and 2 * len(n) > len(norm)]
    return near[0] if len(near) == 1 else None


def _baseline(cases: Sequence[Case]) -> dict[str, Score]:
    return score(cases, lambda a, b: normalise_name(a.name) == normalise_name(b.name))


def _unseen(cases: Sequence[Case], run: Run) -> list[str]:
    """Labelled names that no claim uses: nothing can be said of them."""
    documents = [d for case in cases for d in case.documents]
    return [f"{d.external_id}: {d.name}" for d in documents if _meant(run, d) is None]


def _report(cases: dict[str, list[Case]], runs: dict[str, list[Run]], wrong: bool) -> int:
    every = [case for part in cases.values() for case in part]
    scores = {part: _scores(cases[part], runs[part][0]) for part in cases}
    total = Score()
    for part in scores.values():
        for name in ("joined_right", "joined_wrong", "missed", "kept_apart"):
            setattr(total, name, getattr(total, name) + getattr(part["all"], name))
    equal = sum(
        all(runs[part][i].clusters() == runs[part][0].clusters() for part in runs)
        for i in range(len(next(iter(runs.values()))))
    )
    sound = all(r.sound for part in runs.values() for r in part)
    if wrong and "open" in scores:
        print("\n".join(scores["open"]["all"].wrong))
        print("no claim uses:", *_unseen(cases["open"], runs["open"][0]), sep="\n  ")
    text = _tables(cases, runs, scores, every)
    print(text)
    line = f"identity: f1={total.f1:.3f} wrong_merges={100 * total.wrong_share:.1f}% orders_equal={equal}"
    orders = len(next(iter(runs.values())))
    if set(cases) == {"open", "held"} and orders == ORDERS:
        _write(text, line, total)
    print(line)
    held = all(s["all"].f1 >= F1 and s["all"].wrong_share <= WRONG for s in scores.values())
    return 0 if held and equal == orders and sound else 1


def _tables(
    cases: dict[str, list[Case]], runs: dict[str, list[Run]], scores: dict[str, dict[str, Score]], every: Sequence[Case]
) -> str:
    lines = []
    for part, by_kind in scores.items():
        first, base = runs[part][0], _baseline(cases[part])
        lines += [
            f"## {part}",
            "",
            f"{len(cases[part])} cases; {len(_unseen(cases[part], first))} of the labelled names are in no claim "
            f"and count as not joined. In the first order {first.merges} merges, {first.reverts} reverts, "
            f"{first.moves} moved mentions, {first.doubts} pairs put before a person; over the others up to "
            f"{max(r.merges for r in runs[part])}, {max(r.reverts for r in runs[part])} and "
            f"{max(r.moves for r in runs[part])}.",
            "",
            "| kind | pairs | F1 | precision | recall | wrong joins | F1 of one name, one thing | its wrong joins |",
            "|---|---|---|---|---|---|---|---|",
        ]
        for kind in sorted(by_kind, key=lambda k: (k == "all", k)):
            s, b = by_kind[kind], base[kind]
            lines.append(
                f"| {kind} | {s.pairs} | {s.f1:.3f} | {s.precision:.3f} | {s.recall:.3f} | {s.joined_wrong} "
                f"| {b.f1:.3f} | {b.joined_wrong} |"
            )
        lines.append("")
    return "\n".join(lines)


def _write(text: str, line: str, total: Score) -> None:
    (ROOT / "bench" / "results" / "identity.md").write_text(
        f"""# bench-identity

- Commit: {commit()}
- Corpus: bench/identity/open.yaml and held.yaml, {total.pairs} labelled pairs in short documents; held.yaml was
  committed before any rule of identity
- Path: push, parse, built-in extraction, entities, facts; no key, no model; {ORDERS} orders, documents arriving in
  batches of {BATCHES[0]} to {BATCHES[1]}; every base verified afterwards
- Targets: F1 {F1:.2f} and at most {100 * WRONG:.0f} % wrong among the pairs that are joined, in either part; the same
  clusters in every order

{text}
```
{line}
```
""",
        encoding="utf-8",
    )


if __name__ == "__main__":
    sys.exit(main())
