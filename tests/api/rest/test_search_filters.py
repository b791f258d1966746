"""Search over REST narrowed by where a passage stands; what cannot be meant is named, what is not known is refused."""

from __future__ import annotations

import pytest

from substrate.documents.intake import PushItem, push, remember
from substrate.documents.stage import run_parse

BY = {"actor": "person:Ada", "via": "rest"}


@pytest.fixture
def filled(server, database, kb):
    items = [
        PushItem("old", "old.md", b"The old crate.", "2019-05", "store"),
        PushItem("new", "new.md", b"The new crate.", "2023-07-04", ""),
    ]
    results = push(database, kb, items, source="office", **BY)
    run_parse(database, kb)
    remember(database, kb, "A crate of memory.", **BY)
    return {item.external_id: str(result.document_id) for item, result in zip(items, results, strict=True)}


def test_each_filter_leaves_what_it_names(server, filled):
    cases = [
        ({}, {"The old crate.", "The new crate.", "A crate of memory."}),
        ({"namespace": "store"}, {"The old crate."}),
        ({"source": ["office"]}, {"The old crate.", "The new crate."}),
        ({"type": ["memory"]}, {"A crate of memory."}),
        ({"type": ["text/markdown", "memory"]}, {"The old crate.", "The new crate.", "A crate of memory."}),
        ({"since": "2020"}, {"The new crate."}),
        ({"until": "2019-05"}, {"The old crate."}),
        ({"document_id": [filled["new"]]}, {"The new crate."}),
        ({"document_id": [filled["new"]], "namespace": "store"}, set()),
        ({"phrase": "old crate"}, {"The old crate."}),
        ({"phrase": "crate old"}, set()),
        ({"without": ["memory", "old"]}, {"The new crate."}),
        ({"title": "new.md"}, {"The new crate."}),
        ({"query": '"old crate"', "operators": "true"}, {"The old crate."}),
        ({"query": "crate -memory type:text/markdown -old", "operators": "true"}, {"The new crate."}),
        ({"query": "lactose enzyme", "min_score": 0.05}, set()),
        ({"min_score": 0}, {"The old crate.", "The new crate.", "A crate of memory."}),
        ({"query": "crate -memory -old"}, {"The old crate.", "The new crate.", "A crate of memory."}),
    ]
    with server.client(server.tokens.viewer) as client:
        for params, left in cases:
            answer = client.get(f"/api/v1/kbs/{server.kb}/search", params={"query": "crate", **params})
            assert answer.status_code == 200 and {c["text"] for c in answer.json()["chunks"]} == left, params


@pytest.mark.parametrize(
    ("params", "status", "field"),
    [
        ({"document_id": "x"}, 422, "document_id"),
        ({"source": "nowhere"}, 404, "source"),
        ({"entity": "Nobody"}, 404, "entity"),
        ({"since": "soon"}, 422, "since"),
        ({"since": "2024", "until": "2020"}, 422, "until"),
        ({"colour": "red"}, 422, "colour"),
        ({"phrase": "?!"}, 422, "phrase"),
        ({"without": ""}, 422, "without"),
        ({"min_score": 2}, 422, "min_score"),
        ({"query": "-crate", "operators": "true"}, 422, "query"),
        ({"query": "crate source:nowhere", "operators": "true"}, 404, "source"),
    ],
)
def test_what_cannot_be_meant_is_named(server, params, status, field):
    with server.client(server.tokens.read) as client:
        answer = client.get(f"/api/v1/kbs/{server.kb}/search", params={"query": "crate", **params})
    assert (answer.status_code, answer.json()["field"]) == (status, field), answer.text


def test_another_bases_source_and_document_are_not_there(server, filled):
    with server.client(server.tokens.write) as client:
        at = f"/api/v1/kbs/{server.other_kb}/search"
        assert client.get(at, params={"query": "crate", "source": "office"}).status_code == 404
        elsewhere = client.get(at, params={"query": "crate", "document_id": filled["new"]})
        assert elsewhere.json()["chunks"] == []
