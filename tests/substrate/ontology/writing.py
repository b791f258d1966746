"""The same small ontology in three syntaxes of RDF, and helpers that plan and apply."""

from __future__ import annotations

from substrate.ledger import open_door
from substrate.ontology import edits, files
from substrate.ontology.classes import terms_of
from substrate.ontology.store import load_ontology
from substrate.ontology.terms import parse_ontology

SHIPS = "https://ships.example/terms#"

TURTLE = """
@prefix : <https://ships.example/terms#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

<https://ships.example/terms> a owl:Ontology ; owl:imports <https://elsewhere.example/sea> .
:Vessel a owl:Class ; rdfs:label "Vessel"@en , "Schiff"@de ;
    skos:definition "What carries people or goods over water." .
:Ferry a owl:Class ;
    rdfs:subClassOf :Vessel , [ a owl:Restriction ; owl:onProperty :callsAt ; owl:someValuesFrom :Port ] ;
    rdfs:label "Ferry"@en ; skos:altLabel "car ferry"@en .
:Port a owl:Class ; rdfs:label "Port"@en ; owl:disjointWith :Vessel .
:FerryPort a owl:Class ; rdfs:subClassOf :Port ; rdfs:label "Ferry port"@en .
:callsAt a owl:ObjectProperty ; rdfs:label "calls at"@en ; rdfs:domain :Vessel ; rdfs:range :Port ;
    owl:inverseOf :calledAtBy .
:calledAtBy a owl:ObjectProperty ; rdfs:label "called at by"@en ; rdfs:domain :Port ; rdfs:range :Vessel .
:sisterShip a owl:ObjectProperty , owl:SymmetricProperty , owl:TransitiveProperty ; rdfs:label "sister ship of"@en ;
    rdfs:domain :Vessel ; rdfs:range :Vessel .
:homePort a owl:ObjectProperty , owl:FunctionalProperty ; rdfs:subPropertyOf :callsAt ; rdfs:label "home port"@en ;
    rdfs:domain [ a owl:Class ; owl:unionOf ( :Ferry :Vessel ) ] ; rdfs:range :Port .
:tonnage a owl:DatatypeProperty , owl:FunctionalProperty ; rdfs:label "tonnage"@en ; rdfs:domain :Vessel ;
    rdfs:range xsd:integer .
:launched a owl:DatatypeProperty ; rdfs:label "launched on"@en ; rdfs:domain :Vessel ; rdfs:range xsd:date .
:note a owl:AnnotationProperty .
:Calypso a :Ferry .
"""

RDFXML = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE rdf:RDF [ <!ENTITY s "https://ships.example/terms#"> <!ENTITY xsd "http://www.w3.org/2001/XMLSchema#"> ]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"
         xmlns:owl="http://www.w3.org/2002/07/owl#" xmlns:skos="http://www.w3.org/2004/02/skos/core#" xmlns:s="&s;">
  <owl:Ontology rdf:about="https://ships.example/terms">
    <owl:imports rdf:resource="https://elsewhere.example/sea"/>
  </owl:Ontology>
  <owl:Class rdf:about="&s;Vessel">
    <rdfs:label xml:lang="en">Vessel</rdfs:label><rdfs:label xml:lang="de">Schiff</rdfs:label>
    <skos:definition>What carries people or goods over water.</skos:definition>
  </owl:Class>
  <owl:Class rdf:about="&s;Ferry">
    <rdfs:subClassOf rdf:resource="&s;Vessel"/>
    <rdfs:subClassOf><owl:Restriction>
      <owl:onProperty rdf:resource="&s;callsAt"/><owl:someValuesFrom rdf:resource="&s;Port"/>
    </owl:Restriction></rdfs:subClassOf>
    <rdfs:label xml:lang="en">Ferry</rdfs:label><skos:altLabel xml:lang="en">car ferry</skos:altLabel>
  </owl:Class>
  <owl:Class rdf:about="&s;Port">
    <rdfs:label xml:lang="en">Port</rdfs:label><owl:disjointWith rdf:resource="&s;Vessel"/>
  </owl:Class>
  <owl:Class rdf:about="&s;FerryPort">
    <rdfs:subClassOf rdf:resource="&s;Port"/><rdfs:label xml:lang="en">Ferry port</rdfs:label>
  </owl:Class>
  <owl:ObjectProperty rdf:about="&s;callsAt">
    <rdfs:label xml:lang="en">calls at</rdfs:label><rdfs:domain rdf:resource="&s;Vessel"/>
    <rdfs:range rdf:resource="&s;Port"/><owl:inverseOf rdf:resource="&s;calledAtBy"/>
  </owl:ObjectProperty>
  <owl:ObjectProperty rdf:about="&s;calledAtBy">
    <rdfs:label xml:lang="en">called at by</rdfs:label><rdfs:domain rdf:resource="&s;Port"/>
    <rdfs:range rdf:resource="&s;Vessel"/>
  </owl:ObjectProperty>
  <owl:SymmetricProperty rdf:about="&s;sisterShip">
    <rdf:type rdf:resource="http://www.w3.org/2002/07/owl#ObjectProperty"/>
    <rdf:type rdf:resource="http://www.w3.org/2002/07/owl#TransitiveProperty"/>
    <rdfs:label xml:lang="en">sister ship of</rdfs:label>
    <rdfs:domain rdf:resource="&s;Vessel"/><rdfs:range rdf:resource="&s;Vessel"/>
  </owl:SymmetricProperty>
  <owl:ObjectProperty rdf:about="&s;homePort">
    <rdf:type rdf:resource="http://www.w3.org/2002/07/owl#FunctionalProperty"/>
    <rdfs:subPropertyOf rdf:resource="&s;callsAt"/><rdfs:label xml:lang="en">home port</rdfs:label>
    <rdfs:domain><owl:Class><owl:unionOf rdf:parseType="Collection">
      <rdf:Description rdf:about="&s;Ferry"/><rdf:Description rdf:about="&s;Vessel"/>
    </owl:unionOf></owl:Class></rdfs:domain>
    <rdfs:range rdf:resource="&s;Port"/>
  </owl:ObjectProperty>
  <owl:DatatypeProperty rdf:about="&s;tonnage">
    <rdf:type rdf:resource="http://www.w3.org/2002/07/owl#FunctionalProperty"/>
    <rdfs:label xml:lang="en">tonnage</rdfs:label><rdfs:domain rdf:resource="&s;Vessel"/>
    <rdfs:range rdf:resource="&xsd;integer"/>
  </owl:DatatypeProperty>
  <owl:DatatypeProperty rdf:about="&s;launched">
    <rdfs:label xml:lang="en">launched on</rdfs:label><rdfs:domain rdf:resource="&s;Vessel"/>
    <rdfs:range rdf:resource="&xsd;date"/>
  </owl:DatatypeProperty>
  <owl:AnnotationProperty rdf:about="&s;note"/>
  <s:Ferry rdf:about="&s;Calypso"/>
</rdf:RDF>
"""

JSONLD = """{"@context": {
  "s": "https://ships.example/terms#", "owl": "http://www.w3.org/2002/07/owl#",
  "rdfs": "http://www.w3.org/2000/01/rdf-schema#", "skos": "http://www.w3.org/2004/02/skos/core#",
  "xsd": "http://www.w3.org/2001/XMLSchema#",
  "label": {"@id": "rdfs:label", "@language": "en"}, "alt": {"@id": "skos:altLabel", "@language": "en"},
  "under": {"@id": "rdfs:subClassOf", "@type": "@id"}, "from": {"@id": "rdfs:domain", "@type": "@id"},
  "to": {"@id": "rdfs:range", "@type": "@id"}},
 "@graph": [
  {"@id": "https://ships.example/terms", "@type": "owl:Ontology", "owl:imports": {"@id": "https://elsewhere.example/sea"}},
  {"@id": "s:Vessel", "@type": "owl:Class", "label": "Vessel", "rdfs:label": {"@value": "Schiff", "@language": "de"},
   "skos:definition": "What carries people or goods over water."},
  {"@id": "s:Ferry", "@type": "owl:Class", "label": "Ferry", "alt": "car ferry", "under": ["s:Vessel",
   {"@type": "owl:Restriction", "owl:onProperty": {"@id": "s:callsAt"}, "owl:someValuesFrom": {"@id": "s:Port"}}]},
  {"@id": "s:Port", "@type": "owl:Class", "label": "Port", "owl:disjointWith": {"@id": "s:Vessel"}},
  {"@id": "s:FerryPort", "@type": "owl:Class", "label": "Ferry port", "under": "s:Port"},
  {"@id": "s:callsAt", "@type": "owl:ObjectProperty", "label": "calls at", "from": "s:Vessel", "to": "s:Port",
   "owl:inverseOf": {"@id": "s:calledAtBy"}},
  {"@id": "s:calledAtBy", "@type": "owl:ObjectProperty", "label": "called at by", "from": "s:Port", "to": "s:Vessel"},
  {"@id": "s:sisterShip", "@type": ["owl:ObjectProperty", "owl:SymmetricProperty", "owl:TransitiveProperty"],
   "label": "sister ship of", "from": "s:Vessel", "to": "s:Vessel"},
  {"@id": "s:homePort", "@type": ["owl:ObjectProperty", "owl:FunctionalProperty"], "label": "home port",
   "rdfs:subPropertyOf": {"@id": "s:callsAt"}, "to": "s:Port",
   "from": {"@type": "owl:Class", "owl:unionOf": {"@list": [{"@id": "s:Ferry"}, {"@id": "s:Vessel"}]}}},
  {"@id": "s:tonnage", "@type": ["owl:DatatypeProperty", "owl:FunctionalProperty"], "label": "tonnage",
   "from": "s:Vessel", "to": "xsd:integer"},
  {"@id": "s:launched", "@type": "owl:DatatypeProperty", "label": "launched on", "from": "s:Vessel", "to": "xsd:date"},
  {"@id": "s:note", "@type": "owl:AnnotationProperty"},
  {"@id": "s:Calypso", "@type": "s:Ferry"}
 ]}"""

SYNTAXES = {"turtle": TURTLE, "rdfxml": RDFXML, "jsonld": JSONLD}


class Editor:
    """Plans and applies in one base."""

    def __init__(self, database, kb) -> None:
        self.database, self.kb = database, kb

    def held(self):
        with self.database.read(self.kb) as conn:
            return load_ontology(conn, self.kb)

    def plan(self, terms, mode="replace", notes=()):
        with self.database.write(self.kb) as conn:
            return edits.keep_plan(conn, self.kb, list(terms), mode, by="person:test", notes=notes)

    def plan_yaml(self, text, mode="replace"):
        return self.plan(terms_of(parse_ontology(text)).values(), mode)

    def plan_file(self, text, written_as):
        reading = files.read_file(text.encode(), written_as)
        return self.plan(reading.terms, "replace" if reading.whole else "add", reading.notes)

    def act(self, verb, *args):
        with self.database.write(self.kb) as conn:
            with open_door(conn, self.kb, actor="person:test", via="rest", action="test") as door:
                return verb(door, *args)

    def apply(self, plan):
        return self.act(edits.apply_plan, plan.id)


def actions(plan):
    """Key → action, or the reason of a refusal."""
    return {s.key: s.why if s.action == "refused" else s.action for s in plan.steps}
