"""Conflicts, corrections and late declarations over REST: who may, what they say, and which field a mistake names."""

from __future__ import annotations

from uuid import uuid4

import pytest

from tests.ledger_facts import day

READS = ("/review/conflicts", "/corrections", "/ontology/uniqueness")
ANY = uuid4()
WRITES = (
    ("POST", f"/review/conflicts/{ANY}/decide", {"verdict": "kept_both"}),
    ("POST", f"/review/conflicts/{ANY}/revert", {}),
    ("PATCH", f"/facts/{ANY}", {"valid_from": "2020"}),
    ("POST", f"/facts/{ANY}/close", {"valid_to": "2020"}),
    ("POST", f"/facts/{ANY}/confirm", {}),
    ("POST", f"/corrections/{ANY}/undo", {}),
    ("POST", "/ontology/relations/works_on/redeclare", {"functional": True, "seq": 1, "plan": "x"}),
)


@pytest.mark.parametrize(("who", "base", "status"), [("anonymous", "kb", 401), ("elsewhere", "kb", 404)])
def test_a_stranger_reads_and_writes_nothing(server, who, base, status):
    with server.client(getattr(server.tokens, who)) as client:
        for path in READS:
            assert client.get(f"/api/v1/kbs/{getattr(server, base)}{path}").status_code == status
        for method, path, body in (*WRITES, ("POST", "/ontology/relations/works_on/preview", {"functional": True})):
            answer = client.request(method, f"/api/v1/kbs/{getattr(server, base)}{path}", json=body)
            assert answer.status_code == status, path


@pytest.mark.parametrize("who", ["viewer", "read"])
def test_a_viewer_and_a_reading_token_decide_nothing(server, scribe, who):
    with server.client(getattr(server.tokens, who)) as client:
        for path in READS:
            assert client.get(f"/api/v1/kbs/{server.kb}{path}").status_code == 200
        for method, path, body in WRITES:
            assert client.request(method, f"/api/v1/kbs/{server.kb}{path}", json=body).status_code == 403, path


@pytest.fixture
def call(server, scribe):
    with server.client(server.tokens.judge) as client:

        def call(method, path, status=200, **body):
            asked = {"params": body} if method == "GET" else {"json": body}
            answer = client.request(method, f"/api/v1/kbs/{server.kb}{path}", **asked)
            assert answer.status_code == status, answer.text
            return answer.json()

        yield call


def facts(call, entity="Orion", **more):
    return {f["other_name"]: f for f in call("GET", f"/entities/{entity}/facts", **more)["facts"]}


def test_a_conflict_is_shown_on_both_facts_decided_and_reverted(call, scribe):
    for who in ("Ada", "Bo"):
        scribe.say(who, "leads", "Orion", start=day("2024-01-01"))
    (conflict,) = call("GET", "/review/conflicts")["conflicts"]
    assert conflict["reason"] == "simultaneous" and {conflict[s]["subject"] for s in ("old", "new")} == {"Ada", "Bo"}
    assert conflict["old"]["quote"] and conflict["old"]["end"] == "open"
    held = facts(call)
    assert [c["conflict_id"] for f in held.values() for c in f["contested"]] == [conflict["id"]] * 2
    assert {f["contested"][0]["side"] for f in held.values()} == {"old", "new"}
    path = f"/review/conflicts/{conflict['id']}"
    assert call("POST", f"{path}/decide", 422, verdict="both")["field"] == "verdict"
    decided = call("POST", f"{path}/decide", verdict="kept_both", why="a pair")
    assert call("GET", "/review/conflicts")["total"] == 0
    assert all(f["contested"] == [] for f in facts(call).values())
    before = f"seq:{decided['seq'] - 1}"
    assert call("GET", "/review/conflicts", as_of=before)["conflicts"][0]["verdict"] is None
    assert all(f["contested"] for f in facts(call, as_of=before).values())
    (told,) = call("GET", "/review/conflicts", state="decided")["conflicts"]
    assert (told["verdict"], told["why"], told["reverted"]) == ("kept_both", "a pair", False)
    assert call("POST", f"{path}/decide", 409, verdict="closed")["field"] == "conflict_id"
    again = call("POST", f"{path}/revert", why="not so")["open_conflict_id"]
    (waiting,) = call("GET", "/review/conflicts")["conflicts"]
    assert (waiting["id"], waiting["reopens"]) == (again, conflict["id"])
    assert call("GET", "/review/conflicts", state="decided")["conflicts"][0]["reverted"] is True
    assert call("POST", f"/review/conflicts/{ANY}/decide", 404, verdict="closed")["field"] == "conflict_id"


def test_a_period_is_corrected_closed_confirmed_and_each_is_undone(call, scribe):
    scribe.say("Ada", "works_on", "Orion", start=day("2020-01-01"))
    fact = facts(call)["Ada"]
    assert fact["end"] == "open"
    done = call("PATCH", f"/facts/{fact['id']}", valid_from="2020-03", valid_to="unknown", why="payslip")
    now = facts(call)["Ada"]
    assert (now["id"], now["supersedes"], now["end"]) == (done["fact_id"], fact["id"], "unknown")
    assert (now["valid_from"][:10], now["valid_from_precision"]) == ("2020-03-01", "month")
    assert facts(call, as_of=f"seq:{done['seq'] - 1}")["Ada"]["end"] == "open"
    (said,) = call("GET", "/corrections", fact_id=now["id"])["corrections"]
    assert (said["id"], said["why"], said["was"]["valid_from"][:10]) == (done["correction_id"], "payslip", "2020-01-01")
    closed = call("POST", f"/facts/{now['id']}/close", valid_to="2021-05-05T00:00:00Z", valid_to_precision="day")
    assert facts(call)["Ada"]["valid_to"][:10] == "2021-05-05", "a moment is the first one after, as answers show it"
    assert facts(call)["Ada"]["end"] == "stated"
    confirmed = call("POST", f"/facts/{closed['fact_id']}/confirm")
    for made in (confirmed, closed, done):
        call("POST", f"/corrections/{made['correction_id']}/undo", why="")
    assert facts(call)["Ada"]["valid_from"][:10] == "2020-01-01" and call("GET", "/corrections")["total"] == 0
    assert call("POST", f"/corrections/{done['correction_id']}/undo", 404)["field"] == "correction_id"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"valid_from": "2024-13"}, "valid_from"),
        ({"valid_from": "2021", "valid_to": "2020"}, "valid_to"),
        ({"valid_to": "2019"}, "valid_to"),
        ({"valid_from_precision": "day"}, "valid_from_precision"),
        ({"valid_from": "2020", "valid_from_precision": "day"}, "valid_from_precision"),
        ({"valid_until": "2020"}, "valid_until"),
        ({}, "valid_from"),
    ],
)
def test_a_period_that_cannot_be_is_refused_by_field(call, scribe, body, field):
    scribe.say("Ada", "works_on", "Orion", start=day("2020-01-01"))
    fact = facts(call)["Ada"]
    assert call("PATCH", f"/facts/{fact['id']}", 422, **body)["field"] == field
    assert facts(call)["Ada"]["id"] == fact["id"]


def test_a_relation_that_looks_unique_is_previewed_and_declared(call, scribe):
    for who in ("Ada", "Bo"):
        for year, other in ((2020, "Orion"), (2021, "Heron")):
            scribe.say(who, "works_on", other, start=day(f"{year}-01-01"))
    listed = {(r["relation"], r["side"]): r for r in call("GET", "/ontology/uniqueness")["relations"]}
    mine = listed["works_on", "functional"]
    assert (mine["holders"], mine["would_close"], mine["would_review"], mine["looks_unique"]) == (2, 2, 0, True)
    path = "/ontology/relations/works_on"
    plan = call("POST", f"{path}/preview", functional=True)
    assert plan["counts"]["closed"] == 2 and len(plan["examples"]["closed"]) == 2
    assert facts(call, "Ada")["Orion"]["end"] == "open"
    scribe.say("Cy", "works_on", "Heron")
    stale = {"functional": True, "seq": plan["seq"], "plan": plan["plan"]}
    assert call("POST", f"{path}/redeclare", 409, **stale)["field"] == "plan"
    plan = call("POST", f"{path}/preview", functional=True)
    done = call("POST", f"{path}/redeclare", functional=True, seq=plan["seq"], plan=plan["plan"], why="seen")
    assert done["plan"] == plan["plan"]
    assert facts(call, "Ada")["Orion"]["end"] == "inferred"
    assert facts(call, "Ada", as_of=f"seq:{plan['seq']}")["Orion"]["end"] == "open"
    assert {(r["relation"], r["side"]): r for r in call("GET", "/ontology/uniqueness")["relations"]}[
        "works_on", "functional"
    ]["declared"]
    assert call("POST", f"{path}/preview", 422, functional=True)["field"] == "relation"
    assert call("POST", "/ontology/relations/nothing/preview", 404, functional=True)["field"] == "relation"
