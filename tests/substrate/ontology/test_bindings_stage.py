"""The step that binds phrases by words, resemblance and votes: on record with its grounds, decided anew with them."""

from __future__ import annotations

import json

import pytest

from substrate.errors import ModelUnavailable
from substrate.ontology import bindings_similarity, bindings_stage
from substrate.ontology.bindings_similarity import Calibration
from substrate.ontology.bindings_stage import run_bindings
from substrate.ontology.store import declare
from substrate.ontology.terms import parse_ontology
from substrate.ontology.votes import Voter
from tests.substrate.extraction.chat_server import ChatServer, completion, refusal
from tests.substrate.ontology.lines import ONTOLOGY, Words, new_lines

WIDER = ONTOLOGY.replace("  - {key: works_for", "  - {key: helms, label: is at the helm of}\n  - {key: works_for")
SAID = ("Ann | spearheads | Orion | 2024-01-01 | person>project", "Bo | spearheads | Vega", "Cy | works for | Acme")


@pytest.fixture(autouse=True)
def calibrated(monkeypatch):
    known = {"words@1": Calibration(0.8, 0.1, framed=False)}
    monkeypatch.setattr(bindings_similarity, "CALIBRATED", known)
    monkeypatch.setattr(bindings_stage, "CALIBRATED", known)
    monkeypatch.setattr(bindings_similarity, "_VECTORS", bindings_similarity.WordVectors())


@pytest.fixture
def lines(database, settings):
    return new_lines(database, settings)


@pytest.fixture
def chat():
    server = ChatServer()
    yield server
    server.close()


@pytest.fixture
def voter(chat):
    opened = Voter(f"http://{chat.address}/v1", "m", None)
    yield opened
    opened.close()


def step(lines, embedder=None, voter=None, **more):
    return run_bindings(lines.database, lines.kb_id, (lambda: embedder) if embedder else None, voter, **more)


def rows(lines):
    with lines.database.read(lines.kb_id) as connection:
        found = connection.execute(
            "select phrase, predicate_key, backwards, method, basis from bindings where kb_id = %s "
            "and invalidated_seq is null order by phrase",
            (lines.kb_id,),
        ).fetchall()
    return {r["phrase"]: r for r in found}


def decided(lines):
    return {p: (r["method"], r["predicate_key"]) for p, r in rows(lines).items()}


def vote(relation, direction="forward"):
    return lambda _: completion(json.dumps({"relation": relation, "direction": direction}))


def redeclare(lines, text):
    from substrate.ledger import open_door

    with lines.database.write(lines.kb_id) as connection:
        with open_door(connection, lines.kb_id, actor="person:x", via="cli", action="declared") as door:
            declare(door, parse_ontology(text))


def test_words_bind_and_the_rest_is_undecided_without_any_model(lines):
    lines.tell("a", *SAID)
    assert rows(lines) == {}
    result = step(lines)
    assert decided(lines) == {"spearhead": ("undecided", None), "work for": ("exact", "works_for")}
    assert (result.done, result.failed) == (2, 0)
    seq = lines.seq()
    again = step(lines)
    assert (again.done, again.skipped, lines.seq()) == (0, 2, seq), "run again it writes nothing"
    assert lines.sound()


def test_resemblance_with_a_margin_binds_and_facts_follow(lines):
    lines.tell("a", *SAID)
    embedder = Words(spearhead=("leads", 0.9))
    before, seq = lines.held(), lines.seq()
    step(lines, embedder)
    row = rows(lines)["spearhead"]
    assert (row["method"], row["predicate_key"]) == ("similarity", "leads")
    assert row["basis"]["candidates"][0]["score"] == 0.9 and row["basis"]["thresholds"] == [0.8, 0.1]
    assert ("Ann", "leads", "Orion", "2024-01-01") in lines.held() and lines.held_at(seq) == before
    assert lines.sound()


@pytest.mark.parametrize("score", [0.79, 0.5])
def test_a_faint_resemblance_binds_nothing(lines, score):
    lines.tell("a", *SAID)
    step(lines, Words(spearhead=("leads", score)))
    assert decided(lines)["spearhead"] == ("undecided", None)


def test_a_close_race_binds_nothing_and_shows_both(lines, monkeypatch):
    low = {"words@1": Calibration(0.6, 0.1, framed=False)}  # of two words apart, none can be as near as 0.8
    monkeypatch.setattr(bindings_similarity, "CALIBRATED", low)
    redeclare(lines, ONTOLOGY.replace("  - {key: works_for", "  - {key: heads, label: heading}\n  - {key: works_for"))
    lines.tell("a", "Ann | helms | Orion")

    class Between(Words):
        def _vector(self, text):
            if text == "helm":
                return (super()._vector("leads") * 0.9 + super()._vector("heading") * 0.85) / (0.9**2 + 0.85**2) ** 0.5
            return super()._vector(text)

    step(lines, Between())
    row = rows(lines)["helm"]
    assert row["method"] == "undecided" and row["basis"]["candidates"][0]["score"] > 0.7
    assert [c["relation"] for c in row["basis"]["candidates"]][:2] == ["leads", "heads"]


def test_kinds_that_do_not_fit_are_no_candidates(lines):
    lines.tell("a", "Orion | spearheads | Vega | | project>project")
    step(lines, Words(spearhead=("leads", 0.95)))
    assert decided(lines)["spearhead"] == ("undecided", None)
    assert "leads" not in [c["relation"] for c in rows(lines)["spearhead"]["basis"]["candidates"]]


def test_a_passive_that_only_an_active_word_resembles_has_no_direction_unless_the_kinds_tell(lines):
    lines.tell("a", "Orion | fronted by | Ann", "Vega | steered by | Bo | | project>person")
    embedder = Words(front_by=("leads", 0.95), steer_by=("leads", 0.95))
    step(lines, embedder)
    assert decided(lines) == {"front by": ("undecided", None), "steer by": ("similarity", "leads")}
    assert lines.held() == [("Bo", "leads", "Vega", None), ("Orion", "~fronted by", "Ann", None)]


def test_two_votes_that_agree_bind_and_are_not_paid_again(lines, chat, voter):
    lines.tell("a", *SAID)
    embedder = Words(spearhead=("leads", 0.6))
    chat.otherwise = vote("leads")
    result = step(lines, embedder, voter)
    assert decided(lines)["spearhead"] == ("votes", "leads") and len(chat.requests) == 2
    assert result.failed == 0
    first, second = (body["messages"][1]["content"] for body in chat.requests)
    assert sorted(first.splitlines()) == sorted(second.splitlines()) and first != second, "in opposite order"
    assert '"S": "Ann"' in first
    step(lines, embedder, voter)
    assert len(chat.requests) == 2
    redeclare(lines, ONTOLOGY.replace("label: Project}", "label: Project, description: a plan}"))
    step(lines, embedder, voter)
    assert len(chat.requests) == 2, "the same question has its answer"
    assert ("Ann", "leads", "Orion", "2024-01-01") in lines.held()


@pytest.mark.parametrize(
    "answers",
    [
        (vote("leads"), vote("works_for")),
        (vote("leads"), vote("leads", "backward")),
        (vote("leads"), lambda _: completion("I cannot tell")),
        (vote("nowhere"), vote("nowhere")),
        (vote("none"), vote("none")),
    ],
)
def test_votes_that_do_not_agree_on_a_relation_decide_nothing(lines, chat, voter, answers):
    lines.tell("a", *SAID)
    chat.script = list(answers)
    step(lines, Words(), voter)
    row = rows(lines)["spearhead"]
    assert row["method"] == "undecided" and len(row["basis"]["votes"]["said"]) == 2
    step(lines, Words(), voter)
    assert len(chat.requests) == 2, "undecided is a decision that stands too"


def test_a_vote_may_name_a_relation_backwards_around_whatever_the_model_writes(lines, chat, voter):
    lines.tell("a", "Orion | fronted by | Ann")
    said = '<think>{"relation": "works_for"}</think>```json\n{"relation": "leads", "direction": "backward"}\n```'
    chat.otherwise = lambda _: completion(said)
    step(lines, Words(), voter)
    assert lines.held() == [("Ann", "leads", "Orion", None)]


def test_a_server_without_schemas_is_asked_without(lines, chat, voter):
    lines.tell("a", "Ann | spearheads | Orion")
    chat.script = [lambda _: refusal(400, "response_format is not known")]
    chat.otherwise = vote("leads")
    step(lines, Words(), voter)
    assert decided(lines)["spearhead"] == ("votes", "leads")
    assert chat.formats() == ["json_schema", "json_object", "json_object"]


def test_a_model_that_is_away_leaves_its_phrases_and_is_named(lines, chat, voter):
    lines.tell("a", *SAID)
    chat.otherwise = lambda _: refusal(401, "no")
    result = step(lines, Words(), voter)
    assert result.failed == 1 and "refuses the key" in result.failures[0]
    assert decided(lines) == {"work for": ("exact", "works_for")}
    chat.otherwise = vote("leads")
    step(lines, Words(), voter)
    assert decided(lines)["spearhead"] == ("votes", "leads")

    def away():
        raise ModelUnavailable("no files")

    result = run_bindings(lines.database, lines.kb_id, away)
    assert result.failed == 1 and decided(lines)["spearhead"] == ("votes", "leads")


def test_a_limit_leaves_the_rarer_phrases_for_the_next_pass(lines, chat, voter):
    lines.tell("a", "Ann | spearheads | Orion", "Bo | spearheads | Vega", "Cy | helms | Lyra")
    chat.otherwise = vote("leads")
    result = step(lines, Words(), voter, limit=1)
    assert result.remaining == 1 and decided(lines) == {"spearhead": ("votes", "leads")}
    step(lines, Words(), voter, limit=1)
    assert decided(lines)["helm"] == ("votes", "leads")


def test_a_person_s_decision_is_never_decided_anew(lines):
    lines.tell("a", *SAID)
    lines.decide("spearheads", "works_for")
    step(lines, Words(spearhead=("leads", 0.95)))
    assert decided(lines)["spearhead"] == ("person", "works_for")
    lines.decide("works for", None)
    step(lines, Words())
    assert decided(lines)["work for"] == ("person", None)
    redeclare(lines, WIDER)
    step(lines, Words(spearhead=("is at the helm of", 0.95)))
    assert decided(lines)["spearhead"] == ("person", "works_for")


def test_what_a_decision_rests_on_changes_and_it_is_decided_anew(lines):
    lines.tell("a", *SAID)
    embedder = Words(spearhead=("is at the helm of", 0.95))
    step(lines, embedder)
    assert decided(lines)["spearhead"] == ("undecided", None)
    redeclare(lines, WIDER)
    step(lines, embedder)
    assert decided(lines)["spearhead"] == ("similarity", "helms")
    assert ("Ann", "helms", "Orion", "2024-01-01") in lines.held()
    step(lines)
    assert decided(lines)["spearhead"] == ("undecided", None), "another embedder: another ground"
    assert ("Ann", "~spearheads", "Orion", "2024-01-01") in lines.held()
    assert lines.sound()


def test_what_is_declared_later_binds_what_was_said_before(lines):
    lines.tell("a", "Ann | at the helm of | Orion")
    step(lines)
    redeclare(lines, WIDER.replace("is at the helm of", "at the helm of"))
    assert lines.held() == [("Ann", "~at the helm of", "Orion", None)]
    step(lines)
    assert lines.held() == [("Ann", "helms", "Orion", None)]
    assert decided(lines)["at helm of"] == ("exact", "helms")


def test_a_person_is_not_overtaken_by_a_pass_under_way(lines):
    lines.tell("a", *SAID)

    class Slow(Words):
        def queries(self, texts):
            if not self.asked:
                self.asked += 1
                lines.decide("spearheads", "works_for")
            return super().passages(texts)

    step(lines, Slow(spearhead=("leads", 0.95)))
    assert decided(lines)["spearhead"] == ("person", "works_for")


def test_a_wording_that_tells_the_relation_leaves_nothing_to_decide(lines):
    lines.tell("a", "Ann | heads / leads | Orion")
    step(lines, Words())
    assert rows(lines) == {} and lines.held() == [("Ann", "leads", "Orion", None)]
