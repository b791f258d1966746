"""What follows from the parents and the disjointness of classes, and when two terms say the same.

Everything here is safe on cycles: a hierarchy with one is a defect that a person mends, not an error that stops reads.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from substrate.ontology.terms import Ontology, OntologyClass, Relation

Term = OntologyClass | Relation
SETS = frozenset(
    {"aliases", "inverse_aliases", "parents", "disjoint_with", "sub_property_of", "domain", "range", "qualifiers"}
)
"""Fields whose order says nothing."""


class Disjoint(NamedTuple):
    """Two declared disjoint classes, each with everything below it."""

    left: str
    right: str
    below_left: frozenset[str]
    below_right: frozenset[str]


def kind_of(term: Term) -> str:
    """``class``, ``relation`` or ``attribute``."""
    return term.kind if isinstance(term, Relation) else "class"


def terms_of(ontology: Ontology) -> dict[str, Term]:
    """Every term by its key, in the order of keys."""
    found: list[Term] = [*ontology.classes, *ontology.relations]
    return {t.key: t for t in sorted(found, key=lambda t: t.key)}


def ontology_of(terms: Iterable[Term]) -> Ontology:
    """The terms as an ontology. Raises ``ValidationError`` where one names what is not among them."""
    listed = sorted(terms, key=lambda t: t.key)
    return Ontology(
        classes=tuple(t for t in listed if isinstance(t, OntologyClass)),
        relations=tuple(t for t in listed if isinstance(t, Relation)),
    )


def meaning(term: Term) -> dict[str, Any]:
    """The fields of a term in the one form under which two of them are compared."""
    said = term.model_dump(mode="json")
    return {k: sorted(set(v)) if k in SETS else v for k, v in said.items()}


def changed_fields(old: Term, new: Term) -> tuple[str, ...]:
    """Names of the fields in which two terms differ; a class has no field of a relation."""
    a, b = meaning(old), meaning(new)
    return tuple(sorted(k for k in a.keys() | b.keys() if a.get(k) != b.get(k)))


def names_of_others(term: Term) -> Iterator[tuple[str, str]]:
    """(field, key) of each other term that this one names. The range of an attribute is no class."""
    if isinstance(term, OntologyClass):
        fields: tuple[tuple[str, Iterable[str]], ...] = (
            ("parents", term.parents),
            ("disjoint_with", term.disjoint_with),
        )
    else:
        ends = term.range if term.kind == "relation" else ()
        inverse = (term.inverse_of,) if term.inverse_of else ()
        fields = (("domain", term.domain), ("range", ends), ("sub_property_of", term.sub_property_of),
                  ("inverse_of", inverse))  # fmt: skip
    for field, keys in fields:
        yield from ((field, key) for key in keys)


def below(ontology: Ontology) -> Mapping[str, frozenset[str]]:
    """Each class with itself and every class beneath it."""
    children: dict[str, list[str]] = defaultdict(list)
    for one in ontology.classes:
        for parent in one.parents:
            children[parent].append(one.key)
    return {one.key: _reached(one.key, children) for one in ontology.classes}


def _reached(start: str, onward: Mapping[str, Iterable[str]]) -> frozenset[str]:
    found, todo = {start}, [start]
    while todo:
        for other in onward.get(todo.pop(), ()):
            if other not in found:
                found.add(other)
                todo.append(other)
    return frozenset(found)


def disjoint_pairs(ontology: Ontology) -> list[Disjoint]:
    """Every declared pair once, whichever of the two declares it; a class disjoint with itself is left to `defects`."""
    subtree = below(ontology)
    pairs = {
        (min(one.key, other), max(one.key, other))
        for one in ontology.classes
        for other in one.disjoint_with
        if other != one.key and other in subtree
    }
    return [Disjoint(a, b, subtree[a], subtree[b]) for a, b in sorted(pairs)]


def cycles(onward: Mapping[str, Iterable[str]]) -> list[tuple[str, ...]]:
    """Sets of keys that reach one another, each sorted, in order; a key that names itself is one too."""
    reached = {key: _reached(key, onward) for key in onward}
    found = {tuple(sorted(k for k in around if key in reached.get(k, frozenset()))) for key, around in reached.items()}
    return sorted(loop for loop in found if len(loop) > 1 or loop[0] in set(onward.get(loop[0], ())))
