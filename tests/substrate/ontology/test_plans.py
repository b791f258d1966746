"""An edit of the ontology is a plan that is shown, and what is applied is exactly that, or nothing."""

from __future__ import annotations

import pytest

from substrate.errors import Conflict, InvalidInput, NotFound
from substrate.ontology import edits
from substrate.ontology.classes import terms_of
from substrate.ontology.files import write_yaml
from substrate.ontology.plans import make_plan
from substrate.ontology.terms import OntologyClass, Relation, parse_ontology
from tests.ledger_facts import ONTOLOGY, Scribe, day, money
from tests.substrate.ontology.claimed import claimed
from tests.substrate.ontology.writing import Editor, actions


@pytest.fixture
def scribe(database, kb):
    return Scribe(database, kb)


@pytest.fixture
def editor(database, kb, scribe):
    return Editor(database, kb)


def held_facts(database, kb, predicate):
    with database.read(kb) as conn:
        return conn.execute(
            "select valid_to is not null as ended, count(*) as n from facts "
            "where kb_id = %s and predicate_key = %s and invalidated_seq is null group by 1 order by 1",
            (kb, predicate),
        ).fetchall()


def test_what_is_held_is_planned_as_no_change(editor):
    plan = editor.plan(terms_of(editor.held()).values())
    assert (plan.steps, plan.unchanged) == ((), 5)
    with pytest.raises(Conflict, match="changes nothing"):
        editor.apply(plan)


def test_a_plan_adds_changes_and_removes_and_the_base_then_declares_that(editor, database):
    text = """
classes: [{key: person, label: Human}, {key: project, label: Project}, {key: team, label: Team, parents: [person]}]
relations: [{key: leads, label: leads, domain: person, range: project, inverse_functional: true}]
attributes: [{key: salary, label: salary, datatype: money, functional: true}]
"""
    before = write_yaml(editor.held())
    plan = editor.plan_yaml(text)
    assert actions(plan) == {"person": "changed", "team": "added", "works_on": "removed"}
    assert next(s.fields for s in plan.steps if s.key == "person") == ("label",)
    assert write_yaml(editor.held()) == before
    editor.apply(plan)
    assert write_yaml(editor.held()) == write_yaml(parse_ontology(text))
    assert editor.plan_yaml(text).steps == ()
    with pytest.raises(Conflict, match="was applied at seq"):
        editor.apply(plan)
    with database.read(editor.kb) as conn:
        assert edits.kept_plan(conn, editor.kb, plan.id[:12])["applied_seq"] is not None
        with pytest.raises(NotFound):
            edits.kept_plan(conn, editor.kb, "0" * 64)


def test_what_is_used_is_not_removed_and_the_plan_says_by_how_much(editor, scribe):
    scribe.say("Ada", "leads", "Heron", start=day("2021-01-01"), kinds={"Ada": "person", "Heron": "project"})
    scribe.say("Ada", "salary", money("5 EUR", "5"))
    plan = editor.plan([])
    assert actions(plan) == {
        "leads": "it is used: 1 fact",
        "person": "it is used: 1 entity",
        "project": "it is used: 1 entity",
        "salary": "it is used: 1 fact",
        "works_on": "removed",
    }
    editor.apply(plan)
    assert set(terms_of(editor.held())) == {"leads", "person", "project", "salary"}


def test_a_term_that_others_name_stays_until_they_go(editor):
    with_team = ONTOLOGY.replace("relations:", "  - {key: team, label: Team, parents: [project]}\nrelations:")
    editor.apply(editor.plan_yaml(with_team))
    with pytest.raises(Conflict, match="it is used: 2 terms"):
        editor.act(edits.delete_term, "project")
    assert editor.act(edits.delete_term, "team").action == "removed"
    with pytest.raises(Conflict, match="it is used: 1 term"):
        editor.act(edits.delete_term, "project")
    editor.act(edits.delete_term, "leads")
    editor.act(edits.delete_term, "project")
    with pytest.raises(NotFound):
        editor.act(edits.delete_term, "project")
    assert "project" not in terms_of(editor.held())


def test_late_uniqueness_of_a_used_relation_is_in_the_plan_and_comes_out_so(editor, scribe, database, kb):
    for who, since in (("Ada", "2020-01-01"), ("Bea", "2022-01-01"), ("Cy", "2023-01-01")):
        scribe.say(who, "works_on", "Heron", start=day(since))
    assert [r["ended"] for r in held_facts(database, kb, "works_on")] == [False]
    text = ONTOLOGY.replace(
        "{key: works_on, label: works on,", "{key: works_on, label: works on, inverse_functional: true,"
    )
    plan = editor.plan_yaml(text)
    (step,) = plan.steps
    assert (step.fields, step.outcomes["closed"], step.uses["facts"]) == (("inverse_functional",), 2, 3)
    assert plan.shown()["facts"] == {"closed": 2}
    works_on = editor.held().by_key["works_on"].model_copy(update={"inverse_functional": True})
    with pytest.raises(Conflict, match="would come out otherwise"):
        editor.act(edits.put_term, works_on)
    assert [r["ended"] for r in held_facts(database, kb, "works_on")] == [False]
    editor.apply(plan)
    assert {r["ended"]: r["n"] for r in held_facts(database, kb, "works_on")} == {False: 1, True: 2}


@pytest.mark.parametrize("moved", ["another edit", "another fact"])
def test_a_plan_is_refused_once_the_base_moved_on_in_what_it_rests_on(editor, scribe, moved):
    scribe.say("Ada", "works_on", "Heron", start=day("2020-01-01"))
    text = ONTOLOGY.replace("{key: works_on, label: works on,", "{key: works_on, label: works on, functional: true,")
    plan = editor.plan_yaml(text)
    if moved == "another edit":
        editor.act(edits.put_term, OntologyClass(key="team", label="Team"))
    else:
        scribe.say("Ada", "works_on", "Kite", start=day("2021-01-01"))
    before = write_yaml(editor.held())
    with pytest.raises(Conflict, match="moved on"):
        editor.apply(plan)
    assert write_yaml(editor.held()) == before
    editor.apply(editor.plan_yaml(text))
    assert editor.held().by_key["works_on"].functional


def test_a_plan_outlives_facts_that_it_does_not_rest_on(editor, scribe):
    plan = editor.plan_yaml(ONTOLOGY.replace("label: Project", "label: Undertaking"))
    scribe.say("Ada", "works_on", "Kite", start=day("2021-01-01"))
    editor.apply(plan)
    assert terms_of(editor.held())["project"].label == "Undertaking"


def test_values_and_kinds_of_used_terms_stay(editor, scribe):
    scribe.say("Ada", "salary", money("5 EUR", "5"))
    plan = editor.plan_yaml(ONTOLOGY.replace("datatype: money", "datatype: number"))
    assert actions(plan) == {"salary": "datatype cannot change while values rest on it: 1 fact"}
    plan = editor.plan_yaml(ONTOLOGY.replace("kind: attribute, datatype: money", "kind: relation"))
    assert actions(plan) == {"salary": "it cannot become another kind of term while it is used: 1 fact"}
    assert editor.plan([]).final.by_key.keys() == {"salary"}


def test_only_a_state_is_unique_and_what_names_a_refused_term_is_refused_too(editor):
    text = ONTOLOGY.replace("relations:", "relations:\n  - {key: met, label: met, temporal: event, functional: true}\n"
                            "  - {key: saw, label: saw, sub_property_of: met}\n")  # fmt: skip
    plan = editor.plan_yaml(text)
    assert actions(plan) == {"met": "only a state can be unique at a time, not an event",
                             "saw": "it names met, which is refused"}  # fmt: skip
    assert (
        editor.plan_yaml(text.replace(", functional: true}\n  - {key: saw", "}\n  - {key: saw")).steps[0].action
        == "added"
    )


def test_adding_takes_nothing_away_and_tells_namesakes_apart(editor):
    mine = ONTOLOGY.replace("label: Person}", "label: Person, iri: 'https://a.example/Person', aliases: [human]}")
    editor.apply(editor.plan_yaml(mine))
    more = """
classes: [{key: person, label: Individual, iri: 'https://a.example/Person'}, {key: project, label: Project, iri: 'https://a.example/P'}]
relations: [{key: leads, label: heads, transitive: true}]
"""
    plan = editor.plan_yaml(more, "add")
    assert actions(plan) == {"leads": "changed", "person": "changed", "project": "changed"}
    editor.apply(plan)
    now = terms_of(editor.held())
    assert now["person"].aliases == ("human", "Individual") and now["person"].label == "Person"
    assert (now["leads"].inverse_functional, now["leads"].transitive, now["leads"].aliases) == (True, True, ("heads",))
    assert editor.plan_yaml(more, "add").steps == ()
    clash = "classes: [{key: person, label: Person, iri: 'https://b.example/Person'}, {key: leads, label: Leads}]"
    assert actions(editor.plan_yaml(clash, "add")) == {
        "leads": "the key is taken: leads is declared as a relation, not a class",
        "person": "the key is taken: person is https://a.example/Person, not https://b.example/Person",
    }


def test_a_term_is_known_by_its_iri_whatever_its_key(editor):
    editor.apply(editor.plan_yaml(ONTOLOGY.replace("label: Person}", "label: Person, iri: 'https://a.example/X'}")))
    other = """
classes: [{key: human, label: Person, iri: 'https://a.example/X'}, {key: child, label: Child, parents: [human]}]
relations: [{key: minds, label: minds, domain: human}]
"""
    plan = editor.plan_yaml(other, "add")
    assert actions(plan) == {"child": "added", "minds": "added"}
    editor.apply(plan)
    assert terms_of(editor.held())["child"].parents == ("person",)
    assert editor.held().by_key["minds"].domain == ("person",)


def test_a_plan_tells_how_many_claims_would_be_bound_otherwise(editor, scribe, database, kb):
    claimed(scribe, "Ada assists Heron.")
    with database.read(kb) as conn:
        held = list(terms_of(editor.held()).values())
        assists = Relation(key="assists", label="assists")
        assert make_plan(conn, kb, held, "replace").rebound == 0
        assert make_plan(conn, kb, [*held, assists], "replace").rebound == 1


def test_terms_that_do_not_fit_together_are_no_plan(editor):
    lone = Relation(key="minds", label="minds", domain=("nobody",))
    with pytest.raises(InvalidInput, match="minds names nobody"):
        editor.plan([*terms_of(editor.held()).values(), lone])
    with pytest.raises(InvalidInput, match="declared twice"):
        editor.plan([OntologyClass(key="x", label="X"), OntologyClass(key="x", label="Y")])


def test_of_plans_that_nobody_applies_the_newest_are_kept(editor, database):
    made = [editor.plan([OntologyClass(key=f"c{n}", label="C")]).id for n in range(edits.KEPT + 3)]
    with database.read(editor.kb) as conn:
        kept = {p["plan"] for p in edits.list_plans(conn, editor.kb)}
    assert kept == set(made[3:])
