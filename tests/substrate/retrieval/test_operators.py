"""Phrases, words to leave out and fields: in the tail and in the index, by words and by meaning, then and now."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from substrate.errors import InvalidInput, NotFound
from substrate.retrieval.filters import Narrowing
from substrate.retrieval.lexical import run_index
from substrate.retrieval.operators import MOST_SAID, read, said

TEXTS = {
    "a.txt": ["The grey heron nests by the river.", "A heron that is grey was seen.", "River barges pass."],
    "b.txt": ["Grey herons and crates.", "今日は成語しりとりをした", "步2 重跑gen-itgc后50条悬空引用清零"],
    "c.txt": [r"Open C:\repo\src\main.py first.", "It fails with ERR_CONN-42 at http-404.", "To be or not to be."],
}


@pytest.fixture
def nest(shelf):
    for name, texts in TEXTS.items():
        shelf.put(name, texts, headings=("Harbour log",) if name == "a.txt" else ())
    return shelf


CASES = [
    ('"grey heron"', {"The grey heron nests by the river.", "Grey herons and crates."}),
    ('"heron grey"', set()),
    ('"grey heron" -crates', {"The grey heron nests by the river."}),
    ('heron -"grey heron" -"grey herons"', {"A heron that is grey was seen."}),
    ("“grey heron” river -CRATE", {"The grey heron nests by the river."}),
    ('"しりとり"', {"今日は成語しりとりをした"}),
    ('"悬空引用"', {"步2 重跑gen-itgc后50条悬空引用清零"}),
    ('"空悬"', set()),
    ("悬空 -itgc", set()),
    ('"src\\main.py"', {r"Open C:\repo\src\main.py first."}),
    ('"ERR_CONN-42"', {"It fails with ERR_CONN-42 at http-404."}),
    ('"not to be"', {"To be or not to be."}),
    ('"to be" zebra', {"To be or not to be."}),
    ("title:harbour barges -nests -seen", {"River barges pass."}),
    ('title:"log harbour" heron', set()),
    ('title:"Harbour Log" "by the river"', {"The grey heron nests by the river."}),
    ("type:file source:shelf barges title:a.txt -heron", {"River barges pass."}),
    ("type:memory heron", set()),
    ("namespace:nowhere heron", set()),
]
# Where nothing must stand, meaning finds all but what is left out, and words those beside what they find.
DROPPED = {
    'heron -"grey heron" -"grey herons"': {"The grey heron nests by the river.", "Grey herons and crates."},
    "悬空 -itgc": {"步2 重跑gen-itgc后50条悬空引用清零"},
}


def test_each_operator_leaves_the_same_by_words_and_by_meaning_in_tail_and_index(
    nest, ask, database, kb, settings, letters
):
    every = {text for texts in TEXTS.values() for text in texts}
    for _ in range(2):
        for query, left in CASES:
            found = {c["text"] for c in ask(query, operators=True, limit=50)["chunks"]}
            passing = {c["text"] for c in ask(query, embedder=letters, operators=True, limit=50)["chunks"]}
            if query in DROPPED:
                assert left <= found <= passing == every - DROPPED[query], query
            else:
                assert found == passing == left, query
        held = {c["text"] for c in ask('"grey heron" -crates', embedder=letters, limit=50)["chunks"]}
        assert held == every, "without the switch no character of a query means anything"
        nest.embed(letters)
        run_index(database, kb, settings)


def test_what_was_left_out_or_asked_for_is_judged_by_the_version_of_then(shelf, texts, database, kb, settings):
    first = shelf.put("a.txt", ["The grey heron nests."])
    shelf.put("a.txt", ["The heron is brown, not grey."])
    for _ in range(2):
        assert texts('"grey heron"', operators=True) == []
        assert texts('"grey heron"', operators=True, seq=first) == ["The grey heron nests."]
        assert texts("heron -brown", operators=True) == []
        assert texts("heron -brown", operators=True, seq=first) == ["The grey heron nests."]
        run_index(database, kb, settings)


def test_a_document_of_the_tail_beside_an_index_is_judged_too(nest, texts, database, kb, settings):
    run_index(database, kb, settings)
    nest.put("d.txt", ["One more grey heron came.", "A crate of heron feathers."])
    found = texts('"grey heron" -crate', operators=True, limit=50)
    assert sorted(found) == ["One more grey heron came.", "The grey heron nests by the river."]
    found = texts("heron -grey", operators=True, limit=50)
    assert found[0] == "A crate of heron feathers." and not any("rey" in text for text in found)


def test_arguments_say_the_same_as_the_grammar(nest, texts):
    asked = Narrowing(phrases=("grey heron",), without=("crates",), titles=("harbour",))
    assert texts("heron", narrowing=asked) == texts('heron "grey heron" -crates title:harbour', operators=True)
    assert texts("heron", narrowing=asked) == ["The grey heron nests by the river."]
    assert "River barges pass." in texts("heron", limit=50)
    assert "River barges pass." not in texts("heron", narrowing=Narrowing(without=("barges",)), limit=50)


def test_a_phrase_of_many_passages_is_found_whole(shelf, texts, database, kb, settings, letters):
    shelf.put("many.txt", [f"grey heron number {n}{' gone' if n % 2 else ''}" for n in range(1200)])
    shelf.embed(letters)
    run_index(database, kb, settings)
    for embedder in (None, letters):
        left = texts('"grey heron" -gone', operators=True, embedder=embedder, limit=50)
        assert len(left) == 50 and not any("gone" in text for text in left)
        assert texts('"number 700"', operators=True, embedder=embedder) == ["grey heron number 700"]
        assert texts('"number 700" -700', operators=True, embedder=embedder) == []


@pytest.mark.parametrize(
    ("query", "plain"),
    [
        ('an open "quote', 'an open "quote'),
        ("a - b -- c", "a - b -- c"),
        ("run --flag", "run --flag"),
        ("C++ ::", "C++ ::"),
        ("🚀 -🎯", "🚀 -🎯"),
        ('"" "…"', '"" "…"'),
        ("foo:bar http://x/y", "foo:bar http://x/y"),
        ("well-known", "well-known"),
        ("title:", "title:"),
        ("(a AND b) OR [c TO d] ^2 ~3 *", "(a AND b) OR [c TO d] ^2 ~3 *"),
    ],
)
def test_what_is_no_operator_is_plain_text(query, plain):
    assert read(query) == (plain, Narrowing())


@pytest.mark.parametrize(
    ("query", "because"),
    [
        ("-heron", "nothing to look for"),
        ("type:file", "nothing to look for"),
        ("heron -type:file", "type cannot be left out"),
        ("heron -title:log", "a title cannot be left out"),
        ("namespace:a namespace:b heron", "only one namespace"),
        ("heron \ud800", "not valid Unicode"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(query, because):
    with pytest.raises(InvalidInput, match=because) as refused:
        read(query)
    assert refused.value.facts["field"] == "query"


def test_arguments_that_say_nothing_are_refused_by_name(nest, texts):
    for field, asked in {
        "phrase": Narrowing(phrases=("?!",)),
        "without": Narrowing(without=("",)),
        "title": Narrowing(titles=("🚀",)),
    }.items():
        with pytest.raises(InvalidInput, match=f"{field}: .* has no word"):
            texts("heron", narrowing=asked)
    with pytest.raises(InvalidInput, match=f"at most {MOST_SAID}"):
        said(Narrowing(phrases=("a",) * (MOST_SAID + 1)))
    with pytest.raises(NotFound, match="no source 'attic'"):
        texts("heron source:attic", operators=True)
    with pytest.raises(InvalidInput, match="null character"):
        texts("heron type:a\0b", operators=True)


_PIECES = ['"', "-", "“", "”", ":", "title:", "type:", "source:", "namespace:", " ", "\t", "heron", "grey", "しりとり"]
_PIECES += ["悬空", "ERR_42", "C++", "\\", "/", "(", ")", "AND", "OR", "NOT", "TO", "*", "?", "~", "^", "+", "[", "]"]
_PIECES += ["{", "}", "!", "🚀", "\u200b", "\u0301", "\x07", "\0", "é", "'", "’s", "--", "||", "&&", "\u202e", "１２"]


@settings(max_examples=400, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(_PIECES), st.text(max_size=4)), max_size=14).map("".join))
def test_any_text_is_read_or_refused_in_words(query):
    refused = None
    try:
        text, narrowing = read(query)
        said(narrowing)
    except InvalidInput as error:
        refused = error
    assert refused.facts["field"] == "query" if refused else text.strip()


def test_any_text_is_searched_or_refused_in_words(nest, ask, letters):
    chance = random.Random(7)
    answered = 0
    for n in range(150):
        query = "".join(chance.choices(_PIECES, k=chance.randint(1, 9))) + chance.choice(["", " heron"])
        for operators in (True, False):
            refused = None
            try:
                ask(query, operators=operators, embedder=letters if n % 3 == 0 else None)
                answered += 1
            except InvalidInput as error:
                refused = error
            assert refused is None or refused.facts["field"] in {"query", "source", "type", "namespace"}, query
    assert answered > 150


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("しりとり", "今日は成語しりとりをした"),
        ("悬空", "步2 重跑gen-itgc后50条悬空引用清零"),
        ("itgc", "步2 重跑gen-itgc后50条悬空引用清零"),
        (r"C:\repo\src\main.py", r"Open C:\repo\src\main.py first."),
        ("main", r"Open C:\repo\src\main.py first."),
        ("ERR_CONN-42", "It fails with ERR_CONN-42 at http-404."),
        ("http-404", "It fails with ERR_CONN-42 at http-404."),
    ],
)
def test_scripts_without_spaces_mixed_ones_and_identifiers_are_found_first(nest, texts, database, kb, query, found):
    for operators in (False, True):
        assert texts(query, operators=operators)[0] == found
