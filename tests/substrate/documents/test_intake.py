"""Push, remember, delete and the kept folder: what is written, what is not, and what is refused by name."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from substrate import work
from substrate.db import EVERY_BASE, Database
from substrate.documents.folders import fingerprint, sync_folder, sync_watched, watched_folders
from substrate.documents.intake import PushItem, delete, push, remember
from substrate.errors import Conflict, InvalidInput, NotFound

BY = {"actor": "person:Ada", "via": "rest"}


def item(name: str = "memo", content: bytes = b"Ada leads Orion.", **more: Any) -> PushItem:
    return PushItem(name, f"{name}.txt", content, **more)


def head(database: Database, kb: UUID) -> int:
    with database.read(kb) as conn:
        return work.watermark(conn, kb)


def rows(database: Database, statement: str, *values: object) -> list[dict[str, Any]]:
    with database.read(EVERY_BASE) as conn:
        return conn.execute(statement, values).fetchall()


def test_a_new_document_is_one_version_due_for_parsing(database: Database, kb: UUID) -> None:
    [result] = push(database, kb, [item(doc_time="2024-03")], **BY)
    assert result.action == "created"
    [version] = rows(database, "select * from document_versions")
    assert (version["id"], version["number"], version["doc_time_precision"]) == (result.version_id, 1, "month")
    assert version["recorded_seq"] == head(database, kb) == 1
    with database.read(kb) as conn:
        assert work.due_counts(conn, kb) == {"parse": 1}


def test_the_same_bytes_and_date_write_nothing_and_others_make_a_version(database: Database, kb: UUID) -> None:
    [first] = push(database, kb, [item(doc_time="2024-03")], **BY)
    [again] = push(database, kb, [item(doc_time="2024-03")], **BY)
    assert (again.action, again.version_id) == ("unchanged", first.version_id)
    assert head(database, kb) == 1
    [dated] = push(database, kb, [item(doc_time="2024-03-01")], **BY)
    [worded] = push(database, kb, [item(content=b"Bo leads Orion.", doc_time="2024-03-01")], **BY)
    assert (dated.action, worded.action) == ("updated", "updated")
    numbers = rows(database, "select number, invalidated_seq from document_versions order by number")
    assert [(n["number"], n["invalidated_seq"]) for n in numbers] == [(1, None), (2, None), (3, None)]
    assert len(rows(database, "select 1 from blobs")) == 2


def test_a_deleted_document_that_is_pushed_again_revives(database: Database, kb: UUID) -> None:
    [first] = push(database, kb, [item()], **BY)
    gone = delete(database, kb, external_id="memo", why="withdrawn", **BY)
    assert (gone.document_id, gone.version_ids) == (first.document_id, (first.version_id,))
    [version] = rows(database, "select invalidated_seq, invalidated_kind from document_versions")
    assert (version["invalidated_seq"], version["invalidated_kind"]) == (gone.seq, "deleted")
    assert delete(database, kb, document_id=first.document_id, **BY).seq is None
    assert head(database, kb) == gone.seq
    [back] = push(database, kb, [item()], **BY)
    assert (back.action, back.document_id) == ("revived", first.document_id)


def test_deleting_needs_one_known_document(database: Database, kb: UUID) -> None:
    with pytest.raises(NotFound):
        delete(database, kb, external_id="nothing", **BY)
    with pytest.raises(InvalidInput):
        delete(database, kb, **BY)
    push(database, kb, [item()], source="one", **BY)
    push(database, kb, [item()], source="two", **BY)
    with pytest.raises(Conflict):
        delete(database, kb, external_id="memo", **BY)


@pytest.mark.parametrize(
    ("bad", "field"),
    [
        (item(doc_time="March"), "doc_time"),
        (item(doc_time="2024-02-30"), "doc_time"),
        (item(" "), "external_id"),
        (item("a\0b"), "external_id"),
        (PushItem("a", "", b""), "filename"),
        (PushItem("a", "a\ud800.txt", b""), "filename"),
        (item(namespace="x\0"), "namespace"),
        (item(media_type="text/\0"), "media_type"),
        (item("x" * 1025), "external_id"),
        (item(content=bytes(25 * 1024 * 1024 + 1)), "content"),
    ],
)
def test_a_bad_item_is_refused_by_field_and_nothing_of_its_batch_is_written(
    database: Database, kb: UUID, bad: PushItem, field: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        push(database, kb, [item("good"), bad], **BY)
    assert refused.value.facts["field"] == field
    assert head(database, kb) == 0
    assert rows(database, "select 1 from blobs") == []


def test_a_batch_may_name_a_document_once(database: Database, kb: UUID) -> None:
    with pytest.raises(InvalidInput, match="twice"):
        push(database, kb, [item(), item()], **BY)


def test_an_unknown_base_is_not_found(database: Database) -> None:
    with pytest.raises(NotFound):
        push(database, uuid4(), [item()], **BY)


def test_racing_pushes_of_one_document_make_one_version(database: Database, kb: UUID) -> None:
    with ThreadPoolExecutor(6) as pool:
        actions = sorted(r[0].action for r in pool.map(lambda _: push(database, kb, [item()], **BY), range(6)))
    assert actions == ["created", *["unchanged"] * 5]
    assert len(rows(database, "select 1 from document_versions")) == 1


def test_a_remembered_sentence_is_a_chunk_at_once(database: Database, kb: UUID) -> None:
    said = remember(database, kb, "We chose Lisbon.\n", "2024-05-06", author="Ada", **BY)
    [chunk] = rows(database, "select * from chunks")
    assert (chunk["id"], chunk["text"], chunk["document_id"]) == (said.chunk_id, "We chose Lisbon.\n", said.document_id)
    assert chunk["recorded_seq"] == said.seq == head(database, kb)
    [version] = rows(database, "select author, doc_time_precision from document_versions")
    assert (version["author"], version["doc_time_precision"]) == ("Ada", "day")
    with database.read(kb) as conn:
        assert work.due_counts(conn, kb) == {"parse": 1}


def test_a_repeated_call_with_its_key_remembers_once(database: Database, kb: UUID) -> None:
    first = remember(database, kb, "We chose Lisbon.", idempotency_key="k1", **BY)
    assert remember(database, kb, "We chose Lisbon.", idempotency_key="k1", **BY) == first
    assert remember(database, kb, "We chose Lisbon.", idempotency_key="k2", **BY) != first
    assert len(rows(database, "select 1 from documents")) == 2


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"text": " \n"}, "text"),
        ({"text": "a\0b"}, "text"),
        ({"text": "x" * 20_001}, "text"),
        ({"text": "x", "occurred_at": "yesterday"}, "occurred_at"),
        ({"text": "x", "author": "\0"}, "author"),
    ],
)
def test_what_cannot_be_remembered_is_refused_by_field(
    database: Database, kb: UUID, arguments: dict[str, str], field: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        remember(database, kb, **arguments, **BY)
    assert refused.value.facts["field"] == field


def test_a_folder_is_kept_in_step_without_deleting(database: Database, kb: UUID, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("a.txt", "sub/b.txt", ".secret", "c: d.txt"):
        (tmp_path / name).write_text(name)
    first = sync_folder(database, kb, tmp_path, **BY)
    assert first.counts == {"created": 3}
    assert first.skipped == (".secret: hidden",)
    assert rows(database, "select 1 from document_versions where doc_time is not null") == []
    seq = head(database, kb)
    assert sync_folder(database, kb, tmp_path, **BY).counts == {"unchanged": 3}
    assert head(database, kb) == seq

    (tmp_path / "a.txt").unlink()
    (tmp_path / "sub/b.txt").write_text("new")
    second = sync_watched(database, kb)
    assert (second.counts, second.missing) == ({"unchanged": 1, "updated": 1}, ("a.txt",))
    assert sync_watched(database, kb).missing == ()
    assert rows(database, "select 1 from document_versions where invalidated_seq is not null") == []

    (tmp_path / "a.txt").write_text("a.txt")
    assert sync_watched(database, kb).counts == {"unchanged": 3}
    assert rows(database, "select 1 from documents where missing_at is not null") == []


def test_a_deletion_is_not_undone_by_the_folder_until_the_file_changes(
    database: Database, kb: UUID, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("one")
    sync_folder(database, kb, tmp_path, **BY)
    delete(database, kb, external_id="a.txt", **BY)
    again = sync_watched(database, kb)
    assert (again.counts, again.skipped) == ({}, ("a.txt: deleted here and not changed since",))
    (tmp_path / "a.txt").write_text("two")
    assert sync_watched(database, kb).counts == {"revived": 1}


def test_what_a_folder_cannot_give_is_named_and_the_rest_goes_through(
    database: Database, kb: UUID, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (tmp_path / "outside.txt").write_text("secret")
    (folder / "link.txt").symlink_to(tmp_path / "outside.txt")
    (folder / "big.bin").write_bytes(bytes(25 * 1024 * 1024 + 1))
    (folder / "good.txt").write_text("good")
    os.mkfifo(folder / "pipe")
    (folder / os.fsdecode(b"\xff.txt")).write_text("name")
    report = sync_folder(database, kb, folder, **BY)
    assert report.counts == {"created": 1}
    reasons = dict(line.split(": ", 1) for line in report.skipped)
    assert set(reasons) == {"link.txt", "big.bin", "pipe", "\\udcff.txt"}
    assert "25 MiB" in reasons["big.bin"]


def test_batches_are_bounded_by_bytes(database: Database, kb: UUID, tmp_path: Path) -> None:
    for n in range(5):
        (tmp_path / f"{n}.txt").write_bytes(b"x" * 100 + bytes([48 + n]))
    sync_folder(database, kb, tmp_path, batch_bytes=250, **BY)
    assert head(database, kb) == 3


def test_a_folder_that_is_gone_marks_nothing(database: Database, kb: UUID, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.txt").write_text("a")
    sync_folder(database, kb, folder, **BY)
    with database.read(kb) as conn:
        assert [f.path for f in watched_folders(conn)] == [folder]
    folder.rename(tmp_path / "elsewhere")
    assert sync_watched(database, kb).skipped == (f"{folder}: no such folder now",)
    assert rows(database, "select 1 from documents where missing_at is not null") == []
    with pytest.raises(InvalidInput):
        sync_folder(database, kb, folder, **BY)


def test_the_fingerprint_moves_when_a_file_does(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    first = fingerprint(tmp_path)
    assert fingerprint(tmp_path) == first
    (tmp_path / "a.txt").write_text("bb")
    assert fingerprint(tmp_path) != first
