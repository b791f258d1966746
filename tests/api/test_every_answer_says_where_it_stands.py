"""Every read says where it stands on the record clock, over REST and over MCP; what has not come is clamped, and said.

===========================================  ==================================================================
any route that reads a base, any tool        then the answer
===========================================  ==================================================================
without ``as_of``                            has ``as_of``, ``seq`` and ``head_hash`` of the head
``as_of=seq:N``                              has those of N
``as_of`` or ``before`` in the future, or a  has those of the head, and ``clamped``
number beyond the head's
``as_of`` in the past                        is not ``clamped``
===========================================  ==================================================================

The routes are those that the application has: one that is new is walked too, or the test fails.
"""

from __future__ import annotations

from collections import defaultdict

import pytest

from api.mcp.schemas import TOOLS
from tests.api.mcp.test_protocol import rpc
from tests.ledger_facts import day

BASE = "/api/v1/kbs/{kb_id}"
NO_READS = {
    f"{BASE}/service-tokens": "what may push, told to the base's admins; not what is believed",
    f"{BASE}/members": "who may do what, told to the base's admins; not what is believed",
    f"{BASE}/access": "who may see the base, told to its admins; not what is believed",
    f"{BASE}/model-budget": "what a model may cost today, not what is believed",
    f"{BASE}/ontology": "the vocabulary as it is edited, not what is believed",
    f"{BASE}/ontology/file": "the same as a file",
    f"{BASE}/ontology/plans/{{plan_id}}": "there is none here; asked in test_ontology_routes",
    f"{BASE}/manual": "the product's own manual, not the base",
}
NO_READING_TOOLS = {"search_docs"}
REQUIRED = {f"{BASE}/diff": {"from_at": "2020", "to_at": "2024"}}


@pytest.fixture
def told(server, scribe, database):
    """What fills the parameters of any route or tool, and the head of each number."""
    spoken = scribe.document("Ada leads Heron.")
    scribe.say("Ada", "leads", "Heron", start=day("2021-01-01"), evidence=spoken)
    scribe.say("Bob", "leads", "Heron", start=day("2023-04-01"))
    with database.read(server.kb) as conn:
        fact = conn.execute(
            "select id from facts where kb_id = %s and predicate_key = 'leads'", (server.kb,)
        ).fetchone()
        heads = conn.execute(
            "select seq, head_hash from ledger_transaction where kb_id = %s order by seq", (server.kb,)
        ).fetchall()
    values = defaultdict(lambda: "Heron") | {
        "kb_id": str(server.kb),
        "document_id": str(spoken.document_id),
        "fact_id": str(fact["id"]),
        "since": "2000",
        "from": "Ada",
        "term_key": "leads",
        "class_key": "person",
    }
    return values, {row["seq"]: bytes(row["head_hash"]).hex() for row in heads}


def reads(server):
    """(path, names of its parameters that must be given) of every GET below a base."""
    for path, methods in server.app.openapi()["paths"].items():
        if path.startswith(BASE) and "get" in methods and path not in NO_READS:
            given = methods["get"].get("parameters", [])
            yield path, {p["name"] for p in given if p.get("required")}, {p["name"] for p in given}


def stands(answer, heads, seq):
    assert {"as_of", "seq", "head_hash"} <= answer.keys()
    assert answer["as_of"].endswith("Z")
    assert (answer["seq"], answer["head_hash"]) == (seq, heads[seq])


def test_over_rest(server, told):
    values, heads = told
    head, walked = max(heads), 0
    with server.client(server.tokens.write) as client:
        for path, required, known in reads(server):
            place = path.format_map(values)
            asked = {n: values[n] for n in required if "{" + n + "}" not in path} | REQUIRED.get(path, {})

            def get(place=place, asked=asked, **more):
                answer = client.get(place, params={**asked, **more})
                assert answer.status_code == 200, (place, more, answer.text)
                return answer.json()

            now = get()
            stands(now, heads, head)
            assert "clamped" not in now
            walked += 1
            if "as_of" in known:
                for ahead in ("2999", "2999-01-01T00:00:00Z", f"seq:{head + 1}"):
                    answer = get(as_of=ahead)
                    stands(answer, heads, head)
                    assert answer["clamped"] is True, (path, ahead)
                stands(get(as_of=f"seq:{head}"), heads, head)
                assert "clamped" not in get(as_of=f"seq:{head}"), path
            if "to_as_of" in known:
                changed = client.get(place, params={"from_as_of": "seq:0", "to_as_of": "2999"}).json()
                stands(changed, heads, head)
                assert changed["clamped"] is True
            if "before" in known:
                assert get(before="2999")["clamped"] is True
    assert walked >= 15


def test_the_head_is_not_the_answer_to_an_earlier_number(server, told):
    values, heads = told
    earlier = max(heads) - 1
    with server.client(server.tokens.read) as client:
        for path in ("/entities/Heron/facts", "/snapshot", "/documents", "/search?query=Heron"):
            sign = "&" if "?" in path else "?"
            url = BASE.format_map(values) + path + sign
            stands(client.get(f"{url}as_of=seq:{earlier}").json(), heads, earlier)
            past = client.get(f"{url}as_of=1999").json()
            assert past.get("seq", 0) == 0 and "clamped" not in past


def test_over_mcp(server, told):
    values, heads = told
    head = max(heads)
    for tool in TOOLS:
        if tool.writes or tool.name in NO_READING_TOOLS:
            continue
        known = tool.input["properties"]
        asked = {n: values[n] for n in tool.input["required"]}

        def call(name=tool.name, asked=asked, **more):
            answer = rpc(server, server.tokens.read, "tools/call", {"name": name, "arguments": {**asked, **more}})
            result = answer.json()["result"]
            assert not result.get("isError"), (name, result)
            return result["structuredContent"], result["content"][0]["text"]

        now, text = call()
        stands(now, heads, head)
        assert "clamped" not in now and "the head, since" not in text and f"seq:{head}" in text
        assert "as_of" in known, tool.name
        for word in ("as_of", "before"):
            if word in known:
                ahead, text = call(**{word: "2999"})
                stands(ahead, heads, head)
                assert ahead["clamped"] is True and "the head, since the record has not come" in text, tool.name


def test_a_page_that_the_characters_end_is_clamped_too(server, scribe):
    for n in range(60):
        scribe.say("Ada", "works_on", f"Project {n} {'of a very long name ' * 40}")
    answer = rpc(
        server,
        server.tokens.read,
        "tools/call",
        {"name": "entity_facts", "arguments": {"entity_id": "Ada", "as_of": "2999", "limit": 60}},
    ).json()["result"]["structuredContent"]
    assert answer["next_cursor"] is not None and answer["clamped"] is True
