"""What the ledger holds after people and documents have spoken."""

from __future__ import annotations

from datetime import UTC, datetime

import psycopg
import pytest

from substrate.db import EVERY_BASE
from substrate.extraction.claims import ClaimTime
from substrate.ledger import open_door
from substrate.ledger.drafts import TimeColumns
from substrate.ledger.merges import merge
from substrate.ledger.refusals import lift
from substrate.ledger.retractions import reject_fact
from substrate.ledger.verify import verify


def lead(who, **time):
    return {"subject": who, "phrase": "leads", "obj": "Aurora", **time}


def test_a_successor_ends_the_predecessor_and_only_from_its_own_start(hand):
    hand.say(lead("Ann", start="2023-01-10"))
    assert hand.subjects("leads", "Aurora", "2024-08-01") == ["Ann"]
    hand.say(lead("Bo", start="2024-07-05"))
    assert hand.subjects("leads", "Aurora", "2022-12-01") == []
    assert hand.subjects("leads", "Aurora", "2024-07-04") == ["Ann"]
    assert hand.subjects("leads", "Aurora", "2024-07-05") == ["Bo"]
    assert hand.subjects("leads", "Aurora") == ["Ann", "Bo"]


def test_a_plain_relation_closes_nothing(hand):
    hand.say({"subject": "Ann", "phrase": "works for", "obj": "Acme", "start": "2020-01-01"})
    hand.say({"subject": "Ann", "phrase": "works for", "obj": "Beta", "start": "2021-01-01"})
    assert hand.objects("Ann", "works_for", "2022-01-01") == ["Acme", "Beta"]


def test_the_same_input_twice_changes_nothing(hand):
    first = hand.say(lead("Ann", start="2023-01-10", key="k"))
    again = hand.say(lead("Ann", start="2023-01-10", key="k"))
    assert (len(first.assertions), len(again.assertions), again.known) == (1, 0, 1)


def test_a_restatement_adds_evidence_and_rewrites_no_row(hand, database):
    hand.say(lead("Ann", start="2023-01-10"))
    hand.say(lead("Ann", start="2023-01-10"))
    with database.read(EVERY_BASE) as connection:
        facts = connection.execute("select count(*) as n from facts").fetchone()["n"]
        evidence = connection.execute("select count(*) as n from evidence").fetchone()["n"]
    assert (facts, evidence) == (1, 2)


def test_an_unknown_end_holds_up_to_the_document_that_says_so(hand):
    hand.say({"subject": "Ann", "phrase": "works for", "obj": "Acme", "start": "2020-01-01"})
    hand.say({"subject": "Ann", "phrase": "works for", "obj": "Acme", "end": "unknown", "attested": "2024-03-01"})
    assert hand.objects("Ann", "works_for", "2024-02-29") == ["Acme"]
    assert hand.objects("Ann", "works_for", "2024-03-02") == []
    assert [r[4:7] for r in hand.held()] == [(None, "unknown", "stated")]


def test_attested_without_a_start_holds_from_the_first_document(hand):
    hand.say({"subject": "Ann", "phrase": "works for", "obj": "Acme", "attested": "2023-05-01"})
    assert hand.objects("Ann", "works_for", "2023-04-30") == []
    assert hand.objects("Ann", "works_for", "2023-05-01") == ["Acme"]
    hand.say({"subject": "Ann", "phrase": "works for", "obj": "Acme", "attested": "2022-05-01"})
    assert hand.objects("Ann", "works_for", "2023-04-30") == ["Acme"]


def test_undated_and_unattested_holds_at_every_moment(hand):
    hand.say({"subject": "Ann", "phrase": "works for", "obj": "Acme"})
    assert hand.objects("Ann", "works_for", "1900-01-01") == ["Acme"]


def test_a_correction_takes_the_start_of_what_it_replaces(hand):
    hand.say({"subject": "Ann", "phrase": "salary", "obj": 30000, "start": "2024-02-20", "attested": "2024-02-01"})
    hand.say(
        {"subject": "Ann", "phrase": "salary", "obj": 30000, "attested": "2024-03-01", "denies": True},
        {
            "subject": "Ann",
            "phrase": "salary",
            "obj": 32000,
            "attested": "2024-03-01",
            "corrects": True,
            "replaces": "=30000 CNY",
        },
    )
    assert hand.objects("Ann", "salary", "2024-02-25") == ["32000 CNY"]


def test_both_sided_uniqueness_takes_the_earlier_end(hand):
    hand.say({"subject": "Ann", "phrase": "married to", "obj": "Bo", "start": "2000-01-01"})
    hand.say({"subject": "Cy", "phrase": "married to", "obj": "Bo", "start": "2010-01-01"})
    hand.say({"subject": "Ann", "phrase": "married to", "obj": "Di", "start": "2005-01-01"})
    assert hand.objects("Ann", "married_to", "2004-12-31") == ["Bo"]
    assert hand.objects("Ann", "married_to", "2006-01-01") == ["Di"]
    assert hand.subjects("married_to", "Bo", "2007-01-01") == []
    assert hand.subjects("married_to", "Bo", "2011-01-01") == ["Cy"]


def test_an_event_holds_in_its_own_bucket(hand):
    hand.say({"subject": "Acme", "phrase": "acquired", "obj": "Beta", "start": "2021-03-05"})
    assert hand.objects("Acme", "acquired", "2021-03-05") == ["Beta"]
    assert hand.objects("Acme", "acquired", "2021-03-06") == []
    assert hand.objects("Acme", "acquired", "2021-03-04") == []


def _fact_id(database, subject):
    with database.read(EVERY_BASE) as connection:
        return connection.execute(
            """select f.id from facts f join entities e on e.id = f.subject_id
               where e.label = %s and f.invalidated_seq is null""",
            (subject,),
        ).fetchone()["id"]


def test_a_refused_triple_stays_out_on_every_path_until_it_is_lifted(hand, database):
    hand.say(lead("Ann", start="2020-01-01"), lead("Bo", start="2024-07-05"))
    assert hand.subjects("leads", "Aurora", "2025-01-01") == ["Bo"]
    with database.write(EVERY_BASE) as connection:
        with open_door(connection, hand.kb_id, actor="person:Eve", via="rest", action="rejected") as door:
            refusal = reject_fact(door, _fact_id(database, "Bo"), "wrong person")
    assert hand.subjects("leads", "Aurora", "2025-01-01") == ["Ann"], "the predecessor is open again"
    assert hand.say(lead("Bo", start="2024-07-06")).refused == 1
    assert hand.subjects("leads", "Aurora", "2025-01-01") == ["Ann"]
    with database.read(EVERY_BASE) as connection:
        assert connection.execute("select count(*) as n from refusal_restatements").fetchone()["n"] == 1
    with database.write(EVERY_BASE) as connection:
        with open_door(connection, hand.kb_id, actor="person:Eve", via="rest", action="lifted") as door:
            lift(door, refusal)
    hand.say(lead("Bo", start="2024-07-06"))
    assert hand.subjects("leads", "Aurora", "2025-01-01") == ["Bo"]


def test_a_refused_value_is_recognised_in_another_spelling(hand, database):
    hand.say({"subject": "Ann", "phrase": "salary", "obj": 30000, "start": "2024-01-01"})
    with database.write(EVERY_BASE) as connection:
        with open_door(connection, hand.kb_id, actor="person:Eve", via="rest", action="rejected") as door:
            reject_fact(door, _fact_id(database, "Ann"), "")
    again = {"subject": "Ann", "phrase": "salary", "obj": 30000, "start": "2024-02-01"}
    assert hand.say(again).refused == 1
    assert hand.say({**again, "obj": 30001}).refused == 0


def _entity(database, label):
    with database.read(EVERY_BASE) as connection:
        return connection.execute("select id from entities where label = %s", (label,)).fetchone()["id"]


def test_a_merge_unites_timelines_and_a_refusal_follows_it(hand, database):
    hand.say(lead("Li Si", start="2024-07-05"), lead("L. Si", start="2025-01-01"), lead("Ann", start="2026-01-01"))
    with database.write(EVERY_BASE) as connection:
        with open_door(connection, hand.kb_id, actor="person:Eve", via="rest", action="rejected") as door:
            reject_fact(door, _fact_id(database, "Ann"), "")
    with database.write(EVERY_BASE) as connection:
        with open_door(connection, hand.kb_id, actor="person:Eve", via="rest", action="merged") as door:
            merge(door, _entity(database, "Li Si"), _entity(database, "L. Si"))
    assert hand.subjects("leads", "Aurora", "2025-06-01") == ["Li Si"], "one timeline, from the earlier start"
    hand.say({"subject": "Annie", "phrase": "works for", "obj": "Acme"})
    with database.write(EVERY_BASE) as connection:
        with open_door(connection, hand.kb_id, actor="person:Eve", via="rest", action="merged") as door:
            merge(door, _entity(database, "Annie"), _entity(database, "Ann"))
    assert hand.say(lead("Annie", start="2026-02-01")).refused == 1


def test_the_chain_verifies_and_a_changed_row_is_found(hand, database, dsn):
    hand.say(lead("Ann", start="2023-01-10"), {"subject": "Ann", "phrase": "salary", "obj": 1500})
    hand.say(lead("Bo 🙂 e\u0301", start="2024-07-05"))
    with database.read(EVERY_BASE) as connection:
        report = verify(connection, hand.kb_id)
    assert report.ok, report
    assert report.rows > 5
    import psycopg

    with psycopg.connect(dsn, autocommit=True) as owner:
        owner.execute("alter table facts disable trigger close_once")
        owner.execute("update facts set holds_from = null where invalidated_seq is null")
        owner.execute("alter table facts enable trigger close_once")
    with database.read(EVERY_BASE) as connection:
        report = verify(connection, hand.kb_id)
    assert (report.ok, report.damage) == (False, "content")


@pytest.mark.parametrize(
    "statement",
    [
        "update facts set phrase = 'x'",
        "update facts set invalidated_seq = null, invalidated_at = null, invalidated_kind = null",
        "delete from facts",
        "truncate facts cascade",
        "update ledger_log set kind = 'x'",
        "delete from ledger_log",
        "update assertions set quote = 'x'",
        "delete from claims",
        "alter table facts disable trigger all",
    ],
)
def test_the_application_cannot_rewrite_the_ledger(hand, database, statement):
    import psycopg

    hand.say(lead("Ann", start="2023-01-10"))
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        with database.write(EVERY_BASE) as connection:
            connection.execute(statement)


def test_words_without_an_anchor_date_nothing_but_an_end_stays_said():
    unanchored = ClaimTime(datetime(2024, 1, 1, tzinfo=UTC), "day", None, "unknown", grade="C")
    assert TimeColumns.of(unanchored) == TimeColumns(None, None, None, "unknown")
    assert TimeColumns.of(ClaimTime(datetime(2024, 1, 1, tzinfo=UTC), "day", grade="C")) == TimeColumns(
        None, None, None, None
    )


def test_what_is_only_known_to_have_ended_began_after_the_rival_before_it(hand):
    hand.say(lead("Dana", start="2022-01-01", end="2023-02-01"))
    hand.say(lead("Pavel", end="2025-03-01"), lead("Sofia", start="2025-03-01"))
    assert hand.subjects("leads", "Aurora", "2022-06-01") == ["Dana"]
    assert hand.subjects("leads", "Aurora", "2024-01-01") == ["Pavel"]
    assert hand.subjects("leads", "Aurora", "2021-01-01") == []
    assert hand.subjects("leads", "Aurora", "2025-03-01") == ["Sofia"]


@pytest.mark.parametrize("statistics", [False, True])
def test_what_was_stated_before_is_found_in_a_new_base_and_in_an_old_one(hand, database, dsn, statistics):
    """The question whether a triple is new is asked in another way once the planner knows the table."""

    def again() -> tuple[int, int]:
        said = [{"subject": "Ann", "phrase": "works for", "obj": "Acme"}, {"subject": "Bo", "phrase": "age", "obj": 7}]
        hand.say(*said, {"subject": "Cy", "phrase": "works for", "obj": f"House {next(hand.keys)}"})
        with database.read(hand.kb_id) as connection:
            facts = connection.execute("select count(*) as n from facts").fetchone()["n"]
            return facts, connection.execute("select count(*) as n from evidence").fetchone()["n"]

    assert again() == (3, 3)
    if statistics:
        with psycopg.connect(dsn, autocommit=True) as owner:
            owner.execute("analyze assertions")
    assert again() == (4, 6), "two rest on more, one is new"
    with database.write(hand.kb_id) as connection:
        with open_door(connection, hand.kb_id, actor="person:Eve", via="rest", action="merged") as door:
            merge(door, _entity(database, "Ann"), _entity(database, "Cy"))
    hand.say({"subject": "Cy", "phrase": "works for", "obj": "Acme"})
    with database.read(hand.kb_id) as connection:
        assert connection.execute("select count(*) as n from facts").fetchone()["n"] == 4, "a member's word is its own"
