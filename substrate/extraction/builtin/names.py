"""Finds names by their spelling, before any parser has seen the sentence.

The small parser mistakes invented names ("Globex" reads as a verb, "Project Aurora leads" as a noun). So a
name is found by capitals and word lists first, put into the sentence as one well-known word, and put back
into what the parser finds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from substrate.extraction.builtin import vocabulary as v
from substrate.extraction.builtin.roles import ACRONYMS, ROLE_MODIFIERS, ROLE_NOUNS

UnitKind = Literal["name", "role"]

TOKEN = re.compile(
    r"[^\W\d_]+?(?=n['’]t\b)|[\u4e00-\u9fff]+(?:·[\u4e00-\u9fff]+)*"
    r"|[^\W\d_](?:\.[^\W\d_])+\.?"
    r"|[^\W_]+(?:[-–'’&/+.](?!s\b|t\b|ll\b|re\b|ve\b|d\b)[^\W_]+)*\+*"
    r"|n['’]t\b|['’](?:s|ll|re|ve|d|m)\b|['’](?=\s)|\S"
)


_CODE = re.compile(r"[a-z]{2,}(?:[-_][a-z]+)*[-_]\d{1,4}[a-z]?")
_CODE_NOT = re.compile(
    r"(?:mid|pre|post|early|late|covid|under|over|top|non|sub|up|post|version|level|class|type|page|step|phase|anti|par|"
    r"plus|circa|since|from|until|by|in|on|of)[-_]"
)
"""A host or a ticket is written small ("db-01"); "mid-2024" is none."""
_NUMBERED = re.compile(r"v?\d+(?:\.\d+)+")
_QUOTED = re.compile(r"[“\"]\s*([^“”\"]*[^“”\"\s.,!?])\s*[”\"]")


class Lexicon(Protocol):
    """Tells whether a lower-case word is an ordinary English word."""

    def knows(self, word: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class Word:
    """A token with its place in the sentence."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Span:
    """A name or a role, as character offsets into the sentence."""

    kind: UnitKind
    start: int
    end: int
    text: str
    guess: str | None = None
    """What kind of thing the name is of, if its words tell."""


def words_of(text: str) -> list[Word]:
    return [Word(m.group(), m.start(), m.end()) for m in TOKEN.finditer(text)]


def capitalised(word: str) -> bool:
    """A capital first, a capital inside ("iPhone"), or a code with letters and digits ("B12")."""
    if not word[0].isalnum():
        return False
    if "\u4e00" <= word[0] <= "\u9fff" or word[0].isupper():
        return True
    if word[0].islower() and _CODE.fullmatch(word) and not _CODE_NOT.match(word):
        return True
    if word[0].isdigit():
        return any(c.isupper() for c in word) and not re.fullmatch(r"\d+[KMB%]", word)
    return any(c.isupper() for c in word[1:])


def names_in(text: str, taken: Sequence[tuple[int, int]], lexicon: Lexicon, known: frozenset[str]) -> list[Span]:
    """Names and roles of one sentence. `taken` are spans of times and amounts, which no name may cross.

    `known` holds words seen capitalised inside sentences of the same passage: one of them is a name at the
    start of a sentence too.
    """
    found = list(_quoted(text, taken))
    taken = [*taken, *((s.start - 1, s.end + 1) for s in found)]
    for run in _runs(text, taken, lexicon, known):
        found.extend(_split(text, run))
    return found


def _quoted(text: str, taken: Sequence[tuple[int, int]]) -> Iterator[Span]:
    """A title in quotation marks is one name when its longer words are capitalised."""
    for m in _QUOTED.finditer(text):
        words = m.group(1).split()
        if any(s < m.end() and m.start() < e for s, e in taken) or len(words) > 8:
            continue
        if words[0][0].isupper() and all(w[0].isupper() for w in words if len(w) > 3):
            start = text.index(words[0], m.start())
            yield Span("name", start, start + len(m.group(1).strip()), m.group(1).strip(), kind_of(m.group(1)))


def inner_capitals(text: str) -> Iterator[str]:
    """Words capitalised where no sentence begins."""
    before = "."
    for word in words_of(text):
        if word.text[0].isupper() and (before[-1].isalnum() or before == ","):
            yield word.text
        before = word.text


def _runs(text: str, taken: Sequence[tuple[int, int]], lexicon: Lexicon, known: frozenset[str]) -> Iterator[list[Word]]:
    words = list(words_of(text))
    run: list[Word] = []
    i = 0
    while i < len(words):
        word = words[i]
        free = not any(s < word.end and word.start < e for s, e in taken)
        if free and _may_join(words, i, run, lexicon, known) and _adjacent(text, run, word):
            run.append(word)
        elif run and free and (step := _bridge(words, i, run, text, taken)):
            run.extend(words[i : i + step])
            i += step
            continue
        else:
            if run:
                yield run
            run = []
            if free and _may_join(words, i, run, lexicon, known):
                run = [word]
        i += 1
    if run:
        yield run


def _adjacent(text: str, run: list[Word], word: Word) -> bool:
    if not run:
        return True
    gap = text[run[-1].end : word.start]
    if ("\u4e00" <= word.text[0] <= "\u9fff") != ("\u4e00" <= run[-1].text[0] <= "\u9fff"):
        return False
    return (
        gap == " "
        or gap == ""
        or (gap == ". " and run[-1].text.lower() in v.HONORIFICS | v.NAME_ABBREVIATIONS | v.CORPORATE_CLITICS)
    )


_PERSONAL = v.NAME_PARTICLES - {"al", "le", "du", "y"}


def _before_particle(words: list[Word], i: int) -> bool:
    """ "Els de Wit", "Jan van der Berg": what opens the sentence is a given name, even if it is a month as well."""
    behind = [w.text for w in words[i + 1 : i + 4]]
    small = next((n for n, w in enumerate(behind) if w not in _PERSONAL), len(behind))
    return 0 < small < len(behind) and capitalised(behind[small]) and behind[small].lower() not in v.MONTHS_AND_DAYS


def _may_join(words: list[Word], i: int, run: list[Word], lexicon: Lexicon, known: frozenset[str]) -> bool:
    word = words[i].text
    if i == 0 and not run and word.lower() in v.OPENING_WORDS:
        return False
    if not run and i + 1 < len(words) and _opens_sentence(words, i) and _opens_role(word, words[i + 1].text):
        return False
    if word.endswith(("-based", "-owned", "-listed", "-led", "-born")):
        return False
    if run and (re.fullmatch(r"\d{1,5}" if run[-1].text.isupper() else r"\d{1,4}", word) or _NUMBERED.fullmatch(word)):
        return True
    if run and word in v.SMALL_COMPANY_FORMS:
        return True
    if word in v.COMMON_ACRONYMS and not run and (i + 1 >= len(words) or not capitalised(words[i + 1].text)):
        return False
    if not capitalised(word):
        return False
    low = word.lower()
    following = words[i + 1].text if i + 1 < len(words) else ""
    if run and len(word) == 1 and following == ".":
        return True
    if not run and _before_particle(words, i):
        return True
    if not run and low in v.MONTHS_AND_DAYS and not (following and following[0].isupper()):
        return False
    if low in v.CAPITAL_ADJECTIVES and following and following[0].isupper():
        return following.lower() in v.NEW_PLACES or (bool(run) or not _opens_sentence(words, i))
    if low in v.NEVER_A_NAME and not (len(word) > 1 and word.isupper() and run):
        return word.isupper() and len(word) > 1 and low not in {"i", "a", "it", "us"} and bool(run)
    if run or not _opens_sentence(words, i):
        return True
    return _initial_is_name(words, i, lexicon, known)


def _opens_role(word: str, following: str) -> bool:
    """ "Group lead X …": the second word is written small, so the first is no name."""
    return word.lower() in ROLE_MODIFIERS and following in ROLE_NOUNS


def _opens_sentence(words: list[Word], i: int) -> bool:
    return i == 0 or words[i - 1].text in {":", "(", "“", '"', "-", "–", "—", "•", "‘"}


def _initial_is_name(words: list[Word], i: int, lexicon: Lexicon, known: frozenset[str]) -> bool:
    word = words[i].text
    following = words[i + 1].text if i + 1 < len(words) else ""
    if "-" in word and all(lexicon.knows(p.lower()) for p in word.split("-") if p):
        return False
    if _NUMBERED.fullmatch(following) or following == "&":
        return True
    if word in known or (word.isupper() and len(word) > 1) or not lexicon.knows(word.lower()):
        return True
    low = word.lower()
    if len(word) == 1 and following == "." and i + 2 < len(words) and capitalised(words[i + 2].text):
        return True
    if low in v.SURNAMES | v.GIVEN_NAMES | v.PLACES | v.HONORIFICS | ROLE_NOUNS:
        return True
    if low in v.NAME_ABBREVIATIONS and following == "." and i + 2 < len(words) and capitalised(words[i + 2].text):
        return True
    if following and following[0].isupper() and following.lower() not in v.NEVER_A_NAME:
        return not low.endswith("ly")
    return following.isdigit() or following in {"'s", "’s"}


def _bridge(words: list[Word], i: int, run: list[Word], text: str, taken: Sequence[tuple[int, int]]) -> int:
    """How many words from `i` on belong to the name though not capitalised ("of", "&", "van der", ".")."""
    word, rest = words[i], words[i + 1 :]
    low = word.text.lower()
    last = run[-1].text.lower()
    if word.text == "." and (last in v.HONORIFICS | v.NAME_ABBREVIATIONS | v.CORPORATE_CLITICS or len(last) == 1):
        more = bool(rest) and capitalised(rest[0].text) and rest[0].text.lower() not in v.NEVER_A_NAME
        return 1 if word.start == run[-1].end and (more or last in v.CORPORATE_CLITICS) else 0
    if not rest or not capitalised(rest[0].text) or rest[0].text.lower() in v.NEVER_A_NAME:
        if low == "of" and len(rest) > 1 and rest[0].text == "the" and capitalised(rest[1].text):
            return 2 if run[-1].text.lower() in v.TAKES_OF else 0
        if low in v.NAME_PARTICLES and len(rest) > 1 and rest[0].text in v.NAME_PARTICLES:
            return 2 if capitalised(rest[1].text) else 0
        return 0
    if any(s < rest[0].end and rest[0].start < e for s, e in taken):
        return 0
    if low == "of":
        return 1 if run[-1].text.lower() in v.TAKES_OF else 0
    return 1 if low in v.NAME_PARTICLES or word.text == "&" else 0


def _split(text: str, run: list[Word]) -> Iterator[Span]:
    """A run of capitals is a name, a role, a role then a name, or a name then an acronym of a role."""
    lows = [w.text.lower() for w in run]
    start = 0
    while start < len(run) and lows[start] in v.HONORIFICS:
        start += 1
        if start < len(run) and run[start].text == ".":
            start += 1
    honoured = start > 0
    if start == len(run):
        return
    last_role = _leading_role(lows, start)
    if last_role is not None and not honoured:
        yield _span("role", text, run[start : last_role + 1])
        if last_role + 1 < len(run):
            yield _span("name", text, run[last_role + 1 :], "person")
        return
    if len(run) - start > 1 and lows[-1] in ROLE_NOUNS:
        cut = len(run) - 1
        while cut > start and lows[cut - 1] in ROLE_MODIFIERS:
            cut -= 1
        if lows[-1] in ACRONYMS or cut < len(run) - 1:
            if cut > start:
                yield _span("name", text, run[start:cut])
            yield _span("role", text, run[cut:])
        else:
            yield _span("role", text, run[start:])
        return
    yield _span("name", text, run[start:], "person" if honoured else None)


def _leading_role(lows: list[str], start: int) -> int | None:
    """Index of the last word of a role at the beginning of the run, or None."""
    at, found = start, None
    while at < len(lows) and (lows[at] in ROLE_MODIFIERS or lows[at] in ROLE_NOUNS):
        if lows[at] in ROLE_NOUNS and not (
            lows[at] in {"head", "lead"} and at + 1 < len(lows) and lows[at + 1] in ROLE_NOUNS
        ):
            found = at
        at += 1
    return found


def _span(kind: UnitKind, text: str, run: list[Word], guess: str | None = None) -> Span:
    start, end = run[0].start, run[-1].end
    name = text[start:end]
    return Span(kind, start, end, name, guess or (kind_of(name) if kind == "name" else "person"))


def kind_of(name: str) -> str | None:
    """A guess from the name's own words; None when they do not tell."""
    words = [w.strip(".,").lower() for w in name.split()]
    if not words:
        return None
    if words[0] in v.PROJECT_WORDS or words[-1] in v.PROJECT_WORDS:
        return "project"
    if words[-1] in v.COMPANY_WORDS or words[-1] in v.TEAM_WORDS or words[0] in v.TAKES_OF:
        return "organization"
    if len(words) in (2, 3) and words[0] in v.GIVEN_NAMES and words[-1] in v.SURNAMES:
        return "person"
    if len(words) > 1 and words[-1] in v.PLACE_WORDS & v.SURNAMES:
        return None
    if words[-1] in v.PLACE_WORDS or (len(words) == 1 and words[0] in v.PLACES):
        return "place"
    if words[-1] in v.PRODUCT_WORDS:
        return "product"
    if len(words) in (2, 3) and (words[0] in v.GIVEN_NAMES or words[0] in v.SURNAMES):
        return "person"
    if len(words) == 2 and words[1] in v.SURNAMES:
        return "person"
    return None
