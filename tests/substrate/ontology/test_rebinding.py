"""A person decides what a phrase names: previewed, then exactly that, on both clocks, and taken back exactly."""

from __future__ import annotations

from uuid import uuid4

import pytest

from substrate.errors import Conflict, InvalidInput, NotFound
from substrate.ontology.bindings_plan import Change, Decision, apply_change, preview_change
from substrate.ontology.terms import parse_ontology
from tests.substrate.ontology.lines import BY, ONTOLOGY, new_lines


@pytest.fixture
def lines(database, settings):
    return new_lines(database, settings)


SAID = ("Ann | spearheads | Orion | 2024-01-01", "Bo | spearheads | Vega", "Cy | works for | Acme")


def some(plan):
    return {name: n for name, n in plan.counts.items() if n}


def test_the_preview_writes_nothing_and_what_is_applied_is_what_it_said(lines):
    lines.tell("a", *SAID)
    before, seq = lines.held(), lines.seq()
    assert ("Ann", "~spearheads", "Orion", "2024-01-01") in before
    plan = lines.preview(Decision("spearheads", "leads"))
    assert (lines.held(), lines.seq()) == (before, seq)
    assert some(plan) == {"claims": 2, "retyped": 2}
    shown = plan.examples["retyped"][0]
    assert (shown["before"]["predicate_key"], shown["after"]["predicate_key"]) == (None, "leads")
    done = lines.apply(plan)
    assert (done.counts, done.fingerprint) == (plan.counts, plan.fingerprint)
    assert lines.held() == [
        ("Ann", "leads", "Orion", "2024-01-01"),
        ("Bo", "leads", "Vega", None),
        ("Cy", "works_for", "Acme", None),
    ]
    assert lines.held_at(seq) == before, "as of before, the phrase was bound to nothing"
    assert lines.sound()


def test_a_fact_keeps_its_lineage_when_its_phrase_is_bound(lines):
    lines.tell("a", *SAID)
    statement = "select lineage_id from facts where kb_id = %s and valid_from is not null and invalidated_seq is null"
    lineage = lines.one(statement)
    lines.decide("spearheads", "leads")
    assert lines.one(statement) == lineage


def test_what_comes_later_is_bound_as_was_decided_and_as_if_it_had_always_been(lines, database, settings):
    lines.tell("a", *SAID)
    lines.decide("Spearheads", "leads")
    lines.tell("b", "Di | spearheaded | Lyra | 2025-01-01")
    other = new_lines(database, settings, "early")
    other.decide("spearheads", "leads")
    other.tell("a", *SAID)
    other.tell("b", "Di | spearheaded | Lyra | 2025-01-01")
    assert lines.held() == other.held() and ("Di", "leads", "Lyra", "2025-01-01") in lines.held()
    assert lines.names() == other.names()


def test_a_phrase_may_name_a_relation_backwards(lines):
    lines.tell("a", "Orion | fronted by | Ann | 2024-01-01")
    plan = lines.preview(Decision("fronted by", "leads", backwards=True))
    assert some(plan) == {"claims": 1, "retyped": 1}
    lines.apply(plan)
    assert lines.held() == [("Ann", "leads", "Orion", "2024-01-01")]
    back = lines.preview(Decision("fronted by", "leads"))
    lines.apply(back)
    assert lines.held() == [("Orion", "leads", "Ann", "2024-01-01")]
    assert lines.sound()


def test_uniqueness_is_judged_where_a_bound_fact_lands(lines):
    lines.tell("a", "Ann | leads | Orion | 2024-01-01", "Bo | spearheads | Orion | 2025-01-01")
    assert [f[:3] for f in lines.held()] == [("Ann", "leads", "Orion"), ("Bo", "~spearheads", "Orion")]
    plan = lines.preview(Decision("spearheads", "leads"))
    assert some(plan) == {"claims": 1, "retyped": 1, "closed": 1}
    lines.apply(plan)
    ended = (
        "select valid_to::date::text from facts where kb_id = %s and invalidated_seq is null and valid_to is not null"
    )
    assert lines.one(ended) == "2025-01-01"


def test_a_thing_becomes_a_literal_and_a_thing_again(lines):
    lines.tell("a", "Acme | lives by | Onward")
    assert lines.held() == [("Acme", "~lives by", "Onward", None)] and lines.names() == ["Acme", "Onward"]
    made = lines.decide("lives by", "motto")
    assert lines.held() == [("Acme", "motto", "=Onward", None)] and lines.names() == ["Acme"]
    plan = lines.preview(undo=made.bindings)
    assert some(plan) == {"claims": 1, "retyped": 1, "names_added": 1}
    lines.apply(plan)
    assert lines.held() == [("Acme", "~lives by", "Onward", None)] and lines.names() == ["Acme", "Onward"]
    assert lines.sound()


def test_a_literal_becomes_a_thing(lines):
    lines.tell("a", "Ann | engaged at | =Acme")
    assert lines.held() == [("Ann", "~engaged at", "=Acme", None)]
    plan = lines.preview(Decision("engaged at", "works_for"))
    assert some(plan) == {"claims": 1, "retyped": 1, "names_added": 1, "entities_made": 1}
    lines.apply(plan)
    assert lines.held() == [("Ann", "works_for", "Acme", None)] and lines.names() == ["Acme", "Ann"]


def test_a_decision_is_taken_back_exactly(lines):
    lines.tell("a", *SAID)
    before, names = lines.held(), lines.names()
    made = lines.decide("spearheads", "leads")
    assert lines.held() != before
    plan = lines.preview(undo=made.bindings)
    assert some(plan) == {"claims": 2, "retyped": 2}
    lines.apply(plan)
    assert (lines.held(), lines.names()) == (before, names)
    with pytest.raises(Conflict, match="in force no more"):
        lines.preview(undo=made.bindings)
    assert lines.sound()


def test_a_person_may_say_that_a_phrase_names_nothing(lines):
    lines.tell("a", "Ann | leads | Orion | 2024-01-01")
    lines.decide("leads", None)
    assert lines.held() == [("Ann", "~leads", "Orion", "2024-01-01")]
    lines.run()
    assert lines.held() == [("Ann", "~leads", "Orion", "2024-01-01")]


def test_a_decision_on_a_wording_leaves_the_other_wordings(lines):
    lines.tell("a", "Ann | helps / helps run | Orion", "Bo | helps / helps out at | Acme")
    lines.decide("helps run", "leads")
    assert lines.held() == [("Ann", "leads", "Orion", None), ("Bo", "~helps", "Acme", None)]


def test_what_a_person_refused_stays_out_when_its_phrase_is_bound(lines, database):
    from substrate.ledger import open_door
    from substrate.ledger.retractions import reject_fact

    lines.tell("a", *SAID)
    fact = lines.one("select id from facts where kb_id = %s and valid_from is not null and invalidated_seq is null")
    with database.write(lines.kb_id) as connection:
        with open_door(connection, lines.kb_id, **BY, action="rejected") as door:
            reject_fact(door, fact, "no")
    lines.decide("spearheads", "leads")
    assert [f[:3] for f in lines.held()] == [("Bo", "leads", "Vega"), ("Cy", "works_for", "Acme")]
    lines.tell("b", "Ann | spearheads | Orion | 2024-02-01")
    assert [f[:3] for f in lines.held()] == [("Bo", "leads", "Vega"), ("Cy", "works_for", "Acme")]


def test_a_plan_is_good_for_the_head_it_was_made_at_and_for_its_figures(lines):
    lines.tell("a", *SAID)
    plan = lines.preview(Decision("spearheads", "leads"))
    lines.tell("b", "Di | works for | Acme")
    before = lines.held(), lines.seq()
    with pytest.raises(Conflict, match="moved on"):
        lines.apply(plan)
    fresh = lines.preview(Decision("spearheads", "leads"))
    with pytest.raises(Conflict, match="not what was planned"):
        apply_change(lines.database, lines.kb_id, fresh.change, seq=fresh.seq, plan="0" * 64, **BY)
    other = Change((Decision("spearheads", "works_for"),))
    with pytest.raises(Conflict, match="not what was planned"):
        apply_change(lines.database, lines.kb_id, other, seq=fresh.seq, plan=fresh.fingerprint, **BY)
    assert (lines.held(), lines.seq()) == before


@pytest.mark.parametrize(
    ("decisions", "error", "told"),
    [
        ((), InvalidInput, "nothing is decided"),
        ((Decision("heads up", "nowhere"),), NotFound, r"decisions\[0\].relation"),
        ((Decision(" ", "leads"),), InvalidInput, r"decisions\[0\].phrase"),
        ((Decision("is led by", "leads"), Decision("led by", None)), InvalidInput, "decided twice"),
        ((Decision("says", "motto", True),), InvalidInput, r"decisions\[0\].backwards"),
        ((Decision("says", None, True),), InvalidInput, r"decisions\[0\].backwards"),
        ((Decision("also known as", "leads"),), InvalidInput, "tells a name"),
    ],
)
def test_what_cannot_be_decided_is_refused_by_name(lines, decisions, error, told):
    with pytest.raises(error, match=told):
        lines.preview(*decisions)


def test_only_a_person_s_decision_is_taken_back(lines):
    with pytest.raises(NotFound, match="no binding"):
        lines.preview(undo=(uuid4(),))


def kept(lines, text):
    from substrate.ontology.classes import terms_of
    from substrate.ontology.edits import keep_plan

    with lines.database.write(lines.kb_id) as connection:
        return keep_plan(connection, lines.kb_id, list(terms_of(parse_ontology(text)).values()), "replace", by="x").id


def test_an_edit_of_the_ontology_is_previewed_with_what_becomes_of_facts_and_applied_so(lines):
    lines.tell("a", "Ann | leads | Orion | 2024-01-01", "Bo | spearheads | Orion | 2025-01-01", "Cy | cheers | Orion")
    before, seq = lines.held(), lines.seq()
    plan_id = kept(lines, ONTOLOGY.replace("label: leads,", "label: leads, aliases: [spearheads],"))
    change = Change((Decision("cheers", "works_for"),), ontology_plan=plan_id)
    plan = preview_change(lines.database, lines.kb_id, change)
    assert (lines.held(), lines.seq()) == (before, seq)
    assert some(plan) == {"claims": 2, "retyped": 2, "closed": 1}
    lines.apply(plan)
    assert [f[:2] for f in lines.held()] == [("Ann", "leads"), ("Bo", "leads"), ("Cy", "works_for")]
    assert lines.held_at(seq) == before
    assert lines.sound()


def test_a_relation_declared_unique_late_and_a_phrase_bound_to_it_are_one_change(lines):
    lines.tell("a", "Ann | works for | Acme | 2024-01-01", "Ann | toils at | Beta | 2025-01-01")
    plan_id = kept(lines, ONTOLOGY.replace("label: works for}", "label: works for, functional: true}"))
    plan = preview_change(
        lines.database, lines.kb_id, Change((Decision("toils at", "works_for"),), ontology_plan=plan_id)
    )
    assert some(plan) == {"claims": 1, "retyped": 1, "closed": 1}
    lines.apply(plan)
    assert [f[1] for f in lines.held()] == ["works_for", "works_for"]


def test_a_plan_of_the_ontology_that_is_not_there_is_refused(lines):
    with pytest.raises(NotFound, match="no plan"):
        preview_change(lines.database, lines.kb_id, Change(ontology_plan="0" * 64))


def test_a_phrase_bound_between_two_stages_finds_the_names_it_needs(lines):
    from substrate.documents.intake import PushItem, push
    from substrate.pipeline import Services, run_pipeline
    from tests.substrate.ontology.lines import LineReader

    item = PushItem("a", "a.txt", b"Ann | engaged at | =Acme\nBo | lives by | Onward\n", None, "", "text/plain", "")
    push(lines.database, lines.kb_id, [item], **BY)
    with Services(lines.settings, embedder=lines.embedder, extractor=LineReader()) as services:
        run_pipeline(lines.database, lines.kb_id, services, ("parse", "claims", "entities"))
        lines.decide("engaged at", "works_for")
        lines.decide("lives by", "motto")
        run_pipeline(lines.database, lines.kb_id, services, ("facts",))
    assert lines.held() == [("Ann", "works_for", "Acme", None), ("Bo", "motto", "=Onward", None)]
    mentioned = "select count(*) from mentions where kb_id = %s and surface = 'Acme' and role = 'object'"
    assert lines.one(mentioned) == 1
    assert lines.sound()


def test_a_thing_that_a_binding_makes_is_the_one_that_other_documents_name(lines):
    lines.tell("a", "Ann | engaged at | =Acme")
    lines.tell("b", "Cy | works for | Acme")
    lines.decide("engaged at", "works_for")
    assert lines.held() == [("Ann", "works_for", "Acme", None), ("Cy", "works_for", "Acme", None)]
    assert lines.one("select count(*) from entities where kb_id = %s and label = 'Acme'") == 1
