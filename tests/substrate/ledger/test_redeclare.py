"""A relation declared otherwise while facts rest on it: previewed, then exactly that, and both clocks show it."""

from __future__ import annotations

import pytest

from substrate.errors import Conflict, InvalidInput, NotFound
from substrate.ledger.conflicts import decide
from substrate.ledger.corrections import correct_period, parse_start
from substrate.ledger.redeclare import apply_redeclaration, preview_redeclaration
from substrate.ontology.store import load_ontology

FULL = (
    ("Ann", "Acme", {"start": "2020-01-01"}),
    ("Ann", "Beta", {"start": "2021-01-01"}),
    ("Ann", "Gama", {"start": "2021-01-01"}),
    ("Bo", "Acme", {"start": "2020-01-01", "end": "2022-01-01"}),
    ("Bo", "Beta", {"start": "2021-01-01"}),
    ("Cy", "Acme", {}),
    ("Cy", "Beta", {"start": "2021-01-01"}),
    ("Di", "Acme", {"start": "2019-01-01"}),
)


def works(hand, *said):
    hand.say(*({"subject": s, "phrase": "works for", "obj": o, **time} for s, o, time in said))


def preview(judge, **change):
    with judge.database.read(judge.kb_id) as connection:
        return preview_redeclaration(connection, judge.kb_id, "works_for", **change)


def applied(judge, plan):
    return judge.act(apply_redeclaration, plan.change, seq=plan.seq, fingerprint=plan.fingerprint)


def counts(plan):
    return {k: n for k, n in plan.counts.items() if n}


def test_the_preview_writes_nothing_and_the_change_is_what_it_said(hand, judge):
    works(hand, *FULL)
    before, seq = hand.held(), judge.seq()
    plan = preview(judge, functional=True)
    assert (judge.seq(), hand.held()) == (seq, before)
    assert plan.facts == 8 and counts(plan) == {"closed": 1, "conflicts_opened": 3}
    assert plan.examples["closed"][0]["subject"] == "Ann" and plan.examples["closed"][0]["object"] == "Acme"
    assert hand.objects("Ann", "works_for", "2022-01-01") == ["Acme", "Beta", "Gama"]
    done = applied(judge, plan)
    assert done.fingerprint == plan.fingerprint
    assert hand.objects("Ann", "works_for", "2020-06-01") == ["Acme"]
    assert hand.objects("Ann", "works_for", "2022-01-01") == ["Beta", "Gama"]
    assert sorted(r[0] for r in judge.open()) == ["no_time", "simultaneous", "simultaneous"]
    assert judge.open(seq) == []
    with judge.database.read(judge.kb_id) as connection:
        assert load_ontology(connection, judge.kb_id).unique("works_for") == (True, False)
        old = connection.execute(
            "select count(*) as n from facts where kb_id = %s and predicate_key = 'works_for' and recorded_seq <= %s "
            "and (invalidated_seq is null or invalidated_seq > %s) and valid_to_precision is null",
            (judge.kb_id, seq, seq),
        ).fetchone()["n"]
    assert old == 7, "as of before, nothing was closed"
    back = preview(judge, functional=False)
    assert counts(back) == {"reopened": 1, "conflicts_withdrawn": 3}
    applied(judge, back)
    assert hand.held() == before and judge.open() == []
    assert judge.sound()


def test_what_was_declared_late_is_what_would_have_been_declared_at_first(hand, judge, database):
    from substrate.bases import create_base
    from substrate.db import NO_BASE
    from tests.substrate.ledger.conftest import ONTOLOGY, Hand

    works(hand, *FULL)
    applied(judge, preview(judge, functional=True, inverse_functional=True))
    with database.write(NO_BASE) as connection:
        declared = ONTOLOGY.replace(
            "{key: works_for, label: works for}",
            "{key: works_for, label: works for, functional: true, inverse_functional: true}",
        )
        other = Hand(database, create_base(connection, "early", "Early", ontology_yaml=declared))
    works(other, *FULL)
    assert hand.held() == other.held()


def test_a_plan_is_good_for_the_head_it_was_made_at_alone(hand, judge):
    works(hand, *FULL)
    plan = preview(judge, functional=True)
    works(hand, ("Ed", "Acme", {}))
    seq = judge.seq()
    with pytest.raises(Conflict, match="moved on"):
        applied(judge, plan)
    assert judge.seq() == seq
    applied(judge, preview(judge, functional=True))
    assert judge.seq() == seq + 1


def test_a_plan_with_other_figures_is_not_carried_out(hand, judge):
    from dataclasses import replace

    works(hand, *FULL)
    plan, before = preview(judge, functional=True), hand.held()
    with pytest.raises(Conflict, match="not what was planned"):
        applied(judge, replace(plan, counts={**plan.counts, "closed": 7}))
    assert hand.held() == before


def test_a_state_becomes_an_event_and_a_state_again(hand, judge):
    works(hand, *FULL)
    before = hand.held()
    plan = preview(judge, temporal="event")
    assert plan.counts["retyped"] == 8
    applied(judge, plan)
    assert hand.objects("Di", "works_for", "2019-01-01") == ["Acme"]
    assert hand.objects("Di", "works_for", "2020-01-01") == []
    applied(judge, preview(judge, temporal="state"))
    assert hand.held() == before


def test_what_people_decided_outlives_a_declaration(hand, judge):
    works(hand, *FULL)
    judge.act(correct_period, judge.fact("Di", "works_for")[0]["id"], start=parse_start("2019-06"))
    applied(judge, preview(judge, functional=True))
    kept = next(r["id"] for r in judge.rows() if r["reason"] == "no_time")
    beside = next(r["id"] for r in judge.rows() if r["reason"] == "simultaneous" and r["old"] == "Ann")
    for conflict in (kept, beside):
        judge.act(decide, conflict, "kept_both")
    works(hand, ("Ann", "Beta", {"start": "2022-01-01"}))
    applied(judge, preview(judge, functional=False))
    plan = preview(judge, functional=True)
    assert counts(plan) == {"closed": 1, "conflicts_opened": 1}, "neither of the two that were kept ends the other"
    applied(judge, plan)
    assert "no_time" not in {r[0] for r in judge.open()}
    assert f"{judge.fact('Di', 'works_for')[0]['valid_from']:%F}" == "2019-06-01"


def test_what_cannot_be_declared_is_refused_by_field(hand, judge):
    works(hand, *FULL)
    with pytest.raises(NotFound):
        with judge.database.read(judge.kb_id) as connection:
            preview_redeclaration(connection, judge.kb_id, "nothing", functional=True)
    for change, field in (
        ({}, "relation"),
        ({"functional": False}, "relation"),
        ({"functional": True, "temporal": "event"}, "temporal"),
    ):
        with pytest.raises(InvalidInput) as refused:
            preview(judge, **change)
        assert refused.value.facts["field"] == field


def test_a_description_changes_while_facts_rest_on_it_and_a_meaning_does_not(hand, judge):
    from substrate.ontology.store import declare
    from substrate.ontology.terms import parse_ontology
    from tests.substrate.ledger.conftest import ONTOLOGY

    works(hand, *FULL)
    told = ONTOLOGY.replace("label: works for}", "label: works for, description: is paid by}")
    judge.act(declare, parse_ontology(told))
    with judge.database.read(judge.kb_id) as connection:
        assert load_ontology(connection, judge.kb_id).by_key["works_for"].description == "is paid by"
    with pytest.raises(Conflict, match="redeclare it"):
        judge.act(declare, parse_ontology(told.replace("is paid by}", "is paid by, functional: true}")))
