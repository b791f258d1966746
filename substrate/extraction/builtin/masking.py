"""Brings a sentence to the short form the parser reads best, and remembers what stood where.

Time adverbials are taken out (they attach by position), each name becomes one well-known name, each title
one ordinary noun, each amount one number: "On 5 July 2024 Aurora's CTO Jane Roe joined Globex Ltd." is
parsed as "Oracle 's Smith joined Oracle .".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from substrate.extraction.builtin import vocabulary as v
from substrate.extraction.builtin.amounts import Amount, amounts_in
from substrate.extraction.builtin.names import Lexicon, Span, names_in, words_of
from substrate.extraction.claims import Value
from substrate.extraction.times import Anchor, TimeMention, find_times

UnitKind = Literal["name", "role", "amount", "time", "word"]
_STAND_INS = {"person": "Smith", "place": "London", "event": "Oracle", "product": "Oracle"}
_KEEPS_TIME = {"of", "for", "is", "was", "are", "were", "be", "to", "as", "with", "about", "than", "until", "till"}


@dataclass(frozen=True, slots=True)
class Unit:
    """What one parser token stands for: ``[start, end)`` in the sentence."""

    kind: UnitKind
    start: int
    end: int
    text: str
    parsed_as: str
    guess: str | None = None
    title: Span | None = None
    """A role written straight before the name ("CEO Jane Roe")."""
    title_of: Span | None = None
    """An organisation written straight before that ("Acme CEO Jane Roe")."""
    value: Value | None = None
    mention: TimeMention | None = None


@dataclass(frozen=True, slots=True)
class Masked:
    """A sentence as units, and the time mentions with the index of the unit that follows each."""

    text: str
    units: tuple[Unit, ...]
    times: tuple[tuple[int, TimeMention], ...]


def mask(text: str, anchor: Anchor | None, lexicon: Lexicon, known: frozenset[str]) -> Masked:
    """Finds times, amounts and names of `text` and lays out what the parser shall see."""
    mentions = find_times(text, anchor)
    taken = [(m.start, m.end) for m in mentions]
    amounts = [a for a in amounts_in(text) if not _overlaps(a.start, a.end, taken)]
    spans = names_in(text, taken + [(a.start, a.end) for a in amounts if _bare_amount(a)], lexicon, known)
    amounts = [a for a in amounts if not any(s.start < a.end and a.start < s.end for s in spans)]
    units = _merge_titles(_units(text, spans, amounts, mentions))
    return _lift_times(text, units)


def _overlaps(start: int, end: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(s < end and start < e for s, e in spans)


def _bare_amount(amount: Amount) -> bool:
    """An amount with a unit or a long number stands by itself; "Falcon 9" may still be a name."""
    return amount.value.unit is not None or amount.end - amount.start > 3


def _units(text: str, spans: Sequence[Span], amounts: Sequence[Amount], mentions: Sequence[TimeMention]) -> list[Unit]:
    placed: list[Unit] = [_unit_of_span(s) for s in spans]
    placed += [Unit("amount", a.start, a.end, text[a.start : a.end], "500", value=a.value) for a in amounts]
    placed += [Unit("time", m.start, m.end, text[m.start : m.end], "2020", mention=m) for m in mentions]
    covered = [(u.start, u.end) for u in placed]
    words = words_of(text)
    for word in words:
        if not _overlaps(word.start, word.end, covered):
            placed.append(Unit("word", word.start, word.end, word.text, _plain(word.text)))
    return sorted(placed, key=lambda u: u.start)


def _unit_of_span(span: Span) -> Unit:
    stand_in = "engineer" if span.kind == "role" else _STAND_INS.get(span.guess or "", "Oracle")
    return Unit(span.kind, span.start, span.end, span.text, stand_in, span.guess)


def _plain(word: str) -> str:
    return {"’s": "'s", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-"}.get(word, word)


def _merge_titles(units: list[Unit]) -> list[Unit]:
    """A role straight before a person's name becomes part of that name's unit."""
    merged: list[Unit] = []
    for unit in units:
        before = merged[-1] if merged else None
        if unit.kind == "name" and before and before.kind == "role" and unit.guess in (None, "person"):
            merged.pop()
            title = Span("role", before.start, before.end, before.text)
            org = merged[-1] if merged and merged[-1].kind == "name" else None
            if org is not None:
                merged.pop()
            title_of = Span("name", org.start, org.end, org.text, org.guess) if org else None
            unit = replace(unit, title=title, title_of=title_of, guess="person", parsed_as="Smith")
        merged.append(unit)
    return merged


def _lift_times(text: str, units: list[Unit]) -> Masked:
    """Takes time adverbials out, with the comma or the brackets that held them."""
    kept: list[Unit] = []
    times: list[tuple[int, TimeMention]] = []
    for i, unit in enumerate(units):
        if unit.mention is None:
            if _is_orphan(kept, unit, units, i):
                continue
            kept.append(unit)
        elif _stays(units, i):
            times.append((len(kept), unit.mention))
            kept.append(unit)
        else:
            times.append((len(kept), unit.mention))
    return Masked(text, tuple(kept), tuple(times))


def _stays(units: list[Unit], i: int) -> bool:
    """A time that a preposition or a copula needs is kept as a word."""
    unit = units[i]
    before = units[i - 1].text.lower() if i else ""
    if unit.mention is None or unit.mention.core_start != unit.start:
        return False
    return before in _KEEPS_TIME


def _is_orphan(kept: list[Unit], unit: Unit, units: list[Unit], i: int) -> bool:
    """Punctuation that only held a time that was lifted."""
    lifted_before = i > 0 and units[i - 1].mention is not None and not _stays(units, i - 1)
    lifted_after = i + 1 < len(units) and units[i + 1].mention is not None and not _stays(units, i + 1)
    if unit.text in {",", ":"} and lifted_before:
        return not kept or kept[-1].text in {",", ":", ".", "and"} or _opens(kept)
    if unit.text == ")" and lifted_before:
        return True
    return unit.text == "(" and lifted_after and _closes_after(units, i + 1)


def _opens(kept: list[Unit]) -> bool:
    return len(kept) == 1 and kept[0].text.lower() in {"effective", "starting", "beginning"}


def _closes_after(units: list[Unit], i: int) -> bool:
    return i + 1 < len(units) and units[i + 1].text == ")"


PERSONAL = frozenset(v.HONORIFICS)
