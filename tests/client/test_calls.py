"""Every method of both clients against the served API, on both sides of what it tells."""

from __future__ import annotations

import types
from datetime import UTC, date, datetime
from typing import Any, Literal, get_args, get_origin, get_type_hints, is_typeddict

import httpx
import pytest
import twoclocks
from twoclocks import Client, answers

from tests.client.conftest import Face


def shaped(shape, answer):
    """The answer, held to its declared shape."""
    assert is_shaped(shape, answer), answer
    return answer


def is_shaped(kind, value):
    """Is the value of the type, all the way down?"""
    origin, inner = get_origin(kind), get_args(kind)
    if is_typeddict(kind):
        return all(n in value and is_shaped(k, value[n]) for n, k in get_type_hints(kind).items())
    if origin is list:
        return isinstance(value, list) and all(is_shaped(inner[0], item) for item in value)
    if origin is types.UnionType:
        return any(is_shaped(one, value) for one in inner)
    if origin is Literal:
        return value in inner
    if kind is float:
        return type(value) in (int, float)
    return kind is Any or type(value) is (origin or kind)


def test_facts_on_both_clocks(ask, led):
    first, head = led
    now = shaped(answers.Facts, ask("facts", "Heron", at="2024"))
    assert [f["other_name"] for f in now["facts"]] == ["Bob"]
    assert now["seq"] == head
    then = ask("facts", "Heron", at=date(2024, 1, 1), as_of=f"seq:{first}")
    assert [f["other_name"] for f in then["facts"]] == ["Ada"]
    with pytest.raises(twoclocks.NotFound, match="as of seq 0"):
        ask("facts", "Heron", before=datetime(2000, 1, 1, tzinfo=UTC))


def test_a_pinned_view_stays_where_it_is(ask, led):
    first, head = led
    pinned = ask.at(f"seq:{first}")
    assert [f["other_name"] for f in pinned("facts", "Heron", at="2024")["facts"]] == ["Ada"]
    assert pinned("neighbors", "Heron")["seq"] == first
    assert pinned("timeline", "Heron")["seq"] == first
    assert [r["other_name"] for r in pinned("iter_timeline", "Heron")] == ["Ada"]
    assert pinned("context", "Who leads Heron?")["seq"] == first
    assert pinned("facts", "Heron", as_of=f"seq:{head}")["seq"] == head
    assert ask("facts", "Heron")["seq"] == head


def test_at_seq_shares_the_connections(server, led):
    with Client(server.url, server.tokens.read, kb=str(server.kb)) as client:
        view = client.at_seq(led[0])
        assert view.facts("Heron")["seq"] == led[0]
        assert client.facts("Heron")["seq"] == led[1]


def test_links_reasons_and_changes(ask, led):
    links = shaped(answers.Neighbors, ask("neighbors", "Heron", at="2024"))
    assert [n["name"] for n in links["neighbors"]] == ["Bob"]
    chains = shaped(answers.Paths, ask("paths", "Ada", "Egret"))
    assert chains["paths"][0]["hops"] == 3
    assert ask("paths", "Ada", "Egret", max_hops=2)["paths"] == []
    fact = shaped(answers.Timeline, ask("timeline", "Ada"))["facts"][0]
    why = shaped(answers.Explanation, ask("explain", fact["id"]))
    assert why["evidence"][0]["quote"] == "Ada leads Heron."
    learned = shaped(answers.Changes, ask("changes", "2020"))
    assert {c["kind"] for c in learned["changes"]} == {"asserted", "corrected"}
    assert {c["kind"] for c in ask("changes", "2020", kinds="corrected")["changes"]} == {"corrected"}
    assert ask("changes", "2020", until="2021")["changes"] == []


def test_search_context_and_documents(ask, led):
    found = shaped(answers.Search, ask("search", "Ada leads Heron"))
    assert found["chunks"][0]["filename"] == "memo.md"
    assert ask("search", "Ada leads Heron", phrase=["Heron leads"])["chunks"] == []
    assert ask("search", "Ada leads Heron", title="memo")["chunks"] != []
    assert ask("search", "Ada leads Heron", min_score=0.0)["chunks"] != []
    with pytest.raises(twoclocks.InvalidInput):
        ask("search", "Ada leads Heron", min_score=2.0)
    packed = shaped(answers.Context, ask("context", "Who leads Heron?", budget_tokens=500))
    assert packed["used_tokens"] <= 500 and packed["facts"]
    assert shaped(answers.Entities, ask("entities", "Her"))["entities"][0]["name"] == "Heron"
    listed = shaped(answers.Documents, ask("documents"))
    document = shaped(answers.DocumentText, ask("document", listed["documents"][0]["document_id"]))
    assert document["sections"][0]["text"] == "Ada leads Heron."


def test_push_and_remember_are_seen_afterwards(ask):
    assert ask("documents")["documents"] == []
    texts = [twoclocks.Document("a.md", "Ada leads Heron.", doc_time=date(2022, 1, 1))]
    pushed = shaped(answers.Push, ask("push", [*texts, twoclocks.Document("b.txt", b"Bob leads Egret.")]))
    assert [d["action"] for d in pushed["documents"]] == ["created", "created"]
    assert [d["action"] for d in ask("push", texts)["documents"]] == ["unchanged"]
    assert {d["external_id"] for d in ask("iter_documents")} == {"a.md", "b.txt"}

    assert shaped(answers.ReviewStatus, ask("review_status", idempotency_key="k1"))["recorded"] == []
    kept = shaped(answers.Remembered, ask("remember", "Cleo leads Egret.", idempotency_key="k1"))
    again = ask("remember", "Cleo leads Egret.", idempotency_key="k1")
    assert again["document_id"] == kept["document_id"]
    [recorded] = shaped(answers.ReviewStatus, ask("review_status", idempotency_key="k1"))["recorded"]
    assert recorded["sentence"] == "Cleo leads Egret."


def test_iterators_go_over_every_page(ask, scribe):
    for number in range(7):
        scribe.say("Ada", "works_on", f"Project {number}")
    whole = [f["id"] for f in ask("facts", "Ada")["facts"]]
    assert len(whole) == 7
    assert [f["id"] for f in ask("iter_facts", "Ada", limit=3)] == whole
    assert len(ask("facts", "Ada", limit=3)["facts"]) == 3
    assert len(ask("iter_neighbors", "Ada", limit=2)) == 7
    assert len(ask("iter_changes", "2020", limit=2)) == 7


def test_refusals_are_errors_that_name_the_field(kind, server, led):
    document = [twoclocks.Document("a.md", "x")]
    for token, name, given, error, field in [
        ("nonsense", "facts", "Heron", twoclocks.Unauthenticated, None),
        ("elsewhere", "facts", "Heron", twoclocks.NotFound, "kb_id"),
        ("read", "facts", "Nobody at all", twoclocks.NotFound, "entity"),
        ("read", "changes", "yesterday", twoclocks.InvalidInput, "since"),
        ("read", "push", document, twoclocks.Forbidden, None),
        ("read", "remember", "x", twoclocks.Forbidden, None),
    ]:
        ask = Face(kind, server.url, getattr(server.tokens, token), str(server.kb))
        with pytest.raises(error) as raised:
            ask(name, given)
        assert raised.value.field == field, (token, name)
    assert Face(kind, server.url, server.tokens.write, str(server.kb))("remember", "x")["status"]


def test_an_entity_may_have_any_name(ask, scribe):
    scribe.say("A/B 50% #1?", "works_on", "Ünïcode")
    assert ask("facts", "A/B 50% #1?")["entity"]["name"] == "A/B 50% #1?"
    assert len(ask("iter_timeline", "A/B 50% #1?")) == 0
    assert len(ask("iter_facts", "A/B 50% #1?", limit=1)) == 1
    with pytest.raises(twoclocks.InvalidInput, match="no entity"):
        ask("facts", "../entities")


def test_a_datetime_without_zone_is_refused(ask):
    with pytest.raises(ValueError, match="has no time zone"):
        ask("facts", "Heron", as_of=datetime(2024, 1, 1))  # noqa: DTZ001


def test_urls_of_a_server_and_of_an_endpoint_are_the_same(server, led):
    for url, kb in [
        (server.url, str(server.kb)),
        (f"{server.url}/api/v1", str(server.kb)),
        (f"{server.url}/api/v1/kbs/{server.kb}/mcp", ""),
    ]:
        with Client(url, server.tokens.read, kb=kb) as client:
            assert client.entities("Heron")["entities"]
    with pytest.raises(ValueError, match="which base"):
        Client(server.url)
    with pytest.raises(ValueError, match="names one base"):
        Client(f"{server.url}/api/v1/kbs/{server.kb}/mcp", kb="another")


LOST_AFTER = object()
"""The server does what it is asked, and its answer does not come through."""


def _behind(kind, answers_first):
    """A transport of either kind that gives these responses before it reaches the server."""
    left, seen = list(answers_first), []

    def first(request):
        seen.append(request)
        found = left.pop(0) if left else None
        if isinstance(found, Exception):
            raise found
        return found

    class Sync(httpx.HTTPTransport):
        def handle_request(self, request):
            found = first(request)
            if found is LOST_AFTER:
                super().handle_request(request).read()
                raise httpx.ReadError("the answer was lost")
            return found or super().handle_request(request)

    class Async(httpx.AsyncHTTPTransport):
        async def handle_async_request(self, request):
            found = first(request)
            if found is LOST_AFTER:
                await (await super().handle_async_request(request)).aread()
                raise httpx.ReadError("the answer was lost")
            return found or await super().handle_async_request(request)

    return (Async() if kind == "async" else Sync()), seen


def test_what_passes_is_asked_again_and_what_stays_is_told(kind, server, led):
    def face(*first, **more):
        transport, seen = _behind(kind, first)
        return Face(kind, server.url, server.tokens.write, str(server.kb), transport=transport, **more), seen

    busy, lost = httpx.Response(503, headers={"Retry-After": "0"}), httpx.ConnectError("refused")
    ask, seen = face(busy, lost, httpx.Response(429, headers={"Retry-After": "0"}))
    assert ask("remember", "Dora leads Teal.")["status"]
    assert len(seen) == 4

    ask, seen = face(LOST_AFTER, LOST_AFTER)
    kept = ask("remember", "Emil leads Crane.")
    assert len(seen) == 3
    memories = [d["document_id"] for d in ask("documents", kind="memory")["documents"]]
    assert memories.count(kept["document_id"]) == 1 and len(memories) == 2, "one key, or it is recorded twice"

    ask, seen = face(httpx.Response(429, headers={"Retry-After": "3600"}))
    with pytest.raises(twoclocks.TooManyCalls) as raised:
        ask("facts", "Heron")
    assert (raised.value.retry_after, len(seen)) == (3600, 1)

    ask, seen = face(busy, busy, retries=1)
    with pytest.raises(twoclocks.Unavailable):
        ask("facts", "Heron")
    assert len(seen) == 2

    ask, seen = face(httpx.Response(500))
    with pytest.raises(twoclocks.Unavailable):
        ask("facts", "Heron")
    assert len(seen) == 1

    ask, seen = face(httpx.Response(200, text="<html>"))
    with pytest.raises(twoclocks.Unavailable, match="is this a Twoclocks server"):
        ask("facts", "Heron")


def test_no_server_is_told_as_such(kind):
    ask = Face(kind, "http://127.0.0.1:9", "x", "0", retries=0)
    with pytest.raises(twoclocks.ConnectionFailed):
        ask("facts", "Heron")
