"""Every route and every tool, asked with what belongs to another base, by callers of every kind: nothing of it shows.

Calls are made from the application's own description of itself, so that a route or a tool that comes later is asked
too. The other base is full of one word that stands nowhere else.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.rows import dict_row

from substrate import access
from substrate.db import EVERY_BASE
from substrate.documents import intake
from substrate.ledger import open_door
from substrate.ontology.store import declare
from substrate.ontology.terms import parse_ontology
from substrate.pipeline import Services, run_step
from tests.ledger_facts import ONTOLOGY, Scribe, day, money
from tests.waiting import until

CANARY = "zqcanary"
WORDS = {
    "name": "Heron",
    "entity": "Heron",
    "query": "Heron leads",
    "since": "2020",
    "from_as_of": "2020",
    "external_id": "nothing of that name",
    "relation": "leads",
    "text": "Nobody leads Nothing.",
    "as_of": "seq:1",
}
ENTITIES = ("entity", "from", "to")
"""Parameters that take an entity's id as well as a name."""
BY = {"actor": "person:Ada", "via": "rest"}
Call = tuple[str, str, dict[str, Any] | None]


@pytest.fixture
def foreign(server, database, settings, dsn) -> dict[str, UUID]:
    """An id of each table of the other base, after a life that leaves the canary in all of them."""
    kb = server.other_kb
    scribe = Scribe(database, kb)
    Scribe(database, server.kb).say("Ada", "leads", "Heron", start=day("2021-01-01"))
    words = ONTOLOGY.replace("label: Person", f"label: {CANARY} person").replace(
        "label: leads", f"label: {CANARY} leads"
    )
    with database.write(kb) as conn, open_door(conn, kb, **BY, action=f"{CANARY} declared") as door:
        declare(door, parse_ontology(words))
    said = f"{CANARY} Ada leads Heron."
    evidence = scribe.document(said, filename=f"{CANARY}.md", doc_time=day("2022-01-01"))
    scribe.say(f"Ada {CANARY}", "leads", "Heron", start=day("2021-01-01"), evidence=evidence)
    scribe.say(f"Bela {CANARY}", "works_on", "Heron")
    scribe.say(f"Bela {CANARY}", "salary", money(f"5 EUR {CANARY}", "5"))
    scribe.say(f"Cora {CANARY}", "works_on", "Heron")
    intake.push(database, kb, [intake.PushItem(CANARY, f"{CANARY}.txt", said.encode())], **BY)
    gone = intake.push(database, kb, [intake.PushItem(f"{CANARY} gone", f"{CANARY}2.txt", said.encode())], **BY)
    for sentence in (f"Dora {CANARY} leads Heron.", f"Emil {CANARY} leads Heron."):
        intake.remember(database, kb, sentence, author=CANARY, **BY)
    with Services(settings) as services:
        for step in ("parse", "claims", "entities", "facts"):
            run_step(database, kb, services, step)
    intake.delete(database, kb, document_id=gone[0].document_id, why=CANARY, **BY)
    with psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as owner:
        ids = dict(_entities(owner, kb))
        scribe.merge(ids[f"Ada {CANARY}"], ids[f"Cora {CANARY}"])
        held = owner.execute("select id from facts where kb_id = %s and predicate_key = 'works_on'", (kb,)).fetchone()
        scribe.reject(held["id"])
        owner.execute("update kb set name = %s where id = %s", (CANARY, kb))
        return dict(_an_id_of_each_table(owner, kb))


def _entities(owner, kb: UUID) -> Iterator[tuple[str, UUID]]:
    for row in owner.execute("select id, label from entities where kb_id = %s", (kb,)).fetchall():
        yield row["label"], row["id"]


def _an_id_of_each_table(owner, kb: UUID) -> Iterator[tuple[str, UUID]]:
    tables = owner.execute(
        """select c.relname as name from pg_class c
           join pg_attribute k on k.attrelid = c.oid and k.attname = 'kb_id'
           join pg_attribute i on i.attrelid = c.oid and i.attname = 'id' and i.atttypid = 'uuid'::regtype
           where c.relkind = 'r' order by c.relname"""
    ).fetchall()
    for table in tables:
        row = owner.execute(f"select id from {table['name']} where kb_id = %s order by id limit 1", (kb,)).fetchone()
        if row is not None:
            yield table["name"], row["id"]


def _schema(api: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        schema = api["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return _schema(api, next(s for s in schema[several] if s.get("type") != "null"))
    return schema


def _value(api: dict[str, Any], schema: dict[str, Any], name: str, an_id: UUID) -> Any:
    """What a caller might send for a parameter or a field; every id is `an_id`."""
    schema = _schema(api, schema)
    if "const" in schema or "enum" in schema:
        return schema.get("const", (schema.get("enum") or [None])[0])
    kind = schema.get("type")
    if kind == "object":
        return {n: _value(api, s, n, an_id) for n, s in schema.get("properties", {}).items()}
    if kind == "array":
        return [_value(api, schema["items"], name, an_id)]
    if kind == "string":
        if schema.get("format") == "uuid" or (name.endswith("_id") and name != "external_id"):
            return str(an_id)
        return WORDS.get(name, "2021" if "valid" in name or "time" in name else "leads")
    return {"integer": 1, "number": 1, "boolean": True}.get(kind, "x")


def calls(api: dict[str, Any], an_id: UUID) -> Iterator[Call]:
    """Each route of a base, with ids that are `an_id`: as method, path below the base, and body."""
    for path, methods in sorted(api["paths"].items()):
        tail = path.removeprefix("/api/v1/kbs/{kb_id}")
        if tail == path:
            continue
        for method, route in sorted(methods.items()):
            asked, query = tail, []
            for parameter in route.get("parameters", ()):
                name, schema = parameter["name"], parameter["schema"]
                value = _value(api, schema, name, an_id)
                if parameter["in"] == "path":
                    asked = asked.replace(f"{{{name}}}", str(an_id) if name in ENTITIES else str(value))
                elif parameter["required"] or name in ("entity", "fact_id"):
                    query.append(f"{name}={an_id if name in ENTITIES else value}")
            assert "{" not in asked, f"{path} has a parameter that it does not describe"
            content = route.get("requestBody", {}).get("content", {})
            schema = content.get("application/json", {}).get("schema")
            body = None if schema is None else _value(api, schema, "body", an_id)
            yield method.upper(), asked + ("?" + "&".join(query) if query else ""), body


def tool_calls(client, kb: UUID, an_id: UUID) -> Iterator[dict[str, Any]]:
    """A call of each tool that the caller is shown, with ids that are `an_id`."""
    listed = _rpc(client, kb, "tools/list", {}).json()["result"]["tools"]
    for tool in listed:
        schema = tool["inputSchema"]
        wanted = {n: s for n, s in schema["properties"].items() if n in schema.get("required", ()) or n.endswith("_id")}
        if tool["name"] != "remember":  # what is written is the caller's own
            given = {n: _value({}, s, n, an_id) for n, s in wanted.items()}
            yield {"name": tool["name"], "arguments": given}
            if by_name := [n for n in ENTITIES if n in wanted]:
                yield {"name": tool["name"], "arguments": given | dict.fromkeys(by_name, str(an_id))}


def _rpc(client, kb: UUID, method: str, params: dict[str, Any]):
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {"Accept": "application/json, text/event-stream"}
    return client.post(f"/api/v1/kbs/{kb}/mcp", json=message, headers=headers)


class Asked:
    """Answers of the application, counted, and each looked through for the canary."""

    def __init__(self, server) -> None:
        self.server, self.count = server, 0
        self.leaks: list[object] = []

    def __call__(self, client, kb: UUID | str, call: Call):
        method, tail, body = call
        return self.clean(client.request(method, f"/api/v1/kbs/{kb}{tail}", json=body), call)

    def tool(self, client, kb: UUID, params: dict[str, Any]):
        return self.clean(_rpc(client, kb, "tools/call", params), params)

    def clean(self, answer, call: object):
        self.count += 1
        if CANARY in answer.text.casefold() or CANARY in str(answer.headers).casefold():
            self.leaks.append((call, answer.text[:500]))
        assert answer.status_code != 500, (call, answer.text[:500])
        return answer


def _but_for(answer, an_id: UUID) -> tuple[int, str]:
    return answer.status_code, answer.text.replace(str(an_id), "ID")


def _but_for_ids(params: dict[str, Any], an_id: UUID) -> str:
    return str(params).replace(str(an_id), "ID")


def _stands(dsn: str, kb: UUID) -> list[Any]:
    """Where a base stands: its head, and how many rows each table has of it."""
    with psycopg.connect(dsn, autocommit=True) as owner:
        found: list[Any] = [owner.execute("select seq, hash from kb_head where kb_id = %s", (kb,)).fetchone()]
        named = (
            "select c.oid::regclass::text from pg_class c join pg_attribute a on a.attrelid = c.oid "
            "where c.relkind = 'r' and a.attname = 'kb_id' and c.relname not in ('access_events', 'audit_seals', "
            "'gaps', 'gap_askers') "  # of questions that its own readers put
            "order by 1"
        )
        for (table,) in owner.execute(named).fetchall():
            found.append((table, owner.execute(f"select count(*) from {table} where kb_id = %s", (kb,)).fetchone()))
        return found


def test_nothing_of_another_base_shows_anywhere(server, database, dsn, foreign, caplog, record_property):
    api, kb, other = server.app.openapi(), server.kb, server.other_kb
    assert len(foreign) >= 10, sorted(foreign)
    before = _stands(dsn, other)
    with database.write(EVERY_BASE) as conn:
        person = access.person_named(conn, "Ada")
        home = access.issue_token(conn, person, "home", scope="write", kb_ids=[kb]).secret
    ask = Asked(server)
    _the_word_would_be_seen(server, api, foreign)
    caplog.clear()
    caplog.set_level(logging.DEBUG)
    logging.getLogger("httpx").setLevel(logging.WARNING)
    with server.client(home) as at_home, server.client(server.tokens.judge) as both, server.client(None) as nobody:
        for client in (at_home, both):
            _own_base_with_foreign_ids(ask, client, kb, api, foreign)
        _the_other_base(ask, at_home, other, api, foreign)
        for call in calls(api, foreign["facts"]):
            assert ask(nobody, kb, call).status_code == ask(nobody, other, call).status_code == 401
        _tools_of_nobody(ask, nobody, both, at_home, kb, other, foreign["facts"])
        _resources(ask, at_home, kb, other, foreign)
        _foreign_cursors(ask, server, at_home, both, api, foreign)
    _revoked_while_they_are_served(ask, server, dsn, database, api, foreign)
    record_property("calls", ask.count)
    record_property("leaks", len(ask.leaks))
    assert ask.leaks == []
    assert ask.count >= 1000
    assert CANARY not in caplog.text
    assert _stands(dsn, other) == before


def _the_word_would_be_seen(server, api, foreign) -> None:
    """By those who may: otherwise nothing here would mean anything."""
    seen = []
    with server.client(server.tokens.elsewhere) as client:
        for method, tail, body in chain(calls(api, foreign["entities"]), calls(api, foreign["facts"])):
            if method == "GET":
                answer = client.request(method, f"/api/v1/kbs/{server.other_kb}{tail}", json=body)
                if CANARY in answer.text.casefold():
                    seen.append(tail)
        for params in tool_calls(client, server.other_kb, foreign["entities"]):
            if CANARY in _rpc(client, server.other_kb, "tools/call", params).text.casefold():
                seen.append(params["name"])
    assert len(set(seen)) >= 14, sorted(set(seen))
    assert {"entity_facts", "timeline", "changes"} <= set(seen)


def _own_base_with_foreign_ids(ask: Asked, client, kb: UUID, api, foreign: dict[str, UUID]) -> None:
    """An id of another base is answered like one that is nobody's."""
    made_up = uuid4()
    plain = {(m, t.replace(str(made_up), "ID")): ask(client, kb, (m, t, b)) for m, t, b in calls(api, made_up)}
    tools = {_but_for_ids(p, made_up): ask.tool(client, kb, p) for p in tool_calls(client, kb, made_up)}
    for an_id in foreign.values():
        for method, tail, body in calls(api, an_id):
            key = (method, tail.replace(str(an_id), "ID"))
            if str(an_id) in f"{tail}{body}":
                answer = ask(client, kb, (method, tail, body))
                assert _but_for(answer, an_id) == _but_for(plain[key], made_up), (key, answer.text)
        for params in tool_calls(client, kb, an_id):
            if str(an_id) in str(params):
                answer = ask.tool(client, kb, params)
                assert _but_for(answer, an_id) == _but_for(tools[_but_for_ids(params, an_id)], made_up), params


def _the_other_base(ask: Asked, client, other: UUID, api, foreign: dict[str, UUID]) -> None:
    """By its id and by its slug it is as absent as one that is not there."""
    for an_id in (foreign["facts"], foreign["documents"]):
        for call in calls(api, an_id):
            said = {ask(client, base, call).text for base in (other, uuid4(), "other")}
            assert len(said) == 1, said
    for method in ("tools/list", "initialize", "resources/list"):
        assert ask.clean(_rpc(client, other, method, {}), method).status_code == 404
    assert [b["slug"] for b in ask.clean(client.get("/api/v1/kbs"), "kbs").json()["kbs"]] == ["test"]


def _tools_of_nobody(ask: Asked, nobody, both, at_home, kb: UUID, other: UUID, an_id: UUID) -> None:
    """Without a token, and for who does not belong to the base, a tool is no tool."""
    for params in tool_calls(both, other, an_id):
        for base in (kb, other):
            assert ask.tool(nobody, base, params).status_code == 401
        assert ask.tool(at_home, other, params).status_code == 404


def _resources(ask: Asked, at_home, kb: UUID, other: UUID, foreign: dict[str, UUID]) -> None:
    """A resource of another base, by whichever base it is named under, is one that is not there."""
    made_up = uuid4()

    def read(base: UUID, kind: str, an_id: UUID):
        params = {"uri": f"twoclocks://{base}/{kind}/{an_id}"}
        return _but_for(ask.clean(_rpc(at_home, kb, "resources/read", params), params), an_id)

    for kind in ("documents", "entities"):
        for an_id in foreign.values():
            assert read(kb, kind, an_id) == read(kb, kind, made_up)
        assert read(other, kind, foreign[kind]) == read(other, kind, made_up)


def _foreign_cursors(ask: Asked, server, at_home, both, api, foreign) -> None:
    """Where a page of the other base ended is no place in this one."""
    met = 0
    for method, tail, body in calls(api, foreign["entities"]):
        if method != "GET":
            continue
        mark = "&" if "?" in tail else "?"
        page = both.get(f"/api/v1/kbs/{server.other_kb}{tail}{mark}limit=1")
        cursor = page.json().get("next_cursor") if page.status_code == 200 else None
        if cursor:
            met += 1
            for client in (at_home, both):
                with_cursor = (method, f"{tail}{mark}limit=1&cursor={cursor}", body)
                assert ask(client, server.kb, with_cursor).status_code in (404, 422)
    assert met >= 5


def _revoked_while_they_are_served(ask: Asked, server, dsn, database, api, foreign) -> None:
    """The gate let them in, their token is revoked, and only then do they read."""
    reads = [c for c in calls(api, foreign["entities"]) if c[0] == "GET"]
    waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
    with (
        psycopg.connect(dsn) as owner,
        psycopg.connect(dsn, autocommit=True) as watcher,
        server.client(server.tokens.judge) as client,
        ThreadPoolExecutor(16) as pool,
    ):
        owner.execute("lock table kb_head in access exclusive mode")
        answers = [pool.submit(ask, client, server.kb, call) for call in reads]
        until(lambda: watcher.execute(waiting).fetchone()[0] >= 4)
        with database.write(EVERY_BASE) as conn:
            conn.execute("update tokens set revoked_at = clock_timestamp() where name = 'judge'")
        owner.rollback()
        told = [answer.result().status_code for answer in answers]
    assert set(told) <= {200, 401, 403, 404, 422}
    assert 401 in told or len(reads) <= 16
    with server.client(server.tokens.judge) as client:
        assert {ask(client, server.kb, call).status_code for call in reads} == {401}
