"""What a transfer leaves behind: who bought owns it from then on, who sold it to them no longer does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from substrate.extraction.builtin.drafts import Draft
from substrate.extraction.builtin.intervals import UNKNOWN_END, unit_before
from substrate.extraction.builtin.terms import Term
from substrate.extraction.claims import ClaimTime

_CONFIDENCE = 0.9


def owners_of(drafts: Sequence[Draft]) -> list[Draft]:
    """The ownership that "A acquired B" and "A sold B to C" begin and end; only between what is named."""
    found: list[Draft] = []
    for draft in drafts:
        if draft.mood is not None or draft.denies or not _named(draft):
            continue
        if draft.phrase == "acquired":
            found.append(_owns(draft, _since(draft.time)))
        elif draft.phrase == "sold" and any(d.phrase == "acquired" and d.object == draft.object for d in drafts):
            found.append(_owns(draft, _until(draft.time)))
    return found


def _named(draft: Draft) -> bool:
    return draft.subject.sort == "name" and isinstance(draft.object, Term) and draft.object.sort == "name"


def _owns(draft: Draft, time: ClaimTime) -> Draft:
    shares = tuple((k, v) for k, v in draft.qualifiers if k == "share")
    confidence = min(draft.confidence, _CONFIDENCE)
    return replace(draft, phrase="owns", time=time, qualifiers=shares, confidence=confidence)


def _since(time: ClaimTime) -> ClaimTime:
    """From the first moment of the named unit; "in 2020 and 2021" and "before 2020" say no one moment."""
    one_unit = time.valid_to is None or unit_before(time.valid_to, time.valid_to_precision) == time.valid_from
    if time.valid_from is None or not one_unit:
        return ClaimTime(grade=time.grade, words=time.words)
    return ClaimTime(time.valid_from, time.valid_from_precision, grade=time.grade, words=time.words)


def _until(time: ClaimTime) -> ClaimTime:
    start = _since(time)
    if start.valid_from is None:
        return replace(UNKNOWN_END, grade=start.grade, words=start.words)
    return ClaimTime(
        valid_to=start.valid_from, valid_to_precision=start.valid_from_precision, grade=start.grade, words=start.words
    )
