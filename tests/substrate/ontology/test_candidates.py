"""The nearest terms come from one query, and a vector of other words or another model says nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from substrate.errors import InvalidInput, ModelUnavailable
from substrate.ontology import candidates as near
from substrate.ontology import edits
from substrate.ontology.classes import terms_of
from substrate.ontology.packs import load_pack
from substrate.ontology.terms import OntologyClass
from substrate.retrieval.embedders import open_embedder
from substrate.settings import Settings
from tests.substrate.ontology.writing import Editor

MODELS = Path(__file__).parents[3] / ".models"


@pytest.fixture(scope="module")
def embedder():
    return open_embedder(Settings(models_dir=MODELS))


@pytest.fixture
def editor(database, kb):
    made = Editor(database, kb)
    made.apply(made.plan(terms_of(load_pack("org").ontology).values(), "add"))
    return made


def asked(editor, embedder, text, **more):
    with editor.database.read(editor.kb) as conn:
        return near.nearest_to(conn, editor.kb, text, embedder, **more)


def test_vectors_are_made_found_by_and_made_anew_when_words_change(editor, embedder, database, kb):
    before = asked(editor, embedder, "joint venture")
    assert (before.found, before.terms, before.stale) == ((), 34, 34)
    assert near.embed_terms(database, kb, embedder).done == 34
    assert near.embed_terms(database, kb, embedder).done == 0
    found = asked(editor, embedder, "a consortium of several firms", kinds=["class"], limit=3)
    assert (found.stale, len(found.found), found.terms) == (0, 3, 10)
    assert "collaboration" in [c.key for c in found.found]
    assert [c.score for c in found.found] == sorted((c.score for c in found.found), reverse=True)
    post = terms_of(editor.held())["post"]
    editor.act(edits.put_term, post.model_copy(update={"aliases": ("consortium of several firms",)}))
    stale = asked(editor, embedder, "a consortium of several firms", kinds=["class"])
    assert (stale.stale, "post" in [c.key for c in stale.found]) == (1, False)
    # What the words do not tell is no reason to embed anew.
    editor.act(edits.put_term, terms_of(editor.held())["site"].model_copy(update={"parents": ("role",)}))
    assert near.embed_terms(database, kb, embedder).done == 1
    assert asked(editor, embedder, "a consortium of several firms").found[0].key == "post"


class Other:
    """The same model under another name, as a new version of it would be."""

    def __init__(self, embedder) -> None:
        self.embedder, self.name, self.dimension = embedder, "other@2", embedder.dimension

    def passages(self, texts):
        return self.embedder.passages(texts)

    def queries(self, texts):
        return self.embedder.queries(texts)


def test_a_vector_of_another_model_is_stale_and_goes_when_the_new_one_is_made(editor, embedder, database, kb):
    near.embed_terms(database, kb, embedder)
    assert asked(editor, Other(embedder), "site").stale == 34
    made = near.embed_terms(database, kb, Other(embedder))
    assert (made.done, made.forgotten) == (34, 34)
    assert asked(editor, Other(embedder), "site").stale == 0
    assert asked(editor, embedder, "site").stale == 34
    editor.act(edits.delete_term, "post_in")
    assert near.embed_terms(database, kb, Other(embedder)).forgotten == 1


def test_a_thousand_classes_are_one_query_and_the_nearest_are_the_nearest(database, kb):
    editor = Editor(database, kb)
    editor.apply(editor.plan([OntologyClass(key=f"c{n}", label=f"Class {n}") for n in range(1000)]))
    vectors = np.random.default_rng(7).normal(size=(1000, 64)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    with database.write(kb) as conn:
        near.keep(conn, kb, "m", {f"c{n}": (f"Class {n}", vectors[n]) for n in range(1000)})
    wanted = np.argsort(-(vectors @ vectors[17]))[:10]
    with database.read(kb) as conn:
        sent = []
        execute = conn.execute
        conn.execute = lambda query, *rest: sent.append(query) or execute(query, *rest)
        found = near.nearest(conn, kb, vectors[17].tolist(), "m", kinds=["class"])
        del conn.execute
    assert len(sent) == 1
    assert [c.key for c in found.found] == [f"c{n}" for n in wanted]
    assert found.found[0].score == pytest.approx(1, abs=1e-6)
    assert (found.terms, found.stale) == (1000, 0)


def test_another_base_has_no_vector_of_this_one(editor, embedder, database, kb):
    from substrate.bases import create_base
    from substrate.db import NO_BASE

    near.embed_terms(database, kb, embedder)
    with database.write(NO_BASE) as conn:
        other = create_base(conn, "other", "Other")
    with database.read(other) as conn:
        found = near.nearest_to(conn, kb, "site", embedder)
        assert (found.found, found.terms) == ((), 0)


def test_without_a_model_nothing_is_lost_and_the_result_says_so(editor, embedder, database, kb):
    def broken():
        raise ModelUnavailable("no files")

    near.embed_terms(database, kb, embedder)
    made = near.refresh_terms(database, kb, broken)
    assert (made.done, made.forgotten, made.waits) == (0, 0, "no files")
    assert asked(editor, embedder, "site").stale == 0


def test_what_cannot_be_asked_is_refused(editor, embedder):
    for text, more, field in ((" ", {}, "text"), ("x", {"limit": 0}, "limit"), ("x", {"kinds": ["thing"]}, "kinds")):
        with pytest.raises(InvalidInput) as caught:
            asked(editor, embedder, text, **more)
        assert caught.value.facts["field"] == field
