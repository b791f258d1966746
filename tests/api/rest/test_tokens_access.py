"""A signed-in person makes, lists and revokes their own tokens; what pushes cannot read; a cookie writes from home."""

from __future__ import annotations

import pytest

from substrate import access
from substrate.db import EVERY_BASE

OPEN = ("/api/v1/health", "/api/v1/provision", "/api/v1/signin", "/api/v1/signin/callback")


def _session(database, name: str) -> str:
    with database.write(EVERY_BASE) as conn:
        person = access.person_named(conn, name)
        return access.issue_token(conn, person, "browser", scope="write", days=1, kind="session").secret


@pytest.fixture
def browser(server, database):
    """Ada at a page of ours."""
    with server.client(None) as client:
        client.cookies.set("twoclocks_session", _session(database, "Ada"))
        client.headers["Origin"] = server.url
        yield client


@pytest.fixture
def admin(server, database):
    with database.write(EVERY_BASE) as conn:
        person = access.create_person(conn, "Adam")
        access.set_member(conn, server.kb, person, "admin")
        secret = access.issue_token(conn, person, "desk", scope="write").secret
    with server.client(secret) as client:
        yield client


def test_a_token_is_shown_once_works_within_its_bounds_and_stops_when_it_is_revoked(server, browser):
    made = browser.post("/api/v1/tokens", json={"name": "agent", "kb_ids": [str(server.kb)], "days": 3})
    assert made.status_code == 201, made.text
    secret = made.json()["token"]
    assert secret.startswith("tc_pat_")
    with server.client(secret) as client:
        assert client.get(f"/api/v1/kbs/{server.kb}").json()["may_write"] is False
        assert client.get(f"/api/v1/kbs/{server.other_kb}").status_code == 404
        assert client.post(f"/api/v1/kbs/{server.kb}/documents", json={"documents": []}).status_code == 403
        listed = browser.get("/api/v1/tokens")
        assert secret not in listed.text
        found = next(t for t in listed.json()["tokens"] if t["id"] == made.json()["id"])
        assert (found["name"], found["scope"], found["state"]) == ("agent", "read", "live")
        for _ in range(2):
            assert browser.delete(f"/api/v1/tokens/{found['id']}").status_code == 200
        assert client.get(f"/api/v1/kbs/{server.kb}").status_code == 401
    states = {t["id"]: t["state"] for t in browser.get("/api/v1/tokens").json()["tokens"]}
    assert states[found["id"]] == "revoked"


def test_of_others_tokens_nothing_is_listed_or_revoked(server, database, browser):
    with database.write(EVERY_BASE) as conn:
        eve = access.person_named(conn, "Eve")
        hers = access.issue_token(conn, eve, "hers")
    assert "hers" not in browser.get("/api/v1/tokens").text
    assert browser.delete(f"/api/v1/tokens/{hers.id}").status_code == 404
    assert browser.delete(f"/api/v1/tokens/{access.ANYBODY.token_id}").status_code == 404
    with server.client(hers.secret) as client:
        assert client.get("/api/v1/kbs").status_code == 200


def test_bad_tokens_are_refused_by_field(server, browser):
    hidden = "00000000-0000-0000-0000-000000000009"
    for body, status, field in (
        ({"name": " "}, 422, "name"),
        ({"name": "x", "days": 0}, 422, "days"),
        ({"name": "x", "scope": "push"}, 422, "scope"),
        ({"name": "x", "kb_ids": []}, 422, "kb_ids"),
        ({"name": "x", "kb_ids": [hidden]}, 404, "kb_ids"),
        ({"name": "x", "kind": "session"}, 422, "kind"),
    ):
        answer = browser.post("/api/v1/tokens", json=body)
        assert (answer.status_code, answer.json()["field"]) == (status, field), body


def test_a_session_is_good_in_a_cookie_alone_and_a_token_in_the_header_alone(server, database):
    session = _session(database, "Ada")
    with server.client(session) as client:
        assert client.get("/api/v1/kbs").status_code == 401
    with server.client(None) as client:
        client.cookies.set("twoclocks_session", server.tokens.write)
        assert client.get("/api/v1/kbs").status_code == 401
    with server.client(None) as client:
        client.cookies.set("twoclocks_session", session)
        assert client.get("/api/v1/kbs").status_code == 200


def test_what_another_site_makes_a_browser_send_changes_nothing(server, browser):
    body = {"name": "planted"}
    for origin in ("https://evil.example", "null", server.url + ".evil.example", server.url[:-1]):
        answer = browser.post("/api/v1/tokens", json=body, headers={"Origin": origin})
        assert (answer.status_code, answer.json()["field"]) == (403, "Origin"), origin
    del browser.headers["Origin"]
    assert browser.post("/api/v1/tokens", json=body).status_code == 403
    assert browser.delete(f"/api/v1/kbs/{server.kb}/documents", params={"external_id": "x"}).status_code == 403
    assert "planted" not in browser.get("/api/v1/tokens").text
    assert browser.post("/api/v1/tokens", json=body, headers={"Origin": server.url}).status_code == 201


def test_a_services_token_pushes_to_its_base_and_reads_nothing(server, admin, database):
    made = admin.post(f"/api/v1/kbs/{server.kb}/service-tokens", json={"name": "crawler"})
    assert made.status_code == 201, made.text
    secret, token_id = made.json()["token"], made.json()["id"]
    document = {"documents": [{"external_id": "a", "filename": "a.md", "content": "Ada leads Heron."}]}
    with server.client(secret) as client:
        pushed = client.post(f"/api/v1/kbs/{server.kb}/documents", json=document)
        assert pushed.status_code == 200, pushed.text
        statements = client.post(f"/api/v1/kbs/{server.kb}/statements", json={})
        assert statements.status_code == 422, statements.text  # let in, and told what is missing
        assert client.post(f"/api/v1/kbs/{server.other_kb}/documents", json=document).status_code == 404
        paths = server.app.openapi()["paths"]
        for path, methods in paths.items():
            for method in methods:
                asked = path.replace("{kb_id}", str(server.kb)).replace("{", "").replace("}", "")
                tail = (method, path.rpartition("/")[2])
                if path not in OPEN and tail not in (
                    ("post", "documents"),
                    ("post", "statements"),
                ):
                    assert client.request(method, asked).status_code == 403, (method, asked)
        assert client.post(f"/api/v1/kbs/{server.kb}/mcp", json={}).status_code == 403
        listed = admin.get(f"/api/v1/kbs/{server.kb}/service-tokens").json()["tokens"]
        assert [(t["name"], t["scope"], t["state"]) for t in listed] == [("crawler", "push", "live")]
        assert admin.delete(f"/api/v1/kbs/{server.kb}/service-tokens/{token_id}").status_code == 200
        assert client.post(f"/api/v1/kbs/{server.kb}/documents", json=document).status_code == 401


def test_a_services_token_stops_when_its_maker_is_no_editor_any_more(server, admin, database):
    secret = admin.post(f"/api/v1/kbs/{server.kb}/service-tokens", json={"name": "crawler"}).json()["token"]
    document = {"documents": [{"external_id": "a", "filename": "a.md", "content": "Ada leads Heron."}]}
    with server.client(secret) as client:
        assert client.post(f"/api/v1/kbs/{server.kb}/documents", json=document).status_code == 200
        for role, status in (("viewer", 403), (None, 404)):
            with database.write(server.kb) as conn:
                adam = access.person_named(conn, "Adam")
                if role is None:
                    access.remove_member(conn, server.kb, adam)
                else:
                    access.set_member(conn, server.kb, adam, role)
            assert client.post(f"/api/v1/kbs/{server.kb}/documents", json=document).status_code == status
