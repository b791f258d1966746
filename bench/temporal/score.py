"""Judges answers on two clocks, and four readers that are broken on purpose.

A question is right when every string of `expect` is in some answer and no string of `not` is in any. An
expected empty answer counts only if the same subject and relation, asked at another (at, as_of) of the same
run, answers with one of the strings that must be absent here: silence alone is never right. The broken
readers (one ignores `at`, one ignores `as_of`, one returns everything that ever was on record, one returns
nothing) show how much of the score could be had without either clock.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from bench.temporal.world import (
    Answer,
    Dataset,
    Document,
    Merge,
    Question,
    Reader,
    Remembered,
    Verdict,
    Wave,
    World,
)

HERE = Path(__file__).parent
SABOTAGE_LIMIT = 0.60
_THOUSANDS = re.compile(r"(?<=\d)[,\u202f\u00a0'](?=\d{3}(?!\d))")
_AXIOM_FLAGS = ("functional", "inverse_functional", "transitive", "symmetric", "asymmetric", "irreflexive")
_AXIOM_VALUES = ("inverse_of", "sub_property_of", "domain", "range", "datatype", "unit")


def normalise(text: str) -> str:
    """Case folded, thousands separators removed."""
    return _THOUSANDS.sub("", text).casefold()


def mentions(text: str, wanted: str) -> bool:
    """Whether `wanted` is in `text`; a number only as a whole number ("1250" is not in "11250")."""
    hay, needle = normalise(text), normalise(wanted)
    if needle.isdigit():
        return re.search(rf"(?<!\d){needle}(?!\d)", hay) is not None
    return needle in hay


def relevant(question: Question, answers: Iterable[Answer]) -> list[str]:
    """The other ends that the question is about: of its relation if it names one, else of all."""
    return [a.other for a in answers if question.relation is None or a.predicate == question.relation]


def judge(question: Question, answers: Iterable[Answer]) -> bool:
    """Right or not, by the answers alone. The control of an expected empty answer is `control_holds`."""
    others = relevant(question, answers)
    found = all(any(mentions(o, e) for o in others) for e in question.expect or ())
    return found and not any(mentions(o, n) for n in question.excluded for o in others)


def control_moments(question: Question, questions: Iterable[Question]) -> list[tuple[str | None, str | None]]:
    """Where the control may answer: the stated moment; if none is stated, all others asked of the subject."""
    if question.control is not None:
        return [question.control]
    own = (question.at, question.as_of)
    asked = [(q.at, q.as_of) for q in questions if q.subject == question.subject]
    return [moment for moment in [*asked, (None, None)] if moment != own]


def control_holds(question: Question, questions: Iterable[Question], reader: Reader) -> bool:
    """Whether the reader finds, at another moment, one of the strings that must be absent at this one."""
    for at, as_of in control_moments(question, questions):
        others = relevant(question, reader(question.subject, at, as_of) or [])
        if any(mentions(o, n) for n in question.excluded for o in others):
            return True
    return False


@dataclass(frozen=True)
class Score:
    """Counts of one reader. `absent`: an answer was expected, the subject is unknown; those are not right."""

    right: int
    total: int
    absent: int
    wrong: tuple[str, ...]
    by_kind: Mapping[str, tuple[int, int]]

    @property
    def share(self) -> float:
        """Right answers as a fraction of all questions, 0 to 1."""
        return self.right / self.total if self.total else 0.0


def is_right(question: Question, questions: Sequence[Question], reader: Reader) -> bool:
    """The whole judgement of one question, its control included."""
    if not judge(question, reader(question.subject, question.at, question.as_of) or []):
        return False
    return question.expect is not None or control_holds(question, questions, reader)


def score(questions: Sequence[Question], reader: Reader) -> Score:
    """Ask every question of the reader."""
    right = {q.id for q in questions if is_right(q, questions, reader)}
    absent = sum(q.expect is not None and reader(q.subject, q.at, q.as_of) is None for q in questions)
    totals = Counter(q.kind for q in questions)
    hits = Counter(q.kind for q in questions if q.id in right)
    return Score(
        right=len(right),
        total=len(questions),
        absent=absent,
        wrong=tuple(q.id for q in questions if q.id not in right),
        by_kind={kind: (hits[kind], totals[kind]) for kind in totals},
    )


def sabotaged(reader: Reader, labels: Sequence[str]) -> dict[str, Reader]:
    """The four broken readers over a sound one, by the name under which the result line shows them."""

    def everything(subject: str, at: str | None, as_of: str | None) -> list[Answer]:
        seen = [reader(subject, None, label) or [] for label in (*labels, None)]
        return list(dict.fromkeys(answer for answers in seen for answer in answers))

    return {
        "ignore_at": lambda subject, at, as_of: reader(subject, None, as_of),
        "ignore_asof": lambda subject, at, as_of: reader(subject, at, None),
        "all": everything,
        "none": lambda subject, at, as_of: [],
    }


def play(world: World, dataset: Dataset) -> Reader:
    """Take all waves into the world, stamp each, and read by the labels of the waves from then on."""
    moments: dict[str | None, Any] = {None: None}
    for wave in dataset.waves:
        world.ingest_wave(wave)
        moments[wave.label] = world.stamp()
    return lambda subject, at, as_of: world.read(subject, at, moments[as_of])


@dataclass(frozen=True)
class Report:
    """One run: the sound reader's score and the broken readers' shares."""

    dataset: Dataset
    score: Score
    sabotage: Mapping[str, float]

    def line(self) -> str:
        """The benchmark's last line; sabotage as fractions 0 to 1."""
        shares = " ".join(f"{name}={share:.3f}" for name, share in self.sabotage.items())
        return f"temporal: right={self.score.right} total={self.score.total} absent={self.score.absent} {shares}"

    def ok(self) -> bool:
        """All right, and on our own set no broken reader above its limit."""
        return self.score.right == self.score.total and all(share <= SABOTAGE_LIMIT for share in self.sabotage.values())


def measure(world: World, dataset: Dataset) -> Report:
    """Play the dataset into an empty world and score the sound and the four broken readers over it."""
    reader = play(world, dataset)
    broken = sabotaged(reader, [wave.label for wave in dataset.waves])
    shares = {name: score(dataset.questions, bad).share for name, bad in broken.items()}
    return Report(dataset, score(dataset.questions, reader), shares)


def results_markdown(report: Report, *, commit: str, repetitions: int) -> str:
    """The text of bench/results/temporal.md: the measured commit, and how often the run came out alike."""
    kinds = "\n".join(f"| {kind} | {right} | {total} |" for kind, (right, total) in report.score.by_kind.items())
    wrong = ", ".join(report.score.wrong) or "none"
    return f"""# bench-temporal

- Commit: {commit}
- Corpus: {report.dataset.name}, sha256 of corpus, ontology and questions {report.dataset.digest[:16]}
- Seed: none, nothing is drawn at random. Repetitions: {repetitions}
- Wrong: {wrong}

| kind | right | of |
|---|---|---|
{kinds}

What it does not show: how many facts of free prose are found (the sentences are clear, one or two facts
each), precision on facts nobody asked about, speed, or any language but English and Chinese. The questions
are given by name, relation and moment; nothing reads the sentence of the question. The authors of the corpus
are the project's own.

```
{report.line()}
```
"""


def write_results(path: Path, report: Report, *, commit: str, repetitions: int = 1) -> None:
    """Write the results file, making its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(results_markdown(report, commit=commit, repetitions=repetitions), encoding="utf-8")


def load(folder: Path = HERE) -> Dataset:
    """Our format, or the third-party one (axioms in corpus.json, `expect` a string); else a ValueError.

    A folder below with a corpus.json of its own is a section: its waves come after, its questions too.
    """
    corpora, asked = zip(*(_read(part) for part in parts(folder)), strict=True)
    corpus = {**corpora[0], "waves": [wave for part in corpora for wave in part["waves"]]}
    questions = [question for part in asked for question in part]
    if (folder / "ontology.yaml").exists():
        ontology = yaml.safe_load((folder / "ontology.yaml").read_text(encoding="utf-8"))
    elif "axioms" in corpus:
        ontology = _ontology_from_axioms(corpus)
    else:
        raise ValueError(f"{folder}: neither ontology.yaml nor axioms in corpus.json")
    return Dataset(
        name=corpus["name"],
        waves=[parse_wave(w) for w in corpus["waves"]],
        questions=[parse_question(q) for q in questions],
        ontology=ontology,
        digest=_digest(folder),
    )


def parts(folder: Path = HERE) -> list[Path]:
    """The folder of the main corpus, then its sections by name."""
    return [folder, *sorted(found.parent for found in folder.glob("*/corpus.json"))]


def _read(part: Path) -> tuple[dict[str, Any], list[Any]]:
    corpus = json.loads((part / "corpus.json").read_text(encoding="utf-8"))
    return corpus, json.loads((part / "questions.json").read_text(encoding="utf-8"))["questions"]


def _digest(folder: Path) -> str:
    names = ("corpus.json", "ontology.yaml", "questions.json")
    files = (part / name for part in parts(folder) for name in names)
    return hashlib.sha256(b"".join(file.read_bytes() for file in files if file.exists())).hexdigest()


def parse_wave(raw: Mapping[str, Any]) -> Wave:
    """A wave of corpus.json, ours or the third party's."""
    return Wave(
        label=raw["label"],
        documents=[
            Document(d.get("external_id", d["filename"]), d["filename"], d.get("doc_time"), d["text"])
            for d in raw["documents"]
        ],
        remembered=[Remembered(**r) for r in raw.get("remember", [])],
        deletes=list(raw.get("delete", [])),
        restores=list(raw.get("restore", [])),
        merges=[Merge(**m) for m in raw.get("merge", [])],
        verdicts=[_verdict(v) for v in raw.get("review", [])],
        parts=[Merge(**m) for m in raw.get("part", [])],
        taken_back=[_verdict(v) for v in raw.get("take_back", [])],
    )


def _verdict(raw: Mapping[str, Any]) -> Verdict:
    (word, triple), *rest = raw.items()
    if rest or word not in ("confirm", "reject"):
        raise ValueError(f"review: expected one of confirm, reject; found {sorted(raw)}")
    return Verdict(confirm=word == "confirm", **triple)


def parse_question(raw: Mapping[str, Any]) -> Question:
    """A question of questions.json, ours or the third party's, or of demo.yaml."""
    expect = raw["expect"]
    control = raw.get("control")
    return Question(
        id=raw["id"],
        kind=raw.get("kind") or raw["axis"],
        subject=raw["subject"],
        relation=raw.get("relation"),
        at=raw.get("at"),
        as_of=raw.get("as_of"),
        expect=None if expect is None else (expect,) if isinstance(expect, str) else tuple(expect),
        excluded=tuple(raw["not"]),
        ask=raw["ask"],
        control=None if control is None else (control["at"], control["as_of"]),
    )


def _ontology_from_axioms(corpus: Mapping[str, Any]) -> dict[str, Any]:
    classes = [
        {
            "key": c["key"],
            "label": c["label"],
            "aliases": [],
            "parents": [],
            "disjoint_with": [],
            "description": c.get("description", ""),
        }
        for c in corpus.get("classes", [])
    ]
    return {"classes": classes, "relations": [_relation_from_axiom(a) for a in corpus["axioms"]]}


def _relation_from_axiom(axiom: Mapping[str, Any]) -> dict[str, Any]:
    flags = {flag: bool(axiom.get(flag) or axiom.get(f"is_{flag}")) for flag in _AXIOM_FLAGS}
    return {
        "key": axiom["key"],
        "label": axiom["label"],
        "description": axiom.get("description", ""),
        "aliases": list(axiom.get("aliases", [])),
        "kind": axiom["kind"],
        "temporal": axiom.get("temporal", "state"),
        **flags,
        **{name: axiom.get(name) for name in _AXIOM_VALUES},
    }
