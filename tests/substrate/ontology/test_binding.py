"""Which relation a plain phrase binds to, whatever the base calls it."""

from __future__ import annotations

from decimal import Decimal

import pytest

from substrate.extraction.claims import Value
from substrate.ontology import parse_ontology
from substrate.ontology.binding import bind
from substrate.ontology.synonyms import BACKWARDS, CONCEPTS

CLASSES = """
classes:
  - {key: person, label: Person}
  - {key: organization, label: Organization}
  - {key: project, label: Project}
"""


def ontology(*relations: str):
    return parse_ontology(CLASSES + "relations:\n" + "".join(f"  - {{{r}}}\n" for r in relations))


def bound(base, phrase, *, wording="", subject_kind=None, object_kind=None, value=None):
    other = None if value else "B"
    return bind(
        base,
        subject="A",
        phrase=phrase,
        object_name=other,
        value=value,
        subject_kind=subject_kind,
        object_kind=object_kind,
        wording=wording,
    )


@pytest.mark.parametrize(
    ("declared", "phrase"),
    [
        ("key: head_of, label: is head of", "leads"),
        ("key: headed_by_person, label: headed by person", "leads"),
        ("key: responsible_for, label: responsible for", "leads"),
        ("key: r1, label: 负责", "leads"),
        ("key: employed_by, label: employed by", "works for"),
        ("key: employer, label: employer", "works for"),
        ("key: employee_of, label: employee of", "works for"),
        ("key: r2, label: 任职于", "works for"),
        ("key: belongs_to, label: belongs to", "part of"),
        ("key: sits_on, label: sits on", "member of"),
        ("key: based_in, label: based in", "located in"),
        ("key: supplier_of, label: supplier of", "supplies"),
        ("key: manager, label: manager", "reports to"),
        ("key: manages, label: manages", "leads"),
        ("key: located_in, label: located in", "headquartered in"),
    ],
)
def test_a_phrase_binds_to_its_concept_whatever_it_is_called(declared, phrase):
    base = ontology(declared)
    found = bound(base, phrase)
    assert (found.predicate_key, found.subject_name) == (base.relations[0].key, "A")
    assert bound(base, "married to").predicate_key is None


@pytest.mark.parametrize(
    ("key", "phrase"),
    [
        ("annual_salary", "salary"),
        ("wage", "salary"),
        ("title", "job title"),
        ("post", "job title"),
        ("role", "job title"),
    ],
)
def test_an_attribute_binds_to_its_concept(key, phrase):
    base = ontology(f"key: {key}, label: {key.replace('_', ' ')}, kind: attribute")
    assert bound(base, phrase, value=Value("9", Decimal(9))).predicate_key == key


@pytest.mark.parametrize(
    ("declared", "phrase"),
    [
        ("key: led_by, label: led by", "leads"),
        ("key: owned_by, label: owned by", "owns"),
        ("key: supplier, label: supplier", "supplies"),
        ("key: employs, label: employs", "works for"),
    ],
)
def test_a_word_for_the_other_direction_turns_the_claim(declared, phrase):
    found = bound(ontology(declared), phrase)
    assert (found.predicate_key, found.subject_name, found.object_name) == (declared.split(",")[0][5:], "B", "A")


def test_two_relations_of_one_concept_decide_nothing_but_the_wording_does():
    base = ontology(
        "key: annual_salary, label: annual salary, kind: attribute", "key: monthly_pay, label: 月薪, kind: attribute"
    )
    value = Value("9", Decimal(9))
    assert bound(base, "salary", value=value).predicate_key is None
    assert bound(base, "salary", value=value, wording="月薪（元）").predicate_key == "monthly_pay"


def test_what_is_declared_by_its_own_name_wins_over_a_synonym():
    base = ontology("key: heads, label: head of", "key: leads, label: leads")
    assert bound(base, "leads").predicate_key == "leads"


def test_a_near_concept_does_not_speak_of_a_person():
    base = ontology("key: leads, label: leads, domain: person, range: project")
    assert bound(base, "manages", subject_kind="person", object_kind="project").predicate_key == "leads"
    assert bound(base, "manages", subject_kind="person", object_kind="person").predicate_key is None


def test_kinds_turn_a_claim_whose_ends_have_changed_places():
    base = ontology("key: lead, label: lead, domain: project, range: person")
    found = bound(base, "leads", subject_kind="person", object_kind="project")
    assert (found.predicate_key, found.subject_name) == ("lead", "B")


def test_no_word_stands_for_a_concept_in_both_directions():
    for concept, words in BACKWARDS.items():
        straight = {w.strip() for w in CONCEPTS.get(concept, "").split(";")}
        assert not straight & {w.strip() for w in words.split(";")}, concept
