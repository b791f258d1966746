"""Wording that takes something back: "Correction: …", "B, not A", "should read B", "was wrongly stated as A"."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from substrate.extraction.builtin.drafts import Draft
from substrate.extraction.builtin.masking import Masked, Unit
from substrate.extraction.builtin.terms import Term
from substrate.extraction.claims import Value
from substrate.extraction.times import TimeMention

_PREFIX = re.compile(
    r"^(?:correction|corrected|erratum|errata|corrigendum|amendment|rectification)\b[^:]{0,60}:\s*|"
    r"^(?:the |our )?[\w ,]{0,40}\bshould (?:have )?read:\s*|"
    r"^(?:this (?:memo|note|record|letter|message) corrects[^:]{0,80}:\s*)|^(?:更正|勘误|订正)[^：:]{0,20}[：:]",
    re.IGNORECASE,
)
_WRONGLY = re.compile(
    r"\b(?:wrongly|incorrectly|mistakenly|erroneously|falsely|inaccurately)\b.{0,20}?"
    r"\b(?:stated|recorded|given|reported|listed|described|entered|said|named|shown|noted|written|identified|"
    r"wrote|printed)\b"
    r"(?:\s+(?P<as>as|to be|that)\b)?",
    re.IGNORECASE,
)
_MISTAKEN = re.compile(
    r"\b(?:stated|recorded|given|reported|listed|described|entered|said|named|shown|noted|written|identified|printed)"
    r"\s+(?P<as>as|to be)\b(?=.*\b(?:by mistake|in error|erroneously|by accident)\b)",
    re.IGNORECASE,
)
_WRONGLY_NAMED = re.compile(
    r"\b(?:wrongly|incorrectly|mistakenly|erroneously|falsely|inaccurately)\s+"
    r"(?:named|listed|described|identified|called|gave|showed|recorded|reported|stated|put down|registered)\s+"
    r"(?!as\b|that\b|to be\b)",
    re.IGNORECASE,
)
"""In the active: who wrote it stands before, what was wrong behind."""
_GIVEN_AS = re.compile(
    r"\b(?:was|were|is|has been) (?:given|stated|recorded|listed|reported|shown|printed|entered|written|noted) as\b"
    r"(?=[^.;]*\binstead of\b)",
    re.IGNORECASE,
)
_BY_MISTAKE = re.compile(r",?\s*\b(?:by mistake|in error|erroneously|by accident)\b", re.IGNORECASE)
_NOT_THAT_TIME = re.compile(
    r"[\s,(]*(?:and )?(?:not|rather than|instead of)(?: (?:on|in|from|since|the))*\s*$", re.IGNORECASE
)
CORRECT_VALUE = re.compile(
    r"^(?:and |but )?(?:the )?(?:correct|right|true|actual|proper)(?: (?:value|figure|amount|name|date|sum|"
    r"salary|number|one|"
    r"entry|budget|wording|spelling|person|title))? (?:is|was|should be|should read|should have been|reads)\b",
    re.IGNORECASE,
)
"""Opens a sentence that gives what the one before it had wrong."""
_SWAPPABLE = {"name", "amount", "role", "time"}


@dataclass(frozen=True, slots=True)
class Correction:
    """What the wording said: pairs (right, wrong) of unit texts, and whether all is denied or corrected."""

    corrects: bool = False
    denies: bool = False
    pairs: tuple[tuple[Unit, Unit], ...] = ()
    times: tuple[tuple[TimeMention, TimeMention], ...] = ()
    """(right, wrong) dates of "on 3 May, not on 5 May"."""


def rewrite(masked: Masked) -> tuple[Masked, Correction]:
    """Takes the correcting words out, so that what is left parses as a plain statement."""
    units, corrects, denies = list(masked.units), False, False
    removed: list[tuple[int, int]] = []
    if m := _PREFIX.match(masked.text):
        corrects = True
        removed.append((0, sum(u.start < m.end() for u in units)))
    if (active := _wrongly_named(masked, removed)) is not None:
        return active, Correction(False, True)
    if span := _wrong_wording(masked):
        denies = True
        removed.append(span)
        if m := _BY_MISTAKE.search(masked.text, masked.units[span[0]].end if span[0] < len(masked.units) else 0):
            removed.append(
                (sum(u.start < m.start() for u in masked.units), sum(u.start < m.end() for u in masked.units))
            )
    pairs = []
    for right, wrong, span in _contrasts(units, corrects):
        removed.append(span)
        measured = right.kind in {"amount", "time"}
        if m := _GIVEN_AS.search(masked.text):
            # "Was given as A instead of B": here A is the wrong one, and it goes with the words up to B.
            removed[-1] = (units.index(right), units.index(wrong))
            pairs.append((wrong, right))
            first = sum(u.start < m.start() for u in units)
            last = sum(u.start < m.end() for u in units)
            units[first] = replace(units[first], text="is", parsed_as="is")
            removed.append((first + 1, last))
            continue
        if units[span[0]].text.lower() in {"not", ",", "("} or corrects or measured:
            pairs.append((right, wrong))
    wrong_times = list(_wrong_times(masked))
    removed.extend(span for _, _, span in wrong_times)
    if corrects or pairs:
        units = _should_read(units)
    kept = [u for i, u in enumerate(units) if not any(a <= i < b for a, b in removed)]
    if denies:
        kept = _stand_in_copula(masked, units, removed, kept)
    unsaid = {wrong for _, wrong, _ in wrong_times}
    said = [(at, m) for at, m in masked.times if m not in unsaid]
    times = tuple((at - sum(max(0, min(at, b) - a) for a, b in removed), m) for at, m in said)
    dates = tuple((right, wrong) for right, wrong, _ in wrong_times)
    found = Correction(corrects or bool(pairs) or bool(dates), denies, tuple(pairs), dates)
    return Masked(masked.text, tuple(kept), times), found


def _wrongly_named(masked: Masked, removed: list[tuple[int, int]]) -> Masked | None:
    """ "The memo wrongly named X as lead of Z" → "X is lead of Z"; who wrote it and when goes."""
    m = _WRONGLY_NAMED.search(masked.text)
    if m is None:
        return None
    first = sum(u.start < m.end() for u in masked.units)
    at = next((i for i, u in enumerate(masked.units) if i > first and u.text.lower() == "as"), None)
    if at is None or first >= len(masked.units) or masked.units[first].kind != "name":
        return None
    units = list(masked.units)
    units[at] = replace(units[at], text="is", parsed_as="is")
    start = removed[0][1] if removed and removed[0][0] == 0 else 0
    return Masked(
        masked.text, tuple(units[max(first, start) :]), tuple((i - first, t) for i, t in masked.times if i > first)
    )


def _wrong_times(masked: Masked) -> Iterator[tuple[TimeMention, TimeMention, tuple[int, int]]]:
    """(right, wrong, index span of the words between) of "on 3 May, not on 5 May"."""
    mentions = sorted({m.start: m for _, m in masked.times}.values(), key=lambda m: m.start)
    for right, wrong in itertools.pairwise(mentions):
        if _NOT_THAT_TIME.fullmatch(masked.text[right.end : wrong.start]):
            first = sum(u.start < right.end for u in masked.units)
            yield right, wrong, (first, sum(u.start < wrong.start for u in masked.units))


def _wrong_wording(masked: Masked) -> tuple[int, int] | None:
    """Index span of "(was) wrongly stated as", or of all up to "that" in "the memo wrongly said that …"."""
    m = _WRONGLY.search(masked.text) or _MISTAKEN.search(masked.text)
    if m is None:
        return None
    first = sum(u.start < m.start() for u in masked.units)
    last = sum(u.start < m.end() for u in masked.units)
    if m.group("as") == "that":
        return 0, last
    while first and masked.units[first - 1].text.lower() in {"was", "were", "is", "are", "been", "had", "has"}:
        first -= 1
    return first, last


def _stand_in_copula(masked: Masked, units: list[Unit], removed: list[tuple[int, int]], kept: list[Unit]) -> list[Unit]:
    first, _last = next(span for span in removed if _wrong_wording(masked) == span)
    if first == 0 or first >= len(units):
        return kept
    copula = replace(units[first], kind="word", text="is", parsed_as="is")
    at = sum(u.start < units[first].start for u in kept)
    return [*kept[:at], copula, *kept[at:]]


def _should_read(units: list[Unit]) -> list[Unit]:
    """ "should (have) read/be" says what is right: one copula."""
    text = [u.text.lower() for u in units]
    for i in range(len(units) - 1):
        if text[i] != "should":
            continue
        last = i + 1
        if text[last] in {"have", "instead", "correctly"} and last + 1 < len(units):
            last += 1
        if text[last] in {"read", "be", "been", "say", "state", "said"}:
            copula = replace(units[last], text="is", parsed_as="is")
            blank = [replace(u, text="", parsed_as="") for u in units[i:last]]
            return [*units[:i], *blank, copula, *units[last + 1 :]]
    return units


def _contrasts(units: list[Unit], corrects: bool) -> list[tuple[Unit, Unit, tuple[int, int]]]:
    """ "B, not A" and "not A but B" between units of one kind."""
    found = []
    for i, unit in enumerate(units):
        if unit.text.lower() not in {"not", "rather", "instead"} or i == 0:
            continue
        wrong_at = _next_swappable(units, i + 1)
        if wrong_at is None:
            continue
        wrong = units[wrong_at]
        after = units[wrong_at + 1].text.lower() if wrong_at + 1 < len(units) else ""
        comma = after == "," and wrong_at + 2 < len(units)
        but_at = wrong_at + (2 if comma else 1)
        if unit.text.lower() == "not" and but_at < len(units) and units[but_at].text.lower() == "but":
            right_at = _next_swappable(units, but_at + 1)
            if right_at is not None and units[right_at].kind == wrong.kind:
                found.append((units[right_at], wrong, (i, but_at + 1)))
            continue
        before = i - 1 if units[i - 1].text != "," else i - 2
        plain = units[i - 1].text in {",", "("} or unit.text.lower() != "not"
        if not corrects and _changes_hands(units, i, before):
            continue
        if before >= 0 and plain and units[before].kind == wrong.kind:
            first = i - 1 if units[i - 1].text in {",", "("} else i
            stop = wrong_at + (2 if after in {",", ")"} else 1)
            found.append((units[before], wrong, (first, stop)))
    return found


def _changes_hands(units: list[Unit], at: int, before: int) -> bool:
    """ "Reports to B instead of A" tells of a change and corrects nothing."""
    said = [u.text.lower() for u in units[max(before - 2, 0) : before]]
    reports = len(said) == 2 and said[0].startswith(("report", "work")) and said[1] in {"to", "for"}
    return reports and units[at].text.lower() != "not"


def _next_swappable(units: list[Unit], at: int) -> int | None:
    for j in range(at, min(at + 3, len(units))):
        if units[j].kind in _SWAPPABLE:
            return j
        if units[j].text.lower() not in {
            "the",
            "a",
            "an",
            "than",
            "of",
            "by",
            "from",
            "at",
            "for",
            "as",
            "in",
            "on",
            "to",
        }:
            return None
    return None


def apply(drafts: list[Draft], correction: Correction) -> list[Draft]:
    """Marks what is corrected, and adds the denial of what was wrong."""
    if correction.denies:
        return [replace(d, denies=True, mood=None) if d.mood in {None, "reported", "negated"} else d for d in drafts]
    out: list[Draft] = []
    for draft in drafts:
        out.append(replace(draft, corrects=draft.corrects or correction.corrects))
        out.extend(_denial(draft, right, wrong) for right, wrong in correction.pairs if _mentions(draft, right))
        out.extend(d for right, wrong in correction.times if (d := _otherwise_dated(draft, right, wrong)))
    return out


def _otherwise_dated(draft: Draft, right: TimeMention, wrong: TimeMention) -> Draft | None:
    """The draft as the wrong date had it, denied; None where the right date does not date it."""
    time, said, unsaid = draft.time, right.time, wrong.time
    if isinstance(draft.object, Value) and draft.object.datatype == "date":
        moved = replace(draft.object, raw=unsaid.words[wrong.core_start - wrong.start :])
        return replace(draft, object=moved, time=replace(unsaid, at_event=time.at_event), denies=True, corrects=False)
    if said.valid_from is not None and time.valid_from == said.valid_from:
        both = time.valid_to == said.valid_to
        end = (unsaid.valid_to, unsaid.valid_to_precision) if both else (time.valid_to, time.valid_to_precision)
        time = replace(time, valid_from=unsaid.valid_from, valid_from_precision=unsaid.valid_from_precision,
                       valid_to=end[0], valid_to_precision=end[1], words=unsaid.words)  # fmt: skip
    elif time.valid_to is not None and time.valid_to in {said.valid_to, said.valid_from}:
        end_of = unsaid.valid_to if time.valid_to == said.valid_to else unsaid.valid_from
        time = replace(time, valid_to=end_of,
        valid_to_precision=unsaid.valid_to_precision or unsaid.valid_from_precision,
                       words=unsaid.words)  # fmt: skip
    else:
        return None
    return replace(draft, time=time, denies=True, corrects=False)


def _mentions(draft: Draft, unit: Unit) -> bool:
    return draft.subject.text == unit.text or _object_text(draft) == unit.text


def _object_text(draft: Draft) -> str:
    return draft.object.raw if isinstance(draft.object, Value) else draft.object.text


def _denial(draft: Draft, right: Unit, wrong: Unit) -> Draft:
    if draft.subject.text == right.text:
        subject = Term("name", wrong.text, wrong.guess, unit=wrong)
        return replace(draft, subject=subject, denies=True, corrects=False)
    target: Term | Value = Term("name", wrong.text, wrong.guess, unit=wrong)
    if isinstance(draft.object, Value):
        target = wrong.value or Value(wrong.text, datatype=draft.object.datatype)
    return replace(draft, object=target, denies=True, corrects=False)
