"""Vocabularies that many share, as small files of terms in words of our own, added to a base by name.

A pack names the terms of a public vocabulary by their IRIs and says where they come from and under which licence;
labels, descriptions and what is disjoint are ours. ``alignments.yaml`` lists IRIs that mean the same, so that two packs
give one class of people.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from substrate.errors import NotFound
from substrate.ontology.terms import Ontology

PACKS = ("foaf", "org", "prov", "schema")


@dataclass(frozen=True, slots=True)
class Pack:
    """A vocabulary as a pack. `licence` is that of the vocabulary, whose IRIs it uses."""

    name: str
    title: str
    source: str
    licence: str
    ontology: Ontology


def load_pack(name: str) -> Pack:
    """Raises `NotFound` for a name that is not one of `PACKS`."""
    if name not in PACKS:
        raise NotFound(f"no pack {name!r}; there are {', '.join(PACKS)}", field="pack")
    said = _yaml(f"{name}.yaml")
    about = said.pop("pack")
    return Pack(
        name, about["title"], about["source"], about["licence"], Ontology.model_validate(_full(said, about["space"]))
    )


def list_packs() -> list[dict[str, Any]]:
    """Each pack with how much it declares."""
    found = []
    for pack in map(load_pack, PACKS):
        said = {"name": pack.name, "title": pack.title, "source": pack.source, "licence": pack.licence}
        attributes = sum(r.kind == "attribute" for r in pack.ontology.relations)
        sizes = {"classes": len(pack.ontology.classes), "attributes": attributes}
        found.append({**said, **sizes, "relations": len(pack.ontology.relations) - attributes})
    return found


@cache
def same_meaning() -> Mapping[str, str]:
    """IRI → the first of the IRIs that mean the same."""
    groups: list[list[str]] = _yaml("alignments.yaml")["groups"]
    return {iri: group[0] for group in groups for iri in group}


def _yaml(name: str) -> Any:
    import yaml

    return yaml.safe_load(files(__package__).joinpath(name).read_text(encoding="utf-8"))


def _full(said: Mapping[str, Any], space: str) -> dict[str, Any]:
    """With whole IRIs: the files give the last part alone."""
    return {
        part: [{**term, "iri": term["iri"] if ":" in term["iri"] else space + term["iri"]} for term in terms]
        for part, terms in said.items()
    }
