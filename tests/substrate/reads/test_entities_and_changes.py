"""Names, merges, events of the record, and documents, as of a moment."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest

from substrate import errors, reads
from substrate.db import EVERY_BASE, NO_BASE
from tests.ledger_facts import day


def names(answer):
    return [e["name"] for e in answer["entities"]]


def entity_id(ask, name, **moment):
    return UUID(ask(reads.entity_facts, name, **moment)["entity"]["id"])


def test_a_whole_name_comes_before_a_part_and_more_facts_before_fewer(ask, scribe):
    scribe.say("Heron", "works_on", "Egret", kinds={"Heron": "project"})
    for i in range(3):
        scribe.say("Heron Two", "works_on", f"Thing {i}")
    scribe.say("Heron Three", "works_on", "Thing 1")
    answer = ask(reads.find_entities, "heron")
    assert names(answer) == ["Heron", "Heron Two", "Heron Three"]
    assert [e["match"] for e in answer["entities"]] == ["name", "part", "part"]
    assert [e["fact_count"] for e in answer["entities"]] == [1, 3, 1]
    assert set(answer["entities"][0]) >= {"id", "name", "type_key", "type_label", "disambiguator", "fact_count"}
    assert (answer["total"], answer["truncated"]) == (3, False)
    narrow = ask(reads.find_entities, "heron", limit=2)
    assert (len(narrow["entities"]), narrow["total"], narrow["truncated"]) == (2, 3, True)


def test_words_help_only_where_nothing_contains_the_text(ask, scribe):
    scribe.say("Ada King Lovelace", "works_on", "Engine")
    scribe.say("Ada Smith", "works_on", "Engine")
    assert names(ask(reads.find_entities, "Ada Byron Lovelace")) == ["Ada King Lovelace"]
    assert names(ask(reads.find_entities, "Lovelace Ada")) == ["Ada King Lovelace"]
    assert names(ask(reads.find_entities, "Nobody Atall")) == []
    assert names(ask(reads.find_entities, "100%_")) == []


def test_an_entity_is_not_there_before_its_first_fact(ask, scribe):
    scribe.say("Ada", "works_on", "Engine")
    then = scribe.seq()
    scribe.say("Bob", "works_on", "Engine")
    assert names(ask(reads.find_entities, "Bob")) == ["Bob"]
    assert names(ask(reads.find_entities, "Bob", as_of=f"seq:{then}")) == []
    bob = str(entity_id(ask, "Bob"))
    for wanted in ("Bob", bob):
        with pytest.raises(errors.NotFound) as caught:
            ask(reads.entity_facts, wanted, as_of=f"seq:{then}")
        assert caught.value.facts["field"] == "entity"
    with pytest.raises(errors.NotFound):
        ask(reads.entity_facts, str(uuid4()))


def test_an_entity_whose_every_source_is_gone_is_there_only_in_the_past(ask, scribe):
    seen = scribe.document("Ada works on Engine.")
    scribe.say("Ada", "works_on", "Engine", evidence=seen)
    then = scribe.seq()
    scribe.delete(seen)
    assert names(ask(reads.find_entities, "Ada")) == []
    assert names(ask(reads.find_entities, "Ada", as_of=f"seq:{then}")) == ["Ada"]
    with pytest.raises(errors.NotFound):
        ask(reads.entity_facts, "Ada")


def test_an_ambiguous_name_is_answered_with_candidates(ask, scribe):
    scribe.say("Heron Two", "works_on", "Egret")
    scribe.say("Heron Three", "works_on", "Egret")
    with pytest.raises(errors.InvalidInput) as caught:
        ask(reads.entity_facts, "heron")
    assert {c["name"] for c in caught.value.facts["candidates"]} == {"Heron Two", "Heron Three"}
    assert ask(reads.entity_facts, "heron th")["entity"]["name"] == "Heron Three"
    with pytest.raises(errors.InvalidInput, match="blank"):
        ask(reads.entity_facts, "  ")


def test_a_merge_shows_one_from_then_on_and_two_before(ask, scribe):
    scribe.say("Bob Smith", "works_on", "Egret")
    scribe.say("Robert Smith", "works_on", "Heron")
    then = scribe.seq()
    keep, absorbed = entity_id(ask, "Robert Smith"), entity_id(ask, "Bob Smith")
    scribe.merge(keep, absorbed)
    for asked in ("Bob Smith", "Robert Smith", str(absorbed)):
        answer = ask(reads.entity_facts, asked)
        assert answer["entity"]["id"] == str(keep)
        assert answer["entity"]["name"] == "Robert Smith"
        assert {f["other_name"] for f in answer["facts"]} == {"Egret", "Heron"}
        assert [n["name"] for n in answer["names"]] == ["Robert Smith", "Bob Smith"]
        assert [n["canonical"] for n in answer["names"]] == [True, False]
    [there] = ask(reads.entity_facts, "Egret")["facts"]
    assert (there["other_id"], there["other_name"]) == (str(keep), "Robert Smith")
    assert len(ask(reads.find_entities, "Smith")["entities"]) == 1
    before = ask(reads.entity_facts, "Bob Smith", as_of=f"seq:{then}")
    assert before["entity"]["id"] == str(absorbed)
    assert {f["other_name"] for f in before["facts"]} == {"Egret"}
    assert len(ask(reads.find_entities, "Smith", as_of=f"seq:{then}")["entities"]) == 2


def test_changes_tell_what_was_learned_and_what_was_revised(ask, scribe):
    scribe.say("Ada", "leads", "Heron", start=day("2021-01-01"))
    scribe.say("Bob", "leads", "Heron", start=day("2023-01-01"))
    answer = ask(reads.changes, "2020", entity="Heron")
    assert sorted(c["kind"] for c in answer["changes"]) == ["asserted"] * 3 + ["corrected"]
    assert answer["changes"][0]["seq"] > answer["changes"][-1]["seq"]
    fields = (
        "fact_id at kind subject_id subject_name predicate_label object_name object_value confidence valid_from "
        "valid_to valid_from_precision valid_to_precision document_id filename quote"
    ).split()
    for event in answer["changes"]:
        assert not set(fields) - set(event)
        assert event["quote"]
    [corrected] = [c for c in answer["changes"] if c["kind"] == "corrected"]
    assert (corrected["subject_name"], corrected["object_name"]) == ("Ada", "Heron")
    assert corrected["superseded_by"] in {c["fact_id"] for c in answer["changes"] if c["kind"] == "asserted"}
    held_until = ask(reads.entity_facts, "Heron", before=corrected["at"])
    assert [f["id"] for f in held_until["facts"]] == [corrected["fact_id"]]


def test_changes_keep_to_their_window_kinds_and_cap(ask, scribe):
    for i in range(5):
        scribe.say("Ada", "works_on", f"Thing {i}")
    newest = ask(reads.changes, "2020", kinds=["asserted"], limit=2)
    assert (len(newest["changes"]), newest["total"], newest["limit_reached"]) == (2, 5, True)
    rest = ask(reads.changes, "2020", kinds=["asserted"], limit=2, cursor=newest["next_cursor"])
    assert not {c["fact_id"] for c in newest["changes"]} & {c["fact_id"] for c in rest["changes"]}
    last = newest["changes"][0]["at"]
    assert ask(reads.changes, last)["total"] == 1
    assert ask(reads.changes, "2020", "2021")["total"] == 0
    assert ask(reads.changes, "2020", kinds=["merged"])["total"] == 0
    assert ask(reads.changes, "2020", as_of="seq:0")["changes"] == []
    for options, field in (({"kinds": ["learned"]}, "kinds"), ({"kinds": []}, "kinds"), ({"limit": 101}, "limit")):
        with pytest.raises(errors.InvalidInput) as caught:
            ask(reads.changes, "2020", **options)
        assert caught.value.facts["field"] == field
    for arguments, field in ((("soon",), "since"), (("2024", "2023"), "until")):
        with pytest.raises(errors.InvalidInput) as caught:
            ask(reads.changes, *arguments)
        assert caught.value.facts["field"] == field


def test_changes_list_rejections_deletions_and_merges(ask, scribe):
    scribe.say("Ada", "works_on", "Heron")
    seen = scribe.document("Ada works on Egret.")
    scribe.say("Ada", "works_on", "Egret", evidence=seen)
    scribe.say("Ada L.", "works_on", "Ibis")
    facts = {f["other_name"]: f["id"] for f in ask(reads.entity_facts, "Ada")["facts"]}
    scribe.reject(UUID(facts["Heron"]))
    scribe.delete(seen)
    scribe.merge(entity_id(ask, "Ada L."), entity_id(ask, "Ada"))
    by_kind = {}
    for c in ask(reads.changes, "2020")["changes"]:
        by_kind.setdefault(c["kind"], []).append(c)
    assert [c["object_name"] for c in by_kind["rejected"]] == ["Heron"]
    assert "Egret" in [c["object_name"] for c in by_kind["retracted"]]
    [merged] = [c for c in by_kind["merged"] if c["merge_id"]]
    assert (merged["fact_id"], merged["predicate_label"]) == (None, "is the same as")
    assert {merged["subject_id"], merged["object_id"]} == {
        str(entity_id(ask, "Ada L.")),
        str(entity_id(ask, "Ada", before=merged["at"])),
    }


def test_a_document_is_read_in_pages_that_add_up(ask, scribe):
    text = "\n\n".join(f"  段落 {i} " + "x" * i + "  " for i in range(30))
    document = scribe.document(text, filename="long.md", doc_time=day("2024-02-03")).document_id
    body = "".join(part.strip() for part in text.split("\n\n"))
    whole = ask(lambda *a: reads.get_document(*a[:2], document, 0, a[2]))
    assert "".join(s["text"] for s in whole["sections"]) == body
    assert (whole["total_chars"], whole["next_offset"], whole["truncated"]) == (len(body), None, False)
    assert (whole["filename"], whole["doc_time"]) == ("long.md", "2024-02-03T00:00:00.000000Z")
    got, offset = "", 0
    while offset is not None:
        page = ask(lambda *a, o=offset: reads.get_document(*a[:2], document, o, a[2], page=37))
        assert sum(len(s["text"]) for s in page["sections"]) <= 37
        got += "".join(s["text"] for s in page["sections"])
        offset = page["next_offset"]
    assert got == body
    past = ask(lambda *a: reads.get_document(*a[:2], document, len(body), a[2]))
    assert (past["sections"], past["truncated"]) == ([], False)


def test_a_document_of_another_base_or_none_is_not_there(ask, scribe, database):
    from substrate.bases import create_base

    document = scribe.document("Something.").document_id
    with database.write(NO_BASE) as conn:
        other = create_base(conn, "other", "Other")
    with database.read(EVERY_BASE) as conn:
        for base, wanted in ((other, document), (scribe.kb_id, uuid4())):
            with pytest.raises(errors.NotFound, match="No document with that id in this knowledge base"):
                reads.get_document(conn, base, wanted, 0, reads.resolve(conn, base))
        with pytest.raises(errors.NotFound):
            reads.get_document(conn, scribe.kb_id, document, 0, reads.resolve(conn, scribe.kb_id, as_of="seq:1"))
        with pytest.raises(errors.InvalidInput) as caught:
            reads.get_document(conn, scribe.kb_id, document, -1, reads.resolve(conn, scribe.kb_id))
        assert caught.value.facts["field"] == "offset"


def test_the_empty_base_answers_the_same_by_head_and_by_number(ask):
    assert ask(reads.changes, "2020") == ask(reads.changes, "2020", as_of="seq:0")
    assert ask(reads.find_entities, "x") == ask(reads.find_entities, "x", as_of="seq:0")
