"""What an entity's facts look like, on both clocks."""

from __future__ import annotations

import json
import re
from uuid import UUID

import pytest

from substrate import errors, reads
from substrate.extraction.claims import Value
from tests.ledger_facts import day, money

FACT_FIELDS = (
    "id direction predicate_key predicate_label inferred temporal other_id other_name object_value confidence "
    "qualifiers valid_from valid_to valid_from_precision valid_to_precision holds_from holds_to recorded_at "
    "invalidated_at supersedes document_ids"
).split()
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


def others(answer):
    return sorted(f["other_name"] or str(f["object_value"]["value"]) for f in answer["facts"])


@pytest.fixture
def hand_over(scribe):
    scribe.say("Ada", "leads", "Heron", start=day("2021-01-01"), kinds={"Ada": "person", "Heron": "project"})
    before_memo = scribe.seq()
    scribe.say("Bob", "leads", "Heron", start=day("2023-04-01"), kinds={"Bob": "person"})
    return before_memo


def test_two_clocks_give_two_answers_about_one_day(ask, hand_over):
    assert others(ask(reads.entity_facts, "Heron", at="2024-08")) == ["Bob"]
    assert others(ask(reads.entity_facts, "Heron", at="2024-08", as_of=f"seq:{hand_over}")) == ["Ada"]
    assert others(ask(reads.entity_facts, "Heron", at="2022")) == ["Ada"]
    assert others(ask(reads.entity_facts, "Heron", at="2020-12-31")) == []
    assert others(ask(reads.entity_facts, "Heron")) == ["Ada", "Bob"]
    assert others(ask(reads.entity_facts, "Heron", before=f"seq:{hand_over + 1}")) == ["Ada"]


def test_every_field_of_the_contract_is_there(ask, scribe, hand_over):
    answer = ask(reads.entity_facts, "Heron", at="2022-05")
    assert set(answer) >= {
        *"kb_id entity names at as_of seq head_hash total_facts matched_facts limit truncated facts".split(),
        "derived_facts",
    }
    assert set(answer["entity"]) == {"id", "name", "type_key", "type_label"}
    assert answer["entity"]["type_label"] == "Project"
    assert (answer["total_facts"], answer["matched_facts"]) == (2, 1)
    [fact] = answer["facts"]
    assert not set(FACT_FIELDS) - set(fact)
    assert (fact["direction"], fact["predicate_key"], fact["inferred"]) == ("in", "leads", False)
    assert fact["valid_from"] == "2021-01-01T00:00:00.000000Z"
    assert fact["valid_to"] == "2023-04-01T00:00:00.000000Z"
    assert fact["end"] == "inferred"
    for key in ("recorded_at", "holds_from", "holds_to"):
        assert MOMENT.fullmatch(fact[key])
    [name] = answer["names"]
    assert set(name) == {"fact_id", "name", "canonical", "recorded_at", "valid_from", "valid_to", "document_ids"}
    assert name["name"] == "Heron"
    assert name["canonical"] is True
    assert len(name["document_ids"]) == 2


def test_evidence_tells_quote_document_and_how_many_there_are(ask, scribe):
    for i in range(5):
        seen = scribe.document(f"Ada works on Heron, said once more ({i}).", filename=f"{i}.md")
        scribe.say("Ada", "works_on", "Heron", evidence=seen, attested=day("2024-03-01"))
    [fact] = ask(reads.entity_facts, "Ada")["facts"]
    assert fact["evidence_count"] == 5
    assert [e["filename"] for e in fact["evidence"]] == ["0.md", "1.md", "2.md"]
    assert len(fact["document_ids"]) == 5
    assert fact["evidence"][0]["quote"] == "Ada works on Heron, said once more (0)."
    assert fact["evidence"][0]["doc_time"] == "2024-03-01T00:00:00.000000Z"
    assert (fact["undated"], fact["attested_from"]) == (False, "2024-03-01T00:00:00.000000Z")


def test_a_value_keeps_number_unit_and_words(ask, scribe):
    scribe.say("Ada", "salary", money("EUR 1,250.50", "1250.50"), start=day("2024-01-01"))
    scribe.say("Ada", "headcount", Value("seven", None, None, "text"), phrase="headcount")
    values = {f["phrase"]: f["object_value"] for f in ask(reads.entity_facts, "Ada")["facts"]}
    assert values["salary"] == {"value": 1250.5, "unit": "EUR", "raw": "EUR 1,250.50"}
    assert values["headcount"] == {"value": "seven", "unit": None, "raw": "seven"}


def test_an_unbound_phrase_is_marked_inferred(ask, scribe):
    scribe.say("Ada", None, "Heron", phrase="admires")
    [fact] = ask(reads.entity_facts, "Ada")["facts"]
    assert (fact["predicate_key"], fact["predicate_label"], fact["inferred"]) == (None, "admires", True)
    assert fact["undated"] is True


def test_three_ends_are_three(ask, scribe):
    scribe.say("Ada", "works_on", "One", start=day("2020-01-01"))
    scribe.say("Ada", "works_on", "Two", start=day("2020-01-01"), end=day("2021-01-01"))
    scribe.say("Ada", "works_on", "Six", start=day("2020-01-01"), end_unknown=True, attested=day("2022-01-01"))
    ends = {f["other_name"]: f["end"] for f in ask(reads.entity_facts, "Ada")["facts"]}
    assert ends == {"One": "open", "Two": "stated", "Six": "unknown"}


def test_filters_narrow_and_say_what_there_is_when_nothing_passes(ask, scribe):
    scribe.say("Ada", "leads", "Heron", start=day("2021-01-01"), kinds={"Ada": "person", "Heron": "project"})
    scribe.say("Ada", "works_on", "Egret", start=day("2022-01-01"), end=day("2022-06-01"))
    assert others(ask(reads.entity_facts, "Ada", predicate="lead")) == ["Heron"]
    assert others(ask(reads.entity_facts, "Ada", predicate="Works_On")) == ["Egret"]
    assert others(ask(reads.entity_facts, "Ada", predicate="contributes to")) == ["Egret"]
    assert others(ask(reads.entity_facts, "Ada", object_type="Project")) == ["Heron"]
    assert others(ask(reads.entity_facts, "Ada", since="2022-07")) == ["Heron"]
    assert others(ask(reads.entity_facts, "Ada", until="2021-12-31")) == ["Heron"]
    assert others(ask(reads.entity_facts, "Ada", since="2022-02", until="2022-03")) == ["Egret", "Heron"]
    nothing = ask(reads.entity_facts, "Ada", predicate="married to")
    assert nothing["facts"] == []
    assert (nothing["total_facts"], nothing["matched_facts"]) == (2, 0)
    assert {p["key"] for p in nothing["predicates_present"]} == {"leads", "works_on"}


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"since": "last week"}, "since"),
        ({"until": "2024-13"}, "until"),
        ({"since": "2024", "until": "2023"}, "until"),
        ({"limit": 0}, "limit"),
        ({"limit": 301}, "limit"),
        ({"cursor": "nonsense"}, "cursor"),
        ({"at": "2024-05-01T12:00:00"}, "at"),
        ({"at": "spring"}, "at"),
        ({"as_of": "seq:x"}, "as_of"),
        ({"before": "yesterday"}, "before"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(ask, hand_over, options, field):
    with pytest.raises(errors.InvalidInput) as caught:
        ask(reads.entity_facts, "Heron", **options)
    assert caught.value.facts["field"] == field
    assert field in str(caught.value)


def test_pages_neither_repeat_nor_skip_while_others_write(ask, scribe):
    for i in range(7):
        scribe.say("Ada", "works_on", f"Project {i}", start=day("2020-01-01"))
    first = ask(reads.entity_facts, "Ada", limit=3)
    assert (first["truncated"], first["matched_facts"]) == (True, 7)
    seen, cursor = others(first), first["next_cursor"]
    while cursor:
        scribe.say("Ada", "works_on", f"Aardvark {len(seen)}", start=day("1999-01-01"))
        answer = ask(reads.entity_facts, "Ada", limit=3, cursor=cursor)
        assert answer["seq"] == first["seq"]
        seen += others(answer)
        cursor = answer["next_cursor"]
    assert sorted(seen) == [f"Project {i}" for i in range(7)]


def test_a_cursor_of_another_question_is_refused(ask, scribe):
    for i in range(4):
        scribe.say("Ada", "works_on", f"Project {i}")
    cursor = ask(reads.entity_facts, "Ada", limit=2)["next_cursor"]
    for options in ({"predicate": "works"}, {"at": "2020"}):
        with pytest.raises(errors.InvalidInput, match="another question"):
            ask(reads.entity_facts, "Ada", cursor=cursor, **options)
    with pytest.raises(errors.InvalidInput, match="another question"):
        ask(reads.timeline, "Ada", cursor=cursor)


def test_timeline_keeps_stated_dates_in_world_order(ask, scribe):
    scribe.say("Ada", "works_on", "Late", start=day("2023-01-01"))
    scribe.say("Ada", "works_on", "Early", start=day("2019-01-01"))
    scribe.say("Ada", "works_on", "Undated")
    scribe.say("Ada", "works_on", "Attested", attested=day("2020-01-01"))
    answer = ask(reads.timeline, "Ada")
    assert [f["other_name"] for f in answer["facts"]] == ["Early", "Late"]
    assert (answer["total_facts"], answer["matched_facts"]) == (4, 2)
    assert [f["other_name"] for f in ask(reads.timeline, "Ada", until="2020")["facts"]] == ["Early"]


def test_what_happened_later_is_told_apart_from_what_was_held(ask, scribe, hand_over):
    then = ask(reads.entity_facts, "Heron", as_of=f"seq:{hand_over}")
    [fact] = then["facts"]
    assert fact["invalidated_at"] is None
    assert fact["since"]["invalidated_kind"] == "corrected"
    now = ask(reads.entity_facts, "Heron", at="2022")
    [successor] = now["facts"]
    assert fact["since"]["superseded_by"] == successor["id"]
    assert successor["supersedes"] == fact["id"]
    assert successor["since"] is None


def test_the_same_question_at_one_seq_gives_the_same_bytes_for_ever(ask, scribe, hand_over):
    def everything(as_of):
        return json.dumps(
            [
                reads.promised(ask(reads.entity_facts, "Heron", as_of=as_of)),
                reads.promised(ask(reads.entity_facts, "Ada", at="2022", as_of=as_of)),
                reads.promised(ask(reads.timeline, "Heron", as_of=as_of)),
                ask(reads.find_entities, "a", as_of=as_of),
                ask(reads.changes, "2020", as_of=as_of),
                ask(reads.changes, "2020", entity="Heron", as_of=as_of),
            ]
        )

    at_the_head = everything(None)
    named = f"seq:{scribe.seq()}"
    assert everything(named) == at_the_head
    heron = UUID(ask(reads.entity_facts, "Heron")["entity"]["id"])
    scribe.say("Cleo", "leads", "Heron", start=day("2024-01-01"), kinds={"Cleo": "person"})
    scribe.say("Heron Project", "works_on", "Ada")
    scribe.merge(UUID(ask(reads.entity_facts, "Heron Project")["entity"]["id"]), heron)
    scribe.reject(UUID(ask(reads.entity_facts, "Cleo")["facts"][0]["id"]))
    assert everything(named) == at_the_head
    assert everything(None) != at_the_head
