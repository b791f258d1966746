"""What a server of the protocol owes its clients, behaviour by behaviour, on the product's own endpoint."""

from __future__ import annotations

import base64
import http.client
import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import jsonschema
import pytest

from tests.api.mcp.test_protocol import MODERN, rpc

HANDSHAKE = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
SERVED = [*HANDSHAKE, "2026-07-28"]
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


def modern(server, token, method, params=None, *, meta=MODERN, **headers):
    """A request of the newest revision; a header given as None is left out."""
    params = {**(params or {}), "_meta": meta}
    said = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
    if "name" in params:
        said["Mcp-Name"] = params["name"]
    said |= {name.replace("_", "-"): value for name, value in headers.items()}
    return rpc(server, token, method, params, headers={k: v for k, v in said.items() if v is not None})


def raw(server, token, content, **headers):
    with server.client(token) as client:
        return client.post(f"/api/v1/kbs/{server.kb}/mcp", content=content, headers={**ACCEPT, **headers})


def test_1_discovery_names_all_that_is_served(server):
    told = modern(server, server.tokens.read, "server/discover").json()["result"]
    assert told["supportedVersions"] == SERVED
    assert set(told["capabilities"]) >= {"tools", "resources", "prompts"}
    assert "completions" not in told["capabilities"]
    info = told.get("serverInfo") or told["_meta"]["io.modelcontextprotocol/serverInfo"]
    assert info["name"] == "twoclocks" and info["version"]
    assert told["ttlMs"] >= 0 and told["cacheScope"] == "private"


@pytest.mark.parametrize(("asked", "answered"), [*zip(HANDSHAKE, HANDSHAKE, strict=True), ("1999-01-01", "2025-11-25")])
def test_2_a_handshake_is_answered_in_a_revision_that_both_know(server, asked, answered):
    params = {"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    result = rpc(server, server.tokens.read, "initialize", params).json()["result"]
    assert result["protocolVersion"] == answered


def test_3_an_unknown_revision_is_told_all_that_are_known(server):
    meta = {**MODERN, "io.modelcontextprotocol/protocolVersion": "2031-01-01"}
    answer = modern(server, server.tokens.read, "tools/list", meta=meta, MCP_Protocol_Version="2031-01-01")
    assert answer.status_code == 400
    assert answer.json()["id"] == 1
    assert answer.json()["error"]["code"] == -32022
    assert answer.json()["error"]["data"] == {"supported": SERVED, "requested": "2031-01-01"}


@pytest.mark.parametrize(
    "headers",
    [
        {"Mcp_Method": None},
        {"Mcp_Method": "tools/list"},
        {"Mcp_Name": None},
        {"Mcp_Name": "changes"},
    ],
)
def test_4_headers_that_differ_from_the_body_are_refused(server, headers):
    params = {"name": "find_entities", "arguments": {"name": "x"}}
    answer = modern(server, server.tokens.read, "tools/call", params, **headers)
    assert (answer.status_code, answer.json()["error"]["code"], answer.json()["id"]) == (400, -32020, 1)


def test_4_a_version_in_the_header_alone_differs_from_the_body(server):
    meta = {**MODERN, "io.modelcontextprotocol/protocolVersion": "2025-11-25"}
    answer = modern(server, server.tokens.read, "tools/list", meta=meta)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32020)


def test_5_header_values_may_be_coded_and_spaced(server):
    params = {"name": "find_entities", "arguments": {"name": "x"}}
    coded = f"=?base64?{base64.b64encode(b'find_entities').decode()}?="
    for headers in ({"Mcp_Name": coded}, {"MCP_NAME": "find_entities", "Mcp_Name": None}):
        answer = modern(server, server.tokens.read, "tools/call", params, **headers)
        assert answer.status_code == 200, (headers, answer.text)
    line = http.client.HTTPConnection(server.url.removeprefix("http://"))
    said = {**ACCEPT, "Authorization": f"Bearer {server.tokens.read}", "MCP-Protocol-Version": "2026-07-28"}
    said |= {"Mcp-Method": " tools/call", "Mcp-Name": "find_entities \t"}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {**params, "_meta": MODERN}}
    with closing(line):
        line.request("POST", f"/api/v1/kbs/{server.kb}/mcp", json.dumps(body), said)
        assert line.getresponse().status == 200


def test_6_a_request_without_capabilities_is_refused(server):
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    answer = modern(server, server.tokens.read, "tools/list", meta=meta)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32602)


def test_7_an_older_header_with_a_newer_body_is_served(server):
    headers = {"MCP-Protocol-Version": "2025-11-25"}
    assert rpc(server, server.tokens.read, "tools/list", {"_meta": MODERN}, headers=headers).status_code == 200


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28", None])
@pytest.mark.parametrize(
    ("said", "code"),
    [
        ([{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}], -32600),
        ([], -32600),
        ({"jsonrpc": "2.0", "id": None, "method": "tools/list"}, -32600),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "tools/list"}, -32600),
        ({"jsonrpc": "2.0", "id": 1, "result": {}}, -32600),
        ({"jsonrpc": "1.0", "id": 1, "method": "tools/list"}, -32600),
        ("text", -32600),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": [1]}, -32602),
        (b"{", -32700),
        (b"", -32700),
        (b"\xff\xfe", -32700),
    ],
)
def test_8_what_is_no_single_request_is_refused(server, version, said, code):
    headers = {"MCP-Protocol-Version": version, "Mcp-Method": "tools/list"} if version else {}
    content = said if isinstance(said, bytes) else json.dumps(said)
    answer = raw(server, server.tokens.read, content, **headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, code)
    assert "pydantic" not in answer.text


def test_9_an_unknown_method_is_refused_as_each_revision_has_it(server):
    newer = modern(server, server.tokens.read, "no/such")
    assert (newer.status_code, newer.json()["error"]["code"]) == (404, -32601)
    older = rpc(server, server.tokens.read, "no/such", headers={"MCP-Protocol-Version": "2025-11-25"})
    assert (older.status_code, older.json()["error"]["code"]) == (200, -32601)


def test_10_there_is_no_stream_and_no_session(server):
    with server.client(server.tokens.read) as client:
        path = f"/api/v1/kbs/{server.kb}/mcp"
        for answer in (client.get(path, headers=ACCEPT), client.delete(path, headers={"Mcp-Session-Id": "x"})):
            assert answer.status_code == 405 and answer.headers["Allow"] == "POST"
    stray = {"Mcp-Session-Id": "stray", "Last-Event-ID": "7"}
    answer = rpc(server, server.tokens.read, "tools/list", headers=stray)
    assert answer.status_code == 200
    assert "mcp-session-id" not in answer.headers


def test_11_a_page_elsewhere_does_not_reach_us(server):
    def asked(**headers):
        return rpc(server, server.tokens.read, "tools/list", headers=headers).status_code

    assert asked(Origin="http://evil.example") == 403
    assert asked(Origin="null") == 403
    assert asked(Host="evil.example") == 421
    assert asked(Origin="http://localhost:3000") == asked() == 200


@pytest.mark.parametrize("who", ["anonymous", "nonsense", "expired", "revoked"])
def test_12_without_a_valid_token_one_is_told_where_to_learn_more(server, who):
    answer = rpc(server, getattr(server.tokens, who), "tools/list")
    assert answer.status_code == 401
    told = answer.headers["WWW-Authenticate"]
    assert told.startswith("Bearer ") and 'resource_metadata="' in told and "scope=" in told


def test_12_a_token_for_another_base_or_in_the_address_opens_nothing(server):
    assert rpc(server, server.tokens.elsewhere, "tools/list").status_code == 404
    with server.client(None) as client:
        path = f"/api/v1/kbs/{server.kb}/mcp"
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        for name in ("token", "access_token", "api_key", "authorization"):
            assert client.post(path, params={name: server.tokens.read}, json=body, headers=ACCEPT).status_code == 401


@pytest.mark.parametrize("newest", [False, True])
def test_13_too_narrow_a_token_is_told_every_scope_at_once(server, newest):
    params = {"name": "remember", "arguments": {"text": "x"}}
    ask = modern if newest else rpc
    answer = ask(server, server.tokens.read, "tools/call", params)
    assert answer.status_code == 403
    told = answer.headers["WWW-Authenticate"]
    assert 'error="insufficient_scope"' in told and 'scope="read write"' in told
    assert ask(server, server.tokens.write, "tools/call", params).status_code == 200


def test_14_the_metadata_lies_at_both_forms_of_its_path(server):
    with server.client(None) as client:
        path = f"/api/v1/kbs/{server.kb}/mcp"
        for where in (f"/.well-known/oauth-protected-resource{path}", "/.well-known/oauth-protected-resource"):
            answer = client.get(where)
            assert answer.status_code == 200, where
            assert answer.json()["resource"].startswith("http")
            assert "offline_access" not in answer.text


def test_15_a_list_is_the_same_each_time_and_as_wide_as_its_reader_may(server):
    def listed(token):
        return modern(server, token, "tools/list").json()["result"]

    first = listed(server.tokens.read)
    assert json.dumps(first) == json.dumps(listed(server.tokens.read))
    assert first["cacheScope"] == "private"
    names = [t["name"] for t in listed(server.tokens.write)["tools"]]
    assert [n for n in names if n not in ("remember", "report_gap")] == [t["name"] for t in first["tools"]]
    assert "remember" in names


def test_16_pages_hold_each_row_once_and_cursors_their_reader(server, scribe):
    for n in range(120):
        scribe.say("Ada", "knows", f"Person {n}")

    def page(token, cursor=None):
        given = {"entity_id": "Ada", "limit": 50, **({"cursor": cursor} if cursor else {})}
        return rpc(server, token, "tools/call", {"name": "entity_facts", "arguments": given}).json()

    seen, cursor = [], None
    while True:
        rows = page(server.tokens.read, cursor)["result"]["structuredContent"]
        seen += [f["id"] for f in rows["facts"]]
        cursor = rows["next_cursor"]
        if not cursor:
            break
    assert len(seen) == len(set(seen)) == 120
    for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list"):
        assert rpc(server, server.tokens.read, method, {"cursor": "garbage"}).json()["error"]["code"] == -32602


def test_17_each_kind_of_failure_has_its_own_form(server):
    def called(name, arguments):
        return rpc(server, server.tokens.read, "tools/call", {"name": name, "arguments": arguments}).json()

    assert called("entity_facts", {})["result"]["isError"] is True
    assert called("entity_facts", {"entity_id": "nobody"})["result"]["isError"] is True
    assert called("drop_tables", {})["error"]["code"] == -32602
    for odd in ({"name": 5}, {}, {"name": "find_entities", "arguments": [1]}, {"name": None, "arguments": {}}):
        answer = rpc(server, server.tokens.read, "tools/call", odd)
        assert answer.json()["error"]["code"] == -32602, (odd, answer.text)
        assert "pydantic" not in answer.text and "Traceback" not in answer.text
        answer = modern(server, server.tokens.read, "tools/call", odd, Mcp_Name=None)
        assert answer.json()["error"]["code"] in (-32602, -32020), (odd, answer.text)
        assert "pydantic" not in answer.text and "Traceback" not in answer.text


def test_18_what_is_structured_keeps_to_its_schema_and_the_text_says_it(server, scribe):
    scribe.say("Ada", "knows", "Žofie 李 🦉")
    tools = {t["name"]: t for t in rpc(server, server.tokens.write, "tools/list").json()["result"]["tools"]}
    asked = {
        "find_entities": {"name": "Ada"},
        "entity_facts": {"entity_id": "Ada"},
        "timeline": {"entity": "Ada"},
        "changes": {"since": "2020"},
        "list_rules": {},
    }
    for name, arguments in asked.items():
        result = rpc(server, server.tokens.read, "tools/call", {"name": name, "arguments": arguments}).json()["result"]
        assert not result.get("isError"), result
        jsonschema.validate(result["structuredContent"], tools[name]["outputSchema"])
    facts = rpc(server, server.tokens.read, "tools/call", {"name": "entity_facts", "arguments": {"entity_id": "Ada"}})
    assert "Žofie 李 🦉" in facts.json()["result"]["content"][0]["text"]


CLIENTS = {
    "Claude Code": ({"User-Agent": "claude-code/2", "MCP-Protocol-Version": "2025-11-25"}, MODERN),
    "Claude Desktop": ({"User-Agent": "Claude/1", "MCP-Protocol-Version": "2025-11-25"}, None),
    "claude.ai connector": ({"User-Agent": "Claude-User", "MCP-Protocol-Version": "2025-11-25"}, MODERN),
    "Cursor": ({"User-Agent": "Cursor/1", "MCP-Protocol-Version": "2025-06-18"}, None),
    "VS Code": ({"User-Agent": "Visual Studio Code", "MCP-Protocol-Version": "2025-06-18"}, None),
    "Codex": ({"User-Agent": "codex_cli_rs", "MCP-Protocol-Version": "2025-06-18"}, None),
    "Gemini CLI": ({"User-Agent": "node", "MCP-Protocol-Version": "2025-03-26"}, None),
    "Inspector": ({"User-Agent": "inspector", "MCP-Protocol-Version": "2026-07-28"}, MODERN),
}


@pytest.mark.parametrize("client", CLIENTS)
def test_the_clients_there_are_list_and_call(server, client):
    headers, meta = CLIENTS[client]
    more = {"_meta": meta} if meta else {}
    newest = headers["MCP-Protocol-Version"] == "2026-07-28"
    listing = {**headers, "Mcp-Method": "tools/list"} if newest else headers
    listed = rpc(server, server.tokens.read, "tools/list", more, headers=listing)
    assert listed.json()["result"]["tools"]
    calling = {**headers, "Mcp-Method": "tools/call", "Mcp-Name": "find_entities"} if newest else headers
    params = {"name": "find_entities", "arguments": {"name": "x"}, **more}
    called = rpc(server, server.tokens.read, "tools/call", params, headers=calling)
    assert called.json()["result"]["structuredContent"]["entities"] == []


def test_15_two_readers_ask_at_once_and_get_the_same(server):
    with ThreadPoolExecutor(8) as pool:
        tokens = [server.tokens.read, server.tokens.viewer] * 4
        listed = list(pool.map(lambda token: rpc(server, token, "tools/list").content, tokens))
    assert len(set(listed)) == 1
