"""The labelled cases, and what a partition of their names is worth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import yaml

HERE = Path(__file__).parent
Where = tuple[str, str]
"""A document's name and a name in it."""


@dataclass(frozen=True)
class Document:
    """One short text, and what the name in it means."""

    external_id: str
    thing: str
    name: str
    text: str

    @property
    def where(self) -> Where:
        return self.external_id, self.name


@dataclass(frozen=True)
class Case:
    """Documents whose names are compared with one another."""

    kind: str
    documents: tuple[Document, ...]


@dataclass
class Score:
    """Pairs by what was said of them and what they are."""

    joined_right: int = 0
    joined_wrong: int = 0
    missed: int = 0
    kept_apart: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def pairs(self) -> int:
        return self.joined_right + self.joined_wrong + self.missed + self.kept_apart

    @property
    def precision(self) -> float:
        return self.joined_right / max(self.joined_right + self.joined_wrong, 1)

    @property
    def recall(self) -> float:
        return self.joined_right / max(self.joined_right + self.missed, 1)

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    @property
    def wrong_share(self) -> float:
        """Of all pairs that were joined, those that are two things."""
        return self.joined_wrong / max(self.joined_right + self.joined_wrong, 1)


def load(part: str) -> list[Case]:
    """The cases of ``open`` or ``held``."""
    raw = yaml.safe_load((HERE / f"{part}.yaml").read_text(encoding="utf-8"))
    return [
        Case(
            case["kind"],
            tuple(
                Document(f"{part}-{i:03}-{j}.md", str(thing), name, text)
                for j, (thing, name, text) in enumerate(case["docs"])
            ),
        )
        for i, case in enumerate(raw)
    ]


def score(cases: Sequence[Case], same: Callable[[Document, Document], bool]) -> dict[str, Score]:
    """Kind → score, and ``all``."""
    found: dict[str, Score] = {"all": Score()}
    for case in cases:
        for one, other in combinations(case.documents, 2):
            joined, truly = same(one, other), one.thing == other.thing
            for name in (case.kind, "all"):
                _count(found.setdefault(name, Score()), joined, truly, f"{one.where} / {other.where}")
    return found


def _count(score: Score, joined: bool, truly: bool, told: str) -> None:
    if joined and truly:
        score.joined_right += 1
    elif joined:
        score.joined_wrong += 1
        score.wrong.append(f"joined {told}")
    elif truly:
        score.missed += 1
        score.wrong.append(f"missed {told}")
    else:
        score.kept_apart += 1


def kinds(cases: Sequence[Case]) -> Counter[str]:
    """How many cases of each kind."""
    return Counter(case.kind for case in cases)
