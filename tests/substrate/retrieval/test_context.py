"""What is packed for a question: facts and passages under a budget, on both clocks, and what had no room."""

from __future__ import annotations

from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from substrate.documents.chunking import estimate_tokens
from substrate.errors import InvalidInput
from substrate.reads.moments import resolve
from substrate.retrieval.context import context
from substrate.retrieval.packing import Passage, pack

TALK = [
    "Nadia (8 May, 2023): Where did you learn to sail?",
    "Omar (8 May, 2023): In Lisbon, years ago.",
    "Nadia (8 May, 2023): I went sailing last week too.",
]


@pytest.fixture
def gather(database, kb, settings):
    def ask(question: str, budget: int = 1500, **moment):
        with database.read(kb) as conn:
            as_of = resolve(conn, kb, **moment)
            return context(conn, kb, question, as_of, embedder=None, settings=settings, budget=budget)

    return ask


def passages(answer) -> list[str]:
    return [p["text"] for document in answer["documents"] for p in document["passages"]]


def test_passages_come_in_reading_order_with_their_date_said_once(shelf, gather):
    shelf.put("call.txt", TALK)
    answer = gather("Where did Omar learn to sail?")
    assert passages(answer) == TALK
    (document,) = answer["documents"]
    assert document["document_id"] == str(shelf.document_ids["call.txt"])
    assert answer["text"].split("\n")[0] == document["title"] and "8 May, 2023" in document["title"]
    assert answer["text"].count("8 May, 2023") == 1 and "Omar: In Lisbon, years ago." in answer["text"]
    assert answer["left_out"] == {"facts": 0, "passages": 0, "copies": 0}


def test_the_budget_holds_and_what_had_no_room_is_said(shelf, gather):
    shelf.put("many.txt", [f"The harbour has crate number {n} in shed {n * 7}." for n in range(60)])
    small, large = gather("harbour crate", 150), gather("harbour crate", 600)
    assert estimate_tokens(small["text"]) <= 150 + 15  # the last line tells what is missing
    assert small["used_tokens"] <= 150 < large["used_tokens"] <= 600
    assert len(passages(small)) < len(passages(large))
    assert small["left_out"]["passages"] > 0 and f"{small['left_out']['passages']} passages" in small["text"]


def test_a_copy_is_left_out(shelf, gather):
    shelf.put("a.txt", ["The harbour opens at six in the morning every day of the year."])
    shelf.put("b.txt", ["The harbour opens at six in the morning every day of the year!"])
    shelf.put("c.txt", ["The harbour closes at nine."])
    answer = gather("harbour opens")
    assert len(passages(answer)) == 2 and answer["left_out"]["copies"] == 1


def test_nothing_on_record_is_an_answer(gather):
    answer = gather("Where did Omar learn to sail?")
    assert (answer["facts"], answer["documents"], answer["text"]) == ([], [], "Nothing on record about this.")


def test_passages_are_those_of_the_moment(shelf, gather):
    first = shelf.put("a.txt", ["The limit is ten crates."])
    shelf.put("a.txt", ["The limit is twelve crates."])
    assert passages(gather("limit crates", as_of=f"seq:{first}")) == ["The limit is ten crates."]
    assert passages(gather("limit crates")) == ["The limit is twelve crates."]


@pytest.mark.parametrize(
    ("question", "budget", "field"),
    [
        (" ", 1500, "question"),
        ("x" * 2001, 1500, "question"),
        ("x", 99, "budget_tokens"),
        ("x", 32_001, "budget_tokens"),
    ],
)
def test_bad_arguments_are_named(gather, question, budget, field):
    with pytest.raises(InvalidInput) as caught:
        gather(question, budget)
    assert caught.value.facts["field"] == field


VERSIONS = [uuid4() for _ in range(3)]


@given(
    st.lists(st.tuples(st.sampled_from(VERSIONS), st.integers(1, 60)), max_size=25),
    st.integers(0, 300),
    st.integers(0, 20),
)
def test_packing_never_exceeds_and_never_stops_early(drawn, budget, title):
    ranked = [Passage(uuid4(), v, n, f"text number {n} alone {uuid4()}", cost) for n, (v, cost) in enumerate(drawn)]
    packed = pack(ranked, budget, dict.fromkeys(VERSIONS, title))
    opened = {p.version_id for p in packed.passages}
    assert packed.tokens == sum(p.tokens for p in packed.passages) + title * len(opened) <= budget
    assert len(packed.passages) + packed.left_out + packed.copies == len(ranked)
    for passage in set(ranked) - set(packed.passages):  # nothing that is out would fit beside all that is in
        assert packed.tokens + passage.tokens + (0 if passage.version_id in opened else title) > budget
    by_document = [p.version_id for p in packed.passages]
    assert len(opened) == sum(a != b for a, b in zip([None, *by_document], by_document, strict=False))
    for version in opened:
        positions = [p.position for p in packed.passages if p.version_id == version]
        assert positions == sorted(positions)
