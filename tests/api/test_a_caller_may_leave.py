"""A caller that leaves, or takes a call back, ends what the database does for it; nothing of it is written."""

from __future__ import annotations

import json
import socket

import psycopg
import pytest

from substrate.calls import Call, serving
from substrate.db import EVERY_BASE, NO_BASE
from substrate.errors import CallEnded
from tests.waiting import until

WAITING = """select count(*) from pg_stat_activity
             where datname = current_database() and wait_event_type = 'Lock' and state = 'active'"""


@pytest.fixture
def locked(database, dsn):
    """Holds a lock that every look-up of an entity and every new document waits for; says how many wait."""
    with psycopg.connect(dsn) as holder, psycopg.connect(dsn, autocommit=True) as watcher:
        holder.execute("lock table entities, documents in access exclusive mode")

        def waiting():
            return watcher.execute(WAITING).fetchone()[0]

        waiting.release = holder.rollback
        yield waiting
        holder.rollback()


def begin(server, token, path, body, **headers):
    """A request that is sent whole, and the line that its answer would come on."""
    said = json.dumps(body).encode()
    lines = {
        "Host": server.url.removeprefix("http://"),
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "Content-Length": str(len(said)),
        "Connection": "close",
        **headers,
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    line = socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2])), timeout=60)
    line.sendall(f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + said)
    return line


def call(tool, **arguments):
    return {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


def actions(server, database):
    server.app.state.access_log.flush()
    with database.read(EVERY_BASE) as conn:
        return [r["action"] for r in conn.execute("select action from access_events order by id").fetchall()]


MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_a_question_ends_with_the_stream_that_asked_it(server, database, locked, revision):
    body = call("find_entities", name="x")
    headers = {"MCP-Protocol-Version": revision}
    if revision == "2026-07-28":
        body["params"]["_meta"] = MODERN
        headers |= {"Mcp-Method": "tools/call", "Mcp-Name": "find_entities"}
    line = begin(server, server.tokens.read, f"/api/v1/kbs/{server.kb}/mcp", body, **headers)
    until(lambda: locked() == 1)
    line.close()
    until(lambda: locked() == 0)
    until(lambda: "left before: find_entities" in actions(server, database))
    assert actions(server, database).count("find_entities") == 0


def test_what_is_being_written_is_not_written_when_its_caller_leaves(server, database, locked):
    line = begin(
        server, server.tokens.write, f"/api/v1/kbs/{server.kb}/mcp", call("remember", text="Ada works on Heron.")
    )
    until(lambda: locked() == 1)
    line.close()
    until(lambda: locked() == 0)
    until(lambda: "left before: remember" in actions(server, database))
    locked.release()
    with database.read(EVERY_BASE) as conn:
        assert conn.execute("select count(*) as n from documents").fetchone()["n"] == 0


def test_the_same_over_rest(server, database, locked):
    with socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2])), timeout=60) as line:
        path = f"/api/v1/kbs/{server.kb}/entities?name=x"
        line.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {server.tokens.read}\r\n\r\n".encode()
        )
        until(lambda: locked() == 1)
    until(lambda: locked() == 0)
    until(lambda: f"left before: GET /api/v1/kbs/{server.kb}/entities" in actions(server, database))


def test_a_thread_that_waits_for_nobody_is_free_again(server, locked):
    for _ in range(3):
        lines = [
            begin(server, server.tokens.read, f"/api/v1/kbs/{server.kb}/mcp", call("find_entities", name="x"))
            for _ in range(8)
        ]
        until(lambda: locked() >= 7)  # all the threads there are but, at times, one that judges a token
        for line in lines:
            line.close()
        until(lambda: locked() == 0)
    with server.client(server.tokens.read) as client:
        assert client.get("/api/v1/kbs").status_code in (200, 503)


def cancel(server, token, request_id, **headers):
    body = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}}
    with server.client(token) as client:
        accept = {"Accept": "application/json, text/event-stream", **headers}
        return client.post(f"/api/v1/kbs/{server.kb}/mcp", json=body, headers=accept).status_code


def test_a_call_can_be_taken_back_by_who_made_it_alone(server, database, locked):
    agent = {"User-Agent": "a client"}
    asked = begin(server, server.tokens.read, f"/api/v1/kbs/{server.kb}/mcp", call("find_entities", name="x"), **agent)
    until(lambda: locked() == 1)
    assert cancel(server, server.tokens.viewer, 7, **agent) == 202
    assert cancel(server, server.tokens.read, 8, **agent) == 202
    assert cancel(server, server.tokens.read, "7", **agent) == 202
    assert cancel(server, server.tokens.read, 7, **{"User-Agent": "another"}) == 202
    assert locked() == 1
    assert cancel(server, server.tokens.read, 7, **agent) == 202
    until(lambda: locked() == 0)
    with asked:
        assert b"HTTP/1.1 200" in asked.recv(65536)
    until(lambda: "left before: find_entities" in actions(server, database))


def test_a_call_that_ended_begins_and_commits_nothing(database):
    call = Call("test")

    def write():
        with serving(call), database.write(NO_BASE) as conn:
            conn.execute("insert into people (name) values ('Nobody')")
            call.end()

    with pytest.raises(CallEnded):
        write()
    with pytest.raises(CallEnded):
        write()
    with database.read(NO_BASE) as conn:
        assert conn.execute("select count(*) as n from people where name = 'Nobody'").fetchone()["n"] == 0


def test_a_connection_that_was_cancelled_serves_the_next_call(database):
    call = Call("test")
    for _ in range(20):
        with serving(Call("other")), database.read(NO_BASE) as conn:
            assert conn.execute("select 1 as one").fetchone()["one"] == 1
        call.end()
    with database.read(NO_BASE) as conn:
        assert conn.execute("select 1 as one").fetchone()["one"] == 1
