"""Binding: which relation a claim's phrase names, in which direction, and whether its object is a thing or a literal.

Computed and repeatable: it reads the ontology, what was decided of phrases, and the claim alone. A person's decision
comes first, then the words that relations declare, then their concepts, then what similarity or two votes decided. An
unbound phrase is legal; the fact then carries the source's phrase and no predicate.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

from substrate.extraction.claims import Value
from substrate.ledger.drafts import KNOWN_AS
from substrate.ontology.phrases import plain_phrase
from substrate.ontology.synonyms import near, words_of
from substrate.ontology.terms import Decided, Ontology, Relation

_UNIT = re.compile(r"[(（\[][^)）\]]*[)）\]]\s*$")
"""The unit that a column's header carries: "Salary (EUR)"."""
NAMING = frozenset(
    plain_phrase(p) for p in ("known as", "also known as", "formerly known as", "aka", "renamed", "renamed to", "alias")
)


@dataclass(frozen=True, slots=True)
class Bound:
    """A claim's relation. Exactly one of `object_name` and `value` is set."""

    predicate_key: str | None
    subject_name: str
    object_name: str | None
    value: Value | None
    subject_kind: str | None = None
    object_kind: str | None = None


def bind(
    ontology: Ontology,
    *,
    subject: str,
    phrase: str,
    object_name: str | None,
    value: Value | None,
    subject_kind: str | None = None,
    object_kind: str | None = None,
    wording: str = "",
) -> Bound:
    """Bind one claim: by the source's own `wording` where that names a relation straight, else by its phrase."""
    unbound = Bound(None, subject, object_name, value, subject_kind, object_kind)
    if plain_phrase(phrase) in NAMING:
        return Bound(KNOWN_AS, subject, None, value or Value(object_name or ""), subject_kind)
    hit = _hit(ontology, phrase, wording, object_kind == "person")
    if hit is None:
        return unbound
    relation = hit.relation
    if relation.kind == "attribute":
        literal = value or Value(object_name or "")
        return Bound(relation.key, subject, None, _with_unit(literal, relation), subject_kind)
    if value is not None and (value.number is not None or value.datatype == "bool"):
        return unbound  # a number is not a thing
    other = object_name if object_name is not None else value.raw if value is not None else ""
    if _swaps(ontology, hit, subject_kind, object_kind):
        return Bound(relation.key, other, subject, None, object_kind, subject_kind)
    return Bound(relation.key, subject, other, None, subject_kind, object_kind)


class Hit(NamedTuple):
    """A relation, whether it is named backwards, and who or what says so."""

    relation: Relation
    backwards: bool
    source: Literal["person", "words", "machine"]


def _hit(ontology: Ontology, phrase: str, wording: str, of_person: bool) -> Hit | None:
    plain = _UNIT.sub("", wording).strip()
    said = [d for text in (plain, phrase) if (d := _said(ontology, text)) is not None]
    for decided in said:
        if decided.by_person:
            return _of(ontology, decided)
    found = named(ontology, phrase, plain, of_person)
    if found is not None:
        return Hit(*found[:2], "words")
    left = _said(ontology, phrase)
    return _of(ontology, left) if left is not None else None


def told_by_wording(ontology: Ontology, phrase: str, wording: str) -> bool:
    """Does a claim's wording, other than its phrase, settle what it says, so that nothing hangs on the phrase?"""
    plain = _UNIT.sub("", wording).strip()
    if plain_phrase(plain) == plain_phrase(phrase):
        return False
    said = _said(ontology, plain)
    worded = ontology.bind(plain) if plain else None
    return (said is not None and said.by_person) or (worded is not None and not worded[1])


def _said(ontology: Ontology, text: str) -> Decided | None:
    """What was decided of a text, unless the relation is declared no more."""
    found = ontology.decided.get(plain_phrase(text)) if text and ontology.decided else None
    return found if found is None or found.relation is None or found.relation in ontology.by_key else None


def _of(ontology: Ontology, said: Decided) -> Hit | None:
    if said.relation is None:
        return None
    return Hit(ontology.by_key[said.relation], said.backwards, "person" if said.by_person else "machine")


def named(
    ontology: Ontology, phrase: str, wording: str = "", of_person: bool = False
) -> tuple[Relation, bool, Literal["exact", "concept"]] | None:
    """What the declared words name. The wording tells apart what the plain phrase folds together (monthly from yearly
    pay). Its direction is the sentence's, not the claim's, so that a backwards match of it says nothing. Then the
    phrase itself, then its concept."""
    worded = ontology.bind(wording) if wording else None
    if worded is not None and not worded[1]:
        return *worded, "exact"
    direct = ontology.bind(phrase)
    if direct is not None:
        return *direct, "exact"
    own = _by_concept(ontology, phrase)
    if own is not None or of_person:
        return None if own is None else (*own, "concept")
    hits = [hit for other in near(phrase) if (hit := ontology.bind(other) or _by_concept(ontology, other)) is not None]
    return (*hits[0], "concept") if hits and len({relation.key for relation, _ in hits}) == 1 else None


def _by_concept(ontology: Ontology, phrase: str) -> tuple[Relation, bool] | None:
    """The one declared relation that any word for the concept of `phrase` names; None where there are several."""
    found: dict[str, tuple[Relation, bool]] = {}
    for word, turned in words_of(phrase).items():
        if (hit := ontology.bind(word)) is not None:
            relation, backwards = hit
            # Words that a relation uses in both directions (lead, chair) are settled by the kinds of the two ends.
            known = found.get(relation.key)
            if known is None or known[1]:
                found[relation.key] = relation, backwards != turned
    return next(iter(found.values())) if len(found) == 1 else None


def _with_unit(value: Value, relation: Relation) -> Value:
    """A bare number takes the unit its attribute declares, so that "32,000" and "32,000 CNY" are one value."""
    if value.number is None or value.unit is not None or relation.unit is None:
        return value
    return Value(value.raw, value.number, relation.unit, value.datatype)


def _swaps(ontology: Ontology, hit: Hit, subject_kind: str | None, object_kind: str | None) -> bool:
    """Do subject and object change places? What a person said holds; else the kinds may tell, as for a table with a
    project per row and a column "Lead"."""
    told = None if hit.source == "person" else by_kinds(ontology, hit.relation, subject_kind, object_kind)
    if hit.source == "machine" and told is not None:
        return told
    return hit.backwards or told is True


def by_kinds(
    ontology: Ontology, relation: Relation, subject_kind: str | None, object_kind: str | None, *, half: bool = False
) -> bool | None:
    """Whether the kinds of the ends fit the other way round alone (True), straight alone (False), or tell nothing.

    `half`: also where the relation declares a kind for one of its ends alone.
    """
    if not (half or (relation.domain and relation.range)):
        return None
    straight = fits(ontology, subject_kind, relation.domain), fits(ontology, object_kind, relation.range)
    crossed = fits(ontology, subject_kind, relation.range), fits(ontology, object_kind, relation.domain)
    if False in straight and True in crossed and False not in crossed:
        return True
    return False if False in crossed and True in straight and False not in straight else None


def fits(ontology: Ontology, kind: str | None, allowed: tuple[str, ...]) -> bool | None:
    """Is a thing of that kind allowed there? None where nothing is asked or the kind is not known to the base."""
    key = ontology.class_by_word.get(plain_phrase(kind)) if kind else None
    if key is None or not allowed:
        return None
    return any(key in ontology.ancestors(a) or a in ontology.ancestors(key) for a in allowed)
