"""Documents of an invented company, drawn with a seed: facts in business sentences among sentences that state none.

And statements as they reach the ledger, for what is measured without any text.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from uuid import UUID

from substrate.extraction.claims import ClaimTime, Value
from substrate.ledger.drafts import Draft, Evidence

_FIRST = (
    "Ada Bela Cora Dario Edda Farid Greta Hugo Ines Jonas Kira Levi Mona Nils Olga Pavel Rhea Sven Tara Uwe".split()
)
_LAST = (
    "Abel Borg Castell Dietz Engel Falk Grau Hahn Ilves Jansen Klee Lorenz Marek Novak Orban Pohl Quist Ritter".split()
)
_PLACES = "Bremen Malmo Graz Turin Leiden Porto Tartu Ghent Basel Brno".split()
_NOUNS = (
    "Harbour Lantern Meadow Quartz Falcon Juniper Cobalt Saffron Birch Granite Willow Ember Heron Cedar Onyx".split()
)
_FILLER = (
    "The weekly meeting took place in the usual room and ended on time.",
    "Several suggestions were made about the coffee machine, and none was adopted.",
    "The figures below are unaudited and will be reviewed with the next report.",
    "Please send comments to the office before the end of the week.",
    "A short discussion followed about how the notes should be kept.",
    "Nothing in this memo changes the terms of existing agreements.",
    "It was agreed that the next review might be moved if the hall is not free.",
)


@dataclass(frozen=True)
class Generated:
    """A document as it would be pushed."""

    external_id: str
    filename: str
    doc_time: str
    text: str


def people(rng: random.Random, count: int) -> list[str]:
    """Distinct names."""
    names = [f"{first} {last}" for first in _FIRST for last in _LAST]
    return rng.sample(names, min(count, len(names)))


def documents(count: int, seed: int, size: int = 5000) -> list[Generated]:
    """`count` Markdown documents of about `size` characters."""
    rng = random.Random(seed)
    staff = people(rng, 300)
    projects = [f"Project {a} {b}" for a in _NOUNS for b in ("Nord", "Sud", "West", "Ost")]
    houses = [f"{a} Works" for a in _NOUNS]
    return [_document(rng, i, staff, projects, houses, size) for i in range(count)]


def _document(
    rng: random.Random, number: int, staff: list[str], projects: list[str], houses: list[str], size: int
) -> Generated:
    written = date(2018, 1, 1) + timedelta(days=rng.randrange(2500))
    parts = [f"# Memo {number:05}"]
    while sum(map(len, parts)) < size:
        if len(parts) % 6 == 0:
            parts.append(f"## Notes on {rng.choice(projects)}")
        parts.append(" ".join(_sentence(rng, staff, projects, houses) for _ in range(rng.randrange(2, 6))))
    return Generated(f"memo-{number:05}", f"memo-{number:05}.md", written.isoformat(), "\n\n".join(parts) + "\n")


def _sentence(rng: random.Random, staff: list[str], projects: list[str], houses: list[str]) -> str:
    if rng.random() < 0.6:
        return rng.choice(_FILLER)
    who, project, house, day = rng.choice(staff), rng.choice(projects), rng.choice(houses), _day(rng)
    return rng.choice(
        (
            f"{who} leads {project} from {day}.",
            f"{who} joined {house} on {day}.",
            f"{who} has a salary of {rng.randrange(30, 90)},000 EUR from {day}.",
            f"{project} is part of {house}.",
            f"On {day}, {who} took over {project} from {rng.choice(staff)}.",
            f"{house} is based in {rng.choice(_PLACES)}.",
            f"{who} works for {house} since {day}.",
            f"{who} may take over {project} next year.",
        )
    )


def _day(rng: random.Random) -> str:
    return (date(2015, 1, 1) + timedelta(days=rng.randrange(3600))).isoformat()


ONTOLOGY = """
classes:
  - {key: person, label: Person}
relations:
  - {key: leads, label: leads, inverse_functional: true}
  - {key: works_for, label: works for}
  - {key: knows, label: knows}
  - {key: based_in, label: based in, functional: true}
  - {key: acquired, label: acquired, temporal: event}
attributes:
  - {key: salary, label: salary, functional: true, datatype: number, unit: EUR}
  - {key: note, label: note, datatype: text}
"""
_KINDS = {"works_for": 25, "knows": 25, "leads": 8, "based_in": 8, "acquired": 8, "salary": 12, "note": 14}
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)


def drafts(rng: random.Random, entities: Sequence[UUID], count: int, name: str, evidence: Evidence) -> list[Draft]:
    """`count` statements that documents could make of these entities, in the relations of `ONTOLOGY`.

    28 % are of relations that ask for uniqueness, so that what an earlier statement opened is closed by a later one and
    written anew; the others mostly stand alone. `name` makes their source keys theirs.
    """
    kinds = rng.choices(tuple(_KINDS), tuple(_KINDS.values()), k=count)
    return [_draft(rng, entities, kind, f"{name}:{i}", evidence) for i, kind in enumerate(kinds)]


def _draft(rng: random.Random, entities: Sequence[UUID], kind: str, key: str, evidence: Evidence) -> Draft:
    day = _EPOCH + timedelta(days=rng.randrange(9000))
    subject, target = rng.sample(range(len(entities)), 2)
    value = None
    if kind == "salary":
        amount = rng.randrange(30, 900) * 1000
        value = Value(f"{amount:,} EUR", number=Decimal(amount), unit="EUR", datatype="number")
    elif kind == "note":
        value = Value(f"remark {rng.randrange(10**9)}", datatype="text")
    return Draft(
        source_key=key,
        subject_id=entities[subject],
        phrase=kind.replace("_", " "),
        predicate_key=kind,
        object_id=entities[target] if value is None else None,
        value=value,
        time=ClaimTime(valid_from=day, valid_from_precision="day"),
        attested_at=day,
        origin="import",
        confidence=0.9,
        evidence=evidence,
    )
