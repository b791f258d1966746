"""What timelines are made from and what they yield: assertions and spans."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal
from uuid import UUID

from substrate.axes.valid_time import Precision, bucket_end

Temporal = Literal["state", "event", "eternal"]
EndPrecision = Literal["year", "month", "day", "hour", "minute", "second", "unknown"]
EndOrigin = Literal["stated", "engine"]


Grade = Literal["A", "B", "C"]
NOWHERE = datetime(1970, 1, 1, tzinfo=UTC)
"""Where an event stands of which nobody said when: the first and the last moment of no time at all."""


@dataclass(frozen=True, slots=True)
class Fix:
    """That an assertion is a person's word on the period of a fact: which of its ends stand as they are said.

    `was` is the interval in which the fact held for readers when the person spoke, None where it had no place in time.
    """

    start: bool
    end: bool
    sustains: bool = True
    """False for a mere closing: it ends what others say, and says nothing where they are silent."""
    was: tuple[datetime | None, datetime | None] | None = None
    seen: frozenset[str] = frozenset()
    """What the statements that the person had before them said of time (`periods.period_key`)."""


@dataclass(frozen=True, slots=True)
class Assertion:
    """What a timeline needs to know of one assertion. `value` is its object's canonical id or normalised value."""

    id: UUID
    value: str
    start: datetime | None = None
    start_precision: Precision | None = None
    end: datetime | None = None
    end_precision: EndPrecision | None = None
    at_event: bool = False
    attested: datetime | None = None
    denies: bool = False
    corrects: bool = False
    replaces: str | None = None
    """For "B, not A": the value of A."""
    person: bool = False
    order: tuple[int, int] = (0, 0)
    """Record order; decides only between two words of people."""
    grade: Grade = "A"
    fixes: Fix | None = None

    @property
    def ends_unknown(self) -> bool:
        return self.end_precision == "unknown"

    @property
    def placed_start(self) -> datetime | None:
        """Where it would open a span: its start, else its attestation, unless it only speaks of an end."""
        if self.start is not None:
            return self.start
        return None if self.end_precision is not None else self.attested


@dataclass(slots=True)
class Span:
    """One interval in which the value held, and the assertions it rests on."""

    start: datetime | None = None
    start_precision: Precision | None = None
    end: datetime | None = None
    end_precision: EndPrecision | None = None
    end_origin: EndOrigin | None = None
    attested_from: datetime | None = None
    attested_to: datetime | None = None
    support: list[UUID] = field(default_factory=list)
    event: bool = False
    last: datetime | None = None
    """The latest moment at which an assertion places the value here."""
    not_before: datetime | None = None
    """Of a stretch whose start nobody states: a moment at which a rival still held, so that it began later."""
    vouched: bool = False
    """Of an end nobody dated: `attested_to` is not a document's date but the last moment something vouches for."""
    ends: list[Assertion] = field(default_factory=list)
    """What said that it ended."""
    fixed: UUID | None = None
    """A person's word on this period."""
    end_fixed: bool = False
    """The end, or that there is none, is a person's: the engine leaves it alone."""
    against: list[Assertion] = field(default_factory=list)
    """What was said against a person's word since."""

    @property
    def opens(self) -> datetime | None:
        """First moment at which a reader takes it to hold; None: unbounded."""
        return self.start if self.start is not None else self.attested_from

    @property
    def undated(self) -> bool:
        return self.start is None and self.end_precision is None and self.attested_from is None

    @property
    def holds(self) -> tuple[datetime | None, datetime | None]:
        """The interval readers filter by; an event without a date holds at no moment."""
        if self.event:
            if self.start is None or self.start_precision is None:
                nowhere = self.attested_from or NOWHERE
                return nowhere, nowhere
            return self.start, self.end or bucket_end(self.start, self.start_precision)
        first = self.opens if self.opens is not None else self.not_before
        return first, self.attested_to if self.end_precision == "unknown" else self.end
