"""Weights by coordinate steps on some conversations, shown on the others. Prints; the product's weights stay."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bench.locomo.measures import summary

if TYPE_CHECKING:
    from bench.locomo.__main__ import Asked

SEED = 0
_NEGATIVE = frozenset({"question"})


class _Case:
    """One question: signals of its candidates and where its evidence lies among them."""

    def __init__(self, signals: NDArray[np.float64], places: list[int], evidence: int) -> None:
        self.signals, self.places, self.evidence = signals, places, evidence

    def gain(self, weights: NDArray[np.float64]) -> float:
        """R@5 + 1.5 R@10 + R@20 + the reciprocal rank."""
        if not self.places:
            return 0.0
        scores = self.signals @ weights
        ranks = [int((scores > scores[i]).sum()) for i in self.places]
        shares = [sum(rank < k for rank in ranks) / self.evidence for k in (5, 10, 20)]
        return shares[0] + 1.5 * shares[1] + shares[2] + 1 / (1 + min(ranks))


def _cases(asked: Sequence[Asked]) -> list[_Case]:
    found = []
    for a in asked:
        for question, ranked in zip(a.conversation.questions, a.ranked, strict=True):
            turns = [a.turn_of[i] for i in ranked.ids]
            places = [n for n, turn in enumerate(turns) if turn in question.evidence]
            found.append(_Case(ranked.signals, places, len(question.evidence)))
    return found


def tune(cases: Sequence[_Case], names: Sequence[str]) -> NDArray[np.float64]:
    """From equal weights, in steps that halve; no weight changes its expected sign."""
    chance = random.Random(SEED)
    weights = np.array([-0.5 if name in _NEGATIVE else 1.0 for name in names])
    best = sum(case.gain(weights) for case in cases)
    step = 0.5
    while step > 0.05:
        moved = False
        for i in chance.sample(range(len(names)), len(names)):
            for by in (step, -step):
                tried = weights.copy()
                tried[i] += by
                if (tried[i] > 0) == (names[i] in _NEGATIVE):
                    continue
                gain = sum(case.gain(tried) for case in cases)
                if gain > best + 1e-9:
                    weights, best, moved = tried, gain, True
                    break
        step = step if moved else step / 2
    return weights


def report(asked: Sequence[Asked], first: int, names: Sequence[str]) -> None:
    """Weights chosen on the first conversations, and what they give there and on the others."""
    weights = tune(_cases(asked[:first]), names)
    print({name: round(float(weight), 2) for name, weight in zip(names, weights, strict=True)})
    for title, some in (("chosen on", asked[:first]), ("shown", asked[first:]), ("all", asked)):
        found = summary([o for a in some for o in a.outcomes(weights)])
        print(title, {k: round(v, 3) for k, v in found.items()})
