"""REST: what a person joined, typed or decided is listed with who did it, and taken back once."""

from __future__ import annotations

from uuid import uuid4

import pytest

from tests.api.rest.test_routes import _remembered

ID = "00000000-0000-0000-0000-000000000001"
ACTS = (
    ("POST", "/merges", {"keep": ID, "absorb": ID}),
    ("POST", f"/merges/{ID}/revert", {"why": "x"}),
    ("PUT", f"/entities/{ID}/type", {"type_key": "person"}),
    ("POST", f"/retypings/{ID}/revert", {}),
    ("POST", "/verdicts", {"confirm": [ID]}),
    ("POST", f"/verdicts/{ID}/revert", {}),
)


@pytest.fixture
def api(server):
    with server.client(server.tokens.write) as client:
        yield lambda method, tail, **options: client.request(method, f"/api/v1/kbs/{server.kb}{tail}", **options)


def test_only_an_editor_of_this_very_base_acts(api, server):
    for who, status in (("anonymous", 401), ("read", 403), ("viewer", 403), ("elsewhere", 404)):
        with server.client(getattr(server.tokens, who)) as client:
            for method, tail, body in ACTS:
                answer = client.request(method, f"/api/v1/kbs/{server.kb}{tail}", json=body)
                assert answer.status_code == status, (who, method, tail)
            for tail in ("/merges", "/retypings", "/verdicts", "/review/refusals?lifted=true"):
                answer = client.get(f"/api/v1/kbs/{server.kb}{tail}")
                assert answer.status_code == (status if status != 403 else 200), (who, tail)
    for method, tail, body in ACTS:
        assert api(method, tail, json={**body, "colour": "red"}).status_code == 422
        assert api(method, tail, json=body).status_code in (404, 409), tail
    assert api("GET", "/merges?colour=red").status_code == 422


def test_a_merge_is_listed_reverted_once_and_both_moments_stay_readable(api, scribe):
    scribe.say("Bob Smith", "works_on", "Egret")
    scribe.say("Robert Smith", "works_on", "Heron")
    ids = {e["name"]: e["id"] for e in api("GET", "/entities?name=Smith").json()["entities"]}
    body = {"keep": ids["Robert Smith"], "absorb": ids["Bob Smith"], "why": "one desk"}
    merged = api("POST", "/merges", json=body).json()
    [listed] = api("GET", "/merges").json()["merges"]
    assert (listed["kept"], listed["absorbed"], listed["why"]) == ("Robert Smith", "Bob Smith", "one desk")
    assert (listed["by"], listed["reverted"]) == ("person:Ada (writer)", None)
    parted = api("POST", f"/merges/{merged['merge_id']}/revert", json={"why": "two desks"})
    assert parted.status_code == 200
    [listed] = api("GET", "/merges").json()["merges"]
    assert (listed["reverted"]["by"], listed["reverted"]["why"]) == ("person:Ada (writer)", "two desks")
    assert api("GET", "/merges", params={"as_of": f"seq:{merged['seq']}"}).json()["merges"][0]["reverted"] is None
    assert len(api("GET", "/entities/Bob Smith/facts").json()["facts"]) == 1
    then = api("GET", "/entities/Bob Smith/facts", params={"as_of": f"seq:{merged['seq']}"}).json()
    assert len(then["facts"]) == 2
    again = api("POST", f"/merges/{merged['merge_id']}/revert")
    assert (again.status_code, again.json()["field"]) == (409, "merge_id")
    assert api("POST", f"/merges/{uuid4()}/revert").status_code == 404
    kinds = [c["kind"] for c in api("GET", "/changes?since=2020&kinds=merged&kinds=parted").json()["changes"]]
    assert kinds == ["parted", "merged"]


def test_a_type_is_given_listed_and_taken_back(api, scribe):
    scribe.say("Ada", "works_on", "Heron", kinds={"Heron": "person"})
    [found] = api("GET", "/entities?name=Heron").json()["entities"]
    assert found["type_key"] == "person"
    given = api("PUT", f"/entities/{found['id']}/type", json={"type_key": "project", "why": "a ship"}).json()
    assert api("GET", "/entities?name=Heron").json()["entities"][0]["type_key"] == "project"
    assert api("GET", "/entities/Ada/facts?object_type=project").json()["matched_facts"] == 1
    assert api("GET", "/entities/Ada/facts?object_type=person").json()["matched_facts"] == 0
    unknown = api("PUT", f"/entities/{found['id']}/type", json={"type_key": "bird"})
    assert (unknown.status_code, unknown.json()["field"]) == (422, "type_key")
    assert "bird" in unknown.json()["detail"]
    assert api("PUT", f"/entities/{found['id']}/type", json={}).status_code == 422, "none is said as null"
    api("PUT", f"/entities/{found['id']}/type", json={"type_key": None})
    assert api("GET", "/entities?name=Heron").json()["entities"][0]["type_key"] is None
    listed = api("GET", f"/retypings?entity_id={found['id']}").json()["retypings"]
    assert [(t["type_key"], t["in_force"]) for t in listed] == [(None, True), ("project", False)]
    assert api("GET", f"/retypings?entity_id={ID}").json()["total"] == 0
    for retyping in (listed[0]["id"], given["retyping_id"]):
        assert api("POST", f"/retypings/{retyping}/revert", json={"why": "no"}).status_code == 200
    assert api("GET", "/entities?name=Heron").json()["entities"][0]["type_key"] == "person"
    assert api("POST", f"/retypings/{given['retyping_id']}/revert").status_code == 409


@pytest.mark.usefixtures("scribe")  # it declares the ontology
def test_many_proposals_are_decided_at_once_and_taken_back(api, server, database, settings):
    _remembered(server, database, settings, "Ada leads Heron.", "Bob leads Egret.")
    waiting = {p["sentence"]: p["id"] for p in api("GET", "/review/pending").json()["pending"]}
    body = {"confirm": [waiting["Ada leads Heron."]], "reject": [waiting["Bob leads Egret."]], "why": "read"}
    assert api("POST", "/verdicts", json=body).status_code == 403, "not by the token that recorded them"
    with server.client(server.tokens.judge) as client:

        def judge(tail, **options):
            return client.post(f"/api/v1/kbs/{server.kb}{tail}", **options)

        bad = judge("/verdicts", json={**body, "confirm": [*body["confirm"], ID]})
        assert bad.status_code == 409
        assert bad.json()["errors"] == [{"pending_id": ID, "error": "no proposal with that id"}]
        assert judge("/verdicts", json={}).status_code == 422
        done = judge("/verdicts", json=body)
        assert done.status_code == 201
        [rejected] = done.json()["rejected"]
        assert rejected["pending_id"] == waiting["Bob leads Egret."]
        [listed] = api("GET", "/verdicts").json()["verdicts"]
        assert {v["verdict"] for v in listed["verdicts"]} == {"confirmed", "rejected"}
        back = judge(f"/verdicts/{done.json()['batch_id']}/revert", json={"why": "misread"}).json()
        assert {w["was"] for w in back["waiting"]} == set(waiting.values())
        assert api("GET", "/review/pending").json()["total"] == 2
        assert api("GET", "/entities?name=Heron").json()["entities"] == []
        assert judge(f"/verdicts/{done.json()['batch_id']}/revert").status_code == 409
        [lifted] = api("GET", "/review/refusals?lifted=true").json()["refusals"]
        assert (lifted["id"], lifted["lifted"]["why"]) == (rejected["refusal_id"], "misread")
        one = back["waiting"][0]["pending_id"]
        single = judge(f"/review/pending/{one}/confirm").json()
        assert judge(f"/verdicts/{single['batch_id']}/revert").status_code == 200, "a single verdict is a batch of one"
