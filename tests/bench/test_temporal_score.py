"""The question set of bench/temporal is consistent, and its judge cannot be passed without both clocks."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections import Counter
from dataclasses import replace

import pytest

from bench.temporal.score import (
    SABOTAGE_LIMIT,
    judge,
    load,
    measure,
    mentions,
    parts,
    play,
    results_markdown,
    score,
)
from bench.temporal.world import Answer, Question

DATASET = load()
LABELS = [wave.label for wave in DATASET.waves]
FACTS = [f for part in parts() for f in json.loads((part / "truth.json").read_text(encoding="utf-8"))["facts"]]
KINDS = [
    "hand_over_chain",
    "correction",
    "late_arrival",
    "deletion",
    "merge",
    "unknown_end",
    "year_precision",
    "undated",
    "refused",
    "chinese",
    "restoration",
    "undo",
]


def bucket(at):
    """First day and first day after of a year, month or day."""
    year, month, day = (*map(int, at.split("-")), None, None)[:3]
    if month is None:
        return dt.date(year, 1, 1), dt.date(year + 1, 1, 1)
    if day is None:
        return dt.date(year, month, 1), dt.date(year + month // 12, month % 12 + 1, 1)
    return dt.date(year, month, day), dt.date(year, month, day) + dt.timedelta(days=1)


def first_day(at):
    return bucket(at)[0].isoformat()


def last_day(at):
    return (bucket(at)[1] - dt.timedelta(days=1)).isoformat()


class TruthWorld:
    """A world that knows the gold facts: its token is the number of waves taken in."""

    def __init__(self, narrow=lambda at: at):
        self.waves = []
        self.narrow = narrow

    def ingest_wave(self, wave):
        self.waves.append(wave)

    def stamp(self):
        return len(self.waves)

    def canonical(self, name, known):
        keeps = {}
        for wave in self.waves[:known]:
            keeps |= {merge.merge: merge.keep for merge in wave.merges}
            for merge in wave.parts:
                del keeps[merge.merge]
        return keeps.get(name, name)

    def on_record(self, fact, known):
        labels = [wave.label for wave in self.waves]
        since = labels.index(fact["recorded"]) + 1
        until = labels.index(fact["invalidated"]) + 1 if fact["invalidated"] else known + 1
        return since <= known < until

    def holds(self, fact, at):
        if at is None:
            return True
        start, end = bucket(self.narrow(at))
        begun = fact["from"] is None or dt.date.fromisoformat(fact["from"]) < end
        ended = fact["to"] is not None and dt.date.fromisoformat(fact["to"]) <= start
        return begun and not ended

    def read(self, subject, at, as_of):
        known = len(self.waves) if as_of is None else as_of
        subject = self.canonical(subject, known)
        answers, seen = [], False
        for fact in FACTS:
            ends = [self.canonical(fact[end], known) for end in ("subject", "object")]
            if subject in ends and self.on_record(fact, known):
                seen = True
                if self.holds(fact, at):
                    answers.append(Answer(fact["predicate"], ends[1 - ends.index(subject)]))
        return answers if seen else None


def question(**changes):
    base = Question(
        id="x",
        kind="k",
        subject="A",
        relation="leads",
        at="2020",
        as_of=None,
        expect=("B",),
        excluded=("C",),
        ask="?",
    )
    return replace(base, **changes)


def test_the_oracle_is_right_everywhere_and_no_broken_reader_is_above_the_limit():
    report = measure(TruthWorld(), DATASET)
    assert report.score.wrong == ()
    assert report.score.absent == 0
    assert report.ok()
    assert set(report.sabotage) == {"ignore_at", "ignore_asof", "all", "none"}
    assert all(share <= SABOTAGE_LIMIT for share in report.sabotage.values()), report.line()
    assert report.sabotage["none"] == 0
    assert re.fullmatch(
        r"temporal: right=(\d+) total=\1 absent=0 "
        r"ignore_at=0\.\d{3} ignore_asof=0\.\d{3} all=0\.\d{3} none=0\.000",
        report.line(),
    )


@pytest.mark.parametrize("narrow", [first_day, last_day])
def test_no_question_hangs_on_how_a_bucket_is_read(narrow):
    assert score(DATASET.questions, play(TruthWorld(narrow), DATASET)).wrong == ()


def test_every_end_on_record_matters_to_some_question():
    """Forgetting all ends, all merges or all invalidations is seen."""
    for key in ("to", "invalidated"):
        saved = [fact[key] for fact in FACTS]
        try:
            for fact in FACTS:
                fact[key] = None
            assert len(score(DATASET.questions, play(TruthWorld(), DATASET)).wrong) > 20
        finally:
            for fact, value in zip(FACTS, saved, strict=True):
                fact[key] = value


def test_the_set_is_as_large_and_as_mixed_as_promised():
    kinds = Counter(q.kind for q in DATASET.questions)
    assert len(DATASET.questions) >= 60
    assert all(kinds[kind] >= 5 for kind in KINDS), kinds
    assert len({q.id for q in DATASET.questions}) == len(DATASET.questions)
    assert all(q.control is not None and q.relation for q in DATASET.questions if q.expect is None)
    assert all(q.excluded for q in DATASET.questions if q.expect is None)


def test_questions_truth_and_reviews_use_declared_relations_and_existing_documents():
    declared = {relation["key"] for relation in DATASET.ontology["relations"]}
    assert {fact["predicate"] for fact in FACTS} <= declared
    assert {q.relation for q in DATASET.questions if q.relation} <= declared
    assert {v.predicate for wave in DATASET.waves for v in wave.verdicts} <= declared
    given, joined = ([x for wave in DATASET.waves for x in getattr(wave, n)] for n in ("verdicts", "merges"))
    assert all(v in given for wave in DATASET.waves for v in wave.taken_back)
    assert all(m in joined for wave in DATASET.waves for m in wave.parts)
    known: set[str] = set()
    for wave in DATASET.waves:
        known |= {document.external_id for document in wave.documents}
        assert {*wave.deletes, *wave.restores} <= known
    assert {None, *LABELS[:2]} <= {q.as_of for q in DATASET.questions} <= {None, *LABELS}


def test_every_name_in_the_truth_is_written_in_the_corpus():
    text = "\n".join(d.text for wave in DATASET.waves for d in wave.documents)
    text += "\n".join(r.text for wave in DATASET.waves for r in wave.remembered)
    for fact in FACTS:
        for name in (fact["subject"], fact["object"].removesuffix(" EUR").removesuffix(" CNY")):
            assert mentions(text, name), name


def test_judge_wants_all_expected_and_none_excluded():
    assert judge(question(), [Answer("leads", "B")])
    assert not judge(question(), [Answer("advises", "B")])
    assert judge(question(relation=None), [Answer(None, "B")])
    assert not judge(question(), [Answer("leads", "B"), Answer("leads", "C")])
    assert judge(question(), [Answer("leads", "B"), Answer("advises", "C")])
    assert not judge(question(expect=("B", "D")), [Answer("leads", "B")])
    assert judge(question(expect=None), [])


@pytest.mark.parametrize(
    ("text", "wanted", "found"),
    [
        ("1,250 EUR", "1250", True),
        ("11250 EUR", "1250", False),
        ("12500", "1250", False),
        ("1250.00 EUR", "1250", True),
        ("the Heron Initiative", "heron initiative", True),
        ("沈若楠", "沈若楠", True),
        ("3,25", "325", False),
    ],
)
def test_mentions(text, wanted, found):
    assert mentions(text, wanted) is found


def test_an_expected_empty_answer_needs_its_control():
    empty = question(expect=None, control=("2021", None))
    silent = score([empty], lambda subject, at, as_of: [])
    other = score([empty], lambda subject, at, as_of: [Answer("leads", "Z")] if at == "2021" else [])
    sound = score([empty], lambda subject, at, as_of: [Answer("leads", "C")] if at == "2021" else [])
    assert (silent.right, other.right, sound.right) == (0, 0, 1)


def test_without_a_stated_control_another_question_of_the_subject_serves():
    empty = question(id="e", expect=None)
    asked = [empty, question(id="o", at="2021", expect=("C",), excluded=())]

    def reader(subject, at, as_of):
        return [Answer("leads", "C")] if at == "2021" else []

    assert score(asked, reader).right == 2
    assert score([empty], reader).right == 0


def test_an_unknown_subject_is_absent_where_an_answer_was_expected():
    asked = [question(), question(id="y", expect=None, control=("2021", None))]
    result = score(asked, lambda subject, at, as_of: None)
    assert (result.right, result.total, result.absent) == (0, 2, 1)


def test_the_third_party_format_is_read(tmp_path):
    corpus = {
        "name": "other",
        "waves": [
            {"label": "wave-1", "documents": [{"filename": "a.md", "doc_time": "2020-01-01", "text": "x"}]},
            {"label": "wave-2", "documents": [], "delete": ["a.md"]},
        ],
        "classes": [{"key": "person", "label": "Person"}],
        "axioms": [
            {"key": "inside", "label": "inside", "kind": "relation", "is_transitive": True},
            {"key": "pay", "label": "pay", "kind": "attribute", "functional": True, "unit": "EUR"},
        ],
    }
    asked = {"id": "q", "axis": "world", "at": "2020", "subject": "A", "expect": "B", "not": [], "ask": "?"}
    (tmp_path / "corpus.json").write_text(json.dumps(corpus))
    (tmp_path / "questions.json").write_text(json.dumps({"questions": [asked]}))
    other = load(tmp_path)
    assert other.waves[0].documents[0].external_id == "a.md"
    assert other.waves[1].deletes == ["a.md"]
    inside, pay = other.ontology["relations"]
    assert (inside["transitive"], inside["functional"], inside["temporal"]) == (True, False, "state")
    assert (pay["functional"], pay["unit"]) == (True, "EUR")
    assert set(inside) == set(DATASET.ontology["relations"][0])
    assert other.questions[0].expect == ("B",)
    assert other.questions[0].kind == "world"
    del corpus["axioms"]
    (tmp_path / "corpus.json").write_text(json.dumps(corpus))
    with pytest.raises(ValueError, match="neither"):
        load(tmp_path)


def test_the_results_file_names_commit_kinds_and_limits():
    text = results_markdown(measure(TruthWorld(), DATASET), commit="abc1234", repetitions=3)
    for part in ("abc1234", "Repetitions: 3", "| merge |", "What it does not show", "temporal: right="):
        assert part in text
