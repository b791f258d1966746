"""The ontology over REST: terms one at a time, files planned and applied as they were shown, packs, defects."""

from __future__ import annotations

import pytest

from api import gate
from substrate.ontology import files
from tests.ledger_facts import ONTOLOGY, day
from tests.substrate.ontology.writing import SYNTAXES


@pytest.fixture
def api(server, scribe):
    with server.client(server.tokens.write) as client:
        yield lambda method, tail, **options: client.request(
            method, f"/api/v1/kbs/{server.kb}/ontology{tail}", **options
        )


def team(**more):
    return {"kind": "class", "definition": {"label": "Team", "parents": ["project"], **more}, "why": "they ask"}


def test_a_term_is_made_changed_and_deleted(api):
    assert api("GET", "/terms/team").status_code == 404
    made = api("PUT", "/terms/team", json=team()).json()
    assert (made["changed"], made["step"]["action"]) == (True, "added")
    again = api("PUT", "/terms/team", json=team()).json()
    assert (again["changed"], again["seq"]) == (False, made["seq"])
    found = api("GET", "/terms/team").json()
    assert (found["kind"], found["above"], found["uses"], found["named_by"]) == ("class", ["project"], {}, [])
    assert api("GET", "/terms/project").json()["named_by"] == ["leads", "team"]
    assert api("GET", "/terms/project").json()["beneath"] == ["team"]
    assert api("PUT", "/terms/team", json=team(aliases=["crew"])).json()["step"]["fields"] == ["aliases"]
    refused = api("DELETE", "/terms/project")
    assert (refused.status_code, refused.json()["detail"]) == (409, "project: it is used: 2 terms")
    assert api("DELETE", "/terms/team?why=gone").json()["step"]["action"] == "removed"
    assert api("GET", "/terms/team").status_code == api("DELETE", "/terms/team").status_code == 404


@pytest.mark.parametrize(
    ("key", "body", "field"),
    [
        ("team", team(colour="red"), "colour"),
        ("team", team(iri="not an iri"), "iri"),
        ("team", team(label="a\u0000b"), "label"),
        ("team", {"kind": "class", "definition": {}}, "label"),
        ("Not A Key", team(), "key"),
        ("team", team(parents=["nobody"]), "ontology"),
        ("team", {**team(), "more": 1}, "more"),
    ],
)
def test_a_term_that_cannot_be_is_refused_by_name(api, key, body, field):
    answer = api("PUT", f"/terms/{key}", json=body)
    assert (answer.status_code, answer.json()["field"].split(".")[-1]) == (422, field), answer.text


def test_the_file_comes_back_as_no_change_and_a_plan_is_applied_once(api):
    for form in ("yaml", "turtle"):
        file = api("GET", f"/file?format={form}")
        assert file.status_code == 200
        plan = api("POST", f"/plans?format={form}&name=own", content=file.content).json()
        assert (plan["counts"]["unchanged"], plan["steps"]) == (5, [])
        assert api("POST", f"/plans/{plan['plan']}/apply").status_code == 409
    changed = ONTOLOGY.replace("label: Project", "label: Undertaking")
    plan = api("POST", "/plans?format=yaml", content=changed.encode())
    assert plan.status_code == 201
    plan_id = plan.json()["plan"]
    assert api("GET", "/terms/project").json()["definition"]["label"] == "Project"
    assert api("GET", f"/plans/{plan_id}").json()["counts"]["changed"] == 1
    done = api("POST", f"/plans/{plan_id}/apply", json={"why": "asked"}).json()
    assert (done["applied_seq"], done["counts"]["changed"]) == (api("GET", "/plans").json()["seq"], 1)
    assert api("GET", "/terms/project").json()["definition"]["label"] == "Undertaking"
    assert api("POST", f"/plans/{plan_id}/apply").status_code == 409
    assert api("POST", f"/plans/{'0' * 64}/apply").status_code == 404


def test_a_plan_made_stale_by_another_edit_is_409(api):
    plan = api("POST", "/plans?format=turtle", content=SYNTAXES["turtle"].encode()).json()
    assert (plan["mode"], plan["counts"]["added"]) == ("add", 10)
    assert api("PUT", "/terms/team", json=team()).status_code == 200
    answer = api("POST", f"/plans/{plan['plan']}/apply")
    assert (answer.status_code, answer.json()["field"]) == (409, "plan")
    assert api("GET", "/terms/ferry").status_code == 404


def test_a_file_that_is_none_or_too_large_is_refused(api):
    for form, body in (("yaml", b"classes: ["), ("jsonld", b"{"), ("rdfxml", b"<a>"), ("turtle", b"\xff\xfe")):
        assert api("POST", f"/plans?format={form}", content=body).status_code == 422, form
    assert api("POST", "/plans?format=csv", content=b"").json()["field"] == "format"
    assert gate.MOST_FILE == files.MOST_BYTES
    assert api("POST", "/plans?format=turtle", content=b" " * (gate.MOST_FILE + 1)).status_code == 413
    assert api("POST", "/plans?format=turtle", content=b" " * gate.MOST_FILE).status_code == 201


def test_packs_are_listed_and_added_by_name(api):
    assert {p["name"] for p in api("GET", "/packs").json()["packs"]} == {"foaf", "org", "prov", "schema"}
    assert api("POST", "/packs/nothing/plan").status_code == 404
    plan = api("POST", "/packs/org/plan").json()
    assert plan["counts"]["refused"] == 0 and plan["counts"]["added"] > 30
    assert api("POST", f"/plans/{plan['plan']}/apply").status_code == 200
    assert api("GET", "/terms/unit_of").json()["definition"]["iri"] == "http://www.w3.org/ns/org#unitOf"


def test_defects_are_queued_waived_for_a_reason_and_queued_again(api):
    assert api("GET", "/defects").json()["total"] == 0
    api("PUT", "/terms/project", json={"kind": "class", "definition": {"label": "Project", "parents": ["project"]}})
    (defect,) = api("GET", "/defects").json()["defects"]
    assert (defect["code"], defect["terms"]) == ("parent_cycle", ["project"])
    place = f"/defects/{defect['fingerprint']}/waive"
    assert api("POST", place, json={"why": " "}).json()["field"] == "why"
    assert api("POST", f"/defects/{'0' * 64}/waive", json={"why": "x"}).status_code == 404
    waiver = api("POST", place, json={"why": "known"}).json()["waiver_id"]
    assert api("POST", place, json={"why": "again"}).status_code == 409
    assert api("GET", "/defects").json()["total"] == 0
    assert api("GET", "/defects?waived=true").json()["defects"][0]["waiver"]["why"] == "known"
    assert api("POST", f"/waivers/{waiver}/lift").status_code == 200
    assert api("POST", f"/waivers/{waiver}/lift").status_code == 404
    assert api("GET", "/defects").json()["total"] == 1


def test_entities_of_a_class_are_those_of_its_subclasses_too(api, scribe, server):
    scribe.say("Ada", "works_on", "Heron", start=day("2021-01-01"), kinds={"Ada": "person", "Heron": "project"})
    before = api("GET", "/plans").json()["seq"]
    api("PUT", "/terms/human", json={"kind": "class", "definition": {"label": "Human"}})
    api("PUT", "/terms/person", json={"kind": "class", "definition": {"label": "Person", "parents": ["human"]}})
    found = api("GET", "/classes/human/entities").json()
    assert ([e["name"] for e in found["entities"]], found["total"]) == (["Ada"], 1)
    assert api("GET", f"/classes/human/entities?as_of=seq:{before - 1}").json()["entities"] == []
    assert [e["name"] for e in api("GET", "/classes/project/entities").json()["entities"]] == ["Heron"]
    assert api("GET", "/classes/nobody/entities").status_code == 404
    assert api("GET", "/classes/human/entities?limit=0").json()["field"] == "limit"
