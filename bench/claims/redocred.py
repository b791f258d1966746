"""Encyclopaedic prose with relations of Wikidata: which pairs of things the extractor links at all.

The claims' wording is not compared with the relation, only their ends with the annotated things, by any of their names
and either way about. The annotation is not complete, so that a pair counted wrong may be true.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.claims.ends import date_of, same_date, same_name
from bench.claims.score import Said

FILES = ("corpus.json", "truth.json")


@dataclass(frozen=True)
class Linked:
    """``claims`` in all, ``known`` with an annotated thing at both ends, ``right`` of these an annotated pair."""

    claims: int
    known: int
    right: int
    facts: int
    found: int

    def summary(self) -> str:
        precision = self.right / self.known if self.known else 1.0
        return f"redocred: p={precision:.3f} same_sentence_r={self.found / self.facts:.3f}"


def load(folder: Path) -> tuple[list[Mapping[str, Any]], dict[str, Mapping[str, Any]]]:
    """Documents, and what is true of each by its file name."""
    corpus, truth = (json.loads((folder / name).read_text(encoding="utf-8"))["docs"] for name in FILES)
    return corpus, {document["filename"]: document for document in truth}


def link(truth: Mapping[str, Mapping[str, Any]], said: Mapping[str, Sequence[Said]]) -> Linked:
    """`said` gives the claims by file name."""
    total = [0, 0, 0, 0, 0]
    for filename, document in truth.items():
        for place, number in enumerate(_of_document(document, said[filename])):
            total[place] += number
    return Linked(*total)


def _of_document(document: Mapping[str, Any], said: Sequence[Said]) -> tuple[int, int, int, int, int]:
    things = document["entities"]
    pairs = {frozenset((fact["h"], fact["t"])) for fact in document["facts"]}
    near = [frozenset((fact["h"], fact["t"])) for fact in document["facts"] if fact["same_sentence"]]
    known = right = 0
    linked: set[frozenset[int]] = set()
    for claim in said:
        subjects, objects = _named(claim.subject, things), _named(claim.object, things)
        between = {frozenset((a, b)) for a in subjects for b in objects if a != b}
        known += bool(between)
        right += bool(between & pairs)
        linked |= between | {frozenset((a, b)) for a in subjects | objects for b in _dated(claim, things)}
    return len(said), known, right, len(near), sum(pair in linked for pair in near)


def _named(name: str, things: Sequence[Mapping[str, Any]]) -> set[int]:
    return {n for n, thing in enumerate(things) if any(same_name(name, other) for other in thing["names"])}


def _dated(claim: Said, things: Sequence[Mapping[str, Any]]) -> set[int]:
    days = {claim.start, claim.end} - {"", "past"}
    dates = {n: date_of(thing["names"][0]) for n, thing in enumerate(things) if thing["type"] == "TIME"}
    return {n for n, date in dates.items() if any(same_date(day, date) for day in days)}
