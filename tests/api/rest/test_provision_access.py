"""One call gives an agent that nobody gave a token a narrow one, for bases that are public as long as they are."""

from __future__ import annotations

import pytest

from api.app import create_app
from substrate import access
from substrate.access import Openness
from tests.api.conftest import Server, serving


def _open(database, kb, public: bool) -> None:
    with database.write(kb) as conn:
        access.set_openness(conn, kb, Openness(public_read=public))


@pytest.fixture
def patient(database, settings, kb, tokens):
    """A server that gives out tokens as often as it is asked."""
    told = settings.model_copy(update={"provisions_per_minute": 0, "provisions_per_day": 0})
    app = create_app(told, database)
    with serving(app, told) as url:
        yield Server(url, app, tokens, kb, tokens.other_kb)


def test_a_token_of_one_call_reads_public_bases_and_nothing_else(patient, database):
    with patient.client(None) as nobody:
        ask = {"name": "passing agent"}
        assert nobody.post("/api/v1/provision", json=ask).status_code == 404
        _open(database, patient.kb, True)
        hidden = nobody.post("/api/v1/provision", json={**ask, "kb_ids": [str(patient.other_kb)]})
        assert (hidden.status_code, hidden.json()["field"]) == (404, "kb_ids")
        made = nobody.post("/api/v1/provision", json=ask)
        assert made.status_code == 201, made.text
        for bad in ({}, {"name": ""}, {**ask, "scope": "write"}, {**ask, "days": 900}, {**ask, "kb_ids": []}):
            assert nobody.post("/api/v1/provision", json=bad).status_code == 422, bad
    given = made.json()
    assert given["token"].startswith("tc_agt_")
    assert [b["mcp_url"] for b in given["kbs"]] == [f"{patient.url}/api/v1/kbs/{patient.kb}/mcp"]
    with patient.client(given["token"]) as agent:
        base = agent.get(f"/api/v1/kbs/{patient.kb}").json()
        assert (base["role"], base["may_write"]) == ("viewer", False)
        assert [b["slug"] for b in agent.get("/api/v1/kbs").json()["kbs"]] == ["test"]
        assert agent.get(f"/api/v1/kbs/{patient.other_kb}").status_code == 404
        assert agent.post("/api/v1/kbs", json={"slug": "mine", "name": "Mine"}).status_code == 403
        assert agent.get("/api/v1/tokens").status_code == 403
        for tail in ("/documents", "/statements", "/members", "/service-tokens"):
            assert agent.post(f"/api/v1/kbs/{patient.kb}{tail}", json={}).status_code == 403, tail
        _open(database, patient.kb, False)
        assert agent.get(f"/api/v1/kbs/{patient.kb}").status_code == 404
        assert agent.get("/api/v1/kbs").json()["kbs"] == []


def test_one_address_is_given_so_many_and_no_more(server, database):
    _open(database, server.kb, True)
    with server.client(None) as nobody:
        answers = [nobody.post("/api/v1/provision", json={"name": "greedy"}) for _ in range(5)]
    statuses = [a.status_code for a in answers]
    assert statuses[0] == 201
    assert statuses[-1] == 429
    assert int(answers[-1].headers["retry-after"]) >= 1
    with database.read(server.kb) as conn:
        count = conn.execute("select count(*) as n from tokens where kind = 'agent'").fetchone()["n"]
    assert count == statuses.count(201) < 5
