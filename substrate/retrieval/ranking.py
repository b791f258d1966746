"""Ranking: the candidates of all arms judged by eleven signals, each between 0 and 1, summed with tuned weights.

A passage is judged by itself, by the passages around it in its document, and by its document; conversations bring who
speaks and when. Scores are scaled among the candidates of one question, so that a weight means the same whatever the
model or the length of the question. Weights were chosen on three conversations of LoCoMo and shown on two others
(``make bench-locomo``); reciprocal ranks, which throw the distances away, gave .68 where these gave .81 at 10.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from substrate import sql
from substrate.axes.as_of import AsOf
from substrate.db import ReadConnection
from substrate.retrieval.questions import Question, label, stamped_at, tells_a_time

WEIGHTS: Mapping[str, float] = {
    "words": 0.5,
    "near_words": 1.0,
    "coverage": 1.0,
    "near_coverage": 1.6,
    "meaning": 2.5,
    "document": 0.5,
    "speaker": 1.5,
    "question": -0.6,
    "answer": 0.9,
    "date": 0.5,
    "time": 0.8,
}
"""Signal → weight. words, near_words: BM25 of the passage, and with what stands around it. coverage: share of the
question's terms by their rarity. meaning: likeness of vectors. document: the three best of its document. speaker:
said by the one whom the question names. question: asks something itself. answer: follows a promising question. date:
of a time the question names. time: tells a time where the question asks when."""
SIGNALS = tuple(WEIGHTS)
_LEAST_SPAN = 0.1
"""Likenesses nearer to one another than this are no reason to prefer one: the usual span among candidates with e5."""
_READ = 600
"""Characters of a passage that are looked at for speakers and time words."""

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scores:
    """What the lexical index gave each chunk: BM25 over its own fields and over `near`, and how much either covers."""

    words: Mapping[UUID, float]
    near: Mapping[UUID, float]
    coverage: Mapping[UUID, float]
    near_coverage: Mapping[UUID, float]


@dataclass(frozen=True, slots=True)
class Ranked:
    """Candidates, best first: a row of `SIGNALS` each, its sum, and the likeness to the question (None: no vector)."""

    ids: tuple[UUID, ...]
    signals: Matrix
    scores: NDArray[np.float64]
    similarity: tuple[float | None, ...]

    def explained(self, place: int) -> dict[str, Any]:
        """The score of the candidate at `place` and what each signal added to it."""
        added = {
            name: round(float(value * WEIGHTS[name]), 4)
            for name, value in zip(SIGNALS, self.signals[place], strict=True)
            if value
        }
        return {"score": round(float(self.scores[place]), 4), "signals": added, "similarity": self.similarity[place]}


class Pool:
    """The candidates of a question and what stands around them, as one moment's snapshot has it."""

    def __init__(
        self,
        conn: ReadConnection,
        kb_id: UUID,
        ids: Sequence[UUID],
        as_of: AsOf,
        *,
        model: str | None = None,
        vector: str | None = None,
        known: Mapping[UUID, float] | None = None,
    ) -> None:
        """`vector` is the question's, as pgvector spells it; `known` are likenesses that no stored vector gives."""
        values = {"kb_id": kb_id, "ids": list(ids), "cut": _READ, "model": model, "vector": vector}
        self._rows = conn.execute(sql.query("ranking_passages", as_of), sql.parameters(as_of, **values)).fetchall()
        known = known or {}
        self._similarity = [known.get(row["id"], row["similarity"]) for row in self._rows]
        # Places rather than ids from here on: hashing ids was a third of the time a search took.
        self._asked = [n for n, row in enumerate(self._rows) if row["asked"]]
        self._follows = [False, *(_follows(one, other) for one, other in pairwise(self._rows))][: len(self._rows)]
        self.ids = [self._rows[n]["id"] for n in self._asked]

    def rank(self, question: Question, scores: Scores) -> Ranked:
        """The candidates by the sum of their weighted signals; equals by id."""
        if not self.ids:
            return Ranked((), np.zeros((0, len(SIGNALS))), np.zeros(0), ())
        columns = self._columns(question, scores)
        signals = np.array([columns[name] for name in SIGNALS]).T
        total = signals @ np.array([WEIGHTS[name] for name in SIGNALS])
        order = sorted(range(len(self.ids)), key=lambda i: (-total[i], self.ids[i]))
        likeness = [self._similarity[self._asked[i]] for i in order]
        found = tuple(None if s is None else float(s) for s in likeness)
        return Ranked(tuple(self.ids[i] for i in order), signals[order], total[order], found)

    def _columns(self, question: Question, scores: Scores) -> dict[str, Matrix]:
        asked = np.array(self._asked)
        rows = [self._rows[n] for n in self._asked]
        words = _by_most([scores.words.get(i, 0.0) for i in self.ids])
        near = _by_most([scores.near.get(i, 0.0) for i in self.ids])
        meaning = self._scaled_likeness()
        promise = np.zeros(len(self._rows))
        promise[asked] = words + meaning
        asks = np.array([row["last"] in "?？" and row["last"] != "" for row in self._rows], np.float64)
        return {
            "words": words,
            "near_words": near,
            "coverage": np.array([scores.coverage.get(i, 0.0) for i in self.ids]),
            "near_coverage": np.array([scores.near_coverage.get(i, 0.0) for i in self.ids]),
            "meaning": meaning,
            "document": self._documents(rows, near + meaning),
            "speaker": _speakers(question, rows),
            "question": asks[asked],
            "answer": _by_most((np.roll(promise * asks, 1) * np.array(self._follows))[asked]),
            "date": np.array([question.dated_at(_dated(row)) if question.dates_something else 0.0 for row in rows]),
            "time": np.array([float(question.asks_when and tells_a_time(_said(row))) for row in rows]),
        }

    def _scaled_likeness(self) -> Matrix:
        """The candidates' likenesses between that of the least like one, 0, and that of the most like one, 1."""
        own = [self._similarity[n] for n in self._asked]
        known = [s for s in own if s is not None]
        if not known:
            return np.zeros(len(own))
        most = max(known)
        span = max(most - min(known), _LEAST_SPAN)
        return np.array([0.0 if s is None else 1 - (most - s) / span for s in own])

    def _documents(self, rows: Sequence[Mapping[str, Any]], judged: Matrix) -> Matrix:
        by_version: defaultdict[UUID, list[float]] = defaultdict(list)
        for row, value in zip(rows, judged, strict=True):
            by_version[row["version_id"]].append(float(value))
        mean = {version: sum(sorted(values)[-3:]) / 3 for version, values in by_version.items()}
        return _by_most([mean[row["version_id"]] for row in rows])


def _follows(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Do two rows in order belong to one document? What stands before a candidate there is always among the rows."""
    return bool(one["version_id"] == other["version_id"] and one["parser"] == other["parser"])


def _speakers(question: Question, rows: Sequence[Mapping[str, Any]]) -> Matrix:
    """1 for what is said by the one speaker whom the question names; with two or none it tells nothing."""
    said = [label(row["text"])[0] or row["author"] for row in rows]
    named = {speaker for speaker in set(said) if speaker and question.names(speaker)}
    return np.array([float(len(named) == 1 and speaker in named) for speaker in said])


def _said(row: Mapping[str, Any]) -> str:
    """The text without a message's label, whose stamp tells when it was said and not what."""
    text: str = row["text"]
    return text.partition(": ")[2] if label(text)[0] else text


def _dated(row: Mapping[str, Any]) -> Any:
    stamp = label(row["text"])[1]
    return (stamped_at(stamp) if stamp else None) or row["doc_time"]


def _by_most(values: Sequence[float] | Matrix) -> Matrix:
    found = np.asarray(values, np.float64)
    most = found.max(initial=0.0)
    return found / most if most > 0 else found
