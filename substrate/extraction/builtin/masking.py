"""Brings a sentence to the short form the parser reads best, and remembers what stood where.

Time adverbials are taken out (they attach by position), each name becomes one well-known name, each title
one ordinary noun, each amount one number: "On 5 July 2024 Aurora's CTO Jane Roe joined Globex Ltd." is
parsed as "Oracle 's Smith joined Oracle .".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from substrate.extraction.builtin.amounts import Amount, amounts_in
from substrate.extraction.builtin.intervals import joined_periods
from substrate.extraction.builtin.names import Lexicon, Span, names_in, words_of
from substrate.extraction.builtin.roles import ROLE_MODIFIERS, ROLE_NOUNS, TITLE_NOUNS
from substrate.extraction.builtin.verbs import RELATIONS, third_person
from substrate.extraction.builtin.vocabulary import GIVEN_NAMES, HONORIFICS, SURNAMES
from substrate.extraction.claims import Value
from substrate.extraction.times import Anchor, TimeMention, find_times

UnitKind = Literal["name", "role", "amount", "time", "word"]
_HONOURED = re.compile(rf"\b(?:(?:{'|'.join(sorted(HONORIFICS))})\.?\s+)+$", re.IGNORECASE)
_LAST_DAY_AT = re.compile(r"(?:last|first|final)(?: working)? day (?:at|with|of|in|as|was|is)\b", re.IGNORECASE)
_STAND_INS = {"person": "Smith", "place": "London", "event": "Oracle", "product": "Oracle"}
_THIRD_PERSON = {third_person(verb): verb for verb, _ in RELATIONS if " " not in verb}
_BASE = set(_THIRD_PERSON.values())
_LINKS = {"with", "for", "to", "on"}
_ALSO_TITLES = {"founder", "co-founder", "director", "manager", "chairman", "chairwoman", "chairperson"}
TITLE_BEFORE_NAME = (TITLE_NOUNS | _ALSO_TITLES) - {
    "partner", "associate", "operator", "host", "master", "principal", "executive", "fellow", "producer", "trader",
    "distiller", "brewer", "broker", "driver", "tester", "planner", "inspector", "designer", "developer",
}  # fmt: skip
_OPENING_PREPOSITIONS = {"in", "at", "from", "near", "to", "of", "for", "with"}
_BEFORE_ROLE = {
    "to",
    "as",
    "the",
    "a",
    "new",
    "current",
    "former",
    "appointed",
    "named",
    "elected",
    "became",
    "is",
    "was",
    "'s",
}
_MAKES_VALUE = {"is", "was", "are", "were", "be", "to", "as"}
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
    lemma: str = ""
    """Set where the parser was given another verb than the one written."""
    group: tuple[Unit, ...] = ()
    """The names of "A, B and C", which the parser sees as one."""


@dataclass(frozen=True, slots=True)
class Masked:
    """A sentence as units, and the time mentions with the index of the unit that follows each."""

    text: str
    units: tuple[Unit, ...]
    times: tuple[tuple[int, TimeMention], ...]


def mask(text: str, anchor: Anchor | None, lexicon: Lexicon, known: frozenset[str]) -> Masked:
    """Finds times, amounts and names of `text` and lays out what the parser shall see."""
    mentions = [m for m in joined_periods(text, find_times(text, anchor)) if not _LAST_DAY_AT.match(text, m.core_start)]
    taken = [(m.start, m.end) for m in mentions]
    amounts = [a for a in amounts_in(text) if not _overlaps(a.start, a.end, taken)]
    spans = names_in(text, taken + [(a.start, a.end) for a in amounts if _bare_amount(a)], lexicon, known)
    amounts = [a for a in amounts if not any(s.start < a.end and a.start < s.end for s in spans)]
    spans = [_guessed(s, lexicon) for s in spans]
    units = _merge_titles(_units(text, spans, amounts, mentions))
    masked = _without_dateline(_lift_times(text, _merge_lists(text, _told_by_at(units))))
    return Masked(text, tuple(_settle_words(masked.units)), masked.times)


def _guessed(span: Span, lexicon: Lexicon) -> Span:
    """Two or three words that are no English words, as persons' names are: a guess, where nothing else tells."""
    words = span.text.split()
    if span.kind != "name" or span.guess is not None or len(words) not in (2, 3):
        return span
    alike = all(w.replace("-", "").replace("'", "").replace("’", "").isalpha() and w[0].isupper() for w in words)
    plain = (
        alike and not any(w.isupper() or _inner_capital(w) for w in words) and words[0].lower() not in _PLACE_OPENERS
    )
    known = [lexicon.knows(w.lower()) and w.lower() not in GIVEN_NAMES | SURNAMES for w in words]
    return replace(span, guess="person") if plain and not any(known) else span


def _inner_capital(word: str) -> bool:
    return (
        any(c.isupper() for c in word[1:]) and "-" not in word and not word.startswith(("Mc", "Mac", "O'", "O’", "De"))
    )


_PLACE_OPENERS = frozenset(
    "san los las el hong buenos rio porto saint st new north south east west kuala abu tel".split()
)


def _told_by_at(units: list[Unit]) -> list[Unit]:
    """Who works "at" a name works at no person."""
    return [
        replace(u, guess="organization")
        if u.kind == "name" and u.guess in (None, "person") and i and units[i - 1].text.lower() == "at"
        else u
        for i, u in enumerate(units)
    ]


def _without_dateline(masked: Masked) -> Masked:
    """ "OSLO, 14 March 2025 – Halden has acquired …": where and when it was written down is left out."""
    dash = next((i for i, u in enumerate(masked.units[:6]) if u.text in {"–", "—", "-"}), None)
    if dash is None or dash == 0 or not all(u.kind == "name" or u.text in ",()/" for u in masked.units[:dash]):
        return masked
    dated = [(at, m) for at, m in masked.times if at <= dash]
    if len(dated) != 1 or dated[0][1].shape != "point":
        return masked
    rest = tuple((at, m) for at, m in masked.times if at > dash)
    return without(replace(masked, times=rest), set(range(dash + 1)))


def _overlaps(start: int, end: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(s < end and start < e for s, e in spans)


def _bare_amount(amount: Amount) -> bool:
    """An amount with a unit or a long number stands by itself; "Falcon 9" and "Order 4711" may still be names."""
    if amount.value.unit is None and "." in amount.value.raw and amount.value.number is not None:
        return False
    return amount.value.unit is not None or amount.value.number is None or amount.end - amount.start > 5


def _units(text: str, spans: Sequence[Span], amounts: Sequence[Amount], mentions: Sequence[TimeMention]) -> list[Unit]:
    placed: list[Unit] = [_unit_of_span(s) for s in spans]
    placed += [Unit("amount", a.start, a.end, text[a.start : a.end], "500", value=a.value) for a in amounts]
    placed += [Unit("time", m.start, m.end, text[m.start : m.end], "2020", mention=m) for m in mentions]
    covered = [(u.start, u.end) for u in placed]
    honoured = _honorifics(text, spans)
    for word in words_of(text):
        if not _overlaps(word.start, word.end, covered) and word.start not in honoured:
            placed.append(Unit("word", word.start, word.end, word.text, _plain(word.text)))
    return sorted(placed, key=lambda u: u.start)


def _honorifics(text: str, spans: Sequence[Span]) -> set[int]:
    """Where the "Dr" and the full stop of "Dr. Jane Roe" begin: the parser shall not see them."""
    places: set[int] = set()
    for span in spans:
        m = _HONOURED.search(text[: span.start]) if span.kind == "name" else None
        if m is not None:
            places.update(range(m.start(), span.start))
    return places


def _unit_of_span(span: Span) -> Unit:
    stand_in = "engineer" if span.kind == "role" else _STAND_INS.get(span.guess or "", "Microsoft")
    return Unit(span.kind, span.start, span.end, span.text, stand_in, span.guess)


_SPAN_OF_TIME = re.compile(
    r"(?:full|half|first|second|multi|two|three|five|ten|long|short)-(?:year|half|quarter|month|term)", re.I
)


def _plain(word: str) -> str:
    if _SPAN_OF_TIME.fullmatch(word):
        return "annual"
    if word in {"n’t", "N’T"}:
        return "n't"
    return {"’s": "'s", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-"}.get(word, word)


def _merge_titles(units: list[Unit]) -> list[Unit]:
    """A role straight before a person's name becomes part of that name's unit."""
    merged: list[Unit] = []
    for unit in units:
        before = merged[-1] if merged else None
        if unit.kind == "name" and before and before.kind == "word" and unit.guess in (None, "person"):
            before = _small_title(merged, unit.guess == "person") or before
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


def _small_title(merged: list[Unit], person: bool) -> Unit | None:
    """ "Bursar", "quality manager" written small straight before a name, as one unit in place of its words."""
    first = len(merged)
    last = merged[-1].text.lower()
    led = (
        last in {"lead", "leader", "head", "captain", "chair", "coordinator", "supervisor", "owner"} and len(merged) > 1
    )
    if last not in TITLE_BEFORE_NAME and not (led and person and merged[-2].text.lower() in ROLE_MODIFIERS):
        return None
    while first and merged[first - 1].kind == "word" and len(merged) - first < 4:
        low = merged[first - 1].text.lower()
        if low not in ROLE_MODIFIERS | ROLE_NOUNS or low in {"former", "first", "second"}:
            break
        first -= 1
    before = merged[first - 1].text.lower() if first else ""
    if before in {"a", "an", "of", "as", "no", "any", "be", "become", "became", "to"}:
        return None
    words = merged[first:]
    del merged[first:]
    text = " ".join(u.text for u in words)
    unit = Unit("role", words[0].start, words[-1].end, text, "engineer", "person")
    merged.append(unit)
    return unit


def _merge_lists(text: str, units: list[Unit]) -> list[Unit]:
    """ "A, B and C" becomes one unit, unless a preposition before it may own the first name alone."""
    merged: list[Unit] = []
    i = 0
    while i < len(units):
        stop = _list_end(units, i)
        before = units[i - 1].text.lower() if i else ""
        if stop > i and before not in _OPENING_PREPOSITIONS:
            group = tuple(u for u in units[i : stop + 1] if u.kind == "name")
            span = text[units[i].start : units[stop].end]
            merged.append(Unit("name", units[i].start, units[stop].end, span, "Americans", units[i].guess, group=group))
            i = stop + 1
            continue
        merged.append(units[i])
        i += 1
    return merged


def _list_end(units: list[Unit], i: int) -> int:
    """Index of the last name of a list of three or more that begins at `i`, else `i`."""
    at, commas = i, 0
    while units[at].kind == "name" and at + 2 < len(units):
        link = units[at + 1].text.lower()
        step = 2
        if link == "," and units[at + 2].text.lower() == "and":
            link, step = "and", 3
        if link not in {",", "and"} or at + step >= len(units) or units[at + step].kind != "name":
            return i
        at += step
        if link == "and":
            return at if commas else i
        commas += 1
    return i


def _settle_words(units: tuple[Unit, ...]) -> list[Unit]:
    """Words that the parser takes for another part of speech between names are given as clear ones."""
    settled: list[Unit] = []
    for i, unit in enumerate(units):
        before = units[i - 1] if i else None
        after = units[i + 1] if i + 1 < len(units) else None
        low = unit.text.lower()
        if low == "both" and after is not None and after.kind == "name":
            settled.append(replace(unit, parsed_as=""))
        elif unit.kind != "word" or after is None:
            settled.append(unit)
        elif (
            before
            and before.kind == "name"
            and i > 1
            and units[i - 2].text == "and"
            and low in _BASE
            and _object_follows(after)
        ):
            settled.append(replace(unit, parsed_as="belong" if after.text.lower() in _LINKS else "own", lemma=low))
        elif before and before.kind == "name" and low in _THIRD_PERSON and _object_follows(after):
            stand_in = "works" if after.text.lower() in _LINKS else "owns"
            unit = replace(unit, parsed_as=stand_in, lemma=_THIRD_PERSON[low])
            settled.append(unit)
        elif before and low in _LISTED and _goes_on(units, i, after):
            linked = after.kind == "word" and after.text.lower() not in {"the", "a", "an", "its"}
            settled.append(replace(unit, parsed_as="works" if linked else "owns", lemma=_LISTED[low]))
        elif before and before.text == "," and low in _THIRD_PERSON and _resumes(units, i, after):
            settled.append(
                replace(unit, parsed_as="works" if after.text.lower() in _LINKS else "owns", lemma=_THIRD_PERSON[low])
            )
        elif low in {"head", "lead", "chair"} and before and before.text.lower() in _BEFORE_ROLE and _ends_role(after):
            settled.append(replace(unit, parsed_as="manager"))
        else:
            settled.append(unit)
    return settled


_LISTED = {third_person(v): v for v in ("weigh", "cost", "end", "expire", "start", "begin", "mature",
           "employ", "report", "use", "run", "own", "operate", "include", "supply", "belong", "manage",
           "lead", "live", "require")}  # fmt: skip


def _goes_on(units: tuple[Unit, ...], i: int, after: Unit) -> bool:
    """ "X has a power of 750 W, weighs 1.8 kg and costs EUR 89": a verb again, where the parser sees a plural noun."""
    if units[i - 1].text.lower() not in {",", "and"} or i < 3:
        return False
    told = any(u.lemma or _tells(u) for u in units[: i - 1])
    ahead = after.kind in {"amount", "name"} or after.text.lower() in {"the", "a", "its", "to", "on", "in", "at", "."}
    return told and ahead


def _tells(unit: Unit) -> bool:
    """A word that is a verb: an auxiliary, one of the listed, or a past tense."""
    low = unit.text.lower()
    return low in {"has", "is", "was", "takes", "costs", "weighs"} or (unit.kind == "word" and low.endswith("ed"))


def _resumes(units: tuple[Unit, ...], i: int, after: Unit) -> bool:
    """ "Altis, which makes pumps, employs 300 people": after the aside its verb goes on."""
    opened = any(u.text == "," for u in units[1 : i - 1]) and any(u.kind == "name" for u in units[: i - 1])
    aside = any(u.text.lower() in {"which", "who", "a", "an", "the", "based", "part"} for u in units[: i - 1])
    return opened and aside and (_object_follows(after) or after.kind == "amount")


def _object_follows(after: Unit) -> bool:
    return after.kind == "name" or after.text.lower() in {"the", "a", "an", "its", "both", "with", "for", "to", "on"}


def _ends_role(after: Unit) -> bool:
    return after.text.lower() in {"of", "for", "at", ",", ".", "in", "on"}


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
            if units[i - 1].text.lower() not in _MAKES_VALUE:
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


def without(masked: Masked, gone: set[int]) -> Masked:
    """The sentence without some of its units; time mentions keep their place."""
    if not gone:
        return masked
    kept = tuple(u for i, u in enumerate(masked.units) if i not in gone)
    times = tuple((at - sum(g < at for g in gone), m) for at, m in masked.times)
    return Masked(masked.text, kept, times)
