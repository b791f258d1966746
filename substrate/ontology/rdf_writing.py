"""The ontology of a base as Turtle that is read back as the same terms."""

from __future__ import annotations

import re
from typing import Any

from substrate.errors import InvalidInput
from substrate.ontology.classes import Term, terms_of
from substrate.ontology.rdf_words import DATATYPES, FLAGS, OURS, TERM, XSD
from substrate.ontology.terms import Ontology, OntologyClass, Relation

_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`\x00-\x20]+")


def is_iri(text: str) -> bool:
    """An absolute IRI that can be written in RDF."""
    return bool(_IRI.fullmatch(text))


def write(ontology: Ontology) -> str:
    """Turtle. Raises `InvalidInput` for an IRI that is none or that two terms share."""
    from rdflib import BNode, Graph, Literal, URIRef
    from rdflib.namespace import OWL, RDF, RDFS, SKOS

    terms = terms_of(ontology)
    graph = Graph()
    for prefix, space in (("tc", OURS), ("term", TERM), ("owl", OWL), ("skos", SKOS), ("xsd", XSD)):
        graph.bind(prefix, space)
    iris = {key: URIRef(iri) for key, iri in _iris(terms).items()}
    ours = {name: URIRef(OURS + name) for name in
            ("Ontology", "key", "temporal", "unit", "datatype", "inverseAlias", "qualifier", "range")}  # fmt: skip
    graph.add((BNode("file"), RDF.type, ours["Ontology"]))
    for key, term in terms.items():
        me = iris[key]
        graph.add((me, ours["key"], Literal(key)))
        graph.add((me, SKOS.prefLabel, Literal(term.label)))
        for alias in term.aliases:
            graph.add((me, SKOS.altLabel, Literal(alias)))
        if term.description:
            graph.add((me, SKOS.definition, Literal(term.description)))
        if isinstance(term, OntologyClass):
            graph.add((me, RDF.type, OWL.Class))
            _all(graph, me, RDFS.subClassOf, [iris[p] for p in term.parents])
            _all(graph, me, OWL.disjointWith, [iris[p] for p in term.disjoint_with])
        else:
            _relation(graph, me, term, iris, ours)
    return str(graph.serialize(format="turtle"))


def _relation(graph: Any, me: Any, term: Relation, iris: Any, ours: Any) -> None:
    from rdflib import Literal, URIRef
    from rdflib.namespace import OWL, RDF, RDFS

    attribute = term.kind == "attribute"
    graph.add((me, RDF.type, OWL.DatatypeProperty if attribute else OWL.ObjectProperty))
    _all(graph, me, RDF.type, [OWL[word] for name, word in FLAGS.items() if getattr(term, name)])
    _all(graph, me, RDFS.subPropertyOf, [iris[p] for p in term.sub_property_of])
    _all(graph, me, OWL.inverseOf, [iris[term.inverse_of]] if term.inverse_of else [])
    _end(graph, me, RDFS.domain, [iris[p] for p in term.domain])
    if attribute:
        _all(graph, me, ours["range"], [Literal(r) for r in term.range])
        _all(graph, me, RDFS.range, [URIRef(XSD + DATATYPES[term.datatype])] if term.datatype else [])
        _all(graph, me, ours["datatype"], [Literal(term.datatype)] if term.datatype else [])
        _all(graph, me, ours["unit"], [Literal(term.unit)] if term.unit is not None else [])
    else:
        _end(graph, me, RDFS.range, [iris[p] for p in term.range])
    graph.add((me, ours["temporal"], Literal(term.temporal)))
    _all(graph, me, ours["inverseAlias"], [Literal(a) for a in term.inverse_aliases])
    _all(graph, me, ours["qualifier"], [Literal(q) for q in term.qualifiers])


def _all(graph: Any, me: Any, predicate: Any, values: list[Any]) -> None:
    for value in values:
        graph.add((me, predicate, value))


def _end(graph: Any, me: Any, predicate: Any, classes: list[Any]) -> None:
    """Several classes at one end mean any of them, which OWL calls their union."""
    from rdflib import BNode
    from rdflib.collection import Collection
    from rdflib.namespace import OWL, RDF

    if len(classes) < 2:
        _all(graph, me, predicate, classes)
        return
    union, members = BNode(), BNode()
    Collection(graph, members, classes)
    for triple in ((union, RDF.type, OWL.Class), (union, OWL.unionOf, members), (me, predicate, union)):
        graph.add(triple)


def _iris(terms: dict[str, Term]) -> dict[str, str]:
    found: dict[str, str] = {}
    taken: dict[str, str] = {}
    for key, term in terms.items():
        iri = TERM + key if term.iri is None else term.iri
        if not is_iri(iri) or (term.iri is not None and iri.startswith(TERM)):
            raise InvalidInput(f"{key} iri: {iri!r} is no absolute IRI; export as YAML", field="iri")
        if iri in taken:
            raise InvalidInput(f"{key} iri: {iri} is that of {taken[iri]} too; export as YAML", field="iri")
        found[key], taken[iri] = iri, key
    return found
