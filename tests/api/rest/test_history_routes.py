"""The routes of state, history and difference: the same answers as the reads, and mistakes named."""

from __future__ import annotations

from uuid import UUID

import pytest

from substrate.db import EVERY_BASE
from tests.ledger_facts import day


@pytest.fixture
def api(server, scribe):
    scribe.say("Ada", "leads", "Heron", start=day("2021-01-01"))
    scribe.say("Bob", "leads", "Heron", start=day("2023-04-01"))
    with server.client(server.tokens.read) as client:

        def call(path, status=200, **parameters):
            answer = client.get(f"/api/v1/kbs/{server.kb}{path}", params=parameters)
            assert answer.status_code == status, answer.text
            return answer.json()

        yield call


def test_state_history_and_difference_are_read_and_written_down(api, server, database):
    whole = api("/snapshot")
    mine = api("/entities/Heron/snapshot", at="2024")
    assert {i["id"] for i in mine["items"]} < {i["id"] for i in whole["items"]}
    [fact] = [i for i in mine["items"] if i.get("predicate_key") == "leads"]
    assert fact["id"] in {i["id"] for i in api("/entities/Heron/history")["items"]}
    of_fact = api(f"/facts/{fact['id']}/history")
    assert {i["kind"] for i in of_fact["items"]} == {"fact", "evidence"}
    changed = api("/diff", from_at="2022", to_at="2024", entity="Heron")
    assert fact["id"] in {i["id"] for i in changed["added"]}
    assert changed["removed"]
    assert {i["id"] for i in api("/diff", from_as_of="seq:0")["added"]} == {i["id"] for i in whole["items"]}
    server.app.state.access_log.flush()
    with database.read(EVERY_BASE) as conn:
        rows = conn.execute("select action, fact_ids from access_events order by id").fetchall()
    assert [r["action"] for r in rows][:5] == ["snapshot", "snapshot", "history", "history", "diff"]
    assert all(UUID(fact["id"]) in r["fact_ids"] for r in rows[:5])


@pytest.mark.parametrize(
    ("path", "parameters", "field"),
    [
        ("/snapshot", {"asof": "2020"}, "asof"),
        ("/snapshot", {"limit": "0"}, "limit"),
        ("/entities/Heron/history", {"as_of": "yesterday"}, "as_of"),
        ("/diff", {}, "from_as_of"),
        ("/diff", {"from_as_of": "2020", "to_at": "2021"}, "to_at"),
        ("/facts/nonsense/history", {}, "fact_id"),
    ],
)
def test_a_mistake_names_its_parameter(api, path, parameters, field):
    assert api(path, 422, **parameters)["field"] == field


def test_what_is_not_there_is_404(api):
    assert api("/entities/Nobody/snapshot", 404)["field"] == "entity"
    assert api("/facts/00000000-0000-0000-0000-000000000001/history", 404)["field"] == "fact_id"
