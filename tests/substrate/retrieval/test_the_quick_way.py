"""The best of all moments hold none of the moment asked for: the long way is gone, and finds it."""

from __future__ import annotations

from substrate.retrieval import lexical_reader
from substrate.retrieval.lexical import run_index
from substrate.retrieval.lexical_reader import current_view
from substrate.retrieval.lexical_schema import question_terms


def test_what_is_closed_and_better_does_not_hide_what_is_held(shelf, database, kb, settings, monkeypatch):
    kept = "a crate among many other words that thin it out"
    shelf.put("kept.txt", [kept])
    before = shelf.put("many.txt", ["crate crate crate"] * 300)
    now = shelf.put("many.txt", ["rope"])
    run_index(database, kb, settings)
    view, wanted = current_view(settings, kb), question_terms("crate")
    with database.read(kb) as conn:
        view.catch_up(conn, kb, now)
    long_ways = []
    best = lexical_reader._best
    monkeypatch.setattr(lexical_reader, "_best", lambda *given: long_ways.append(1) or best(*given))
    assert [m.chunk_id for m in view.search(wanted, now, None, 50)] == [shelf.chunk_ids[kept]]
    assert len(long_ways) == 1
    then = {m.chunk_id for m in view.search(wanted, before, None, 50)}
    assert len(then) == 50 and shelf.chunk_ids[kept] not in then
    assert [m.chunk_id for m in view.search(question_terms("rope"), now, None, 50)] == [shelf.chunk_ids["rope"]]
    assert view.search(question_terms("rope"), before, None, 50) == []
