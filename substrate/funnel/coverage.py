"""How many sentences of a passage a reading made at least one claim of; counted once for each reading and kept."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from uuid import UUID

from substrate import sql, work
from substrate.db import Database

BATCH = 500
"""Readings counted in one transaction."""


def run_funnel(db: Database, kb_id: UUID) -> work.StageResult:
    """Count what was read and not counted yet; run again it writes nothing."""
    began, done = time.monotonic(), 0
    while counted := _measure(db, kb_id):
        done += counted
    with db.read(kb_id) as connection:
        mark = work.watermark(connection, kb_id)
    return work.StageResult("funnel", done=done, written=done, seconds=time.monotonic() - began, watermark=mark)


def _measure(db: Database, kb_id: UUID) -> int:
    with db.read(kb_id) as connection:
        rows = connection.execute(sql.query("funnel_unmeasured"), {"kb_id": kb_id, "most": BATCH}).fetchall()
    if not rows:
        return 0
    found = [count_sentences(row["text"], list(zip(row["starts"], row["ends"], strict=True))) for row in rows]
    values = {
        "kb_id": kb_id,
        "chunk_ids": [row["chunk_id"] for row in rows],
        "extractors": [row["extractor"] for row in rows],
        "sentences": [sentences for sentences, _ in found],
        "covered": [covered for _, covered in found],
    }
    with db.write(kb_id) as connection:
        connection.execute(sql.query("funnel_keep_coverage"), values)
    return len(rows)


def count_sentences(text: str, quotes: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Sentences of a passage, headings left out, and those that one of these quotes, as (start, end), touches."""
    spans = list(_spans(text))
    return len(spans), sum(any(a < end and b > start for a, b in quotes) for start, end in spans)


def _spans(text: str) -> Iterable[tuple[int, int]]:
    from substrate.extraction.builtin.sentences import lines_of, sentences_of

    for line in lines_of(text):
        if line.kind != "heading":
            yield from ((s.start, s.end) for s in sentences_of(line))
