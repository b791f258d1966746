"""Stages that read chunks: written once, quotes checked, and a missing model blocks only itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from substrate import work
from substrate.db import EVERY_BASE, Database
from substrate.documents.intake import PushItem, delete, push, remember
from substrate.documents.stage import run_parse
from substrate.errors import ModelUnavailable
from substrate.extraction.claims import Claim, Drop, Extraction, Passage
from substrate.extraction.stage import run_claims
from substrate.pipeline import Services, run_pipeline
from substrate.reads.invariants import mark, misplaced_claim_quotes
from substrate.retrieval.embed_stage import run_embed
from substrate.retrieval.passages import vector_key
from substrate.settings import Settings

BY = {"actor": "person:Ada", "via": "rest"}
TEXT = "Ada leads Orion.\n"


class Counting:
    """An embedder that knows what it was asked."""

    dimension, token_limit, truncated = 3, None, 0

    def __init__(self, name: str = "three@1") -> None:
        self.name = name
        self.seen: list[str] = []

    def count_tokens(self, text: str) -> int:
        return len(text)

    def passages(self, texts: Sequence[str]) -> Any:
        self.seen += texts
        return np.tile(np.array([[1, 0, 0]], dtype=np.float32), (len(texts), 1))

    queries = passages


class Reader:
    """An extractor that answers by a function and keeps the passages it was given."""

    def __init__(self, answer: Callable[[Passage], Extraction], version: str = "1") -> None:
        self.name, self.version = "reader", version
        self.answer = answer
        self.seen: list[Passage] = []

    def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
        self.seen += passages
        return [self.answer(p) for p in passages]


def leads(passage: Passage) -> Extraction:
    """One right claim, one with a quote that is not there, one drop of its own."""
    end = passage.text.index(".") + 1
    quote = passage.text[:end]
    good = Claim("Ada", "leads", quote, 0, end, object="Orion")
    bad = Claim("Ada", "leads", quote, 1, end + 1, object="Orion")
    usage = {"prompt_tokens": 5, "completion_tokens": 2}
    return Extraction((good, bad), (Drop("pronoun_subject", "she", "She left."),), usage)


class Away:
    """A model that cannot be reached."""

    name, version, dimension, token_limit, truncated = "away", "1", 3, None, 0

    def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
        raise ModelUnavailable("the endpoint answers 503")

    passages = queries = count_tokens = extract


def put(database: Database, kb: UUID, text: str = TEXT, name: str = "memo", **more: Any) -> None:
    push(database, kb, [PushItem(name, f"{name}.md", text.encode(), **more)], **BY)
    run_parse(database, kb)


def rows(database: Database, statement: str) -> list[dict[str, Any]]:
    with database.read(EVERY_BASE) as conn:
        return conn.execute(statement).fetchall()


def due(database: Database, kb: UUID) -> dict[str, int]:
    with database.read(kb) as conn:
        return work.due_counts(conn, kb)


def test_each_chunk_is_embedded_once_per_model_with_its_context(database: Database, kb: UUID) -> None:
    put(database, kb, "# Plans\n\nAda leads Orion.\n", doc_time="2024-03-01")
    model = Counting()
    first = run_embed(database, kb, model)
    assert (first.done, first.written) == (1, 1)
    [text] = model.seen
    assert {"memo", "Plans", "2024-03-01"} <= set(text.replace("(", " ").replace(")", " ").split())
    assert run_embed(database, kb, model).done == 0
    assert run_embed(database, kb, Counting("other@1")).written == 1
    assert {r["model"] for r in rows(database, "select model from embeddings")} == {
        vector_key(Counting(name)) for name in ("three@1", "other@1")
    }


def test_closed_chunks_are_embedded_too_for_searches_of_the_past(database: Database, kb: UUID) -> None:
    put(database, kb)
    delete(database, kb, external_id="memo", **BY)
    assert run_embed(database, kb, Counting()).written == 1


def test_going_back_to_a_model_finishes_what_was_set_aside(database: Database, kb: UUID) -> None:
    put(database, kb, name="a")
    run_embed(database, kb, Counting("old"))
    put(database, kb, "Bo leads Vega.\n", name="b")
    with database.write(kb) as conn:
        chunk_ids = [r["id"] for r in conn.execute("select id from chunks").fetchall()]
        work.add_due(conn, kb, "embed", chunk_ids, vector_key(Counting("old")))
    assert run_embed(database, kb, Counting("new")).written == 2
    assert due(database, kb) == {}
    assert run_embed(database, kb, Counting("old")).written == 1


def test_claims_are_written_once_and_a_wrong_quote_is_dropped_and_counted(database: Database, kb: UUID) -> None:
    put(database, kb)
    reader = Reader(leads)
    result = run_claims(database, kb, reader)
    assert (result.done, result.written) == (1, 1)
    assert result.cost == {"prompt_tokens": 5, "completion_tokens": 2}
    [claim] = rows(database, "select * from claims")
    assert (claim["extractor"], claim["quote"], claim["object"]) == ("reader@1", "Ada leads Orion.", "Orion")
    drops = rows(database, "select code from extraction_drops order by ordinal")
    assert [d["code"] for d in drops] == ["pronoun_subject", "quote_not_in_chunk"]
    assert due(database, kb) == {"entities": 1}
    assert run_claims(database, kb, reader).done == 0
    assert len(reader.seen) == 1
    newer = run_claims(database, kb, Reader(leads, "2"))
    assert newer.written == 1
    with database.read(kb) as conn:
        assert misplaced_claim_quotes(conn, kb) == []
        assert mark(conn, kb, "claims").rows == 2


def test_a_passage_knows_its_document(database: Database, kb: UUID) -> None:
    put(database, kb, "---\ndate: 2024-03-05\n---\n# Plans\n\nAda leads Orion.\n", name="dated")
    put(database, kb, "---\ndate: 2024-03-05\n---\nAda leads Orion.\n", name="pushed", doc_time="2023")
    remember(database, kb, "I lead Orion. Ada.", "2024-07", author="Ada", **BY)
    run_parse(database, kb)
    reader = Reader(lambda _: Extraction())
    run_claims(database, kb, reader)
    found = {p.filename: p for p in reader.seen}
    assert str(found["dated.md"].document_date)[:10] == "2024-03-05"
    assert (str(found["pushed.md"].document_date)[:4], found["pushed.md"].document_date_precision) == ("2023", "year")
    assert found["dated.md"].heading_path == ("Plans",)
    assert found["remembered.txt"].speaker == "Ada"
    assert found["remembered.txt"].document_date_precision == "month"


def test_no_model_is_paid_for_what_nobody_holds(database: Database, kb: UUID) -> None:
    put(database, kb)
    with database.write(kb) as conn:
        chunk_ids = [r["id"] for r in conn.execute("select id from chunks").fetchall()]
        work.add_due(conn, kb, "claims", chunk_ids, "reader@1")
    delete(database, kb, external_id="memo", **BY)
    reader = Reader(leads)
    result = run_claims(database, kb, reader)
    assert (result.done, result.skipped) == (0, 1)
    assert reader.seen == []


def test_a_model_that_is_away_makes_its_items_wait_and_says_so(database: Database, kb: UUID) -> None:
    put(database, kb)
    put(database, kb, "Bo leads Vega.\n", name="b")
    result = run_claims(database, kb, Away())
    assert (result.done, result.failed, result.remaining) == (0, 2, 2)
    assert "503" in result.failures[0]
    assert due(database, kb) == {}
    with database.write(kb) as conn:
        conn.execute("update work set due_at = now() - interval '1 second'")
    assert run_claims(database, kb, Reader(leads)).done == 2


def test_a_bug_in_an_extractor_is_raised_and_in_the_end_quarantines_its_chunk_alone(
    database: Database, kb: UUID
) -> None:
    put(database, kb)
    put(database, kb, "Poison kills Vega.\n", name="b")

    def answer(passage: Passage) -> Extraction:
        if "Poison" in passage.text:
            raise ZeroDivisionError("poison")
        return leads(passage)

    for _ in range(12):
        try:
            run_claims(database, kb, Reader(answer))
        except ZeroDivisionError:
            continue
        break
    assert len(rows(database, "select 1 from claims")) == 1
    with database.read(kb) as conn:
        [failure] = work.failures(conn, kb)
    assert (failure["external_id"], failure["state"]) == ("b", "quarantined")


def test_models_that_are_not_there_stop_nothing_else(
    database: Database, kb: UUID, settings: Settings, tmp_path: Path
) -> None:
    push(database, kb, [PushItem("memo", "memo.md", TEXT.encode())], **BY)
    bare = settings.model_copy(update={"models_dir": tmp_path / "none"})
    with Services(bare) as services:
        results = {r.stage: r for r in run_pipeline(database, kb, services, ("parse", "embed", "claims"))}
    assert results["parse"].done == 1
    assert results["embed"].failures
    assert due(database, kb) == {}
    with Services(settings, embedder=Counting(), extractor=Reader(leads)) as services:
        parse, embed, index, claims, *_ = run_pipeline(database, kb, services)
    assert (parse.done, embed.written, claims.written) == (0, 1, 1)
    assert (index.failed, index.watermark) == (0, 2)


@pytest.mark.parametrize("stages", [("parse",), ("parse", "claims")])
def test_only_the_stages_asked_for_run(database: Database, kb: UUID, settings: Settings, stages: Any) -> None:
    push(database, kb, [PushItem("memo", "memo.md", TEXT.encode())], **BY)
    with Services(settings, embedder=Counting(), extractor=Reader(leads)) as services:
        assert [r.stage for r in run_pipeline(database, kb, services, stages)] == list(stages)
