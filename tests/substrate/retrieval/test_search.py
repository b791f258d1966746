"""Search as a caller sees it: both arms at any moment, the answer's shape, what a missing arm says."""

from __future__ import annotations

import random

import pytest
from psycopg import sql as pgsql

from substrate.errors import InvalidInput, ModelUnavailable
from substrate.reads.moments import resolve
from substrate.retrieval import vectors
from substrate.retrieval.lexical import run_index
from substrate.retrieval.passages import vector_key
from substrate.retrieval.ranking import WEIGHTS
from substrate.retrieval.search import DEPTH, search_chunks


class Broken:
    """An embedder whose endpoint is down."""

    name, dimension, token_limit, truncated = "broken@1", 64, None, 0

    def count_tokens(self, text):
        return None

    def queries(self, texts):
        raise ModelUnavailable("the endpoint does not answer")

    passages = queries


def arm(answer, name: str) -> list[str]:
    """Texts that an arm found, in its own order; the answer must be explained."""
    found = [c for c in answer["chunks"] if c["explain"][name]]
    return [c["text"] for c in sorted(found, key=lambda c: c["explain"][name]["rank"])]


def test_the_answer_has_the_contracts_fields(shelf, ask, kb, letters):
    seq = shelf.put("guide.md", ["first part", "harbour " * 110], headings=["Guide", "Basins"])
    answer = ask("harbour", embedder=letters, limit=1)
    assert {k: answer[k] for k in ("kb_id", "query", "seq", "limit", "limit_reached", "arms")} == {
        "kb_id": str(kb),
        "query": "harbour",
        "seq": seq,
        "limit": 1,
        "limit_reached": True,
        "arms": {"lexical": "ok", "vector": "ok"},
    }
    assert answer["as_of"].endswith("Z") and len(answer["head_hash"]) == 64
    (chunk,) = answer["chunks"]
    assert chunk["chunk_id"] == str(shelf.chunk_ids["harbour " * 110])
    assert chunk["document_id"] == str(shelf.document_ids["guide.md"])
    assert (chunk["seq"], chunk["filename"], chunk["heading_path"]) == (1, "guide.md", ["Guide", "Basins"])
    assert len(chunk["text"]) == 800 and chunk["truncated"] is True
    assert chunk["since"] is None and chunk["doc_time"] is None and "explain" not in chunk
    assert ask("first", limit=50)["limit_reached"] is False


def test_both_arms_see_each_moment_and_what_became_of_it(shelf, ask, database, kb, settings, letters):
    old, new = "The limit is ten crates.", "The limit is twelve crates."
    first = shelf.put("a.txt", [old])
    second = shelf.put("a.txt", [new])
    gone = shelf.delete("a.txt")
    shelf.embed(letters)
    for _ in range(2):
        for seq, expected in ((first - 1, []), (first, [old]), (second, [new]), (gone, [])):
            answer = ask("limit crates", seq=seq, embedder=letters, explain=True)
            assert arm(answer, "lexical") == expected and arm(answer, "vector") == expected, seq
            assert answer["seq"] == seq
        (then,) = ask("limit crates", seq=first, embedder=letters)["chunks"]
        assert (then["since"]["status"], then["since"]["seq"]) == ("superseded", second)
        (then,) = ask("limit crates", seq=second, embedder=letters)["chunks"]
        assert (then["since"]["status"], then["since"]["seq"]) == ("deleted", gone)
        assert then["since"]["at"].endswith("Z")
        assert ask("limit crates", embedder=letters)["chunks"] == []
        run_index(database, kb, settings)


def test_two_hundred_moments_equal_a_brute_force_search(shelf, ask, database, kb, settings, letters):
    chance = random.Random(5)
    words = "crate harbour pilot rope anchor limpet tide chart".split()
    history: list[dict[str, str]] = [{}]
    for step in range(60):
        name = f"{chance.randrange(12)}.txt"
        held = dict(history[-1])
        if name in held and chance.random() < 0.25:
            shelf.delete(name)
            del held[name]
        else:
            held[name] = " ".join(chance.sample(words, 3)) + f" {step}"
            shelf.put(name, [held[name]])
        history.append(held)
        if step == 40:
            run_index(database, kb, settings, batch=7)
    shelf.embed(letters)
    for _ in range(200):
        seq, word = chance.randrange(len(history)), chance.choice(words)
        answer = ask(word, seq=seq, embedder=letters, limit=50, explain=True)
        live = set(history[seq].values())
        assert set(arm(answer, "lexical")) == {text for text in live if word in text}, (seq, word)
        assert set(arm(answer, "vector")) == live, (seq, word)


def test_meaning_finds_what_words_do_not_and_the_ranking_explains_itself(shelf, ask, letters):
    shelf.put("a.txt", ["anchoring"])
    shelf.put("b.txt", ["zzz qqq"])
    answer = ask("anchorage", embedder=letters, explain=True)
    first = answer["chunks"][0]
    assert first["text"] == "anchoring"
    assert first["explain"]["lexical"] is None and first["explain"]["vector"]["rank"] == 1
    added = first["explain"]["signals"]
    assert added["meaning"] == WEIGHTS["meaning"] and "words" not in added
    assert first["explain"]["score"] == pytest.approx(sum(added.values()), abs=1e-3)
    assert first["explain"]["similarity"] == pytest.approx(first["explain"]["vector"]["similarity"])
    assert answer["ranking"] == {"weights": WEIGHTS, "depth": DEPTH}


def test_new_passages_are_embedded_on_the_way_or_named_as_missing(shelf, ask, database, kb, settings, letters):
    shelf.put("a.txt", ["anchorages"])
    answer = ask("anchorage qq", embedder=letters, explain=True)
    assert arm(answer, "vector") == ["anchorages"] and answer["arms"]["vector"] == "ok"
    shelf.put("many.txt", [f"anchorages {n}" for n in range(vectors.EMBEDDED_ON_DEMAND)])
    answer = ask("anchorage qq", embedder=letters, explain=True)
    assert arm(answer, "vector") == []
    assert f"up to {vectors.EMBEDDED_ON_DEMAND + 1} passages have no vector" in answer["arms"]["vector"]
    shelf.embed(letters)
    assert ask("anchorage qq", embedder=letters)["arms"]["vector"] == "ok"


def test_what_waits_for_the_embedding_stage_is_counted(shelf, ask, database, kb, settings, letters):
    from substrate import work

    shelf.put("a.txt", ["anchorages"])
    shelf.embed(letters)
    run_index(database, kb, settings)
    shelf.put("b.txt", ["harbours"])
    run_index(database, kb, settings)
    with database.write(kb) as conn:
        work.add_due(conn, kb, "embed", [shelf.chunk_ids["harbours"]], vector_key(letters))
    answer = ask("harbours", embedder=letters)
    assert "harbours" in [chunk["text"] for chunk in answer["chunks"]]
    assert answer["arms"]["vector"].startswith("ok: up to 1 passages have no vector")


def test_a_missing_arm_is_named_with_its_reason(shelf, ask):
    shelf.put("a.txt", ["one crate"])
    without = ask("crate")
    assert without["arms"] == {"lexical": "ok", "vector": "unavailable: no embedder was opened"}
    unopened = ask("crate", embedder=ModelUnavailable("model.onnx is not built"))
    assert unopened["arms"]["vector"] == "unavailable: model.onnx is not built"
    broken = ask("crate", embedder=Broken())
    assert broken["arms"]["vector"] == "unavailable: the endpoint does not answer"
    assert [c["text"] for c in broken["chunks"]] == [c["text"] for c in without["chunks"]] == ["one crate"]


def test_another_models_vectors_are_not_compared(shelf, ask, letters):
    shelf.put("a.txt", ["one crate"])
    shelf.embed(letters)
    letters.name = "letters@2"
    answer = ask("zzz", embedder=letters, explain=True)
    assert answer["arms"]["vector"] == "ok"  # embedded on the way by the new model
    assert arm(answer, "vector") == ["one crate"]


def test_namespaces_are_kept_apart_in_both_arms(shelf, ask, database, kb, settings, letters):
    shelf.put("a.txt", ["a red crate"], namespace="red")
    shelf.put("b.txt", ["a blue crate"], namespace="blue")
    for _ in range(2):
        assert {c["text"] for c in ask("crate", embedder=letters)["chunks"]} == {"a red crate", "a blue crate"}
        for colour in ("red", "blue"):
            answer = ask("crate", embedder=letters, namespace=colour, explain=True)
            assert arm(answer, "lexical") == arm(answer, "vector") == [f"a {colour} crate"]
        assert ask("crate", embedder=letters, namespace="")["chunks"] == []
        shelf.embed(letters)
        run_index(database, kb, settings)


@pytest.mark.parametrize(
    ("query", "more", "field"),
    [
        ("  \n", {}, "query"),
        ("", {}, "query"),
        ("x" * 2001, {}, "query"),
        ("x", {"limit": 0}, "limit"),
        ("x", {"limit": 51}, "limit"),
    ],
)
def test_bad_questions_are_refused_by_field(ask, query, more, field):
    with pytest.raises(InvalidInput) as refused:
        ask(query, **more)
    assert refused.value.facts["field"] == field


def test_a_valid_time_is_refused(database, kb, settings):
    with database.read(kb) as conn, pytest.raises(InvalidInput) as refused:
        search_chunks(conn, kb, "x", resolve(conn, kb, at="2024"), embedder=None, settings=settings)
    assert refused.value.facts["field"] == "at"


def test_equal_passages_come_in_one_order_however_the_index_was_built(shelf, ask, database, kb, settings):
    for number in range(100):
        shelf.put(f"{number}.txt", ["the same crate"])
    by_tail = ask("crate")["chunks"]
    run_index(database, kb, settings, batch=9)
    assert ask("crate")["chunks"] == by_tail
    ids = [chunk["chunk_id"] for chunk in by_tail]
    assert ids == sorted(ids) and len(ids) == 6


def test_the_vector_index_answers_as_the_exact_scan_does(shelf, ask, database, kb, dsn, letters, monkeypatch):
    monkeypatch.setattr(vectors, "_INDEX_KNOWN_SECONDS", 0.0)
    first = shelf.put("a.txt", [f"{n * 7919 % 1000} crate {n}" for n in range(300)])
    shelf.embed(letters)
    assert vectors.ensure_vector_index(dsn, kb, vector_key(letters), 64) is False  # too few to be worth it

    def similarities(seq: int = first) -> list[float]:
        with database.read(kb) as conn:
            as_of = resolve(conn, kb, as_of=f"seq:{seq}")
            answer = vectors.nearest(conn, kb, letters, "91 crate", as_of, depth=20)
        return [near.similarity for near in answer.found]

    exact = similarities()
    assert vectors.ensure_vector_index(dsn, kb, vector_key(letters), 64, above=100) is True
    assert vectors.ensure_vector_index(dsn, kb, vector_key(letters), 64, above=100) is False
    assert sum(similarities()) >= 0.99 * sum(exact) > 0 and len(exact) == 20
    with database.read(kb) as conn:
        query = vectors._indexed_query(kb, letters, resolve(conn, kb))
        bound = {"vector": str([0.125] * 64), "namespace": None, "depth": 10, "fresh": []}
        conn.execute("set local enable_sort = off")  # 300 rows are too few for the planner to prefer an index
        plan = conn.execute(pgsql.SQL("explain ") + query, bound).fetchall()
    assert any(vectors.index_name(kb, vector_key(letters)) in row["QUERY PLAN"] for row in plan)
    shelf.put("a.txt", ["only one crate"])
    shelf.embed(letters)
    assert len(similarities(first + 1)) == 1  # what the index leaves short is scanned exactly
    assert sum(similarities()) >= 0.99 * sum(exact)


def test_what_is_not_held_takes_no_place_from_what_is(shelf, ask, database, kb, settings, letters):
    kept = shelf.put("kept.txt", ["a crate among many other words that thin it out"])
    replaced = shelf.put("many.txt", ["crate crate crate"] * 200)
    closed = shelf.put("many.txt", ["rope"])
    shelf.embed(letters)
    for _ in range(2):
        for seq in (kept, closed, None):
            (found,) = [
                c for c in ask("crate", seq=seq, embedder=letters, explain=True)["chunks"] if "crate" in c["text"]
            ]
            assert found["explain"]["lexical"]["rank"] == 1 and found["explain"]["vector"]["rank"] <= 2, seq
        assert {c["text"] for c in ask("crate", seq=replaced, embedder=letters)["chunks"]} == {"crate crate crate"}
        run_index(database, kb, settings)
