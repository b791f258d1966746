"""What is held is a function of what was said, deleted and merged: not of the order, and not of the batches.

==============================================  ==============================================
given                                           then
==============================================  ==============================================
the same statements, another order and cut      the same held facts by natural key, every column
                                                but ids and record time, evidence included
one batch                                       the same as one statement at a time
a document deleted midway, after it spoke       the same as deleted last
two entities merged midway                      the same as merged last
a triple rejected, then stated again            held in neither order
a name that many passages state                 the same through the short way as through the long
the last statement of a triple goes             the fact is closed, and no evidence link outlives it
==============================================  ==============================================
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from substrate.axes.valid_time import bucket_end, truncate
from substrate.db import EVERY_BASE
from substrate.extraction.claims import ClaimTime
from tests.properties.ledger_play import RELATIONS, Play, Said, day

PEOPLE = ("Ann", "Bo", "Cy")
THINGS = ("Xi", "Yo")


@st.composite
def statements(draw):
    """A statement of any precision and any kind of end."""
    kind = draw(st.sampled_from(("open", "open", "dated", "unknown", "none")))
    unit = draw(st.sampled_from(("year", "month", "day")))
    start = truncate(day(draw(st.integers(0, 900))), unit) if kind != "none" and draw(st.booleans()) else None
    end, end_unit = None, None
    if kind == "unknown":
        end_unit = "unknown"
    if kind == "dated":
        end_unit = draw(st.sampled_from(("year", "month", "day")))
        end = bucket_end(truncate(day(draw(st.integers(0, 900))), end_unit), end_unit)
        if start is not None and end <= start:
            end = end_unit = None
    return Said(
        draw(st.sampled_from(PEOPLE)),
        draw(st.sampled_from(RELATIONS)),
        draw(st.sampled_from(THINGS)),
        attested=draw(st.none() | st.integers(0, 900)),
        denies=draw(st.sampled_from((False,) * 5 + (True,))),
        corrects=draw(st.sampled_from((False,) * 4 + (True,))),
        replaces=draw(st.sampled_from((None, None, *THINGS))),
        doc=draw(st.integers(0, 3)),
        time=ClaimTime(start, unit if start else None, end, end_unit, draw(st.sampled_from("AB"))),
        phrase=draw(st.sampled_from((None, "other words"))),
        quote=draw(st.sampled_from(("q", "r"))),
        confidence=draw(st.sampled_from((1.0, 0.9, 0.123456789))),
    )


def alike(said):
    """Two runs give the same keys to the same statements."""
    return [replace(s, key=f"same:{i}") for i, s in enumerate(said)]


def in_pieces(play, said, rnd, *, deleted=(), merged=None):
    """Shuffled, in random batches; the deletion as soon as its document has spoken, the merge anywhere."""
    order = list(said)
    rnd.shuffle(order)
    merge_at = rnd.randrange(len(order) + 1) if merged else -1
    waiting = {d: sum(s.doc == d for s in order) for d in deleted}
    batch = []
    for i, s in enumerate(order):
        if i == merge_at:
            _flush(play, batch)
            play.merge(*merged)
        batch.append(s)
        if s.doc in waiting:
            waiting[s.doc] -= 1
        if (done := [d for d, left in waiting.items() if left == 0]) or rnd.random() < 0.4:
            _flush(play, batch)
            for d in done:
                play.delete(d)
                del waiting[d]
    _flush(play, batch)
    if merge_at == len(order):
        play.merge(*merged)


def _flush(play, batch):
    if batch:
        play.say(*batch)
    batch.clear()


CAREFUL = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


def search(examples):
    return settings(deadline=None, max_examples=examples, suppress_health_check=CAREFUL, derandomize=False,
                    phases=(Phase.explicit, Phase.generate, Phase.shrink))  # fmt: skip


def same_in_any_order(database, said, seed, deleted, merged):
    said = alike(said)
    one, other = Play.begin(database), Play.begin(database)
    for play in (one, other):  # who is met first decides the label, so everyone is met first
        play.say(Said("Ann", "works_for", "Xi", key="first"), also=(*PEOPLE, *THINGS))
    if said:
        one.say(*said)
    if said and deleted:
        one.delete(*deleted)
    if merged:
        one.merge(*merged)
    in_pieces(other, said, random.Random(seed), deleted=deleted, merged=merged)
    assert one.natural() == other.natural()
    for play in (one, other):
        with play.database.read(play.kb_id) as connection:
            orphans = connection.execute(ORPHANS, {"kb_id": play.kb_id}).fetchone()["n"]
        assert orphans == 0, "a held link whose assertion or fact is not held"


ORPHANS = """
    select count(*) as n from evidence e
    left join assertions a on a.kb_id = e.kb_id and a.id = e.assertion_id and a.invalidated_seq is null
    left join facts f on f.kb_id = e.kb_id and f.lineage_id = e.lineage_id and f.invalidated_seq is null
    where e.kb_id = %(kb_id)s and e.invalidated_seq is null and (a.id is null or f.id is null)"""
ARGUMENTS = {
    "said": st.lists(statements(), max_size=10),
    "seed": st.integers(0, 99),
    "deleted": st.sampled_from(((), (0,), (1, 2))),
    "merged": st.sampled_from((None, ("Ann", "Bo"), ("Xi", "Yo"), ("Ann", "Xi"))),
}


@search(60)
@given(**ARGUMENTS)
def test_neither_order_nor_batches_matter(database, said, seed, deleted, merged):
    same_in_any_order(database, said, seed, deleted, merged)


@pytest.mark.slow
@search(1500)
@given(**ARGUMENTS)
def test_neither_order_nor_batches_matter_in_many_more(database, said, seed, deleted, merged):
    same_in_any_order(database, said, seed, deleted, merged)


def test_words_and_confidence_are_those_of_the_best_statement_whichever_came_first(database):
    better = Said("Ann", "leads", "Xi", start=1, attested=1, phrase="heads", quote="a", confidence=0.9, key="one")
    worse = Said("Ann", "leads", "Xi", start=1, attested=1, phrase="runs", quote="b", confidence=0.4, key="two")
    one, other, both = (Play.begin(database) for _ in range(3))
    for play, order in ((one, (better, worse)), (other, (worse, better))):
        for s in order:
            play.say(s)
    both.say(better, worse)
    assert one.natural() == other.natural() == both.natural()
    assert [(r["phrase"], round(r["confidence"], 6)) for r in other.rows()] == [("heads", 0.9)]


def test_a_rejected_triple_is_out_whether_stated_before_or_after(database):
    first = Said("Ann", "leads", "Xi", start=1, key="a")
    again = Said("Ann", "leads", "Xi", start=500, end=600, key="b")
    rival = Said("Bo", "leads", "Xi", start=300, key="c")
    one, other = Play.begin(database), Play.begin(database)
    one.say(first, again, rival)
    one.reject(next(r["id"] for r in one.rows() if r["subject"] == "Ann"))
    other.say(first, rival)
    other.reject(next(r["id"] for r in other.rows() if r["subject"] == "Ann"))
    assert other.say(again).refused == 1
    assert [r["subject"] for r in one.rows()] == ["Bo"]
    assert one.natural() == other.natural()


def test_a_merge_takes_a_refusal_to_what_the_other_side_holds(database):
    play = Play.begin(database)
    play.say(Said("Ann", "leads", "Xi", start=1), Said("Bo", "leads", "Yo", start=1))
    play.reject(next(r["id"] for r in play.rows() if r["subject"] == "Ann"))
    play.merge("Xi", "Yo")
    assert [r["subject"] for r in play.rows()] == ["Bo"]
    play.merge("Ann", "Bo")
    assert play.rows() == []


def test_evidence_that_both_sides_of_a_merge_hold_becomes_one_fact(database):
    play = Play.begin(database)
    play.say(Said("Ann", "works_for", "Xi", start=1, key="x"), Said("Ann", "works_for", "Yo", start=1, key="y"))
    assert len(play.rows()) == 2
    play.merge("Xi", "Yo")
    assert [(r["object"], r["evidence"]) for r in play.rows()] == [("Xi", ["x", "y"])]
    assert [r["object"] for r in play.rows(play.seq() - 1)] == ["Xi", "Yo"] or len(play.rows(play.seq() - 1)) == 2
    with database.read(EVERY_BASE) as connection:
        kinds = connection.execute(
            "select invalidated_kind from facts where kb_id = %s and invalidated_seq is not null", (play.kb_id,)
        ).fetchall()
    assert [k["invalidated_kind"] for k in kinds] == ["merged"]


def test_a_chain_of_merges_is_one_entity_from_either_end(database):
    one, other = Play.begin(database), Play.begin(database)
    for play, chain in ((one, (("Bo", "Ann"), ("Cy", "Bo"))), (other, (("Cy", "Bo"), ("Cy", "Ann")))):
        play.say(*alike(Said(who, "leads", "Xi", start=i) for i, who in enumerate(("Ann", "Bo", "Cy"))))
        for pair in chain:
            play.merge(*pair)
    assert one.natural() == other.natural()
    assert [(r["subject"], len(r["evidence"])) for r in one.rows()] == [("Cy", 3)]


@pytest.mark.parametrize(("denial", "kind"), [(True, "corrected"), (False, "retracted")])
def test_the_last_statement_takes_its_fact_and_its_links_along(database, denial, kind):
    play = Play.begin(database)
    play.say(Said("Ann", "works_for", "Xi", start=1, doc=1, attested=1))
    [fact] = play.rows()
    if denial:
        play.say(Said("Ann", "works_for", "Xi", denies=True, doc=2, attested=5))
    else:
        assert play.delete(1).fact_ids == (fact["id"],)
    assert play.rows() == []
    with database.read(EVERY_BASE) as connection:
        row = connection.execute("select * from facts where id = %s", (fact["id"],)).fetchone()
        links = connection.execute(
            "select count(*) as n from evidence where kb_id = %s and invalidated_seq is null", (play.kb_id,)
        ).fetchone()["n"]
    assert (row["invalidated_kind"], links) == (kind, 0)
    assert [r["id"] for r in play.rows(play.seq() - 1)] == [fact["id"]]


def test_a_deletion_names_the_facts_that_ended_and_not_those_that_changed(database):
    play = Play.begin(database)
    play.say(Said("Ann", "leads", "Xi", start=1, doc=1), Said("Bo", "leads", "Xi", start=9, doc=2))
    play.say(Said("Ann", "leads", "Xi", start=1, doc=2), Said("Cy", "works_for", "Xi", doc=1))
    facts = {r["subject"]: r for r in play.rows()}
    gone = play.delete(2)
    assert gone.fact_ids == (facts["Bo"]["id"],)
    assert set(gone.changed) == {facts["Bo"]["lineage_id"], facts["Ann"]["lineage_id"]}, "Ann's end is open again"
    assert {r["subject"]: r["holds_to"] for r in play.rows()} == {"Ann": None, "Cy": None}


def test_rejecting_one_stretch_rejects_the_triple_and_gives_its_rivals_back(database):
    play = Play.begin(database)
    play.say(
        Said("Ann", "leads", "Xi", start=1),
        Said("Bo", "leads", "Xi", start=100),
        Said("Ann", "leads", "Xi", start=200),
        Said("Bo", "leads", "Xi", start=300),
    )
    assert len(play.rows()) == 4
    play.reject(next(r["id"] for r in play.rows() if r["subject"] == "Ann" and r["valid_to"] == day(100)))
    assert [(r["subject"], r["valid_from"], r["valid_to"]) for r in play.rows()] == [("Bo", day(100), None)]


def test_a_correction_gives_back_what_the_corrected_had_cut(database):
    """Cy-Yo is no rival of Ann-Xi, yet it takes away the marriage that had ended Ann-Xi."""
    one, other = Play.begin(database), Play.begin(database)
    said = alike(
        [
            Said("Ann", "married_to", "Xi", 1, attested=1),
            Said("Ann", "married_to", "Yo", 10, attested=10),
            Said("Cy", "married_to", "Yo", 10, attested=20, corrects=True, doc=3),
        ]
    )
    one.say(*said)
    for s in said:
        other.say(s)
    assert one.natural() == other.natural()
    assert {(r["subject"], r["object"]): r["valid_to"] for r in other.rows()} == {
        ("Ann", "Xi"): None,
        ("Cy", "Yo"): None,
    }
    other.delete(3)
    assert {(r["subject"], r["object"]): r["valid_to"] for r in other.rows()} == {
        ("Ann", "Xi"): day(10),
        ("Ann", "Yo"): None,
    }


@pytest.mark.parametrize("shuffle", range(6))
def test_an_eternal_fact_is_the_same_by_the_short_way(database, shuffle, monkeypatch):
    """The short way adds evidence without reading what is there; switched off, the long way must agree."""
    from substrate.ledger import recompute

    rnd = random.Random(shuffle)
    said = alike(
        Said("Ann", "same_as", rnd.choice(THINGS), attested=rnd.randrange(90), doc=i % 3, quote=rnd.choice("qrs"),
             phrase=rnd.choice((None, "is", "equals")), confidence=rnd.choice((0.5, 0.123456789, 1.0)),
             time=ClaimTime(grade=rnd.choice("ABC")), denies=rnd.random() < 0.1)
        for i in range(24)
    )  # fmt: skip
    short, long = Play.begin(database), Play.begin(database)
    for s in said:
        short.say(s)
    monkeypatch.setattr(recompute, "_add_to_eternal", lambda scene, rows: (set(), set()))
    long.say(*said)
    assert short.natural() == long.natural()
    for play in (short, long):  # from here on the long way mends what the short one would have left
        play.delete(1)
    assert short.natural() == long.natural()
    assert len(short.rows()) <= 2
