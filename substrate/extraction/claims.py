"""Records that pass between passages, extractors and the ledger.

A claim is what one passage says. It knows no ontology: its phrase is the source's own wording brought to
a plain form, and binding that phrase to a relation happens later and can be done again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Literal, Protocol, runtime_checkable

Precision = Literal["year", "month", "day", "hour", "minute", "second"]
EndPrecision = Literal["year", "month", "day", "hour", "minute", "second", "unknown"]
Grade = Literal["A", "B", "C"]
Mood = Literal["planned", "negated", "hedged", "conditional", "reported", "question"]


@dataclass(frozen=True, slots=True)
class ClaimTime:
    """The interval a passage's own words state, half-open, UTC.

    ``valid_from`` is the first moment of the stated start, truncated to its precision.
    ``valid_to`` is the first moment *after* the stated end: "until March 2024" (month) is 2024-04-01, since
    the last named unit is included. The end's three states: no end stated (both None), ended at a date,
    ended at a date nobody stated (``valid_to`` None, precision ``"unknown"``).
    ``at_event`` marks a single moment or period in which something happened ("acquired in March 2023"), so
    that an event relation reads it as a bucket and a state relation as a start.
    """

    valid_from: datetime | None = None
    valid_from_precision: Precision | None = None
    valid_to: datetime | None = None
    valid_to_precision: EndPrecision | None = None
    grade: Grade = "A"
    """A: written out. B: computed from the document's own date. C: no anchor, dates nothing."""
    words: str = ""
    at_event: bool = False


UNDATED = ClaimTime()


@dataclass(frozen=True, slots=True)
class Value:
    """A literal object: the words as written, and what they mean if that can be computed exactly."""

    raw: str
    number: Decimal | None = None
    unit: str | None = None
    """ISO 4217 for money, else a UCUM-like short form (``%``, ``kg``, ``h``); None where none is written."""
    datatype: Literal["text", "number", "money", "date", "bool"] = "text"


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing a passage says about one subject. Exactly one of `object` and `value` is set."""

    subject: str
    phrase: str
    """Plain form of the source's wording: lower case, verb in third person or a noun ("leads", "works for",
    "salary", "job title", "part of", "known as")."""
    quote: str
    """Verbatim from the passage."""
    quote_start: int
    quote_end: int
    object: str | None = None
    value: Value | None = None
    subject_kind: str | None = None
    """A guess such as ``person``, ``organization``, ``place``, ``project``, ``product``; None when unsure."""
    object_kind: str | None = None
    time: ClaimTime = UNDATED
    mood: Mood | None = None
    """None: stated as so. Anything else is kept and never becomes a fact."""
    denies: bool = False
    """The passage explicitly corrects this away ("32,000, not 30,000"): it was never so."""
    corrects: bool = False
    """The passage says of itself that it corrects what was said before."""
    qualifiers: tuple[tuple[str, str], ...] = ()
    confidence: float = 1.0
    wording: str = ""
    """The source's own words for the relation, before they were brought to a plain form."""


@dataclass(frozen=True, slots=True)
class Drop:
    """Something an extractor saw and would not claim, so that what is missing can be counted."""

    code: str
    """For example ``pronoun_subject``, ``quote_not_in_chunk``, ``no_object``, ``malformed_item``."""
    detail: str
    example: str = ""


@dataclass(frozen=True, slots=True)
class Known:
    """A thing that the document names elsewhere, under the name it was first claimed by."""

    name: str
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """What an extractor is given: one chunk with the context that a reader of the document would have."""

    text: str
    filename: str = ""
    title: str = ""
    heading_path: tuple[str, ...] = ()
    document_date: datetime | None = None
    document_date_precision: Precision | None = None
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    """Cells of a table chunk; empty for prose."""
    speaker: str = ""
    """Who says "I", for a remembered sentence; empty when not known."""
    known: tuple[Known, ...] = ()
    """What other passages of the document speak of, as far as they were read when this one was taken up."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """An extractor's whole answer for one passage."""

    claims: tuple[Claim, ...] = ()
    drops: tuple[Drop, ...] = ()
    usage: Mapping[str, int] = field(default_factory=dict)
    """``prompt_tokens`` and ``completion_tokens`` where a model was paid, as its server counts them, and
    ``estimated_tokens`` for answers that it did not count."""


class Extractor(Protocol):
    """Turns passages into claims. ``version`` is part of the key a claim is cached under."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
        """One `Extraction` per passage, in order. Raises `ModelUnavailable` if the endpoint stays down."""
        ...


@runtime_checkable
class Asking(Protocol):
    """An `Extractor` that waits for a server, and so is given many passages at once and answers them in any order."""

    @property
    def at_once(self) -> int:
        """How many passages it has in flight at most, whatever documents and bases they are of."""
        ...

    def submit(self, passage: Passage, begin: Callable[[], None] = ...) -> Future[Extraction]:
        """Ask about one passage; returns at once. The future raises `ModelUnavailable`, with its ``usage`` if any.

        `begin` is called when its turn has come, before anything is sent; what it raises is raised.
        """
        ...

    def estimate(self, passage: Passage) -> Mapping[str, int]:
        """About what one call will count, by the kinds of ``Extraction.usage``."""
        ...
