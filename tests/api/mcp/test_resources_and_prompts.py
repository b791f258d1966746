"""Documents and entities as resources of their base alone, and prompts that teach the two clocks."""

from __future__ import annotations

import json

import pytest

from tests.api.mcp.test_protocol import rpc
from tests.ledger_facts import day


def asked(server, method, params=None, token=None):
    return rpc(server, token or server.tokens.read, method, params).json()


def test_a_document_and_an_entity_are_read_as_the_tools_read_them(server, scribe, database):
    said = scribe.document("Ada leads Heron.", filename="memo.md")
    scribe.say("Ada", "leads", "Heron", start=day("2021-01-01"), evidence=said)
    templates = asked(server, "resources/templates/list")["result"]["resourceTemplates"]
    assert [t["uriTemplate"] for t in templates] == [
        f"twoclocks://{server.kb}/documents/{{document_id}}{{?offset,as_of}}",
        f"twoclocks://{server.kb}/entities/{{entity_id}}{{?at,as_of}}",
    ]
    assert asked(server, "resources/list")["result"]["resources"] == []
    uri = f"twoclocks://{server.kb}/documents/{said.document_id}"
    plain, structured = asked(server, "resources/read", {"uri": uri})["result"]["contents"]
    assert "Ada leads Heron." in plain["text"]
    assert json.loads(structured["text"])["sections"][0]["text"] == "Ada leads Heron."
    of = f"twoclocks://{server.kb}/entities/Ada?at=2022"
    plain, structured = asked(server, "resources/read", {"uri": of})["result"]["contents"]
    assert json.loads(structured["text"])["facts"][0]["other_name"] == "Heron"
    early = asked(server, "resources/read", {"uri": of.replace("2022", "2020")})["result"]["contents"]
    assert json.loads(early[1]["text"])["facts"] == []
    server.app.state.access_log.flush()
    with database.read(server.kb) as conn:
        rows = conn.execute("select action from access_events order by id").fetchall()
    assert [r["action"] for r in rows] == ["get_document", "entity_facts", "entity_facts"]


def test_what_is_no_resource_of_this_base_is_not_there(server, scribe):
    said = scribe.document("Ada leads Heron.")
    for uri in (
        f"twoclocks://{server.other_kb}/documents/{said.document_id}",
        f"twoclocks://{server.kb}/people/{said.document_id}",
        f"twoclocks://{server.kb}/documents/{server.kb}",
        f"twoclocks://{server.kb}/documents/{said.document_id}?offset=x",
        f"twoclocks://{server.kb}/documents/{said.document_id}?colour=red",
        f"twoclocks://{server.kb}/entities/Nobody",
        "file:///etc/passwd",
    ):
        answer = asked(server, "resources/read", {"uri": uri})
        assert answer["error"]["code"] == -32602, uri
        assert "red" not in answer["error"]["message"]
    from_elsewhere = rpc(server, server.tokens.elsewhere, "resources/templates/list")
    assert from_elsewhere.status_code == 404


def test_prompts_teach_the_clocks(server):
    listed = asked(server, "prompts/list")["result"]["prompts"]
    assert [p["name"] for p in listed] == ["two_clocks", "what_changed"]
    said = asked(server, "prompts/get", {"name": "two_clocks", "arguments": {"question": "Who led Heron?"}})["result"]
    text = said["messages"][0]["content"]["text"]
    assert "`at`" in text and "`as_of`" in text and text.endswith("Who led Heron?\n")
    said = asked(server, "prompts/get", {"name": "what_changed", "arguments": {"since": "2024"}})["result"]
    assert "since 2024" in said["messages"][0]["content"]["text"]


@pytest.mark.parametrize(
    "params",
    [
        {"name": "nothing"},
        {"name": "what_changed"},
        {"name": "what_changed", "arguments": {"since": " "}},
        {"name": "two_clocks", "arguments": {"since": "2024"}},
    ],
)
def test_a_prompt_that_cannot_be_filled_is_refused(server, params):
    assert asked(server, "prompts/get", params)["error"]["code"] == -32602


def test_prompts_name_tools_that_there_are():
    import re

    from api.mcp import prompts
    from api.mcp.schemas import BY_NAME

    said = prompts._CLOCKS + prompts._CHANGES
    arguments = {name for tool in BY_NAME.values() for name in tool.input["properties"]}
    assert set(re.findall(r"`([a-z_]+)`", said)) <= {*BY_NAME, *arguments}
