"""A fact that no passage held speaks for is shown as unconfirmed, with what it rested on, in every projection of it."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest

from api.mcp import text
from substrate import reads
from substrate.db import Database
from substrate.documents.stage import run_parse
from substrate.ledger import open_door
from substrate.ledger.assertions import assert_batch
from substrate.ledger.drafts import Draft
from substrate.ontology.store import load_ontology
from tests.substrate.documents.lifecycle import BY, Shelf


@pytest.fixture
def shelf(database: Database, kb: UUID) -> Shelf:
    return Shelf(database, kb)


def snapshot(shelf: Shelf, seq: int | None = None) -> dict:
    with shelf.database.read(shelf.kb) as conn:
        moment = reads.resolve(conn, shelf.kb, as_of=None if seq is None else f"seq:{seq}")
        return reads.snapshot(conn, shelf.kb, moment, "Orion")["unconfirmed"]


def shown(shelf: Shelf, seq: int | None = None) -> str:
    with shelf.database.read(shelf.kb) as conn:
        moment = reads.resolve(conn, shelf.kb, as_of=None if seq is None else f"seq:{seq}")
        return "\n".join(text.fact_rows(reads.entity_facts(conn, shelf.kb, "Orion", moment)))


def listed(shelf: Shelf, seq: int | None = None) -> list[str]:
    with shelf.database.read(shelf.kb) as conn:
        moment = reads.resolve(conn, shelf.kb, as_of=None if seq is None else f"seq:{seq}")
        answer = reads.list_unconfirmed(conn, shelf.kb, moment, limit=1)
        found = answer["facts"]
        while answer["next_cursor"]:
            answer = reads.list_unconfirmed(conn, shelf.kb, moment, limit=1, cursor=answer["next_cursor"])
            found += answer["facts"]
    assert len(found) == answer["total"]
    return sorted(f"{f['subject_name']} {f['predicate_key']}: {f['rested_on'][0]['passage']}" for f in found)


def test_between_the_landing_of_a_new_version_and_its_reading(shelf: Shelf) -> None:
    shelf.put("one", "Ada leads Orion.\n")
    before = shelf.seq
    [fact] = shelf.facts("Orion")
    assert (fact["unconfirmed"], fact["rested_on"]) == (False, [])
    shelf.put("one", "The motto of Orion is Excelsior.\n", read=False)
    [waiting] = shelf.facts("Orion")
    assert waiting["unconfirmed"] is False, "the new version has not landed: readers still see the old"
    run_parse(shelf.database, shelf.kb)
    landed = shelf.seq
    [between] = shelf.facts("Orion")
    assert between["id"] == fact["id"] and between["unconfirmed"] is True
    [passage] = between["rested_on"]
    assert (passage["quote"], passage["filename"], passage["passage"]) == ("Ada leads Orion.", "one.md", "superseded")
    assert fact["lineage_id"] in snapshot(shelf)
    assert "[unconfirmed: no passage held now says so]" in shown(shelf)
    names = ["Ada known_as: superseded", "Orion known_as: superseded"]
    assert (
        listed(shelf) == ["Ada known_as: superseded", "Ada leads: superseded", names[1]] and listed(shelf, before) == []
    )

    shelf.read()
    assert shelf.told("Orion") == ["motto Excelsior"]
    assert [f["unconfirmed"] for f in shelf.facts("Orion")] == [False] and snapshot(shelf) == {}
    assert "unconfirmed" not in shown(shelf) and listed(shelf) == [] and len(listed(shelf, landed)) == 3
    assert [f["unconfirmed"] for f in shelf.facts("Orion", before)] == [False]
    assert [f["unconfirmed"] for f in shelf.facts("Orion", landed)] == [True]
    assert "unconfirmed" in shown(shelf, landed) and fact["lineage_id"] in snapshot(shelf, landed)


def test_while_another_document_says_so_it_is_confirmed(shelf: Shelf) -> None:
    shelf.put("one", "Ada leads Orion.\n")
    shelf.put("two", "Ada leads Orion.\n")
    shelf.put("one", "Nothing of note.\n", read=False)
    run_parse(shelf.database, shelf.kb)
    [fact] = shelf.facts("Orion")
    assert (fact["unconfirmed"], fact["evidence_count"]) == (False, 2)


def test_a_persons_word_outlives_the_passage_and_says_what_it_was_about(shelf: Shelf) -> None:
    shelf.put("one", "Ada leads Orion.\n")
    [row] = shelf.rows("select * from facts where predicate_key = 'leads' and invalidated_seq is null")
    with shelf.database.write(shelf.kb) as conn, open_door(conn, shelf.kb, action="asserted", **BY) as door:
        word = Draft(
            f"person:{uuid4()}", row["subject_id"], "leads", "leads", object_id=row["object_id"], origin="person"
        )
        assert_batch(door, [word], load_ontology(conn, shelf.kb))
    [both] = shelf.facts("Orion")
    assert (both["evidence_count"], both["unconfirmed"]) == (2, False)
    gone = shelf.delete("one")
    assert not [i for i in gone.retracted if i in {row["id"]}]
    [alone] = shelf.facts("Orion")
    assert (alone["evidence_count"], alone["unconfirmed"]) == (1, True)
    assert [(p["quote"], p["passage"]) for p in alone["rested_on"]] == [("Ada leads Orion.", "deleted")]
    assert 'rested on: "Ada leads Orion." ("one.md", deleted since)' in shown(shelf)
    shelf.restore(gone)
    [again] = shelf.facts("Orion")
    assert (again["evidence_count"], again["unconfirmed"]) == (2, False)


def test_a_persons_word_alone_rested_on_no_passage(shelf: Shelf) -> None:
    shelf.put("one", "Ada leads Orion.\n")
    [row] = shelf.rows("select * from facts where predicate_key = 'leads' and invalidated_seq is null")
    with shelf.database.write(shelf.kb) as conn, open_door(conn, shelf.kb, action="asserted", **BY) as door:
        word = Draft(f"person:{uuid4()}", row["object_id"], "admires", object_id=row["subject_id"], origin="person")
        assert_batch(door, [word], load_ontology(conn, shelf.kb))
    [said] = [f for f in shelf.facts("Orion") if f["phrase"] == "admires"]
    assert (said["unconfirmed"], said["rested_on"]) == (False, [])
