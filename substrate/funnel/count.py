"""The funnel of a base now: passages, what was seen in them, claims, bindings, entities, facts.

At each level what came in is counted apart from its parts, and is their sum. A part goes on to the next level or was
dropped under its code; ``unaccounted`` is a part too, which should be empty.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any
from uuid import UUID

from substrate import sql
from substrate.db import AnyConnection
from substrate.ontology.binding import NAMING, named, told_by_wording
from substrate.ontology.phrases import plain_phrase
from substrate.ontology.store import load_ontology
from substrate.ontology.terms import Ontology
from substrate.reads.moments import envelope, resolve

UNACCOUNTED = "unaccounted"
UNDECIDED = 20
"""Undecided phrases that the funnel shows; all of them are in the list of bindings."""
BOUND = frozenset({"naming", "wording", "exact", "concept", "similarity", "votes", "person"})


@dataclass(frozen=True, slots=True)
class Part:
    """Some of what came into a level. ``goes_on``: the next level has it; else it stopped here."""

    code: str
    items: int
    goes_on: bool


@dataclass(frozen=True, slots=True)
class Level:
    """One level; `of` says what is counted."""

    name: str
    of: str
    came_in: int
    parts: tuple[Part, ...]

    @property
    def went_on(self) -> int:
        return sum(p.items for p in self.parts if p.goes_on)

    @property
    def dropped(self) -> int:
        return sum(p.items for p in self.parts if not p.goes_on)

    @property
    def balanced(self) -> bool:
        """Is everything that came in accounted for?"""
        known = all(p.code != UNACCOUNTED for p in self.parts)
        return known and self.came_in == self.went_on + self.dropped


@dataclass(frozen=True, slots=True)
class Funnel:
    """All levels at one head of the record."""

    stands: Mapping[str, Any]
    levels: tuple[Level, ...]
    facts: Mapping[str, int]
    coverage: Mapping[str, int]
    undecided: Sequence[tuple[str, int]] = field(default_factory=tuple)

    @property
    def balanced(self) -> bool:
        """Every level is, and each gets what the one before let on."""
        _, seen, *rest = self.levels
        chain = [seen, *rest]
        return all(level.balanced for level in self.levels) and all(
            after.came_in == before.went_on for before, after in pairwise(chain)
        )

    def shown(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            **self.stands,
            "balanced": self.balanced,
            "levels": [
                {
                    "level": level.name,
                    "of": level.of,
                    "in": level.came_in,
                    "out": level.went_on,
                    "dropped": level.dropped,
                    "parts": [{"code": p.code, "items": p.items, "goes_on": p.goes_on} for p in level.parts],
                }
                for level in self.levels
            ],
            "facts": dict(self.facts),
            "coverage": dict(self.coverage),
            "undecided": [{"phrase": phrase, "claims": claims} for phrase, claims in self.undecided],
        }


def count_funnel(connection: AnyConnection, kb_id: UUID) -> Funnel:
    """Count it in one snapshot. Sentences are those that were counted so far (`run_funnel`); see ``measured``."""
    asked = {"kb_id": kb_id}

    def rows(name: str) -> list[dict[str, Any]]:
        return connection.execute(sql.query(name), asked).fetchall()

    claims = rows("funnel_claims")
    methods = _methods(connection, kb_id, claims)
    passages = Counter({row["code"]: row["items"] for row in rows("funnel_passages")})
    drops = Counter({row["code"]: int(row["items"]) for row in rows("funnel_drops")})
    total = sum(row["claims"] for row in claims)
    moods, entities, facts = _tally(claims, "mood"), _tally(claims, "entity_code"), _tally(claims, "fact_code")
    stated = moods.pop("", 0)
    bound: Counter[str] = Counter()
    for row, method in zip(claims, methods, strict=True):
        if row["mood"] is None:
            bound[method] += row["claims"]
    entities.pop("", None)
    facts.pop("", None)
    (counted,) = rows("funnel_totals")
    levels = (
        _level("passages", "passages", counted["passages"], passages, {"with_claims"}),
        _level("seen", "statements seen", int(counted["seen"]), Counter({"claimed": total, **drops}), {"claimed"}),
        _level("claims", "claims", counted["claims"], Counter({"stated_as_so": stated, **moods}), {"stated_as_so"}),
        _level("bindings", "claims", counted["stated"], bound, set(bound)),
        _level("entities", "claims", counted["stated"], entities, {"resolved"}),
        _level("facts", "claims", entities["resolved"], facts, {"fact"}),
    )
    (held,) = rows("funnel_facts")
    (covered,) = rows("funnel_coverage")
    return Funnel(
        {"kb_id": str(kb_id), **envelope(resolve(connection, kb_id))},
        levels,
        {**held, "claims_on_facts": facts["fact"], "said_again": facts["fact"] - held["stated"]},
        {name: int(n) for name, n in covered.items()},
        _undecided(claims, methods),
    )


def _tally(rows: Sequence[Mapping[str, Any]], column: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for row in rows:
        found[row[column] or ""] += row["claims"]
    return found


def _level(name: str, of: str, came_in: int, parts: Counter[str], goes_on: set[str]) -> Level:
    """Parts that go on first, the largest first."""
    ordered = sorted(((c, n) for c, n in parts.items() if n), key=lambda p: (p[0] not in goes_on, -p[1], p[0]))
    return Level(name, of, came_in, tuple(Part(c, n, c in goes_on) for c, n in ordered))


def _methods(connection: AnyConnection, kb_id: UUID, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """For each row by which method its phrase is bound now, or ``undecided``, or ``names_nothing``."""
    ontology = load_ontology(connection, kb_id)
    held = connection.execute(sql.query("bindings_held"), {"kb_id": kb_id}).fetchall()
    decided = {row["phrase"]: row for row in held}
    return [_method(ontology, decided, row) for row in rows]


def _method(ontology: Ontology, decided: Mapping[str, Mapping[str, Any]], row: Mapping[str, Any]) -> str:
    plain, worded = plain_phrase(row["phrase"]), plain_phrase(row["wording"]) if row["wording"] else ""
    if plain in NAMING:
        return "naming"
    for text in (worded, plain):
        said = decided.get(text)
        if said is not None and said["method"] == "person" and _stands(ontology, said):
            return "person" if said["predicate_key"] else "names_nothing"
    if told_by_wording(ontology, row["phrase"], row["wording"]):
        return "wording"
    if (hit := named(ontology, row["phrase"], of_person=row["object_kind"] == "person")) is not None:
        return hit[2]
    said = decided.get(plain)
    machine = said is not None and said["method"] in ("similarity", "votes") and _stands(ontology, said)
    return str(said["method"]) if machine and said is not None else "undecided"


def _stands(ontology: Ontology, said: Mapping[str, Any]) -> bool:
    return said["predicate_key"] is None or said["predicate_key"] in ontology.by_key


def _undecided(rows: Sequence[Mapping[str, Any]], methods: Sequence[str]) -> list[tuple[str, int]]:
    found: Counter[str] = Counter()
    for row, method in zip(rows, methods, strict=True):
        if method == "undecided" and row["mood"] is None:
            found[plain_phrase(row["phrase"])] += row["claims"]
    return sorted(found.items(), key=lambda p: (-p[1], p[0]))[:UNDECIDED]
