"""Pairs in doubt over REST: who may, what is shown, and both verdicts with what takes them back."""

from __future__ import annotations

from uuid import uuid4

import pytest

from tests.substrate.ontology.lines import Lines

ACME = ("Ana Ruiz | works for | Acme", "Ana Ruiz | leads | Orion")
BRILL = ("Ana Ruiz | works for | Brill", "Ana Ruiz | leads | Vega")
WRITES = (
    ("/distinctions", {"one": str(uuid4()), "other": str(uuid4())}),
    (f"/distinctions/{uuid4()}/revert", {}),
    (f"/review/candidates/{uuid4()}/same", {}),
    (f"/review/candidates/{uuid4()}/not-same", {}),
)


@pytest.mark.parametrize(
    ("who", "status"), [("anonymous", 401), ("expired", 401), ("revoked", 401), ("elsewhere", 404), ("viewer", 403)]
)
def test_who_may_not_write_decides_nothing_and_a_viewer_sees(server, who, status):
    with server.client(getattr(server.tokens, who)) as client:
        for path in ("/review/candidates", "/distinctions"):
            seen = 200 if who == "viewer" else status
            assert client.get(f"/api/v1/kbs/{server.kb}{path}").status_code == seen
        for path, body in WRITES:
            assert client.post(f"/api/v1/kbs/{server.kb}{path}", json=body).status_code == status


@pytest.fixture
def call(server, database, settings):
    lines = Lines(database, server.kb, settings)
    lines.tell("acme", *ACME)
    lines.tell("brill", *BRILL)
    with server.client(server.tokens.write) as client:

        def call(method, path, status=200, **options):
            answer = client.request(method, f"/api/v1/kbs/{server.kb}{path}", **options)
            assert answer.status_code == status, answer.text
            return answer.json()

        call.lines = lines
        yield call


def test_a_pair_in_doubt_is_shown_with_both_sides_and_said_to_be_two(call):
    shown = call("GET", "/review/candidates")
    (pair,) = shown["candidates"]
    assert (shown["total"], shown["truncated"]) == (1, False)
    assert pair["reasons"] == ["same name", "different employers"] and pair["score"] == 0.5
    quotes = {s["quote"] for end in ("one", "other") for s in pair[end]["sentences"]}
    assert quotes == {*ACME, *BRILL}
    told = call("POST", f"/review/candidates/{pair['id']}/not-same", json={"why": "two desks"})
    assert told["verdict"] == "not same" and call("GET", "/review/candidates")["candidates"] == []
    assert call("GET", "/review/candidates", params={"as_of": f"seq:{told['seq'] - 1}"})["total"] == 1
    (held,) = call("GET", "/distinctions")["distinctions"]
    assert (held["id"], held["why"]) == (told["distinction_id"], "two desks")
    again = {"one": pair["other"]["id"], "other": pair["one"]["id"]}
    assert "before" in call("POST", "/distinctions", 409, json=again)["detail"]
    call("POST", f"/review/candidates/{pair['id']}/same", 409)
    call("POST", f"/distinctions/{held['id']}/revert")
    assert call("GET", "/distinctions")["distinctions"] == []
    call("POST", f"/distinctions/{held['id']}/revert", 409)


def test_a_pair_in_doubt_is_said_to_be_one_and_that_is_taken_back_like_any_merge(call):
    (pair,) = call("GET", "/review/candidates")["candidates"]
    made = call("POST", f"/review/candidates/{pair['id']}/same", json={"why": "I asked her"})
    assert call("GET", "/review/candidates")["candidates"] == []
    (merged,) = call("GET", "/merges")["merges"]
    assert (merged["id"], merged["why"]) == (made["merge_id"], "I asked her")
    call("POST", f"/merges/{made['merge_id']}/revert")
    call.lines.run()
    assert call("GET", "/review/candidates")["candidates"] == [], "a person parted them: nobody asks again"


def test_what_is_not_there_and_what_is_no_body_is_refused(call):
    for verdict in ("same", "not-same"):
        assert call("POST", f"/review/candidates/{uuid4()}/{verdict}", 404)["field"] == "candidate_id"
        call("POST", f"/review/candidates/{uuid4()}/{verdict}", 422, json={"colour": "red"})
    assert call("POST", f"/distinctions/{uuid4()}/revert", 404)["field"] == "distinction_id"
    assert call("POST", "/distinctions", 404, json={"one": str(uuid4()), "other": str(uuid4())})["field"] == "one"
    call("POST", "/distinctions", 422, json={"one": str(uuid4())})
