"""Frames whose value is a date: when something began or ended, when somebody retired or died."""

from __future__ import annotations

from dataclasses import replace

from substrate.extraction.builtin import verbs
from substrate.extraction.builtin.clauses import Clause
from substrate.extraction.builtin.frames import Scene
from substrate.extraction.builtin.frames_values import date_value
from substrate.extraction.builtin.intervals import interval
from substrate.extraction.builtin.terms import POINTING


def began(scene: Scene, clause: Clause) -> bool:
    """ "X started on D", "X was founded in 1999", "X ended in May": the date is the value."""
    phrase = verbs.STARTED_ON.get(clause.lemma) or (verbs.DONE_ON.get(clause.lemma) if clause.passive else None)
    if phrase is None and clause.lemma in verbs.BEGIN:
        phrase = "launched on" if clause.lemma == "launch" else "started on"
    if phrase is None and clause.lemma in verbs.FINISH:
        phrase = "ended on"
    if phrase is None or (clause.objects and not clause.passive) or clause.ended:
        return False
    points = [m for m in clause.times if m.shape in {"point", "since", "interval", "by"}]
    done = False
    for subject in scene.subjects(clause):
        if subject.sort == "attribute" and phrase == "ended on" and subject.token is not None:
            subject = replace(subject, sort="thing", owner=None)
        if subject.sort in POINTING and points and subject.kind != "person":
            time = interval(points, "event")
            scene.add(clause, subject, phrase, date_value(scene.text, points[0]), time)
            done = True
    if done and clause.passive and clause.at("by"):
        return False
    return done and _place_of(scene, clause)


def retired(scene: Scene, clause: Clause) -> bool:
    """ "X retired on D", "X died in D": the day is the value; what else the clause says is read on."""
    if clause.lemma not in {"retire", "die"} or clause.passive or clause.objects or clause.at("as", "from"):
        return False
    points = [m for m in clause.times if m.shape in {"point", "by"}]
    for subject in (t for t in scene.subjects(clause) if t.sort in {"name", "pronoun"} and points):
        phrase = "retired on" if clause.lemma == "retire" else "died on"
        value = date_value(scene.text, points[0])
        scene.add(clause, subject, phrase, value, interval(points, "event"), subject_kind="person")
    return False


def _place_of(scene: Scene, clause: Clause) -> bool:
    """ "started at Acme": a project that starts at an organisation belongs there; read, not claimed."""
    return True
