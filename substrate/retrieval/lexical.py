"""The writing side of the lexical index: one writer per base, in batches, each commit carrying its own watermark.

The index holds nothing that Postgres does not: it may be deleted, rebuilt beside the one in use, or lag behind
(searches add what is past its watermark themselves, see `lexical_reader`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

from substrate import sql
from substrate.db import AnyConnection, Database, ReadConnection
from substrate.errors import NotFound
from substrate.retrieval.lexical_files import IndexFiles
from substrate.retrieval.lexical_schema import document, open_index, set_watermark, watermark
from substrate.settings import Settings
from substrate.work import StageResult

STAGE = "lexical_index"
BATCH = 4000
"""Chunks per commit: a commit costs 60 to 140 ms here, whatever it holds."""
_HEAP = 64_000_000
_BUSY = "lexical index: another process is writing it"


def run_index(db: Database, kb_id: UUID, settings: Settings, *, batch: int = BATCH) -> StageResult:
    """Bring the base's index up to the head. Skips, and says so, where another writer is at work.

    An index that cannot be read is built anew, which is the first of the result's ``failures``; nothing has failed.
    After a purge it is built anew too, and what stood before is removed at once: its files hold the purged words.

    May be killed anywhere: what was committed says itself up to where. Raises `NotFound` for an unknown base.
    """
    files = IndexFiles(settings.index_dir, kb_id)
    started = time.monotonic()
    with db.read(kb_id) as conn:
        head = _head(conn, kb_id)
        with files.writer() as held:
            if not held:
                return _skipped(conn, kb_id, files, head, started)
            files.prune()
            directory = files.current()
            damage = _damage(directory)
            if directory is None or damage:
                return _build(conn, kb_id, files, head, batch, started, damage)
            if _purged(conn, kb_id, directory):
                # Segments keep the words of what was taken out of them until they are merged; a new index has none.
                built = _build(conn, kb_id, files, head, batch, started)
                files.prune(at_once=True)
                return built
            written = _catch_up(conn, kb_id, directory, head, batch)
    return _result(written, head, started)


def rebuild_index(db: Database, kb_id: UUID, settings: Settings, *, batch: int = BATCH) -> StageResult:
    """Build the index anew beside the one in use and swap; searches go on meanwhile."""
    files = IndexFiles(settings.index_dir, kb_id)
    started = time.monotonic()
    with db.read(kb_id) as conn:
        head = _head(conn, kb_id)
        with files.writer() as held:
            if not held:
                return _skipped(conn, kb_id, files, head, started)
            return _build(conn, kb_id, files, head, batch, started)


def index_watermark(settings: Settings, kb_id: UUID) -> int:
    """The sequence up to which the base's index is complete; 0 where there is none."""
    directory = IndexFiles(settings.index_dir, kb_id).current()
    return watermark(open_index(directory).searcher()) if directory else 0


def index_backlog(conn: AnyConnection, kb_id: UUID, settings: Settings) -> int:
    """Chunks that were written or closed since the index was last brought up."""
    return _backlog(conn, kb_id, index_watermark(settings, kb_id))


def _backlog(conn: AnyConnection, kb_id: UUID, after: int) -> int:
    row = conn.execute(sql.query("retrieval_backlog"), {"kb_id": kb_id, "after": after}).fetchone()
    return int(row["chunks"]) if row else 0


def _head(conn: ReadConnection, kb_id: UUID) -> int:
    row = conn.execute(sql.query("head_of_base"), {"kb_id": kb_id}).fetchone()
    if row is None:
        raise NotFound("no knowledge base with that id", field="kb_id")
    return int(row["seq"])


def _purged(conn: ReadConnection, kb_id: UUID, directory: Path) -> bool:
    """Was a document purged since the index in this directory was last written?"""
    asked = {"kb_id": kb_id, "after": watermark(open_index(directory).searcher())}
    return conn.execute(sql.query("lifecycle_purged_after"), asked).fetchone() is not None


def _damage(directory: Path | None) -> str:
    """Why an index cannot be read, or nothing."""
    try:
        if directory is not None:
            watermark(open_index(directory).searcher())
    except (ValueError, OSError) as error:
        return f"{directory.name if directory else ''} could not be read and was built anew: {error}"
    return ""


def _build(
    conn: ReadConnection, kb_id: UUID, files: IndexFiles, head: int, batch: int, started: float, damage: str = ""
) -> StageResult:
    directory = files.new()
    written = _catch_up(conn, kb_id, directory, head, batch)
    files.point_to(directory)
    files.prune()
    return _result(written, head, started, (damage,) if damage else ())


def _result(written: int, head: int, started: float, told: tuple[str, ...] = ()) -> StageResult:
    seconds = time.monotonic() - started
    return StageResult(STAGE, done=written, written=written, seconds=seconds, failures=told, watermark=head)


def _skipped(conn: ReadConnection, kb_id: UUID, files: IndexFiles, head: int, started: float) -> StageResult:
    directory = files.current()
    after = watermark(open_index(directory).searcher()) if directory and not _damage(directory) else 0
    waiting = _backlog(conn, kb_id, after)
    seconds = time.monotonic() - started
    return StageResult(STAGE, skipped=1, remaining=waiting, seconds=seconds, failures=(_BUSY,), watermark=head)


def _catch_up(conn: ReadConnection, kb_id: UUID, directory: Path, head: int, batch: int) -> int:
    """Take in what lies between the directory's watermark and `head`, the head of this snapshot."""
    index = open_index(directory, make=True)
    searcher = index.searcher()
    after = watermark(searcher)
    if after >= head and searcher.num_docs:
        return 0
    writer = index.writer(heap_size=_HEAP, num_threads=1)
    try:
        fresh = searcher.num_docs == 0
        written = _write(writer, _events(conn, kb_id, after, head), after, batch, replace=not fresh)
        if written or fresh:
            set_watermark(writer, head)
            writer.commit()
    finally:
        writer.wait_merging_threads()
    return written


def _events(conn: ReadConnection, kb_id: UUID, after: int, upto: int) -> Iterator[dict[str, Any]]:
    with conn.cursor(name="retrieval_events") as cursor:
        cursor.itersize = 1000
        cursor.execute(sql.query("retrieval_events"), {"kb_id": kb_id, "after": after, "upto": upto})
        yield from (row for row in cursor if row["id"] is not None)


def _write(writer: Any, events: Iterator[dict[str, Any]], after: int, batch: int, *, replace: bool) -> int:
    """Put the events into the writer, committing every `batch`; the last ones are left to the caller's commit."""
    written, at, complete = 0, after, after
    for row in events:
        if row["event_seq"] != at:
            complete, at = at, row["event_seq"]
        if written and written % batch == 0:
            # A transaction may be larger than a batch; the mark never passes one that is half in.
            set_watermark(writer, complete)
            writer.commit()
        if replace:
            writer.delete_documents_by_term("chunk", str(row["id"]))
        writer.add_document(document(row))
        written += 1
    return written
