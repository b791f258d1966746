"""A base is its members' alone until it is opened; open to a workspace, an organisation or the public it is read."""

from __future__ import annotations

from uuid import uuid4

import psycopg
import pytest

from api.gate import admit
from substrate import access
from substrate.access import Openness
from substrate.db import EVERY_BASE, NO_BASE
from substrate.errors import TwoclocksError


@pytest.fixture
def people(server, database):
    """Clients of people who are members of no base: in the base's workspace, in its organisation, and in another."""
    with database.write(EVERY_BASE) as conn:
        access.make_workspace(conn, "press", "Heron Works")
        access.make_workspace(conn, "sales", "Heron Works")
        access.make_workspace(conn, "rivals", "Limpet")
        made = {}
        for slug in ("press", "sales", "rivals"):
            person = access.create_person(conn, f"of {slug}")
            access.join_workspace(conn, slug, person)
            made[slug] = server.client(access.issue_token(conn, person, "desk", scope="write").secret)
    made["nobody"] = server.client(None)
    yield made
    for client in made.values():
        client.close()


def _open(database, kb, **wanted) -> None:
    with database.write(kb) as conn:
        access.set_openness(conn, kb, Openness(**wanted))


def _statuses(server, people) -> dict[str, int]:
    return {name: client.get(f"/api/v1/kbs/{server.kb}").status_code for name, client in people.items()}


def test_who_sees_a_base_follows_from_what_it_is_open_to_with_the_next_call(server, database, people):
    closed = {"press": 404, "sales": 404, "rivals": 404, "nobody": 401}
    assert _statuses(server, people) == closed
    for wanted, seen in (
        ({"open_to": "workspace"}, {"press": 200}),
        ({"open_to": "organisation"}, {"press": 200, "sales": 200}),
        ({"open_to": "members"}, {}),
        ({"public_read": True}, {"press": 200, "sales": 200, "rivals": 200, "nobody": 200}),
        ({}, {}),
    ):
        _open(database, server.kb, workspace="press", **wanted)
        assert _statuses(server, people) == closed | seen, wanted
        for name in ("press", "sales", "rivals"):
            listed = {b["slug"] for b in people[name].get("/api/v1/kbs").json()["kbs"]}
            assert listed == ({"test"} if name in seen else set()), (wanted, name)
    _open(database, server.kb, workspace="press", open_to="workspace")
    with database.write(NO_BASE) as conn:
        access.leave_workspace(conn, "press", access.person_named(conn, "of press"))
    assert _statuses(server, people) == closed


def test_a_base_that_is_not_for_you_answers_byte_for_byte_like_one_that_is_not_there(server, database, people):
    _open(database, server.kb, workspace="press", open_to="workspace")
    for name in ("rivals", "sales", "nobody"):
        for method, tail in (("GET", ""), ("GET", "/documents"), ("POST", "/documents"), ("POST", "/mcp")):
            said = set()
            for kb in (server.kb, server.other_kb, uuid4()):
                answer = people[name].request(method, f"/api/v1/kbs/{kb}{tail}", json={})
                headers = {n: v.replace(str(kb), "ID") for n, v in answer.headers.items() if n != "date"}
                said.add((answer.status_code, answer.content, str(headers)))
            assert len(said) == 1, said
            assert said.pop()[0] == (401 if name == "nobody" else 404)


def test_a_base_that_is_there_costs_the_database_the_same_statements_as_one_that_is_not(server, database):
    """Timing by its cause: the gate asks one question, whatever the base is."""
    _open(database, server.kb, open_to="members")
    with database.write(EVERY_BASE) as conn:
        stranger = access.issue_token(conn, access.create_person(conn, "Stranger"), "x").secret
    asked = []

    class Counted:
        def __init__(self, ask):
            self.ask = ask

        def __enter__(self):
            self.conn = self.ask.__enter__()
            return self

        def __exit__(self, *error):
            return self.ask.__exit__(*error)

        def execute(self, query, params):
            asked.append(query)
            return self.conn.execute(query, params)

    class Db:
        def ask(self):
            return Counted(database.ask())

    for presented in (stranger, None):
        seen = []
        for kb in (server.kb, uuid4()):
            asked.clear()
            with pytest.raises(TwoclocksError):
                admit(Db(), presented, f"/api/v1/kbs/{kb}/documents", "GET")
            seen.append(list(asked))
        assert seen[0] == seen[1]
        assert len(seen[0]) == 1


def test_an_open_base_is_read_and_never_written_by_who_is_no_member(server, database, people):
    _open(database, server.kb, workspace="press", open_to="workspace", public_read=True)
    sentence = {"documents": [{"external_id": "a", "filename": "a.md", "content": "x"}]}
    for name, refused in (("press", 403), ("nobody", 401)):
        client = people[name]
        assert client.get(f"/api/v1/kbs/{server.kb}/documents").status_code == 200
        assert client.get(f"/api/v1/kbs/{server.kb}").json()["role"] == "viewer"
        assert client.post(f"/api/v1/kbs/{server.kb}/documents", json=sentence).status_code == refused
        assert client.get(f"/api/v1/kbs/{server.kb}/members").status_code == 403
        assert client.put(f"/api/v1/kbs/{server.kb}/access", json={}).status_code == refused
    tools = _rpc(people["nobody"], server.kb, "tools/list").json()["result"]["tools"]
    names = {tool["name"] for tool in tools}
    assert "entity_facts" in names
    assert not {"remember", "report_gap"} & names


def _rpc(client, kb, method, params=None):
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
    return client.post(f"/api/v1/kbs/{kb}/mcp", json=message, headers={"Accept": "application/json, text/event-stream"})


def test_what_passers_by_are_served_is_on_record_and_what_they_ask_is_not_kept(server, database, people):
    _open(database, server.kb, public_read=True)
    found = people["nobody"].get(f"/api/v1/kbs/{server.kb}/search", params={"query": "who leads the Heron"})
    assert found.status_code == 200
    server.app.state.access_log.flush()
    with database.read(server.kb) as conn:
        served = conn.execute("select person_id, token_id from access_events").fetchall()
        assert {r["person_id"] for r in served} == {access.PUBLIC}
        assert conn.execute("select count(*) as n from gaps").fetchone()["n"] == 0


def test_an_admin_opens_a_base_to_a_workspace_they_are_in(server, database, people):
    with database.write(EVERY_BASE) as conn:
        adam = access.create_person(conn, "Adam")
        access.set_member(conn, server.kb, adam, "admin")
        admin = server.client(access.issue_token(conn, adam, "desk", scope="write").secret)
    path, wanted = f"/api/v1/kbs/{server.kb}/access", {"open_to": "workspace", "workspace": "press"}
    with admin:
        assert admin.get(path).json() == {"open_to": "members", "public_read": False, "workspace": None}
        strange = admin.put(path, json=wanted)
        absent = admin.put(path, json={**wanted, "workspace": "absent"})
        assert (strange.status_code, absent.status_code) == (404, 404)
        assert strange.text.replace("press", "absent") == absent.text
        assert admin.put(path, json={"open_to": "workspace"}).json()["field"] == "workspace"
        assert admin.put(path, json={"open_to": "all"}).status_code == 422
        with database.write(NO_BASE) as conn:
            access.join_workspace(conn, "press", adam)
        assert admin.put(path, json=wanted).json() == {**wanted, "public_read": False}
        assert _statuses(server, people)["press"] == 200
        assert admin.put(path, json={"open_to": "members"}).status_code == 200
        assert _statuses(server, people)["press"] == 404


def test_the_public_can_be_given_no_role_and_no_workspace(database, kb):
    with pytest.raises(psycopg.errors.CheckViolation), database.write(kb) as conn:
        access.set_member(conn, kb, access.PUBLIC, "viewer")
    with pytest.raises(psycopg.errors.CheckViolation), database.write(kb) as conn:
        access.issue_token(conn, access.PUBLIC, "x", scope="write")
