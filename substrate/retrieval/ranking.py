"""Ranking: the candidates of all arms judged by a dozen signals, each between 0 and 1, summed with tuned weights.

A passage is judged by itself, by the passages around it in its document, and by its document; conversations bring who
speaks and when. Scores are scaled among the candidates of one question, so that a weight means the same whatever the
model or the length of the question. Weights were chosen on three conversations of LoCoMo and shown on two others
(``make bench-locomo``); reciprocal ranks, which throw the distances away, gave .70 where these gave .82 at 10.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from substrate import sql
from substrate.axes.as_of import AsOf
from substrate.db import ReadConnection
from substrate.retrieval.questions import Question, label, stamped_at, tells_a_time

WEIGHTS: Mapping[str, float] = {
    "words": 0.6,
    "near_words": 1.0,
    "coverage": 1.0,
    "near_coverage": 1.8,
    "meaning": 2.0,
    "near_meaning": 0.6,
    "document": 1.5,
    "speaker": 1.8,
    "question": -0.5,
    "answer": 0.5,
    "date": 0.5,
    "time": 1.8,
}
"""Signal → weight. words, near_words: BM25 of the passage, and with what stands around it. coverage: share of the
question's terms by their rarity. meaning: likeness of vectors. document: the three best of its document. speaker:
said by the one whom the question names. question: asks something itself. answer: follows a promising question. date:
of a time the question names. time: tells a time where the question asks when."""
SIGNALS = tuple(WEIGHTS)
_AROUND = 0.6
"""Weight of the passage before and of the one after beside a passage's own likeness."""
_LEAST_SPAN = 0.1
"""Likenesses nearer to one another than this are no reason to prefer one: the usual span among candidates with e5."""
_READ = 2000
"""Characters of a passage that are looked at for speakers and time words."""

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scores:
    """What the arms gave each chunk: BM25 over its own fields, over `near`, and the share of the question covered."""

    words: Mapping[UUID, float]
    near: Mapping[UUID, float]
    coverage: Mapping[UUID, float]


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
        rows = conn.execute(sql.query("ranking_passages", as_of), sql.parameters(as_of, **values)).fetchall()
        known = known or {}
        self._at = {(r["version_id"], r["parser"], r["position"]): r for r in rows}
        self.rows = sorted((r for r in rows if r["asked"]), key=lambda r: r["id"])
        self.ids = [row["id"] for row in self.rows]
        self._similarity = {r["id"]: known.get(r["id"], r["similarity"]) for r in rows}

    @property
    def around(self) -> list[UUID]:
        """Every passage that takes part in the judgement, candidates and neighbours."""
        return [row["id"] for row in self._at.values()]

    def _beside(self, row: Mapping[str, Any], by: int) -> Mapping[str, Any] | None:
        return self._at.get((row["version_id"], row["parser"], row["position"] + by))

    def rank(self, question: Question, scores: Scores) -> Ranked:
        """The candidates by the sum of their weighted signals; equals by id."""
        if not self.rows:
            return Ranked((), np.zeros((0, len(SIGNALS))), np.zeros(0), ())
        columns = self._columns(question, scores)
        signals = np.array([columns[name] for name in SIGNALS]).T
        total = signals @ np.array([WEIGHTS[name] for name in SIGNALS])
        order = np.lexsort((np.arange(len(self.ids)), -total))
        similarity = [self._similarity[self.ids[i]] for i in order]
        ids = tuple(self.ids[i] for i in order)
        return Ranked(ids, signals[order], total[order], tuple(None if s is None else float(s) for s in similarity))

    def _columns(self, question: Question, scores: Scores) -> dict[str, Sequence[float] | Matrix]:
        words = _by_most([scores.words.get(i, 0.0) for i in self.ids])
        near = _by_most([scores.near.get(i, 0.0) for i in self.ids])
        likeness = self._scaled_likeness()
        meaning = np.array([likeness.get(i, 0.0) for i in self.ids])
        promise = dict(zip(self.ids, words + meaning, strict=True))
        return {
            "words": words,
            "near_words": near,
            "coverage": [scores.coverage.get(i, 0.0) for i in self.ids],
            "near_coverage": [self._best_around(row, scores.coverage) for row in self.rows],
            "meaning": meaning,
            "near_meaning": self._near_meaning(likeness),
            "document": self._documents(near + meaning),
            "speaker": self._speakers(question),
            "question": [float(row["last"] in "?？") for row in self.rows],
            "answer": _by_most([self._answers(row, promise) for row in self.rows]),
            "date": [question.dated_at(_dated(row)) for row in self.rows],
            "time": [float(question.asks_when and tells_a_time(_said(row))) for row in self.rows],
        }

    def _scaled_likeness(self) -> dict[UUID, float]:
        """Every known likeness between that of the least like candidate, 0, and that of the most like one, 1."""
        own = [s for i in self.ids if (s := self._similarity[i]) is not None]
        if not own:
            return {}
        most = max(own)
        span = max(most - min(own), _LEAST_SPAN)
        return {i: max(0.0, 1 - (most - s) / span) for i, s in self._similarity.items() if s is not None}

    def _near_meaning(self, likeness: Mapping[UUID, float]) -> Matrix:
        found = []
        for row in self.rows:
            beside = [r for by in (-1, 1) if (r := self._beside(row, by)) is not None]
            around = sum(likeness.get(r["id"], 0.0) for r in beside)
            found.append(likeness.get(row["id"], 0.0) + _AROUND * around)
        return _by_most(found)

    def _best_around(self, row: Mapping[str, Any], of: Mapping[UUID, float]) -> float:
        return max(of.get(r["id"], 0.0) for by in (-1, 0, 1) if (r := self._beside(row, by)) is not None)

    def _documents(self, judged: Matrix) -> Matrix:
        by_version: defaultdict[UUID, list[float]] = defaultdict(list)
        for row, value in zip(self.rows, judged, strict=True):
            by_version[row["version_id"]].append(float(value))
        mean = {version: sum(sorted(values)[-3:]) / 3 for version, values in by_version.items()}
        return _by_most([mean[row["version_id"]] for row in self.rows])

    def _speakers(self, question: Question) -> list[float]:
        """1 for what is said by the one speaker whom the question names; with two or none it tells nothing."""
        said = [label(row["text"])[0] or row["author"] for row in self.rows]
        named = {speaker for speaker in set(said) if speaker and question.names(speaker)}
        return [float(len(named) == 1 and speaker in named) for speaker in said]

    def _answers(self, row: Mapping[str, Any], promise: Mapping[UUID, float]) -> float:
        before = self._beside(row, -1)
        return promise.get(before["id"], 0.0) if before is not None and before["last"] in "?？" else 0.0


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
