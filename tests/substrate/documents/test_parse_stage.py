"""From pushed bytes to chunks: what lands, what it supersedes, and what is refused beside it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from substrate import work
from substrate.db import EVERY_BASE, Database
from substrate.documents.intake import PushItem, delete, push, remember
from substrate.documents.stage import run_parse

BY = {"actor": "person:Ada", "via": "rest"}
NEXT: dict[work.Stage, str] = {"embed": "e@1", "claims": "x@1"}


def put(database: Database, kb: UUID, name: str, content: str | bytes, filename: str = "") -> UUID:
    data = content.encode() if isinstance(content, str) else content
    [result] = push(database, kb, [PushItem(name, filename or f"{name}.md", data)], **BY)
    return result.version_id


def chunks(database: Database, *, held: bool = True) -> list[dict[str, Any]]:
    with database.read(EVERY_BASE) as conn:
        rows = conn.execute("select * from chunks order by version_id, position").fetchall()
    return [row for row in rows if (row["invalidated_seq"] is None) == held]


def head(database: Database, kb: UUID) -> int:
    with database.read(kb) as conn:
        return work.watermark(conn, kb)


def test_chunks_land_with_their_document_and_make_the_next_stages_due(database: Database, kb: UUID) -> None:
    version = put(database, kb, "memo", "---\ndate: 2024-03-05\n---\n# Orion\n\nAda leads Orion.\n")
    result = run_parse(database, kb, next_versions=NEXT)
    assert (result.done, result.written, result.failed, result.remaining) == (1, 1, 0, 0)
    [chunk] = chunks(database)
    assert chunk["version_id"] == version
    assert "Ada leads Orion." in chunk["text"]
    assert chunk["heading_path"] == ["Orion"]
    with database.read(kb) as conn:
        [noted] = conn.execute("select * from parse_results").fetchall()
        assert work.due_counts(conn, kb) == {"embed": 1, "claims": 1}
    assert (noted["doc_time_source"], noted["doc_time_precision"], noted["failure_code"]) == (
        "front_matter",
        "day",
        None,
    )
    seq = head(database, kb)
    assert run_parse(database, kb, next_versions=NEXT).done == 0
    assert head(database, kb) == seq == result.watermark


def test_the_old_version_is_seen_until_the_new_ones_chunks_land(database: Database, kb: UUID) -> None:
    first = put(database, kb, "memo", "Ada leads Orion.")
    run_parse(database, kb)
    second = put(database, kb, "memo", "Bo leads Orion.")
    assert [c["version_id"] for c in chunks(database)] == [first]
    run_parse(database, kb)
    assert [c["version_id"] for c in chunks(database)] == [second]
    [closed] = chunks(database, held=False)
    assert (closed["version_id"], closed["invalidated_kind"]) == (first, "superseded")
    assert closed["invalidated_seq"] == chunks(database)[0]["recorded_seq"]


def test_two_versions_parsed_in_one_batch_leave_the_later_one(database: Database, kb: UUID) -> None:
    put(database, kb, "memo", "Ada leads Orion.")
    second = put(database, kb, "memo", "Bo leads Orion.")
    run_parse(database, kb)
    assert [c["version_id"] for c in chunks(database)] == [second]
    with database.read(kb) as conn:
        held = conn.execute("select id from document_versions where invalidated_seq is null").fetchall()
    assert [row["id"] for row in held] == [second]


def test_a_version_that_lands_after_a_later_one_is_never_shown(database: Database, kb: UUID) -> None:
    put(database, kb, "memo", "Ada leads Orion.")
    # A worker that takes the first version and dies: its lease runs out only after the second has landed.
    assert work.lease(database, kb, "parse", limit=1) is not None
    second = put(database, kb, "memo", "Bo leads Orion.")
    assert run_parse(database, kb).done == 1
    with database.write(kb) as conn:
        conn.execute("update work set lease_until = now() - interval '1 minute' where lease_token is not null")
    assert run_parse(database, kb).skipped == 1
    assert [c["version_id"] for c in chunks(database)] == [second]
    assert chunks(database, held=False) == []


def test_a_document_that_cannot_be_read_is_named_and_blocks_nobody(database: Database, kb: UUID) -> None:
    put(database, kb, "empty", b"")
    put(database, kb, "broken", b"%PDF-1.7\ngarbage", "broken.pdf")
    good = put(database, kb, "good", "Ada leads Orion.")
    result = run_parse(database, kb)
    assert (result.done, result.failed) == (1, 2)
    assert {line.split(":")[0] for line in result.failures} == {"empty", "broken"}
    assert [c["version_id"] for c in chunks(database)] == [good]
    with database.read(kb) as conn:
        failures = {f["external_id"]: f["failure_code"] for f in work.failures(conn, kb)}
        noted = conn.execute("select 1 from parse_results where failure_code is not null").fetchall()
    assert failures["empty"] == "empty"
    assert set(failures) == {"empty", "broken"}
    assert len(noted) == 2


def test_a_version_that_cannot_be_read_leaves_the_one_before_it(database: Database, kb: UUID) -> None:
    first = put(database, kb, "memo", "Ada leads Orion.")
    run_parse(database, kb)
    put(database, kb, "memo", b"")
    run_parse(database, kb)
    assert [c["version_id"] for c in chunks(database)] == [first]
    third = put(database, kb, "memo", "Bo leads Orion.")
    run_parse(database, kb)
    assert [c["version_id"] for c in chunks(database)] == [third]
    with database.read(kb) as conn:
        held = conn.execute("select id from document_versions where invalidated_seq is null").fetchall()
    assert [row["id"] for row in held] == [third]


def test_what_is_deleted_before_it_is_read_never_appears(database: Database, kb: UUID) -> None:
    put(database, kb, "memo", "Ada leads Orion.")
    delete(database, kb, external_id="memo", **BY)
    result = run_parse(database, kb)
    assert (result.done, result.skipped) == (0, 1)
    assert chunks(database) == []


def test_deleting_closes_the_chunks(database: Database, kb: UUID) -> None:
    put(database, kb, "memo", "Ada leads Orion.")
    run_parse(database, kb)
    gone = delete(database, kb, external_id="memo", **BY)
    assert gone.chunks == 1
    assert chunks(database) == []
    assert chunks(database, held=False)[0]["invalidated_kind"] == "deleted"


def test_a_remembered_sentence_is_passed_on_as_it_is(database: Database, kb: UUID) -> None:
    said = remember(database, kb, "Ada leads Orion.", **BY)
    seq = head(database, kb)
    assert run_parse(database, kb, next_versions=NEXT).done == 1
    assert [c["id"] for c in chunks(database)] == [said.chunk_id]
    assert head(database, kb) == seq
    with database.read(kb) as conn:
        assert work.due_counts(conn, kb) == {"embed": 1, "claims": 1}


def test_the_limit_leaves_the_rest_for_another_pass(database: Database, kb: UUID) -> None:
    for n in range(3):
        put(database, kb, f"m{n}", "Ada leads Orion.")
    first = run_parse(database, kb, limit=2)
    assert (first.done, first.remaining) == (2, 1)
    assert run_parse(database, kb, limit=2).done == 1
