"""What one document tells of each name it uses: a sighting, computed from its claims and their passages alone. Pure.

Two sightings of one name with one signature are one thing as far as documents can tell, and are taken together; so a
name in ten thousand documents is a handful of profiles. A signature holds what could tell two bearers of a name apart:
the sort of thing, identifiers, and for people employers and fields of work.

Features are texts: ``i:sort:value`` an identifier, ``a:name`` another name, ``f:relation>other`` and
``f:relation<other`` a fact and its far end, ``e:employer|from|to`` where a person works and when, ``d:field`` a field
of work, ``x:name`` a name so like this one that a text which uses both tells them apart, ``u:document`` that the
document speaks of a thing it does not name ("the annual pass"), which is another thing in every document.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import combinations
from uuid import UUID

from substrate.identity.claims import BoundClaim
from substrate.identity.identifiers import UNIQUE, beside, identifiers, is_label, ticket
from substrate.identity.names import Name, initials, keys, misspelled, read_name, relation
from substrate.identity.words import FIELD_OF
from substrate.ledger.drafts import KNOWN_AS, normalise_name

EMPLOYS = frozenset(
    "works for|works at|worked for|worked at|works in|plays for|employed by|joined|hired by|serves at".split("|")
)
_ABOUT_PEOPLE = EMPLOYS | frozenset(
    "reports to|job title|married to|born in|lives in|studied at|teaches at|date of birth|position|occupation".split(
        "|"
    )
)
_ABOUT_COMPANIES = frozenset("acquired|headquartered in|subsidiary of|merged with|founded in".split("|"))
_TO_COMPANIES = EMPLOYS | frozenset({"acquired", "subsidiary of"})
_TO_THINGS = frozenset({"leads", "directs", "manages", "part of", "heads"})
_ABOUT_THINGS = frozenset({"located in", "part of", "based in"})
_IS_A = re.compile(r"\s+(?:is|was|are)\s+(?:an?|the)\s+(?P<what>(?:[\w-]+\s+){0,2}?[\w-]+)(?=[\s.,;]|$)")
_KIND_WORDS: Mapping[str, str] = {
    **dict.fromkeys(("project", "programme", "program", "initiative"), "project"),
    **dict.fromkeys("city town village country river planet island continent region state mountain".split(), "place"),
    **dict.fromkeys("company firm bank university charity subsidiary startup business agency".split(), "organization"),
    **dict.fromkeys(("product", "app", "tool", "library", "framework", "language", "database"), "product"),
}
UNNAMED = 0.5
"""The most confidence an extractor has in a claim about something the text does not name."""
_SENTENCE = re.compile(r"[^.!?。！？\n]+(?:\.(?=\S)[^.!?。！？\n]*)*")
_WORDS = re.compile(r"[A-Za-z]+|[\u4e00-\u9fff]{2,}")
_HAN_FIELDS = tuple(w for w in FIELD_OF if not w.isascii())
_BESIDE = re.compile(r"\s*[（(]\s*(?P<name>[^()（）\d]{2,40}?)\s*[)）]")
_HAN_ALIAS = re.compile(
    r"[，,（(]?\s*(?:原名|曾用名|旧称|又名|又称|也称|别名|简称|现名|更名为|改名为)[为是叫]?[：:\s“\"「《]*"
    r"(?P<name>[^，。,；;、（）()“”\"「」《》\s]{2,20})"
)
_ACRONYM = re.compile(r"\s*[（(]\s*(?P<short>[A-Z][A-Z0-9&]{1,7})\s*[)）]")


@dataclass(slots=True)
class Sighting:
    """One name in one document."""

    document_id: UUID
    norm: str
    surface: str
    kind: str | None = None
    features: set[str] = field(default_factory=set)

    @property
    def signature(self) -> str:
        """What could tell two bearers of the name apart, as a digest."""
        apart = [f for f in self.features if f.startswith(("i:", "u:"))]
        if self.kind in (None, "person"):
            apart += [f for f in self.features if f.startswith(("e:", "d:"))]
        said = "\n".join([self.kind or "", *sorted(apart)])
        return hashlib.sha256(said.encode()).hexdigest()[:16]

    def compared_by(self) -> set[str]:
        """What it shares with whatever it is compared with."""
        if any(feature.startswith("u:") for feature in self.features):
            return set()
        found = set(keys(read_name(self.surface)))
        for feature in self.features:
            if feature.startswith("i:"):
                found.add(feature)
            elif feature.startswith("a:"):
                found |= {k for k in keys(read_name(feature[2:])) if k[0] in "=~"}
        return found


def sightings(claims: Sequence[BoundClaim], passages: Mapping[UUID, str]) -> list[Sighting]:
    """One sighting per document and name. `passages`: chunk id → text, of these claims at least."""
    by_document: dict[UUID, list[BoundClaim]] = defaultdict(list)
    for claim in claims:
        by_document[claim.row["document_id"]].append(claim)
    return [s for document, its in by_document.items() for s in _Reader(document, its, passages).read()]


class _Reader:
    """Reads the claims of one document."""

    def __init__(self, document_id: UUID, claims: Sequence[BoundClaim], passages: Mapping[UUID, str]) -> None:
        self.document_id, self.claims = document_id, claims
        self.texts = [passages[c] for c in dict.fromkeys(c.row["chunk_id"] for c in claims) if c in passages]
        self.found: dict[str, Sighting] = {}
        self.surfaces: dict[str, set[str]] = defaultdict(set)
        self.said: dict[str, Counter[str]] = defaultdict(Counter)
        self.guessed: dict[str, Counter[str]] = defaultdict(Counter)
        self.named: set[str] = set()

    def read(self) -> list[Sighting]:
        for claim in self.claims:
            self._claim(claim)
        for norm, sighting in self.found.items():
            sighting.surface = min(self.surfaces[norm])
            self._text(sighting)
            sighting.kind = self._kind(norm)
            if norm not in self.named and sighting.surface[:1].islower():
                sighting.features.add(f"u:{self.document_id}")
        for sighting in self.found.values():
            if sighting.kind not in (None, "person"):
                sighting.features = {f for f in sighting.features if f[:2] not in ("d:", "e:")}
        self._told_apart()
        return list(self.found.values())

    def _of(self, surface: str) -> Sighting:
        norm = normalise_name(surface)
        self.surfaces[norm].add(surface.strip())
        return self.found.setdefault(norm, Sighting(self.document_id, norm, surface.strip()))

    def _claim(self, claim: BoundClaim) -> None:
        bound, phrase = claim.bound, claim.row["phrase"]
        subject = self._of(bound.subject_name)
        if claim.row["confidence"] > UNNAMED:
            self.named |= {normalise_name(n) for n in (bound.subject_name, bound.object_name) if n is not None}
        if bound.subject_kind:
            self.guessed[subject.norm][bound.subject_kind] += 1
        if bound.object_name is None:
            self._value(claim, subject)
            return
        other = self._of(bound.object_name)
        if bound.object_kind:
            self.guessed[other.norm][bound.object_kind] += 1
        if claim.row["denies"]:
            return
        relation = bound.predicate_key or phrase
        subject.features.add(f"f:{relation}>{read_name(other.surface).core}")
        other.features.add(f"f:{relation}<{read_name(subject.surface).core}")
        ends = (subject, other) if bound.subject_name == claim.row["subject"] else (other, subject)
        self._sorts(phrase, *ends)
        if phrase in EMPLOYS:
            ends[0].features.add(_employer(read_name(ends[1].surface), claim))

    def _sorts(self, phrase: str, subject: Sighting, other: Sighting) -> None:
        for phrases, end, sort in (
            (_ABOUT_PEOPLE, subject, "person"),
            (_ABOUT_COMPANIES, subject, "organization"),
            (_TO_COMPANIES, other, "organization"),
            (_TO_THINGS, other, "thing"),
            (_ABOUT_THINGS, subject, "thing"),
        ):
            if phrase in phrases:
                self.said[end.norm][sort] += 1
        if phrase == "reports to":
            self.said[other.norm]["person"] += 1

    def _value(self, claim: BoundClaim, subject: Sighting) -> None:
        bound, phrase = claim.bound, claim.row["phrase"]
        raw = bound.value.raw if bound.value else ""
        if bound.predicate_key == KNOWN_AS:
            if normalise_name(raw) != subject.norm:
                subject.features.add(f"a:{raw.strip()}")
        elif is_label(phrase):
            subject.features |= {f"i:{i.sort}:{i.value}" for i in identifiers(raw)}
        elif phrase in _ABOUT_PEOPLE:
            self.said[subject.norm]["person"] += 1

    def _text(self, sighting: Sighting) -> None:
        if (key := ticket(sighting.surface)) is not None:
            sighting.features.add(f"i:{key.sort}:{key.value}")
        for surface in self.surfaces[sighting.norm]:
            for text in self.texts:
                if surface in text:
                    sighting.features |= {f"i:{i.sort}:{i.value}" for i in beside(text, surface)}
                    self._sentences(sighting, surface, text)

    def _sentences(self, sighting: Sighting, surface: str, text: str) -> None:
        for match in _SENTENCE.finditer(text):
            sentence = match.group()
            at = sentence.find(surface)
            if at < 0:
                continue
            sighting.features |= {f"d:{f}" for f in _fields(sentence)}
            rest = sentence[at + len(surface) :]
            if (is_a := _IS_A.match(rest)) is not None:
                for word in is_a.group("what").lower().split():
                    if word in _KIND_WORDS:
                        self.said[sighting.norm][_KIND_WORDS[word]] += 2
            sighting.features |= {f"a:{alias}" for alias in _aliases(surface, rest)}
            short = _ACRONYM.match(rest)
            if short is not None and short.group("short").lower() == initials(read_name(surface)):
                sighting.features.add(f"a:{short.group('short')}")

    def _kind(self, norm: str) -> str | None:
        """What its sentences say of it, else what the extractor guessed; a legal form and "Project" speak too."""
        name = read_name(self.found[norm].surface)
        if name.legal:
            return "organization"
        if name.tokens[0] in ("project", "programme") and len(name.tokens) > 1:
            return "project"
        for votes in (self.said[norm], self.guessed[norm]):
            if votes:
                sure = {k: n for k, n in votes.items() if k != "thing"} or votes
                return min(sure, key=lambda k: (-sure[k], k))
        return None

    def _told_apart(self) -> None:
        names = {norm: read_name(s.surface) for norm, s in self.found.items()}
        by_length: dict[int, list[str]] = defaultdict(list)
        for norm, name in names.items():
            by_length[len(name.latin)].append(norm)
        for alike in by_length.values():
            blocks: dict[str, list[str]] = defaultdict(list)  # hundreds of names have too many pairs to try all
            for norm in sorted(alike):
                for key in set(keys(names[norm])):
                    blocks[key].append(norm)
            for one, other in {pair for block in blocks.values() for pair in combinations(block, 2)}:
                if misspelled(names[one].latin, names[other].latin):
                    self.found[one].features.add(f"x:{other}")
                    self.found[other].features.add(f"x:{one}")


def _aliases(surface: str, rest: str) -> Iterable[str]:
    """What stands right behind a name as another one: "华为 (Huawei)" if it sounds so, "启明制药原名东方药业"."""
    beside = _BESIDE.match(rest)
    if beside is not None and relation(read_name(beside.group("name")), read_name(surface), people=True) == "script":
        yield beside.group("name")
    told = _HAN_ALIAS.match(rest)
    if told is not None:
        yield told.group("name")


def _fields(sentence: str) -> Iterable[str]:
    for word in _WORDS.findall(sentence):
        if word.isascii():
            if (field_name := FIELD_OF.get(word.lower())) is not None:
                yield field_name
        else:
            yield from (FIELD_OF[w] for w in _HAN_FIELDS if w in word)


def _employer(name: Name, claim: BoundClaim) -> str:
    time = claim.time
    start, end = (time.valid_from, time.valid_to) if time.grade != "C" else (None, None)
    if start is None and end is None:
        start = end = claim.attested_at
    return f"e:{name.core}|{_day(start)}|{_day(end)}"


def _day(moment: datetime | None) -> str:
    return "" if moment is None else moment.date().isoformat()


def unique_identifiers(features: Iterable[str]) -> dict[str, set[str]]:
    """Sort → values, of the identifiers that a thing has one of."""
    found: dict[str, set[str]] = defaultdict(set)
    for feature in features:
        if feature.startswith("i:"):
            sort, _, value = feature[2:].partition(":")
            if sort in UNIQUE:
                found[sort].add(value)
    return found
