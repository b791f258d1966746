"""REST: documents in, listed with their failures and out again; proposals decided; facts rejected; entities merged."""

from __future__ import annotations

import base64
from uuid import uuid4

import pytest

from substrate import access, reads, work
from substrate.db import EVERY_BASE
from tests.ledger_facts import day


@pytest.fixture
def api(server):
    with server.client(server.tokens.write) as client:
        yield lambda method, tail, **options: client.request(method, f"/api/v1/kbs/{server.kb}{tail}", **options)


def test_a_base_is_made_by_its_owner_and_seen_by_nobody_else(server):
    with server.client(server.tokens.write) as ada, server.client(server.tokens.viewer) as eve:
        body = {"slug": "third", "name": "Third", "ontology": "classes:\n  - {key: person, label: Person}\n"}
        made = ada.post("/api/v1/kbs", json=body)
        assert made.status_code == 201
        assert ada.post("/api/v1/kbs", json=body).status_code == 409
        assert [b["slug"] for b in ada.get("/api/v1/kbs").json()["kbs"]] == ["other", "test", "third"]
        assert [b["slug"] for b in eve.get("/api/v1/kbs").json()["kbs"]] == ["test"]
        assert eve.get(f"/api/v1/kbs/{made.json()['id']}").status_code == 404
        got = ada.get(f"/api/v1/kbs/{made.json()['id']}").json()
        assert (got["role"], got["seq"]) == ("owner", 1)
    for who in ("read", "elsewhere"):
        with server.client(getattr(server.tokens, who)) as client:
            assert client.post("/api/v1/kbs", json={"slug": "no", "name": "No"}).status_code == 403


def test_documents_come_in_by_text_or_bytes_and_twice_is_once(api, server):
    batch = {
        "documents": [
            {"external_id": "a", "filename": "a.md", "content": "Ada leads Heron.", "doc_time": "2024-03"},
            {"external_id": "b", "filename": "b.bin", "content_base64": base64.b64encode(b"\0\1").decode()},
        ]
    }
    first = api("POST", "/documents", json=batch).json()["documents"]
    assert [d["action"] for d in first] == ["created", "created"]
    assert [d["action"] for d in api("POST", "/documents", json=batch).json()["documents"]] == ["unchanged"] * 2
    listed = api("GET", "/documents").json()
    assert [(d["external_id"], d["state"]) for d in listed["documents"]] == [("a", "waiting"), ("b", "waiting")]
    assert listed["documents"][0]["doc_time"] == "2024-03-01T00:00:00.000000Z"
    with server.client(server.tokens.read) as client:
        assert client.get(f"/api/v1/kbs/{server.other_kb}/documents").json()["documents"] == []


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"external_id": "a", "filename": "a.md"}, "documents.0"),
        ({"external_id": "a", "filename": "a.md", "content": "x", "content_base64": "eA=="}, "documents.0"),
        ({"external_id": "a", "filename": "a.md", "content_base64": "%%%"}, "content_base64"),
        ({"external_id": "a", "filename": "a.md", "content": "x", "doc_time": "soon"}, "doc_time"),
        ({"external_id": "", "filename": "a.md", "content": "x"}, "external_id"),
        ({"filename": "a.md", "content": "x"}, "documents.0.external_id"),
    ],
)
def test_a_bad_document_is_refused_by_field_and_nothing_is_written(api, document, field):
    good = {"external_id": "good", "filename": "g.md", "content": "x"}
    answer = api("POST", "/documents", json={"documents": [document, good]})
    assert (answer.status_code, answer.json()["field"]) == (422, field)
    assert api("GET", "/documents").json()["total"] == 0


def test_a_failure_is_listed_with_its_reason(api, database, server):
    api("POST", "/documents", json={"documents": [{"external_id": "bad", "filename": "bad.pdf", "content": "no pdf"}]})
    [listed] = api("GET", "/documents").json()["documents"]
    with database.write(EVERY_BASE) as conn:
        conn.execute(
            "insert into parse_results (kb_id, version_id, parser, failure_code, failure) values (%s, %s, 'p', %s, %s)",
            (server.kb, listed["version_id"], "truncated", "the file ends too early"),
        )
    answer = api("GET", "/documents?state=failed").json()
    assert (answer["total"], answer["failed"]) == (1, 1)
    assert answer["documents"][0]["failure"] == "the file ends too early"
    assert api("GET", "/documents?state=parsed").json()["documents"] == []
    assert api("GET", "/documents?state=broken").json()["field"] == "state"


def test_what_a_later_stage_could_not_do_is_listed_with_its_reason(api, database, server, scribe):
    parsed, fine = scribe.document("Ada works on Heron.", filename="a.md"), scribe.document("Fine.", filename="b.md")
    api("POST", "/documents", json={"documents": [{"external_id": "c", "filename": "c.pdf", "content": "no pdf"}]})
    waiting = api("GET", "/documents?state=waiting").json()["documents"][0]
    rows = (
        ("claims", parsed.chunk_id, "old", "failed", "model", "it was so before", "2020-01-01"),
        ("claims", parsed.chunk_id, "new", "failed", "model", "http://me:pw@host/v1 answered 500: no", "2024-01-01"),
        ("embed", parsed.chunk_id, "v", "due", "model", "asked again later", "2024-01-01"),
        ("embed", fine.chunk_id, "old", "failed", "model", "mended since", "2020-01-01"),
        ("embed", fine.chunk_id, "new", "done", None, None, "2024-01-01"),
    )
    with database.write(EVERY_BASE) as conn:
        for row in rows:
            conn.execute(
                "insert into work (kb_id, stage, item_id, code_version, state, failure_code, failure, due_at)"
                " values (%s, %s, %s, %s, %s, %s, %s, %s)",
                (server.kb, *row),
            )
        conn.execute(
            "update work set state = 'quarantined', failure_code = 'worker_died', failure = 'its workers died'"
            " where stage = 'parse' and item_id = %s",
            (waiting["version_id"],),
        )
    a, b, c = api("GET", "/documents").json()["documents"]
    assert (a["state"], a["failure_code"], a["failure"]) == ("incomplete", "model", "the endpoint answered 500: no")
    assert a["failures"] == [
        {"stage": "claims", "state": "failed", "code": "model", "reason": "the endpoint answered 500: no", "items": 1},
        {"stage": "embed", "state": "due", "code": "model", "reason": "asked again later", "items": 1},
    ]
    assert (b["state"], b["failure"], b["failures"]) == ("parsed", None, [])
    assert (c["state"], c["failure_code"], c["failure"]) == ("failed", "worker_died", "its workers died")
    assert c["failures"][0]["state"] == "quarantined"
    for state, names in (("failed", ["c.pdf"]), ("incomplete", ["a.md"]), ("parsed", ["b.md"]), ("waiting", [])):
        found = api("GET", f"/documents?state={state}").json()["documents"]
        assert [d["filename"] for d in found] == names, state
    assert api("GET", "/documents").json()["failed"] == 1


def test_deleting_withdraws_the_facts_that_rest_on_a_document_alone(api, scribe):
    document = scribe.document("Ada works on Heron.")
    scribe.say("Ada", "works_on", "Heron", evidence=document)
    held = api("GET", "/entities/Ada/facts").json()
    [fact] = held["facts"]
    gone = api("DELETE", f"/documents/{document.document_id}").json()
    assert fact["id"] in gone["retracted_fact_ids"]
    assert api("GET", "/entities/Ada/facts").status_code == 404
    then = api("GET", "/entities/Ada/facts", params={"as_of": f"seq:{held['seq']}"}).json()
    assert then["facts"][0]["id"] == fact["id"]
    assert then["facts"][0]["since"]["invalidated_kind"] == "retracted"
    assert api("GET", f"/documents/{document.document_id}").status_code == 404
    assert api("GET", f"/documents/{document.document_id}?as_of=seq:{held['seq']}").status_code == 200
    assert api("DELETE", f"/documents/{document.document_id}").json()["seq"] is None
    assert api("DELETE", "/documents?external_id=none").status_code == 404


def test_rest_and_reads_say_the_same(api, scribe, database, kb):
    scribe.say("Ada", "leads", "Heron", start=day("2021-01-01"))
    with database.read(kb) as conn:
        moment = reads.resolve(conn, kb, at="2022")
        expected = reads.entity_facts(conn, kb, "Heron", moment)
    got = api("GET", "/entities/Heron/facts?at=2022").json()
    assert {k: v for k, v in got.items() if k not in ("before", "hints")} == expected
    assert api("GET", "/entities/Heron/timeline").json()["matched_facts"] == 1
    assert api("GET", "/entities?name=her").json()["entities"][0]["name"] == "Heron"
    assert api("GET", "/changes?since=2020&kinds=asserted&kinds=merged").json()["total"] == 1


def test_an_ambiguous_name_names_the_candidates(api, scribe):
    scribe.say("Heron One", "works_on", "Egret")
    scribe.say("Heron Two", "works_on", "Egret")
    answer = api("GET", "/entities/heron/facts")
    assert answer.status_code == 422
    assert {c["name"] for c in answer.json()["candidates"]} == {"Heron One", "Heron Two"}


def test_a_rejected_fact_is_gone_and_stays_out(api, scribe):
    scribe.say("Ada", "works_on", "Heron")
    [fact] = api("GET", "/entities/Ada/facts").json()["facts"]
    done = api("POST", f"/facts/{fact['id']}/reject", json={"why": "not so"})
    assert done.json()["verdict"] == "rejected"
    assert scribe.say("Ada", "works_on", "Heron").refused == 1
    assert api("GET", "/entities/Ada/facts").json()["facts"] == []
    assert api("POST", f"/facts/{fact['id']}/reject").status_code == 404
    assert api("GET", "/changes?since=2020&kinds=rejected").json()["changes"][0]["fact_id"] == fact["id"]


def test_a_merge_over_rest_shows_one_entity(api, scribe):
    scribe.say("Bob Smith", "works_on", "Egret")
    scribe.say("Robert Smith", "works_on", "Heron")
    ids = {e["name"]: e["id"] for e in api("GET", "/entities?name=Smith").json()["entities"]}
    body = {"keep": ids["Robert Smith"], "absorb": ids["Bob Smith"]}
    assert api("POST", "/merges", json=body).status_code == 201
    assert len(api("GET", "/entities/Bob Smith/facts").json()["facts"]) == 2
    assert api("POST", "/merges", json=body).status_code == 409
    assert api("POST", "/merges", json={**body, "absorb": str(uuid4())}).status_code == 404


@pytest.mark.usefixtures("scribe")  # it declares the ontology
def test_proposals_are_listed_with_their_sentence_and_decided_once(api, server, database, settings):
    _remembered(server, database, settings, "Ada leads Heron.", "Bob leads Egret.")
    pending = api("GET", "/review/pending").json()
    assert pending["total"] == 2
    by_sentence = {p["sentence"]: p for p in pending["pending"]}
    yes, no = by_sentence["Ada leads Heron."], by_sentence["Bob leads Egret."]
    assert (yes["subject"], yes["object"], yes["predicate_key"]) == ("Ada", "Heron", "leads")
    assert yes["recorded_by"] == "person:Ada (writer)"
    assert api("GET", "/entities?name=Heron").json()["entities"] == []
    with server.client(server.tokens.judge) as client:

        def judge(tail, **options):
            return client.post(f"/api/v1/kbs/{server.kb}/review/pending/{tail}", **options)

        assert judge(f"{yes['id']}/confirm").json()["verdict"] == "confirmed"
        assert api("GET", "/entities/Heron/facts").json()["facts"][0]["other_name"] == "Ada"
        assert judge(f"{no['id']}/reject", json={"why": "hearsay"}).status_code == 200
        assert api("GET", "/entities?name=Egret").json()["entities"] == []
        for decided in (yes, no):
            assert judge(f"{decided['id']}/confirm").status_code == 409
        assert api("GET", "/review/pending").json()["total"] == 0
        assert judge(f"{uuid4()}/confirm").status_code == 404


def test_the_token_that_recorded_a_sentence_cannot_decide_it(api, server, database, settings):
    _remembered(server, database, settings, "Ada leads Heron.")
    [proposal] = api("GET", "/review/pending").json()["pending"]
    with database.write(EVERY_BASE) as conn:  # renewed under the same name, it is still the same client
        person = access.person_named(conn, "Ada")
        renewed = access.issue_token(conn, person, "writer", scope="write").secret
    for token in (server.tokens.write, renewed):
        with server.client(token) as client:
            for verdict in ("confirm", "reject"):
                answer = client.post(f"/api/v1/kbs/{server.kb}/review/pending/{proposal['id']}/{verdict}")
                assert answer.status_code == 403, verdict
                assert "the token 'writer' recorded this sentence" in answer.json()["detail"]
    assert api("GET", "/review/pending").json()["total"] == 1


def test_the_token_that_recorded_a_sentence_cannot_take_its_verdict_back(api, server, database, settings, scribe):
    _remembered(server, database, settings, "Ada leads Heron.")
    [proposal] = api("GET", "/review/pending").json()["pending"]
    with server.client(server.tokens.judge) as judge:
        base = f"/api/v1/kbs/{server.kb}"
        given = judge.post(f"{base}/review/pending/{proposal['id']}/reject").json()
        for tail in (f"/review/refusals/{given['refusal_id']}/lift", f"/verdicts/{given['batch_id']}/revert"):
            answer = api("POST", tail)
            assert (answer.status_code, "recorded this sentence" in answer.json()["detail"]) == (403, True), tail
        assert api("GET", "/review/refusals").json()["total"] == 1
        assert judge.post(f"{base}/verdicts/{given['batch_id']}/revert").status_code == 200
        assert api("GET", "/review/refusals").json()["total"] == 0
        [again] = api("GET", "/review/pending").json()["pending"]
        refused = judge.post(f"{base}/review/pending/{again['id']}/reject").json()["refusal_id"]
        assert judge.post(f"{base}/review/refusals/{refused}/lift").status_code == 200


def test_a_refusal_is_seen_with_what_restated_it_and_lifted_once(api, server, scribe, database):
    scribe.say("Ada", "works_on", "Heron")
    [fact] = api("GET", "/entities/Ada/facts").json()["facts"]
    api("POST", f"/facts/{fact['id']}/reject", json={"why": "hearsay"})
    again = scribe.document("Ada works on Heron, they say.")
    assert scribe.say("Ada", "works_on", "Heron", evidence=again).refused == 1
    before = api("GET", "/review/refusals").json()
    assert before["total"] == 1
    [refusal] = before["refusals"]
    assert (refusal["subject"], refusal["predicate_label"], refusal["object"]) == ("Ada", "works on", "Heron")
    assert (refusal["why"], refusal["refused_by"], refusal["restatements"]) == ("hearsay", "person:Ada (writer)", 1)
    [document] = refusal["documents"]
    assert document["document_id"] == str(again.document_id)
    assert document["external_id"] in {d["external_id"] for d in api("GET", "/documents").json()["documents"]}
    lifted = api("POST", f"/review/refusals/{refusal['id']}/lift", json={"why": "it was so"}).json()
    assert lifted["verdict"] == "lifted"
    assert api("GET", "/review/refusals").json()["refusals"] == []
    then = api("GET", "/review/refusals", params={"as_of": f"seq:{before['seq']}"}).json()
    assert then["refusals"] == [refusal]
    assert scribe.say("Ada", "works_on", "Heron").refused == 0
    assert api("POST", f"/review/refusals/{refusal['id']}/lift").status_code == 404
    with server.client(server.tokens.read) as client:
        assert client.post(f"/api/v1/kbs/{server.kb}/review/refusals/{refusal['id']}/lift").status_code == 403
    with database.read(EVERY_BASE) as conn:
        last = conn.execute("select actor, action, why from ledger_transaction where seq = %s", (lifted["seq"],))
        assert tuple(last.fetchone().values()) == ("person:Ada (writer)", "refusal lifted", "it was so")


def _remembered(server, database, settings, *sentences):
    """Sentences as an agent records them, up to the proposals that the pipeline's own stages make of them."""
    from substrate.extraction.stage import run_claims

    for text in sentences:
        with server.client(server.tokens.write) as client:
            params = {"name": "remember", "arguments": {"text": text, "occurred_at": "2024-05-01"}}
            client.post(
                f"/api/v1/kbs/{server.kb}/mcp",
                json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params},
                headers={"Accept": "application/json, text/event-stream"},
            )
    _pipeline(database, server.kb, settings, run_claims)()


def _pipeline(database, kb, settings, run_claims):
    from substrate.documents.stage import run_parse
    from substrate.extraction.builtin import BuiltinExtractor
    from substrate.identity.stage import run_entities
    from substrate.ledger.stage import run_facts

    def run():
        run_parse(database, kb, limit=100)
        run_claims(database, kb, BuiltinExtractor(settings), limit=100)
        run_entities(database, kb, limit=100)
        run_facts(database, kb, limit=100)
        with database.read(kb) as conn:
            assert not work.due_counts(conn, kb).get("facts")

    return run
