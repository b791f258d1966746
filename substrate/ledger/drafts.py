"""What a caller hands to the door: an assertion with entities resolved and its phrase bound."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal
from uuid import UUID

from substrate.axes.valid_time import Precision
from substrate.extraction.claims import UNDATED, ClaimTime, Value

Origin = Literal["document", "memory", "person", "import"]
KNOWN_AS = "known_as"


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where a sentence stands. All fields but the quote are unset for a person's own word."""

    claim_id: UUID | None = None
    chunk_id: UUID | None = None
    document_id: UUID | None = None
    version_id: UUID | None = None
    quote: str = ""
    quote_start: int | None = None
    quote_end: int | None = None
    wording: str = ""


NO_EVIDENCE = Evidence()


@dataclass(frozen=True, slots=True)
class Draft:
    """One assertion before it has an id. Exactly one of `object_id` and `value` is set."""

    source_key: str
    """Natural key: the same input asserted twice is asserted once."""
    subject_id: UUID
    phrase: str
    predicate_key: str | None = None
    object_id: UUID | None = None
    value: Value | None = None
    time: ClaimTime = UNDATED
    attested_at: datetime | None = None
    denies: bool = False
    corrects: bool = False
    replaces: str | None = None
    """For "B, not A": the `object_key` of A, whose start B takes over if it states none."""
    origin: Origin = "document"
    confidence: float = 1.0
    qualifiers: tuple[tuple[str, str], ...] = ()
    evidence: Evidence = NO_EVIDENCE

    @property
    def relation(self) -> str:
        """What makes two assertions speak of one relation: the predicate, else the source's phrase."""
        return self.predicate_key or f"phrase:{self.phrase}"

    def object_key(self, canonical: dict[UUID, UUID]) -> str:
        """The object for comparison: its canonical id, or the normalised value."""
        if self.object_id is not None:
            return str(canonical.get(self.object_id, self.object_id))
        assert self.value is not None  # noqa: S101 - one of the two is set
        return "=" + normalise_value(self.value)


@dataclass(frozen=True, slots=True)
class TimeColumns:
    """A stated interval as columns. Unanchored words (grade C) date nothing, but "it ended" stays said."""

    start: datetime | None
    start_precision: Precision | None
    end: datetime | None
    end_precision: str | None

    @staticmethod
    def of(time: ClaimTime) -> TimeColumns:
        if time.grade == "C":
            return TimeColumns(None, None, None, "unknown" if time.valid_to_precision == "unknown" else None)
        return TimeColumns(time.valid_from, time.valid_from_precision, time.valid_to, time.valid_to_precision)


_EDGES = re.compile(r"^[\s\"'“”‘’«»「」『』()\[\]·*_`.,;:!?-]+|[\s\"'“”‘’«»「」『』()\[\]·*_`,;:!?-]+$")
_SPACE = re.compile(r"\s+")


def normalise_name(name: str) -> str:
    """The form under which two spellings are one name: NFKC, case folded, one space, no quotes or leading "the".

    A final full stop is kept when it belongs to an abbreviation ("inc."), which case folding leaves alone.
    """
    text = _SPACE.sub(" ", unicodedata.normalize("NFKC", name)).strip()
    text = _EDGES.sub("", text).casefold()
    text = text.removeprefix("the ").removesuffix("'s").removesuffix("’s")
    if text.endswith(".") and " " not in text.rstrip("."):
        text = text.rstrip(".")
    return text or name.strip().casefold()


def normalise_value(value: Value) -> str:
    """The form under which two literals are one value: the number with its unit, else the folded text."""
    if value.number is not None:
        return f"{plain_decimal(value.number)} {value.unit or ''}".strip()
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", value.raw)).strip().strip("\"'“”.").casefold()


def plain_decimal(number: Decimal) -> str:
    """Without exponent and without trailing zeros: 32000, 1.5."""
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
