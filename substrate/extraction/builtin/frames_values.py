"""Frames about attributes: "X has a salary of V", "X's salary was raised from A to B", "Y's lead is X", moves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from substrate.extraction.builtin import verbs
from substrate.extraction.builtin.clauses import Clause
from substrate.extraction.builtin.drafts import PERIOD, Draft, former, role_drafts, text_value
from substrate.extraction.builtin.frames import Scene, aspect_of, share_of
from substrate.extraction.builtin.frames_figures import of_people
from substrate.extraction.builtin.frames_leaving import belonging
from substrate.extraction.builtin.intervals import handover_end, interval
from substrate.extraction.builtin.roles import MIRRORED, read_role
from substrate.extraction.builtin.terms import CONTEXT, FORMER, POINTING, Term
from substrate.extraction.claims import ClaimTime, Value
from substrate.extraction.times import TimeMention

PLAIN_ATTRIBUTE = {
    "pay": "salary", "wage": "salary", "wages": "salary", "compensation": "salary", "base salary": "salary",
    "monthly pay": "salary", "annual pay": "salary", "base pay": "salary", "gross pay": "salary", "basic pay": "salary",
    "basic salary": "salary", "starting salary": "salary", "new salary": "salary", "gross monthly salary": "salary",
    "gross annual salary": "salary", "monthly wage": "salary", "remuneration": "salary", "hourly wage": "salary",
    "gross monthly pay": "salary", "hourly rate": "salary", "current salary": "salary", "net salary": "salary",
    "annual salary": "salary", "monthly salary": "salary", "yearly salary": "salary", "gross salary": "salary",
    "title": "job title", "position": "job title", "job": "job title", "role": "job title", "post": "job title",
    "headquarters": "headquartered in", "headquarter": "headquartered in", "head office": "headquartered in",
    "hq": "headquartered in", "seat": "headquartered in", "main office": "headquartered in",
    "registered office": "headquartered in", "location": "located in", "office": "located in",
    "name": "known as", "new name": "known as", "full name": "known as", "nickname": "known as", "alias": "known as",
    "workforce": "headcount", "employees": "headcount", "number of staff": "headcount", "staff": "headcount",
    "staff size": "headcount", "team size": "headcount", "employee count": "headcount", "staff count": "headcount",
    "number of employees": "headcount",
    "start date": "started on", "end date": "ended on", "annual budget": "budget", "legal name": "known as",
}  # fmt: skip
"""Attribute nouns that mean the same, brought to one phrase."""

_PLACE_PHRASES = {"headquartered in", "located in"}


_FIGURES = frozenset(
    (
        "surplus",
        "deficit",
        "ebitda",
        "balance",
        "revenue",
        "revenues",
        "profit",
        "loss",
        "turnover",
        "income",
        "sales",
        "ebitda",
    )
)
_COUNTED = frozenset(("members", "customers", "users", "seats", "stores", "branches", "subscribers", "shareholders"))
_OF_TOPIC = frozenset(("budget", "headcount", "annual budget", "total budget", "new budget"))
_TITLE_WORDS = frozenset(("title", "position", "role", "post", "rank"))


def plain_attribute(noun: str) -> str:
    return PLAIN_ATTRIBUTE.get(noun, noun)


def copula(scene: Scene, clause: Clause) -> bool:
    """ "X is R (of Y)", "Y's R is X", "X's salary is V", "X is in charge of Y", "X is in Paris"."""
    if clause.lemma not in {"be", "remain"} or clause.passive:
        return False
    done = False
    time = interval(clause.times, aspect_of(clause, "state"), clause.tense)
    for subject in scene.subjects(clause):
        subject = _of_topic(subject) or subject
        for predicate in scene.terms(clause.predicates):
            done = _is(scene, clause, subject, predicate, time) or done
        done = _is_placed(scene, clause, subject, time) or done
    return done


def _is(scene: Scene, clause: Clause, subject: Term, predicate: Term, time: ClaimTime) -> bool:
    if subject.sort in {"attribute", "role"} and subject.owner is not None:
        return attribute(scene, clause, subject, predicate, time)
    if subject.sort == "name" and predicate.sort == "attribute" and predicate.owner is not None:
        if plain_attribute(predicate.text) == "known as" and predicate.owner.sort == "name":
            new = predicate.text.startswith("new") or clause.tense == "present"
            scene.add(
                clause, predicate.owner, "known as" if new else "formerly known as", text_value(subject.text), time
            )
            return True
        return False
    holder = predicate.sort == "name" and predicate.kind in {None, "person"}
    if subject.sort == "role" and subject.owner is None and holder and read_role(subject.text).relation is None:
        scene.findings.drafts.extend(role_drafts(predicate, subject, None, time, clause.mood, subject.text))
        return True
    if subject.sort == "role" and predicate.sort == "name":
        time = former(time) if subject.former else time
        found = role_drafts(predicate, subject, None, time, clause.mood, subject.text)
        scene.findings.drafts.extend(d for d in found if CONTEXT in {d.subject, d.object})
        return any(CONTEXT in {d.subject, d.object} for d in found)
    if subject.sort not in POINTING:
        return False
    if subject.sort == "thing" and (value := as_value(scene, predicate)) is not None:
        return measured(scene, clause, subject, value, time)
    if predicate.sort == "role":
        stated = former(time) if predicate.former else time
        found = role_drafts(subject, predicate, None, stated, clause.mood, _role_words(scene, clause, predicate))
        scene.findings.drafts.extend(_denied(found, predicate))
        return bool(found)
    return False


_LENGTHS = frozenset("period term duration guarantee warranty notice time lifetime deadline".split())
_ADDRESSES = frozenset("email e-mail phone telephone website address url number hotline mailbox".split())


def measured(scene: Scene, clause: Clause, subject: Term, value: Value, time: ClaimTime) -> bool:
    """ "The student rate is $59": what is a measure itself has its amount."""
    last = subject.text.split()[-1]
    if value.number is None and value.datatype == "text" and last not in _ADDRESSES | _LENGTHS:
        return False
    if value.datatype == "date":
        phrase = last if last in {"deadline", "date"} else "date"
    else:
        phrase = "headcount" if last in {"headcount", "workforce"} else "amount"
    scene.add(clause, subject, phrase, value, time, wording=subject.text)
    return True


def _role_words(scene: Scene, clause: Clause, role: Term) -> str:
    """ "is the lead of", as written, unless a name stands in between."""
    first, last = clause.verb.i, role.token.i
    after = scene.reader.doc[last + 1] if last + 1 < len(scene.reader.doc) else None
    last += after is not None and after.dep_ == "prep"
    between = scene.reader.masked.units[first : last + 1]
    if not between or any(u.kind in {"name", "time", "amount"} for u in between):
        return f"{clause.words} {role.text}"
    return scene.reader.slice(first, last)


def _denied(drafts: list[Draft], predicate: Term) -> list[Draft]:
    return [replace(d, mood="negated") for d in drafts] if predicate.negated else drafts


def _is_placed(scene: Scene, clause: Clause, subject: Term, time: ClaimTime) -> bool:
    done = False
    for prep, target in clause.prepositions:
        noun = scene.reader.term(target)
        owner = noun.owner
        if prep in {"in", "at"} and noun.text in {"charge", "control"} and owner:
            scene.add(clause, subject, "leads", owner, time, subject_kind="person")
        elif prep in {"in", "at"} and noun.text in {"charge", "control"} and (area := _area(scene, target)) is not None:
            scene.add(clause, subject, "responsible for", area, time, subject_kind="person")
        elif prep in {"responsible for", "accountable for"} and noun.sort in {"noun", "thing", "attribute"}:
            scene.add(clause, subject, "responsible for", replace(noun, sort="thing"), time)
        elif prep in {"responsible for", "accountable for"} and noun.sort == "name":
            scene.add(clause, subject, "responsible for", noun, time)
        elif prep in {"in", "at"} and noun.sort == "name" and subject.sort == "attribute" and subject.owner:
            phrase = plain_attribute(subject.text)
            if phrase not in _PLACE_PHRASES:
                continue
            scene.add(clause, subject.owner, phrase, noun, time, object_kind="place")
        elif prep == "in" and noun.sort == "name" and noun.kind == "place" and subject.sort == "name":
            scene.add(clause, subject, "located in", noun, time, object_kind="place")
        elif prep in {"based in", "located in", "headquartered in"} and noun.sort == "name":
            phrase = "headquartered in" if prep.startswith("head") else "located in"
            scene.add(clause, subject, phrase, noun, time, object_kind="place")
        elif prep == "married to" and noun.sort == "name":
            scene.add(clause, subject, "married to", noun, time, subject_kind="person", object_kind="person")
        elif prep == "on" and noun.text in _ABSENCES and subject.sort in {"name", "pronoun"}:
            scene.add(clause, subject, "status", text_value(f"on {noun.text}"), time, subject_kind="person")
        elif prep == "at" and noun.sort == "name" and noun.kind != "place" and _works_there(clause, subject):
            was = any(c.lower_ in FORMER for c in clause.verb.children)
            held = former(time) if was else time
            scene.add(clause, subject, "works for", noun, held, subject_kind="person", object_kind="organization")
        elif (
            prep == "with"
            and noun.sort == "name"
            and noun.kind != "person"
            and clause.times
            and subject.sort in {"name", "pronoun"}
        ):
            scene.add(clause, subject, "works for", noun, time, subject_kind="person", object_kind="organization")
        else:
            continue
        done = True
    return done


def _area(scene: Scene, token: Any) -> Term | None:
    """What is not named and somebody is in charge of ("customer support")."""
    found = [scene.reader.term(t) for p, t in scene.reader.prepositions(token) if p == "of"]
    fitting = [t for t in found if t.sort in {"noun", "thing", "attribute"} and t.token is not None]
    return replace(fitting[0], sort="thing") if len(fitting) == 1 and fitting[0].token.tag_ in {"NN", "NNS"} else None


_ABSENCES = frozenset(("leave", "parental leave", "maternity leave", "sick leave", "holiday", "sabbatical"))


def _works_there(clause: Clause, subject: Term) -> bool:
    """Who "was previously at" a name, or a person who "is at" one, works there."""
    formerly = any(c.lower_ in FORMER | {"previously"} for c in clause.verb.children)
    return subject.sort in {"name", "pronoun"} and (subject.kind == "person" or formerly)


def attribute(scene: Scene, clause: Clause, subject: Term, target: Term, time: ClaimTime) -> bool:
    """ "owner's noun is target": a role held by target, or a value."""
    owner = subject.owner
    if owner is None or owner.sort not in POINTING | {"context"}:
        return False
    if subject.former:
        time = former(time)
    if target.sort in {"name", "pronoun"} and _held_by(scene, clause, subject, owner, target, time):
        return True
    if subject.text in {"stake", "share", "interest", "shareholding"}:
        return _stake_changed(scene, clause, subject, owner, target, time)
    phrase = plain_attribute(subject.text.lower())
    value = as_value(scene, target)
    if phrase in _PLACE_PHRASES and target.sort == "name":
        scene.add(clause, owner, phrase, target, time, object_kind="place")
    elif phrase == "known as":
        scene.add(clause, owner, phrase, text_value(target.text), time)
    elif phrase == "job title" and target.sort in {"role", "noun", "thing", "name"}:
        return bool(_title(scene, clause, owner, target, time))
    elif value is not None:
        scene.add(clause, owner, phrase, value, time, wording=subject.text)
    elif target.sort == "name" and subject.sort == "attribute" and subject.token.tag_ == "NN":
        scene.add(clause, owner, phrase, target, time, confidence=0.7, wording=subject.text)
    else:
        return False
    return True


def _stake_changed(scene: Scene, clause: Clause, subject: Term, owner: Term, target: Term, time: ClaimTime) -> bool:
    """ "X raised its stake in Y to V": X owns Y, the share beside it."""
    found = [scene.reader.term(t) for p, t in scene.reader.prepositions(subject.token) if p in {"in", "of"}]
    whole = next((t for t in found if t.sort == "name"), None)
    if whole is not None and target.value is not None:
        scene.add(clause, owner, "owns", whole, time, qualifiers=(("share", target.text),))
    return True


def _held_by(scene: Scene, clause: Clause, subject: Term, owner: Term, target: Term, time: ClaimTime) -> bool:
    words = subject.text
    if subject.sort != "role" and words.lower() not in MIRRORED:
        return False
    reading = read_role(words)
    role = replace(subject, owner=owner, sort="role")
    if reading.relation is None and target.kind == "organization":
        scene.add(clause, owner, words.lower(), target, time, confidence=0.7, wording=words)
        return True
    found = role_drafts(target, role, owner, time, clause.mood, words)
    scene.findings.drafts.extend(found)
    return bool(found)


def _title(scene: Scene, clause: Clause, owner: Term, target: Term, time: ClaimTime) -> list[Draft]:
    role = replace(target, sort="role", owner=None)
    found = [
        Draft(owner, "job title", text_value(read_role(role.text).title or role.text), time, clause.mood, "person")
    ]
    if target.owner is not None and target.owner.sort == "name":
        found = role_drafts(owner, replace(target, sort="role"), None, time, clause.mood, clause.words) or found
    scene.findings.drafts.extend(found)
    return found


def as_value(scene: Scene, term: Term) -> Value | None:
    """A literal: an amount, or a date as written."""
    if term.sort == "value":
        return term.value
    if term.sort == "time" and term.mention is not None:
        if term.mention.shape == "duration":
            return Value(scene.text[term.mention.core_start : term.mention.end])
        return date_value(scene.text, term.mention)
    return None


def date_value(text: str, mention: TimeMention) -> Value:
    return Value(text[mention.core_start : mention.end], datatype="date")


def has(scene: Scene, clause: Clause) -> bool:
    """ "X has a salary of V", "X has the job title R", "X has 40 employees", "X has its headquarters in Y"."""
    figures = clause.lemma in {"report", "post", "record", "generate", "show"} and any(
        o.lower_ in _FIGURES for o in clause.objects
    )
    if clause.passive or (
        clause.lemma not in {"have", "hold", "receive", "carry", "get", "draw", "pay", "owe"} and not figures
    ):
        return False
    if _raise(scene, clause):
        return True
    # Who posted a profit last year does not cease to have had it.
    time = interval(clause.times, aspect_of(clause, "state"), "present" if figures else clause.tense)
    done = False
    for subject in scene.subjects(clause):
        if subject.sort not in POINTING:
            continue
        for token in clause.objects:
            done = _has_one(scene, clause, subject, token, time) or done
    return done


def _raise(scene: Scene, clause: Clause) -> bool:
    """ "X received a raise from A to B", "X got a pay rise to B"."""
    if not any(o.lower_ in {"raise", "rise", "increase"} for o in clause.objects):
        return False
    for subject in scene.subjects(clause):
        for side, time in (("to", interval(clause.times, "start")), ("from", handover_end(clause.times))):
            for term in scene.terms(clause.at(side)):
                if term.value is not None and subject.sort in {"name", "pronoun"}:
                    scene.add(clause, subject, "salary", term.value, time, subject_kind="person")
    return True


def _has_one(scene: Scene, clause: Clause, subject: Term, token: object, time: ClaimTime) -> bool:
    term = scene.reader.term(token)
    noun = getattr(token, "lower_", "")
    values = _values_near(scene, token)
    whole = share_of(scene, term) if noun in {"stake", "share", "interest"} else None
    if whole is None and noun in {"stake", "share", "interest"}:
        scene.findings.drop("no_object", noun, scene.text)
        return True
    if whole is not None:
        stake = next((v.text for v in values if v.value is not None), "")
        qualifiers = (("share", stake),) if stake else ()
        scene.add(clause, subject, "owns", whole, time, qualifiers=qualifiers)
        return True
    if term.sort == "value" and term.value is not None and term.value.unit in {"{employees}", "{people}"}:
        scene.add(clause, subject, "headcount", term.value, time)
        return True
    if noun not in _COUNTED and (people := of_people(values)) is not None:
        scene.add(clause, subject, "headcount", people, time)
        return True
    inner = scene.reader.unit(token)
    titled = any(c.lower_ in _TITLE_WORDS for c in token.children)  # type: ignore[attr-defined]
    if term.sort == "role" and inner.kind == "role" and titled:
        return bool(_title(scene, clause, subject, replace(term, text=inner.text), time))
    if noun in {"title", "position", "role", "post", "job", "rank"}:
        for role in _named_roles(scene, token):
            places = [t for t in scene.terms(clause.at("at", "with", "of")) if t.sort == "name"]
            role = replace(role, owner=role.owner or next(iter(places), None))
            return bool(_title(scene, clause, subject, role, time))
    phrase = plain_attribute(scene.reader.head_phrase(token).lower() if term.sort != "value" else noun)
    if phrase in _PLACE_PHRASES:
        places = [t for t in [*scene.terms(clause.at("in", "at")), *values] if t.sort == "name"]
        for place in places:
            scene.add(clause, subject, phrase, place, time, object_kind="place")
        return bool(places)
    if values and values[0].value is not None and term.sort in {"noun", "thing", "attribute"}:
        scene.add(clause, subject, phrase, values[0].value, time, wording=scene.reader.head_phrase(token))
        return True
    return False


def _values_near(scene: Scene, token: object) -> list[Term]:
    reader = scene.reader
    found = [reader.term(t) for p, t in reader.prepositions(token) if p in {"of", "in", "at"}]
    near = [c for c in token.children if c.dep_ != "conj"]  # type: ignore[attr-defined]
    children = [reader.term(c) for c in near if reader.unit(c).kind == "amount"]
    counted = getattr(token, "lower_", "") in _COUNTED
    children = [t for t in children if t.value is not None and (counted or t.value.unit is not None)]
    return [t for t in [*children, *found] if t.sort in {"value", "name"}]


def _named_roles(scene: Scene, token: object) -> list[Term]:
    """ "the job title R", "the title of R", "the title R"."""
    reader = scene.reader
    inner = [c for c in token.children if c.dep_ in {"appos", "compound", "nmod", "npadvmod", "oprd"}]  # type: ignore[attr-defined]
    inner += [t for p, t in reader.prepositions(token) if p in {"of", "as"}]
    found = [reader.term(t) for t in inner]
    return [t for t in found if t.sort in {"role", "name"}]


def _of_salary(scene: Scene, tokens: list[object]) -> list[Term]:
    """ "An annual salary of V" → V."""
    nouns = [t for t in tokens if plain_attribute(scene.reader.head_phrase(t).lower()) == "salary"]
    return [v for t in nouns for v in _values_near(scene, t) if v.sort == "value"]


def paid(scene: Scene, clause: Clause) -> bool:
    """ "X earns V", "X is paid V", "Y employs V people", "X costs V"."""
    table = {
        "earn": "salary",
        "pay": "salary",
        "cost": "price",
        "employ": "headcount",
        "weigh": "weight",
        "cover": "area",
        "make": "salary",
    }
    phrase = table.get(clause.lemma)
    if (
        phrase is None
        or (clause.lemma == "pay" and not clause.passive)
        or (clause.lemma == "employ" and clause.passive)
    ):
        return False
    values = [t for t in scene.terms([*clause.objects, *clause.predicates]) if t.sort == "value" and t.value]
    money = phrase in {"salary", "price"}
    if phrase == "salary":
        values += _of_salary(scene, [*clause.objects, *clause.predicates])
    values = [t for t in values if t.value is not None and (t.value.datatype == "money") == money]
    if phrase == "salary" and clause.tense == "past":
        values = [t for t in values if PERIOD.search(t.text)]
    time = interval(clause.times, aspect_of(clause, "state"), clause.tense)
    for subject in scene.subjects(clause):
        for term in values:
            if term.value is not None and subject.sort in POINTING:
                scene.add(clause, subject, phrase, term.value, time)
    return bool(values)


def changed(scene: Scene, clause: Clause) -> bool:
    """ "X's salary was raised from A to B", "X's title changed from A to B", "Y raised X's salary to B"."""
    if clause.lemma not in verbs.CHANGE:
        return False
    turned = [*clause.objects, *clause.subjects] if clause.objects and not clause.passive else clause.subjects
    owners = [t for t in scene.terms([*turned, *clause.objects]) if t.sort in {"attribute", "role"} and t.owner]
    owners = owners or [of for t in scene.subjects(clause) if (of := _of_topic(t))]
    owners = owners or [t for t in scene.terms([*turned, *clause.objects]) if t.sort == "thing"]
    new, old = scene.terms(clause.at("to", "at")), scene.terms(clause.at("from"))
    done = False
    for owner in owners[:1]:
        if owner.owner and owner.owner.sort == "pronoun" and (own := _own_subject(scene, clause)):
            owner = replace(owner, owner=own)
        for side, time in ((new, interval(clause.times, "start", clause.tense)), (old, handover_end(clause.times))):
            for target in side:
                if owner.sort == "thing" and target.value is not None:
                    done = measured(scene, clause, owner, target.value, time) or done
                elif target.sort != "time" and owner.sort != "thing":
                    done = attribute(scene, clause, owner, target, time) or done
    return done


def _of_topic(term: Term) -> Term | None:
    """ "The budget", of nothing said: of what the document is about."""
    plain = term.sort in {"noun", "thing"} and term.text in _OF_TOPIC
    return replace(term, sort="attribute", owner=CONTEXT) if plain else None


def _own_subject(scene: Scene, clause: Clause) -> Term | None:
    """ "Its" beside a verb is the verb's own subject."""
    return next((t for t in scene.subjects(clause) if t.sort == "name"), None)


def moved(scene: Scene, clause: Clause) -> bool:
    """ "X moved (its headquarters) from A to B", people between organisations."""
    if clause.lemma not in verbs.MOVE:
        return False
    subjects = scene.subjects(clause)
    phrase: str | None = None
    for term in scene.terms(clause.subjects if clause.passive else clause.objects):
        noun = term.text.split()[-1] if term.text else ""
        phrase = plain_attribute(noun) if plain_attribute(noun) in _PLACE_PHRASES else None
        if phrase and clause.passive and term.owner:
            subjects = [term.owner]
    named = all(t.sort in POINTING for t in subjects)
    if phrase is None and (clause.objects or (clause.passive and not named)):
        return False
    if any(t.sort == "attribute" and t.owner and plain_attribute(t.text) in _PLACE_PHRASES for t in subjects):
        phrase = plain_attribute(subjects[0].text)
        subjects = [t.owner for t in subjects if t.owner]
    done = False
    for subject in subjects:
        for side, time in (("to", interval(clause.times, "start", clause.tense)), ("from", handover_end(clause.times))):
            for target in scene.terms(clause.at(side)):
                done = _moves(scene, clause, subject, phrase, target, time) or done
    return done


_WORKPLACES = frozenset("office plant factory site facility branch laboratory lab warehouse depot".split())


def _moves(scene: Scene, clause: Clause, subject: Term, phrase: str | None, target: Term, time: ClaimTime) -> bool:
    if target.sort != "name" or subject.sort not in POINTING:
        return False
    if phrase is None:
        if subject.kind in {None, "person"} and target.text.split()[-1].lower() in _WORKPLACES:
            phrase = "works in"
        elif target.kind in {"organization", "project"}:
            phrase = "part of" if subject.kind in {"project", "organization", "product"} else belonging(target, subject)
        elif clause.lemma in {"switch", "migrate", "shift"} and target.kind != "place":
            phrase = "uses"
        elif subject.kind == "person" and target.kind == "place":
            phrase = "lives in"
        elif target.kind is None and (subject.kind == "person" or (subject.kind is None and " " in subject.text)):
            scene.findings.drop("ambiguous_move", f"{subject.text} / {target.text}", scene.text)
            return True
        else:
            phrase = "located in"
    kind = "place" if phrase in _PLACE_PHRASES | {"lives in"} else None
    scene.add(clause, subject, phrase, target, time, object_kind=kind)
    return True
