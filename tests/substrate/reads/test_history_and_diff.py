"""Snapshots, histories and differences on both clocks: what rows say, and what is refused."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest

from substrate import errors, reads
from tests.ledger_facts import day


@pytest.fixture
def look(database, kb):
    """Call a read that takes its moment before its other arguments."""

    def call(read, *arguments, at=None, as_of=None, **options):
        with database.read(kb) as conn:
            return read(conn, kb, reads.resolve(conn, kb, at=at, as_of=as_of), *arguments, **options)

    return call


@pytest.fixture
def diff(database, kb):
    def call(**points):
        with database.read(kb) as conn:
            return reads.diff_between(conn, kb, **points)

    return call


@pytest.fixture
def hand_over(scribe):
    scribe.say("Ada", "leads", "Heron", start=day("2021-01-01"), kinds={"Ada": "person", "Heron": "project"})
    before_memo = scribe.seq()
    scribe.say("Bob", "leads", "Heron", start=day("2023-04-01"), kinds={"Bob": "person"})
    return before_memo


def leads(items):
    return [i for i in items if i["kind"] == "fact" and i["predicate_key"] == "leads"]


def test_a_corrected_fact_shows_both_rows_with_who_wrote_and_who_closed(look, scribe, hand_over):
    answer = look(reads.entity_history, "Heron")
    first, *later = leads(answer["items"])
    assert (first["valid_to"], first["closed"]["kind"], first["since"]) == (None, "corrected", None)
    assert first["recorded"]["seq"] < first["closed"]["seq"] == scribe.seq()
    assert {k: first["closed"][k] for k in ("actor", "via", "action", "why")} == {
        "actor": "person:test",
        "via": "import",
        "action": "test",
        "why": "",
    }
    [successor] = [f for f in later if f["supersedes"] == first["id"]]
    assert (successor["valid_to"], successor["closed"]) == ("2023-04-01T00:00:00.000000Z", None)
    assert successor["lineage_id"] == first["lineage_id"]
    assert answer["names"][first["subject_id"]]["name"] == "Ada"


def test_history_as_of_a_number_is_the_same_for_ever_but_for_since(look, scribe, hand_over):
    then = f"seq:{hand_over}"
    [held] = leads(look(reads.entity_history, "Heron", as_of=then)["items"])
    assert held["closed"] is None
    assert held["since"]["invalidated_kind"] == "corrected"
    promised = reads.promised(look(reads.entity_history, "Heron", as_of=then))
    scribe.say("Cyd", "works_on", "Heron")
    assert reads.promised(look(reads.entity_history, "Heron", as_of=then)) == promised
    assert look(reads.entity_history, "Heron")["items"] != promised["items"]


def test_a_facts_history_tells_what_it_rested_on_and_ceased_to(look, scribe):
    one, two = (scribe.document(f"Ada works on Heron ({n}).", filename=f"{n}.md") for n in (1, 2))
    scribe.say("Ada", "works_on", "Heron", evidence=one)
    scribe.say("Ada", "works_on", "Heron", evidence=two)
    [fact] = [f for f in look(reads.snapshot, "Ada")["items"] if f.get("predicate_key") == "works_on"]
    scribe.delete(one)
    answer = look(reads.fact_history, UUID(fact["id"]))
    links = {i["filename"]: i for i in answer["items"] if i["kind"] == "evidence"}
    assert links["1.md"]["closed"]["seq"] == scribe.seq()
    assert links["1.md"]["closed"]["kind"] == "deleted"
    assert links["2.md"]["closed"] is None
    assert [i["id"] for i in answer["items"] if i["kind"] == "fact" and not i["closed"]] == [fact["id"]]
    scribe.reject(UUID(fact["id"]))
    [row] = [i for i in look(reads.fact_history, UUID(fact["id"]))["items"] if i["kind"] == "fact"]
    assert row["closed"]["seq"] == scribe.seq()


def test_a_fact_has_no_history_before_it_was_written_or_in_another_base(look, scribe, hand_over):
    [bob] = leads(look(reads.snapshot, "Bob")["items"])
    assert look(reads.fact_history, UUID(bob["id"]))["items"]
    for fact_id, as_of in ((bob["id"], f"seq:{hand_over}"), (str(uuid4()), None)):
        with pytest.raises(errors.NotFound) as caught:
            look(reads.fact_history, UUID(fact_id), as_of=as_of)
        assert caught.value.facts["field"] == "fact_id"


def test_a_snapshot_looks_at_both_clocks(look, scribe, hand_over):
    def who(**moment):
        answer = look(reads.snapshot, "Heron", **moment)
        return sorted(answer["names"][f["subject_id"]]["name"] for f in leads(answer["items"]))

    assert who() == ["Ada", "Bob"]
    assert who(at="2024") == ["Bob"]
    assert who(at="2024", as_of=f"seq:{hand_over}") == ["Ada"]
    assert who(at="2020") == []
    kinds = {i["kind"] for i in look(reads.snapshot, None)["items"]}
    assert kinds == {"entity", "type", "fact"}


def test_the_record_changed_its_mind_about_one_day(diff, hand_over):
    points = {"from_as_of": f"seq:{hand_over}", "at": "2024"}
    answer = diff(**points, entity="Heron")
    assert (answer["from"]["seq"], answer["to"]["seq"], answer["at"]) == (hand_over, answer["seq"], "2024")
    [came], [went] = leads(answer["added"]), leads(answer["removed"])
    names = {i: n["name"] for i, n in answer["names"].items()}
    assert (names[came["subject_id"]], names[went["subject_id"]]) == ("Bob", "Ada")
    assert came["by"]["seq"] == went["by"]["seq"] == answer["seq"]
    same = diff(from_as_of=f"seq:{answer['seq']}", entity="Heron")
    assert same["added"] == same["removed"] == []


def test_the_world_changed_hands_between_two_dates(diff, hand_over):
    answer = diff(from_at="2022", to_at="2024", entity="Heron")
    [came], [went] = leads(answer["added"]), leads(answer["removed"])
    assert (answer["names"][came["subject_id"]]["name"], answer["names"][went["subject_id"]]["name"]) == ("Bob", "Ada")
    assert came["by"] is went["by"] is None
    before = diff(from_at="2022", to_at="2024", as_of=f"seq:{hand_over}")
    assert before["added"] == before["removed"] == []
    assert leads(diff(from_at="2022", to_at="2024")["added"]) == [came]


def test_what_a_merge_brings_an_entity_was_written_by_nobody_in_between(diff, look, scribe):
    scribe.say("Bob Smith", "works_on", "Egret")
    scribe.say("Robert Smith", "works_on", "Heron")
    then = scribe.seq()
    keep, absorbed = (UUID(look(reads.snapshot, n)["entity"]["id"]) for n in ("Robert Smith", "Bob Smith"))
    scribe.merge(keep, absorbed)
    answer = diff(from_as_of=f"seq:{then}", entity="Robert Smith")
    [identity] = [i for i in answer["added"] if i["kind"] == "identity"]
    assert (identity["id"], identity["canonical_id"]) == (str(absorbed), str(keep))
    assert identity["by"]["seq"] == scribe.seq()
    [brought] = [i for i in answer["added"] if i.get("predicate_key") == "works_on"]
    assert answer["names"][brought["object_id"]]["name"] == "Egret"
    assert brought["by"] is None


@pytest.mark.parametrize(
    ("points", "field"),
    [
        ({}, "from_as_of"),
        ({"from_as_of": "seq:1", "from_at": "2020"}, "from_as_of"),
        ({"from_as_of": "seq:1", "to_at": "2020"}, "to_at"),
        ({"from_as_of": "seq:1", "as_of": "seq:1"}, "as_of"),
        ({"from_at": "2020"}, "to_at"),
        ({"from_at": "2021", "to_at": "2020"}, "from_at"),
        ({"from_at": "2020", "to_at": "2021", "at": "2020"}, "at"),
        ({"from_as_of": "seq:2", "to_as_of": "seq:1"}, "from_as_of"),
        ({"from_as_of": "seq:0", "limit": 0}, "limit"),
        ({"from_as_of": "seq:0", "cursor": "x"}, "cursor"),
    ],
)
def test_points_that_are_not_of_one_clock_or_in_order_are_refused_by_name(diff, hand_over, points, field):
    with pytest.raises(errors.InvalidInput) as caught:
        diff(**points)
    assert caught.value.facts["field"] == field


def test_a_page_goes_on_where_it_stopped_whatever_is_written_meanwhile(look, scribe, hand_over):
    whole = look(reads.snapshot, None)["items"]
    first = look(reads.snapshot, None, limit=3)
    assert (first["truncated"], len(first["items"])) == (True, 3)
    scribe.say("Cyd", "leads", "Heron", start=day("2025-01-01"))
    rest = look(reads.snapshot, None, limit=1000, cursor=None)["items"]
    assert rest != whole
    items, cursor = first["items"], first["next_cursor"]
    while cursor:
        page = look(reads.snapshot, None, limit=3, cursor=cursor)
        assert page["seq"] == first["seq"]
        items, cursor = items + page["items"], page["next_cursor"]
    assert items == whole
    for wrong in (look(reads.entity_history, "Heron", limit=1)["next_cursor"], "AAAA", "c2VxLjEuMg"):
        with pytest.raises(errors.InvalidInput) as caught:
            look(reads.snapshot, None, limit=3, cursor=wrong)
        assert caught.value.facts["field"] == "cursor"
