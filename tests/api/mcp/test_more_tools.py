"""The tools that go further: links, chains, reasons, rules, the manual, gaps, and what became of what was recorded."""

from __future__ import annotations

from uuid import UUID

import pytest

from api.mcp import arguments
from api.mcp.schemas import BY_NAME
from substrate.documents import intake
from substrate.pipeline import Services, run_step
from tests.api.mcp.test_protocol import rpc
from tests.api.mcp.test_tools import call as call
from tests.ledger_facts import day


def kinds(structured):
    return [h["kind"] for h in structured["hints"]]


def hint(structured, kind):
    [found] = [h for h in structured["hints"] if h["kind"] == kind]
    return found


@pytest.fixture
def led(scribe):
    """Ada led Heron until Bob did; the numbers of the record after each."""
    said = scribe.document("Ada leads Heron.", filename="memo.md", doc_time=day("2022-01-01"))
    scribe.say("Ada", "leads", "Heron", start=day("2021-01-01"), evidence=said, kinds={"Heron": "project"})
    first = scribe.seq()
    scribe.say("Bob", "leads", "Heron", start=day("2023-04-01"))
    scribe.say("Bob", "works_on", "Egret")
    return first, scribe.seq()


def test_links_and_chains_in_both_forms(call, led):
    structured, text = call("neighbors", entity="Heron", at="2024")
    assert [n["name"] for n in structured["neighbors"]] == ["Bob"]
    assert "Relation: leads (of it)\n- Bob" in text and structured["neighbors"][0]["fact_id"] in text
    structured, text = call("paths_between", **{"from": "Ada", "to": "Egret"})
    assert structured["paths"][0]["hops"] == 3
    assert "Ada —leads→ Heron" in text and "←leads— Bob" in text
    structured, text = call("paths_between", **{"from": "Ada", "to": "Egret", "at": "2024"})
    assert structured["paths"] == [] and "0 chains" in text


def test_why_a_fact_is_held(call, led):
    facts, _ = call("entity_facts", entity_id="Ada")
    structured, text = call("explain_fact", fact_id=facts["facts"][0]["id"])
    assert structured["evidence"][0]["quote"] == "Ada leads Heron."
    assert 'evidence: "Ada leads Heron." ("memo.md" section 0' in text
    assert structured["proof"][0]["hash"] in text


def test_every_answer_carries_what_a_colleague_would_add_and_the_calls_can_be_made(call, led, scribe):
    first, head = led
    past, text = call("entity_facts", entity_id="Ada", as_of=f"seq:{first}")
    [ended] = past["facts"]
    now, _ = call("entity_facts", entity_id="Ada")
    assert (ended["status"], ended["successor_id"]) == ("superseded", now["facts"][0]["id"])
    assert hint(past, "superseded")["items"] == [ended["id"]]
    assert 'Note (superseded): 1 fact has been superseded since. -> explain_fact {"fact_id"' in text
    assert "superseded" not in kinds(now)
    undated, _ = call("neighbors", entity="Egret")
    assert hint(undated, "undated")["items"] == [undated["neighbors"][0]["fact_id"]]
    scribe.reject(UUID(undated["neighbors"][0]["fact_id"]))
    empty, text = call("neighbors", entity="Egret")
    assert hint(empty, "rejected")["tool"] == "changes"
    assert "nothing" in kinds(empty)
    withdrawn, _ = call("neighbors", entity="Egret", as_of=f"seq:{head}")
    assert hint(withdrawn, "withdrawn")["items"] == [undated["neighbors"][0]["fact_id"]]
    page, _ = call("entity_facts", entity_id="Heron", limit=1)
    assert hint(page, "more")["arguments"]["cursor"] == page["next_cursor"]
    for answer in (past, now, undated, empty, withdrawn, page):
        for h in answer["hints"]:
            arguments.check(BY_NAME[h["tool"]].input, h["arguments"])
            call(h["tool"], **h["arguments"])


def test_the_row_that_took_its_place_is_the_one_held_today(call, scribe):
    scribe.say("Ada", "leads", "Heron", start=day("2021-01-01"))
    first = scribe.seq()
    scribe.say("Cora", "leads", "Heron", start=day("2025-01-01"))
    scribe.say("Bob", "leads", "Heron", start=day("2023-01-01"))  # Ada's end moves twice
    past, _ = call("entity_facts", entity_id="Ada", as_of=f"seq:{first}")
    now, _ = call("entity_facts", entity_id="Ada")
    assert past["facts"][0]["successor_id"] == now["facts"][0]["id"]


def test_events_and_entities_say_what_became_of_them(call, scribe, database, server):
    scribe.say("Ada", "leads", "Heron", start=day("2021-01-01"))
    scribe.say("Ada King", "works_on", "Egret")
    then = f"seq:{scribe.seq()}"
    before, _ = call("changes", since="2000")
    assert {c["status"] for c in before["changes"]} == {"held"} and before["hints"] == []
    scribe.say("Bob", "leads", "Heron", start=day("2023-01-01"))
    after, _ = call("changes", since="2000", as_of=then)
    [led] = [c for c in after["changes"] if c["predicate_label"] == "leads"]
    now, _ = call("entity_facts", entity_id="Ada", predicate="leads")
    assert (led["status"], led["successor_id"]) == ("superseded", now["facts"][0]["id"])
    assert hint(after, "superseded")["items"] == [led["fact_id"]]
    found, _ = call("find_entities", name="Ada", as_of=then)
    assert {e["status"] for e in found["entities"]} == {"held"}
    ids = {e["name"]: e["id"] for e in found["entities"]}
    scribe.merge(UUID(ids["Ada King"]), UUID(ids["Ada"]))
    found, _ = call("find_entities", name="Ada", as_of=then)
    assert {e["name"]: e["successor_id"] for e in found["entities"]} == {"Ada": ids["Ada King"], "Ada King": None}
    assert hint(found, "merged")["arguments"] == {"entity_id": ids["Ada King"]}


def test_a_contested_fact_and_one_that_lost_its_evidence_say_so(call, scribe):
    scribe.say("Ada", "leads", "Heron")
    scribe.say("Bob", "leads", "Heron")
    structured, text = call("entity_facts", entity_id="Heron")
    assert {f["status"] for f in structured["facts"]} == {"contested"}
    told = hint(structured, "contested")
    assert len(told["items"]) == 2 and "Note (contested): 2 facts are contested" in text
    why, text = call(told["tool"], **told["arguments"])
    assert why["conflicts"][0]["verdict"] is None and "undecided" in text


def test_nothing_then_though_there_is_something_now(call, scribe):
    scribe.say("Ada", "works_on", "Heron")
    first = scribe.seq()
    scribe.say("Ada", "leads", "Egret")
    then, _ = call("entity_facts", entity_id="Ada", predicate="leads", as_of=f"seq:{first}")
    assert hint(then, "only_now")["arguments"] == {"entity_id": "Ada", "predicate": "leads"}
    named, _ = call("find_entities", name="Egret", as_of=f"seq:{first}")
    assert hint(named, "only_now")["arguments"] == {"name": "Egret"}
    now, _ = call("find_entities", name="Egret")
    assert now["hints"] == []


def test_a_search_that_finds_nothing_is_kept_and_its_asker_is_told(call, server, database, settings):
    call("remember", token=server.tokens.write, text="The weather was fine.")
    structured, text = call("search_chunks", query="Heron lease signatory")
    assert "kept" in kinds(structured) and "kept for the reviewers (asked 1 times)" in text
    assert "kept" not in kinds(call("search_chunks", query="fine weather")[0])
    assert "kept" not in kinds(call("search_chunks", query="Heron lease signatory", as_of="seq:1")[0])
    context, _ = call("context", question="heron lease SIGNATORY?")
    assert "asked 2 times" in hint(context, "kept")["says"]
    status, _ = call("review_status")
    assert [(g["state"], g["asked"]) for g in status["gaps"]] == [("open", 2)]
    done, _ = call("remember", token=server.tokens.write, text="Bob is the signatory of the Heron lease.")
    with Services(settings) as services:
        run_step(database, server.kb, services, "index")
    status, text = call("review_status")
    assert status["gaps"][0]["answer"]["document_id"] == done["document_id"]
    assert f"answered, see {done['document_id']}" in text
    past, _ = call("search_chunks", query="Heron lease signatory", as_of=f"seq:{done['seq'] - 1}")
    assert hint(past, "only_now")["arguments"] == {"query": "Heron lease signatory"}
    assert call("review_status", token=server.tokens.write)[0]["gaps"] == []


def test_a_reported_gap_and_what_was_recorded(call, server):
    structured, text = call(
        "report_gap", token=server.tokens.write, question="Who chairs Egret? key sk-abcdefgh12345678"
    )
    assert structured["question"] == "Who chairs Egret? key ***" and "abcdefgh" not in text
    done, _ = call("remember", token=server.tokens.write, text="Bob leads Heron.", idempotency_key="k1")
    call("remember", token=server.tokens.write, text="Cora leads Egret.")
    status, text = call("review_status", token=server.tokens.write)
    assert (len(status["recorded"]), status["total_gaps"]) == (2, 1)
    assert '"Bob leads Heron." (waiting' in text
    for only in ({"idempotency_key": "k1"}, {"document_id": done["document_id"]}):
        status, _ = call("review_status", token=server.tokens.write, **only)
        assert [r["sentence"] for r in status["recorded"]] == ["Bob leads Heron."]
    first, _ = call("review_status", token=server.tokens.write, limit=1)
    second, _ = call("review_status", token=server.tokens.write, limit=1, cursor=first["next_cursor"])
    assert [r["sentence"] for r in (*first["recorded"], *second["recorded"])] == [
        "Cora leads Egret.",
        "Bob leads Heron.",
    ]
    refused = rpc(
        server, server.tokens.read, "tools/call", {"name": "report_gap", "arguments": {"question": "x"}}
    ).json()
    assert refused["error"]["code"] == -32601


def test_pending_proposals_about_an_entity_are_told(call, server, database, settings, scribe):
    scribe.say("Heron", "works_on", "Egret")
    assert "pending" not in kinds(call("entity_facts", entity_id="Heron")[0])
    intake.remember(database, server.kb, "Bob leads Heron.", actor="person:A", via="mcp")
    with Services(settings) as services:
        for step in ("parse", "claims", "entities", "facts"):
            run_step(database, server.kb, services, step)
    told = hint(call("entity_facts", entity_id="Heron")[0], "pending")
    assert told["says"].startswith("1 proposal about it")
    found, _ = call(told["tool"], **told["arguments"])
    assert "Bob leads Heron." in [c["text"] for c in found["chunks"]]


def test_rules_and_the_manual(call, scribe):
    structured, text = call("list_rules")
    assert "leads (leads): inverse_functional" in text and structured["refused"] == 0
    structured, text = call("search_docs", query="what does as_of mean")
    assert 0 < len(structured["results"]) <= 4 and structured["results"][0]["heading"] in text
    structured, text = call("search_docs", query="xyzzyplugh")
    assert structured["results"] == [] and text == "The manual says nothing of it."
