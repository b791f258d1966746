"""Whoever asks for a class is given what is of any class beneath it, as the hierarchy was held at that moment."""

from __future__ import annotations

import pytest

from substrate import reads
from substrate.errors import NotFound
from substrate.ontology.binding import bind
from substrate.ontology.classes import below, cycles, disjoint_pairs
from substrate.ontology.hierarchy import class_card, entities_of_class
from substrate.ontology.terms import parse_ontology
from tests.ledger_facts import ONTOLOGY, Scribe, day
from tests.substrate.ontology.writing import Editor

DEEP = ONTOLOGY.replace(
    "relations:",
    "  - {key: work, label: Work}\n  - {key: thing, label: Thing, disjoint_with: [person]}\nrelations:",
).replace("label: Project}", "label: Project, parents: [work]}")
DEEPER = DEEP.replace("label: Work}", "label: Work, parents: [thing]}")


@pytest.fixture
def base(database, kb):
    scribe = Scribe(database, kb)
    kinds = {"Ada": "person", "Heron": "project"}
    scribe.say("Ada", "leads", "Heron", start=day("2021-01-01"), kinds=kinds)
    scribe.say("Ada", "works_on", "Egret", start=day("2021-01-01"))
    return Editor(database, kb)


def others(base, object_type, **at):
    with base.database.read(base.kb) as conn:
        moment = reads.resolve(conn, base.kb, **at)
        facts = reads.entity_facts(conn, base.kb, "Ada", moment, object_type=object_type)["facts"]
        near = reads.neighbors(conn, base.kb, "Ada", moment, object_type=object_type)["neighbors"]
        found = sorted(f["other_name"] for f in facts)
        assert sorted(n["name"] for n in near) == found
        return found


def test_facts_and_neighbours_are_narrowed_by_a_class_with_what_is_beneath_it(base):
    assert (others(base, "project"), others(base, "work"), others(base, "Thing")) == (["Heron"], [], [])
    base.apply(base.plan_yaml(DEEP))
    with base.database.read(base.kb) as conn:
        early = f"seq:{reads.resolve(conn, base.kb).seq}"
    assert (others(base, "Work"), others(base, "thing"), others(base, "project")) == (["Heron"], [], ["Heron"])
    base.apply(base.plan_yaml(DEEPER))
    assert (others(base, "thing"), others(base, "person")) == (["Heron"], [])
    assert others(base, "thing", as_of=early) == []
    base.apply(base.plan_yaml(DEEPER.replace("label: Thing,", "label: Thing, parents: [project],")))
    assert others(base, "work") == ["Heron"]  # a cycle ends


def test_entities_of_a_class(base):
    base.apply(base.plan_yaml(DEEPER))
    with base.database.read(base.kb) as conn:
        moment = reads.resolve(conn, base.kb)
        found = entities_of_class(conn, base.kb, "thing", moment)
        assert ([e["name"] for e in found["entities"]], found["classes"]) == (["Heron"], ["project", "thing", "work"])
        assert entities_of_class(conn, base.kb, "person", moment)["total"] == 1
        with pytest.raises(NotFound, match="robot"):
            entities_of_class(conn, base.kb, "robot", moment)


def test_the_ends_of_a_relation_take_what_is_beneath_them():
    text = DEEP + "  - {key: runs, label: runs, domain: person, range: work}\n"
    ontology = parse_ontology(text)

    def bound(subject_kind, object_kind):
        found = bind(ontology, subject="a", phrase="runs", object_name="b", value=None, subject_kind=subject_kind,
                     object_kind=object_kind)  # fmt: skip
        return found.subject_name, found.object_name

    assert bound("person", "project") == ("a", "b")
    assert bound("project", "person") == ("b", "a")  # a project is work, so subject and object changed places


def test_what_stands_around_a_class():
    ontology = parse_ontology(DEEPER)
    card = class_card(ontology, "work")
    assert card == {"above": ["thing"], "beneath": ["project"], "apart_from": ["person"]}
    assert class_card(ontology, "person")["apart_from"] == ["project", "thing", "work"]
    assert [(p.left, p.right) for p in disjoint_pairs(ontology)] == [("person", "thing")]
    assert below(ontology)["thing"] == {"thing", "work", "project"}


def test_cycles_are_sets_of_what_reaches_itself():
    assert cycles({"a": ["b"], "b": ["a"], "c": ["a"], "d": ["d"], "e": []}) == [("a", "b"), ("d",)]
