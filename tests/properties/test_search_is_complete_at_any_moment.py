"""Historical recall: five versions of each document and one in ten deleted, both arms against a brute-force search.

At 200 moments drawn at random the words' arm gives exactly the passages held then that hold the word, and the vectors'
arm exactly those nearest, in order, with the likeness that the vectors have: without any index, with both, and with
what came in since they were built. The whole again, four times the size, with ``pytest -m slow``.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from uuid import UUID

import numpy as np
import pytest

from substrate.axes.as_of import AsOf
from substrate.reads.moments import resolve
from substrate.retrieval import vectors
from substrate.retrieval.lexical import run_index
from substrate.retrieval.lexical_reader import current_view
from substrate.retrieval.lexical_schema import question_terms
from substrate.retrieval.passages import passage_text, vector_key
from tests.substrate.retrieval.shelf import LetterEmbedder, Shelf

WORDS = "crate harbour pilot rope anchor limpet tide chart winch buoy".split()
VERSIONS, DELETED, MOMENTS = 5, 0.1, 200


class History:
    """A shelf with a history, and what was live at each of its sequences."""

    def __init__(self, shelf: Shelf, documents: int, seed: int) -> None:
        self.shelf, self.chance = shelf, random.Random(seed)
        self.live: list[Mapping[str, UUID]] = [{}]
        left = [name for name in range(documents) for _ in range(VERSIONS)]
        self.chance.shuffle(left)
        gone = set(self.chance.sample(range(documents), int(documents * DELETED)))
        for place, name in enumerate(left):
            self._put(f"{name}.txt", place)
            if name in gone and name not in left[place + 1 :]:
                shelf.delete(f"{name}.txt")
                self._note(f"{name}.txt", None)

    def _put(self, name: str, place: int) -> None:
        text = " ".join([*self.chance.sample(WORDS, 3), str(place)])
        self.shelf.put(name, [text])
        self._note(name, text)

    def _note(self, name: str, text: str | None) -> None:
        held = {t: i for t, i in self.live[-1].items() if self.names.get(t) != name} if self.live[-1] else {}
        if text is not None:
            held[text] = self.shelf.chunk_ids[text]
            self.names[text] = name
        self.live.append(held)

    @property
    def names(self) -> dict[str, str]:
        return self.__dict__.setdefault("_names", {})

    def check(self, database, kb, settings, embedder: LetterEmbedder, moments: int) -> int:
        """Ask both arms at so many moments; returns how many passages they gave."""
        given = 0
        for _ in range(moments):
            seq, word = self.chance.randrange(len(self.live)), self.chance.choice(WORDS)
            with database.read(kb) as conn:
                as_of = resolve(conn, kb, as_of=f"seq:{seq}")
                words = _words(conn, kb, settings, word, as_of)
                near = vectors.nearest(conn, kb, embedder, word, as_of, depth=10).found
            live = self.live[seq]
            assert words == {i for text, i in live.items() if word in text.split()}, (seq, word)
            _same(near, live, self.names, embedder, word)
            given += len(words) + len(near)
        return given


def _words(conn, kb, settings, word: str, as_of: AsOf) -> set[UUID]:
    view = current_view(settings, kb)
    view.catch_up(conn, kb, as_of.seq)
    return {match.chunk_id for match in view.search(question_terms(word), as_of.seq, None, 1000)}


def _same(near, live: Mapping[str, UUID], names: Mapping[str, str], embedder: LetterEmbedder, word: str) -> None:
    """The nearest of those live, and no other: ids where likenesses differ, likenesses everywhere."""
    if not live:
        assert near == ()
        return
    passages = [passage_text(text, filename=names[text], heading_path=()) for text in live]
    likeness = embedder.passages(passages) @ embedder.queries([word])[0]
    exact = sorted(zip(-likeness, live.values(), strict=True))[:10]
    assert {n.chunk_id for n in near} <= set(live.values())
    np.testing.assert_allclose([n.similarity for n in near], [-value for value, _ in exact], atol=1e-5)


@pytest.fixture
def look_again(monkeypatch):
    monkeypatch.setattr(vectors, "_INDEX_KNOWN_SECONDS", 0.0)


def complete(database, kb, dsn, settings, documents: int) -> None:
    shelf, embedder = Shelf(database, kb), LetterEmbedder()
    history = History(shelf, documents, 11)
    shelf.embed(embedder)
    assert history.check(database, kb, settings, embedder, MOMENTS // 4) > 0
    run_index(database, kb, settings)
    assert vectors.ensure_vector_index(dsn, kb, vector_key(embedder), embedder.dimension, above=10)
    assert history.check(database, kb, settings, embedder, MOMENTS // 2) > 0
    for place in range(10):  # past the watermark, and closings of what is indexed
        history._put(f"{place}.txt", 10_000 + place)
    shelf.embed(embedder)
    assert history.check(database, kb, settings, embedder, MOMENTS // 4) > 0


def test_both_arms_equal_a_brute_force_search_at_two_hundred_moments(database, kb, dsn, settings, look_again):
    complete(database, kb, dsn, settings, 40)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_and_so_they_do_on_a_longer_history(database, kb, dsn, settings, look_again):
    complete(database, kb, dsn, settings, 160)
