"""What a spelling tells: what is left of a name without its dress, and how two names are related. Pure.

Relations, strongest first. ``same``: one normalised form, or one but for accents, legal form, title, "&" or the order
of "Last, First". ``script``: the same once both are written in Latin letters. ``variant``: an initial or a short form
for a given name, an acronym. ``typo``: a letter or two off, in a long word. None: nothing that would make one wonder.
Transliteration is anyascii's table.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from substrate.identity.words import (
    HAN_FORMS,
    LEGAL_FORMS,
    LONG_FORMS,
    PARTICLES,
    SHORT_FORMS,
    SMALL,
    SUFFIXES,
    TITLES,
    WEAK_FORMS,
)

Relation = Literal["same", "script", "variant", "typo"]
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_OTHER_SCRIPT = re.compile(r"[^\u0000-\u024f\u1e00-\u1eff\u2000-\u206f]")
_UPPER_RUN = re.compile(r"[A-Z][a-z']*|[a-z']+|\d+")
_DOTTED = re.compile(r"\b(?:[^\W\d_]\.){2,}")
_DIGITS = re.compile(r"\d+")
LONG_TOKEN = 5
"""A word this long may be off by a letter and still be meant; a shorter one is another word."""
VERY_LONG_TOKEN = 9
"""A word this long may be off by two."""


@dataclass(frozen=True, slots=True)
class Name:
    """A spelling, taken apart."""

    core: str
    """What is left in small letters without accents, legal form and title; other scripts stay as they are."""
    tokens: tuple[str, ...]
    latin: tuple[str, ...]
    """The same in Latin letters, a word each (a syllable each for Chinese)."""
    legal: bool
    """It ended in a legal form: a company, whatever else bears the name."""
    foreign: bool
    """It is written in another script than the Latin one."""
    han: bool
    upper: bool
    """One word in capitals: it may be an acronym."""

    @property
    def digits(self) -> tuple[str, ...]:
        return tuple(_DIGITS.findall(" ".join(self.tokens)))


@lru_cache(maxsize=65_536)
def read_name(text: str) -> Name:
    """A name taken apart, whatever it is the name of."""
    plain = unicodedata.normalize("NFKC", text).strip()
    plain = _DOTTED.sub(lambda m: m.group().replace(".", "") + " " if len(m.group()) > 4 else m.group(), plain)
    han = bool(_HAN.search(plain))
    words = [unaccented(w) for w in _words(plain)]
    legal = False
    if han:
        words, legal = _without_han_form(words)
    words, latin_legal = _without_legal_form(words, "," in plain)
    words = [w for i, w in enumerate(words) if not (w in TITLES and i == 0 and len(words) > 1)]
    words = [w for i, w in enumerate(words) if not (w in SUFFIXES and i >= 2)]
    words = words or [unaccented(w) for w in _words(plain)] or [plain.casefold()]
    core = " ".join(words)
    foreign = bool(_OTHER_SCRIPT.search(plain))
    upper = len(words) == 1 and plain.isupper() and plain.isascii() and 2 <= len(words[0]) <= 6
    return Name(core, tuple(words), _latin(core, foreign), legal or latin_legal, foreign, han, upper)


def _words(text: str) -> list[str]:
    folded = text.replace("&", " and ").replace("＆", " and ").casefold()
    head, comma, rest = folded.partition(",")
    first = _WORD.findall(rest)
    if comma and 1 <= len(first) <= 2 and len(_WORD.findall(head)) <= 2 and not _lawful(first):
        folded = f"{rest} {head}"  # "Nwosu, Amara"
    words = _WORD.findall(folded)
    return words[1:] if len(words) > 1 and words[0] == "the" else words


def _lawful(words: list[str]) -> bool:
    return all(w in LEGAL_FORMS or w in WEAK_FORMS or w in SUFFIXES for w in words)


def unaccented(word: str) -> str:
    """Latin letters without marks; other scripts, whose marks make letters, as they are."""
    if word.isascii() or _OTHER_SCRIPT.search(word):
        return word.replace("'", "").replace("’", "")
    word = word.replace("ä", "a").replace("ö", "o").replace("ü", "u")
    return _to_latin(word).lower().replace("'", "")


@lru_cache(maxsize=65_536)
def _to_latin(text: str) -> str:
    from anyascii import anyascii

    return anyascii(text)


def _latin(core: str, foreign: bool) -> tuple[str, ...]:
    if not foreign:
        return tuple(core.split())
    found = []
    for word in core.split():
        spelled = _to_latin(word)
        parts = _UPPER_RUN.findall(spelled) if _HAN.search(word) else [spelled]
        found += [p.lower().replace("'", "") for p in parts]
    return tuple(found)


def _without_legal_form(words: list[str], comma: bool) -> tuple[list[str], bool]:
    left, legal = list(words), False
    while len(left) > 1 and (left[-1] in LEGAL_FORMS or (left[-1] in WEAK_FORMS and (comma or len(left) > 2))):
        left.pop()
        legal = True
    for size in (2, 3, 4):  # "s a", "s p a", "gmbh co kg": letters that dots had kept apart
        tail = "".join(left[-size:])
        if len(left) > size and all(len(w) == 1 for w in left[-size:]) and tail in LEGAL_FORMS:
            return left[:-size], True
    return left, legal


def _without_han_form(words: list[str]) -> tuple[list[str], bool]:
    last = words[-1]
    for form in HAN_FORMS:
        if last.endswith(form) and len(last) > len(form) + 1:
            return [*words[:-1], last.removesuffix(form)], True
    return words, False


def sound(word: str) -> str:
    """A word by what romanisations agree on: "Sergey" and "Sergei", "Mueller" and "Muller", "Yulia" and "Iuliia"."""
    word = word.replace("ue", "u").replace("oe", "o").replace("ae", "a")
    word = word.replace("kh", "h").replace("ph", "f").replace("ck", "k").replace("ou", "u").replace("oy", "u")
    word = word.replace("y", "i").replace("j", "i").replace("w", "v").replace("x", "ks").replace("tz", "ts")
    word = word.replace("io", "o").replace("eo", "o") if len(word) > 4 else word
    return re.sub(r"(.)\1+", r"\1", word)


@lru_cache(maxsize=65_536)
def sounds(name: Name) -> str:
    """The whole name by its sounds, without spaces, so that "Wang Xiaoming" is 王小明."""
    return "".join(sound(w) for w in name.latin)


def turned(name: Name) -> str:
    """The same with its first word last: the family name moved."""
    return "".join(sound(w) for w in (*name.latin[1:], *name.latin[:1]))


def relation(one: Name, other: Name, *, people: bool) -> Relation | None:
    """How two names are related. `people`: neither is known to be anything but a person's."""
    if one.core == other.core:
        return "same"
    if one.digits != other.digits:
        return None
    if sounds(one) == sounds(other):
        return "script" if one.foreign != other.foreign or _marked(one, other) else "variant"
    if (one.han != other.han) and turned(one) == sounds(other):
        return "script"
    if sorted(one.tokens) == sorted(other.tokens):
        return "variant"
    if acronym(one, other) or acronym(other, one):
        return "variant"
    if people and given_names_agree(one.latin, other.latin):
        return "variant"
    return "typo" if misspelled(one.latin, other.latin) else None


def _marked(one: Name, other: Name) -> bool:
    """Do they differ by how an umlaut is written alone: "mueller" and "muller"?"""
    return [_flat(w) for w in one.tokens] == [_flat(w) for w in other.tokens]


def _flat(word: str) -> str:
    return word.replace("ue", "u").replace("oe", "o").replace("ae", "a")


def acronym(short: Name, long: Name) -> bool:
    """Is one the initials of the other, three at least?"""
    return short.upper and len(short.core) >= 3 and short.core == initials(long)


def initials(name: Name) -> str:
    """The first letters of the words that count."""
    return "".join(w[0] for w in name.latin if w not in SMALL)


def given_names_agree(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """One family name, and given names of which each is the other's, its initial or its short form.

    A middle name may be missing on one side. "J. Smith" agrees with "John Smith" and with "Jane Smith".
    """
    mine, theirs = _person(one), _person(other)
    if mine is None or theirs is None or sound(mine[-1]) != sound(theirs[-1]):
        return False
    if not mine[:-1] or not theirs[:-1]:
        return False
    short, long = sorted((mine[:-1], theirs[:-1]), key=len)
    if not _given(short[0], long[0]):
        return False
    rest = list(long[1:])
    for word in short[1:]:
        at = next((i for i, w in enumerate(rest) if _given(word, w)), None)
        if at is None:
            return False
        del rest[: at + 1]
    return True


def _person(words: tuple[str, ...]) -> tuple[str, ...] | None:
    kept = tuple(w for w in words if w not in PARTICLES)
    return kept if 2 <= len(kept) <= 5 else None


def _given(one: str, other: str) -> bool:
    if one == other or (min(len(one), len(other)) == 1 and one[0] == other[0]):
        return True
    if one in LONG_FORMS and other in LONG_FORMS:
        return False
    return bool(SHORT_FORMS.get(one, frozenset()) & SHORT_FORMS.get(other, frozenset())) or sound(one) == sound(other)


def clash(one: Name, other: Name) -> bool:
    """Are these two people's names that no one person bears: another given name, another middle initial?

    Said of names with one family name; two family names may be a marriage apart.
    """
    mine, theirs = _person(one.latin), _person(other.latin)
    if mine is None or theirs is None or sound(mine[-1]) != sound(theirs[-1]):
        return False
    if given_names_agree(one.latin, other.latin) or misspelled(one.latin, other.latin):
        return False
    from rapidfuzz.distance import OSA

    first, second = sound(mine[0]), sound(theirs[0])
    if min(len(first), len(second)) == 1:
        return first[0] != second[0] or _middles_clash(mine, theirs)
    if first == second:
        return _middles_clash(mine, theirs)
    return OSA.normalized_similarity(first, second) < 0.8


def _middles_clash(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return len(one) == len(other) >= 3 and not all(_given(a, b) for a, b in zip(one, other, strict=True))


def misspelled(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """A letter missing, doubled, swapped or wrong in a long word; two in a very long one; no more than two in all."""
    if len(one) != len(other) or one == other:
        return False
    from rapidfuzz.distance import OSA

    off = 0
    for a, b in zip(one, other, strict=True):
        if a == b:
            continue
        distance = int(OSA.distance(a, b))
        shorter = min(len(a), len(b))
        if shorter < LONG_TOKEN or a.isdigit() or b.isdigit() or _another_ending(a, b):
            return False
        if distance > (2 if shorter >= VERY_LONG_TOKEN else 1):
            return False
        off += distance
    return 0 < off <= 2


def _another_ending(one: str, other: str) -> bool:
    """ "Mario" and "Maria", "Robert" and "Roberta": one letter makes another name of it. So do two known names."""
    short, long = sorted((one, other), key=len)
    if one in SHORT_FORMS and other in SHORT_FORMS:
        return True
    if len(short) == len(long):
        return short[:-1] == long[:-1] and {short[-1], long[-1]} <= set("aeio")
    return long[:-1] == short and long[-1] in "aeio"


def keys(name: Name) -> Iterator[str]:
    """What two names must share, one at least, to be compared at all."""
    yield f"={name.core}"
    yield f"~{sounds(name)}"
    if name.han:
        yield f"~{turned(name)}"
    digits = ".".join(name.digits)
    latin = tuple(w for w in name.latin if w not in PARTICLES)
    if len(latin) >= 2 and not name.han:
        yield f"l{digits}:{sound(latin[-1])}+{latin[0][0]}"
        yield f"f{digits}:{sound(latin[0])}+{latin[-1][0]}"
        if len(latin) > 2:
            yield f"m{digits}:{sound(latin[0])}+{sound(latin[1])}"
        families = sorted(SHORT_FORMS.get(latin[0], frozenset()))
        yield from (f"s{digits}:{sound(latin[-1])}+{family}" for family in families)
        yield f"w:{'+'.join(sorted(name.tokens))}"
    elif len(name.core) >= LONG_TOKEN:
        yield f"c{digits}:{consonants(name)}"
    if name.upper and len(name.core) >= 3:
        yield f"a:{name.core}"
    elif len(latin) >= 3:
        yield f"a:{initials(name)}"


def consonants(name: Name) -> str:
    """The first letter and the set of consonants: what most slips of the pen leave alone."""
    word = sounds(name)
    return word[:1] + "".join(sorted(set(word[1:]) - set("aeiou")))
