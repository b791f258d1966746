"""Documents of an invented company, drawn with a seed: facts in business sentences among sentences that state none."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date, timedelta

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
