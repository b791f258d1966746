"""Classes, relations and attributes of a base, and the binding of phrases to them."""

from substrate.ontology.terms import EMPTY, Ontology, OntologyClass, Relation, parse_ontology

__all__ = ["EMPTY", "Ontology", "OntologyClass", "Relation", "parse_ontology"]
