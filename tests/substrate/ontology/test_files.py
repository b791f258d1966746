"""One file per base that round-trips; files of others in three syntaxes; and what no file may do."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from substrate.errors import InvalidInput
from substrate.ontology import files
from substrate.ontology.classes import meaning, ontology_of, terms_of
from substrate.ontology.rdf_reading import key_from
from substrate.ontology.terms import EMPTY, OntologyClass, Relation, parse_ontology
from tests.ledger_facts import ONTOLOGY
from tests.substrate.ontology.writing import SHIPS, SYNTAXES, TURTLE, Editor, actions

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)

KEYS = st.text("abyz09_", min_size=1, max_size=5)
TAILS = st.text("azAZ09#/_-.~:é", max_size=6)


@st.composite
def ontologies(draw):
    """Any ontology that may be declared, cycles and all."""
    keys = draw(st.lists(KEYS, unique=True, max_size=7))
    cut = draw(st.integers(0, len(keys)))
    classes, relations = keys[:cut], keys[cut:]

    def some(among):
        return st.lists(st.sampled_from(among), max_size=3).map(tuple) if among else st.just(())

    def common(key):
        iri = f"https://{key.replace('_', '-')}x.example/{key}{draw(TAILS)}" if draw(st.booleans()) else None
        said = {"key": key, "label": draw(WORDS), "description": draw(st.one_of(st.just(""), WORDS)), "iri": iri}
        return said | {"aliases": draw(st.lists(WORDS, max_size=3))}

    terms = []
    for key in classes:
        terms.append(OntologyClass(**common(key), parents=draw(some(classes)), disjoint_with=draw(some(classes))))
    for key in relations:
        attribute, flag = draw(st.booleans()), st.booleans()
        flags = ("functional", "transitive", "symmetric", "asymmetric", "irreflexive")
        more = {name: draw(flag) for name in flags} | {"inverse_functional": not attribute and draw(flag)}
        more |= {"temporal": draw(st.sampled_from(["state", "event", "eternal"])), "domain": draw(some(classes))}
        more |= {"inverse_of": draw(st.sampled_from([None, *relations])), "sub_property_of": draw(some(relations))}
        more |= {"inverse_aliases": draw(st.lists(WORDS, max_size=2)), "qualifiers": draw(st.lists(WORDS, max_size=2))}
        if attribute:
            kinds = st.sampled_from([None, "text", "number", "money", "date", "bool"])
            more |= {"kind": "attribute", "datatype": draw(kinds), "unit": draw(st.one_of(st.none(), WORDS))}
            more |= {"range": draw(st.lists(WORDS, max_size=2))}
        else:
            more |= {"range": draw(some(classes))}
        terms.append(Relation(**common(key), **more))
    return ontology_of(terms)


def meanings(ontology):
    return {key: meaning(term) for key, term in terms_of(ontology).items()}


def as_read(text, written_as):
    reading = files.read_file(text.encode(), written_as)
    assert reading.whole and not reading.notes
    return {term.key: meaning(term) for term in reading.terms}


@settings(max_examples=60)
@given(ontologies())
def test_what_is_exported_is_read_back_as_the_same(ontology):
    text = files.write_yaml(ontology)
    assert as_read(text, "yaml") == meanings(ontology)
    assert files.write_yaml(parse_ontology(text)) == text
    assert as_read(files.write_turtle(ontology), "turtle") == meanings(ontology)


def test_an_export_without_a_term_is_an_ontology_and_empty():
    for form, write in (("yaml", files.write_yaml), ("turtle", files.write_turtle)):
        assert as_read(write(EMPTY), form) == {}


def test_an_iri_that_turtle_cannot_hold_or_that_two_share_is_said(kb):
    two = [OntologyClass(key=k, label="x", iri="https://a.example/x") for k in "ab"]
    odd = [OntologyClass(key="a", label="x", iri="no iri")]
    for terms in (two, odd):
        with pytest.raises(InvalidInput, match="export as YAML"):
            files.write_turtle(ontology_of(terms))
        assert as_read(files.write_yaml(ontology_of(terms)), "yaml") == meanings(ontology_of(terms))


def test_three_syntaxes_of_one_ontology_give_one_plan(database, kb):
    editor = Editor(database, kb)
    plans = {form: editor.plan_file(text, form) for form, text in SYNTAXES.items()}
    assert plans["turtle"].shown() == plans["rdfxml"].shown() == plans["jsonld"].shown()
    plan = plans["jsonld"]
    assert set(actions(plan).values()) == {"added"} and plan.mode == "add"
    editor.apply(plan)
    held = terms_of(editor.held())
    assert set(held) == {"vessel", "ferry", "port", "ferry_port", "calls_at", "called_at_by", "sister_ship",
                         "home_port", "tonnage", "launched"}  # fmt: skip
    ferry, home, vessel = held["ferry"], held["home_port"], held["vessel"]
    assert (ferry.parents, ferry.aliases, ferry.iri) == (("vessel",), ("car ferry",), SHIPS + "Ferry")
    assert (vessel.aliases, vessel.description) == (("Schiff",), "What carries people or goods over water.")
    assert (vessel.disjoint_with, held["port"].disjoint_with) == (("port",), ("vessel",))
    assert (home.functional, home.sub_property_of, home.domain) == (True, ("calls_at",), ("ferry", "vessel"))
    assert (held["called_at_by"].inverse_of, held["calls_at"].inverse_of) == ("calls_at", "called_at_by")
    assert held["sister_ship"].symmetric and held["sister_ship"].transitive
    assert (held["tonnage"].kind, held["tonnage"].datatype, held["launched"].datatype) == (
        "attribute",
        "number",
        "date",
    )
    assert plan.notes == (
        "imports https://elsewhere.example/sea, which is not fetched",
        "1 annotation properties left out",
        "1 class expressions left out",
        "1 individuals left out",
    )
    for form, text in SYNTAXES.items():
        assert editor.plan_file(text, form).steps == (), form
    for form, write in (("yaml", files.write_yaml), ("turtle", files.write_turtle)):
        again = editor.plan_file(write(editor.held()), form)
        assert (again.steps, again.mode) == ((), "replace")


SKOS = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix : <https://x.example/> .
:animal a skos:Concept ; skos:prefLabel "Animal"@en , "动物"@zh ; skos:narrower :bird .
:bird a skos:Concept ; skos:prefLabel "Bird"@en ; skos:altLabel "fowl"@en ; skos:definition "It has feathers."@en .
:owl a skos:Concept ; skos:prefLabel "Owl"@en ; skos:broader :bird , :unknown .
:Ä a skos:Concept ; skos:prefLabel "猫头鹰"@zh .
"""


def test_skos_concepts_are_classes_under_their_broader_ones():
    reading = files.read_file(SKOS.encode(), "turtle")
    found = {t.key: t for t in reading.terms}
    assert (found["bird"].parents, found["owl"].parents) == (("animal",), ("bird",))
    assert (found["bird"].aliases, found["animal"].aliases) == (("fowl",), ("动物",))
    assert found["a"].label == "猫头鹰"
    assert reading.notes == ("1 parents that the file does not declare left out",)


def test_a_key_is_made_of_a_name():
    names = ("hasPart", "Has-Part", "has part", "HTTPServer2", "Ünïcode", "猫", "x" * 60)
    assert [key_from(n) for n in names] == ["has_part"] * 3 + ["http_server_2", "unicode", "", "x" * 40]
    prefixes = "@prefix : <https://x.example/> . @prefix owl: <http://www.w3.org/2002/07/owl#> . "
    twice = prefixes + ":a-b a owl:Class . :aB a owl:Class ."
    assert [t.key for t in files.read_file(twice.encode(), "turtle").terms] == ["a_b", "a_b_2"]


def test_the_format_is_that_of_the_name():
    assert [files.format_of(n) for n in ("a.yml", "b.TTL", "c.owl", "d.json")] == ["yaml", "turtle", "rdfxml", "jsonld"]
    with pytest.raises(InvalidInput, match="say the format"):
        files.format_of("x.csv")


def bomb(inner):
    return (
        f'<?xml version="1.0"?><!DOCTYPE r [{inner}]><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    )


LAUGHS = '<!ENTITY a "ha"><!ENTITY b "&a;&a;">'
HOSTILE = {
    "entities in one another": ("rdfxml", bomb(LAUGHS) + "<x>&b;</x></rdf:RDF>", "in one another"),
    "one long entity many times": (
        "rdfxml",
        bomb(f'<!ENTITY a "{"x" * 100_000}">') + "<x>" + "&a;" * 1000 + "</x></rdf:RDF>",
        "stand for 100000000 characters",
    ),
    "an entity outside": (
        "rdfxml",
        bomb('<!ENTITY a SYSTEM "file:///etc/passwd">') + "<x>&a;</x></rdf:RDF>",
        "outside",
    ),
    "a parameter entity": ("rdfxml", bomb('<!ENTITY % a "x"> %a;') + "</rdf:RDF>", "outside"),
    "a document type outside": ("rdfxml", '<!DOCTYPE r SYSTEM "http://127.0.0.1/x"><r/>', "outside"),
    "attributes by default": (
        "rdfxml",
        bomb(f'<!ATTLIST x a CDATA "{"x" * 1000}">') + "<x/>" * 9 + "</rdf:RDF>",
        "an attribute",
    ),
    "a list without end": (
        "turtle",
        TURTLE + ":p a owl:ObjectProperty ; rdfs:domain [ owl:unionOf _:l ] . "
        "_:l <http://www.w3.org/1999/02/22-rdf-syntax-ns#first> :Port ; "
        "<http://www.w3.org/1999/02/22-rdf-syntax-ns#rest> _:l .",
        "no end",
    ),
    "each disjoint with each": (
        "turtle",
        TURTLE
        + "".join(f":k{n} a owl:Class . " for n in range(201))
        + f"[] a owl:AllDisjointClasses ; owl:members ( {' '.join(f':k{n}' for n in range(201))} ) .",
        "201 classes are declared disjoint at once",
    ),
    "many entities": (
        "rdfxml",
        bomb("".join(f'<!ENTITY e{n} "x">' for n in range(300))) + "</rdf:RDF>",
        "more than 200",
    ),
    "another encoding": ("rdfxml", '<?xml version="1.0" encoding="utf-16"?><r/>', "utf-16"),
    "deep elements": ("rdfxml", "<a>" * 300 + "</a>" * 300, "deep"),
    "no XML": ("rdfxml", "<a><b></a>", "not valid XML"),
    "a context that is an address": ("jsonld", '{"@context": "https://schema.org/"}', "not fetched"),
    "a context among others": ("jsonld", '{"@context": [{}, "https://x.example/"]}', "not fetched"),
    "a context in a term": ("jsonld", '{"@context": {"a": {"@id": "x:a", "@context": "https://x/"}}}', "not fetched"),
    "an imported context": ("jsonld", '{"@context": {"@import": "https://x.example/"}}', "not fetched"),
    "deep JSON": ("jsonld", "[" * 5000 + "]" * 5000, "deep|not valid JSON"),
    "deep Turtle": ("turtle", "<x:a> <x:b> " + "[ <x:b> " * 5000 + "1" + "]" * 5000 + " .", "deep"),
    "no Turtle": ("turtle", "@prefix : <x> . :a :b", "cannot be read"),
    "not UTF-8": ("turtle", "\udcff", "not UTF-8"),
    "a key that is none": ("turtle", TURTLE + ':Port <urn:twoclocks:ontology#key> "Not A Key" .', "key"),
    "deep YAML": ("yaml", "[" * 3000, "not valid YAML"),
    "aliases of YAML": ("yaml", "a: &a [x, x]\nb: &b [*a, *a]\nclasses: *b", "classes"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_with_a_reason(name):
    form, text, why = HOSTILE[name]
    with pytest.raises(InvalidInput, match=why):
        files.read_file(text.encode("utf-8", "surrogateescape"), form)


def test_a_file_of_100_megabytes_and_one_of_too_many_terms_are_refused(monkeypatch):
    with pytest.raises(InvalidInput, match="at most 8388608"):
        files.read_file(b"@" * 100_000_000, "turtle")
    monkeypatch.setattr(files, "MOST_TERMS", 50)
    many = "classes:\n" + "".join(f"- {{key: k{n}, label: x}}\n" for n in range(files.MOST_TERMS + 1))
    with pytest.raises(InvalidInput, match="declares 51 terms"):
        files.read_file(many.encode(), "yaml")


def test_nothing_that_a_file_names_is_fetched():
    asked = []

    class Recorder(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, *_):
            """Quiet."""

    with HTTPServer(("127.0.0.1", 0), Recorder) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        here = f"http://127.0.0.1:{server.server_port}"
        turtle = TURTLE.replace("https://elsewhere.example", here).replace("https://ships.example", here)
        assert f"imports {here}/sea, which is not fetched" in files.read_file(turtle.encode(), "turtle").notes
        xml = SYNTAXES["rdfxml"].replace("https://elsewhere.example", here)
        assert f"imports {here}/sea, which is not fetched" in files.read_file(xml.encode(), "rdfxml").notes
        inside = SYNTAXES["jsonld"].replace("https://elsewhere.example", here)
        assert f"imports {here}/sea, which is not fetched" in files.read_file(inside.encode(), "jsonld").notes
        for context in (
            f'"{here}/c"',
            f'["{here}/c"]',
            f'{{"@import": "{here}/c"}}',
            f'{{"x": {{"@context": "{here}/c"}}}}',
        ):
            with pytest.raises(InvalidInput, match="not fetched"):
                files.read_file(f'{{"@context": {context}, "@id": "{here}/x"}}'.encode(), "jsonld")
        for kind in ("ENTITY a", "ENTITY % a"):
            with pytest.raises(InvalidInput, match="outside"):
                files.read_file((bomb(f'<!{kind} SYSTEM "{here}/e">') + "</rdf:RDF>").encode(), "rdfxml")
        server.shutdown()
    assert asked == []


def test_a_file_of_ours_with_unknown_fields_is_refused():
    with pytest.raises(InvalidInput, match="colour"):
        files.read_file(ONTOLOGY.replace("label: Person", "label: Person, colour: red").encode(), "yaml")


def test_a_group_of_disjoint_classes_sets_each_apart_from_each():
    group = TURTLE + "[] a owl:AllDisjointClasses ; owl:members ( :Vessel :Port :callsAt ) ."
    found = {t.key: t for t in files.read_file(group.encode(), "turtle").terms}
    assert (found["vessel"].disjoint_with, found["port"].disjoint_with) == (("port",), ("vessel",))
    assert found["ferry"].disjoint_with == ()
