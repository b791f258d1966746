"""How likely a passage is to answer a question: between 0 and 1, of what does not depend on the other candidates.

A rank, and a score that is scaled among the candidates of one question, say which is best and never whether any is
good. Here the bare likeness of the vectors and the share of the question's words that a passage and its surroundings
hold are put through a logistic curve, fitted on three conversations of LoCoMo: the ten best of each question, evidence
or not, beside the ten best of another conversation for the same question. On the two conversations that the
fit never saw, passages told .02, .14, .25, .35, .45, .55 and .65 likely were evidence in .02, .14, .19, .38, .41, .43
and .52 of the cases: above a half it promises too much. There .02 kept .98 of the evidence among the ten best and gave
nothing for .71 of the questions that were asked of the wrong conversation; .03 kept .93 and gave nothing for .87; .05
.84 and .95. By words alone: .02 .98 and .54, .05 .80 and .92. English talk; other texts were not measured.

Likeness means something else to every model, so that only a model that was fitted is judged by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from substrate.errors import InvalidInput
from substrate.retrieval.ranking import SIGNALS, Ranked


class Curve(NamedTuple):
    """Weights of a logistic curve."""

    likeness: float
    coverage: float
    near_coverage: float
    bias: float


BY_MODEL = {"e5-small-int8@1+text2": Curve(17.58, 1.89, 2.53, -19.13)}
"""By the key under which a model's vectors are stored."""
BY_WORDS = Curve(0.0, 2.48, 2.68, -4.96)
_COVERAGE, _NEAR = SIGNALS.index("coverage"), SIGNALS.index("near_coverage")


def check(min_score: float | None) -> None:
    """Raises `InvalidInput` for what is no likelihood."""
    if min_score is not None and not 0 <= min_score <= 1:
        raise InvalidInput(f"min_score: {min_score} is not between 0 and 1", field="min_score")


def basis(model: str | None) -> str:
    """What the likelihoods rest on, in words."""
    if model in BY_MODEL:
        return "words and likeness"
    return "words alone" if model is None else f"words alone: the likeness of {model} was never fitted"


def relevance(ranked: Ranked, model: str | None) -> NDArray[np.float64]:
    """The likelihood of each candidate, in the order of `ranked`; one without a vector is judged by its words."""
    curves = [_curve(model, likeness) for likeness in ranked.similarity]
    weights = np.array([curve[:3] for curve in curves]).reshape(-1, 3)
    bias = np.array([curve.bias for curve in curves])
    told = np.array([[0.0 if s is None else s for s in ranked.similarity], *_covered(ranked)]).T.reshape(-1, 3)
    found: NDArray[np.float64] = 1 / (1 + np.exp(-((weights * told).sum(axis=1) + bias)))
    return found


def _covered(ranked: Ranked) -> Sequence[NDArray[np.float64]]:
    return ranked.signals[:, _COVERAGE], ranked.signals[:, _NEAR]


def _curve(model: str | None, likeness: float | None) -> Curve:
    return BY_WORDS if model is None or likeness is None else BY_MODEL.get(model, BY_WORDS)
