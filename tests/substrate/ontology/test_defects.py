"""What is wrong in an ontology is found, each kind by its own; what is right is not."""

from __future__ import annotations

import pytest

from substrate.ledger.types import retype
from substrate.ontology.defects import CODES, defects_of, entities_of_disjoint_classes, list_defects
from substrate.ontology.terms import parse_ontology
from tests.ledger_facts import ONTOLOGY, Scribe, day
from tests.substrate.ontology.writing import Editor

PEOPLE = """
classes:
  - {key: being, label: Being}
  - {key: person, label: Person, parents: [being], disjoint_with: [project]}
  - {key: engineer, label: Engineer, parents: [person]}
  - {key: project, label: Project}
  - {key: pilot, label: Pilot project, parents: [project]}
"""
SOUND = (
    PEOPLE
    + """
relations:
  - {key: leads, label: leads, domain: person, range: project, inverse_of: led_by, irreflexive: true, asymmetric: true}
  - {key: led_by, label: led by, domain: project, range: person, inverse_of: leads}
  - {key: heads, label: heads, domain: engineer, range: pilot, sub_property_of: leads}
  - {key: knows, label: knows, symmetric: true, domain: person, range: person}
"""
)
WRONG = {
    "parent_cycle": (PEOPLE.replace("label: Being}", "label: Being, parents: [engineer]}"),
                     [("being", "engineer", "person")]),
    "disjoint_parents": (PEOPLE.replace("parents: [project]", "parents: [project, engineer]"),
                         [("pilot", "person", "project")]),
    "disjoint_with_itself": (PEOPLE.replace("disjoint_with: [project]", "disjoint_with: [person]"), [("person",)]),
    "inverse_mismatch": (SOUND.replace("inverse_of: leads}", "inverse_of: knows}"), [("leads", "led_by")]),
    "inverse_ends_differ": (SOUND.replace("domain: project, range: person", "domain: project, range: being"),
                            [("leads", "led_by")]),
    "contradicting_properties": (SOUND.replace("symmetric: true, domain", "symmetric: true, asymmetric: true, domain"),
                                 [("knows", "symmetric and asymmetric")]),
    "domain_outside_super_property": (SOUND.replace("domain: engineer", "domain: being"),
                                      [("heads", "leads", "domain")]),
    "super_property_cycle": (SOUND.replace("irreflexive: true,", "sub_property_of: heads,"), [("heads", "leads")]),
    "label_collision": (SOUND.replace("label: heads", "label: heads, aliases: [leading, knows]"),
                        [("heads", "knows", "know")]),
    "iri_collision": (PEOPLE.replace("label: Being", "label: Being, iri: 'x:a'")
                      .replace("label: Project", "label: Project, iri: 'x:a'"), [("being", "project")]),
}  # fmt: skip


def test_a_sound_ontology_has_none():
    assert defects_of(parse_ontology(SOUND)) == []
    assert set(WRONG) == set(CODES) - {"entity_of_disjoint_classes"}


@pytest.mark.parametrize("code", WRONG)
def test_each_kind_is_found(code):
    text, terms = WRONG[code]
    found = [d for d in defects_of(parse_ontology(text)) if d.code == code]
    assert [d.terms for d in found][: len(terms)] == terms
    assert all(d.detail and len(d.fingerprint) == 64 for d in found)


@pytest.fixture
def editor(database, kb):
    return Editor(database, kb)


def broken(editor):
    with editor.database.read(editor.kb) as conn:
        found, total = entities_of_disjoint_classes(conn, editor.kb, editor.held())
    assert total == len(found)
    return [(d.entity, d.detail) for d in found]


def test_an_entity_of_two_disjoint_classes_is_queued_until_that_is_mended(editor, database, kb):
    scribe = Scribe(database, kb)
    scribe.say("Heron", "works_on", "Kite", kinds={"Heron": "project"})
    scribe.say("Heron", "leads", "Kite", start=day("2021-01-01"))
    assert broken(editor) == []
    editor.apply(editor.plan_yaml(ONTOLOGY.replace("label: Person", "label: Person, disjoint_with: [project]")))
    detail = "is person (an end of leads) and project (said to be): person and project are disjoint"
    assert broken(editor) == [("Heron", detail)]
    with database.read(kb) as conn:
        (shown,) = list_defects(conn, kb)["defects"]
        assert (shown["entity"], shown["code"]) == ("Heron", "entity_of_disjoint_classes")
    with database.read(kb) as conn:
        fact = conn.execute("select id from facts where kb_id = %s and predicate_key = 'leads'", (kb,)).fetchone()
    scribe.reject(fact["id"])
    assert broken(editor) == []


def test_a_subclass_counts_for_what_is_above_it_and_a_merge_joins_what_its_members_are(editor, database, kb):
    scribe = Scribe(database, kb)
    text = ONTOLOGY.replace("label: Person", "label: Person, disjoint_with: [project]").replace(
        "relations:", "  - {key: engineer, label: Engineer, parents: [person]}\nrelations:"
    )
    editor.apply(editor.plan_yaml(text))
    scribe.say("Ada", "works_on", "Kite", kinds={"Ada": "person"})
    scribe.say("Ada L.", "works_on", "Kite", kinds={"Ada L.": "project"})
    assert broken(editor) == []
    with database.read(kb) as conn:
        rows = conn.execute("select label, id from entities where kb_id = %s", (kb,)).fetchall()
    ids = {r["label"]: r["id"] for r in rows}
    editor.act(retype, ids["Ada"], "engineer")
    assert broken(editor) == []
    scribe.merge(ids["Ada"], ids["Ada L."])
    ((entity, detail),) = broken(editor)
    assert (entity, detail.startswith("is engineer (said to be) and project")) == ("Ada", True)
