"""Frames about what two do or are together, and sales, where a third gains: "A and B are partners", "X sold Y to Z"."""

from __future__ import annotations

import itertools

from substrate.extraction.builtin import verbs
from substrate.extraction.builtin.clauses import Clause
from substrate.extraction.builtin.frames import Scene, aspect_of
from substrate.extraction.builtin.intervals import interval
from substrate.extraction.builtin.terms import Term
from substrate.extraction.builtin.verbs import Aspect


def mutual(scene: Scene, clause: Clause) -> bool:
    """ "A and B are partners / married / competitors", "A and B formed a partnership / merged"."""
    parties = _parties(scene, clause)
    found = _relation(scene, clause) if len(parties) > 1 else None
    if found is None:
        return False
    phrase, aspect = found
    time = interval(clause.times, aspect_of(clause, aspect), clause.tense)
    for one, other in itertools.combinations(parties, 2):
        scene.add(clause, one, phrase, other, time)
    return True


def _parties(scene: Scene, clause: Clause) -> list[Term]:
    named = [t for t in scene.subjects(clause) if t.sort == "name"]
    return named if len(named) == len(scene.subjects(clause)) else []


def _relation(scene: Scene, clause: Clause) -> tuple[str, Aspect] | None:
    lemma = clause.lemma
    if lemma in {"be", "become", "remain"}:
        nouns = [t.lower_ for t in clause.predicates]
        nouns += [c.lower_ for c in clause.verb.children if c.dep_ in {"acomp", "oprd"}]
        phrase = next((verbs.MUTUAL_NOUNS[n] for n in nouns if n in verbs.MUTUAL_NOUNS), None)
        return (phrase, "start" if lemma == "become" else "state") if phrase else None
    if clause.passive and lemma in verbs.MUTUAL_STATES and not clause.at("by", "to", "with"):
        return verbs.MUTUAL_STATES[lemma], "state"
    objects = {o.lower_ for o in clause.objects}
    if objects & {"each", "other", "another"} or any(t.lower_ in {"other", "another"} for _, t in clause.prepositions):
        objects = set()
    elif clause.at("with", "by", "into"):
        return None
    bond = next((verbs.BONDS[o] for o in objects if o in verbs.BONDS), None)
    if bond is not None and lemma in verbs.BOND_VERBS:
        return bond, verbs.BOND_VERBS[lemma]
    return verbs.MUTUAL_VERBS.get(lemma) if not objects and not clause.passive else None


def sold(scene: Scene, clause: Clause) -> bool:
    """ "X sold Y to Z", "Y was sold (by X) to Z": who bought acquires it, too."""
    buyers = [t for t in scene.terms(clause.at("to")) if t.sort == "name"]
    if clause.lemma not in verbs.SELL or not buyers:
        return False
    things = scene.terms(clause.subjects if clause.passive else clause.objects)
    sellers = scene.terms(clause.at("by") if clause.passive else clause.subjects)
    time = interval(clause.times, "event", clause.tense)
    done = False
    for thing in (t for t in things if t.sort in {"name", "definite", "pronoun"}):
        for seller in (t for t in sellers if t.sort in {"name", "definite", "pronoun"}):
            scene.add(clause, seller, "sold", thing, time)
        for buyer in buyers:
            scene.add(clause, buyer, "acquired", thing, time)
            done = True
    return done


def held_as(scene: Scene, clause: Clause) -> bool:
    """ "Y has X as its lead": the role is the thing's own."""
    if clause.lemma != "have" or not clause.at("as"):
        return False
    from substrate.extraction.builtin.drafts import role_drafts
    from substrate.extraction.builtin.frames_roles import roles_among

    roles = roles_among(scene, clause.at("as"))
    time = interval(clause.times, aspect_of(clause, "state"), clause.tense)
    things = [t for t in scene.subjects(clause) if t.sort == "name"]
    people = [t for t in scene.terms(clause.objects) if t.sort == "name" and t.kind in {None, "person"}]
    found = [
        d for r in roles for p in people for t in things for d in role_drafts(p, r, t, time, clause.mood, clause.words)
    ]
    scene.findings.drafts.extend(found)
    return bool(found)
