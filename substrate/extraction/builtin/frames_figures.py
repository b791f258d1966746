"""Frames about figures said beside the verb: what something is priced at, how many people it has, whose law governs."""

from __future__ import annotations

from typing import Any

from substrate.extraction.builtin.clauses import Clause
from substrate.extraction.builtin.frames import Scene, aspect_of
from substrate.extraction.builtin.intervals import interval
from substrate.extraction.builtin.terms import POINTING, Term
from substrate.extraction.claims import Value

PEOPLE = frozenset(("{employees}", "{people}"))
"""Units of who works somewhere."""
_AT = {"price": "price", "value": "worth"}


def priced(scene: Scene, clause: Clause) -> bool:
    """ "The scanner, priced at V, …", "the stake was valued at V"."""
    phrase = _AT.get(clause.lemma)
    values = [t for t in scene.terms(clause.at("at")) if t.value is not None and t.value.datatype == "money"]
    if phrase is None or not clause.passive or len(values) != 1 or values[0].value is None:
        return False
    if clause.verb.dep_ == "advcl" and clause.verb.i > clause.verb.head.i:
        # "X won the contract, valued at V": whose value it is, only the noun before it says.
        return False
    subjects = [t for t in scene.subjects(clause) if t.sort in POINTING and t.kind != "person"]
    for subject in subjects:
        time = interval(clause.times, aspect_of(clause, "state"), clause.tense)
        scene.add(clause, subject, phrase, values[0].value, time)
    return bool(subjects)


def staffed(scene: Scene, clause: Clause) -> bool:
    """ "Modulo, with 85 employees, is based in Porto": said beside what the clause says. Other frames read on."""
    for preposition in (c for c in clause.verb.children if c.dep_ == "prep" and c.lower_ == "with"):
        values = [u.value for t in preposition.children if (u := scene.reader.unit(t)).kind == "amount"]
        subjects = [t for t in scene.subjects(clause) if t.sort in POINTING and t.kind != "person"]
        aside = preposition.i < clause.verb.i and scene.reader.doc[preposition.i - 1].text == ","
        if len(values) == 1 and len(subjects) == 1 and aside and values[0] and values[0].unit in PEOPLE:
            scene.add(clause, subjects[0], "headcount", values[0], interval((), "state"))
    return False


def governed(scene: Scene, clause: Clause) -> bool:
    """ "This agreement is governed by the laws of Scotland", "by English law": its governing law."""
    if clause.lemma != "govern" or not clause.passive:
        return False
    laws = [t for t in clause.at("by") if t.lower_ in {"law", "laws"}]
    subjects = [t for t in scene.subjects(clause) if t.sort in POINTING]
    if len(laws) != 1 or not subjects:
        return False
    value = Value(_whole(scene, laws[0]))
    for subject in subjects:
        scene.add(clause, subject, "governing law", value, interval(clause.times, "state", clause.tense))
    return True


def _whole(scene: Scene, token: Any) -> str:
    """The laws as written, without an article: "laws of Scotland", "English law"."""
    inner = sorted(t.i for t in token.subtree if t.dep_ != "det" and not t.is_punct)
    return scene.reader.slice(inner[0], inner[-1])


def of_people(terms: list[Term]) -> Value | None:
    """The number of people among `terms`, if one is."""
    return next((t.value for t in terms if t.value is not None and t.value.unit in PEOPLE), None)
