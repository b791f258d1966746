"""The ontology of a base: classes, relations and attributes, and the phrases that bind to them.

Kept as one YAML file per base and as rows on the record clock. Unknown fields are refused, so that a misspelt flag
does not silently change what the ledger does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Literal, NamedTuple

import yaml
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, model_validator

from substrate.documents.checks import check_text
from substrate.errors import InvalidInput
from substrate.ledger.spans import Temporal
from substrate.ontology.phrases import plain_phrase

_KEY = r"^[a-z0-9_]{1,40}$"


class OntologyClass(BaseModel):
    """A kind of thing. A class may have several parents."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str = Field(pattern=_KEY)
    label: str = Field(min_length=1)
    aliases: tuple[str, ...] = ()
    description: str = ""
    iri: str | None = None
    parents: tuple[str, ...] = ()
    disjoint_with: tuple[str, ...] = ()


class Relation(BaseModel):
    """A relation between entities, or an attribute with a literal value (`kind`)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str = Field(pattern=_KEY)
    label: str = Field(min_length=1)
    kind: Literal["relation", "attribute"] = "relation"
    aliases: tuple[str, ...] = ()
    """Phrases that mean the same in the same direction."""
    inverse_aliases: tuple[str, ...] = ()
    """Phrases that mean the same with subject and object exchanged ("led by")."""
    description: str = ""
    iri: str | None = None
    temporal: Temporal = "state"
    functional: bool = False
    """One object per subject at a time."""
    inverse_functional: bool = False
    """One subject per object at a time."""
    transitive: bool = False
    symmetric: bool = False
    asymmetric: bool = False
    irreflexive: bool = False
    inverse_of: str | None = None
    sub_property_of: tuple[str, ...] = ()
    domain: tuple[str, ...] = ()
    range: tuple[str, ...] = ()
    datatype: Literal["text", "number", "money", "date", "bool"] | None = None
    unit: str | None = None
    qualifiers: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _lists(cls, data: object) -> object:
        if not isinstance(data, Mapping):
            return data
        many = ("domain", "range", "sub_property_of")
        return {k: [v] if k in many and isinstance(v, str) else v for k, v in data.items() if v is not None}

    @model_validator(mode="after")
    def _attribute_rules(self) -> Relation:
        if self.kind == "attribute" and self.inverse_functional:
            raise ValueError("an attribute cannot be inverse functional")
        if self.kind == "relation" and (self.datatype or self.unit):
            raise ValueError("datatype and unit belong to an attribute")
        return self


class Decided(NamedTuple):
    """What was decided of a phrase, beside the words that relations declare; `relation` None: it names none."""

    relation: str | None
    backwards: bool
    by_person: bool


class Ontology(BaseModel):
    """Everything a base declares. `relations` holds attributes too."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    classes: tuple[OntologyClass, ...] = ()
    relations: tuple[Relation, ...] = ()
    _decided: Mapping[str, Decided] = PrivateAttr(default_factory=dict)

    @property
    def decided(self) -> Mapping[str, Decided]:
        """Plain phrase → what a person, a similarity or two votes decided of it (see `bindings`)."""
        return self._decided

    def deciding(self, decided: Mapping[str, Decided]) -> Ontology:
        """The same declarations, with phrases decided so."""
        other = self.model_copy()
        other._decided = dict(decided)
        return other

    @model_validator(mode="before")
    @classmethod
    def _attributes(cls, data: object) -> object:
        """A file may list attributes apart; they are relations whose kind is attribute."""
        if not isinstance(data, Mapping) or "attributes" not in data:
            return data
        rest = {k: v for k, v in data.items() if k != "attributes"}
        listed = {name: data.get(name) or [] for name in ("relations", "attributes")}
        for name, entries in listed.items():
            if not isinstance(entries, list | tuple) or not all(isinstance(e, Mapping | BaseModel) for e in entries):
                raise ValueError(f"{name}: must be a list of entries, each with its fields")
        attributes = [{"kind": "attribute", **a} for a in listed["attributes"]]
        return {**rest, "relations": [*listed["relations"], *attributes]}

    @model_validator(mode="after")
    def _references(self) -> Ontology:
        keys = [c.key for c in self.classes] + [r.key for r in self.relations]
        if twice := sorted(k for k, n in Counter(keys).items() if n > 1):
            raise ValueError(f"declared twice: {', '.join(twice)}")
        classes, relations = {c.key for c in self.classes}, {r.key for r in self.relations}
        wanted = [(c.key, p, classes) for c in self.classes for p in (*c.parents, *c.disjoint_with)]
        wanted += [(r.key, c, classes) for r in self.relations for c in r.domain]
        wanted += [(r.key, c, classes) for r in self.relations if r.kind == "relation" for c in r.range]
        wanted += [(r.key, p, relations) for r in self.relations for p in r.sub_property_of]
        wanted += [(r.key, r.inverse_of, relations) for r in self.relations if r.inverse_of]
        if missing := [f"{key} names {other}" for key, other, known in wanted if other not in known]:
            raise ValueError("; ".join(missing) + ", which is not declared")
        return self

    @cached_property
    def by_key(self) -> dict[str, Relation]:
        return {r.key: r for r in self.relations}

    @cached_property
    def by_phrase(self) -> dict[str, tuple[Relation, bool]]:
        """Plain phrase → relation and whether subject and object change places. The first declared wins."""
        found: dict[str, tuple[Relation, bool]] = {}
        for exact in (True, False):
            for relation in self.relations:
                words = [relation.label, relation.key.replace("_", " ")] if exact else relation.aliases
                for text in words:
                    found.setdefault(plain_phrase(text), (relation, False))
        for relation in self.relations:
            for text in relation.inverse_aliases:
                found.setdefault(plain_phrase(text), (relation, True))
        return found

    @cached_property
    def class_by_word(self) -> dict[str, str]:
        """Plain class word → class key."""
        words = [(w, c.key) for c in self.classes for w in (c.key.replace("_", " "), c.label, *c.aliases)]
        return {plain_phrase(word): key for word, key in reversed(words)}

    @cached_property
    def _parents(self) -> dict[str, tuple[str, ...]]:
        return {c.key: c.parents for c in self.classes}

    def ancestors(self, key: str) -> set[str]:
        """A class with everything above it; safe on cycles."""
        found: set[str] = set()
        todo = [key]
        while todo:
            current = todo.pop()
            if current not in found:
                found.add(current)
                todo.extend(self._parents.get(current, ()))
        return found

    def bind(self, phrase: str) -> tuple[Relation, bool] | None:
        """The relation a phrase names and whether it names it backwards; None leaves it unbound, which is legal."""
        return self.by_phrase.get(plain_phrase(phrase))

    def temporal(self, predicate_key: str | None) -> Temporal:
        """How a relation lives in time; names are eternal until someone dates them."""
        if predicate_key == "known_as":
            return "eternal"
        relation = self.by_key.get(predicate_key or "")
        return relation.temporal if relation else "state"

    def unique(self, predicate_key: str | None) -> tuple[bool, bool]:
        """(functional, inverse functional); only a state can be either."""
        relation = self.by_key.get(predicate_key or "")
        if relation is None or relation.temporal != "state":
            return False, False
        return relation.functional, relation.inverse_functional


EMPTY = Ontology()


def parse_ontology(text: str) -> Ontology:
    """Read one YAML file. Raises `InvalidInput` naming the entry and the field."""
    try:
        data = yaml.load(text, Loader=yaml.CSafeLoader) or {}
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: a date that does not exist
        raise InvalidInput(f"the ontology is not valid YAML: {error}", field="ontology") from error
    _check_texts(data, "ontology")
    try:
        return Ontology.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "ontology"
        raise InvalidInput(f"ontology {where}: {first['msg']}", field=where) from error


def _check_texts(data: object, where: str) -> None:
    """Raise `InvalidInput` for a text that cannot be stored: an escape in YAML can spell any character."""
    if isinstance(data, str):
        check_text(data, where, blank=True, most=len(data))
    elif isinstance(data, Mapping):
        for key, value in data.items():
            _check_texts(key, where)
            _check_texts(value, str(key))
    elif isinstance(data, list):
        for value in data:
            _check_texts(value, where)
