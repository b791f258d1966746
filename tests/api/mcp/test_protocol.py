"""The endpoint as clients of every revision meet it, and what it refuses."""

from __future__ import annotations

import json
import string

import anyio
import httpx
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from api.mcp.schemas import TOOLS
from substrate import access
from substrate.db import EVERY_BASE
from tests.api.conftest import REFUSED

READ_TOOLS = [
    *("search_chunks", "context", "get_document", "find_entities", "entity_facts", "neighbors", "timeline"),
    *("paths_between", "explain_fact", "changes", "list_rules", "review_status", "search_docs"),
]
WRITE_TOOLS = ["remember", "report_gap"]
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def rpc(server, token, method, params=None, *, headers=None, kb=None):
    with server.client(token) as client:
        return client.post(
            f"/api/v1/kbs/{kb or server.kb}/mcp",
            json={"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}},
            headers={"Accept": "application/json, text/event-stream", **(headers or {})},
        )


def with_client(server, token, use):
    """Run `use(client)` with the SDK's own client over HTTP."""

    async def main():
        headers = {"Authorization": f"Bearer {token}"}
        import httpx2

        async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
            transport = streamable_http_client(f"{server.url}/api/v1/kbs/{server.kb}/mcp", http_client=http)
            async with Client(transport) as client:
                return await use(client)

    return anyio.run(main)


@pytest.mark.parametrize("who", REFUSED)
def test_no_tool_is_reached_without_a_valid_token(server, who):
    for tool in TOOLS:
        answer = rpc(server, getattr(server.tokens, who), "tools/call", {"name": tool.name, "arguments": {}})
        assert answer.status_code == 401, tool.name
    assert rpc(server, getattr(server.tokens, who), "tools/list").status_code == 401
    assert rpc(server, getattr(server.tokens, who), "initialize").status_code == 401


def test_no_tool_is_reached_in_a_base_that_the_token_cannot_see(server):
    for tool in TOOLS:
        answer = rpc(server, server.tokens.elsewhere, "tools/call", {"name": tool.name, "arguments": {}})
        assert answer.status_code == 404, tool.name


def test_the_sdk_client_lists_and_calls(server, scribe):
    scribe.say("Ada", "works_on", "Heron")

    async def use(client):
        listed = await client.list_tools()
        called = await client.call_tool("entity_facts", {"entity_id": "Ada"})
        return listed, called

    listed, called = with_client(server, server.tokens.read, use)
    assert [t.name for t in listed.tools] == READ_TOOLS
    assert called.is_error is False
    assert called.structured_content["facts"][0]["other_name"] == "Heron"


def test_remember_is_shown_only_to_who_may(server):
    def names(token):
        return [t["name"] for t in rpc(server, token, "tools/list").json()["result"]["tools"]]

    assert names(server.tokens.write) == [*READ_TOOLS, *WRITE_TOOLS]
    for token in (server.tokens.read, server.tokens.viewer):
        assert names(token) == READ_TOOLS
        answer = rpc(server, token, "tools/call", {"name": "remember", "arguments": {"text": "x"}}).json()
        assert answer["error"]["code"] == -32601
        assert "needs a token with the write scope" in answer["error"]["message"]


def test_schemas_hold_nothing_that_a_known_client_chokes_on(server):
    tools = rpc(server, server.tokens.write, "tools/list").json()["result"]["tools"]
    assert len(tools) <= 20
    for tool in tools:
        assert len(tool["name"]) <= 32 and set(tool["name"]) <= {*string.ascii_lowercase, "_"}
        assert len(tool["description"]) <= 1024
        assert tool["title"]
        assert {"readOnlyHint", "destructiveHint"} <= set(tool["annotations"])
        text = json.dumps(tool["inputSchema"])
        for word in ("anyOf", "oneOf", "allOf", "$schema", "$ref"):
            assert word not in text
            assert word not in json.dumps(tool["outputSchema"])
        assert tool["inputSchema"]["additionalProperties"] is False
        assert set(tool["inputSchema"]["required"]) <= set(tool["inputSchema"]["properties"])
        for schema in (tool["inputSchema"], tool["outputSchema"]):
            _arrays_have_items(schema)
    assert len(json.dumps(tools)) < 20_000  # about 5,000 tokens
    assert tools == rpc(server, server.tokens.write, "tools/list").json()["result"]["tools"]


def _arrays_have_items(schema):
    if isinstance(schema, dict):
        if schema.get("type") == "array":
            assert "items" in schema
        for value in schema.values():
            _arrays_have_items(value)


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_every_handshake_revision_is_answered_in_kind(server, version):
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    result = rpc(server, server.tokens.read, "initialize", params).json()["result"]
    assert result["protocolVersion"] == version
    assert result["serverInfo"]["name"] == "twoclocks"
    assert result["serverInfo"]["version"]
    answer = rpc(server, server.tokens.read, "tools/list", headers={"MCP-Protocol-Version": version})
    assert answer.status_code == 200
    assert "mcp-session-id" not in answer.headers
    assert answer.headers["content-type"] == "application/json"


def test_a_handshake_header_with_a_modern_body_works(server):
    """What one widely used connector sends."""
    headers = {"MCP-Protocol-Version": "2025-11-25"}
    listed = rpc(server, server.tokens.read, "tools/list", {"_meta": MODERN}, headers=headers)
    assert [t["name"] for t in listed.json()["result"]["tools"]] == READ_TOOLS
    params = {"name": "find_entities", "arguments": {"name": "x"}, "_meta": MODERN}
    called = rpc(server, server.tokens.read, "tools/call", params, headers=headers)
    assert called.json()["result"]["structuredContent"]["entities"] == []


def test_the_modern_revision_works_and_knows_who_asks(server):
    headers = {
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "find_entities",
    }
    params = {"name": "find_entities", "arguments": {"name": "x"}, "_meta": MODERN}
    called = rpc(server, server.tokens.read, "tools/call", params, headers=headers)
    assert called.status_code == 200, called.text
    assert called.json()["result"]["structuredContent"]["kb_id"] == str(server.kb)
    mixed = {**headers, "Mcp-Name": "changes"}
    assert rpc(server, server.tokens.read, "tools/call", params, headers=mixed).status_code == 400


def test_what_is_no_request_of_ours_is_refused_by_the_right_name(server):
    token = server.tokens.read
    unknown = rpc(server, token, "tools/call", {"name": "drop_tables", "arguments": {}}).json()
    assert unknown["error"]["code"] == -32602
    assert rpc(server, token, "tools/list", {"cursor": "x"}).json()["error"]["code"] == -32602
    assert rpc(server, token, "no/such").json()["error"]["code"] == -32601
    with server.client(token) as client:
        path = f"/api/v1/kbs/{server.kb}/mcp"
        accept = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        assert client.get(path).status_code == 405
        assert client.delete(path).status_code == 405
        assert client.post(path, content="{", headers=accept).json()["error"]["code"] == -32700
        batch = [{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}]
        assert client.post(path, json=batch, headers=accept).status_code == 400
        assert client.post(path, content="x" * 5_000_000, headers=accept).status_code == 413
        bad_origin = {**accept, "Origin": "http://evil.example"}
        assert client.post(path, json=batch, headers=bad_origin).status_code == 403
        assert client.post(path, json=batch, headers={**accept, "Host": "evil.example"}).status_code == 421
        # No redirect: one would drop the Authorization header.
        assert client.post(path + "/", json=batch, headers=accept, follow_redirects=False).status_code in (404, 405)


def test_wrong_arguments_are_tool_errors_that_name_the_argument(server):
    cases = (
        ("entity_facts", {}, "entity_id: is required"),
        ("entity_facts", {"entity_id": "x", "when": "2024"}, "when: unknown argument"),
        ("entity_facts", {"entity_id": 5}, "entity_id: must be text"),
        ("entity_facts", {"entity_id": " "}, "entity_id: must not be blank"),
        ("entity_facts", {"entity_id": "x", "limit": True}, "limit: must be a whole number"),
        ("entity_facts", {"entity_id": "x", "limit": 301}, "limit: must lie between 1 and 300"),
        ("entity_facts", {"entity_id": "x", "at": "spring"}, "at: 'spring' is not a date"),
        ("entity_facts", {"entity_id": "x", "cursor": "zzz"}, "cursor: not a cursor of ours"),
        ("entity_facts", {"entity_id": "nobody"}, "no entity 'nobody'"),
        ("changes", {"since": "2020", "kinds": ["learned"]}, "kinds: must be one of"),
        ("changes", {"since": "2020", "kinds": []}, "kinds: must not be empty"),
        ("changes", {"since": "2020", "kinds": "merged"}, "kinds: must be a list"),
        ("get_document", {"document_id": "x"}, "No document with that id in this knowledge base"),
        ("get_document", {"document_id": str(server.other_kb)}, "No document with that id in this knowledge base"),
        ("get_document", {"document_id": "x", "offset": -1}, "offset: must lie between"),
        ("search_chunks", {"query": "  "}, "query: must not be blank"),
    )
    for name, arguments, said in cases:
        result = rpc(server, server.tokens.read, "tools/call", {"name": name, "arguments": arguments}).json()["result"]
        assert result["isError"] is True, (name, arguments)
        assert said in result["content"][0]["text"]
        assert "structuredContent" not in result
        assert "pydantic" not in result["content"][0]["text"]


def test_a_crash_inside_a_tool_tells_nothing_of_the_inside(server, database):
    with database.write(EVERY_BASE) as conn:
        conn.execute("reset role")
        conn.execute("alter table entities rename column label to label_gone")
    answer = rpc(server, server.tokens.read, "tools/call", {"name": "find_entities", "arguments": {"name": "x"}})
    assert answer.json()["error"]["code"] == -32603
    for inside in ("label", "select", "psycopg", "Traceback"):
        assert inside not in answer.text


def test_errors_reach_the_sdk_client_as_errors(server):
    async def use(client):
        with pytest.raises(MCPError) as unknown:
            await client.call_tool("nothing", {})
        wrong = await client.call_tool("entity_facts", {"entity_id": "nobody"})
        return unknown.value.code, wrong.is_error

    assert with_client(server, server.tokens.read, use) == (-32602, True)


def test_a_token_revoked_between_two_calls_ends_the_conversation(server, database):
    assert rpc(server, server.tokens.read, "tools/list").status_code == 200
    with database.write(EVERY_BASE) as conn:
        row = conn.execute("select id from tokens where name = 'reader'").fetchone()
        access.revoke_token(conn, row["id"])
    assert rpc(server, server.tokens.read, "tools/list").status_code == 401
    assert isinstance(httpx.codes.UNAUTHORIZED, int)
