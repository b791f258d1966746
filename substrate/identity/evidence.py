"""What speaks for and against two profiles being of one thing: a verdict of the two alone, in either order. Pure.

A verdict ``sure`` or ``likely`` joins; ``plain`` joins namesakes that nothing tells apart; ``doubtful`` asks a person.
Apart from that a pair may be barred: ``hard`` (an identifier differs, one stands in a relation to the other, no one
bears both names, a person said so) keeps even clusters apart, ``soft`` (two jobs at once, another field of work,
another sort of thing) only what would be joined for its name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Literal
from uuid import UUID

from substrate.identity.names import Name, Relation, acronym, clash, keys, read_name, relation, sounds
from substrate.identity.sightings import EMPLOYS, unique_identifiers
from substrate.identity.words import NEAR_FIELDS

Strength = Literal["sure", "likely", "plain", "doubtful", "none"]
Bar = Literal["hard", "soft"]
_PLACES = frozenset(
    {"located in", "based in", "headquartered in", "located_in", "headquartered_in", "lives in", "born in"}
)
_UNLIKE = frozenset(
    frozenset(pair)
    for pair in (("place", "project"), ("place", "product"), ("organization", "project"), ("organization", "product"))
)
APART_DAYS = 90
"""Two jobs that are told of so many days apart may be one person's, one after the other."""
LONG_NAME = 12
"""A name of so many letters is not met twice by chance."""


@dataclass(frozen=True)
class Profile:
    """Every sighting of one name with one signature."""

    norm: str
    signature: str
    surface: str
    kind: str | None
    features: frozenset[str]
    entities: frozenset[UUID] = frozenset()
    documents: int = 1

    @cached_property
    def digest(self) -> str:
        """Its place in every order: a function of what documents say, not of when they came."""
        return hashlib.sha256(f"{self.norm}\n{self.signature}".encode()).hexdigest()

    @cached_property
    def name(self) -> Name:
        return read_name(self.surface)

    def of(self, prefix: str) -> frozenset[str]:
        """What follows a prefix in its features."""
        return self._by_prefix.get(prefix, frozenset())

    @cached_property
    def _by_prefix(self) -> dict[str, frozenset[str]]:
        found: dict[str, set[str]] = {}
        for feature in self.features:
            found.setdefault(feature[:2], set()).add(feature[2:])
        return {prefix: frozenset(texts) for prefix, texts in found.items()}

    @cached_property
    def aliases(self) -> tuple[Name, ...]:
        return tuple(read_name(a) for a in sorted(self.of("a:")))

    @cached_property
    def cores(self) -> frozenset[str]:
        return frozenset({self.name.core, *(a.core for a in self.aliases)})

    @cached_property
    def keys(self) -> frozenset[str]:
        if self.of("u:"):  # as many as there are documents that say "the contract"
            return frozenset()
        found = set(keys(self.name)) | {f for f in self.features if f.startswith("i:")}
        for alias in self.aliases:
            found |= {k for k in keys(alias) if k[0] in "=~"}
        return frozenset(found)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What two profiles come to."""

    strength: Strength = "none"
    score: float = 0.0
    bar: Bar | None = None
    reasons: tuple[str, ...] = ()
    """In words of this module, never a document's."""


NOTHING = Verdict()


@dataclass(slots=True)
class _Case:
    one: Profile
    other: Profile
    reasons: list[str] = field(default_factory=list)

    def verdict(self, strength: Strength, score: float, bar: Bar | None = None) -> Verdict:
        return Verdict(strength, score, bar, tuple(self.reasons))


def judge(one: Profile, other: Profile, told_apart: Collection[frozenset[UUID]] = ()) -> Verdict:
    """The verdict on two profiles. `told_apart`: pairs of entities that a person said are two."""
    if one.digest > other.digest:
        one, other = other, one
    case = _Case(one, other)
    if any(frozenset((a, b)) in told_apart for a in one.entities for b in other.entities):
        case.reasons.append("a person told them apart")
        return case.verdict("none", 0.0, "hard")
    if one.of("u:") != other.of("u:"):
        return NOTHING
    shared = _shared_identifiers(one, other)
    alias = _one_is_known_as_the_other(one, other)
    if (why := _hard(one, other, alias)) is not None:
        case.reasons.append(why)
        if shared:
            case.reasons.append("yet they share an identifier")
        return case.verdict("doubtful" if shared else "none", 0.5 if shared else 0.0, "hard")
    if shared:
        case.reasons.append(f"same {', '.join(sorted(shared))}")
        return case.verdict("sure", 1.0)
    return _by_name(case, alias)


def _shared_identifiers(one: Profile, other: Profile) -> set[str]:
    """Sorts of identifiers they share. A site or a mailbox is a person's only beside a person's own address."""
    found = {i.partition(":")[0] for i in one.of("i:") & other.of("i:")}
    return found - {"site", "mailbox"} if "person" in (one.kind, other.kind) else found


def _one_is_known_as_the_other(one: Profile, other: Profile) -> bool:
    """Two that share another name are not: "the Boss" is several people's."""
    return other.name.core in {a.core for a in one.aliases} or one.name.core in {a.core for a in other.aliases}


def _hard(one: Profile, other: Profile, alias: bool) -> str | None:
    mine, theirs = unique_identifiers(one.features), unique_identifiers(other.features)
    for sort in sorted(mine.keys() & theirs.keys()):
        if not mine[sort] & theirs[sort]:
            return f"another {sort}"
    beside = _stands_in_a_relation(one, other) or _stands_in_a_relation(other, one)
    if beside and not alias and one.name.core != other.name.core:
        return "one stands in a relation to the other"
    people = _may_be_people(one, other)
    if not alias and people and clash(one.name, other.name):
        return "no one person bears both names"
    return None


def _stands_in_a_relation(one: Profile, other: Profile) -> bool:
    return any(_far_end(f) == other.name.core for f in one.of("f:"))


def _far_end(fact: str) -> str:
    at = max(fact.rfind(">"), fact.rfind("<"))
    return fact[at + 1 :]


def _relation_of(fact: str) -> str:
    return fact[: max(fact.rfind(">"), fact.rfind("<"))]


def _may_be_people(one: Profile, other: Profile) -> bool:
    return one.kind in (None, "person") and other.kind in (None, "person")


def _by_name(case: _Case, alias: bool) -> Verdict:
    one, other = case.one, case.other
    strong, weak = _facts_in_common(one, other)
    bar = _soft(case)
    related = relation(one.name, other.name, people=_may_be_people(one, other))
    if alias:
        case.reasons.insert(0, "one is said to be known as the other")
        return case.verdict("likely", 0.95) if bar is None or strong else case.verdict("doubtful", 0.5, bar)
    if related is None:
        return NOTHING
    if strong:
        case.reasons.append(f"{strong} facts in common")
    if related == "same":
        return _namesakes(case, strong, bar)
    return _alike(case, related, strong, weak, bar)


def _facts_in_common(one: Profile, other: Profile) -> tuple[int, int]:
    """Facts both have: of which few others have them, and of where they are."""
    shared = one.of("f:") & other.of("f:")
    weak = {f for f in shared if _relation_of(f) in _PLACES}
    return len(shared - weak), len(weak)


def _one_fits_many(one: Profile, other: Profile) -> bool:
    """Is a given name of one an initial or a short form? It fits others who lead the same project too."""
    if sounds(one.name) == sounds(other.name) or sorted(one.name.tokens) == sorted(other.name.tokens):
        return False
    return _may_be_people(one, other)


def _enough(one: Profile, other: Profile) -> bool:
    """One employer, or two facts of other sorts, both have."""
    strong = {f for f in one.of("f:") & other.of("f:") if _relation_of(f) not in _PLACES}
    return len(strong) > 1 or any(_relation_of(f).replace("_", " ") in EMPLOYS for f in strong)


def _soft(case: _Case) -> Bar | None:
    one, other = case.one, case.other
    kinds = frozenset(k for k in (one.kind, other.kind) if k is not None)
    if len(kinds) == 2 and ("person" in kinds or kinds in _UNLIKE):
        case.reasons.append("two sorts of thing")
        return "soft"
    if not _may_be_people(one, other):
        return None
    fields = _other_fields(one, other)
    if _two_jobs_at_once(one, other):
        case.reasons.append("different employers")
        if fields:
            case.reasons.append("different fields of work")
        return "soft"
    if fields and "person" in kinds:
        case.reasons.append("different fields of work")
        return "soft"
    return None


def _other_fields(one: Profile, other: Profile) -> bool:
    mine, theirs = one.of("d:"), other.of("d:")
    if not mine or not theirs or mine & theirs:
        return False
    return not any(frozenset((a, b)) in NEAR_FIELDS for a in mine for b in theirs)


def _two_jobs_at_once(one: Profile, other: Profile) -> bool:
    mine, theirs = [_job(e) for e in sorted(one.of("e:"))], [_job(e) for e in sorted(other.of("e:"))]
    if not mine or not theirs or {m[0] for m in mine} & {t[0] for t in theirs}:
        return False
    return not any(_one_after_the_other(m[1], t[1]) for m in mine for t in theirs)


def _job(text: str) -> tuple[str, date | None]:
    core, start, end = text.rsplit("|", 2)
    day = start or end
    return core, date.fromisoformat(day) if day else None


def _one_after_the_other(mine: date | None, theirs: date | None) -> bool:
    return mine is not None and theirs is not None and abs((mine - theirs).days) >= APART_DAYS


def _namesakes(case: _Case, strong: int, bar: Bar | None) -> Verdict:
    case.reasons.insert(0, "same name")
    if strong:
        return case.verdict("likely", 0.9)
    if bar is None:
        return case.verdict("plain", 0.6)
    sure = "different fields of work" in case.reasons or "two sorts of thing" in case.reasons
    return case.verdict("none" if sure else "doubtful", 0.0 if sure else 0.5, bar)


def _alike(case: _Case, related: Relation, strong: int, weak: int, bar: Bar | None) -> Verdict:
    one, other = case.one, case.other
    words = {"script": "same name in another script", "variant": "a shorter form of the name", "typo": "a similar name"}
    case.reasons.insert(0, words[related])
    long = min(len(one.name.core), len(other.name.core)) >= LONG_NAME
    if "two sorts of thing" in case.reasons:
        return case.verdict("none", 0.0, bar)
    if related == "typo" and (one.norm in other.of("x:") or other.norm in one.of("x:")):
        case.reasons.append("one text uses both names")
        return case.verdict("doubtful" if strong else "none", 0.4 if strong else 0.0, "hard")
    short_for = acronym(one.name, other.name) or acronym(other.name, one.name)
    if strong and related == "variant" and not short_for and _one_fits_many(one, other) and not _enough(one, other):
        return case.verdict("doubtful", 0.45)
    if strong:
        return case.verdict("likely", {"script": 0.85, "variant": 0.8, "typo": 0.75}[related])
    if weak and not _may_be_people(one, other) and (long or related == "script" or short_for):
        case.reasons.append("the same place")
        return case.verdict("likely", 0.7)
    if bar is not None:
        return case.verdict("none", 0.0, bar)
    if related == "script" or short_for or (related == "typo" and long):
        return case.verdict("doubtful", 0.45 if related == "script" else 0.35)
    return NOTHING
