"""The pair of clocks a question names, parsed once and passed whole."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from substrate.axes.valid_time import Bucket


@dataclass(frozen=True, slots=True)
class AsOf:
    """Where on both clocks a read stands. Made by `substrate.reads.moments.resolve`.

    ``known_seq`` is None when the read stands at the head, which lets the record predicate degenerate; ``seq`` is the
    head's sequence then, so that the same read can be asked again by number.
    """

    seq: int
    recorded_at: datetime
    """When the transaction of `seq` was recorded; the base's making for sequence 0."""
    head_hash: bytes
    known_seq: int | None = None
    valid_at: Bucket | None = None
    at_text: str | None = None
    """The caller's ``at`` as given, for echoing."""
    clamped: bool = False
    """The head answers for a number or a moment that the record has not come to."""
