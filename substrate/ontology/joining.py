"""Which term of a base an asked-for term is: by its IRI, by an IRI that means the same, else by its key.

Two vocabularies call many things by one key; a term is never taken for another of the same key and a different IRI.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from substrate.errors import InvalidInput
from substrate.ontology.classes import SETS, Term, kind_of
from substrate.ontology.packs import same_meaning
from substrate.ontology.phrases import plain_phrase
from substrate.ontology.terms import OntologyClass

Joined = tuple[dict[str, Term], dict[str, str], tuple[str, ...]]
"""Terms by the base's keys; keys that are refused with the reason; notes."""


def joined(held: Mapping[str, Term], asked: Sequence[Term], mode: Literal["replace", "add"]) -> Joined:
    """The asked-for terms under the keys of the base; in mode ``add`` each as what is held and what it adds.

    Raises `InvalidInput` for a key that is asked for twice.
    """
    _once(asked)
    if mode == "replace":
        return {t.key: t for t in asked}, {}, ()
    groups = same_meaning()
    known = {_sense(groups, kind_of(t), t.iri): t.key for t in held.values() if t.iri}
    keys = {t.key: known.get(_sense(groups, kind_of(t), t.iri), t.key) if t.iri else t.key for t in asked}
    wanted: dict[str, Term] = {}
    refused: dict[str, str] = {}
    notes: list[str] = []
    for term in (_renamed(t, keys) for t in asked):
        old = wanted.get(term.key) or held.get(term.key)
        if old is None:
            wanted[term.key] = term
        elif kind_of(old) != kind_of(term):
            refused[term.key] = (
                f"the key is taken: {term.key} is declared as {_a(kind_of(old))}, not {_a(kind_of(term))}"
            )
        elif old.iri and term.iri and _sense(groups, kind_of(old), old.iri) != _sense(groups, kind_of(term), term.iri):
            refused[term.key] = f"the key is taken: {term.key} is {old.iri}, not {term.iri}"
        else:
            wanted[term.key] = united(old, term)
            if old.iri and term.iri and old.iri != term.iri:
                notes.append(f"{term.iri} is taken for {term.key}, which is {old.iri}")
    return wanted, refused, tuple(notes)


def united(old: Term, new: Term) -> Term:
    """`old` with what `new` says beside it: words, parents, ends and properties are added, nothing is taken away."""
    said: dict[str, Any] = {}
    for name in type(old).model_fields:
        mine, theirs = getattr(old, name), getattr(new, name)
        if name in SETS:
            said[name] = (*mine, *(t for t in theirs if t not in mine))
        elif isinstance(mine, bool):
            said[name] = mine or theirs
        else:
            said[name] = mine or theirs
    known = {plain_phrase(w) for w in (old.label, old.key.replace("_", " "), *said["aliases"])}
    if plain_phrase(new.label) not in known:
        said["aliases"] = (*said["aliases"], new.label)
    return type(old).model_validate(said)


def _once(asked: Sequence[Term]) -> None:
    if twice := sorted(key for key, n in Counter(t.key for t in asked).items() if n > 1):
        raise InvalidInput(f"ontology: declared twice: {', '.join(twice)}", field="key")


def _sense(groups: Mapping[str, str], kind: str, iri: str) -> tuple[bool, str]:
    return kind == "class", groups.get(iri, iri)


def _renamed(term: Term, keys: Mapping[str, str]) -> Term:
    if all(a == b for a, b in keys.items()):
        return term

    def key(name: str) -> str:
        return keys.get(name, name)

    def each(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(map(key, names)))

    if isinstance(term, OntologyClass):
        parents = tuple(p for p in each(term.parents) if p != key(term.key))
        return term.model_copy(
            update={"key": key(term.key), "parents": parents, "disjoint_with": each(term.disjoint_with)}
        )
    ends = each(term.range) if term.kind == "relation" else term.range
    above = tuple(p for p in each(term.sub_property_of) if p != key(term.key))
    inverse = key(term.inverse_of) if term.inverse_of else None
    update = {"key": key(term.key), "domain": each(term.domain), "range": ends, "sub_property_of": above}
    return term.model_copy(update={**update, "inverse_of": inverse})


def _a(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
