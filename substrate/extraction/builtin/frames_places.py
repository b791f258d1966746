"""Frames about where a named thing is from, said beside it: "Helga Sjöberg of Fyrkant", "Cartonella in Verona"."""

from __future__ import annotations

import re
from typing import Any

from substrate.extraction.builtin.drafts import Draft
from substrate.extraction.builtin.frames import Scene
from substrate.extraction.builtin.intervals import UNKNOWN_END
from substrate.extraction.builtin.terms import FORMER, Term
from substrate.extraction.builtin.vocabulary import GIVEN_NAMES, GROUP_WORDS, SURNAMES
from substrate.extraction.claims import UNDATED, Mood

_OF_PERSON = {"of", "from", "at", "with"}
_OF_THING = {"in", "of"}
_SITES = frozenset("office site plant factory depot branch yard warehouse laboratory lab store shop campus".split())
SITES = _SITES.union("server host machine mill hotel school museum station harbour terminal workshop".split())
_BASED = re.compile(r"(?P<place>[A-Z][\w'’]+(?: [A-Z][\w'’]+)?)-based")


def _based(scene: Scene, token: Any, mood: Mood | None) -> None:
    """ "The Sheffield-based manufacturer", "Lisbon-based Altamar": said of the name that the words stand beside."""
    reader = scene.reader
    m = _BASED.fullmatch(reader.unit(token).text)
    if m is None:
        return
    head = token.head
    near = [head, *(c for c in head.children if c.dep_ in {"appos", "compound"} and c.i > token.i)]
    near += [head.head] if head.dep_ == "appos" else []
    if head.dep_ == "attr" and head.head.lemma_ == "be":
        near += [c for c in head.head.children if c.dep_ == "nsubj"]
    who = next((t for t in near if reader.unit(t).kind == "name"), None)
    if who is not None:
        unit = reader.unit(who)
        subject = Term("name", unit.text, unit.guess, who, unit=unit)
        place = Term("name", m.group("place"), "place")
        scene.findings.drafts.append(Draft(subject, "located in", place, UNDATED, mood, None, "place", wording="based"))


def beside_names(scene: Scene, whole: Mood | None) -> None:
    """A person "of" or "from" a name works for it; an organisation "in" or "of" a place is there."""
    reader = scene.reader
    for token in reader.doc:
        unit = reader.unit(token)
        _based(scene, token, whole)
        if (
            unit.kind == "word"
            and token.dep_ in {"nsubj", "nsubjpass"}
            and (site := reader.term(token)).sort == "thing"
        ):
            for prep, target in _right_behind(scene, token):
                if prep in {"at", "in"} and token.lower_ in SITES:
                    place = reader.term(target)
                    draft = Draft(site, "located in", place, UNDATED, whole, None, "place", wording=prep)
                    scene.findings.drafts.append(draft)
        if unit.kind != "name" or token.dep_ not in {
            "nsubj",
            "nsubjpass",
            "dobj",
            "pobj",
            "attr",
            "appos",
            "conj",
            "dative",
        }:
            continue
        for prep, target in _right_behind(scene, token):
            place = reader.term(target)
            if place.sort == "name" and place.unit is not None and not place.unit.group:
                _one(scene, Term("name", unit.text, unit.guess, token, unit=unit), prep, place, whole)


def _right_behind(scene: Scene, token: Any) -> list[tuple[str, Any]]:
    """Prepositions with a name that stand straight behind `token` or behind a name in apposition to it."""
    return [
        (c.lower_, g)
        for c in token.children
        if c.dep_ == "prep"
        and (c.i == token.i + 1 or all(t.lower_ in FORMER | {","} for t in scene.reader.doc[token.i + 1 : c.i]))
        for g in c.children
        if g.dep_ == "pobj" and scene.reader.unit(g).kind == "name"
    ]


def _one(scene: Scene, who: Term, prep: str, place: Term, mood: Mood | None) -> None:
    verb = who.token.head
    lemma = scene.reader.unit(verb).lemma or verb.lemma_.lower()
    moving = verb.pos_ == "VERB" and lemma in (_MOVING | _SERVING if who.token.dep_ == "dobj" else _MOVING)
    if prep in _OF_PERSON and _is_person(who) and not moving:
        if place.kind in {"place", "project", "person", "event"} and place.text.split()[-1].lower() not in _SITES:
            return
        words = place.text.lower().split()
        phrase = "works in" if words[-1] in _SITES else "member of" if words[-1] in GROUP_WORDS else "works for"
        if prep in {"with", "at"} and phrase != "works for":
            return
        doc, behind = scene.reader.doc, who.token.i
        was = any(t.lower_ in FORMER for t in doc[behind : behind + 4])
        scene.findings.drafts.append(
            Draft(
                who, phrase, place, UNKNOWN_END if was else UNDATED, mood, "person", None, confidence=0.8, wording=prep
            )
        )
    elif prep in _OF_THING and _seated(who, prep) and _a_place(place, prep) and not moving:
        scene.findings.drafts.append(
            Draft(who, "located in", place, UNDATED, mood, None, "place", confidence=0.8, wording=prep)
        )


def _seated(who: Term, prep: str) -> bool:
    """An organisation, or after "by" or "from" a name that may be one's ("supplied by Cartonella in Verona").

    What is hosted or held by somebody in a place is there itself, and nothing is said of where they are.
    """
    above = who.token.head
    if above.dep_ == "agent" and above.head.lemma_.lower() in _KEEPING:
        return False
    given = who.token.dep_ == "pobj" and who.token.head.lower_ in {"by", "from", "with"}
    return who.kind == "organization" or (prep == "in" and who.kind is None and given)


def _a_place(place: Term, prep: str) -> bool:
    """A known place, or after "in" or "of" one word that nothing else is known of."""
    return place.kind == "place" or (place.kind is None and " " not in place.text and not place.text.isupper())


_KEEPING = frozenset("host hold keep store house operate run open build install stage organise organize".split())
_MOVING = frozenset("move relocate transfer migrate open find meet see visit buy acquire sell".split())
_SERVING = frozenset(
    "serve supply represent launch cover support distribute hire recruit deliver ship sign hold".split()
)
"""What is done to somebody "in" a place is done there, and says nothing of where they sit."""


def _is_person(term: Term) -> bool:
    words = term.text.lower().split()
    return term.kind == "person" or (
        term.kind is None and len(words) in (2, 3) and (words[0] in GIVEN_NAMES or words[-1] in SURNAMES)
    )
