"""Frames about names and appositions: "renamed", "formerly", "also known as", "X, CTO of Y, …", "CEO X"."""

from __future__ import annotations

import itertools
import re

from substrate.extraction.builtin import verbs
from substrate.extraction.builtin.clauses import Clause
from substrate.extraction.builtin.drafts import Draft, former, role_drafts, text_value
from substrate.extraction.builtin.frames import Scene
from substrate.extraction.builtin.intervals import UNKNOWN_END, interval
from substrate.extraction.builtin.masking import Masked, Unit, without
from substrate.extraction.builtin.roles import read_role
from substrate.extraction.builtin.terms import POINTING, Term
from substrate.extraction.claims import UNDATED, Mood

_ALIAS = re.compile(
    r"[,(\s]+(?P<how>also (?:known|called|referred to) as|better known as|known as|a\.?k\.?a\.?|i\.\s?e\.,?|"
    r"that is,|formerly(?: known as| called)?|previously(?: known as| called)?|n[ée]e|now(?: known as| called)?|"
    r"short for|in short,?|abbreviated(?: as| to)?)\s+$",
    re.IGNORECASE,
)


_REACHED = re.compile(
    r",? ?\(?(?:e-?mail|tel(?:ephone)?|phone|mobile|cell)?\.?:? ?(?P<at>[\w.+-]+@[\w.-]+\w|\+\d[\d ()/-]{6,18}\d)\)?",
    re.IGNORECASE,
)
_VERSION = re.compile(
    r"(?:,? \(?| )(?:library|module|package|service)?,? ?(?:version|release|v\.) (?P<v>\d+(?:\.\d+)*)\)?,?"
)


def renamed(scene: Scene, clause: Clause) -> bool:
    """ "X was renamed Y", "X changed its name to Y", "Y renamed X Z", "X is (also) known as Y"."""
    lemma = clause.lemma
    if lemma == "change" and any(scene.reader.term(o).text.split()[-1:] == ["name"] for o in clause.objects):
        names, subjects = scene.terms(clause.at("to")), scene.subjects(clause)
    elif lemma in verbs.RENAME:
        names = scene.terms([*clause.predicates, *clause.at("as", "to")])
        subjects = scene.subjects(clause)
        if not clause.passive and clause.objects:
            subjects = scene.terms(clause.objects) if names else subjects
            names = names or scene.terms(clause.objects)
    elif lemma in verbs.CALLED and clause.passive and clause.verb.i:
        names = scene.terms([*clause.predicates, *clause.at("as")])
        # A person is "named" to a post; only a thing is named by a name.
        subjects = [t for t in scene.subjects(clause) if lemma != "name" or t.kind not in {None, "person"}]
    else:
        return False
    aspect: verbs.Aspect = "start" if lemma in {"change", *verbs.RENAME} else "state"
    time = interval(clause.times, aspect, clause.tense)
    formerly = any(c.lower_ in {"formerly", "previously", "once"} for c in clause.verb.children)
    done = False
    for subject in subjects:
        subject = subject.owner if subject.sort == "attribute" and subject.owner else subject
        for name in names:
            if name.sort == "name" and subject.sort in POINTING and name.text != subject.text:
                phrase = "formerly known as" if formerly else "known as"
                scene.add(clause, subject, phrase, text_value(name.text), time)
                done = True
    return done


def lift_aliases(masked: Masked) -> tuple[Masked, tuple[Draft, ...]]:
    """Takes "(formerly Y)" and ", also known as Y," out of the sentence and states them apart."""
    units = masked.units
    drafts: list[Draft] = []
    gone: set[int] = set()
    names = [i for i, u in enumerate(units) if u.kind == "name"]
    for left, right in itertools.pairwise(names):
        between = masked.text[units[left].end : units[right].start]
        match = _ALIAS.fullmatch(between) if len(between) <= 40 else None
        if match is None:
            continue
        drafts.append(_alias(units[left], units[right], match.group("how").lower()))
        stop = right + 1
        if stop < len(units) and units[stop].text in {",", ")"}:
            stop += 1
        gone.update(range(left + 1, stop))
    for i in names:
        reached = _REACHED.match(masked.text, units[i].end) if units[i].guess in {None, "person"} else None
        if reached is not None:
            kind = "email" if "@" in reached.group("at") else "phone"
            who = Term("name", units[i].text, units[i].guess, unit=units[i])
            drafts.append(Draft(who, kind, text_value(reached.group("at")), UNDATED, wording=kind))
            gone.update(j for j, u in enumerate(units) if units[i].end <= u.start < reached.end())
        m = _VERSION.match(masked.text, units[i].end)
        if m is not None:
            thing = Term("name", units[i].text, units[i].guess, unit=units[i])
            drafts.append(Draft(thing, "version", text_value(m.group("v")), UNDATED, wording="version"))
            gone.update(j for j, u in enumerate(units) if units[i].end <= u.start < m.end())
        role = units[i + 2] if i + 3 < len(units) else None
        if role and role.kind == "role" and units[i + 1].text == "(" and units[i + 3].text == ")":
            holder = Term("name", units[i].text, units[i].guess, unit=units[i])
            drafts.extend(role_drafts(holder, Term("role", role.text), None, UNDATED, None, role.text))
            gone.update((i + 1, i + 2, i + 3))
    return without(masked, gone), tuple(drafts)


def _alias(left: Unit, right: Unit, how: str) -> Draft:
    old = how.startswith(("former", "previous", "né", "nee"))
    subject = Term("name", left.text, left.guess, unit=left)
    time = UNKNOWN_END if old else UNDATED
    return Draft(subject, "formerly known as" if old else "known as", text_value(right.text), time, wording=how)


def appositions(scene: Scene, whole: Mood | None) -> None:
    """ "Jane Roe, CTO of Acme, …", "our lead, Jane Roe": a role beside a name, undated."""
    mood = whole if whole in {"question", "hedged", "conditional"} else None
    for token in scene.reader.doc:
        if token.dep_ == "appos":
            head = token.head
            if (
                head.dep_ == "pobj"
                and scene.reader.unit(token).guess == "person"
                and scene.reader.term(head.head.head).sort == "role"
            ):
                head = head.head.head
            _apposition(scene, scene.reader.term(head), scene.reader.term(token), mood)
        unit = scene.reader.unit(token)
        if unit.kind == "name" and unit.title is not None:
            _titled(scene, token, mood)


def _has_a_seat(term: Term) -> bool:
    return term.kind == "organization" or (term.kind is None and " " not in term.text)


def _apposition(scene: Scene, head: Term, other: Term, mood: Mood | None) -> None:
    holder, role = (head, other) if other.sort == "role" else (other, head)
    aside = head.token is not None and head.token.dep_ == "appos"
    if head.sort == other.sort == "name" and other.kind == "place" and _has_a_seat(head) and not aside:
        draft = Draft(head, "located in", other, UNDATED, mood, None, "place", confidence=0.7, wording=",")
        scene.findings.drafts.append(draft)
        return
    if holder.sort != "name" or role.sort != "role":
        return
    relating = read_role(role.text).relation is not None and role.owner is not None
    if holder.kind in {"organization", "place", "project"} and not relating:
        return
    if other.sort == "name" and role.owner is None:
        return
    beside = scene.reader.beside.get(role.token.i, [])
    time = interval(beside, "end" if role.former else "state") if beside else UNDATED
    time = former(time) if role.former else time
    scene.findings.drafts.extend(role_drafts(holder, role, role.owner, time, mood, role.text))


def _titled(scene: Scene, token: object, mood: Mood | None) -> None:
    reader = scene.reader
    unit = reader.unit(token)
    if unit.title is None:
        return
    org = Term("name", unit.title_of.text, unit.title_of.guess) if unit.title_of else None
    if org is None:
        org = next((reader.term(c) for c in token.children if c.dep_ == "poss"), None)  # type: ignore[attr-defined]
    was = any(c.lower_ in {"former", "previous", "outgoing", "ex", "then"} for c in token.children)  # type: ignore[attr-defined]
    holder = Term("name", unit.text, "person", unit=unit)
    role = Term("role", unit.title.text, "person", owner=org)
    scene.findings.drafts.extend(role_drafts(holder, role, org, UNKNOWN_END if was else UNDATED, mood, unit.title.text))
