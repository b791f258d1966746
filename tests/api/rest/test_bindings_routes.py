"""What phrases name, over REST: who may, what is shown, what a preview promises, and which field a mistake names."""

from __future__ import annotations

from uuid import uuid4

import pytest

from substrate.ontology.bindings_stage import run_bindings
from substrate.ontology.store import declare
from substrate.ontology.terms import parse_ontology
from tests.substrate.ontology.lines import ONTOLOGY, Lines

DECIDED = {"decisions": [{"phrase": "spearheads", "relation": "leads"}]}
WRITES = (("/bindings/preview", DECIDED), ("/bindings/apply", {**DECIDED, "seq": 1, "plan": "x"}))


@pytest.mark.parametrize(
    ("who", "status"), [("anonymous", 401), ("nonsense", 401), ("expired", 401), ("revoked", 401), ("elsewhere", 404)]
)
def test_a_stranger_sees_and_decides_nothing(server, who, status):
    with server.client(getattr(server.tokens, who)) as client:
        assert client.get(f"/api/v1/kbs/{server.kb}/bindings").status_code == status
        for path, body in WRITES:
            assert client.post(f"/api/v1/kbs/{server.kb}{path}", json=body).status_code == status


@pytest.mark.parametrize("who", ["viewer", "read"])
def test_a_viewer_and_a_reading_token_see_and_decide_nothing(server, who):
    with server.client(getattr(server.tokens, who)) as client:
        assert client.get(f"/api/v1/kbs/{server.kb}/bindings").status_code == 200
        for path, body in WRITES:
            assert client.post(f"/api/v1/kbs/{server.kb}{path}", json=body).status_code == 403


@pytest.fixture
def lines(server, database, settings):
    from substrate.ledger import open_door

    with database.write(server.kb) as connection:
        with open_door(connection, server.kb, actor="person:x", via="cli", action="declared") as door:
            declare(door, parse_ontology(ONTOLOGY))
    lines = Lines(database, server.kb, settings)
    lines.tell(
        "a", "Ann | spearheads | Orion | 2024-01-01", "Bo | spearheads | Vega", "Cy | greets | Di", "Cy | leads | Lyra"
    )
    run_bindings(database, server.kb)
    return lines


@pytest.fixture
def call(server, lines):
    with server.client(server.tokens.write) as client:

        def call(method, path, status=200, **body):
            asked = {"params": body} if method == "GET" else {"json": body}
            answer = client.request(method, f"/api/v1/kbs/{server.kb}/bindings{path}", **asked)
            assert answer.status_code == status, answer.text
            return answer.json()

        yield call


def test_undecided_phrases_are_ranked_by_frequency_with_examples(call):
    found = call("GET", "", state="undecided")
    assert [(b["phrase"], b["claims"]) for b in found["bindings"]] == [("spearhead", 2), ("greet", 1)]
    assert found["bindings"][0]["examples"][0]["quote"].startswith("Ann | spearheads")
    assert found["by_method"] == {"exact": 1, "undecided": 2}
    assert (found["total"], found["truncated"]) == (2, False)
    second = call("GET", "", state="undecided", limit=1, offset=1)
    assert [b["phrase"] for b in second["bindings"]] == ["greet"] and second["total"] == 2
    (exact,) = call("GET", "", state="bound")["bindings"]
    assert (exact["relation"], exact["method"], len(exact["fingerprint"])) == ("leads", "exact", 64)


def test_a_decision_is_previewed_applied_as_it_was_shown_and_taken_back(call, lines):
    plan = call("POST", "/preview", **DECIDED)
    assert plan["counts"]["retyped"] == 2 and lines.held()[0] == ("Ann", "~spearheads", "Orion", "2024-01-01")
    assert plan["examples"]["retyped"][0]["after"]["predicate_key"] == "leads"
    done = call("POST", "/apply", **DECIDED, seq=plan["seq"], plan=plan["plan"], why="same thing")
    assert (done["counts"], done["plan"]) == (plan["counts"], plan["plan"])
    assert ("Ann", "leads", "Orion", "2024-01-01") in lines.held()
    assert done["applied_seq"] == plan["seq"] + 1
    (mine,) = call("GET", "", state="person")["bindings"]
    assert (mine["id"], mine["why"], mine["relation"]) == (done["bindings"][0], "same thing", "leads")
    assert call("POST", "/apply", 409, **DECIDED, seq=plan["seq"], plan=plan["plan"])["field"] == "plan"
    back = call("POST", "/preview", undo=done["bindings"])
    call("POST", "/apply", undo=done["bindings"], seq=back["seq"], plan=back["plan"])
    assert lines.held()[0] == ("Ann", "~spearheads", "Orion", "2024-01-01")
    assert call("GET", "", state="person")["bindings"] == []
    assert call("GET", "", state="undecided")["bindings"][0]["phrase"] == "spearhead"


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({}, 422, "decisions"),
        ({"decisions": [{"phrase": "x"}]}, 422, "decisions"),
        ({"decisions": [{"phrase": "x", "relation": "leads", "why": ""}]}, 422, "decisions"),
        ({"decisions": [{"phrase": "x", "relation": "nowhere"}]}, 404, "decisions[0].relation"),
        ({"undo": [str(uuid4())]}, 404, "undo"),
        ({"undo": ["x"]}, 422, "undo"),
        ({"decided": []}, 422, "decided"),
    ],
)
def test_a_mistake_is_named(call, body, status, field):
    assert call("POST", "/preview", status, **body)["field"].startswith(field)


@pytest.mark.parametrize(("asked", "field"), [({"state": "open"}, "state"), ({"limit": 0}, "limit"),
                                              ({"offset": -1}, "offset"), ({"examples": 99}, "examples"),
                                              ({"sort": "x"}, "sort")])  # fmt: skip
def test_a_mistaken_question_is_named(call, asked, field):
    assert call("GET", "", 422, **asked)["field"] == field
