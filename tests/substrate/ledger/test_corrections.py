"""What a person says of a period stands: no engine and no later document moves it until it is taken back."""

from __future__ import annotations

import pytest

from substrate.errors import Conflict, InvalidInput, NotFound
from substrate.ledger.conflicts import decide, revert
from substrate.ledger.corrections import (
    End,
    Start,
    close_fact,
    confirm_fact,
    correct_period,
    parse_end,
    parse_start,
    undo_correction,
)
from substrate.ledger.retractions import reject_fact
from substrate.reads import list_corrections, resolve

WORKS = {"subject": "Ann", "phrase": "works for", "obj": "Acme"}


def lead(who, **time):
    return {"subject": who, "phrase": "leads", "obj": "Aurora", **time}


def period(fact):
    def of(at, precision):
        return f"{at:%F}/{precision}" if at else precision

    return of(fact["valid_from"], fact["valid_from_precision"]), of(fact["valid_to"], fact["valid_to_precision"])


def said(start=..., end=...):
    return {
        "start": None if start is ... else parse_start(start),
        "end": None if end is ... else parse_end(end),
    }


def test_a_corrected_period_follows_the_old_row_under_its_lineage_until_it_is_undone(hand, judge):
    hand.say({**WORKS, "start": "2020-01-01"})
    (before,), at = judge.fact("Ann", "works_for"), judge.seq()
    done = judge.act(correct_period, before["id"], **said("2020-03", "2023-06"), why="payslips")
    (after,) = judge.fact("Ann", "works_for")
    assert period(after) == ("2020-03-01/month", "2023-07-01/month")
    assert (after["lineage_id"], after["supersedes"]) == (before["lineage_id"], before["id"])
    assert done.fact_id == after["id"]
    assert hand.objects("Ann", "works_for", "2020-02-01") == []
    assert hand.objects("Ann", "works_for", "2023-06-30") == ["Acme"]
    assert hand.objects("Ann", "works_for", "2023-07-01") == []
    with judge.database.read(judge.kb_id) as connection:
        old = connection.execute(
            "select invalidated_kind from facts where kb_id = %s and id = %s", (judge.kb_id, before["id"])
        ).fetchone()
    assert old["invalidated_kind"] == "corrected"
    judge.act(undo_correction, done.correction_id)
    (again,) = judge.fact("Ann", "works_for")
    assert period(again) == ("2020-01-01/day", None) and again["lineage_id"] == before["lineage_id"]
    with pytest.raises(NotFound):
        judge.act(undo_correction, done.correction_id)
    assert judge.seq() > at and judge.sound()


def test_neither_a_rival_nor_a_later_document_moves_what_a_person_fixed(hand, judge):
    hand.say(lead("Ann", start="2023-01-10"))
    judge.act(correct_period, judge.fact("Ann")[0]["id"], **said("2023-02-01", "open"))
    hand.say(lead("Bo", start="2024-07-05"))
    assert period(judge.fact("Ann")[0]) == ("2023-02-01/day", None), "a person said that it still holds"
    assert judge.open() == [("simultaneous", "Ann", "Bo")]
    hand.say(lead("Ann", start="2023-01-10"))
    assert judge.open() == [("simultaneous", "Ann", "Bo")], "what the person had before them is no news"
    hand.say(lead("Ann", start="2022-12-01", end="2024-01-01"))
    assert period(judge.fact("Ann")[0]) == ("2023-02-01/day", None)
    assert ("disagrees", "Ann", "Ann") in judge.open()


def test_an_end_that_the_person_left_alone_is_made_as_ever(hand, judge):
    hand.say(lead("Ann", start="2023-01-10"))
    judge.act(correct_period, judge.fact("Ann")[0]["id"], **said("2023-02-01"))
    hand.say(lead("Bo", start="2024-07-05"))
    (ann,) = judge.fact("Ann")
    assert period(ann) == ("2023-02-01/day", "2024-07-05/day") and ann["valid_to_origin"] == "engine"
    assert judge.open() == []


def test_a_rival_is_cut_by_the_persons_start_and_not_by_the_one_it_replaced(hand, judge):
    hand.say(lead("Ann", start="2020-01-01"), lead("Bo", start="2023-05-01"))
    judge.act(correct_period, judge.fact("Bo")[0]["id"], **said("2023-09-01"))
    assert period(judge.fact("Ann")[0]) == ("2020-01-01/day", "2023-09-01/day")


def test_a_closed_fact_stays_closed_and_another_stretch_may_follow(hand, judge):
    hand.say({**WORKS, "start": "2020-01-01"}, {**WORKS, "attested": "2023-05-01"})
    judge.act(close_fact, judge.fact("Ann", "works_for")[0]["id"], parse_end("2022"), "left")
    assert period(judge.fact("Ann", "works_for")[0]) == ("2020-01-01/day", "2023-01-01/year")
    hand.say({**WORKS, "attested": "2023-08-01"})
    assert len(judge.fact("Ann", "works_for")) == 1 and judge.open() == [("disagrees", "Ann", "Ann")]
    hand.say({**WORKS, "start": "2025-02-01"})
    assert [period(f) for f in judge.fact("Ann", "works_for")] == [
        ("2020-01-01/day", "2023-01-01/year"),
        ("2025-02-01/day", None),
    ]


def test_open_unknown_and_dated_ends_are_three_states(hand, judge):
    hand.say({**WORKS, "start": "2020-01-01", "end": "2021-01-01"})
    fact = judge.fact("Ann", "works_for")[0]["id"]
    for text, expected in (("unknown", "unknown"), ("open", None), ("2022-05-05", "2022-05-06/day")):
        fact = judge.act(correct_period, fact, end=parse_end(text)).fact_id
        assert period(judge.fact("Ann", "works_for")[0])[1] == expected
    (held,) = judge.fact("Ann", "works_for")
    assert held["id"] == fact


def test_the_last_of_two_words_stands_and_leaves_the_first_when_it_goes(hand, judge):
    hand.say({**WORKS, "start": "2020-01-01"})
    first = judge.act(correct_period, judge.fact("Ann", "works_for")[0]["id"], **said("2020-02-01"))
    second = judge.act(correct_period, first.fact_id, **said("2020-03-01"))
    third = judge.act(close_fact, second.fact_id, parse_end("2021"))
    assert period(judge.fact("Ann", "works_for")[0]) == ("2020-03-01/day", "2022-01-01/year")
    assert len(judge.fact("Ann", "works_for")) == 1
    judge.act(undo_correction, second.correction_id)
    assert period(judge.fact("Ann", "works_for")[0]) == ("2020-02-01/day", "2022-01-01/year")
    judge.act(undo_correction, first.correction_id)
    assert period(judge.fact("Ann", "works_for")[0]) == ("2020-01-01/day", "2022-01-01/year")
    judge.act(undo_correction, third.correction_id)
    assert period(judge.fact("Ann", "works_for")[0]) == ("2020-01-01/day", None)


def test_a_confirmed_fact_outlives_its_document_and_a_closed_one_does_not(hand, judge):
    hand.say({**WORKS, "start": "2020-01-01", "end": "2021-01-01", "key": "a"})
    hand.say({**WORKS, "obj": "Beta", "start": "2020-01-01", "key": "b"})
    facts = {f["valid_to"]: f["id"] for f in judge.fact("Ann", "works_for")}
    judge.act(confirm_fact, next(i for at, i in facts.items() if at))
    judge.act(close_fact, facts[None], parse_end("2023"))
    assert hand.objects("Ann", "works_for") == ["Acme", "Beta"]
    judge.act(_withdraw, ["a", "b"])
    assert hand.objects("Ann", "works_for") == ["Acme"]
    assert judge.sound()


def _withdraw(door, keys):
    from substrate.ledger.recompute import recompute
    from substrate.ontology.store import load_ontology

    rows = door.connection.execute(
        "select * from assertions where kb_id = %s and source_key = any(%s) and invalidated_seq is null",
        (door.kb_id, keys),
    ).fetchall()
    door.close("assertions", [r["id"] for r in rows], "deleted")
    recompute(door, rows, load_ontology(door.connection, door.kb_id))


def test_an_empty_or_inverted_period_is_refused_by_field(hand, judge):
    hand.say({**WORKS, "start": "2020-01-01", "end": "2021-01-01"})
    fact = judge.fact("Ann", "works_for")[0]["id"]
    for arguments, field in (
        (said("2021-01-01"), "valid_from"),
        (said(end="2019"), "valid_to"),
        (said("2022", "2021"), "valid_to"),
        (said(), "valid_from"),
    ):
        with pytest.raises(InvalidInput) as refused:
            judge.act(correct_period, fact, **arguments)
        assert refused.value.facts["field"] == field
    with pytest.raises(InvalidInput) as refused:
        judge.act(close_fact, fact, End())
    assert refused.value.facts["field"] == "valid_to"
    assert period(judge.fact("Ann", "works_for")[0]) == ("2020-01-01/day", "2021-01-01/day")


def test_an_event_gets_one_moment_and_what_is_eternal_none(hand, judge):
    hand.say({"subject": "Acme", "phrase": "acquired", "obj": "Beta", "start": "2023-03-01"})
    hand.say({"subject": "Acme", "phrase": "same as", "obj": "Acme Ltd"})
    event, eternal = judge.fact("Acme", "acquired")[0]["id"], judge.fact("Acme", "same_as")[0]["id"]
    with pytest.raises(InvalidInput, match="one moment"):
        judge.act(correct_period, event, **said(end="2024"))
    with pytest.raises(InvalidInput, match="needs its moment"):
        judge.act(correct_period, event, **said(None))
    for arguments in (said("2024"), said(end="2024")):
        with pytest.raises(InvalidInput, match="eternal"):
            judge.act(correct_period, eternal, **arguments)
    done = judge.act(correct_period, event, **said("2023-04-05"))
    (held,) = judge.fact("Acme", "acquired")
    assert period(held) == ("2023-04-05/day", None) and f"{held['holds_to']:%F}" == "2023-04-06"
    hand.say({"subject": "Acme", "phrase": "acquired", "obj": "Beta", "start": "2023-03-01"})
    assert len(judge.fact("Acme", "acquired")) == 1, "the moment that was corrected does not come back"
    judge.act(undo_correction, done.correction_id)
    assert period(judge.fact("Acme", "acquired")[0]) == ("2023-03-01/day", None)
    judge.act(confirm_fact, eternal)
    assert len(judge.fact("Acme", "same_as")) == 1


def test_an_undated_fact_gets_a_period_and_loses_it_again(hand, judge):
    hand.say(WORKS)
    (fact,) = judge.fact("Ann", "works_for")
    assert fact["undated"]
    done = judge.act(correct_period, fact["id"], **said("2022"))
    assert not judge.fact("Ann", "works_for")[0]["undated"]
    assert hand.objects("Ann", "works_for", "2021-12-31") == [] != hand.objects("Ann", "works_for", "2022-01-01")
    judge.act(undo_correction, done.correction_id)
    assert judge.fact("Ann", "works_for")[0]["undated"]
    fixed = judge.act(correct_period, judge.fact("Ann", "works_for")[0]["id"], start=Start())
    assert fixed.fact_id is not None


def test_a_rejected_fact_takes_the_persons_word_with_it(hand, judge):
    hand.say({**WORKS, "start": "2020-01-01"})
    done = judge.act(correct_period, judge.fact("Ann", "works_for")[0]["id"], **said("2021"))
    seq = judge.seq()
    judge.act(reject_fact, done.fact_id, "no")
    assert judge.fact("Ann", "works_for") == []
    with judge.database.read(judge.kb_id) as connection:
        now, then = resolve(connection, judge.kb_id), resolve(connection, judge.kb_id, as_of=f"seq:{seq}")
        assert list_corrections(connection, judge.kb_id, now)["total"] == 0
        assert list_corrections(connection, judge.kb_id, then)["total"] == 1
    with pytest.raises(NotFound):
        judge.act(undo_correction, done.correction_id)


def test_dates_are_read_in_every_precision_and_odd_ones_are_refused_by_field():
    assert [parse_start(t).precision for t in ("2024", "2024-03", "2024-03-05", "2024-03-05T10:20Z")] == [
        "year", "month", "day", "minute",
    ]  # fmt: skip
    assert f"{parse_end('2024-03').at:%F}" == "2024-04-01"
    assert f"{parse_end('2024-04-01T00:00:00Z', 'month').at:%F}" == "2024-04-01", "as answers show it"
    assert f"{parse_end('2024-04-01', 'month').at:%F}" == "2024-05-01"
    assert f"{parse_start('2024-03-05T10:20:00Z', 'hour').at:%F %T}" == "2024-03-05 10:00:00"
    for parse, text, precision, field in (
        (parse_start, "soon", None, "valid_from"),
        (parse_start, "2024-02-30", None, "valid_from"),
        (parse_start, "2024-03-05T10:20", None, "valid_from"),
        (parse_start, "2024", "day", "valid_from_precision"),
        (parse_start, "2024", "week", "valid_from_precision"),
        (parse_start, None, "day", "valid_from_precision"),
        (parse_end, "2024-13", None, "valid_to"),
        (parse_end, "open", "day", "valid_to_precision"),
    ):
        with pytest.raises(InvalidInput) as refused:
            parse(text, precision)
        assert refused.value.facts["field"] == field


@pytest.mark.parametrize(
    ("verdict", "stands"),
    [
        ("closed", ("2019-05-01/day", "2022-01-01/day")),
        ("kept_both", ("2020-03-01/day", "2021-01-01/year")),
        ("rejected_new", ("2020-03-01/day", "2021-01-01/year")),
    ],
)
def test_a_document_against_a_person_waits_for_a_verdict_that_can_be_reverted(hand, judge, verdict, stands):
    hand.say({**WORKS, "start": "2020-01-01"})
    judge.act(correct_period, judge.fact("Ann", "works_for")[0]["id"], **said("2020-03-01", "2020"))
    hand.say({**WORKS, "start": "2019-05-01", "end": "2022-01-01"})
    assert judge.open() == [("disagrees", "Ann", "Ann")]
    (fact,) = judge.fact("Ann", "works_for")
    assert period(fact) == ("2020-03-01/day", "2021-01-01/year"), "no silent change"
    conflict = judge.only()
    judge.act(decide, conflict, verdict, "heard")
    assert [period(f) for f in judge.fact("Ann", "works_for")] == [stands] and judge.open() == []
    hand.say({**WORKS, "start": "2019-05-01", "end": "2022-01-01"})
    assert judge.open() == [] and len(judge.fact("Ann", "works_for")) == 1, "the same again is no news"
    judge.act(revert, conflict, "no")
    assert judge.open() == [("disagrees", "Ann", "Ann")]
    assert period(judge.fact("Ann", "works_for")[0]) == ("2020-03-01/day", "2021-01-01/year")
    assert judge.sound()


def test_a_word_that_a_verdict_made_goes_with_the_verdict_alone(hand, judge):
    hand.say(lead("Ann", start="2023-01-10", end="2025-01-01"), lead("Bo", start="2024-07-05"))
    made = judge.act(decide, judge.only(), "closed")
    with pytest.raises(Conflict, match="revert that"):
        judge.act(undo_correction, made.correction_id)
