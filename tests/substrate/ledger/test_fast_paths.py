"""What is quick gives what the long way gives: columns of a lone statement, and what a base need not be asked for."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from types import SimpleNamespace
from uuid import UUID, uuid4

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from substrate.axes.valid_time import PRECISIONS, bucket_end, truncate
from substrate.ledger import open_door
from substrate.ledger._rows import SHAPES
from substrate.ledger.canonical import canonical_bytes, row_bytes
from substrate.ledger.drafts import Evidence
from substrate.ledger.fact_times import time_alone, time_values
from substrate.ledger.lone import WORDS, facts_if_alone, told_alone
from substrate.ledger.merges import merge
from substrate.ledger.recompute import _content
from substrate.ledger.scenes import Scene
from substrate.ledger.timelines import Timelines
from substrate.ontology.terms import EMPTY, parse_ontology
from tests.substrate.ledger.conftest import ONTOLOGY

# --- a lone statement ---

EARLY, LATE = (datetime(year, 1, 1, tzinfo=UTC).replace(tzinfo=None) for year in (1950, 2090))
moments = st.datetimes(EARLY, LATE, timezones=st.just(UTC))
precisions = st.sampled_from(PRECISIONS)


@st.composite
def lone_rows(draw) -> dict:
    """The columns of an assertion that decide its time, in every form that the table takes."""
    row = dict.fromkeys(("stated_from", "stated_from_precision", "stated_to", "stated_to_precision", "replaces"))
    if draw(st.booleans()):
        precision = draw(precisions)
        row |= {"stated_from": truncate(draw(moments), precision), "stated_from_precision": precision}
    ends = draw(st.sampled_from(("open", "open", "unknown", "dated")))
    if ends == "unknown":
        row["stated_to_precision"] = "unknown"
    elif ends == "dated":
        precision = draw(precisions)
        begin = max(filter(None, (row["stated_from"], truncate(draw(moments), precision))))
        row |= {"stated_to": bucket_end(truncate(begin, precision), precision), "stated_to_precision": precision}
    attested = draw(st.none() | moments)
    more = {"at_event": draw(st.booleans()) and row["stated_from"] is not None, "attested_at": attested}
    return row | more | {"id": uuid4(), "denies": False, "corrects": False, "origin": "document", "grade": "A"}


def spans_of(row: dict, temporal: str) -> list:
    """By the long way."""
    statement = Scene(SimpleNamespace(seq=7), EMPTY, {}).statement({**row, "recorded_seq": 7}, (uuid4(), "", ""))
    return Timelines({statement.value: [statement]}, {}).spans(statement.value, temporal)


@given(lone_rows(), st.sampled_from(("state", "event", "eternal")))
def test_the_columns_of_a_lone_statement_are_those_of_its_timeline(row, temporal):
    told = time_alone(row, temporal)
    assert (told is None) == (row["stated_to_precision"] is not None)
    if told is not None:
        assert [told] == [time_values(span, temporal) for span in spans_of(row, temporal)]


@given(lone_rows(), st.sampled_from(("state", "event", "eternal")))
def test_the_fact_of_a_lone_statement_is_the_one_that_a_timeline_gives(row, temporal):
    words = dict.fromkeys(WORDS, "word") | {"value_number": Decimal("1.5"), "predicate_key": None}
    row |= words | {"subject_id": uuid4(), "object_id": None, "qualifiers": [["where", "here"]], "confidence": 0.25}
    for span in spans_of(row, temporal):
        made = told_alone(row, time_values(span, temporal))
        assert made.pop("id") != made.pop("lineage_id")
        assert made == _content(span, temporal, [row])


def test_no_fact_is_made_before_its_relation_and_its_words_allow_it():
    ontology = parse_ontology(ONTOLOGY)
    row = dict.fromkeys(SHAPES["assertions"].columns) | {"id": uuid4(), "phrase": "x", "origin": "document"}
    made = {
        key: set(facts_if_alone([row | {"predicate_key": key} | more], ontology)) == {row["id"]}
        for key, more in (
            ("works_for", {}),
            ("acquired", {}),
            ("leads", {}),
            ("married_to", {}),
            (None, {}),
            ("same_as", {"denies": True}),
            ("known_as", {"origin": "person"}),
            ("knows", {"stated_to_precision": "unknown"}),
        )
    }
    assert {key for key, whether in made.items() if whether} == {"works_for", "acquired", None}


def test_what_the_server_refuses_is_told_at_once_and_leaves_nothing(hand):
    hand.say({"subject": "Ann", "phrase": "works for", "obj": "Acme"})
    before = hand.held(), holding(hand)
    with pytest.raises(psycopg.errors.CheckViolation):
        hand.say({"subject": "Bo", "phrase": "works for", "obj": "Acme", "confidence": 2.0})
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        hand.say({"subject": "Bo", "phrase": "works for", "obj": "Acme", "evidence": Evidence(document_id=uuid4())})
    assert (hand.held(), holding(hand)) == before
    hand.say({"subject": "Bo", "phrase": "works for", "obj": "Acme"})
    assert len(hand.held()) == len(before[0]) + 1


# --- a row of the log ---

values = st.one_of(
    st.none(),
    st.text(),
    st.integers(-(2**53), 2**53),
    st.booleans(),
    st.uuids(),
    moments,
    st.floats(0, 1, width=32),
    st.decimals(allow_nan=False, allow_infinity=False),
    st.lists(st.tuples(st.text(), st.text()) | st.floats(allow_nan=False, allow_infinity=False) | st.dates().map(str)),
)


@given(st.dictionaries(st.text(min_size=1), values))
def test_a_row_is_the_same_bytes_by_the_short_way(row):
    names = sorted(row)
    given_values = [row[name] for name in names]
    assert row_bytes(names, given_values, sparse=False) == canonical_bytes(row)
    held = {name: value for name, value in row.items() if value is not None}
    assert row_bytes(names, given_values, sparse=True) == canonical_bytes(held)


def test_more_columns_stand_before_the_others_as_they_are():
    assert row_bytes(("a",), (Decimal("1.50"),), sparse=True, raw={"z": {"y": 1.5}}) == b'{"z":{"y":1.5},"a":"1.50"}'


# --- what the door knows ---


def holding(hand) -> set[str]:
    with hand.database.write(hand.kb_id) as connection:
        with open_door(connection, hand.kb_id, actor="test", via="cli", action="looked") as door:
            return {t for t in ("entity_canonical", "refusals", "conflicts") if door.may_hold(t)}


def test_the_door_learns_what_a_base_holds_and_what_it_writes_itself(hand):
    assert holding(hand) == set()
    hand.say({"subject": "Ann", "phrase": "works for", "obj": "Acme"}, {"subject": "Anne", "phrase": "x", "obj": "Bo"})
    assert holding(hand) == set()
    ids = entities(hand)
    with hand.database.write(hand.kb_id) as connection:
        with open_door(connection, hand.kb_id, actor="test", via="cli", action="merged") as door:
            merge(door, ids["Ann"], ids["Anne"], "one person")
            assert door.may_hold("entity_canonical")
    assert holding(hand) == {"entity_canonical"}


def test_a_statement_about_an_absorbed_entity_meets_the_facts_of_the_one_that_was_kept(hand):
    said = {"subject": "Ann", "phrase": "works for", "obj": "Acme", "start": "2024-01-01"}
    hand.say(said, {"subject": "Anne", "phrase": "x", "obj": "Bo"})
    ids = entities(hand)
    with hand.database.write(hand.kb_id) as connection:
        with open_door(connection, hand.kb_id, actor="test", via="cli", action="merged") as door:
            merge(door, ids["Ann"], ids["Anne"], "one person")
    before = len(hand.held())
    hand.say({**said, "subject": "Anne"})
    assert len(hand.held()) == before


def entities(hand) -> dict[str, UUID]:
    with hand.database.read(hand.kb_id) as connection:
        rows = connection.execute("select id, label from entities where kb_id = %s", (hand.kb_id,)).fetchall()
    return {row["label"]: row["id"] for row in rows}


@pytest.mark.parametrize("sparse", [True, False])
def test_as_many_values_as_names_are_asked_for(sparse):
    with pytest.raises(ValueError, match="zip"):
        row_bytes(("a", "b"), (1,), sparse=sparse)
