"""REST: links, chains, reasons and rules as the tools tell them; questions without answer, by demand, laid aside."""

from __future__ import annotations

import pytest

from tests.ledger_facts import day

ID = "00000000-0000-0000-0000-000000000001"
ACTS = (
    ("POST", "/gaps", {"question": "Who signed the Heron lease?"}),
    ("POST", f"/gaps/{ID}/dismiss", {"why": "x"}),
    ("POST", f"/gaps/{ID}/reopen", None),
)
READS = (
    "/gaps", "/review/status", "/rules", "/manual?query=x", "/neighbors?entity=Ada", "/paths?from=Ada&to=Heron",
    f"/facts/{ID}/explanation",
)  # fmt: skip


@pytest.fixture
def api(server):
    with server.client(server.tokens.write) as client:
        yield lambda method, tail, **options: client.request(method, f"/api/v1/kbs/{server.kb}{tail}", **options)


def test_who_may_read_and_who_may_act(api, server, scribe):
    scribe.say("Ada", "leads", "Heron")
    for who, status in (("anonymous", 401), ("read", 403), ("viewer", 403), ("elsewhere", 404)):
        with server.client(getattr(server.tokens, who)) as client:
            for method, tail, body in ACTS:
                answer = client.request(method, f"/api/v1/kbs/{server.kb}{tail}", json=body)
                assert answer.status_code == status, (who, method, tail)
            for tail in READS:
                answer = client.get(f"/api/v1/kbs/{server.kb}{tail}")
                good = 404 if "explanation" in tail else 403 if (who, tail) == ("viewer", "/gaps") else 200
                assert answer.status_code == (status if status != 403 else good), (who, tail)
    assert api("GET", "/gaps").json()["gaps"] == []
    for method, tail, _ in ACTS[1:]:
        assert api(method, tail).status_code == 404
    for tail in READS:
        assert api("GET", f"{tail}{'&' if '?' in tail else '?'}colour=red").status_code == 422
    for body in ({}, {"question": " "}, {"question": "x", "colour": "red"}, {"question": "sk-abcdefgh12345678abcd"}):
        assert api("POST", "/gaps", json=body).status_code == 422, body


def test_links_chains_and_reasons(api, scribe):
    scribe.say("Ada", "leads", "Heron", start=day("2021-01-01"))
    scribe.say("Bob", "works_on", "Heron")
    [link] = api("GET", "/neighbors?entity=Ada").json()["neighbors"]
    assert link["name"] == "Heron"
    [path] = api("GET", "/paths?from=Ada&to=Bob").json()["paths"]
    assert [e["to"]["name"] for e in path["edges"]] == ["Heron", "Bob"]
    assert api("GET", "/paths?from=Ada&to=Bob&at=2020").json()["paths"] == []
    why = api("GET", f"/facts/{link['fact_id']}/explanation").json()
    assert why["proof"][0]["fact_id"] == link["fact_id"]
    assert {h["kind"] for h in api("GET", "/entities/Bob/facts").json()["hints"]} == {"undated"}


def test_a_question_is_listed_laid_aside_and_opened_again(api, server):
    api("GET", "/search?query=heron lease signatory")
    made = api("POST", "/gaps", json={"question": "Heron lease signatory?"})
    assert made.status_code == 201 and made.json()["asked"] == 2
    [gap] = api("GET", "/gaps").json()["gaps"]
    assert (gap["question"], gap["asked"], gap["state"]) == ("heron lease signatory", 2, "open")
    done = api("POST", f"/gaps/{gap['gap_id']}/dismiss", json={"why": "not ours"})
    assert done.json()["state"] == "dismissed"
    assert api("POST", f"/gaps/{gap['gap_id']}/dismiss").status_code == 409
    assert api("GET", "/gaps").json()["gaps"] == []
    assert api("GET", "/gaps?state=any").json()["gaps"][0]["why"] == "not ours"
    assert api("POST", f"/gaps/{gap['gap_id']}/reopen").json()["state"] == "open"
    assert api("GET", "/gaps?state=nothing").status_code == 422
    assert api("GET", "/entities?name=Nobody").json()["hints"][-1]["kind"] == "kept"
    assert api("GET", "/review/status").json()["total_gaps"] == 2
