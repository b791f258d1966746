"""Frames about what something measures, how it stands, and what it has where: amounts reached, statuses, branches."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from substrate.extraction.builtin import verbs
from substrate.extraction.builtin.clauses import Clause
from substrate.extraction.builtin.drafts import role_drafts
from substrate.extraction.builtin.frames import Scene, aspect_of
from substrate.extraction.builtin.frames_values import attribute, date_value, measured, plain_attribute
from substrate.extraction.builtin.intervals import interval
from substrate.extraction.builtin.terms import POINTING, Term
from substrate.extraction.claims import UNDATED, Value
from substrate.extraction.times import TimeMention

_REACHING = frozenset({*"reach total hit stand amount come average equal".split(), "come in"})
_PREMISES = {
    **dict.fromkeys(("office", "offices"), "has office in"),
    **dict.fromkeys(("branch", "branches"), "has branch in"),
    **dict.fromkeys(("plant", "plants", "factory", "factories", "mill", "mills"), "has plant in"),
    **dict.fromkeys(("warehouse", "warehouses", "depot", "depots"), "has warehouse in"),
    **dict.fromkeys(("site", "sites", "facility", "facilities", "location", "locations"), "has site in"),
    **dict.fromkeys(("store", "stores", "shop", "shops"), "has store in"),
    **dict.fromkeys(("laboratory", "laboratories", "lab", "labs"), "has laboratory in"),
    **dict.fromkeys(("subsidiary", "subsidiaries"), "has subsidiary in"),
}
"""What somebody has at a place: the noun is part of the phrase, since an office is no seat."""
_HAVING = frozenset("have operate maintain run keep own".split())
_STATES = frozenset(
    "status state priority severity phase stage category type nationality colour color language version licence "
    "license currency classification rating grade format protocol motto".split()
)
"""Attributes whose value is a word."""
_GIVEN = frozenset("allocate assign earmark approve grant award budget".split())
_DELIVERING = frozenset("supply provide deliver".split())
_GETTING = frozenset("buy source purchase procure order".split())
_PLACED = {"base": "located in", "locate": "located in", "situate": "located in", "headquarter": "headquartered in"}


def reached(scene: Scene, clause: Clause) -> bool:
    """ "X's revenue reached V", "revenue of X totalled V", "X's headcount stands at V"."""
    if clause.lemma not in _REACHING or clause.passive:
        return False
    values = [t for t in scene.terms([*clause.objects, *clause.at("at", "to", "in at")]) if t.sort == "value"]
    owned = [t for t in scene.subjects(clause) if t.sort == "attribute" and t.owner]
    things = [t for t in scene.subjects(clause) if t.sort == "thing"]
    if len(values) == 1 and things and not owned and values[0].value is not None:
        time = interval(clause.times, aspect_of(clause, "state"))
        return measured(scene, clause, things[0], values[0].value, time)
    if len(values) != 1 or not owned:
        return False
    time = interval(clause.times, aspect_of(clause, "state"))
    return sum(attribute(scene, clause, t, values[0], time) for t in owned) > 0


def allotted(scene: Scene, clause: Clause) -> bool:
    """ "EUR 5 million was allocated to X", "X was allocated EUR 5 million": its budget."""
    if clause.lemma not in _GIVEN or not clause.passive:
        return False
    subjects = scene.subjects(clause)
    values = [t for t in subjects if t.value is not None and t.value.datatype == "money"]
    things = [t for t in scene.terms(clause.at("to", "for")) if t.sort == "name" and t.kind != "person"]
    if not values:
        values = [t for t in scene.terms(clause.objects) if t.value is not None and t.value.datatype == "money"]
        things = [t for t in subjects if t.sort == "name" and t.kind != "person"]
    if len(values) != 1 or values[0].value is None or not things or clause.lemma not in {"allocate", "earmark"}:
        return False
    for thing in things:
        scene.add(clause, thing, "budget", values[0].value, interval(clause.times, "start", clause.tense))
    return True


def stated(scene: Scene, clause: Clause) -> bool:
    """ "The status of X is closed", "X's priority is high": a word that says how it stands with X."""
    owned = [t for t in scene.subjects(clause) if t.sort == "attribute" and t.owner and t.text in _STATES]
    said = [c for c in clause.verb.children if c.dep_ in {"acomp", "attr", "oprd"} and c.i > clause.verb.i]
    bare = clause.passive and not clause.at("by", "to", "from") and not clause.objects
    if bare and owned and owned[0].text in {"status", "state"}:
        said = [clause.verb]
    elif clause.lemma not in {"be", "remain"}:
        return False
    if len(owned) != 1 or len(said) != 1 or any(c.dep_ in {"neg", "conj", "prep", "relcl"} for c in said[0].children):
        return False
    if scene.reader.unit(said[0]).kind not in {"word", "name", "amount"}:
        return False
    owner, first = owned[0].owner, said[0] if said[0] == clause.verb else said[0].left_edge
    while first.i < said[0].i and first.dep_ == "det":
        first = scene.reader.doc[first.i + 1]
    words = scene.reader.slice(first.i, said[0].i)
    if owner is None or owner.sort not in POINTING or len(words) > 40:
        return False
    time = interval(clause.times, aspect_of(clause, "state"), clause.tense)
    scene.add(clause, owner, plain_attribute(owned[0].text), Value(words), time, wording=owned[0].text)
    return True


_DIMENSIONS = {
    "wide": "width",
    "long": "length",
    "high": "height",
    "tall": "height",
    "deep": "depth",
    "thick": "thickness",
}


def sized(scene: Scene, clause: Clause) -> bool:
    """ "It is 92 cm wide"."""
    said = next((c for c in clause.verb.children if c.dep_ == "acomp" and c.lower_ in _DIMENSIONS), None)
    values = [c for c in said.children if scene.reader.unit(c).kind == "amount"] if said is not None else []
    if clause.lemma != "be" or said is None or len(values) != 1:
        return False
    value = scene.reader.unit(values[0]).value
    for subject in (t for t in scene.subjects(clause) if t.sort in POINTING and value is not None):
        scene.add(clause, subject, _DIMENSIONS[said.lower_], value, interval(clause.times, "state", clause.tense))  # type: ignore[arg-type]
    return True


def due(scene: Scene, clause: Clause) -> bool:
    """ "X is due on D", "X takes place on D (in P)": the day is the value."""
    due_on = clause.lemma == "be" and any(c.lower_ == "due" for c in clause.verb.children)
    happens = clause.lemma == "take" and any(o.lower_ == "place" for o in clause.objects)
    happens = happens or (clause.passive and clause.lemma == "hold" and not clause.at("by"))
    points = [m for m in clause.times if m.shape in {"point", "by", "interval", "until", "as_of", "since"}]
    effect = clause.lemma in {"take", "come"} and any(t.lower_ in {"effect", "force"} for t in _complements(clause))
    lasting = clause.lemma in _LASTING or any(c.lower_ == "valid" for c in clause.verb.children)
    until = [m for m in clause.times if m.shape == "until"]
    if lasting and until and not clause.objects:
        return _until(scene, clause, until[0])
    if not (due_on or happens or effect):
        return False
    phrase = "due on" if due_on else "takes effect on" if effect else "takes place on"
    done = False
    for subject in (t for t in scene.subjects(clause) if t.sort in POINTING and t.kind != "person"):
        if points:
            scene.add(clause, subject, phrase, date_value(scene.text, points[0]), interval(points, "event"))
            done = True
        for place in (t for t in scene.terms(clause.at("in", "at")) if happens and t.sort == "name"):
            scene.add(clause, subject, "takes place in", place, interval(points, "event"), object_kind="place")
            done = True
    return done


_LASTING = frozenset("extend renew run last apply prolong".split())


def _complements(clause: Clause) -> list[Any]:
    return [*clause.objects, *(t for p, t in clause.prepositions if p == "into")]


def _until(scene: Scene, clause: Clause, mention: TimeMention) -> bool:
    """ "The contract was extended until D", "is valid until D"."""
    done = False
    for subject in scene.subjects(clause):
        term = replace(subject, sort="thing", owner=None) if subject.sort == "attribute" else subject
        if term.sort in POINTING and term.kind != "person" and term.sort != "pronoun":
            words = date_value(scene.text, mention)
            scene.add(clause, term, "valid until", words, interval([mention], "end"))
            done = True
    return done


def paying(scene: Scene, clause: Clause) -> bool:
    """ "X pays 2,400 pounds a month", "X owes V", "X spends V"."""
    if clause.lemma not in {"pay", "owe", "spend"} or clause.passive:
        return False
    values = [t for t in scene.terms(clause.objects) if t.value is not None and t.value.datatype == "money"]
    subjects = [t for t in scene.subjects(clause) if t.sort in POINTING]
    if len(values) != 1 or values[0].value is None or (clause.lemma == "pay" and clause.tense == "past"):
        return False
    for subject in subjects:
        time = interval(clause.times, aspect_of(clause, "state"), clause.tense)
        scene.add(clause, subject, f"{clause.lemma}s", values[0].value, time)
    return bool(subjects)


def worth(scene: Scene, clause: Clause) -> bool:
    """ "The offer is worth V", "a partnership worth V" as an object: what it is worth. Other frames read on."""
    for token in scene.reader.doc:
        values = [c for c in token.children if scene.reader.unit(c).kind == "amount"] if token.lower_ == "worth" else []
        near = token.head == clause.verb or token.head.head == clause.verb
        if len(values) != 1 or not near:
            continue
        term = scene.reader.term(token.head) if token.head.pos_ in {"NOUN", "PROPN"} else None
        terms = [term] if term is not None else scene.subjects(clause)
        value = scene.reader.unit(values[0]).value
        for subject in terms:
            subject = replace(subject, sort="thing", owner=None) if subject.sort in {"noun", "attribute"} else subject
            if value is not None and subject.sort in POINTING:
                scene.add(clause, subject, "worth", value, interval(clause.times, "state", clause.tense))
    return False


def reachable(scene: Scene, clause: Clause) -> bool:
    """ "You can reach her at V", "X can be reached at V", "contact X on V"."""
    if clause.lemma not in {"reach", "contact", "call", "email"}:
        return False
    addresses = [t for t in scene.terms(clause.at("at", "on", "under", "via")) if t.value and t.value.number is None]
    people = scene.subjects(clause) if clause.passive else scene.terms(clause.objects)
    people = [
        t for t in people if t.sort in {"name", "pronoun"} or (clause.passive and t.sort in {"thing", "definite"})
    ]
    for person in people:
        for term in addresses:
            if term.value is not None:
                kind = "email" if "@" in term.value.raw else "phone"
                made = replace(clause, mood=None if clause.mood == "hedged" else clause.mood)
                scene.add(made, person, kind, term.value, UNDATED)
    return bool(people and addresses)


def versioned(scene: Scene, clause: Clause) -> bool:
    """ "X is running version V", "X was upgraded to version V"."""
    nouns = [
        t for t in (*clause.objects, *clause.at("to", "with", "on")) if t.lower_ in {"version", "release", "firmware"}
    ]
    if not nouns or clause.lemma in {"weigh", "cost", "measure"}:
        return False
    unit = next(
        (scene.reader.unit(c) for n in nouns for c in n.children if scene.reader.unit(c).kind == "amount"), None
    )
    text = scene.text[scene.reader.unit(nouns[0]).end :]
    m = re.match(r" (?P<v>v?\d+(?:\.\d+)*)", text)
    if m is None and unit is None:
        return False
    words = m.group("v") if m is not None else unit.text if unit is not None else ""
    aspect: verbs.Aspect = "start" if clause.lemma in {"upgrade", "update", "move", "bump"} else "state"
    subjects = scene.subjects(clause) if clause.passive or clause.objects else []
    for subject in (t for t in subjects if t.sort in POINTING):
        scene.add(
            clause, subject, "version", Value(words), interval(clause.times, aspect_of(clause, aspect), clause.tense)
        )
    return bool(subjects)


def placed_by_kind(scene: Scene, clause: Clause) -> bool:
    """ "X is an IT company based in Lyon": what its kind is said to be is said of it. Other frames read on."""
    if clause.lemma not in _PLACED or clause.verb.dep_ != "acl":
        return False
    noun = clause.verb.head
    main = next((c for c in scene.clauses if noun in c.predicates and c.lemma == "be"), None)
    subjects = scene.terms(main.subjects) if main is not None else []
    if main is None or scene.reader.unit(noun).kind != "word" or not all(t.sort == "name" for t in subjects):
        return False
    done = False
    for place in (t for t in scene.terms(clause.at("in", "at")) if t.sort == "name"):
        for subject in subjects:
            time = interval(clause.times or main.times, "state", main.tense)
            made = replace(clause, mood=clause.mood or main.mood)
            scene.add(made, subject, _PLACED[clause.lemma], place, time, object_kind="place")
            done = True
    return done


def present(scene: Scene, clause: Clause) -> bool:
    """ "X has offices in A, B and C", "X operates a plant in Lyon"."""
    if clause.lemma not in _HAVING or clause.passive:
        return False
    done = False
    for token in clause.objects:
        phrase = _PREMISES.get(token.lower_)
        places = [t for p, g in scene.reader.prepositions(token) if p in {"in", "at"} for t in scene.reader.terms(g)]
        places = places or (scene.terms(clause.at("in", "at")) if phrase else [])
        if phrase is None or any(scene.reader.unit(c).kind == "name" for c in token.children if c.i < token.i):
            continue
        time = interval(clause.times, aspect_of(clause, "state"), clause.tense)
        for subject in (t for t in scene.subjects(clause) if t.sort in POINTING):
            for place in (t for t in places if t.sort == "name" and t.kind in {None, "place"}):
                scene.add(clause, subject, phrase, place, time, object_kind="place")
                done = True
    return done


def holders_listed(scene: Scene, clause: Clause) -> bool:
    """ "Y's customers include A and B", "the members of Z are A and B": each holds that of Y."""
    roles = [t for t in scene.subjects(clause) if t.sort == "role" and t.owner is not None]
    if clause.lemma not in {"include", "be", "comprise"} or clause.passive or len(roles) != 1:
        return False
    token = roles[0].token
    held = scene.terms([*clause.objects, *clause.predicates])
    if token is None or token.tag_ != "NNS" or not held or any(t.sort != "name" for t in held):
        return False
    time = interval(clause.times, aspect_of(clause, "state"), clause.tense)
    found = [d for t in held for d in role_drafts(t, roles[0], None, time, clause.mood, clause.words)]
    scene.findings.drafts.extend(found)
    return bool(found)


def supplied(scene: Scene, clause: Clause) -> bool:
    """ "X supplies Y to Z", "X provides Z with Y", "Z buys Y from X": X supplies Z."""
    giving, getting = clause.lemma in _DELIVERING, clause.lemma in _GETTING
    if not (giving or getting) or not clause.objects:
        return False
    subjects = scene.subjects(clause)
    if clause.passive:
        return False
    if giving and clause.at("to"):
        pairs = [(a, b) for a in subjects for b in scene.terms(clause.at("to"))]
    elif giving and clause.at("with"):
        pairs = [(a, b) for a in subjects for b in scene.terms(clause.objects)]
    elif getting and clause.at("from") and not any(_company(t) for t in scene.terms(clause.objects)):
        pairs = [(b, a) for a in subjects for b in scene.terms(clause.at("from"))]
    else:
        return False
    pairs = [(a, b) for a, b in pairs if a.sort in _NAMING and b.sort in _NAMING and "place" not in {a.kind, b.kind}]
    aspect = "event" if clause.tense in {"past", "perfect"} and clause.times and not giving else "state"
    if aspect == "event" or (getting and clause.tense != "present"):
        return False
    for a, b in pairs:
        scene.add(clause, a, "supplies", b, interval(clause.times, aspect_of(clause, "state"), clause.tense))
    return bool(pairs)


_NAMING = frozenset(("name", "pronoun", "definite"))


def _company(term: Term) -> bool:
    return term.sort == "name" and re.search(r"\d", term.text) is None
