"""The budget of a base over REST: read by editors, set by those who answer for the base."""

from __future__ import annotations

import pytest

from substrate import access
from substrate.extraction.budget import Terms, reserve


@pytest.fixture
def api(server):
    with server.client(server.tokens.write) as client:
        yield lambda method, **options: client.request(method, f"/api/v1/kbs/{server.kb}/model-budget", **options)


@pytest.fixture
def owned(server, database):
    """The writer owns the base."""
    with database.write(server.kb) as conn:
        row = conn.execute("select person_id from kb_members where kb_id = %s and role = 'editor'", (server.kb,))
        for found in row.fetchall():
            access.set_member(conn, server.kb, found["person_id"], "owner")


def test_an_editor_does_not_set_it(api):
    answer = api("PUT", json={"tokens_per_day": 1, "cost_per_day": None})
    assert (answer.status_code, "admin or owner" in answer.text) == (403, True)
    assert api("GET").json()["own"] is False


def test_who_only_reads_the_base_is_not_told_what_it_spends(server):
    for who, status in (("viewer", 403), ("read", 200)):  # an editor's token that only reads
        with server.client(getattr(server.tokens, who)) as client:
            assert client.get(f"/api/v1/kbs/{server.kb}/model-budget").status_code == status, who


def test_a_limit_is_set_shown_and_taken_back(api, owned, server, database):
    before = api("GET").json()
    assert (before["limits"], before["alert"]) == ({"tokens_per_day": None, "cost_per_day": None}, None)
    made = api("PUT", json={"tokens_per_day": 10, "cost_per_day": None, "why": "a trial"}).json()
    assert (made["own"], made["limits"]["tokens_per_day"], made["spent"]["tokens"]) == (True, 10, 0)
    with database.write(server.kb) as conn:
        assert reserve(conn, server.kb, Terms(), [(server.kb, {"prompt_tokens": 11})], seconds=60) == 0
    paused = api("GET").json()
    assert "10 tokens" in paused["alert"] and paused["paused_at"]
    raised = api("PUT", json={"tokens_per_day": None, "cost_per_day": None}).json()
    assert (raised["alert"], raised["paused_at"], raised["own"]) == (None, None, True)
    assert api("GET").json() == raised


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"tokens_per_day": -1, "cost_per_day": None}, "tokens_per_day"),
        ({"tokens_per_day": None, "cost_per_day": "1.5"}, "cost_per_day"),
        ({"tokens_per_day": None, "cost_per_day": "NaN"}, "cost_per_day"),
        ({"tokens_per_day": None}, "cost_per_day"),
        ({"tokens_per_day": 1, "cost_per_day": None, "more": 1}, "more"),
    ],
)
def test_a_limit_that_cannot_be_is_refused_by_name(api, owned, body, field):
    answer = api("PUT", json=body)
    assert (answer.status_code, answer.json()["field"].split(".")[-1]) == (422, field), answer.text
