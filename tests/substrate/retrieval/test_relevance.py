"""Nothing relevant is an answer: by a likelihood that does not depend on what else was found."""

from __future__ import annotations

import numpy as np
import pytest

from substrate.errors import InvalidInput
from substrate.retrieval.embedders import open_embedder
from substrate.retrieval.lexical import run_index
from substrate.retrieval.passages import vector_key
from substrate.retrieval.ranking import SIGNALS, Ranked
from substrate.retrieval.relevance import BY_MODEL, BY_WORDS, basis, relevance

TEXTS = [
    "Nadia moored the ferry at the old harbour in Bergen.",
    "The bakery opens at six and sells rye bread.",
    "Tomas repaired the lighthouse lamp after the storm.",
]
ANSWERED = ("Where did Nadia moor the ferry?", "Who repaired the lighthouse lamp?", "When does the bakery open?")
FOREIGN = ("Which enzyme splits lactose?", "How is a sonnet rhymed?", "What is the capital gains rate?")


@pytest.fixture
def town(shelf, database, kb, settings):
    shelf.put("town.txt", TEXTS)
    run_index(database, kb, settings)
    return shelf


def test_a_question_of_something_else_is_answered_by_nothing(town, ask, settings):
    embedder = open_embedder(settings)
    assert vector_key(embedder) in BY_MODEL
    town.embed(embedder)
    for question in ANSWERED:
        answer = ask(question, embedder=embedder, min_score=0.03, explain=True)
        assert answer["chunks"] and answer["relevance"]["basis"] == "words and likeness"
        likely = [c["explain"]["relevance"] for c in answer["chunks"]]
        assert min(likely) >= 0.03 and answer["relevance"]["passed_over"] == len(TEXTS) - len(likely)
    for question in FOREIGN:
        assert ask(question, embedder=embedder)["chunks"], "meaning alone always finds somebody"
        answer = ask(question, embedder=embedder, min_score=0.03)
        assert answer["chunks"] == [] and answer["relevance"]["passed_over"] == len(TEXTS)


def test_a_model_that_was_never_fitted_is_judged_by_words_and_says_so(town, ask, letters):
    town.embed(letters)
    answer = ask(FOREIGN[0], embedder=letters, min_score=0.03)
    assert answer["chunks"] == [] and "letters@1+text2 was never fitted" in answer["relevance"]["basis"]
    assert ask(ANSWERED[0], embedder=letters, min_score=0.3)["chunks"][0]["text"] == TEXTS[0]
    assert ask(ANSWERED[0], min_score=0.3)["relevance"]["basis"] == "words alone"


def test_the_likelihood_does_not_depend_on_the_other_candidates():
    signals = np.zeros((2, len(SIGNALS)))
    signals[0, SIGNALS.index("coverage")] = 1.0
    both = Ranked((), signals, np.zeros(2), (0.9, None))
    alone = Ranked((), signals[1:], np.zeros(1), (None,))
    key = next(iter(BY_MODEL))
    assert relevance(both, key)[1] == relevance(alone, key)[0] == pytest.approx(1 / (1 + np.exp(-BY_WORDS.bias)))
    assert relevance(both, key)[0] == pytest.approx(1 / (1 + np.exp(-(17.58 * 0.9 + 1.89 - 19.13))))
    assert relevance(Ranked((), signals[:0], np.zeros(0), ()), key).size == 0
    assert basis(None) == "words alone"


@pytest.mark.parametrize("least", [-0.1, 1.5, float("nan")])
def test_what_is_no_likelihood_is_refused(town, ask, least):
    with pytest.raises(InvalidInput, match=r"min_score: .* is not between 0 and 1"):
        ask("ferry", min_score=least)
