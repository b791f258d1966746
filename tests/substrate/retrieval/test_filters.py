"""What a search is narrowed to: both arms judge alike, in the tail and in the index, and the few are all found."""

from __future__ import annotations

import random
from datetime import UTC, datetime

import pytest

from substrate import sql
from substrate.documents.intake import PushItem, push
from substrate.documents.stage import run_parse
from substrate.errors import InvalidInput, NotFound
from substrate.ledger import open_door
from substrate.ledger.assertions import assert_batch
from substrate.ledger.drafts import Draft, Evidence
from substrate.ledger.entities import resolve_names
from substrate.ontology.store import load_ontology
from substrate.reads.moments import resolve
from substrate.retrieval import vectors
from substrate.retrieval.embed_stage import run_embed
from substrate.retrieval.filters import MOST_NAMED, Filters, Narrowing, narrowed
from substrate.retrieval.lexical import run_index
from substrate.retrieval.passages import vector_key

BY = {"actor": "person:Ada", "via": "rest"}


def arms(answer) -> list[set[str]]:
    """Texts that the words found, and those that the vectors found; the answer must be explained."""
    return [{c["text"] for c in answer["chunks"] if c["explain"][arm]} for arm in ("lexical", "vector")]


@pytest.fixture
def harbour(database, kb):
    """Documents of two sources, two media types, two namespaces and four dates, by name; their ids."""

    def take(source: str, *items: PushItem) -> dict[str, str]:
        results = push(database, kb, items, source=source, **BY)
        return {i.external_id: str(r.document_id) for i, r in zip(items, results, strict=True)}

    made = take(
        "office",
        PushItem("old", "old.md", b"The old crate.", "2019-05", ""),
        PushItem("new", "new.md", b"The new crate.", "2023-07-04", ""),
        PushItem("plain", "plain.txt", b"The plain crate.", None, "store"),
    )
    made |= take("ship", PushItem("sea", "sea.md", b"The crate at sea.", "2023-12-31", "store"))
    run_parse(database, kb)
    return made


CASES = [
    ({"namespace": "store"}, {"plain", "sea"}),
    ({"namespace": ""}, {"old", "new"}),
    ({"namespace": "nowhere"}, set()),
    ({"sources": ("ship",)}, {"sea"}),
    ({"sources": ("ship", "office"), "namespace": "store"}, {"plain", "sea"}),
    ({"types": ("text/plain",)}, {"plain"}),
    ({"types": ("text/markdown", "text/plain")}, {"old", "new", "sea", "plain"}),
    ({"types": ("memory",)}, set()),
    ({"types": ("file",)}, {"old", "new", "sea", "plain"}),
    ({"since": "2023"}, {"new", "sea"}),
    ({"since": "2023-12-31"}, {"sea"}),
    ({"until": "2023-07"}, {"old", "new"}),
    ({"until": "2023-07-03"}, {"old"}),
    ({"since": "2019-05-01", "until": "2019-05-01"}, {"old"}),
    ({"since": "2020", "until": "2022"}, set()),
    ({"since": "2023", "namespace": "store"}, {"sea"}),
]


def test_every_filter_leaves_the_same_in_both_arms_in_tail_and_index(harbour, ask, database, kb, settings, letters):
    words = {"old": "The old crate.", "new": "The new crate.", "plain": "The plain crate.", "sea": "The crate at sea."}

    def asked(**filters) -> list[set[str]]:
        return arms(ask("crate", embedder=letters, explain=True, narrowing=Narrowing(**filters)))

    for _ in range(2):
        for filters, left in CASES:
            assert asked(**filters) == [{words[name] for name in left}] * 2, filters
        for name, document_id in harbour.items():
            assert asked(documents=(document_id,)) == [{words[name]}] * 2
        assert arms(ask("crate", embedder=letters, explain=True)) == [set(words.values())] * 2
        run_embed(database, kb, letters)
        run_index(database, kb, settings)


def test_an_entity_leads_to_the_passages_that_speak_of_it_then(shelf, ask, database, kb, settings, letters):
    first = shelf.put("a.txt", ["Ada packs a crate."])
    shelf.put("b.txt", ["A crate of nobody."])
    with database.write(kb) as conn, open_door(conn, kb, actor="person:Ada", via="import", action="facts") as door:
        ids = resolve_names(door, dict.fromkeys(["Ada", "Crate 9"]))
        version, (chunk,) = shelf.held["a.txt"]
        evidence = Evidence(None, chunk, shelf.document_ids["a.txt"], version, "Ada packs", 0, 9, "packs")
        draft = Draft("test:1", ids["Ada"], "packs", None, object_id=ids["Crate 9"], evidence=evidence)
        assert_batch(door, [draft], load_ontology(conn, kb))
    for _ in range(2):
        for entity in ("Ada", str(ids["Crate 9"])):
            answer = ask("crate", embedder=letters, explain=True, narrowing=Narrowing(entity=entity))
            assert arms(answer) == [{"Ada packs a crate."}] * 2
        with pytest.raises(NotFound):
            ask("crate", embedder=letters, seq=first, narrowing=Narrowing(entity="Ada"))
        run_index(database, kb, settings)
        shelf.embed(letters)


@pytest.mark.parametrize(
    ("given", "field", "kind"),
    [
        ({"documents": ("x",)}, "document_id", InvalidInput),
        ({"sources": ("nowhere",)}, "source", NotFound),
        ({"sources": ("",)}, "source", InvalidInput),
        ({"types": tuple(map(str, range(MOST_NAMED + 1)))}, "type", InvalidInput),
        ({"since": "yesterday"}, "since", InvalidInput),
        ({"since": "2024", "until": "2023"}, "until", InvalidInput),
        ({"entity": "Nobody"}, "entity", NotFound),
    ],
)
def test_what_cannot_be_meant_is_refused_by_field(harbour, database, kb, given, field, kind):
    with database.read(kb) as conn, pytest.raises(kind) as refused:
        narrowed(conn, kb, Narrowing(**given), resolve(conn, kb))
    assert refused.value.facts["field"] == field


def test_ten_among_many_are_all_found_by_the_index_and_without_it(shelf, database, kb, dsn, letters, monkeypatch):
    """The ten are the least like the question, so that an index that stops early finds none of them."""
    monkeypatch.setattr(vectors, "_INDEX_KNOWN_SECONDS", 0.0)
    chance = random.Random(4)
    for part in range(4):
        near = [f"crate crate {chance.randrange(10**6)}" for _ in range(300)]
        shelf.put(f"{part}.txt", near)
    shelf.put("rare.txt", [f"zzz qqq {n}" for n in range(10)], namespace="rare")
    last = shelf.put("half.txt", [f"crate of the half {n}" for n in range(400)], namespace="half")
    shelf.embed(letters)

    def found(few: int, **filters) -> dict[str, float]:
        monkeypatch.setattr(vectors, "FEW", few)
        with database.read(kb) as conn:
            as_of = resolve(conn, kb, as_of=f"seq:{last}")
            answer = vectors.nearest(conn, kb, letters, "crate", as_of, depth=50, filters=Filters(**filters))
        return {str(n.chunk_id): n.similarity for n in answer.found}

    rare = {str(i) for i in shelf.held["rare.txt"][1]}
    half = {str(i) for i in shelf.held["half.txt"][1]}
    assert found(4000, namespace="rare").keys() == rare
    exact = found(4000, namespace="half")
    assert vectors.ensure_vector_index(dsn, kb, vector_key(letters), 64, above=100)
    for few in (4000, 5):  # compared one by one; gone through by the index, which falls short of the ten
        assert found(few, namespace="rare").keys() == rare
    short = sql._queries()["retrieval_hnsw_settings"].replace("'100000'", "'100'")
    with monkeypatch.context() as patched:  # the index gives up before it meets one of the ten
        patched.setitem(sql._queries(), "retrieval_hnsw_settings", short)
        assert found(5, namespace="rare").keys() == rare
    by_index = found(5, namespace="half")  # many are equally like, so that likeness is what must agree
    assert sum(by_index.values()) >= 0.99 * sum(exact.values()) > 0 and by_index.keys() <= half
    assert len(by_index) == len(exact) == 50
    assert found(5, since=datetime(2020, 1, 1, tzinfo=UTC)) == {}
