"""The shapes of bench/temporal: what a corpus and a question hold, and what a pipeline must offer.

Nothing here knows a pipeline. Whatever takes part implements `World`; `bench.temporal.score` drives it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True)
class Answer:
    """One fact that touches the subject: its predicate's key (None where none is bound) and the other end.

    `other` is the name of the entity at the other end, or the value with its unit ("41200 EUR").
    """

    predicate: str | None
    other: str


@dataclass(frozen=True)
class Document:
    """A document as pushed. `doc_time`: the day it states of itself (ISO), None where it states none."""

    external_id: str
    filename: str
    doc_time: str | None
    text: str


@dataclass(frozen=True)
class Remembered:
    """A sentence given to `remember`, with the day on which it was said."""

    text: str
    date: str


@dataclass(frozen=True)
class Merge:
    """Two names of one thing, joined by a person; `keep` stays as its name."""

    keep: str
    merge: str


@dataclass(frozen=True)
class Verdict:
    """A person's word on a triple, pending or held. `object` is a name, or a bare number for a value."""

    confirm: bool
    subject: str
    predicate: str
    object: str


@dataclass(frozen=True)
class Wave:
    """What arrives together, in the order of the fields; then the moment is stamped."""

    label: str
    documents: Sequence[Document]
    remembered: Sequence[Remembered] = ()
    deletes: Sequence[str] = ()
    restores: Sequence[str] = ()
    """Documents whose last deletion is undone."""
    merges: Sequence[Merge] = ()
    verdicts: Sequence[Verdict] = ()
    parts: Sequence[Merge] = ()
    """Merges of before that are reverted."""
    taken_back: Sequence[Verdict] = ()
    """Verdicts of before that are reverted."""


@dataclass(frozen=True)
class Question:
    """One question on two clocks.

    `at` is a year, month or day, or None for any time. `as_of` is a wave's label, or None for now. `expect`
    is None where the answer is empty; it then counts only if `control`, another (at, as_of) of the same
    subject and relation, answers.
    """

    id: str
    kind: str
    subject: str
    relation: str | None
    at: str | None
    as_of: str | None
    expect: tuple[str, ...] | None
    excluded: tuple[str, ...]
    ask: str
    control: tuple[str | None, str | None] | None = None


@dataclass(frozen=True)
class Dataset:
    """A corpus with its questions. `ontology`: the shape of ontology.yaml; `digest`: of the files."""

    name: str
    waves: Sequence[Wave]
    questions: Sequence[Question]
    ontology: Mapping[str, Any] = field(repr=False)
    digest: str = ""


class World(Protocol):
    """A pipeline under measure. A token is whatever it takes to ask again as of that moment."""

    def ingest_wave(self, wave: Wave) -> None:
        """Take in the wave and return when every fact that follows from it is on record."""

    def stamp(self) -> Any:
        """The present moment of the record."""

    def read(self, subject: str, at: str | None, as_of: Any) -> list[Answer] | None:
        """The facts that touch the subject; `as_of` None means now. None: no such subject is known then."""


Reader = Callable[[str, "str | None", "str | None"], "list[Answer] | None"]
"""reader(subject, at, as_of label): a world in which the labels of waves are already moments."""
