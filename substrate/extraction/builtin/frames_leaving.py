"""Frames about leaving and joining: who gave up what, and to what somebody belongs from then on."""

from __future__ import annotations

from dataclasses import replace

from substrate.extraction.builtin import verbs
from substrate.extraction.builtin.clauses import Clause
from substrate.extraction.builtin.drafts import role_drafts
from substrate.extraction.builtin.frames import Scene, aspect_of
from substrate.extraction.builtin.frames_roles import HELD, led_thing, organisation_beside, roles_among
from substrate.extraction.builtin.intervals import handover_end, interval
from substrate.extraction.builtin.terms import EMPLOYER, Term
from substrate.extraction.claims import ClaimTime


def quit_role(scene: Scene, clause: Clause) -> bool:
    """ "X resigned as R of Z", "X stepped down from Y", "X left Y", "Y dismissed X as R"."""
    if clause.lemma not in verbs.QUIT:
        return False
    people = scene.subjects(clause)
    if clause.lemma in {"dismiss", "fire", "remove"} and not clause.passive:
        people = scene.terms(clause.objects)
    time = interval(clause.times, "end")
    roles = roles_among(
        scene, [*clause.at("as"), *clause.at("from"), *(clause.objects if clause.lemma in {"leave", "quit"} else [])]
    )
    for role in roles:
        org = role.owner or organisation_beside(scene, clause)
        for person in people:
            scene.findings.drafts.extend(role_drafts(person, role, org, time, clause.mood, clause.words))
    if roles:
        return True
    if not clause.objects and not clause.prepositions and people:
        if _ends_what_began(scene, clause, people, time):
            return True
        if clause.lemma not in {"leave", "resign", "retire", "quit", "depart"} or not _left_on_a_day(
            scene, people, time
        ):
            scene.findings.drop("no_object", clause.lemma, scene.text)
            return True
        for person in people:
            scene.add(clause, person, "works for", EMPLOYER, time, subject_kind="person")
        return True
    places = scene.terms(clause.objects if clause.lemma in {"leave", "quit", "exit"} else []) + scene.terms(
        clause.at("from")
    )
    if clause.passive and clause.lemma in {"dismiss", "fire", "sack", "lay off", "terminate"}:
        places += [t for t in scene.terms(clause.at("by")) if t.kind != "person"]
    done = False
    for place in places:
        if place.sort == "attribute" and place.text in {"board", "council", "committee"} and place.owner is not None:
            for person in people:
                scene.add(clause, person, "member of", place.owner, time, subject_kind=person.kind or "person")
                done = True
            continue
        thing, phrase = led_thing(place)
        if thing.sort not in {"name", "definite"}:
            continue
        phrase = phrase if thing is not place else belonging(thing, None)
        for person in people:
            kind = "organization" if phrase == "works for" else None
            scene.add(clause, person, phrase, thing, time, subject_kind=person.kind or "person", object_kind=kind)
            done = True
    return done


def _left_on_a_day(scene: Scene, people: list[Term], time: ClaimTime) -> bool:
    """Whether "X left on D" is about a person and dated, so that an employer named elsewhere may be meant."""
    return time.valid_to is not None and all(
        t.kind in {None, "person"} and t.sort in {"name", "pronoun"} for t in people
    )


def _ends_what_began(scene: Scene, clause: Clause, people: list[Term], time: ClaimTime) -> bool:
    """ "X joined Y in 2019 and left in 2021": left what the same sentence says was joined."""
    held = {"works for", "member of", "works on", *HELD}
    begun = [d for d in scene.findings.drafts if d.phrase in held and d.subject.text in {p.text for p in people}]
    scene.findings.drafts.extend(replace(d, time=time, mood=clause.mood, wording=clause.words) for d in begun)
    return bool(begun)


def belonging(thing: Term, person: Term | None) -> str:
    """What joining or leaving a thing of this kind begins or ends."""
    last = thing.text.lower().split()[-1]
    if thing.kind == "project":
        return "works on"
    if (person is not None and person.kind == "organization") or last in {
        "team", "committee", "board", "council", "squad", "association", "alliance", "society", "union", "club",
        "taskforce", "panel", "guild", "commission", "crew", "league", "forum", "network", "consortium",
    }:  # fmt: skip
        return "member of"
    return "works for"


def joined(scene: Scene, clause: Clause) -> bool:
    """ "X joined Y (as R)"."""
    if clause.lemma not in verbs.JOIN or clause.passive:
        return False
    time = interval(clause.times, aspect_of(clause, "start"), clause.tense)
    done = False
    for old in (t for t in scene.terms(clause.at("from")) if t.sort == "name" and t.kind in {None, "organization"}):
        for person in scene.subjects(clause):
            scene.add(clause, person, "works for", old, handover_end(clause.times), subject_kind="person")
            done = True
    for person in scene.subjects(clause):
        for thing in scene.terms(clause.objects):
            if thing.sort == "attribute" and thing.text in {"board", "team", "council"} and thing.owner:
                scene.add(
                    clause, person, "member of", thing.owner, time, subject_kind="person", object_kind="organization"
                )
            elif thing.sort in {"name", "definite"}:
                phrase = belonging(thing, person)
                kind = "project" if phrase == "works on" else "organization"
                scene.add(clause, person, phrase, thing, time, subject_kind="person", object_kind=kind)
            else:
                continue
            done = True
    return done
