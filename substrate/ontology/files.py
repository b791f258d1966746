"""The ontology of a base as one file, and files of others as terms of ours.

What is written here is read back as the same terms: planning an export changes nothing. A file of ours (YAML, or Turtle
that says so) is the whole ontology; any other RDF is added to what there is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Literal

from substrate.documents.checks import check_text
from substrate.errors import InvalidInput
from substrate.ontology.classes import Term, kind_of, terms_of
from substrate.ontology.terms import Ontology, parse_ontology

Format = Literal["yaml", "turtle", "rdfxml", "jsonld"]
FORMATS: tuple[Format, ...] = ("yaml", "turtle", "rdfxml", "jsonld")
MOST_BYTES = 8 * 1024 * 1024
"""Of one file; a larger ontology is to be cut by whoever knows where."""
MOST_TERMS = 20_000
_SUFFIXES: Mapping[str, Format] = {
    ".yaml": "yaml", ".yml": "yaml", ".ttl": "turtle", ".turtle": "turtle", ".n3": "turtle", ".nt": "turtle",
    ".owl": "rdfxml", ".rdf": "rdfxml", ".xml": "rdfxml", ".jsonld": "jsonld", ".json": "jsonld",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reading:
    """What a file declares. `whole`: it is an ontology of ours, and what it leaves out is not declared."""

    terms: tuple[Term, ...]
    whole: bool
    notes: tuple[str, ...] = ()
    """What was left out of the file, and why, with numbers."""


def format_of(name: str) -> Format:
    """The format that a file's name says. Raises `InvalidInput` for any other."""
    found = _SUFFIXES.get(PurePath(name).suffix.lower())
    if found is None:
        raise InvalidInput(f"{name}: say the format, one of {', '.join(FORMATS)}", field="format")
    return found


def read_file(data: bytes, written_as: Format) -> Reading:
    """The terms of a file. Raises `InvalidInput` that says what is wrong with it, before anything of it is believed."""
    if len(data) > MOST_BYTES:
        raise InvalidInput(f"the file has {len(data)} bytes; at most {MOST_BYTES} are taken", field="file")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"the file is not UTF-8 text (byte {error.start})", field="file") from None
    reading = _read(text, written_as)
    for term in reading.terms:
        check_term(term)
    if len(reading.terms) > MOST_TERMS:
        raise InvalidInput(
            f"the file declares {len(reading.terms)} terms; at most {MOST_TERMS} are taken", field="file"
        )
    return reading


def check_term(term: Term) -> None:
    """Raise `InvalidInput` for a text of a term that cannot be stored."""
    for field, value in term.model_dump(mode="json").items():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str):
                check_text(text, field, blank=True, most=len(text))


def _read(text: str, written_as: Format) -> Reading:
    if written_as == "yaml":
        return Reading(tuple(terms_of(parse_ontology(text)).values()), True)
    from substrate.ontology.rdf_reading import read_rdf

    return read_rdf(text, written_as)


def write_yaml(ontology: Ontology) -> str:
    """The file: terms by key, each with the fields that say something."""
    import yaml

    lists: dict[str, list[dict[str, Any]]] = {"classes": [], "relations": [], "attributes": []}
    places = {"class": "classes", "relation": "relations", "attribute": "attributes"}
    for term in terms_of(ontology).values():
        lists[places[kind_of(term)]].append(_said(term))

    class Dumper(yaml.SafeDumper):
        """Of its own, since representers belong to the class."""

    Dumper.add_representer(str, _quoted)
    return str(yaml.dump(lists, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=1000))


def _quoted(dumper: Any, text: str) -> Any:
    """What prints nothing is escaped: some of it ends a line for a reader of YAML, and would come back as a space."""
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if text.isprintable() else '"')


def _said(term: Term) -> dict[str, Any]:
    fields = term.model_dump(mode="json", exclude_defaults=True)
    fields.pop("kind", None)
    return {"key": term.key, "label": term.label, **{k: v for k, v in fields.items() if k not in ("key", "label")}}


def write_turtle(ontology: Ontology) -> str:
    """The same as RDF: OWL where OWL has a word for it, SKOS for words, our own vocabulary for the rest."""
    from substrate.ontology.rdf_writing import write

    return write(ontology)
