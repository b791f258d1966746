"""OWL, RDF Schema and SKOS as terms of ours: what a graph declares, whatever syntax it was written in.

Taken: named classes with parents and disjointness, SKOS concepts as classes under their broader ones, properties with
their characteristics, ends, inverse and super-properties, labels and other words, definitions, IRIs. Left out and
counted in notes: restrictions and other class expressions, individuals, annotation properties, imports, what is
deprecated, and names of what the file does not declare.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Literal, TypeVar

from pydantic import ValidationError

from substrate.errors import InvalidInput
from substrate.ontology.classes import Term
from substrate.ontology.files import MOST_TERMS, Reading
from substrate.ontology.rdf_guard import guard_json, guard_xml
from substrate.ontology.rdf_words import FLAGS, OURS, READ_AS, TERM, XSD
from substrate.ontology.terms import OntologyClass, Relation

MOST_TRIPLES = 400_000
MOST_DISJOINT = 200
"""Classes of one group of which each is disjoint with each."""
MOST_KEY = 40
_PARSERS = {"turtle": "turtle", "rdfxml": "xml"}
T = TypeVar("T", OntologyClass, Relation)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_LANGUAGES = ("en", "en-us", "en-gb", "", "de", "fr", "zh")
"""In which language a label is taken first; labels in others become other words for the term."""


def read_rdf(text: str, written_as: Literal["turtle", "rdfxml", "jsonld"]) -> Reading:
    """The terms of an RDF file. Raises `InvalidInput` for one that cannot be read or may not be (`rdf_guard`)."""
    graph = _parsed(text, written_as)
    if len(graph) > MOST_TRIPLES:
        raise InvalidInput(f"the file has {len(graph)} statements; at most {MOST_TRIPLES} are taken", field="file")
    return _Reader(graph).reading()


def _parsed(text: str, written_as: str) -> Any:
    from rdflib import Graph
    from rdflib.plugins.parsers.jsonld import to_rdf

    graph = Graph()
    try:
        if written_as == "jsonld":
            # Into one graph, also what the file puts into several: all of it is declared.
            to_rdf(guard_json(text), graph, base="urn:twoclocks:file")
        else:
            if written_as == "rdfxml":
                guard_xml(text)
            graph.parse(data=text, format=_PARSERS[written_as], publicID="urn:twoclocks:file")
    except InvalidInput:
        raise
    except RecursionError:
        raise InvalidInput("the file is nested too deep", field="file") from None
    except Exception as error:  # a reader of foreign files raises what it likes; nothing was written yet
        raise InvalidInput(f"the file cannot be read as {written_as}: {_line(error)}", field="file") from error
    return graph


def _line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]


class _Reader:
    """One graph, read into terms in the order of IRIs, so that the same graph gives the same terms."""

    def __init__(self, graph: Any) -> None:
        from rdflib.namespace import OWL, RDF, RDFS, SKOS, Namespace

        self.graph, self.owl, self.rdf, self.rdfs, self.skos = graph, OWL, RDF, RDFS, SKOS
        self.ours = Namespace(OURS)
        self.schemas = (Namespace("https://schema.org/"), Namespace("http://schema.org/"))
        self.left_out: Counter[str] = Counter()
        self.whole = (None, RDF.type, self.ours.Ontology) in graph
        self.classes = self._named(self._typed(OWL.Class, RDFS.Class, SKOS.Concept))
        self.properties = self._named(self._typed(*self._property_kinds())) - self.classes
        if len(self.classes) + len(self.properties) > MOST_TERMS:
            many = len(self.classes) + len(self.properties)
            raise InvalidInput(f"the file declares {many} terms; at most {MOST_TERMS} are taken", field="file")
        self.keys = self._given_keys()
        self.apart = self._all_disjoint()

    def reading(self) -> Reading:
        """Every term, and what was left out."""
        terms: list[Term] = [self._class(iri) for iri in sorted(self.classes)]
        terms += [self._relation(iri) for iri in sorted(self.properties)]
        return Reading(tuple(sorted(terms, key=lambda t: t.key)), self.whole, tuple(self._notes()))

    # What is declared

    def _property_kinds(self) -> Iterator[Any]:
        yield from (self.owl.ObjectProperty, self.owl.DatatypeProperty, self.rdf.Property)
        yield from (self.owl[name] for name in FLAGS.values())

    def _typed(self, *kinds: Any) -> set[Any]:
        return {s for kind in kinds for s in self.graph.subjects(self.rdf.type, kind)}

    def _named(self, nodes: Iterable[Any]) -> set[Any]:
        from rdflib import Literal as Text
        from rdflib import URIRef

        found = {n for n in nodes if isinstance(n, URIRef) and not self._builtin(n)}
        old = {n for n in found if (n, self.owl.deprecated, Text(True)) in self.graph}
        self.left_out["terms that are deprecated"] += len(old)
        return found - old

    def _builtin(self, iri: str) -> bool:
        """OWL's and RDF's own words are no terms of anybody's ontology."""
        return any(iri.startswith(str(space)) for space in (self.owl, self.rdf, self.rdfs, XSD, OURS))

    def _given_keys(self) -> Mapping[Any, str]:
        """A key for each term: its own in a file of ours, else from its IRI; the second of two alike gets a number."""
        found: dict[Any, str] = {}
        taken: set[str] = set()
        for iri in (*sorted(self.classes), *sorted(self.properties)):
            own = self._text(iri, self.ours.key)
            key = own if own is not None else _unused(self._key_of(iri), taken)
            found[iri] = key
            taken.add(key)
        return found

    def _key_of(self, iri: str) -> str:
        local = re.split(r"[#/:]", iri.rstrip("#/:"))[-1]
        return key_from(local) or key_from(self._label(iri) or "") or f"term_{sha256(iri.encode()).hexdigest()[:8]}"

    # Words

    def _literals(self, iri: Any, *predicates: Any) -> list[tuple[str, str]]:
        """(language, text) in a stable order, the preferred language first."""
        from rdflib import Literal as Text

        said = {
            (str(v.language or ""), str(v))
            for p in predicates
            for v in self.graph.objects(iri, p)
            if isinstance(v, Text)
        }
        place = {language: n for n, language in enumerate(_LANGUAGES)}
        return sorted(said, key=lambda s: (place.get(s[0].lower(), len(place)), s))

    def _text(self, iri: Any, *predicates: Any) -> str | None:
        found = self._literals(iri, *predicates)
        return found[0][1] if found else None

    def _label(self, iri: Any) -> str | None:
        for predicate in (self.skos.prefLabel, self.rdfs.label):
            if (found := self._text(iri, predicate)) and (self.whole or found.strip()):
                return found
        return None

    def _words(self, iri: Any) -> dict[str, Any]:
        local = re.split(r"[#/:]", iri.rstrip("#/:"))[-1]
        label = self._label(iri) or " ".join(_WORD.findall(local)).lower() or self.keys[iri]
        labels = (self.skos.prefLabel, self.rdfs.label) if not self.whole else ()
        others = self._literals(iri, *labels, self.skos.altLabel, self.skos.hiddenLabel)
        kept = (text for _, text in others if self.whole or (text.strip() and text != label))
        aliases = tuple(dict.fromkeys(kept))
        described = self._text(iri, self.skos.definition) or self._text(iri, self.rdfs.comment) or ""
        given = str(iri) if not iri.startswith(TERM) else None
        return {"key": self.keys[iri], "label": label, "aliases": aliases, "description": described, "iri": given}

    # Terms

    def _class(self, iri: Any) -> OntologyClass:
        above = [*self.graph.objects(iri, self.rdfs.subClassOf), *self.graph.objects(iri, self.skos.broader)]
        above += list(self.graph.subjects(self.skos.narrower, iri))
        apart = [*self.graph.objects(iri, self.owl.disjointWith), *self.apart.get(iri, ())]
        if not self.whole:
            apart += list(self.graph.subjects(self.owl.disjointWith, iri))
        parents = self._keys_of(above, self.classes, "parents", but=iri if not self.whole else None)
        disjoint = self._keys_of(apart, self.classes, "disjoint classes")
        return _made(OntologyClass, iri, {**self._words(iri), "parents": parents, "disjoint_with": disjoint})

    def _all_disjoint(self) -> dict[Any, set[Any]]:
        """Each class with those that a group of disjoint classes sets apart from it."""
        found: dict[Any, set[Any]] = defaultdict(set)
        for group in self._typed(self.owl.AllDisjointClasses):
            for head in self.graph.objects(group, self.owl.members):
                members = set(self._listed(head)) & self.classes
                if len(members) > MOST_DISJOINT:
                    told = f"{len(members)} classes are declared disjoint at once; at most {MOST_DISJOINT} are taken"
                    raise InvalidInput(told, field="file")
                for one in members:
                    found[one] |= members - {one}
        return found

    def _listed(self, head: Any) -> list[Any]:
        """The members of a list in RDF. Raises `InvalidInput` for one that comes back to itself."""
        try:
            return list(self.graph.items(head))
        except ValueError as error:
            raise InvalidInput(f"a list of the file has no end: {_line(error)}", field="file") from None

    def _relation(self, iri: Any) -> Relation:
        said: dict[str, Any] = {
            name: (iri, self.rdf.type, self.owl[word]) in self.graph for name, word in FLAGS.items()
        }
        said |= self._words(iri)
        ends = self._ends(iri, self.rdfs.range, "rangeIncludes")
        kind, datatype = self._kind(iri, ends)
        said |= {"kind": kind, "domain": self._domain(iri), "temporal": self._text(iri, self.ours.temporal) or "state"}
        said["sub_property_of"] = self._keys_of(
            self.graph.objects(iri, self.rdfs.subPropertyOf), self.properties, "super-properties"
        )
        if kind == "relation":
            said |= {"range": self._keys_of(ends, self.classes, "ranges"), "inverse_of": self._inverse(iri)}
        else:
            said |= {"datatype": datatype, "unit": self._text(iri, self.ours.unit)}
            said["inverse_of"] = self._inverse(iri) if self.whole else None
            if said["inverse_functional"]:
                said["inverse_functional"] = False
                self.left_out["attributes that identify their subject: taken as plain"] += 1
        for name, word in (("inverse_aliases", "inverseAlias"), ("qualifiers", "qualifier")):
            said[name] = tuple(text for _, text in self._literals(iri, self.ours[word]))
        if self.whole and kind == "attribute":
            said["range"] = tuple(text for _, text in self._literals(iri, self.ours.range))
        return _made(Relation, iri, said)

    def _domain(self, iri: Any) -> tuple[str, ...]:
        return self._keys_of(self._ends(iri, self.rdfs.domain, "domainIncludes"), self.classes, "domains")

    def _kind(self, iri: Any, ends: Sequence[Any]) -> tuple[str, str | None]:
        own = self._text(iri, self.ours.datatype)
        read = [READ_AS.get(str(end).removeprefix(XSD)) for end in ends if str(end).startswith(XSD)]
        literal = [end for end in ends if end in (self.rdfs.Literal, self.rdf.langString)]
        if (iri, self.rdf.type, self.owl.DatatypeProperty) in self.graph or (
            (read or literal) and (iri, self.rdf.type, self.owl.ObjectProperty) not in self.graph
        ):
            if self.whole:
                return "attribute", own
            return "attribute", next((r for r in read if r), "text" if read or literal else None)
        return "relation", None

    def _inverse(self, iri: Any) -> str | None:
        around = list(self.graph.objects(iri, self.owl.inverseOf))
        if not self.whole and not around:
            around = list(self.graph.subjects(self.owl.inverseOf, iri))
        return next(iter(self._keys_of(around, self.properties, "inverses")), None)

    def _ends(self, iri: Any, predicate: Any, included: str) -> list[Any]:
        """Named classes and datatypes at one end; the members of a union each."""
        found: list[Any] = []
        given = list(self.graph.objects(iri, predicate))
        for space in self.schemas:
            found += list(self.graph.objects(iri, space[included]))
        if len(given) > 1:
            self.left_out["ends that must be of several classes at once: taken as any of them"] += 1
        for node in given:
            union = self.graph.value(node, self.owl.unionOf)
            found += self._listed(union) if union is not None else [node]
        return found

    def _keys_of(self, nodes: Iterable[Any], among: set[Any], what: str, but: Any = None) -> tuple[str, ...]:
        from rdflib import URIRef

        found: list[str] = []
        for node in nodes:
            if node in among and node != but:
                found.append(self.keys[node])
            elif not isinstance(node, URIRef):
                self.left_out["class expressions"] += 1
            elif node not in among and not self._builtin(node):
                self.left_out[f"{what} that the file does not declare"] += 1
        return tuple(sorted(set(found)))

    def _notes(self) -> Iterator[str]:
        for address in sorted(map(str, self.graph.objects(None, self.owl.imports))):
            yield f"imports {address}, which is not fetched"
        self.left_out["annotation properties"] += len(self._typed(self.owl.AnnotationProperty) - self.properties)
        kinds = self.classes | {self.owl.NamedIndividual}
        individuals = {s for s, _, o in self.graph.triples((None, self.rdf.type, None)) if o in kinds}
        self.left_out["individuals"] += len(individuals - self.classes - self.properties)
        yield from (
            f"{n} {what}" + (" left out" if "taken" not in what else "")
            for what, n in sorted(self.left_out.items())
            if n
        )


def _made(kind: type[T], iri: str, fields: Mapping[str, Any]) -> T:
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise InvalidInput(
            f"{iri} {where}: {first['msg'].removeprefix('Value error, ')}", field=where or "file"
        ) from error


def key_from(name: str) -> str:
    """ "hasPart", "Has-Part" and "has part" give ``has_part``; a name without Latin letters or digits gives nothing."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return "_".join(_WORD.findall(plain)).lower()[:MOST_KEY].strip("_")


def _unused(key: str, taken: set[str]) -> str:
    number, found = 2, key
    while found in taken:
        tail = f"_{number}"
        found, number = key[: MOST_KEY - len(tail)] + tail, number + 1
    return found
