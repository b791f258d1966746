"""Nobody gets past the gate without a token, and nobody sees a base that their token does not."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest

from substrate.db import EVERY_BASE
from tests.api.conftest import REFUSED

ID = "00000000-0000-0000-0000-000000000001"
OF_NO_BASE = {"/health", "/kbs", "/tokens", "/tokens/{token_id}", "/provision"}
OF_NO_BASE |= {"/signin", "/signin/callback", "/signout", "/me"}
READS = (
    ("GET", "/neighbors?entity=x"),
    ("GET", "/paths?from=x&to=y"),
    ("GET", f"/facts/{ID}/explanation"),
    ("GET", "/rules"),
    ("GET", "/manual?query=x"),
    ("GET", "/bindings"),
    ("GET", "/statements"),
    ("GET", "/funnel"),
    ("GET", "/gaps"),
    ("GET", "/review/status"),
    ("GET", ""),
    ("GET", "/ontology"),
    ("GET", "/documents"),
    ("GET", f"/documents/{ID}"),
    ("GET", f"/documents/{ID}/deletions"),
    ("GET", "/deletions"),
    ("GET", "/review/unconfirmed"),
    ("GET", "/review/conflicts"),
    ("GET", "/corrections"),
    ("GET", "/ontology/uniqueness"),
    ("GET", f"/ontology/terms/{ID}"),
    ("GET", "/ontology/file"),
    ("GET", "/ontology/plans"),
    ("GET", f"/ontology/plans/{ID}"),
    ("GET", "/ontology/packs"),
    ("GET", "/ontology/defects"),
    ("GET", "/ontology/candidates?text=x"),
    ("GET", f"/ontology/classes/{ID}/entities"),
    ("GET", "/context?question=x"),
    ("POST", f"/ontology/relations/{ID}/preview"),
    ("GET", "/entities?name=x"),
    ("GET", "/entities/x/facts"),
    ("GET", "/entities/x/timeline"),
    ("GET", "/entities/x/snapshot"),
    ("GET", "/entities/x/history"),
    ("GET", f"/facts/{ID}/history"),
    ("GET", "/snapshot"),
    ("GET", "/diff?from_as_of=2020"),
    ("GET", "/changes?since=2020"),
    ("GET", "/search?query=x"),
    ("GET", "/review/pending"),
    ("GET", "/review/refusals"),
    ("GET", "/review/candidates"),
    ("GET", "/distinctions"),
    ("GET", "/merges"),
    ("GET", "/retypings"),
    ("GET", "/verdicts"),
    ("GET", "/model-budget"),
)
WRITES = (
    ("POST", "/bindings/preview"),
    ("POST", "/bindings/apply"),
    ("POST", "/statements"),
    ("POST", "/gaps"),
    ("POST", f"/gaps/{ID}/dismiss"),
    ("POST", f"/gaps/{ID}/reopen"),
    ("PUT", "/model-budget"),
    ("PUT", "/ontology"),
    ("PUT", f"/ontology/terms/{ID}"),
    ("DELETE", f"/ontology/terms/{ID}"),
    ("POST", "/ontology/plans?format=yaml"),
    ("POST", f"/ontology/plans/{ID}/apply"),
    ("POST", f"/ontology/packs/{ID}/plan"),
    ("POST", f"/ontology/defects/{ID}/waive"),
    ("POST", f"/ontology/waivers/{ID}/lift"),
    ("POST", "/documents"),
    ("DELETE", f"/documents/{ID}"),
    ("DELETE", "/documents?external_id=x"),
    ("POST", f"/deletions/{ID}/restore"),
    ("POST", f"/documents/{ID}/purge"),
    ("POST", f"/review/pending/{ID}/confirm"),
    ("POST", f"/review/pending/{ID}/reject"),
    ("POST", f"/review/refusals/{ID}/lift"),
    ("POST", f"/review/candidates/{ID}/same"),
    ("POST", f"/review/candidates/{ID}/not-same"),
    ("POST", "/distinctions"),
    ("POST", f"/distinctions/{ID}/revert"),
    ("POST", f"/facts/{ID}/reject"),
    ("PATCH", f"/facts/{ID}"),
    ("POST", f"/facts/{ID}/close"),
    ("POST", f"/facts/{ID}/confirm"),
    ("POST", f"/corrections/{ID}/undo"),
    ("POST", f"/review/conflicts/{ID}/decide"),
    ("POST", f"/review/conflicts/{ID}/revert"),
    ("POST", f"/ontology/relations/{ID}/redeclare"),
    ("POST", "/merges"),
    ("POST", f"/merges/{ID}/revert"),
    ("PUT", f"/entities/{ID}/type"),
    ("POST", f"/retypings/{ID}/revert"),
    ("POST", "/verdicts"),
    ("POST", f"/verdicts/{ID}/revert"),
)
MANAGES = (
    ("GET", "/members"),
    ("POST", "/members"),
    ("PUT", f"/members/{ID}"),
    ("DELETE", f"/members/{ID}"),
    ("GET", "/access"),
    ("PUT", "/access"),
    ("GET", "/service-tokens"),
    ("POST", "/service-tokens"),
    ("DELETE", f"/service-tokens/{ID}"),
)
"""For admins and owners."""
MCP = (("POST", "/mcp"), ("GET", "/mcp"), ("DELETE", "/mcp"))


def test_the_lists_here_name_every_route(server):
    """A route added later must be added to the lists above."""
    here = {
        (m, p.split("?")[0].replace(ID, "{id}").replace("/entities/x/", "/entities/{id}/"))
        for m, p in READS + WRITES + MANAGES
    }
    paths = server.app.openapi()["paths"]
    there = set()
    for path, methods in paths.items():
        if path.startswith("/api/v1/kbs/{kb_id}"):
            tail = path.removeprefix("/api/v1/kbs/{kb_id}")
            tail = re.sub(r"\{\w+\}", "{id}", tail)
            there |= {(m.upper(), tail) for m in methods}
    assert there == here
    assert {p.removeprefix("/api/v1") for p in paths if "{kb_id}" not in p} == OF_NO_BASE


@pytest.mark.parametrize("who", REFUSED)
def test_without_a_valid_token_every_route_answers_401_before_it_reads_a_body(server, who):
    with server.client(getattr(server.tokens, who)) as client:
        for method, tail in (*READS, *WRITES, *MANAGES, *MCP):
            answer = client.request(method, f"/api/v1/kbs/{server.kb}{tail}", content=b"{ not json")
            assert answer.status_code == 401, (method, tail)
            assert answer.headers["www-authenticate"].startswith("Bearer")
            assert answer.headers["content-type"] == "application/problem+json"
        for method in ("GET", "POST"):
            assert client.request(method, "/api/v1/kbs").status_code == 401
        assert client.get("/api/v1/openapi.json").status_code == 401


def test_a_token_in_the_query_string_is_never_read(server):
    with server.client(None) as client:
        for name in ("token", "access_token", "authorization"):
            assert client.get("/api/v1/kbs", params={name: server.tokens.write}).status_code == 401


def test_a_base_that_the_token_cannot_see_is_as_absent_as_one_that_is_not(server):
    with server.client(server.tokens.elsewhere) as client:
        for method, tail in (*READS, *WRITES, *MANAGES, *MCP):
            said = set()
            for base in (server.kb, uuid4(), "no-id"):
                answer = client.request(method, f"/api/v1/kbs/{base}{tail}", content=b"{ not json")
                assert answer.status_code == 404, (method, tail)
                said.add(answer.text)
            assert len(said) == 1


@pytest.mark.parametrize("who", ["read", "viewer"])
def test_writing_needs_scope_and_role_and_is_judged_before_the_body(server, who):
    with server.client(getattr(server.tokens, who)) as client:
        for method, tail in WRITES:
            answer = client.request(method, f"/api/v1/kbs/{server.kb}{tail}", json={})
            assert answer.status_code == 403, (method, tail, answer.text)
            assert "insufficient_scope" in answer.headers["www-authenticate"]
        assert client.get(f"/api/v1/kbs/{server.kb}").json()["may_write"] is False
    with server.client(server.tokens.write) as client:
        assert client.get(f"/api/v1/kbs/{server.kb}").json()["may_write"] is True


@pytest.mark.parametrize("who", ["read", "viewer", "write"])
def test_managing_needs_an_admin_and_is_judged_before_the_body(server, who):
    with server.client(getattr(server.tokens, who)) as client:
        for method, tail in MANAGES:
            answer = client.request(method, f"/api/v1/kbs/{server.kb}{tail}", content=b"{ not json")
            assert answer.status_code == 403, (method, tail, answer.text)


def test_no_token_makes_lists_or_revokes_tokens(server):
    for who in ("read", "viewer", "write"):
        with server.client(getattr(server.tokens, who)) as client:
            for method, path in (("GET", "/tokens"), ("POST", "/tokens"), ("DELETE", f"/tokens/{ID}")):
                answer = client.request(method, f"/api/v1{path}", content=b"{ not json")
                assert answer.status_code == 403, (method, path, answer.text)


def test_revoking_works_with_the_next_call(server, database):
    with server.client(server.tokens.read) as client:
        assert client.get("/api/v1/kbs").status_code == 200
        with database.write(EVERY_BASE) as conn:
            conn.execute("update tokens set revoked_at = clock_timestamp() where name = 'reader'")
        assert client.get("/api/v1/kbs").status_code == 401


def test_health_asks_for_no_token_and_unknown_paths_are_json(server):
    with server.client(None) as client:
        assert client.get("/api/v1/health").json()["status"] == "ok"
    with server.client(server.tokens.read) as client:
        answer = client.get("/api/v1/nothing/here")
        assert (answer.status_code, answer.json()["title"]) == (404, "not_found")
        assert client.patch("/api/v1/kbs").status_code == 405


def test_unknown_parameters_and_fields_are_refused_by_name(server):
    with server.client(server.tokens.write) as client:
        answer = client.get(f"/api/v1/kbs/{server.kb}/entities/x/facts", params={"as_off": "2024"})
        assert (answer.status_code, answer.json()["field"]) == (422, "as_off")
        assert client.get("/api/v1/kbs", params={"page": 1}).json()["field"] == "page"
        body = {"documents": [{"external_id": "a", "filename": "a.md", "content": "x", "date": "2024"}]}
        answer = client.post(f"/api/v1/kbs/{server.kb}/documents", json=body)
        assert (answer.status_code, answer.json()["field"]) == (422, "documents.0.date")
        assert "errors.pydantic.dev" not in answer.text
        answer = client.get(f"/api/v1/kbs/{server.kb}/entities/x/facts", params={"at": "spring"})
        assert (answer.status_code, answer.json()["field"]) == (422, "at")


def test_a_crash_tells_nothing_of_the_inside(server, database):
    with database.write(EVERY_BASE) as conn:
        conn.execute("reset role")
        conn.execute("alter table entities rename column label to label_gone")
    with server.client(server.tokens.read) as client:
        answer = client.get(f"/api/v1/kbs/{server.kb}/entities", params={"name": "x"})
    assert answer.status_code == 500
    for inside in ("label", "select", "psycopg", "Traceback", "/"):
        assert inside not in answer.json()["detail"]
