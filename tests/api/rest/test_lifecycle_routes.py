"""REST: a deletion shows its list, is undone once, and a viewer undoes nothing."""

from __future__ import annotations

from uuid import uuid4

import pytest

from substrate import access


@pytest.fixture
def api(server):
    with server.client(server.tokens.write) as client:
        yield lambda method, tail, **options: client.request(method, f"/api/v1/kbs/{server.kb}{tail}", **options)


@pytest.fixture
def memo(scribe):
    evidence = scribe.document("Ada works on Heron.")
    scribe.say("Ada", "works_on", "Heron", evidence=evidence)
    return evidence.document_id


def test_a_deletion_is_listed_with_what_it_took_and_undone_once(api, memo):
    held = api("GET", "/entities/Ada/facts").json()
    assert api("GET", f"/documents/{memo}/deletions").json()["deletions"] == []
    gone = api("DELETE", f"/documents/{memo}?why=withdrawn").json()
    [listed] = api("GET", f"/documents/{memo}/deletions").json()["deletions"]
    assert (listed["id"], listed["why"], listed["seq"]) == (gone["deletion_id"], "withdrawn", gone["seq"])
    assert listed["by"].startswith("person:Ada") and listed["restored"] is None
    assert {f["id"] for f in listed["facts"]} == set(gone["retracted_fact_ids"]) and listed["weakened"] == []
    [told] = [f for f in listed["facts"] if f["predicate_key"] == "works_on"]
    assert told["id"] == held["facts"][0]["id"]
    assert (told["subject_name"], told["predicate_label"], told["object_name"]) == ("Ada", "works on", "Heron")
    [counted] = api("GET", "/deletions").json()["deletions"]
    assert (counted["id"], counted["facts"], counted["chunks"]) == (listed["id"], len(listed["facts"]), 1)

    back = api("POST", f"/deletions/{listed['id']}/restore", json={"why": "a mistake"})
    assert back.status_code == 200 and back.json()["kept_out_fact_ids"] == []
    [fact] = api("GET", "/entities/Ada/facts").json()["facts"]
    assert fact["lineage_id"] == told["lineage_id"] and fact["id"] in back.json()["fact_ids"]
    between = api("GET", f"/entities/Ada/facts?as_of=seq:{gone['seq']}")
    assert between.status_code == 404
    [after] = api("GET", f"/documents/{memo}/deletions").json()["deletions"]
    assert (after["restored"]["seq"], after["restored"]["why"]) == (back.json()["seq"], "a mistake")
    assert {f["restored_as"] for f in after["facts"]} == set(back.json()["fact_ids"])
    [then] = api("GET", f"/documents/{memo}/deletions?as_of=seq:{gone['seq']}").json()["deletions"]
    assert then == listed, "what is told of a deletion as of then does not change"
    again = api("POST", f"/deletions/{listed['id']}/restore")
    assert (again.status_code, again.json()["field"]) == (409, "deletion_id")


def test_deletions_come_in_pages_newest_first(api, scribe):
    gone = []
    for _ in range(3):
        document = scribe.document("Ada works on Heron.").document_id
        gone.append(api("DELETE", f"/documents/{document}").json()["deletion_id"])
    first = api("GET", "/deletions?limit=2").json()
    assert (first["total"], first["truncated"]) == (3, True)
    rest = api("GET", "/deletions", params={"limit": 2, "cursor": first["next_cursor"]}).json()
    assert [d["id"] for d in (*first["deletions"], *rest["deletions"])] == gone[::-1]
    assert api("GET", "/deletions?limit=0").status_code == 422


def test_what_is_not_there_is_not_found_and_a_viewer_undoes_nothing(api, server, memo):
    assert api("GET", f"/documents/{uuid4()}/deletions").status_code == 404
    assert api("POST", f"/deletions/{uuid4()}/restore").status_code == 404
    gone = api("DELETE", f"/documents/{memo}").json()
    assert api("POST", f"/deletions/{gone['deletion_id']}/restore", json={"reason": "x"}).status_code == 422
    for who, base, status in (("viewer", server.kb, 403), ("read", server.kb, 403), ("write", server.other_kb, 404)):
        with server.client(getattr(server.tokens, who)) as client:
            answer = client.post(f"/api/v1/kbs/{base}/deletions/{gone['deletion_id']}/restore")
            assert answer.status_code == status, who
    assert api("GET", "/deletions").json()["deletions"][0]["restored"] is None
    with server.client(server.tokens.write) as client:
        assert client.get(f"/api/v1/kbs/{server.other_kb}/documents/{memo}/deletions").status_code == 404


def test_a_purge_is_an_admins_and_leaves_a_stub(api, server, database, memo):
    held = api("GET", "/entities/Ada/facts").json()["seq"]
    api("DELETE", f"/documents/{memo}")
    body = {"why": "asked for"}
    refused = api("POST", f"/documents/{memo}/purge", json=body)
    assert (refused.status_code, "admin" in refused.json()["detail"]) == (403, True)
    with database.write(server.kb) as conn:
        ada = conn.execute("select id from people where name = 'Ada'").fetchone()["id"]
        access.set_member(conn, server.kb, ada, "admin")
    with server.client(server.tokens.read) as client:
        assert client.post(f"/api/v1/kbs/{server.kb}/documents/{memo}/purge", json=body).status_code == 403
    assert api("POST", f"/documents/{memo}/purge").status_code == 422
    assert api("POST", f"/documents/{memo}/purge", json={"why": " "}).status_code == 422
    assert api("GET", f"/documents/{memo}?as_of=seq:{held}").json()["sections"][0]["text"] == "Ada works on Heron."
    done = api("POST", f"/documents/{memo}/purge", json=body)
    assert done.status_code == 200 and done.json()["events"] > 0
    then = api("GET", f"/documents/{memo}?as_of=seq:{held}").json()
    assert then["sections"] == [] and then["purged"]["why"] == "asked for"
    [deletion] = api("GET", "/deletions").json()["deletions"]
    assert deletion["purged"]["seq"] == done.json()["seq"]
    assert api("POST", f"/deletions/{deletion['id']}/restore").status_code == 409
    assert api("POST", f"/documents/{memo}/purge", json=body).status_code == 409
