"""Packs add up in any order: one class of people, nothing refused, no defect."""

from __future__ import annotations

from itertools import permutations

import pytest

from substrate.errors import NotFound
from substrate.ontology.classes import names_of_others, terms_of
from substrate.ontology.defects import defects_of
from substrate.ontology.joining import joined
from substrate.ontology.packs import PACKS, list_packs, load_pack, same_meaning
from tests.substrate.ontology.writing import Editor, actions


def test_every_pack_says_where_it_comes_from_and_is_sound():
    for about in list_packs():
        assert about["source"].startswith("http") and about["licence"] and about["title"]
        ontology = load_pack(about["name"]).ontology
        assert defects_of(ontology) == [], about["name"]
        assert all(t.iri and t.label for t in terms_of(ontology).values())
    with pytest.raises(NotFound, match="foaf"):
        load_pack("../terms")


def test_packs_are_applied_one_after_the_other_and_again(database, kb):
    editor = Editor(database, kb)
    for name in PACKS:
        plan = editor.plan(terms_of(load_pack(name).ontology).values(), "add")
        assert "refused" not in {s.action for s in plan.steps}, actions(plan)
        editor.apply(plan)
    for name in PACKS:
        assert editor.plan(terms_of(load_pack(name).ontology).values(), "add").steps == ()
    held = editor.held()
    people = [c for c in held.classes if "Person" in (c.iri or "")]
    assert len(people) == 1
    assert held.by_key["member_of"].range == ("organization",)
    assert not [d for d in defects_of(held) if d.code in ("parent_cycle", "disjoint_parents", "iri_collision")]


def test_in_any_order_they_give_the_same_terms():
    found = []
    for order in permutations(PACKS):
        held: dict = {}
        for name in order:
            wanted, refused, _ = joined(held, list(terms_of(load_pack(name).ontology).values()), "add")
            assert refused == {}, (order, refused)
            held |= wanted
        assert all(other in held for term in held.values() for _, other in names_of_others(term)), order
        found.append(len(held))
    assert len(set(found)) == 1


def test_an_iri_means_the_same_as_one_other_group_at_most():
    groups = same_meaning()
    assert all(groups[first] == first for first in groups.values())
