"""After a purge no word of a document is left in any table, in the log, in an export or in the index on disk."""

from __future__ import annotations

import io
from pathlib import Path
from uuid import UUID, uuid4

import psycopg
import pytest

from substrate import reads, work
from substrate.audit.verify import verify_seals
from substrate.db import Database
from substrate.documents.deletion import delete
from substrate.documents.folders import sync_folder
from substrate.documents.intake import PushItem, push
from substrate.documents.purge import Purged, purge
from substrate.documents.restore import restore
from substrate.errors import Conflict, InvalidInput, NotFound
from substrate.ledger import open_door, verdicts
from substrate.ledger.exports import export_log, verify_export
from substrate.ledger.merges import merge
from substrate.ledger.retractions import reject_fact
from substrate.ledger.verify import VerifyReport, verify
from substrate.retrieval.analysis import terms
from substrate.retrieval.lexical import run_index
from substrate.retrieval.lexical_schema import FIELDS, open_index
from substrate.settings import Settings
from tests.substrate.documents.lifecycle import BY, Shelf

CANARY = "zyxcanary"
TEXT = f"""# {CANARY} plans

Ada leads Orion.

Zyxcanary leads Vega since 2023-05.

The motto of Orion is Zyxcanarymotto.

The motto of Heron is Zyxcanaryrefused.

{CANARY} is nothing that the extractor reads.
"""


@pytest.fixture
def shelf(database: Database, kb: UUID) -> Shelf:
    return Shelf(database, kb)


def put(shelf: Shelf) -> UUID:
    """A document with the canary in every place that has one, beside another that shares a fact with it."""
    shelf.put("other", "Ada leads Orion.\n\nThe motto of Vega is Plain.\n")
    item = PushItem(f"{CANARY}/memo", f"{CANARY}.md", TEXT.encode(), "2024-01-01", author=f"Dr {CANARY}")
    [result] = push(shelf.database, shelf.kb, [item], **BY)
    shelf.read()
    return result.document_id


def erase(shelf: Shelf, document: UUID, why: str = "asked for by the person it is about") -> Purged:
    return purge(shelf.database, shelf.kb, document, why, **BY)


def found(dsn: str, canary: str = CANARY) -> set[str]:
    """Tables with the canary in any column, whatever its type, spelled in any case."""
    places = set()
    with psycopg.connect(dsn) as owner:
        owner.execute("set bytea_output = 'hex'")
        tables = owner.execute(
            "select oid::regclass::text from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace"
        )
        for (table,) in tables.fetchall():
            for (row,) in owner.execute(f"select t::text from {table} t"):
                lower = row.lower()
                if any(word in lower for word in (canary, canary.encode().hex(), canary.title().encode().hex())):
                    places.add(table)
    return places


def report(shelf: Shelf) -> VerifyReport:
    with shelf.database.read(shelf.kb) as conn:
        return verify(conn, shelf.kb)


def export(shelf: Shelf) -> bytes:
    out = io.BytesIO()
    with shelf.database.read(shelf.kb) as conn:
        export_log(conn, shelf.kb, out)
    return out.getvalue()


def test_no_word_of_it_is_left_anywhere(shelf: Shelf, dsn: str, settings: Settings) -> None:
    document = put(shelf)
    [refused] = [f for f in shelf.facts("Heron") if f["predicate_key"] == "motto"]
    with shelf.database.write(shelf.kb) as conn, open_door(conn, shelf.kb, action="fact rejected", **BY) as door:
        reject_fact(door, UUID(refused["id"]), "no")
    gone = shelf.delete(f"{CANARY}/memo")
    shelf.restore(gone)
    shelf.read()
    shelf.delete(f"{CANARY}/memo")
    run_index(shelf.database, shelf.kb, settings)
    everywhere = {"documents", "document_versions", "chunks", "claims", "assertions", "facts", "entities", "mentions"}
    everywhere |= {"blobs", "parse_results", "extraction_drops", "ledger_log", "refusals"}
    assert found(dsn) >= everywhere
    assert CANARY.encode() in export(shelf).lower() and on_disk(settings)

    done = erase(shelf, document)
    assert found(dsn) == set()
    assert CANARY.encode() not in export(shelf).lower()
    run_index(shelf.database, shelf.kb, settings)
    assert not on_disk(settings)
    after = report(shelf)
    assert after.ok, after.problem
    assert after.purged_events == done.events > 0
    assert verify_export(io.BytesIO(export(shelf))).ok
    assert verify_export(io.BytesIO(export(shelf))).purged_events == done.events
    with shelf.database.read(shelf.kb) as conn:
        sealed = verify_seals(conn, shelf.kb)
    assert sealed.ok, sealed.problem


def on_disk(settings: Settings) -> int:
    """In how many passages the canary stands, by what the directories on disk know, those taken out included."""
    stems = set(terms([CANARY]))
    searchers = [open_index(d).searcher() for d in settings.index_dir.glob("*/v*-*")]
    return sum(s.doc_freq(name, stem) for s in searchers for name in FIELDS for stem in stems)


def test_what_others_say_stays_and_the_rest_reads_as_a_stub_at_every_moment(shelf: Shelf) -> None:
    document = put(shelf)
    before = shelf.seq
    assert shelf.told("Orion") == ["leads Ada", "motto Zyxcanarymotto"]
    gone = shelf.delete(f"{CANARY}/memo")
    done = erase(shelf, document, "asked for")
    for seq in (None, gone.seq, done.seq):
        assert shelf.told("Orion", seq) == ["leads Ada"]
    facts = {f["phrase"]: f for f in shelf.facts("Orion", before)}
    assert set(facts) == {"leads", "[purged]"}
    stub = facts["[purged]"]
    assert (stub["predicate_key"], stub["object_value"]["raw"], stub["valid_from"]) == (None, "[purged]", None)
    told = stub["since"]["purged"]
    assert (told["why"], told["by"], told["seq"], told["document_id"]) == (
        "asked for",
        "person:Ada",
        done.seq,
        str(document),
    )
    assert facts["leads"]["since"] is None or facts["leads"]["since"].get("purged") is None
    assert [e["quote"] for e in facts["leads"]["evidence"] if e["quote"]] == ["Ada leads Orion."]

    with shelf.database.read(shelf.kb) as conn:
        then = reads.get_document(conn, shelf.kb, document, 0, reads.resolve(conn, shelf.kb, as_of=f"seq:{before}"))
        [deletion] = reads.document_deletions(conn, shelf.kb, reads.resolve(conn, shelf.kb), document)["deletions"]
    assert then["sections"] == [] and then["purged"]["why"] == "asked for"
    assert (then["filename"], then["external_id"]) == ("[purged]", f"purged:{document}")
    assert deletion["purged"]["seq"] == done.seq
    assert shelf.told("Vega") == ["motto Plain"]


def test_words_in_conflicts_verdicts_and_merges_go_too(shelf: Shelf, dsn: str) -> None:
    shelf.put("one", "The colour of Orion is Red.\n", None)
    document = shelf.put(CANARY, "The colour of Orion is Zyxcanaryblue.\n\nZyxcanary leads Vega.\n", None)
    merged = shelf.put("two", "Z Vance leads Heron.\n")
    [conflict] = shelf.rows("select * from conflicts")
    assert "conflicts" in found(dsn) and conflict["invalidated_seq"] is None
    [leader] = shelf.rows("select id from entities where label = 'Zyxcanary'")
    [other] = shelf.rows("select id from entities where label = 'Vance'")
    with shelf.database.write(shelf.kb) as conn, open_door(conn, shelf.kb, action="merged", **BY) as door:
        merge(door, leader["id"], other["id"], "one person")
    sentence = shelf.remember("The motto of Vega is \uff3ayxcanaryspoken.")  # refused in its folded form
    [waiting] = shelf.rows("select id from pending_facts where invalidated_seq is null")
    with shelf.database.write(shelf.kb) as conn, open_door(conn, shelf.kb, action="decided", **BY) as door:
        verdicts.decide(door, [], [waiting["id"]], "no")
    before = shelf.seq
    shelf.delete(CANARY)
    delete(shelf.database, shelf.kb, document_id=sentence, **BY)
    for gone in (document, sentence):
        erase(shelf, gone)
    assert found(dsn) == set() and merged
    assert report(shelf).ok, report(shelf).problem
    assert shelf.told("Orion") == ["colour Red"]
    assert shelf.told("Vance") == ["leads Heron"]
    assert shelf.told("Vance", before) == ["None [purged]", "leads Heron"]


def test_an_entity_that_another_document_names_keeps_its_label(shelf: Shelf) -> None:
    document = put(shelf)
    shelf.delete(f"{CANARY}/memo")
    erase(shelf, document)
    labels = {r["label"] for r in shelf.rows("select label from entities")}
    assert labels == {"Ada", "Orion", "Vega", "Plain", "[purged]"} - {"Plain"}


def test_a_fact_of_two_documents_goes_with_the_last_of_them(shelf: Shelf, dsn: str) -> None:
    for name in ("one", "two"):
        shelf.put(name, "Zyxcanary leads Orion.\n")
    before = shelf.seq
    [leader] = {f["other_id"] for f in shelf.facts("Orion")}
    gone = [shelf.delete(name) for name in ("one", "two")]
    erase(shelf, gone[0].document_id)
    assert shelf.told("Orion", before) == ["leads Zyxcanary"]
    assert report(shelf).ok
    erase(shelf, gone[1].document_id)
    assert found(dsn) == set()
    assert shelf.told("Orion", before) == [] and shelf.told(leader, before) == ["None [purged]"]
    assert report(shelf).ok, report(shelf).problem


def test_the_same_bytes_pushed_again_are_a_new_document(shelf: Shelf) -> None:
    document = put(shelf)
    shelf.delete(f"{CANARY}/memo")
    erase(shelf, document)
    item = PushItem(f"{CANARY}/memo", f"{CANARY}.md", TEXT.encode(), "2024-01-01")
    [again] = push(shelf.database, shelf.kb, [item], **BY)
    assert again.action == "created" and again.document_id != document
    shelf.read()
    assert shelf.told("Orion") == ["leads Ada", "motto Zyxcanarymotto"]
    assert report(shelf).ok


def test_a_purge_wakes_the_pipeline_once(shelf: Shelf) -> None:
    document = put(shelf)
    shelf.delete(f"{CANARY}/memo")

    def due() -> dict[str, int]:
        with shelf.database.read(shelf.kb) as conn:
            return work.due_counts(conn, shelf.kb)

    assert due() == {}
    erase(shelf, document)
    assert due() == {"parse": 1}
    head = shelf.seq
    shelf.read()
    assert (due(), shelf.seq) == ({}, head) and report(shelf).ok


def test_bytes_that_another_document_shares_stay(shelf: Shelf) -> None:
    shelf.put("one", "Ada leads Orion.\n")
    shelf.put("two", "Ada leads Orion.\n")
    gone = shelf.delete("one")
    erase(shelf, gone.document_id)
    shelf.put("two", "Ada leads Orion.\n", "2024-02-01")
    assert [bytes(r["content"]) for r in shelf.rows("select content from blobs where content <> ''")] == [
        b"Ada leads Orion.\n"
    ]


def test_a_remembered_sentence_can_be_purged(shelf: Shelf, dsn: str) -> None:
    document = shelf.remember("Zyxcanary leads Orion.")
    delete(shelf.database, shelf.kb, document_id=document, **BY)
    erase(shelf, document)
    assert found(dsn) == set() and report(shelf).ok


def test_a_purge_that_may_not_be_is_refused_and_writes_nothing(shelf: Shelf) -> None:
    document = put(shelf)
    head = shelf.seq
    with pytest.raises(Conflict, match="delete it first"):
        erase(shelf, document)
    with pytest.raises(NotFound):
        erase(shelf, uuid4())
    with pytest.raises(InvalidInput, match="why"):
        erase(shelf, document, " ")
    assert shelf.seq == head
    gone = shelf.delete(f"{CANARY}/memo")
    erase(shelf, document)
    with pytest.raises(Conflict, match="purged before"):
        erase(shelf, document)
    with pytest.raises(Conflict, match="nothing is left to restore"):
        restore(shelf.database, shelf.kb, gone.deletion_id, **BY)


def test_what_a_kept_folder_would_bring_in_again_is_not_purged(shelf: Shelf, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.md").write_text("Ada leads Orion.")
    sync_folder(shelf.database, shelf.kb, folder, actor="person:Ada", via="cli")
    gone = shelf.delete("a.md")
    with pytest.raises(Conflict, match="would come in again"):
        erase(shelf, gone.document_id)
    (folder / "a.md").unlink()
    erase(shelf, gone.document_id)
    report_ = sync_folder(shelf.database, shelf.kb, folder, actor="person:Ada", via="cli")
    assert (report_.counts, report_.missing) == ({}, ())


@pytest.mark.parametrize(
    "statement",
    [
        "select purge_document(%(kb)s, gen_random_uuid())",
        "update chunks set text = '' where kb_id = %(kb)s",
        "update claims set quote = 'x' where kb_id = %(kb)s",
        "update documents set external_id = 'x' where kb_id = %(kb)s",
        "update ledger_log set payload = null, salt = null, payload_hash = sha256(salt || payload) "
        "where kb_id = %(kb)s and kind = 'insert chunks'",
        "delete from blobs where kb_id = %(kb)s",
        "update chunks set invalidated_seq = null, invalidated_at = null, invalidated_kind = null where kb_id = %(kb)s",
        "update facts set invalidated_seq = 1 where kb_id = %(kb)s and invalidated_seq is not null",
    ],
)
@pytest.mark.parametrize("marked", [False, True])
def test_the_applications_role_erases_nothing_by_hand(shelf: Shelf, statement: str, marked: bool) -> None:
    document = put(shelf)
    shelf.delete(f"{CANARY}/memo")

    def by_hand() -> None:
        with shelf.database.write(shelf.kb) as conn:
            if marked:
                conn.execute("select set_config('twoclocks.purging', 'yes', true)")
            conn.execute(statement, {"kb": shelf.kb, "document": document})

    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        by_hand()


def test_a_purge_of_another_transaction_erases_nothing(shelf: Shelf, dsn: str) -> None:
    document = put(shelf)
    shelf.delete(f"{CANARY}/memo")
    done = erase(shelf, document)
    with psycopg.connect(dsn) as owner:  # as if a backup had brought the words back
        owner.execute("set session_replication_role = replica")
        owner.execute("update chunks set text = %s where document_id = %s", (CANARY, document))

    def by_hand() -> None:
        with shelf.database.write(shelf.kb) as conn:
            conn.execute("select purge_document(%s, %s)", (shelf.kb, done.purge_id))

    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="same transaction"):
        by_hand()


def test_a_purge_that_the_chain_does_not_know_cannot_be_committed(shelf: Shelf, dsn: str) -> None:
    document = put(shelf)
    shelf.delete(f"{CANARY}/memo")
    head, purge_id = shelf.seq, uuid4()

    def by_hand() -> None:
        with shelf.database.write(shelf.kb) as conn:
            row = (shelf.kb, purge_id, document, "by hand", head)
            conn.execute("insert into document_purges values (%s, %s, %s, %s, %s, clock_timestamp())", row)
            conn.execute("select purge_document(%s, %s)", (shelf.kb, purge_id))

    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="chained"):
        by_hand()
    assert "chunks" in found(dsn) and report(shelf).ok


def test_a_purge_that_dies_half_way_erases_nothing(shelf: Shelf, dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from substrate.documents import purge as module

    document = put(shelf)
    shelf.delete(f"{CANARY}/memo")
    head, places = shelf.seq, found(dsn)
    real = module.erase_document

    def dies(*arguments: object) -> None:
        real(*arguments)
        raise ZeroDivisionError

    with monkeypatch.context() as patched:
        patched.setattr(module, "erase_document", dies)
        with pytest.raises(ZeroDivisionError):
            erase(shelf, document)
    assert (shelf.seq, found(dsn)) == (head, places) and report(shelf).ok


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("update chunks set text = 'Ada leads Lyra.' where document_id = %(document)s", "chunks"),
        ("update assertions set quote = 'x' where document_id = %(document)s", "assertions"),
        ("update facts set value_raw = 'x' where phrase = '[purged]' and value_raw is not null", "facts"),
        ("delete from document_purges", "document_purges"),
        (
            "update ledger_log set payload = null, salt = null, payload_hash = sha256(salt || payload) "
            "where kind = 'insert document_deletions'",
            "no purge says so",
        ),
    ],
)
def test_what_is_done_to_a_tombstone_by_hand_is_damage(shelf: Shelf, dsn: str, statement: str, problem: str) -> None:
    document = put(shelf)
    shelf.delete(f"{CANARY}/memo")
    erase(shelf, document)
    assert report(shelf).ok
    with psycopg.connect(dsn) as owner:
        owner.execute("set session_replication_role = replica")
        owner.execute(statement, {"document": document})
    after = report(shelf)
    assert not after.ok and problem in after.problem, after.problem
