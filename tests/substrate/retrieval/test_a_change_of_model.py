"""A change of model or endpoint: search never fails, never goes empty, and changes over in one step."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from pydantic import SecretStr

from substrate.db import Database
from substrate.errors import ModelUnavailable
from substrate.reads.moments import resolve
from substrate.retrieval import embed_stage, vectors
from substrate.retrieval.embed_stage import run_embed
from substrate.retrieval.embedders import Embedder, open_embedder, opened_by
from substrate.retrieval.passages import vector_key
from substrate.retrieval.search import search_chunks
from substrate.retrieval.serving import in_service
from substrate.settings import Settings

MODELS = Path(__file__).parents[3] / ".models"
TEXTS = ["The pilot boards at the outer buoy.", "Crates are weighed before loading.", "The tide turns at noon."]


@pytest.fixture(scope="module")
def models() -> tuple[Embedder, Embedder]:
    """e5, and MiniLM, which it gives way to."""
    given = Settings(models_dir=MODELS)
    return open_embedder(given), open_embedder(given.model_copy(update={"embedder": "minilm"}))


@pytest.fixture
def local(settings: Settings) -> Settings:
    return settings.model_copy(update={"models_dir": MODELS})


@pytest.fixture
def answer(database: Database, kb, local):
    """``answer(embedder)``: model that answered, texts by vectors alone, the arm's state, in one snapshot."""

    def ask(embedder: Embedder | ModelUnavailable) -> tuple[str, list[str], str]:
        with database.read(kb) as conn:
            as_of = resolve(conn, kb)
            served = in_service(conn, kb, embedder, local).embedder
            # No word of any passage, so that what is found is found by its meaning.
            found = search_chunks(conn, kb, "ships", as_of, embedder=embedder, settings=local, explain=True)
        return (
            vector_key(served),
            sorted(c["text"] for c in found["chunks"] if c["explain"]["vector"]),
            found["arms"]["vector"],
        )

    return ask


def count(database: Database, kb, model: Embedder) -> int:
    with database.read(kb) as conn:
        row = conn.execute("select count(*) as n from embeddings where model = %s", (vector_key(model),)).fetchone()
    return row["n"]


def test_the_old_model_answers_until_the_new_one_has_read_everything(shelf, database, kb, models, local, answer):
    old, new = models
    shelf.put("a.txt", TEXTS)
    assert run_embed(database, kb, old, settings=local).written == 3
    assert answer(old) == (vector_key(old), sorted(TEXTS), "ok")
    # Set to the new one, of which no vector stands yet.
    model, texts, state = answer(new)
    assert (model, texts) == (vector_key(old), sorted(TEXTS)) and "minilm" in state and state.startswith("ok")
    assert run_embed(database, kb, new, limit=2, settings=local).written == 2
    assert answer(new)[:2] == (vector_key(old), sorted(TEXTS))
    assert run_embed(database, kb, new, settings=local).written == 1
    # Each process changes over, whatever it is set to.
    assert answer(new) == (vector_key(new), sorted(TEXTS), "ok")
    assert answer(old)[:2] == (vector_key(new), sorted(TEXTS))


def test_what_comes_in_meanwhile_is_read_by_the_serving_model_too(shelf, database, kb, models, local, answer):
    old, new = models
    shelf.put("a.txt", TEXTS[:2])
    run_embed(database, kb, old, settings=local)
    shelf.put("b.txt", TEXTS[2:])
    run_embed(database, kb, new, limit=1, settings=local)
    assert (count(database, kb, old), count(database, kb, new)) == (3, 1)
    assert answer(new)[:2] == (vector_key(old), sorted(TEXTS))
    # Back again before it was done: nothing that was read is read again.
    assert run_embed(database, kb, old, settings=local).written == 0
    assert answer(old) == (vector_key(old), sorted(TEXTS), "ok")


def test_a_model_that_cannot_be_opened_leaves_the_one_that_serves(shelf, database, kb, models, local, answer):
    shelf.put("a.txt", TEXTS)
    run_embed(database, kb, models[0], settings=local)
    down = ModelUnavailable("the endpoint does not answer")
    model, texts, state = answer(down)
    assert (model, texts) == (vector_key(models[0]), sorted(TEXTS)) and "the endpoint does not answer" in state


def test_a_model_that_nobody_can_open_any_more_is_said_and_left(shelf, database, kb, models, local, ask, letters):
    shelf.put("a.txt", TEXTS)
    run_embed(database, kb, letters)  # it tells nobody how it is opened
    run_embed(database, kb, models[1], limit=1, settings=local)
    found = ask("ships", embedder=models[1], explain=True)
    state = found["arms"]["vector"]
    assert "letters@1" in state and "not known how" in state
    assert len(found["chunks"]) == 3  # the tail is read on the way


def test_another_endpoint_is_another_model_and_is_never_given_the_new_key(settings):
    def at(url: str | None, key: str) -> Settings:
        return settings.model_copy(
            update={
                "embedder": "openai",
                "embedding_base_url": url,
                "embedding_model": "tiny",
                "embedding_api_key": SecretStr(key),
            }
        )

    from substrate.retrieval.embedders import open_recorded

    one, two = (open_embedder(at(f"http://{host}.invalid/v1", "sk-new")) for host in ("one", "two"))
    assert one.name != two.name and open_embedder(at(None, "sk-new")).name == "openai:tiny@1"
    now = at("http://two.invalid/v1", "sk-new")
    assert open_recorded(now, opened_by(one))._key is None
    kept = now.model_copy(update={"previous_embedding_api_key": SecretStr("sk-old")})
    assert open_recorded(kept, opened_by(one))._key == "sk-old"
    assert open_recorded(now, opened_by(two))._key == "sk-new"


def test_searches_go_on_while_everything_is_read_anew(shelf, database, kb, models, local, monkeypatch):
    old, new = models
    texts = [f"{TEXTS[n % 3]} {n}" for n in range(40)]
    shelf.put("a.txt", texts)
    run_embed(database, kb, old, settings=local)
    monkeypatch.setattr(embed_stage, "BATCH", 4)
    seen: list[tuple[str, int]] = []
    failures: list[BaseException] = []
    stop = threading.Event()

    def search() -> None:
        try:
            while not stop.is_set():
                with database.read(kb) as conn:
                    as_of = resolve(conn, kb)
                    served = in_service(conn, kb, new, local).embedder
                    found = vectors.nearest(conn, kb, served, "ships", as_of, depth=50).found
                seen.append((vector_key(served), len(found)))
        except BaseException as error:  # told to the test, whatever it is
            failures.append(error)

    readers = [threading.Thread(target=search) for _ in range(2)]
    for reader in readers:
        reader.start()
    run_embed(database, kb, new, settings=local)
    monkeypatch.undo()
    for _ in range(200):
        if failures or (seen and seen[-1][0] == vector_key(new)):
            break
        stop.wait(0.05)
    stop.set()
    for reader in readers:
        reader.join(60)
    assert not failures
    assert {n for _, n in seen} == {40}  # never failed, never empty, never half
    assert {model for model, _ in seen} == {vector_key(old), vector_key(new)}


def test_a_text_is_read_once_by_a_model(shelf, database, kb, models, local):
    class Counting:
        dimension, token_limit, truncated, name = 3, None, 0, "three@1"

        def __init__(self) -> None:
            self.asked: list[str] = []

        def count_tokens(self, text):
            return len(text)

        def passages(self, texts):
            import numpy as np

            self.asked += texts
            return np.tile(np.array([[1, 0, 0]], np.float32), (len(texts), 1))

        queries = passages

    model = Counting()
    shelf.put("a.txt", ["one", "two", "two"])
    assert run_embed(database, kb, model).written == 3 and len(model.asked) == 2
    shelf.put("a.txt", ["one", "two", "three"])
    assert run_embed(database, kb, model).written == 3 and len(model.asked) == 3
    with database.read(kb) as conn:
        row = conn.execute("select count(*) as n, count(distinct text_sha256) as d from embeddings").fetchone()
    assert (row["n"], row["d"]) == (6, 3)


def test_a_model_without_an_index_does_not_take_over_from_one_with(
    shelf, database, kb, dsn, models, local, answer, monkeypatch
) -> None:
    monkeypatch.setattr(vectors, "_INDEX_KNOWN_SECONDS", 0.0)
    old, new = models
    shelf.put("a.txt", TEXTS)
    run_embed(database, kb, old, settings=local)
    assert vectors.ensure_vector_index(dsn, kb, vector_key(old), 384, above=1)
    run_embed(database, kb, new, settings=local)
    assert count(database, kb, new) == 3 and answer(new)[0] == vector_key(old)
    told = vectors.see_to_indexes(database, dsn, kb, vector_key(new), above=1)
    assert (told.built, told.dropped, told.serves) == (1, 1, vector_key(new))
    assert answer(new) == (vector_key(new), sorted(TEXTS), "ok")
    assert vectors.see_to_indexes(database, dsn, kb, vector_key(new), above=1).built == 0
