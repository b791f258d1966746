"""Merges and types are taken back exactly, and both clocks show each step."""

from __future__ import annotations

from contextlib import contextmanager
from uuid import uuid4

import pytest

from substrate import reads
from substrate.errors import Conflict, InvalidInput, NotFound
from substrate.ledger import open_door
from substrate.ledger.merges import merge, parted, revert_merge
from substrate.ledger.refusals import lift
from substrate.ledger.retractions import reject_fact
from substrate.ledger.types import retype, revert_retype
from substrate.ledger.verify import verify
from tests.ledger_facts import Scribe, day, money


class Ledger(Scribe):
    """`Scribe` with the acts of this file, each in a transaction of its own, and reads of what they leave."""

    @contextmanager
    def door(self, **more):
        with self.database.write(self.kb_id) as conn:
            with open_door(conn, self.kb_id, **{"actor": "person:Eve", "via": "rest", "action": "t", **more}) as door:
                yield door

    def act(self, act, *arguments, **more):
        with self.door() as door:
            return act(door, *arguments, **more)

    def id(self, label):
        with self.database.read(self.kb_id) as conn:
            return conn.execute("select id from entities where label = %s", (label,)).fetchone()["id"]

    def join(self, keep, absorb, **more):
        return self.act(merge, self.id(keep), self.id(absorb), **more)

    def facts(self, entity, as_of=None, at=None):
        """(relation, other end) of what is held of an entity then, sorted; None: there is no such entity."""
        with self.database.read(self.kb_id) as conn:
            moment = reads.resolve(conn, self.kb_id, as_of=f"seq:{as_of}" if as_of else None, at=at)
            try:
                answer = reads.entity_facts(conn, self.kb_id, entity, moment, limit=100)
            except NotFound:
                return None
        return sorted((f["predicate_key"], f["other_name"] or str(f["object_value"])) for f in answer["facts"])

    def fact(self, subject, predicate):
        with self.database.read(self.kb_id) as conn:
            return conn.execute(
                """select f.* from facts f join entities e on e.id = f.subject_id
                   where e.label = %s and f.predicate_key = %s and f.invalidated_seq is null""",
                (subject, predicate),
            ).fetchone()

    def found(self, name, as_of=None):
        with self.database.read(self.kb_id) as conn:
            moment = reads.resolve(conn, self.kb_id, as_of=f"seq:{as_of}" if as_of else None)
            return [(e["name"], e["type_key"]) for e in reads.find_entities(conn, self.kb_id, name, moment)["entities"]]

    def read(self, read, as_of=None, **more):
        with self.database.read(self.kb_id) as conn:
            moment = reads.resolve(conn, self.kb_id, as_of=f"seq:{as_of}" if as_of else None)
            return read(conn, self.kb_id, moment, **more)

    def rows(self, query, *parameters):
        with self.database.read(self.kb_id) as conn:
            return [tuple(row.values()) for row in conn.execute(query, parameters).fetchall()]


@pytest.fixture
def ledger(database, kb):
    made = Ledger(database, kb)
    yield made
    with database.read(kb) as conn:
        assert verify(conn, kb).exit_code == 0


def test_as_of_before_a_merge_shows_two_between_one_and_after_its_revert_two(ledger):
    ledger.say("Lea Si", "leads", "Orion", start=day("2024-01-01"))
    ledger.say("L. Si", "works_on", "Heron")
    two = ledger.seq()
    merge_id = ledger.join("Lea Si", "L. Si")
    one = ledger.seq()
    ledger.say("L. Si", "works_on", "Egret")
    ledger.act(revert_merge, merge_id, "two people")
    assert ledger.facts("L. Si", two) == [("works_on", "Heron")]
    assert ledger.facts("L. Si", one) == ledger.facts("Lea Si", one) == [("leads", "Orion"), ("works_on", "Heron")]
    assert ledger.facts("Lea Si") == [("leads", "Orion")]
    assert ledger.facts("L. Si") == [("works_on", "Egret"), ("works_on", "Heron")], "said meanwhile of the one"
    assert [name for name, _ in ledger.found("Si", one)] == ["Lea Si"]
    assert {name for name, _ in ledger.found("Si")} == {"Lea Si", "L. Si"}
    with ledger.database.read(ledger.kb_id) as conn:
        changes = reads.changes(conn, ledger.kb_id, "2020", kinds=["merged", "parted"])["changes"]
    assert [c["predicate_label"] for c in changes if c["merge_id"]] == ["is not the same as", "is the same as"]


def test_a_fact_that_a_merge_took_in_goes_on_under_its_lineage(ledger):
    ledger.say("Lea", "works_on", "Heron")
    ledger.say("Leah", "works_on", "Heron")
    before = {name: ledger.fact(name, "works_on")["lineage_id"] for name in ("Lea", "Leah")}
    merge_id = ledger.join("Lea", "Leah")
    assert len(ledger.facts("Lea")) == 1
    ledger.act(revert_merge, merge_id, "")
    assert {name: ledger.fact(name, "works_on")["lineage_id"] for name in ("Lea", "Leah")} == before
    kinds = ledger.rows("select distinct invalidated_kind from facts where predicate_key = 'works_on'")
    assert {k for (k,) in kinds} <= {None, "merged", "corrected"}


def test_a_fact_that_rests_on_the_other_alone_by_now_is_parted_from_the_one_it_was_written_of(ledger):
    told = {n: ledger.document(f"{n} works on Heron.") for n in ("Ann", "Bo")}
    for name, evidence in told.items():
        ledger.say(name, "works_on", "Heron", evidence=evidence)
    merge_id = ledger.join("Ann", "Bo")
    written = "Ann" if ledger.fact("Ann", "works_on") else "Bo"
    other = {"Ann": "Bo", "Bo": "Ann"}[written]
    ledger.delete(told[written])
    assert ledger.facts(written) == [("works_on", "Heron")], "by the word on the other"
    ledger.act(revert_merge, merge_id)
    assert ledger.facts(other) == [("works_on", "Heron")]
    assert not ledger.facts(written)
    assert ("parted",) in ledger.rows("select invalidated_kind from facts where invalidated_seq = %s", ledger.seq())


def test_a_conflict_that_only_a_merge_made_is_over_once_it_is_reverted(ledger):
    for name, amount in (("Ann", "100"), ("Bo", "200")):
        ledger.say(name, "salary", money(f"{amount} EUR", amount), start=day("2024-01-01"))
    waiting = "select count(*) from conflicts where invalidated_seq is null"
    assert ledger.rows(waiting) == [(0,)]
    merge_id = ledger.join("Ann", "Bo")
    assert ledger.rows(waiting) == [(1,)]
    ledger.act(revert_merge, merge_id)
    assert ledger.rows(waiting) == [(0,)]
    assert {len(ledger.facts(name)) for name in ("Ann", "Bo")} == {1}


def test_a_chain_of_merges_in_one_transaction_is_one_entity_and_each_link_is_undone_alone(ledger):
    for name in ("Ann", "Bo", "Cy", "Di"):
        ledger.say(name, "works_on", f"Project {name}")
    ids = [ledger.id(n) for n in ("Ann", "Bo", "Cy", "Di")]
    with ledger.door() as door:
        inner = merge(door, ids[0], ids[1])
        outer = merge(door, ids[2], ids[1])  # of Bo, who is Ann by now
        merge(door, ids[3], ids[2])
    assert len(ledger.facts("Ann")) == 4
    ledger.act(revert_merge, inner)
    assert ledger.facts("Ann") == [("works_on", "Project Ann")], "the outer one was about Bo"
    assert ledger.facts("Bo") == [("works_on", f"Project {n}") for n in ("Bo", "Cy", "Di")]
    ledger.act(revert_merge, outer)
    assert ledger.facts("Bo") == [("works_on", "Project Bo")]
    assert len(ledger.facts("Cy")) == 2


def test_a_merge_is_reverted_once_and_not_in_the_transaction_that_moved_its_entities(ledger):
    ledger.say("Ann", "works_on", "Heron")
    ledger.say("Bo", "works_on", "Heron")
    ids = ledger.id("Ann"), ledger.id("Bo")
    with pytest.raises(Conflict, match="in a later one"):
        ledger.act(lambda door: revert_merge(door, merge(door, *ids)))
    merge_id = ledger.act(merge, *ids)
    ledger.act(revert_merge, merge_id)
    with pytest.raises(Conflict, match="was reverted at seq"):
        ledger.act(revert_merge, merge_id)
    with pytest.raises(NotFound):
        ledger.act(revert_merge, uuid4())


def test_a_parted_pair_is_not_joined_again_by_a_machine(ledger):
    for name in ("Ann", "Anna", "Bo"):
        ledger.say(name, "works_on", "Heron")
    ann, anna, bo = map(ledger.id, ("Ann", "Anna", "Bo"))
    merge_id = ledger.act(merge, ann, anna, automatic=True)
    assert not ledger.act(parted, ann, anna)
    ledger.act(revert_merge, merge_id)
    assert ledger.act(parted, ann, anna)
    assert ledger.act(parted, anna, ann)
    assert not ledger.act(parted, ann, bo)
    ledger.act(merge, bo, ann)
    assert ledger.act(parted, bo, anna), "who is one with the parted is parted too"
    with pytest.raises(Conflict, match="told these two apart"):
        ledger.act(merge, anna, bo, automatic=True)
    ledger.act(merge, anna, bo)  # a person may
    assert not ledger.act(parted, anna, ann)


def test_a_refusal_spreads_by_a_merge_and_its_revert_gives_back_exactly_that(ledger):
    ledger.say("Ann", "works_on", "Heron")
    ledger.say("Bo", "works_on", "Heron")
    ledger.say("Bo", "works_on", "Egret")
    refusal = ledger.act(reject_fact, ledger.fact("Ann", "works_on")["id"], "no")
    assert ledger.facts("Bo") == [("works_on", "Egret"), ("works_on", "Heron")]
    merge_id = ledger.join("Ann", "Bo")
    assert ledger.facts("Ann") == [("works_on", "Egret")]
    closed = ledger.rows("select invalidated_kind from facts where invalidated_seq = %s", ledger.seq())
    assert ("rejected",) in closed
    document = ledger.document("Bo works on Heron, again.")
    assert ledger.say("Bo", "works_on", "Heron", evidence=document).refused == 1
    assert ledger.say("Ann", "works_on", "Heron").refused == 1
    merged = ledger.seq()
    [listed] = ledger.read(reads.list_refusals)["refusals"]
    assert listed["restatements"] == 2
    ledger.act(revert_merge, merge_id)
    assert ledger.facts("Bo") == [("works_on", "Egret"), ("works_on", "Heron")]
    assert ledger.facts("Ann") == [], "what was refused of her own name stays out"
    evidence = ledger.rows(
        """select count(*) from evidence e join facts f using (kb_id, lineage_id) join entities o on o.id = f.object_id
           where o.label = 'Heron' and e.invalidated_seq is null and f.invalidated_seq is null"""
    )
    assert evidence[0][0] == 2, "with what was said of him while he was one with her"
    [listed] = ledger.read(reads.list_refusals)["refusals"]
    assert listed["restatements"] == 1, "only hers was one"
    assert ledger.read(reads.list_refusals, as_of=merged)["refusals"][0]["restatements"] == 2
    ledger.act(lift, refusal)
    assert ledger.facts("Ann") == [], "nothing is asserted by lifting"
    assert ledger.say("Ann", "works_on", "Heron").refused == 0
    assert ledger.facts("Ann") == [("works_on", "Heron")]
    gone = ledger.read(reads.list_refusals, lifted=True)
    assert gone["refusals"][0]["lifted"]["by"] == "person:Eve"
    assert ledger.read(reads.list_refusals)["total"] == 0
    assert ledger.read(reads.list_refusals, as_of=merged, lifted=True)["total"] == 0


def test_a_fact_rejected_while_merged_stays_out_of_the_entity_it_was_written_of(ledger):
    ledger.say("Ann", "works_on", "Heron")
    ledger.say("Bo", "works_on", "Heron")
    merge_id = ledger.join("Ann", "Bo")
    [held] = ledger.rows(
        "select id, subject_id from facts where predicate_key = 'works_on' and invalidated_seq is null"
    )
    ledger.act(reject_fact, held[0], "no")
    assert ledger.facts("Ann") == []
    ledger.act(revert_merge, merge_id)
    written = "Ann" if held[1] == ledger.id("Ann") else "Bo"
    other = {"Ann": "Bo", "Bo": "Ann"}[written]
    assert ledger.facts(other) == [("works_on", "Heron")]
    assert not ledger.facts(written)


def test_a_hand_over_to_one_who_is_refused_by_a_merge_moves_nobody_out_until_it_is_reverted(ledger):
    ledger.say("Ann", "leads", "Heron", start=day("2020-01-01"))
    refused = ledger.document("Robert leads Heron from 2022.")
    ledger.say("Robert", "leads", "Heron", start=day("2022-01-01"), evidence=refused)
    ledger.act(reject_fact, ledger.fact("Robert", "leads")["id"], "no")
    told = ledger.document("Bo took over Heron from Ann in 2024.")
    ledger.say("Bo", "leads", "Heron", start=day("2024-01-01"), evidence=told)
    ledger.say("Ann", "leads", "Heron", end=day("2024-01-01"), evidence=told)
    assert ledger.facts("Heron", at="2025") == [("leads", "Bo")]
    merge_id = ledger.join("Bo", "Robert")
    assert ledger.facts("Heron", at="2025") == [("leads", "Ann")], "if not Bo, Ann did not go"
    ledger.act(revert_merge, merge_id)
    assert ledger.facts("Heron", at="2025") == [("leads", "Bo")]


def test_a_person_says_what_something_is_above_every_guess_and_takes_it_back(ledger):
    ledger.say("Heron", "works_on", "Egret", kinds={"Heron": "person"})
    assert ledger.found("Heron") == [("Heron", "person")]
    guessed = ledger.seq()
    first = ledger.act(retype, ledger.id("Heron"), "project", "a bird")
    assert ledger.found("Heron") == [("Heron", "project")]
    ledger.say("Heron", "works_on", "Ibis", kinds={"Heron": "person"})
    assert ledger.found("Heron") == [("Heron", "project")], "no guess overrides a person"
    with ledger.door() as door:  # twice in one transaction
        retype(door, ledger.id("Heron"), "person")
        second = retype(door, ledger.id("Heron"), None)
    assert ledger.found("Heron") == [("Heron", None)]
    ledger.act(revert_retype, first)
    assert ledger.found("Heron") == [("Heron", None)], "a later word stands"
    ledger.act(revert_retype, second)
    assert ledger.found("Heron") == [("Heron", "person")], "the word before it"
    assert ledger.found("Heron", guessed) == [("Heron", "person")]
    assert ledger.found("Heron", guessed + 1) == [("Heron", "project")]
    listed = ledger.read(reads.list_retypings, entity_id=ledger.id("Heron"))["retypings"]
    assert [(t["type_key"], t["in_force"], t["reverted"] is None) for t in listed] == [
        (None, False, False),
        ("person", True, True),
        ("project", False, False),
    ]
    with pytest.raises(Conflict, match="was reverted at seq"):
        ledger.act(revert_retype, second)


def test_a_class_that_nobody_declared_is_refused_by_name(ledger):
    ledger.say("Heron", "works_on", "Egret")
    with pytest.raises(InvalidInput, match="no class 'bird' is declared; declared: person, project") as error:
        ledger.act(retype, ledger.id("Heron"), "bird")
    assert error.value.facts["field"] == "type_key"
    with pytest.raises(NotFound):
        ledger.act(retype, uuid4(), "person")


def test_what_was_inferred_beats_what_was_extracted_and_neither_beats_a_person(ledger):
    ledger.say("Ann", "works_on", "Egret", kinds={"Ann": "person"})
    ledger.say("Anna", "works_on", "Egret")
    inferred = {"entity_id": ledger.id("Anna"), "type_key": "project", "source": "inferred"}
    ledger.act(lambda door: door.insert("entity_types", [inferred]))
    ledger.join("Ann", "Anna")
    assert ledger.found("Ann") == [("Ann", "project")]
    ledger.act(retype, ledger.id("Ann"), "person")
    assert ledger.found("Ann") == [("Ann", "person")]


def test_the_last_word_of_a_cluster_counts_and_is_seen_in_snapshots_and_history(ledger):
    ledger.say("Ann", "works_on", "Egret", kinds={"Ann": "person"})
    ledger.say("Anna", "works_on", "Egret")
    ledger.act(retype, ledger.id("Anna"), "project")
    merge_id = ledger.join("Ann", "Anna")
    assert ledger.found("Ann") == [("Ann", "project")], "a person's word on one beats the guess on the other"
    with ledger.database.read(ledger.kb_id) as conn:
        moment = reads.resolve(conn, ledger.kb_id)
        answer = reads.snapshot(conn, ledger.kb_id, moment, limit=1000)
        told = reads.entity_history(conn, ledger.kb_id, moment, "Ann")
    types = {(i["type_key"], i["source"]) for i in answer["items"] if i["kind"] == "type"}
    assert types == {("person", "extracted"), ("project", "human")}
    assert "human" in str(told)
    ledger.act(revert_merge, merge_id)
    assert sorted(ledger.found("Ann")) == [("Ann", "person"), ("Anna", "project")]
