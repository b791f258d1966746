"""What moves a passage up beside its own words: what stands around it, who says it, when, and what is asked for."""

from __future__ import annotations

import datetime as dt

import pytest

from substrate.retrieval.analysis import telling, words
from substrate.retrieval.lexical import rebuild_index, run_index
from substrate.retrieval.questions import Question, label, stamped_at, tells_a_time
from substrate.retrieval.ranking import WEIGHTS

TALK = [
    "Nadia (8 May, 2023): Where did you learn to sail?",
    "Omar (8 May, 2023): In Lisbon, years ago.",
    "Nadia (8 May, 2023): I went sailing last week too.",
    "Omar (8 May, 2023): The weather was awful here.",
]


def texts(answer) -> list[str]:
    return [chunk["text"] for chunk in answer["chunks"]]


def signals(answer, text: str) -> dict[str, float]:
    (found,) = [chunk["explain"]["signals"] for chunk in answer["chunks"] if chunk["text"] == text]
    return found


@pytest.fixture(params=["tail", "index"])
def talk(request, shelf, database, kb, settings):
    """The conversation, once past the index and once in it, beside a document that shares a word with it."""
    shelf.put("call.txt", TALK)
    shelf.put("lisbon.txt", ["Lisbon is the capital of Portugal."])
    if request.param == "index":
        run_index(database, kb, settings)
    return shelf


def test_an_answer_is_found_by_the_question_before_it(talk, ask):
    answer = ask("Where did Omar learn to sail?", explain=True)
    assert texts(answer)[0] == TALK[1]
    assert signals(answer, TALK[1])["answer"] > 0 and signals(answer, TALK[1])["near_words"] > 0
    assert "words" in signals(answer, TALK[1])  # "Omar", who says it


def test_what_ends_one_document_asks_nothing_of_the_next(shelf, ask):
    for n in range(4):
        shelf.put(f"{n}.txt", [f"Where does one learn to sail, number {n}?"])
    shelf.put("plain.txt", ["One learns to sail in Lisbon."])
    found = ask("learn to sail", explain=True, limit=50)["chunks"]
    assert len(found) == 5 and not any("answer" in chunk["explain"]["signals"] for chunk in found)


def test_likenesses_that_hardly_differ_are_no_reason_to_prefer_one(shelf, ask, letters):
    shelf.put("a.txt", ["anchoring boats"])
    shelf.put("b.txt", ["anchoring boat"])
    found = ask("anchorage", embedder=letters, explain=True)["chunks"]
    likeness = [chunk["explain"]["similarity"] for chunk in found]
    assert 0 < max(likeness) - min(likeness) < 0.05
    added = [chunk["explain"]["signals"].get("meaning", 0) for chunk in found]
    assert len(added) == 2 and max(added) - min(added) < WEIGHTS["meaning"] / 2


def test_the_neighbours_of_another_document_do_not_count(talk, ask):
    answer = ask("sail", explain=True, limit=50)
    assert "Lisbon is the capital of Portugal." not in texts(answer)


def test_the_speaker_whom_the_question_names_goes_first(talk, ask):
    by_omar = ask("What did Omar say about the weather and sailing?", explain=True, limit=50)
    assert signals(by_omar, TALK[3])["speaker"] > 0 and "speaker" not in signals(by_omar, TALK[2])
    both = ask("What did Omar and Nadia say about the weather and sailing?", explain=True, limit=50)
    assert not any("speaker" in chunk["explain"]["signals"] for chunk in both["chunks"])


def test_a_question_that_asks_when_prefers_what_tells_a_time(talk, ask):
    when = ask("When did Nadia go sailing?", explain=True, limit=50)
    assert signals(when, TALK[2])["time"] > 0 and "time" not in signals(when, TALK[0])
    what = ask("Did Nadia go sailing?", explain=True, limit=50)
    assert not any("time" in chunk["explain"]["signals"] for chunk in what["chunks"])


def test_a_date_in_the_question_prefers_what_was_said_then(shelf, ask):
    shelf.put("may.txt", ["Nadia (8 May, 2023): I went sailing.", "Nadia (9 July, 2023): I went sailing again."])
    for asked, first, other in (("May 2023", 0, 1), ("July 2023", 1, 0), ("July", 1, 0)):
        answer = ask(f"sailing in {asked}", explain=True)
        dated = [
            chunk["explain"]["signals"].get("date", 0) for chunk in sorted(answer["chunks"], key=lambda c: c["seq"])
        ]
        assert dated[first] > dated[other], asked


def test_a_rebuilt_index_ranks_as_the_tail_did(shelf, ask, database, kb, settings):
    """Scores of a few passages equal within rounding whether they are indexed or not."""
    shelf.put("call.txt", TALK)
    before = ask("Where did Omar learn to sail?", explain=True, limit=50)
    rebuild_index(database, kb, settings)
    after = ask("Where did Omar learn to sail?", explain=True, limit=50)
    assert texts(before) == texts(after)
    for one, other in zip(before["chunks"], after["chunks"], strict=True):
        assert one["explain"]["signals"] == pytest.approx(
            other["explain"]["signals"], abs=0.05
        )  # the index keeps lengths roughly


def test_what_stood_around_a_passage_then_counts_then(shelf, ask):
    """A version's passages are each other's neighbours, those of the next version are not."""
    first = shelf.put("call.txt", TALK[:2])
    shelf.put("call.txt", ["Nadia (8 May, 2023): Where were you born?", TALK[1]])
    then = ask("learn sail", seq=first, explain=True, limit=50)
    assert TALK[1] in texts(then) and signals(then, TALK[1])["near_coverage"] > 0
    assert texts(ask("learn sail", limit=50)) == []


@pytest.mark.parametrize(
    ("question", "kept"),
    [
        ("What did Omar say about the boat?", ["Omar", "say", "boat"]),
        ("Is Will in IT?", ["Will", "IT"]),
        ("who is it", ["who", "is", "it"]),
        ("我的船在哪里", None),
    ],
)
def test_words_that_hold_a_question_together_do_not_count(question, kept):
    listed = words(question, asked=True)
    assert telling(listed) == (listed if kept is None else kept)


def test_a_label_is_read_and_what_is_none_is_not():
    assert label(TALK[0]) == ("Nadia", "8 May, 2023")
    assert label("[2024-05-01 10:15] Omar: hi") == ("Omar", "")
    assert label("The weather was awful.") == ("", "")
    assert stamped_at("8 May, 2023") == stamped_at("1:56 pm on 8 May, 2023") == dt.datetime(2023, 5, 8, tzinfo=dt.UTC)
    assert stamped_at("some day") is None


def test_what_a_question_asks():
    asked = Question.of("When did Omar sail in May 2023?")
    assert asked.asks_when and asked.names("Omar Li") and not asked.names("Nadia")
    may, june, august = (dt.datetime(2023, month, 20, tzinfo=dt.UTC) for month in (5, 6, 8))
    assert (asked.dated_at(may), asked.dated_at(june), asked.dated_at(august), asked.dated_at(None)) == (1, 0.5, 0, 0)
    assert not Question.of("What did Omar sail?").asks_when and Question.of("小王什么时候来的？").asks_when
    assert tells_a_time("I went last week.") and tells_a_time("我昨天去了") and not tells_a_time("I went there.")
