"""Two votes on a pair in doubt, over real HTTP: they count if they agree, are asked once, and override no person."""

from __future__ import annotations

import pytest

from substrate import sql
from substrate.identity import review
from substrate.identity.stage import run_entities
from substrate.identity.votes import PairVoter, read_vote
from substrate.ledger import open_door
from substrate.ledger.merges import revert_merge
from substrate.reads import resolve
from tests.substrate.extraction.chat_server import ChatServer, completion, refusal
from tests.substrate.ontology.lines import new_lines


@pytest.fixture
def chat():
    server = ChatServer()
    yield server
    server.close()


@pytest.fixture
def voter(chat):
    opened = PairVoter(f"http://{chat.address}/v1", "m", None)
    yield opened
    opened.close()


@pytest.fixture
def lines(database, settings):
    lines = new_lines(database, settings)
    lines.tell("a", "Ana Ruiz | works for | Acme")
    lines.tell("b", "Ana Ruiz | works for | Brill")
    return lines


def say(chat, *words):
    chat.script = [lambda _, w=w: completion(f'Well: {{"verdict": "{w}"}}', usage={"prompt_tokens": 5}) for w in words]


def state(lines):
    with lines.database.read(lines.kb_id) as connection:
        pairs = review.list_doubts(connection, lines.kb_id, resolve(connection, lines.kb_id))["candidates"]
        counts = connection.execute(sql.query("identity_counts"), {"kb_id": lines.kb_id}).fetchone()
    return len(pairs), counts["merges"] - counts["reverts"]


def test_two_votes_that_agree_join_in_the_name_of_the_model(lines, chat, voter):
    assert state(lines) == (1, 0)
    say(chat, "same", "same")
    result = run_entities(lines.database, lines.kb_id, voter)
    assert state(lines) == (0, 1) and result.cost["prompt_tokens"] == 10
    first, second = (body["messages"][1]["content"] for body in chat.requests)
    assert first != second and "Ana Ruiz | works for | Brill" in first, "each side is first once"
    actor = """select t.actor from merges m join ledger_transaction t on t.kb_id = m.kb_id and t.seq = m.recorded_seq
               where m.kb_id = %s"""
    assert lines.one(actor) == f"model:{voter.name}"
    run_entities(lines.database, lines.kb_id, voter)
    assert state(lines) == (0, 1) and len(chat.requests) == 2, "what documents say does not take it back"
    with lines.database.write(lines.kb_id) as connection:
        with open_door(connection, lines.kb_id, actor="person:Ada", via="rest", action="parted") as door:
            revert_merge(door, lines.one("select id from merges where kb_id = %s"))
    lines.tell("c", "Ana Ruiz | leads | Orion")
    run_entities(lines.database, lines.kb_id, voter)
    assert state(lines)[1] == 0 and lines.sound(), "a person's word is not voted on"


@pytest.mark.parametrize("words", [("same", "different"), ("different", "different"), ("same", "perhaps")])
def test_anything_else_leaves_the_pair_to_a_person_and_is_not_asked_again(lines, chat, voter, words):
    say(chat, *words)
    run_entities(lines.database, lines.kb_id, voter)
    assert state(lines) == (1, 0)
    run_entities(lines.database, lines.kb_id, voter)
    assert len(chat.requests) == 2


def test_an_endpoint_that_is_down_is_named_and_asked_again(lines, chat, voter):
    chat.otherwise = lambda _: refusal(401, "no")
    result = run_entities(lines.database, lines.kb_id, voter)
    assert state(lines) == (1, 0) and "wait for the model" in result.failures[-1]
    chat.otherwise = lambda _: completion('{"verdict": "same"}')
    run_entities(lines.database, lines.kb_id, voter)
    assert state(lines) == (0, 1)


def test_a_verdict_is_read_out_of_whatever_surrounds_it():
    assert read_vote('```json\n{"verdict": "same"}\n```') == "same"
    assert read_vote('{"verdict": "unsure"} so {"verdict": "different"}') == "different"
    assert read_vote("same") is None and read_vote('{"verdict": "maybe"}') is None
