"""What was committed and is in no index yet, held in this process and scored like the index scores.

The tail of a base begins at the watermark of the index at hand and is brought up to a reader's sequence by one query.
Scores are BM25 with the index's own document frequencies and average lengths, so that a sentence remembered a moment
ago ranks where it will rank once it is indexed.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from substrate.retrieval.analysis import terms
from substrate.retrieval.filters import Filters, Place, place_of
from substrate.retrieval.lexical_schema import FIELDS, OPEN, Field, Term, field_terms
from substrate.retrieval.passages import passage_text

_K1, _B = 1.2, 0.75
"""Tantivy's own constants."""
_IN_ORDER: frozenset[Field] = frozenset({"body", "title"})


@dataclass(frozen=True, slots=True)
class Statistics:
    """What the index knows: how many documents, average terms per field, in how many a term stands."""

    documents: int = 0
    averages: Mapping[str, float] | None = None
    frequency: Callable[[Field, str], int] = lambda field, text: 0


@dataclass(frozen=True, slots=True)
class _Fresh:
    recorded_seq: int
    invalidated_seq: int
    place: Place
    lengths: Mapping[Field, int]
    runs: Mapping[Field, Sequence[str]]
    """The terms of the fields that are kept in order."""
    passage: str

    def held(self, seq: int, filters: Filters | None) -> bool:
        inside = not filters or filters.allows(self.place)
        return inside and self.recorded_seq <= seq < self.invalidated_seq  # lint: axis no database at hand


class Tail:
    """Chunks written, and closings of older chunks, in ``(after, upto]``. The caller sees to locking."""

    def __init__(self, after: int) -> None:
        self.after = self.upto = after
        self._fresh: dict[UUID, _Fresh] = {}
        self._closed: dict[UUID, int] = {}
        self._postings: defaultdict[tuple[Field, str], dict[UUID, int]] = defaultdict(dict)
        self._totals: Counter[str] = Counter()

    def take(self, rows: Sequence[Mapping[str, Any]], upto: int) -> None:
        """Add rows of ``retrieval_events``; taking one again changes nothing."""
        for row in rows:
            if row["id"] is None:
                continue
            if row["recorded_seq"] <= self.after:  # lint: axis a watermark, not what was held
                self._closed[row["id"]] = row["invalidated_seq"]
            else:
                self._add(row)
        self.upto = max(self.upto, upto)

    def _add(self, row: Mapping[str, Any]) -> None:
        known = self._fresh.get(row["id"])
        if known is None:
            lengths, runs = self._post(row)
            passage = passage_text(
                row["text"],
                filename=row["filename"],
                heading_path=row["heading_path"],
                author=row["author"],
                title=row["title"],
                doc_time=row["doc_time"],
            )
        else:
            lengths, runs, passage = known.lengths, known.runs, known.passage
        closed = OPEN if row["invalidated_seq"] is None else row["invalidated_seq"]
        self._fresh[row["id"]] = _Fresh(row["recorded_seq"], closed, place_of(row), lengths, runs, passage)

    def _post(self, row: Mapping[str, Any]) -> tuple[Mapping[Field, int], Mapping[Field, Sequence[str]]]:
        lengths: dict[Field, int] = {}
        runs: dict[Field, Sequence[str]] = {}
        for field, listed in field_terms(row).items():
            found = listed if field == "codes" else terms(listed)
            lengths[field] = len(found)
            if field in _IN_ORDER:
                runs[field] = found
            for text, count in Counter(found).items():
                self._postings[field, text][row["id"]] = count
        self._totals.update(lengths)
        return lengths, runs

    def closed(self, seq: int) -> list[UUID]:
        """Indexed chunks that the index still holds for open but that were closed by `seq`."""
        return [chunk_id for chunk_id, closed_seq in self._closed.items() if closed_seq <= seq]

    def passages(self, seq: int, filters: Filters | None) -> dict[UUID, str]:
        """What an embedder would be given of the chunks held at `seq`."""
        return {i: fresh.passage for i, fresh in self._fresh.items() if fresh.held(seq, filters)}

    def search(
        self, wanted: Sequence[Term], seq: int, filters: Filters | None, known: Statistics
    ) -> list[tuple[float, UUID]]:
        """Score and id of each chunk held at `seq` with any of the terms, unordered."""
        scored = self._scored(wanted, known)
        return [(s, i) for i, s in scored.items() if self._fresh[i].held(seq, filters)]

    def scores(self, wanted: Sequence[Term], known: Statistics, ids: Collection[UUID]) -> dict[UUID, float]:
        """The scores of those of `ids` that are here."""
        return {i: score for i, score in self._scored(wanted, known).items() if i in ids}

    def covered(self, rarity: Mapping[str, float], fields: Sequence[Field], ids: Collection[UUID]) -> dict[UUID, float]:
        """Of those of `ids` that are here, the summed rarity of the terms that any of the fields holds."""
        found: defaultdict[UUID, float] = defaultdict(float)
        if not self._fresh:
            return found
        asked = set(ids)
        for text, weight in rarity.items():
            holding = {i for field in fields for i in self._postings.get((field, text), ())}
            for chunk_id in holding & asked:
                found[chunk_id] += weight
        return found

    def holding(self, run: Sequence[str], fields: Sequence[Field]) -> set[UUID]:
        """The chunks here, of any moment, where the terms stand one after another in any of the fields."""
        found: set[UUID] = set()
        for field in fields:
            posted = [self._postings.get((field, text), {}).keys() for text in run]
            every = set(posted[0]).intersection(*posted[1:])
            found |= {i for i in every if _stands(run, self._fresh[i].runs[field])}
        return found

    def frequency(self, field: Field, text: str) -> int:
        """How many chunks here hold the term."""
        return len(self._postings.get((field, text), ()))

    def __len__(self) -> int:
        return len(self._fresh)

    def _scored(self, wanted: Sequence[Term], known: Statistics) -> dict[UUID, float]:
        if not self._fresh:
            return {}
        documents = known.documents + len(self._fresh)
        averages = {field: self._average(field, known, documents) for field in FIELDS}
        scores: defaultdict[UUID, float] = defaultdict(float)
        for term in wanted:
            posted = self._postings.get((term.field, term.text))
            if not posted:
                continue
            containing = known.frequency(term.field, term.text) + len(posted)
            idf = math.log(1 + (documents - containing + 0.5) / (containing + 0.5))
            for chunk_id, count in posted.items():
                relative = self._fresh[chunk_id].lengths[term.field] / averages[term.field]
                saturated = count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * relative))
                scores[chunk_id] += term.weight * idf * saturated
        return scores

    def _average(self, field: Field, known: Statistics, documents: int) -> float:
        indexed = (known.averages or {}).get(field, 0.0) * known.documents
        return max((indexed + self._totals[field]) / documents, 1e-9)


def _stands(run: Sequence[str], listed: Sequence[str]) -> bool:
    wanted, most = list(run), len(run)
    return any(list(listed[n : n + most]) == wanted for n in range(len(listed) - most + 1) if listed[n] == wanted[0])
