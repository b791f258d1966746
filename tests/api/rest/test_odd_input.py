"""What looks valid and cannot be held or counted is refused by field, and never a crash."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from api.cli.main import main

LAST, FIRST = "9999-12-31T23:59:59.999999Z", "0001-01-01T00:00:00+01:00"


@pytest.fixture
def api(server):
    with server.client(server.tokens.write) as client:
        yield lambda method, tail, **options: client.request(method, f"/api/v1/kbs/{server.kb}{tail}", **options)


def test_moments_at_the_ends_of_the_calendar_are_refused_by_parameter(api, scribe):
    scribe.say("Ada", "works_on", "Heron")
    for field, value in (("at", LAST), ("at", FIRST), ("as_of", FIRST), ("before", "0001"), ("before", FIRST)):
        answer = api("GET", "/entities/Ada/facts", params={field: value})
        assert (answer.status_code, answer.json()["field"]) == (422, field), value
    for tail in ("/entities/Ada/facts", "/entities/Ada/timeline"):
        assert api("GET", tail, params={"until": LAST}).json()["field"] == "until"
    assert api("GET", "/changes", params={"since": FIRST}).json()["field"] == "since"
    for at in ("9999", "9999-12-31", "9999-12-31T23:59:59Z", "0001", "0001-01-01T00:00:00Z"):
        assert api("GET", "/entities/Ada/facts", params={"at": at}).status_code == 200, at
    assert api("GET", "/entities/Ada/facts", params={"before": "0002"}).status_code == 404


def test_query_and_path_parameters_with_nul_are_refused_by_name(api, scribe):
    scribe.say("Ada", "works_on", "Heron")
    for tail, field in (
        ("/entities?name=a%00b", "name"),
        ("/entities/a%00b/facts", "entity"),
        ("/entities/Ada/facts?predicate=a%00", "predicate"),
        ("/entities/Ada/facts?object_type=%00", "object_type"),
        ("/search?query=a%00b", "query"),
        ("/changes?since=2020&entity=%00", "entity"),
        ("/changes?since=2020&kinds=asserted&kinds=%00", "kinds"),
    ):
        answer = api("GET", tail)
        assert (answer.status_code, answer.json()["field"]) == (422, field), tail
    answer = api("DELETE", "/documents?external_id=x&why=a%00")
    assert (answer.status_code, answer.json()["field"]) == (422, "why")


@pytest.mark.parametrize("bad", ['"a\\u0000b"', '"a\\ud800b"'])
def test_bodies_that_postgres_cannot_hold_are_refused_by_field(api, scribe, server, bad):
    scribe.say("Ada", "works_on", "Heron")
    [fact] = api("GET", "/entities/Ada/facts").json()["facts"]
    headers = {"Content-Type": "application/json"}
    document = f'{{"documents": [{{"external_id": "a", "filename": {bad}, "content": "x"}}]}}'
    for tail, body, field in (
        (f"/facts/{fact['id']}/reject", f'{{"why": {bad}}}', "why"),
        ("/documents", document, "documents.0.filename"),
    ):
        answer = api("POST", tail, content=body, headers=headers)
        assert (answer.status_code, answer.json()["field"]) == (422, field)
    with server.client(server.tokens.write) as client:
        answer = client.post("/api/v1/kbs", content=f'{{"slug": "x", "name": {bad}}}', headers=headers)
        assert (answer.status_code, answer.json()["field"]) == (422, "name")
        answer = client.post("/api/v1/kbs", content=f'{{"slug": "x", "name": "X", {bad}: 1}}', headers=headers)
        assert (answer.status_code, answer.json()["title"]) == (422, "invalid_input")
    assert api("GET", "/entities/Ada/facts").json()["facts"][0]["id"] == fact["id"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("attributes: [1]", "attributes"),
        ("attributes: 5", "attributes"),
        ("attributes: {a: 1}", "attributes"),
        ("relations: 5\nattributes: []", "relations"),
        ("classes:\n  - {key: person, label: 2024-13-45}", "YAML"),
        ('classes:\n  - {key: person, label: "a\\0b"}', "label"),
        ('classes:\n  - {key: person, label: "a\\ud800b"}', "line 2"),
        ('classes:\n  - {key: person, label: P, aliases: ["a\\0b"]}', "aliases"),
        ("[" * 5000, "YAML"),
    ],
)
def test_an_ontology_of_the_wrong_shape_is_refused(api, text, said):
    answer = api("PUT", "/ontology", content=text.encode())
    assert answer.status_code == 422, answer.text
    assert said in answer.json()["detail"]


@pytest.mark.parametrize("bad", [r"a\u0000b", r"a\ud800b"])
def test_tool_arguments_that_postgres_cannot_hold_are_tool_errors(server, bad):
    for tool, name, more in (
        ("find_entities", "name", ""),
        ("entity_facts", "entity_id", ""),
        ("timeline", "predicate", '"entity": "x", '),
        ("search_chunks", "query", ""),
        ("remember", "text", ""),
        ("remember", "idempotency_key", '"text": "x", '),
        ("find_entities", "as_of", '"name": "x", '),
    ):
        arguments = f'{{{more}"{name}": "{bad}"}}'
        said = _call(server, tool, arguments)
        assert f"{name} must not hold a NUL character" in said or "not valid Unicode" in said or "-32700" in said
    assert "-32603" not in _call(server, "find_entities", f'{{"name": "x", "{bad}": 1}}')


def _call(server, tool, arguments):
    params = f'{{"name": "{tool}", "arguments": {arguments}}}'
    body = f'{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {params}}}'
    with server.client(server.tokens.write) as client:
        answer = client.post(
            f"/api/v1/kbs/{server.kb}/mcp",
            content=body,
            headers={"Accept": "application/json, text/event-stream", "Content-Type": "application/json"},
        )
    assert answer.status_code in (200, 400), answer.text
    assert "-32603" not in answer.text
    return answer.text


def test_an_argument_of_a_command_that_is_no_text_is_one_line(dsn, tmp_path):
    environment = {"TWOCLOCKS_DATABASE_URL": dsn, "TWOCLOCKS_DATA_DIR": str(tmp_path)}
    done = CliRunner().invoke(main, ["facts", "a\udcffb"], env=environment)
    assert done.exit_code == 1
    assert "not valid Unicode" in done.output
