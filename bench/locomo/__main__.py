"""``make bench-locomo DATA=FOLDER``: which turns of long conversations the search puts first.

Each conversation is a base of its own, each session a document whose turns are its passages; every question is asked
through the product's search, keyless. Beside it, in the same run, stand the floor (reciprocal ranks of Tantivy and
MiniLM over the bare turns, pinned) and each of the product's arms alone. Weights were chosen on the first three
conversations; the other two are shown apart. ``--tune`` chooses them anew and changes nothing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bench.database import ROOT, commit, fresh_settings
from bench.locomo import floor, tuning
from bench.locomo.data import CATEGORIES, Conversation, load
from bench.locomo.measures import Outcome, Turn, interval, judge, recall_of, summary
from substrate.bases import create_base
from substrate.db import NO_BASE, Database, ReadConnection, open_database
from substrate.documents.chunking import estimate_tokens
from substrate.documents.intake import PushItem, push
from substrate.pipeline import Services, run_pipeline
from substrate.reads.moments import resolve
from substrate.retrieval.context import context
from substrate.retrieval.embedders import Embedder, open_embedder
from substrate.retrieval.ranking import SIGNALS, Ranked
from substrate.retrieval.search import ranked_passages
from substrate.settings import Settings

TUNED_ON = 3
BUDGETS = (1000, 2000)
console = Console(stderr=True)


@dataclass
class Asked:
    """A conversation with what the search gave for each of its questions."""

    conversation: Conversation
    turn_of: dict[UUID, Turn]
    ranked: list[Ranked]
    arms: list[dict[str, list[Turn]]]
    inside: list[dict[int, tuple[set[Turn], set[Turn]]]]

    def turns(self, place: int, scores: Any = None) -> list[Turn]:
        found = self.ranked[place]
        order = range(len(found.ids)) if scores is None else np.argsort(-scores, kind="stable")
        return [self.turn_of[found.ids[i]] for i in order]

    def outcomes(self, weights: Any = None) -> list[Outcome]:
        """By the product's own order, or under other weights."""
        return [
            judge(q, self.turns(n, None if weights is None else self.ranked[n].signals @ weights))
            for n, q in enumerate(self.conversation.questions)
        ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, prog="bench.locomo")
    parser.add_argument("--data", type=Path, required=True, help="folder with locomo-1-5.json")
    parser.add_argument("--tune", action="store_true", help="choose weights anew on the first three and print them")
    arguments = parser.parse_args()
    try:
        conversations = load(arguments.data)
    except FileNotFoundError as error:
        print(f"the data are not there: {error.filename}", file=sys.stderr)
        return 2
    with fresh_settings() as settings, open_database(settings, "bench") as db:
        asked = [ask(db, settings, number, c) for number, c in enumerate(conversations)]
        minilm = open_embedder(settings.model_copy(update={"embedder": "minilm"}))
    floors = [judge(q, r) for c in conversations for q, r in zip(c.questions, floor.rankings(c, minilm), strict=True)]
    if arguments.tune:
        tuning.report(asked, TUNED_ON, SIGNALS)
    packed = {budget: covered(asked, budget) for budget in BUDGETS}
    told = [f"context: budget={b} covered={p:.3f} topk_covered={t:.3f}" for b, (p, t) in packed.items()]
    sunk = [k for k, v in floor.RECORDED.items() if abs(summary(floors)[k] - v) > 0.02]
    line = report(asked, floors, told)
    for k in sunk:
        print(f"the floor moved: {k} {summary(floors)[k]:.3f}, recorded {floor.RECORDED[k]:.3f}", file=sys.stderr)
    print(*told, line, sep="\n")
    return 1 if sunk else 0


def ask(db: Database, settings: Settings, number: int, conversation: Conversation) -> Asked:
    """Take a conversation in and ask all its questions."""
    with db.write(NO_BASE) as connection:
        kb_id = create_base(connection, f"locomo-{number}", conversation.name)
    items = [
        PushItem(f"session-{n}", conversation.filename(n), "\n".join(turns).encode(), None)
        for n, turns in conversation.sessions.items()
    ]
    push(db, kb_id, items, actor="bench", via="cli")
    with Services(settings) as services:
        run_pipeline(db, kb_id, services, ("parse", "embed", "index"))
        with db.read(kb_id) as conn:
            turn_of = places(conn, kb_id, conversation)
            told = [
                _question(conn, kb_id, settings, services.embedder, q.text)
                for q in track(conversation.questions, f"questions of {conversation.name}", console=console)
            ]
            inside = [
                contexts(conn, kb_id, settings, services.embedder, q.text, ranked, turn_of, conversation)
                for q, (ranked, _) in zip(conversation.questions, told, strict=True)
            ]
    arms = [{arm: [turn_of[i] for i in ids] for arm, ids in found.items()} for _, found in told]
    return Asked(conversation, turn_of, [ranked for ranked, _ in told], arms, inside)


def contexts(
    conn: ReadConnection,
    kb_id: UUID,
    settings: Settings,
    embedder: Embedder,
    text: str,
    ranked: Ranked,
    turn_of: dict[UUID, Turn],
    conversation: Conversation,
) -> dict[int, tuple[set[Turn], set[Turn]]]:
    """By budget, the turns inside the packed context, and inside the best turns' bare texts until one is too long."""
    found = {}
    for budget in BUDGETS:
        answer = context(conn, kb_id, text, resolve(conn, kb_id), embedder=embedder, settings=settings, budget=budget)
        packed = {turn_of[UUID(p["chunk_id"])] for document in answer["documents"] for p in document["passages"]}
        plain: set[Turn] = set()
        spent = 0
        for chunk_id in ranked.ids:
            spent += estimate_tokens(conversation.text(turn_of[chunk_id])) + 1
            if spent > budget:
                break
            plain.add(turn_of[chunk_id])
        found[budget] = (packed, plain)
    return found


def covered(asked: Sequence[Asked], budget: int) -> tuple[float, float]:
    """Share of questions whose whole evidence is inside: packed, and the best until full."""
    pairs = [
        (set(q.evidence) <= inside[budget][0], set(q.evidence) <= inside[budget][1])
        for a in asked
        for q, inside in zip(a.conversation.questions, a.inside, strict=True)
    ]
    return sum(p for p, _ in pairs) / len(pairs), sum(t for _, t in pairs) / len(pairs)


def places(conn: ReadConnection, kb_id: UUID, conversation: Conversation) -> dict[UUID, Turn]:
    """Chunk → turn. Raises ValueError if a turn did not become exactly one passage."""
    rows = conn.execute(
        "select c.id, c.text, c.position, v.filename from chunks c"
        " join document_versions v on v.kb_id = c.kb_id and v.id = c.version_id where c.kb_id = %s",
        [kb_id],
    ).fetchall()
    number = {conversation.filename(n): n for n in conversation.sessions}
    at: dict[UUID, Turn] = {row["id"]: (number[row["filename"]], row["position"]) for row in rows}
    texts = {at[row["id"]]: " ".join(row["text"].split()) for row in rows}
    if texts != {turn: " ".join(conversation.text(turn).split()) for turn in conversation.turns}:
        raise ValueError(f"{conversation.name}: {len(texts)} passages for {len(conversation.turns)} turns")
    return at


def _question(
    conn: ReadConnection, kb_id: UUID, settings: Settings, embedder: Embedder, text: str
) -> tuple[Ranked, dict[str, list[UUID]]]:
    as_of = resolve(conn, kb_id)
    ranked, arms, _ = ranked_passages(conn, kb_id, text, as_of, embedder=embedder, settings=settings)
    return ranked, {arm: list(told) for arm, told in arms.items()}


def report(asked: Sequence[Asked], floors: Sequence[Outcome], told: Sequence[str]) -> str:
    """Prints the tables, writes the results file, returns the last line."""
    groups = {
        "all five": [o for a in asked for o in a.outcomes()],
        f"1 to {TUNED_ON} (weights chosen here)": [o for a in asked[:TUNED_ON] for o in a.outcomes()],
        f"{TUNED_ON + 1} to {len(asked)} (shown)": [o for a in asked[TUNED_ON:] for o in a.outcomes()],
        "words alone": _alone(asked, "lexical"),
        "words in context alone": _alone(asked, "near"),
        "meaning alone": _alone(asked, "vector"),
        "floor": list(floors),
    }
    table = Table("", "R@5", "R@10", "R@20", "MRR", "any@5", "all@5", "all@10", *CATEGORIES.values())
    lines = []
    for name, outcomes in groups.items():
        s = summary(outcomes)
        cells = [s[k] for k in ("r5", "r10", "r20", "mrr", "session_any5", "session_all5", "session_all10")]
        cells += [recall_of(outcomes, c) for c in CATEGORIES]
        table.add_row(name, *(f"{x:.3f}" for x in cells))
        lines.append(f"| {name} | " + " | ".join(f"{x:.3f}" for x in cells) + " |")
    Console(width=140).print(table)
    whole, under = groups["all five"], summary(floors)
    low, high = interval([o.recall[10] for o in whole])
    s = summary(whole)
    line = "locomo: " + " ".join(
        f"{k}={v:.3f}"
        for k, v in {
            "r5": s["r5"], "r10": s["r10"], "r20": s["r20"], "mrr": s["mrr"], "floor_r10": under["r10"],
            "cat1_r10": s["cat1_r10"], "cat1_floor_r10": under["cat1_r10"], "session_any5": s["session_any5"],
            "session_all5": s["session_all5"], "session_all10": s["session_all10"],
        }.items()
    )  # fmt: skip
    write(lines, [*told, line], (low, high), len(whole))
    return line


def _alone(asked: Sequence[Asked], arm: str) -> list[Outcome]:
    return [judge(q, arms[arm]) for a in asked for q, arms in zip(a.conversation.questions, a.arms, strict=True)]


def write(lines: Sequence[str], last: Sequence[str], bounds: tuple[float, float], questions: int) -> None:
    heads = "| | R@5 | R@10 | R@20 | MRR | any@5 | all@5 | all@10 | " + " | ".join(
        f"R@10 {name}" for name in CATEGORIES.values()
    )
    text = f"""# Retrieval on long conversations

`make bench-locomo DATA=…`, commit {commit()}. Corpus: LoCoMo, five conversations, {questions} questions of the
categories 1 to 4 with evidence; read where it lies, none of it is in the repository. Keyless: e5-small (int8) and
Tantivy. One run; nothing in it is random but the bootstrap (seed 5).

{heads} |
|{" --- |" * 12}
{chr(10).join(lines)}

R@10 of all five: 95 % bootstrap interval {bounds[0]:.3f} to {bounds[1]:.3f}.

`context` packs passages under a budget of estimated tokens, with a title per document; `covered` is the share of
questions whose whole evidence is inside, `topk_covered` the same for the bare texts of the best turns, without titles,
until the next does not fit.

The floor is reciprocal rank fusion (k = 60) of Tantivy's en_stem and MiniLM over the same turns, made in the same run
and held to its recorded values within .02. The rows "alone" are the product's own arms.

What it does not show: other languages, long documents, questions that no passage answers; two of the five
conversations share their speakers' names with no other, which makes a named speaker a strong sign.

{chr(10).join(f"    {line}" for line in last)}
"""
    (ROOT / "bench/results/locomo.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
