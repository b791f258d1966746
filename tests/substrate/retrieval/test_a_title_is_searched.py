"""What a document is called by itself leads to its passages, by words and by meaning."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from substrate.db import Database
from substrate.documents.intake import PushItem, push
from substrate.documents.stage import run_parse
from substrate.retrieval.embed_stage import run_embed
from substrate.retrieval.lexical import run_index
from substrate.retrieval.passages import passage_text, vector_key

PAGE = b"---\ntitle: Zephyr handbook\n---\n# Travel\n\nTrains are booked by Ada.\n"


@pytest.mark.parametrize(
    ("title", "headings", "expected"),
    [
        ("Zephyr handbook", ["Travel"], "memo › Zephyr handbook › Travel\ntext"),
        ("Travel", ["Travel", "Trains"], "memo › Travel › Trains\ntext"),
        (" TRAVEL ", ["Travel"], "memo › Travel\ntext"),
        ("Memo", [], "memo\ntext"),
        ("", ["Travel"], "memo › Travel\ntext"),
    ],
)
def test_a_title_stands_before_the_headings_unless_it_says_the_same(
    title: str, headings: list[str], expected: str
) -> None:
    assert passage_text("text", filename="memo.md", title=title, heading_path=headings) == expected


def test_the_title_is_indexed_and_embedded(database: Database, kb: UUID, settings: Any, letters: Any, ask: Any) -> None:
    push(database, kb, [PushItem("memo", "memo.md", PAGE)], actor="person:Ada", via="rest")
    run_parse(database, kb)
    seen: list[str] = []

    class Noting(type(letters)):  # type: ignore[misc]
        def passages(self, texts: Any) -> Any:
            seen.extend(texts)
            return super().passages(texts)

    by_tail = ask("zephyr", explain=True)["chunks"]
    run_index(database, kb, settings)
    by_index = ask("zephyr", explain=True)["chunks"]
    assert [c["explain"]["lexical"]["rank"] for c in by_tail + by_index] == [1, 1]
    run_embed(database, kb, Noting())
    assert [text.split("\n")[0] for text in seen] == ["memo › Zephyr handbook › Travel"]
    found = ask("zephyr", embedder=letters, explain=True)["chunks"]
    assert found[0]["explain"]["vector"]["rank"] == 1
    assert vector_key(letters) != letters.name


def test_vectors_of_another_recipe_are_made_anew(database: Database, kb: UUID, letters: Any) -> None:
    push(database, kb, [PushItem("memo", "memo.md", PAGE)], actor="person:Ada", via="rest")
    run_parse(database, kb)
    run_embed(database, kb, letters)
    with database.write(kb) as conn:
        conn.execute("update embeddings set model = %s", (letters.name,))
        conn.execute("update work set code_version = %s where stage = 'embed'", (letters.name,))
    assert run_embed(database, kb, letters).written == 1
    assert run_embed(database, kb, letters).written == 0
