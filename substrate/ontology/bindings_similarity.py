"""Which declared relations a phrase resembles: words compared by an embedder, kept where the kinds of the ends allow.

A phrase is bound by similarity alone where the best relation lies above a threshold and ahead of the second by a
margin, both chosen on one half of ``bench/bindings/labelled.tsv`` and scored on the other by ``make bench-bindings``.
An embedder that was not calibrated binds nothing; its order still says what a model or a person is shown first.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from substrate.ontology.binding import by_kinds, fits
from substrate.ontology.terms import Ontology, Relation
from substrate.retrieval.embedders.protocol import Embedder, Vectors

SHORTLIST = 8
"""Relations that a model or a person is shown."""
Form = Literal["thing", "text", "number"]
"""What a phrase's claims have as their object, mostly."""
_PASSIVE = re.compile(r"\bby$|^被|^由")
_KEPT = 20_000


@dataclass(frozen=True, slots=True)
class Calibration:
    """From where on a resemblance binds: cosines of this embedder, phrases in a frame ("A … B") or bare."""

    least: float
    margin: float
    framed: bool


CALIBRATED: Mapping[str, Calibration] = {
    "e5-small-int8@1": Calibration(0.84, 0.04, framed=False),
    "minilm-int8@1": Calibration(0.56, 0.14, framed=True),
}


@dataclass(frozen=True, slots=True)
class Profile:
    """A phrase with what its claims mostly look like; kinds are words of the extractor, None where unsure."""

    phrase: str
    form: Form
    subject_kind: str | None = None
    object_kind: str | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A relation that a phrase may name. `backwards` None: nothing tells the direction."""

    relation: str
    backwards: bool | None
    score: float
    word: str
    """The declared word that is nearest."""


class WordVectors:
    """Vectors of words, kept as long as the process lives, up to some thousands per embedder."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, bool, str], np.ndarray] = {}
        self._lock = threading.Lock()

    def of(self, embedder: Embedder, texts: Sequence[str], *, asking: bool) -> Vectors:
        """One row per text; `asking`: as queries."""
        keys = [(embedder.name, asking, text) for text in texts]
        with self._lock:
            known = {k: self._kept[k] for k in keys if k in self._kept}
        missing = list(dict.fromkeys(k for k in keys if k not in known))
        if missing:
            embed = embedder.queries if asking else embedder.passages
            known |= dict(zip(missing, embed([text for *_, text in missing]), strict=True))
            with self._lock:
                if len(self._kept) + len(missing) > _KEPT:
                    self._kept.clear()
                self._kept |= {k: known[k] for k in missing}
        return np.stack([known[k] for k in keys])


_VECTORS = WordVectors()


def candidates(ontology: Ontology, profiles: Sequence[Profile], embedder: Embedder) -> list[list[Candidate]]:
    """For each phrase the relations it may name, best first, at most `SHORTLIST`."""
    words = [(r, back, w) for r in ontology.relations for back, ws in _words(r) for w in ws]
    if not words or not profiles:
        return [[] for _ in profiles]
    how = CALIBRATED.get(embedder.name, Calibration(1.0, 1.0, framed=False))
    told = [_framed(w, r.kind == "attribute") if how.framed else w for r, _, w in words]
    asked = [_framed(p.phrase, p.form != "thing") if how.framed else p.phrase for p in profiles]
    scores = _VECTORS.of(embedder, asked, asking=True) @ _VECTORS.of(embedder, told, asking=False).T
    return [_ranked(ontology, p, words, row) for p, row in zip(profiles, scores, strict=True)]


def chosen(ranked: Sequence[Candidate], embedder_name: str) -> Candidate | None:
    """The one that resemblance alone binds to; None where it is too faint, too close a race, or lacks a direction."""
    how = CALIBRATED.get(embedder_name)
    if how is None or not ranked or ranked[0].backwards is None or ranked[0].score < how.least:
        return None
    second = ranked[1].score if len(ranked) > 1 else -1.0
    return ranked[0] if ranked[0].score - second >= how.margin else None


def _words(relation: Relation) -> tuple[tuple[bool, tuple[str, ...]], ...]:
    return (False, (relation.label, *relation.aliases)), (True, relation.inverse_aliases)


def _framed(phrase: str, attribute: bool) -> str:
    return f"the {phrase} of A" if attribute else f"A {phrase} B"


def _ranked(
    ontology: Ontology, profile: Profile, words: Sequence[tuple[Relation, bool, str]], scores: np.ndarray
) -> list[Candidate]:
    best: dict[str, tuple[float, bool, str, Relation]] = {}
    for (relation, backwards, word), score in zip(words, scores, strict=True):
        if relation.key not in best or score > best[relation.key][0]:
            best[relation.key] = float(score), backwards, word, relation
    found = [
        Candidate(key, _direction(ontology, profile, relation, backwards, word), round(score, 4), word)
        for key, (score, backwards, word, relation) in best.items()
        if _allowed(ontology, profile, relation)
    ]
    return sorted(found, key=lambda c: (-c.score, c.relation))[:SHORTLIST]


def _allowed(ontology: Ontology, profile: Profile, relation: Relation) -> bool:
    """Could a claim of that look state this relation, in some direction?"""
    subject, other = profile.subject_kind, profile.object_kind
    if profile.form == "thing":
        if relation.kind == "attribute":
            return False
        straight = fits(ontology, subject, relation.domain), fits(ontology, other, relation.range)
        crossed = fits(ontology, subject, relation.range), fits(ontology, other, relation.domain)
        return False not in straight or False not in crossed
    if relation.kind != "attribute" or fits(ontology, subject, relation.domain) is False:
        return False
    wanted = ("number", "money", None) if profile.form == "number" else ("text", "date", "bool", None)
    return relation.datatype in wanted


def _direction(ontology: Ontology, profile: Profile, relation: Relation, backwards: bool, word: str) -> bool | None:
    """The kinds of the ends tell; else the nearest word does, if both or neither are passive."""
    if relation.kind == "attribute" or relation.symmetric:
        return False
    told = by_kinds(ontology, relation, profile.subject_kind, profile.object_kind, half=True)
    if told is not None:
        return told
    alike = bool(_PASSIVE.search(profile.phrase)) == bool(_PASSIVE.search(word.casefold().strip()))
    return backwards if alike else None
