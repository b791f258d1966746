"""What is counted: shares of evidence turns among the first k, and whether their sessions are among the first few."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from bench.locomo.data import Question

Turn = tuple[int, int]


@dataclass(frozen=True)
class Outcome:
    """One question's figures."""

    category: int
    recall: dict[int, float]
    reciprocal: float
    any5: bool
    all5: bool
    all10: bool


def judge(question: Question, ranked: Sequence[Turn]) -> Outcome:
    """`ranked` are turns, best first. A session ranks where its best turn does."""
    place = {turn: rank for rank, turn in enumerate(ranked)}
    ranks = [place.get(turn, len(ranked) + 1_000_000) for turn in question.evidence]
    sessions = list(dict.fromkeys(session for session, _ in ranked))
    wanted = {session for session, _ in question.evidence if session > 0}
    return Outcome(
        question.category,
        {k: sum(rank < k for rank in ranks) / len(ranks) for k in (5, 10, 20)},
        1 / (1 + min(ranks)),
        bool(wanted & set(sessions[:5])),
        wanted <= set(sessions[:5]),
        wanted <= set(sessions[:10]),
    )


def summary(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Means by the names of the last line."""
    return {
        **{f"r{k}": _mean([o.recall[k] for o in outcomes]) for k in (5, 10, 20)},
        "mrr": _mean([o.reciprocal for o in outcomes]),
        "cat1_r10": recall_of(outcomes, 1),
        "session_any5": _mean([o.any5 for o in outcomes]),
        "session_all5": _mean([o.all5 for o in outcomes]),
        "session_all10": _mean([o.all10 for o in outcomes]),
    }


def recall_of(outcomes: Sequence[Outcome], category: int, k: int = 10) -> float:
    return _mean([o.recall[k] for o in outcomes if o.category == category])


def interval(values: Sequence[float], *, seed: int = 5, draws: int = 2000) -> tuple[float, float]:
    """95 % bootstrap interval of the mean."""
    chance = random.Random(seed)
    means = sorted(_mean(chance.choices(values, k=len(values))) for _ in range(draws))
    return means[int(draws * 0.025)], means[int(draws * 0.975)]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
