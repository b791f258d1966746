"""One hop, chains between two, and why: on both clocks, with bounds that say themselves."""

from __future__ import annotations

from uuid import UUID

import pytest

from substrate import reads
from substrate.errors import InvalidInput, NotFound
from substrate.reads import paths
from tests.ledger_facts import day, money


def names(answer):
    return [n["name"] for n in answer["neighbors"]]


def chains(answer):
    return [[p["edges"][0]["from"]["name"], *(e["to"]["name"] for e in p["edges"])] for p in answer["paths"]]


def test_neighbors_are_what_is_linked_then_by_relation(scribe, ask):
    scribe.say("Ada", "leads", "Heron", start=day("2021-01-01"), kinds={"Heron": "project"})
    early = scribe.seq()
    scribe.say("Bob", "leads", "Heron", start=day("2023-04-01"), kinds={"Bob": "person"})
    scribe.say("Cora", "works_on", "Heron")
    scribe.say("Dora", "works_on", "Heron")
    scribe.say("Heron", "salary", money("EUR 5", "5"))
    now = ask(reads.neighbors, "Heron")
    assert [(g["predicate_key"], g["direction"], g["count"]) for g in now["groups"]] == [
        ("leads", "in", 2),
        ("works_on", "in", 2),
    ]
    assert sorted(names(now)) == ["Ada", "Bob", "Cora", "Dora"]  # a value is no neighbour
    assert {n["name"]: n["type_label"] for n in now["neighbors"]}["Bob"] == "Person"
    assert names(ask(reads.neighbors, "Heron", predicate="leads", at="2022")) == ["Ada"]
    assert names(ask(reads.neighbors, "Heron", predicate="leads", at="2024")) == ["Bob"]
    assert names(ask(reads.neighbors, "Heron", predicate="leads", at="2024", as_of=f"seq:{early}")) == ["Ada"]
    assert names(ask(reads.neighbors, "Heron", object_type="Person")) == ["Bob"]
    assert names(ask(reads.neighbors, "Cora")) == ["Heron"]
    assert [names(ask(reads.neighbors, "Ada", at=year)) for year in ("2022", "2024")] == [["Heron"], []]
    with pytest.raises(NotFound, match="entity"):
        ask(reads.neighbors, "Heron", before=f"seq:{early}")


def test_neighbors_come_in_pages_that_add_up(scribe, ask):
    for n in range(7):
        scribe.say(f"Person {n}", "works_on", "Heron")
    seen, cursor = [], None
    while len(seen) < 7:
        page = ask(reads.neighbors, "Heron", limit=3, cursor=cursor)
        seen += names(page)
        cursor = page["next_cursor"]
        scribe.say(f"Later {len(seen)}", "works_on", "Heron")
    assert (sorted(seen), cursor) == ([f"Person {n}" for n in range(7)], None)


def test_a_link_says_what_became_of_it(scribe, ask):
    scribe.say("Ada", "leads", "Heron", start=day("2021-01-01"))
    then = f"seq:{scribe.seq()}"
    [held] = ask(reads.neighbors, "Ada", as_of=then)["neighbors"]
    assert (held["status"], held["successor_id"]) == ("held", None)
    scribe.say("Bob", "leads", "Heron", start=day("2023-04-01"))
    [ended] = ask(reads.neighbors, "Ada", as_of=then)["neighbors"]
    [now] = ask(reads.neighbors, "Ada")["neighbors"]
    assert (ended["status"], ended["successor_id"]) == ("superseded", now["fact_id"])
    scribe.reject(UUID(now["fact_id"]))
    assert ask(reads.neighbors, "Ada")["neighbors"] == []
    assert reads.promised(ask(reads.neighbors, "Ada", as_of=then)) == reads.promised(
        ask(reads.neighbors, "Ada", as_of=then)
    )


def test_a_merged_entity_is_one_neighbour_and_its_links_are_of_the_other(scribe, ask, database, kb):
    scribe.say("Ada", "works_on", "Heron")
    scribe.say("Ada King", "works_on", "Egret")
    apart = f"seq:{scribe.seq()}"
    with database.read(kb) as conn:
        ids = {r["label"]: r["id"] for r in conn.execute("select label, id from entities").fetchall()}
    scribe.merge(ids["Ada"], ids["Ada King"])
    assert sorted(names(ask(reads.neighbors, "Ada"))) == ["Egret", "Heron"]
    assert names(ask(reads.neighbors, "Ada", as_of=apart)) == ["Heron"]
    assert chains(ask(reads.paths_between, "Heron", "Egret")) == [["Heron", "Ada", "Egret"]]
    assert chains(ask(reads.paths_between, "Heron", "Egret", as_of=apart)) == []


def test_chains_of_one_two_and_three_hops_shortest_first(scribe, ask):
    scribe.say("Ada", "works_on", "Heron")
    scribe.say("Bob", "works_on", "Heron")
    scribe.say("Bob", "works_on", "Egret")
    scribe.say("Cora", "works_on", "Egret")
    assert chains(ask(reads.paths_between, "Ada", "Heron")) == [["Ada", "Heron"]]
    assert chains(ask(reads.paths_between, "Ada", "Bob")) == [["Ada", "Heron", "Bob"]]
    three = ask(reads.paths_between, "Ada", "Egret")
    assert chains(three) == [["Ada", "Heron", "Bob", "Egret"]]
    assert [e["direction"] for e in three["paths"][0]["edges"]] == ["out", "in", "out"]
    assert chains(ask(reads.paths_between, "Egret", "Ada")) == [["Egret", "Bob", "Heron", "Ada"]]
    assert chains(ask(reads.paths_between, "Ada", "Egret", max_hops=2)) == []
    assert chains(ask(reads.paths_between, "Ada", "Cora")) == []  # four hops
    scribe.say("Ada", "works_on", "Egret")
    both = ask(reads.paths_between, "Ada", "Egret")
    assert [p["hops"] for p in both["paths"]] == [1, 3]
    with pytest.raises(InvalidInput, match="to: the same"):
        ask(reads.paths_between, "Ada", "Ada")
    with pytest.raises(NotFound, match="to: no entity"):
        ask(reads.paths_between, "Ada", "Nobody")


def test_every_step_of_a_chain_holds_at_the_moment(scribe, ask):
    scribe.say("Ada", "works_on", "Heron", start=day("2020-01-01"), end=day("2021-01-01"))
    early = f"seq:{scribe.seq()}"
    scribe.say("Bob", "works_on", "Heron", start=day("2020-06-01"), end=day("2022-01-01"))
    assert len(ask(reads.paths_between, "Ada", "Bob", at="2020-07")["paths"]) == 1
    assert ask(reads.paths_between, "Ada", "Bob", at="2021-07")["paths"] == []
    assert ask(reads.paths_between, "Ada", "Bob", at="2020-02")["paths"] == []
    with pytest.raises(NotFound):
        ask(reads.paths_between, "Ada", "Bob", as_of=early)


def test_a_hub_is_no_bridge_and_the_answer_says_so(scribe, ask, monkeypatch):
    monkeypatch.setattr(paths, "HUB", 3)
    scribe.say("Ada", "works_on", "Europe")
    scribe.say("Bob", "works_on", "Europe")
    scribe.say("Bob", "works_on", "Egret")
    for n in range(3):
        scribe.say(f"Someone {n}", "works_on", "Europe")
        scribe.say(f"Other {n}", "works_on", "Egret")
    open_ = ask(reads.paths_between, "Ada", "Egret")
    assert (chains(open_), open_["left_out"]["hubs"]) == ([], 1)
    monkeypatch.setattr(paths, "HUB", 150)
    assert chains(ask(reads.paths_between, "Ada", "Egret")) == [["Ada", "Europe", "Bob", "Egret"]]


def test_the_same_step_said_twice_is_one_chain(scribe, ask):
    scribe.say("Ada", "works_on", "Heron", start=day("2020-01-01"), end=day("2020-03-01"))
    scribe.say("Ada", "works_on", "Heron", start=day("2022-01-01"), end=day("2022-03-01"))
    answer = ask(reads.paths_between, "Ada", "Heron")
    assert (answer["total"], answer["paths"][0]["edges"][0]["more_facts"]) == (1, 1)


def test_why_a_fact_is_held(scribe, ask, database, kb, tmp_path):
    said = scribe.document("Ada leads Heron.", filename="memo.md", doc_time=day("2022-02-02"))
    scribe.say("Ada", "leads", "Heron", evidence=said, start=day("2021-01-01"))
    then = f"seq:{scribe.seq()}"
    [first] = ask(reads.entity_facts, "Ada", predicate="leads")["facts"]

    scribe.say("Bob", "leads", "Heron", start=day("2023-04-01"))
    [second] = ask(reads.entity_facts, "Ada", predicate="leads")["facts"]
    why = ask(reads.explain_fact, UUID(second["id"]))
    [row] = why["facts"]
    assert (row["id"], row["held_id"], row["subject_name"], row["other_name"]) == (
        second["id"],
        second["id"],
        "Ada",
        "Heron",
    )
    [evidence] = why["evidence"]
    assert (evidence["quote"], evidence["filename"], evidence["span"]) == ("Ada leads Heron.", "memo.md", [0, 16])
    assert evidence["recorded_by"] == "person:test" and evidence["confirmed"] is None
    assert [(i["id"], bool(i["closed"])) for i in why["history"] if i["kind"] == "fact"] == [
        (first["id"], True),
        (second["id"], False),
    ]
    assert [(p["fact_id"], p["event"]) for p in why["proof"]] == [
        (first["id"], "insert"),
        (first["id"], "close"),
        (second["id"], "insert"),
    ]
    with database.read(kb) as conn:
        hashes = {
            (r["seq"], r["ordinal"]): bytes(r["hash"]).hex()
            for r in conn.execute("select seq, ordinal, hash from ledger_log").fetchall()
        }
    assert all(hashes[p["seq"], p["ordinal"]] == p["hash"] for p in why["proof"])
    past = ask(reads.explain_fact, UUID(first["id"]), as_of=then)
    assert (past["facts"][0]["status"], past["facts"][0]["successor_id"]) == ("superseded", second["id"])
    assert [p["event"] for p in past["proof"]] == ["insert"]
    with pytest.raises(NotFound, match="fact_id"):
        ask(reads.explain_fact, UUID(second["id"]), as_of=then)
    place = tmp_path / str(kb) / "history"
    place.mkdir(parents=True)
    (place / "000000000001.txt").write_text("too early")
    (place / "000000009999.txt").write_text("note")
    covered = ask(reads.explain_fact, UUID(first["id"]), checkpoints=tmp_path)
    assert covered["checkpoint"] == {"seq": 9999, "note": "note"}


def test_rules_are_those_declared_then(scribe, ask, database, kb):
    found = {(r["on"], r["rule"]): r for r in ask(reads.list_rules)["rules"]}
    assert found["leads", "inverse_functional"]["effect"] == "constrains"
    assert found["salary", "functional"]["value"] is True
    assert found["leads", "domain"]["value"] == ["person"]
    assert ask(reads.list_rules, as_of="seq:0")["rules"] == []
    scribe.say("Ada", "works_on", "Heron")
    [held] = ask(reads.entity_facts, "Ada")["facts"]
    before = scribe.seq()
    scribe.reject(UUID(held["id"]))
    assert ask(reads.list_rules)["refused"] == 1
    assert ask(reads.list_rules, as_of=f"seq:{before}")["refused"] == 0
