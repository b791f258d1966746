"""What two sources say against one another waits for a person; a verdict and its revert show on both clocks."""

from __future__ import annotations

import pytest

from substrate.errors import Conflict, NotFound
from substrate.ledger.conflicts import decide, revert
from substrate.ledger.corrections import correct_period, parse_end
from substrate.ledger.retractions import reject_fact


def lead(who, **time):
    return {"subject": who, "phrase": "leads", "obj": "Aurora", **time}


def test_two_that_open_on_one_day_wait_for_a_person_and_two_that_follow_do_not(hand, judge):
    hand.say(lead("Ann", start="2023-01-10"))
    hand.say(lead("Bo", start="2024-07-05"))
    assert judge.open() == []
    before = judge.seq()
    hand.say(lead("Cy", start="2024-07-05"))
    ((reason, *sides),) = judge.open()
    assert (reason, set(sides)) == ("simultaneous", {"Bo", "Cy"})
    assert judge.open(before) == []
    assert hand.subjects("leads", "Aurora", "2024-08-01") == ["Bo", "Cy"], "both stay readable"
    assert judge.sound()


def test_stated_periods_that_overlap_wait_and_those_that_meet_do_not(hand, judge):
    hand.say(lead("Ann", start="2023-01-10", end="2024-07-05"), lead("Bo", start="2024-07-05"))
    assert judge.open() == []
    hand.say({"subject": "Cy", "phrase": "leads", "obj": "Borealis", "start": "2020-01-01", "end": "2023-01-01"})
    hand.say({"subject": "Di", "phrase": "leads", "obj": "Borealis", "start": "2022-01-01"})
    assert judge.open() == [("simultaneous", "Cy", "Di")]


def test_one_without_any_time_waits_and_a_document_with_a_date_is_a_time(hand, judge):
    hand.say(lead("Ann", start="2023-01-10"))
    hand.say(lead("Bo"))
    assert judge.open() == [("no_time", "Ann", "Bo")]
    hand.say(lead("Bo", attested="2024-01-01"))
    assert judge.open() == []
    assert [(r["verdict"], r["decided_by"]) for r in _decided(judge)] == [("withdrawn", "test")]
    hand.say({"subject": "Cy", "phrase": "leads", "obj": "Borealis"})
    hand.say({"subject": "Di", "phrase": "works for", "obj": "X"}, {"subject": "Di", "phrase": "works for", "obj": "Y"})
    assert judge.open() == [], "one value alone and a plain relation contradict nothing"


def _decided(judge):
    with judge.database.read(judge.kb_id) as connection:
        return connection.execute(
            "select * from conflicts where kb_id = %s and invalidated_seq is not null order by invalidated_seq",
            (judge.kb_id,),
        ).fetchall()


def test_closing_the_old_ends_it_where_the_new_begins_until_that_is_taken_back(hand, judge):
    hand.say(lead("Ann", start="2023-01-10", end="2025-01-01"))
    hand.say(lead("Bo", start="2024-07-05"))
    conflict, before = judge.only(), judge.seq()
    assert hand.subjects("leads", "Aurora", "2024-08-01") == ["Ann", "Bo"]
    decided = judge.act(decide, conflict, "closed", "handed over")
    assert decided.correction_id is not None
    assert hand.subjects("leads", "Aurora", "2024-08-01") == ["Bo"]
    assert hand.subjects("leads", "Aurora", "2024-07-04") == ["Ann"]
    assert judge.open() == [] and judge.open(before) == [("simultaneous", "Ann", "Bo")]
    hand.say(lead("Ann", start="2023-01-10", end="2025-01-01"))
    assert judge.open() == [], "the same statement again is no news"
    assert hand.subjects("leads", "Aurora", "2024-08-01") == ["Bo"], "a person's end is not moved"
    again = judge.act(revert, conflict, "they overlapped")
    assert again != conflict and judge.only() == again
    assert hand.subjects("leads", "Aurora", "2024-08-01") == ["Ann", "Bo"]
    with pytest.raises(Conflict, match="taken back before"):
        judge.act(revert, conflict)
    assert judge.sound()


def test_the_old_is_closed_at_an_unknown_date_where_the_new_states_none(hand, judge):
    hand.say(lead("Ann", start="2023-01-10"), lead("Bo"))
    judge.act(decide, judge.only(), "closed")
    (ann,) = judge.fact("Ann")
    assert (ann["valid_to"], ann["valid_to_precision"], ann["valid_to_origin"]) == (None, "unknown", "stated")
    assert judge.open() == []
    hand.say(lead("Bo"))
    assert judge.open() == [], "decided for this pair of statements"


def test_keeping_both_suspends_uniqueness_for_the_pair_alone(hand, judge):
    hand.say(lead("Ann", start="2024-03-01"), lead("Bo", start="2024-03-01"))
    conflict = judge.only()
    judge.act(decide, conflict, "kept_both", "a pair")
    assert judge.open() == []
    hand.say(lead("Ann", start="2024-09-01"))
    assert [f["valid_to"] for f in judge.fact("Bo")] == [None], "no rival of Bo any more"
    hand.say(lead("Cy", start="2025-01-01"))
    assert hand.subjects("leads", "Aurora", "2024-12-31") == ["Ann", "Bo"]
    assert hand.subjects("leads", "Aurora", "2025-01-01") == ["Cy"], "Cy is a rival of either"
    judge.act(revert, conflict, "no")
    assert {r[0] for r in judge.open()} == {"simultaneous"} and len(judge.open()) == 1


def test_rejecting_the_new_refuses_it_and_the_revert_gives_it_back(hand, judge):
    hand.say(lead("Ann", start="2023-01-10"), lead("Bo", key="b"))
    conflict, before = judge.only(), judge.seq()
    decided = judge.act(decide, conflict, "rejected_new", "a namesake")
    assert hand.subjects("leads", "Aurora") == ["Ann"] and judge.open() == []
    assert judge.open(before) == [("no_time", "Ann", "Bo")]
    assert hand.say(lead("Bo", start="2024-01-01")).refused == 1, "a restatement is counted"
    assert decided.refusal_id is not None
    judge.act(revert, conflict, "it was him")
    assert "Bo" in hand.subjects("leads", "Aurora")
    assert judge.sound()


def test_a_conflict_is_withdrawn_when_one_side_goes(hand, judge):
    hand.say(lead("Ann", start="2024-03-01"), lead("Bo", start="2024-03-01"))
    assert len(judge.open()) == 1
    judge.act(reject_fact, judge.fact("Bo")[0]["id"], "no")
    assert judge.open() == []
    assert [r["verdict"] for r in _decided(judge)] == ["withdrawn"]


def test_a_verdict_needs_an_open_conflict(hand, judge):
    from uuid import uuid4

    hand.say(lead("Ann", start="2024-03-01"), lead("Bo", start="2024-03-01"))
    conflict = judge.only()
    with pytest.raises(NotFound):
        judge.act(decide, uuid4(), "kept_both")
    with pytest.raises(Conflict, match="no verdict to take back"):
        judge.act(revert, conflict)
    judge.act(decide, conflict, "kept_both")
    with pytest.raises(Conflict, match="before"):
        judge.act(decide, conflict, "closed")


def test_two_stated_ends_wait_where_neither_is_the_finer_word(hand, judge):
    works = {"subject": "Ann", "phrase": "works for", "obj": "Acme"}
    hand.say({**works, "start": "2020-01-01", "end": "2023-05-02"})
    hand.say({**works, "end": "2023-05-02"})
    assert judge.open() == []
    hand.say({**works, "end": "2024-02-02"})
    assert judge.open() == [("ends", "Ann", "Ann")]
    (fact,) = judge.fact("Ann", "works_for")
    assert f"{fact['valid_to']:%F}" == "2024-02-02", "the later stands meanwhile"
    conflict = judge.only()
    judge.act(decide, conflict, "closed")
    (fact,) = judge.fact("Ann", "works_for")
    assert f"{fact['valid_to']:%F}" == "2023-05-02" and judge.open() == []
    judge.act(revert, conflict)
    assert judge.open() == [("ends", "Ann", "Ann")]
    judge.act(decide, judge.only(), "kept_both")
    (fact,) = judge.fact("Ann", "works_for")
    assert f"{fact['valid_to']:%F}" == "2024-02-02" and judge.open() == []


def test_a_value_without_rivals_near_is_compared_with_the_nearest_alone(hand, judge):
    hand.say(*[lead(f"P{i}", start="2024-03-01") for i in range(6)])
    rows = judge.rows()
    assert len(rows) == 5
    inner = next(r for r in rows if r["old"] in {other["new"] for other in rows})
    judge.act(decide, inner["id"], "kept_both")
    assert len(judge.open()) == 5, "behind a pair that was kept the next one becomes visible"
    assert {inner["old"], inner["new"]} not in [set(sides) for _, *sides in judge.open()]


def test_a_decided_pair_is_not_raised_again_when_a_person_moves_the_old_one(hand, judge):
    hand.say(lead("Ann", start="2023-01-10", end="2025-01-01"), lead("Bo", start="2024-07-05"))
    judge.act(decide, judge.only(), "closed")
    judge.act(correct_period, judge.fact("Ann")[0]["id"], end=parse_end("2024-12"))
    assert hand.subjects("leads", "Aurora", "2024-08-01") == ["Ann", "Bo"] and judge.open() == []


def test_both_sides_of_a_marriage_are_held_against_strangers(hand, judge):
    """A rival's own rivals on its other side are judged as well."""
    married = {"phrase": "married to", "start": "2020-01-01"}
    hand.say({"subject": "Ann", "obj": "Xi", **married})
    hand.say({"subject": "Bo", "obj": "Yo", **married})
    assert judge.open() == []
    hand.say({"subject": "Ann", "obj": "Yo", **married})
    assert sorted(r[0] for r in judge.open()) == ["simultaneous", "simultaneous"]
    hand.say({"subject": "Cy", "obj": "Xi", **married})
    waiting = {frozenset(sides) for _, *sides in judge.open()}
    hand.say({"subject": "Di", "phrase": "married to", "obj": "Yo", "start": "2021-01-01"})
    assert {frozenset(sides) for _, *sides in judge.open()} == waiting, "Cy and Ann-Xi are two steps from Di-Yo"


def test_words_without_an_anchor_do_not_end_a_dated_value_in_silence(hand, judge):
    from substrate.extraction.claims import ClaimTime

    hand.say(lead("Ann", start="2023-01-10"))
    hand.say(lead("Bo", attested="2024-05-01"))
    assert judge.open() == []
    hand.say({"subject": "Cy", "phrase": "leads", "obj": "Borealis", "start": "2023-01-10"})
    with hand.database.write(hand.kb_id) as connection:
        from dataclasses import replace

        from substrate.ledger.assertions import assert_batch
        from substrate.ledger.entities import resolve_names
        from substrate.ontology.store import load_ontology

        with judge.door(connection) as door:
            entities = resolve_names(door, {"Di": None, "Borealis": None})
            draft = hand.draft(entities, "Di", "leads", "Borealis", attested="2024-05-01")
            draft = replace(draft, time=ClaimTime(grade="C"))
            assert_batch(door, [draft], load_ontology(connection, hand.kb_id))
    assert judge.open() == [("unanchored", "Cy", "Di")]
