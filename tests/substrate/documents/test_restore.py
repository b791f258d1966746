"""A deletion keeps its list, and a restoration brings back that list: absent between, present before and after."""

from __future__ import annotations

import threading
from uuid import UUID, uuid4

import pytest

from substrate.db import Database
from substrate.documents.deletion import delete
from substrate.documents.restore import restore
from substrate.documents.stage import run_parse
from substrate.errors import Conflict, NotFound
from substrate.extraction.stage import run_claims
from substrate.ledger import open_door, verdicts
from substrate.ledger.retractions import reject_fact
from substrate.retrieval.search import search_chunks
from substrate.settings import Settings
from tests.substrate.documents.lifecycle import BY, Shelf

TEXT = "Ada leads Orion since 2023-05.\n\nThe motto of Orion is Excelsior.\n"


@pytest.fixture
def shelf(database: Database, kb: UUID) -> Shelf:
    return Shelf(database, kb)


def confirm(shelf: Shelf, pending_id: UUID) -> tuple[UUID, ...]:
    with shelf.database.write(shelf.kb) as conn, open_door(conn, shelf.kb, action="confirmed", **BY) as door:
        return verdicts.decide(door, [pending_id], []).lineages


def test_a_deletion_is_an_event_with_its_exact_list(shelf: Shelf) -> None:
    shelf.put("one", TEXT)
    shelf.put("two", "Ada leads Orion.\n")
    held = {f["predicate_key"]: f["id"] for f in shelf.facts("Orion")}
    gone = shelf.delete("one", "withdrawn by its author")

    [row] = shelf.rows("select * from document_deletions")
    assert (row["id"], row["why"], row["recorded_seq"]) == (gone.deletion_id, "withdrawn by its author", gone.seq)
    assert held["motto"] in map(str, row["fact_ids"]), "its every evidence went"
    assert held["leads"] not in map(str, row["fact_ids"]), "the other document states it too"
    [stays] = [f for f in shelf.facts("Orion") if f["predicate_key"] == "leads"]
    assert stays["id"] in map(str, row["weakened_ids"])
    for column, table in (
        ("version_ids", "document_versions"),
        ("chunk_ids", "chunks"),
        ("assertion_ids", "assertions"),
    ):
        closed = shelf.rows(f"select id from {table} where invalidated_seq = %s", gone.seq)
        assert sorted(row[column]) == sorted(r["id"] for r in closed) and closed, column
    facts = shelf.rows("select id from facts where invalidated_seq = %s and invalidated_kind = 'retracted'", gone.seq)
    assert sorted(row["fact_ids"]) == sorted(r["id"] for r in facts)
    assert shelf.verified()


def test_a_fact_that_another_document_states_alike_keeps_its_row(shelf: Shelf) -> None:
    shelf.put("one", "Ada leads Orion.\n")
    shelf.put("two", "Ada leads Orion.\n")
    [before] = shelf.facts("Orion")
    gone = shelf.delete("two")
    [after] = shelf.facts("Orion")
    assert (after["id"], after["evidence_count"]) == (before["id"], 1)
    assert before["evidence_count"] == 2
    assert UUID(after["id"]) in gone.weakened and not gone.retracted


def test_what_was_deleted_is_absent_between_and_present_before_and_after(shelf: Shelf) -> None:
    shelf.put("one", TEXT)
    before, whole = shelf.seq, shelf.facts("Orion")
    gone = shelf.delete("one")
    back = shelf.restore(gone)
    assert (len(back.version_ids), back.chunks, back.refused, back.kept_out) == (1, 1, 0, ())

    both = ["leads Ada", "motto Excelsior"]
    assert shelf.told("Orion", before) == shelf.told("Orion", gone.seq - 1) == both
    assert shelf.told("Orion", gone.seq) == shelf.told("Orion", back.seq - 1) == []
    assert shelf.told("Orion", back.seq) == shelf.told("Orion") == both
    for seq in (
        before,
        None,
    ):  # the world's clock is as it was: dated by its own words, attested by the document's date
        assert shelf.told("Orion", seq, at="2023-04") == []
        assert shelf.told("Orion", seq, at="2023-05") == ["leads Ada"]
        assert shelf.told("Orion", seq, at="2024-01-01") == both
    assert shelf.told("Orion", gone.seq, at="2024-01-01") == []

    same = ("lineage_id", "valid_from", "valid_from_precision", "attested_from", "grade", "phrase", "confidence")
    old, new = ({f["predicate_key"]: f for f in found} for found in (whole, shelf.facts("Orion")))
    for key, was in old.items():
        assert [was[c] for c in same] == [new[key][c] for c in same]
        assert was["id"] != new[key]["id"], "a closed row is not opened again"
        assert was["evidence"][0]["quote"] == new[key]["evidence"][0]["quote"]
    [note] = shelf.rows("select * from document_restorations")
    assert sorted(i for i, _ in note["items"]["facts"]) == sorted(map(str, gone.retracted))
    assert {n for _, n in note["items"]["facts"]} >= {f["id"] for f in new.values()}
    assert shelf.verified()


def test_no_model_is_asked_again_and_running_the_pipeline_changes_nothing(shelf: Shelf) -> None:
    shelf.put("one", TEXT)
    shelf.restore(shelf.delete("one"))
    asked, facts, evidence = (
        (shelf.extractor.asked, shelf.embedder.asked),
        shelf.facts("Orion"),
        "select 1 from evidence",
    )
    links = len(shelf.rows(evidence))
    shelf.read()
    assert (shelf.extractor.asked, shelf.embedder.asked) == asked
    assert shelf.facts("Orion") == facts
    assert len(shelf.rows(evidence)) == links
    spent = shelf.rows("select sum(prompt_tokens) as tokens from extraction_usage")
    assert spent[0]["tokens"] == 7, "what a reading cost is counted once"
    again = shelf.delete("one")
    assert shelf.told("Orion") == [] and again.chunks == 1


def test_search_finds_the_passages_again_at_once(shelf: Shelf, settings: Settings) -> None:
    shelf.put("one", TEXT)

    def found(seq: int | None = None) -> list[str]:
        from substrate import reads

        with shelf.database.read(shelf.kb) as conn:
            moment = reads.resolve(conn, shelf.kb, as_of=None if seq is None else f"seq:{seq}")
            answer = search_chunks(conn, shelf.kb, "motto", moment, embedder=shelf.embedder, settings=settings)
        assert answer["arms"]["vector"].startswith("ok" if answer["chunks"] else "ok: no vector")
        return [c["text"].strip() for c in answer["chunks"]]

    [passage] = found()
    gone = shelf.delete("one")
    assert found() == []
    back = shelf.restore(gone)
    assert found() == [passage]
    assert found(gone.seq) == [] and found(gone.seq - 1) == [passage] == found(back.seq)


def test_what_was_refused_since_stays_out_and_the_rest_comes_back(shelf: Shelf) -> None:
    shelf.put("one", TEXT)
    shelf.put("two", "Ada leads Orion.\n")
    gone = shelf.delete("one")
    [leads] = shelf.facts("Orion")
    with shelf.database.write(shelf.kb) as conn, open_door(conn, shelf.kb, action="fact rejected", **BY) as door:
        reject_fact(door, UUID(leads["id"]), "she never did")
    back = shelf.restore(gone)
    assert back.refused == 1
    assert shelf.told("Orion") == ["motto Excelsior"]
    [again] = shelf.rows("select document_id from refusal_restatements")
    assert again["document_id"] == gone.document_id, "the restatement is counted with its document"
    shelf.read()
    assert shelf.told("Orion") == ["motto Excelsior"]


def test_a_refusal_before_the_restoration_refers_to_the_same_lineage_after_it(shelf: Shelf) -> None:
    shelf.put("one", TEXT)
    [motto] = [f for f in shelf.facts("Orion") if f["predicate_key"] == "motto"]
    shelf.restore(shelf.delete("one"))
    [again] = [f for f in shelf.facts("Orion") if f["predicate_key"] == "motto"]
    assert again["lineage_id"] == motto["lineage_id"]
    with shelf.database.write(shelf.kb) as conn, open_door(conn, shelf.kb, action="fact rejected", **BY) as door:
        reject_fact(door, UUID(again["id"]), "no")
    assert shelf.told("Orion") == ["leads Ada"]


def test_a_fact_that_another_document_states_meanwhile_gains_evidence(shelf: Shelf) -> None:
    shelf.put("one", TEXT)
    gone = shelf.delete("one")
    shelf.put("two", "The motto of Orion is Excelsior.\n")
    [meanwhile] = shelf.facts("Orion")
    back = shelf.restore(gone)
    [motto] = [f for f in shelf.facts("Orion") if f["predicate_key"] == "motto"]
    assert (motto["id"], motto["evidence_count"]) == (meanwhile["id"], 2)
    listed = shelf.rows("select id from facts where predicate_key = 'motto' and invalidated_seq = %s", gone.seq)
    assert [r["id"] for r in listed] == [i for i in back.kept_out if i in {r["id"] for r in listed}]
    assert shelf.verified()


def test_two_documents_deleted_one_after_the_other_come_back_in_any_order(shelf: Shelf) -> None:
    shelf.put("one", TEXT)
    shelf.put("two", TEXT)
    lineages = {f["lineage_id"] for f in shelf.facts("Orion")}
    gone = [shelf.delete("one"), shelf.delete("two")]
    assert shelf.told("Orion") == []
    for deletion, evidence in zip(gone, (1, 2), strict=True):
        shelf.restore(deletion)
        facts = shelf.facts("Orion")
        assert {f["lineage_id"] for f in facts} == lineages
        assert {f["evidence_count"] for f in facts} == {evidence}


def test_a_successor_is_cut_by_what_comes_back(shelf: Shelf) -> None:
    shelf.put("one", "Ada leads Orion since 2020.\n")
    shelf.put("two", "Bo leads Orion since 2022.\n")
    gone = shelf.delete("two")
    assert shelf.told("Orion", at="2023") == ["leads Ada"]
    shelf.restore(gone)
    assert shelf.told("Orion", at="2023") == ["leads Bo"]
    assert shelf.told("Orion", gone.seq, at="2023") == ["leads Ada"]


def test_a_document_deleted_before_it_was_read_is_read_after_it_came_back(shelf: Shelf) -> None:
    shelf.put("one", TEXT, read=False)
    gone = shelf.delete("one")
    shelf.read()
    assert shelf.told("Orion") == []
    shelf.restore(gone)
    assert shelf.told("Orion") == []
    shelf.read()
    assert shelf.told("Orion") == ["leads Ada", "motto Excelsior"]


def test_a_document_deleted_half_read_is_read_to_the_end_after_it_came_back(shelf: Shelf) -> None:
    shelf.put("one", TEXT, read=False)
    run_parse(shelf.database, shelf.kb)
    run_claims(shelf.database, shelf.kb, shelf.extractor)
    gone = shelf.delete("one")
    shelf.read()
    asked = shelf.extractor.asked
    shelf.restore(gone)
    shelf.read()
    assert shelf.told("Orion") == ["leads Ada", "motto Excelsior"]
    assert shelf.extractor.asked == asked


def test_a_stretch_that_a_rival_cut_in_two_meanwhile_goes_on_under_its_lineage_once(shelf: Shelf) -> None:
    shelf.put("one", "Ada leads Orion since 2020.\n\nAda leads Orion since 2022.\n")
    [whole] = shelf.facts("Orion")
    gone = shelf.delete("one")
    shelf.put("two", "Bo leads Orion since 2021.\n")
    shelf.restore(gone)
    stretches = [f for f in shelf.facts("Orion") if f["other_name"] == "Ada"]
    assert [f["valid_from"][:4] for f in stretches] == ["2020", "2022"]
    assert [f["lineage_id"] for f in stretches].count(whole["lineage_id"]) == 1
    assert shelf.verified()


def test_a_document_deleted_between_two_versions_comes_back_between_them(shelf: Shelf) -> None:
    shelf.put("one", "Ada leads Orion.\n")
    shelf.put("one", TEXT, read=False)
    gone = shelf.delete("one")
    assert len(gone.version_ids) == 2
    shelf.restore(gone)
    assert shelf.told("Orion") == ["leads Ada"]
    shelf.read()
    assert shelf.told("Orion") == ["leads Ada", "motto Excelsior"]
    assert len(shelf.rows("select 1 from document_versions where invalidated_seq is null")) == 1
    assert shelf.verified()


def test_proposals_of_a_remembered_sentence_go_with_it_and_wait_again(shelf: Shelf) -> None:
    document = shelf.remember("Ada leads Orion. The motto of Orion is Excelsior.")
    waiting = "select id, claim_id from pending_facts where invalidated_seq is null order by id"
    first, second = shelf.rows(waiting)
    kept = confirm(shelf, first["id"])
    gone = delete(shelf.database, shelf.kb, document_id=document, **BY)
    assert shelf.rows(waiting) == []
    assert shelf.told("Orion") == []
    shelf.restore(gone)
    shelf.read()
    [again] = shelf.rows(waiting)
    assert again["id"] not in (first["id"], second["id"])
    assert len(shelf.told("Orion")) == 1
    lineages = shelf.rows("select lineage_id from facts where invalidated_seq is null and predicate_key <> 'known_as'")
    assert {r["lineage_id"] for r in lineages} <= set(kept)
    confirm(shelf, again["id"])
    assert shelf.told("Orion") == ["leads Ada", "motto Excelsior"]


def decide(shelf: Shelf, yes: list[UUID], no: list[UUID]) -> UUID:
    with shelf.database.write(shelf.kb) as conn, open_door(conn, shelf.kb, action="decided", **BY) as door:
        return verdicts.decide(door, yes, no).batch_id


def take_back(shelf: Shelf, batch: UUID) -> None:
    with shelf.database.write(shelf.kb) as conn, open_door(conn, shelf.kb, action="taken back", **BY) as door:
        verdicts.revert_batch(door, batch)


WAITING = """select p.id, c.phrase from pending_facts p join claims c on c.id = p.claim_id
             where p.invalidated_seq is null order by c.phrase"""


@pytest.mark.parametrize("when", ["before", "between", "after"])
def test_verdicts_that_are_taken_back_stay_taken_back(shelf: Shelf, when: str) -> None:
    document = shelf.remember("Ada leads Orion. The motto of Orion is Excelsior.")
    leads, motto = (row["id"] for row in shelf.rows(WAITING))
    batch = decide(shelf, [leads], [motto])
    assert shelf.told("Orion") == ["leads Ada"]
    if when == "before":
        take_back(shelf, batch)
        assert len(shelf.rows(WAITING)) == 2
    gone = delete(shelf.database, shelf.kb, document_id=document, **BY)
    assert shelf.rows(WAITING) == [] and shelf.told("Orion") == []
    if when == "between":
        take_back(shelf, batch)
        assert shelf.rows(WAITING) == []
    shelf.restore(gone)
    if when == "after":
        assert shelf.told("Orion") == ["leads Ada"] and shelf.rows(WAITING) == []
        take_back(shelf, batch)
    shelf.read()
    assert [row["phrase"] for row in shelf.rows(WAITING)] == ["leads", "motto"]
    assert shelf.told("Orion") == [] and shelf.rows("select 1 from refusals where invalidated_seq is null") == []
    decide(shelf, [row["id"] for row in shelf.rows(WAITING)], [])
    assert shelf.told("Orion") == ["leads Ada", "motto Excelsior"] and shelf.verified()


def test_a_sentence_of_which_nothing_was_decided_takes_its_proposals_along(shelf: Shelf) -> None:
    document = shelf.remember("Ada leads Orion. The motto of Orion is Excelsior.")
    waiting = "select id from pending_facts where invalidated_seq is null"
    assert len(shelf.rows(waiting)) == 2
    gone = delete(shelf.database, shelf.kb, document_id=document, **BY)
    assert shelf.rows(waiting) == []
    shelf.restore(gone)
    assert len(shelf.rows(waiting)) == 2
    shelf.read()
    assert len(shelf.rows(waiting)) == 2 and shelf.verified()


def test_a_restoration_that_cannot_be_is_refused_and_writes_nothing(shelf: Shelf) -> None:
    shelf.put("one", TEXT)
    gone = shelf.delete("one")
    with pytest.raises(NotFound):
        restore(shelf.database, shelf.kb, uuid4(), **BY)
    shelf.put("one", "Bo leads Vega.\n")
    head = shelf.seq
    with pytest.raises(Conflict, match="came in again"):
        shelf.restore(gone)
    assert (shelf.seq, shelf.told("Vega"), shelf.told("Orion")) == (head, ["leads Bo"], [])
    later = shelf.delete("one")
    shelf.restore(gone)
    assert (shelf.told("Vega"), shelf.told("Orion")) == ([], ["leads Ada", "motto Excelsior"])
    with pytest.raises(Conflict, match="undone before"):
        shelf.restore(gone)
    with pytest.raises(Conflict, match="came in again"):
        shelf.restore(later)


def test_a_deletion_of_nothing_is_no_event(shelf: Shelf) -> None:
    shelf.put("one", TEXT)
    shelf.delete("one")
    head = shelf.seq
    again = shelf.delete("one")
    assert (again.seq, again.deletion_id, shelf.seq) == (None, None, head)
    assert len(shelf.rows("select 1 from document_deletions")) == 1


def test_of_two_restorations_at_once_one_is_done(shelf: Shelf) -> None:
    shelf.put("one", TEXT)
    gone = shelf.delete("one")
    outcomes: list[str] = []

    def again() -> None:
        try:
            shelf.restore(gone)
            outcomes.append("done")
        except Conflict:
            outcomes.append("refused")

    threads = [threading.Thread(target=again) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["done", "refused", "refused", "refused"]
    assert len(shelf.rows("select 1 from chunks where invalidated_seq is null")) == 1


def test_a_restoration_that_dies_half_way_leaves_nothing(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    from substrate.documents import restore as module

    shelf.put("one", TEXT)
    gone = shelf.delete("one")
    head = shelf.seq
    with monkeypatch.context() as patched:
        patched.setattr(module._Restoration, "_note", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            shelf.restore(gone)
    assert shelf.seq == head and shelf.told("Orion") == []
    assert shelf.rows("select 1 from chunks where invalidated_seq is null") == []
    assert shelf.restore(gone).seq == head + 1
    assert shelf.told("Orion") == ["leads Ada", "motto Excelsior"] and shelf.verified()


def test_the_same_bytes_after_a_restoration_are_nothing_new(shelf: Shelf) -> None:
    shelf.put("one", TEXT)
    shelf.restore(shelf.delete("one"))
    head = shelf.seq
    shelf.put("one", TEXT)
    assert shelf.seq == head
    shelf.put("one", "The motto of Orion is Ultra.\n")
    assert shelf.told("Orion") == ["motto Ultra"]
    assert shelf.told("Orion", head) == ["leads Ada", "motto Excelsior"]


def test_a_document_pushed_again_after_its_deletion_says_what_it_says(shelf: Shelf) -> None:
    shelf.put("one", TEXT)
    before = shelf.seq
    gone = shelf.delete("one")
    shelf.put("one", TEXT)
    both = ["leads Ada", "motto Excelsior"]
    assert (shelf.told("Orion", before), shelf.told("Orion", gone.seq), shelf.told("Orion")) == (both, [], both)
    lineage = {f["evidence_count"] for f in shelf.facts("Orion")}
    assert lineage == {1}
    head = shelf.seq
    shelf.put("one", TEXT)
    assert shelf.seq == head, "the same bytes again are nothing new"
