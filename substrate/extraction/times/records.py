"""What the finder of time words takes and gives."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from substrate.extraction.claims import ClaimTime, Precision

Shape = Literal["point", "since", "until", "interval", "by", "before", "after", "as_of", "duration"]
Language = Literal["en", "zh"]
NumericOrder = Literal["dmy", "mdy"]
"""How a document is known to write 03/04/2024. Where it is not known, such a date is refused."""


@dataclass(frozen=True, slots=True)
class Dated:
    """Something dated that the passage has already told: what "six months later" counts from.

    ``words`` is the sentence that told it, by which "after its founding" finds what was founded.
    """

    words: str
    at: datetime
    precision: Precision


@dataclass(frozen=True, slots=True)
class Anchor:
    """The document's own date, UTC: what "last month" counts from. Never the time of upload.

    A relative word finer than ``precision`` cannot be computed: "yesterday" in a document known only to
    be of 2024 dates nothing. A document without a date has None for both and may still have ``told``, the
    dated things before this text in reading order, and an ``order`` of its dates in figures.
    """

    at: datetime | None
    precision: Precision | None
    told: tuple[Dated, ...] = ()
    order: NumericOrder | None = None


@dataclass(frozen=True, slots=True)
class TimeMention:
    """One time expression: ``text[start:end]`` with its preposition, ``text[core_start:end]`` without.

    What ``time`` holds, by shape:

    ========  ===========================================================================================
    point     both bounds of the named bucket, ``at_event`` true ("in March 2024", "Q3 2024")
    since     ``valid_from`` only ("since", "from", "effective", "starting")
    until     ``valid_to`` only, the named unit included ("until", "through")
    interval  both bounds ("from A to B", "between A and B", "over the past five years")
    by        ``valid_to`` only, ``at_event`` true: the latest moment at which it can have happened
    before    ``valid_to`` only, the start of the named unit
    after     ``valid_from`` only, the first moment after the named unit
    as_of     ``valid_from`` only: it held at that date; when it began is not said
    duration  no bounds ("for three years")
    ========  ===========================================================================================

    A relative expression without a usable anchor keeps its shape, has grade C and no bounds.
    """

    start: int
    end: int
    core_start: int
    shape: Shape
    time: ClaimTime
