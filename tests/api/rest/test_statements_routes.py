"""Statements over REST: who may push, what is answered, item by item, and what is too much."""

from __future__ import annotations

import pytest

SAID = {"subject": "Ada", "predicate": "works_on", "object": "Orion"}
BODY = {"external_id": "crm:1", "statements": [SAID]}


@pytest.mark.parametrize(
    ("who", "status"), [("anonymous", 401), ("nonsense", 401), ("expired", 401), ("revoked", 401), ("elsewhere", 404)]
)
def test_a_stranger_pushes_and_lists_nothing(server, who, status):
    with server.client(getattr(server.tokens, who)) as client:
        assert client.post(f"/api/v1/kbs/{server.kb}/statements", json=BODY).status_code == status
        assert client.get(f"/api/v1/kbs/{server.kb}/statements").status_code == status


@pytest.mark.parametrize("who", ["viewer", "read"])
def test_a_viewer_and_a_reading_token_push_nothing(server, who):
    with server.client(getattr(server.tokens, who)) as client:
        assert client.post(f"/api/v1/kbs/{server.kb}/statements", json=BODY).status_code == 403
        assert client.get(f"/api/v1/kbs/{server.kb}/statements").json()["pushes"] == []


@pytest.fixture
def call(server, scribe):
    with server.client(server.tokens.write) as client:

        def call(status=200, **body):
            answer = client.post(f"/api/v1/kbs/{server.kb}/statements", json=body)
            assert answer.status_code == status, answer.text
            return answer.json()

        call.get = lambda **asked: client.get(f"/api/v1/kbs/{server.kb}/statements", params=asked).json()
        yield call


def test_a_push_is_answered_item_by_item_and_is_on_record(call):
    wrong = {**SAID, "predicate": "nowhere", "subjekt": "x"}
    refused = call(422, external_id="crm:1", statements=[SAID, wrong])
    assert refused["field"] == "statements[1].subjekt" and refused["errors"][0]["field"] == "statements[1].subjekt"
    done = call(external_id="crm:1", statements=[SAID, wrong], mode="each", idempotency_key="k")
    assert (done["action"], done["accepted"], done["refused"]) == ("created", 1, 1)
    assert [(r["item"], r["status"]) for r in done["results"]] == [
        ("statements[0]", "accepted"),
        ("statements[1]", "refused"),
    ]
    assert call(external_id="crm:1", statements=[SAID, wrong], mode="each", idempotency_key="k")["repeated"] is True
    (pushed,) = call.get()["pushes"]
    assert (pushed["external_id"], pushed["pushed_by"], pushed["refused"]) == ("crm:1", "person:Ada (writer)", 1)
    assert call.get(external_id="other")["pushes"] == []
    gone = call(external_id="crm:1", deleted=True)
    assert gone["action"] == "deleted" and call(external_id="crm:1", deleted=True)["action"] == "unchanged"
    assert call(404, external_id="nobody", deleted=True)["field"] == "external_id"
    assert call(422, external_id="crm:1", deleted=True, statements=[SAID])["field"] == "statements"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"statements": [SAID]}, "external_id"),
        ({**BODY, "source": "x"}, "source"),
        ({**BODY, "statements": [SAID] * 201}, "statements"),
        ({**BODY, "statements": ["x"]}, "statements.0"),
        ({**BODY, "mode": "some"}, "mode"),
    ],
)
def test_a_mistake_is_named(call, body, field):
    assert call(422, **body)["field"] == field


def test_too_large_a_push_is_refused_before_it_is_read(server):
    with server.client(server.tokens.write) as client:
        body = {**BODY, "title": "x" * (1024 * 1024)}
        assert client.post(f"/api/v1/kbs/{server.kb}/statements", json=body).status_code == 413
