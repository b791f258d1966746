"""Frames about who holds what: appointments, hand-overs, resignations, joining and leaving."""

from __future__ import annotations

import re
from dataclasses import replace

from substrate.extraction.builtin import verbs
from substrate.extraction.builtin.clauses import Clause
from substrate.extraction.builtin.drafts import Draft, role_drafts
from substrate.extraction.builtin.frames import Scene, aspect_of
from substrate.extraction.builtin.intervals import handover_end, interval, unit_before
from substrate.extraction.builtin.roles import is_role
from substrate.extraction.builtin.terms import Term
from substrate.extraction.claims import UNDATED, ClaimTime
from substrate.extraction.times import TimeMention

_POST_NOUNS = {"role", "position", "post", "job", "title", "office", "duties", "seat"}
_LEADERSHIP = {
    "lead",
    "leadership",
    "helm",
    "charge",
    "control",
    "head",
    "direction",
    "reins",
    "management",
    "ownership",
    "headship",
    "command",
    "chairmanship",
    "responsibility",
}
_BODIES = {
    "board",
    "council",
    "committee",
    "shareholders",
    "members",
    "management",
    "assembly",
    "trustees",
    "directors",
}
_ONE_AT_A_TIME = {"reports to", "works for"}
_AND_NO_LONGER = re.compile(
    r"(?:no longer|instead of|rather than|in place of)(?: (?:reports |works )?(?:to|for))?\s+$", re.IGNORECASE
)
HELD = {"leads", "manages", "directs", "chairs", "owns", "job title"}
_LEADERSHIP_PHRASE = {"management": "manages", "ownership": "owns", "direction": "directs", "chairmanship": "chairs",
                      "responsibility": "responsible for"}  # fmt: skip


def appointed(scene: Scene, clause: Clause) -> bool:
    """ "X became/was appointed/serves as R of Y", "Y appointed X R"."""
    aspect = verbs.ROLE_VERBS.get(clause.lemma)
    if aspect is None:
        return False
    roles = roles_among(scene, _role_slots(scene, clause))
    if not roles:
        return False
    people = scene.subjects(clause)
    company: Term | None = None
    if (
        not clause.passive
        and clause.objects
        and clause.lemma not in {"become", "serve", "act", "work", "join", "remain", "rejoin", "start", "return"}
    ):
        bodies = [t.owner if t.sort == "attribute" and t.text in _BODIES and t.owner else t for t in people]
        company = next((t for t in bodies if t.sort in {"name", "definite"} and t.kind != "person"), None)
        people = [
            t
            for t in scene.terms(clause.objects)
            if t.sort in {"name", "pronoun"} and t.text not in {r.text for r in roles}
        ]
    time = interval(clause.times, aspect_of(clause, aspect), clause.tense)
    pairs = _paired(scene, people, roles)
    at = company or organisation_beside(scene, clause)
    for person in people:
        for role in pairs.get(person.text, roles):
            if len(roles) > 1 and not _next_behind(scene, person, role):
                continue
            if role.owner is not None and role.owner.sort == "pronoun" and company is not None:
                role = replace(role, owner=None)
            apart = role.owner is None and at is not None and not role.text.endswith(f" {at.text}")
            _emit(
                scene,
                clause,
                role_drafts(person, role, at if apart else None, time, clause.mood, clause.words),
            )
    if clause.lemma == "promote":
        for role in roles_among(scene, clause.at("from")):
            for person in people:
                _emit(
                    scene,
                    clause,
                    role_drafts(person, role, None, handover_end(clause.times), clause.mood, clause.words),
                )
    if clause.lemma in verbs.JOIN | {"hire", "recruit", "employ"}:
        return False
    return bool(people)


def _next_behind(scene: Scene, person: Term, role: Term) -> bool:
    """Whether no other person's name stands between `person` and `role` ("elected A as chair and B as treasurer")."""
    if person.unit is None or role.token is None:
        return True
    start = scene.reader.unit(role.token).start
    between = [u for u in scene.reader.masked.units if u.kind == "name" and person.unit.end <= u.start < start]
    return all(u.guess not in {None, "person"} or u.text == person.text for u in between)


def _paired(scene: Scene, people: list[Term], roles: list[Term]) -> dict[str, list[Term]]:
    """ "Elected A as its chair and B as deputy chair": each the role that stands next behind them."""
    placed = [t for t in people if t.unit is not None]
    if len(people) < 2 or len(roles) != len(people) or len(placed) != len(people):
        return {}
    starts = [scene.reader.unit(r.token).start for r in roles if r.token is not None]
    order = sorted(placed, key=lambda t: t.unit.start if t.unit else 0)
    if len(starts) != len(roles):
        return {}
    ranked = [r for _, r in sorted(zip(starts, roles, strict=True), key=lambda p: p[0])]
    spans = [t.unit.start for t in order if t.unit]
    between = all(a < b for a, b in zip(spans, sorted(starts), strict=True)) and sorted(starts)[0] < spans[1]
    return {t.text: [r] for t, r in zip(order, ranked, strict=True)} if between else {}


def _role_slots(scene: Scene, clause: Clause) -> list[object]:
    slots: list[object] = [*clause.predicates, *clause.at("as")]
    if clause.lemma in {"promote", "elect", "name", "appoint"}:
        slots += clause.at("to")
    if clause.passive or clause.lemma in {"become", "appoint", "name", "elect", "make"}:
        slots += clause.objects
    return slots


def roles_among(scene: Scene, tokens: list[object]) -> list[Term]:
    """Roles of a predicate slot; there an unknown noun phrase in capitals is a title too."""
    found: list[Term] = []
    for term in scene.terms(tokens):
        if term.sort == "role":
            found.append(term)
        elif term.sort in {"noun", "thing"} and named_trade(term):
            near = [t for p, t in scene.reader.prepositions(term.token) if p in {"at", "of", "with", "for"}]
            owner = next((t for t in map(scene.reader.term, near) if t.sort in {"name", "definite"}), None)
            found.append(replace(term, sort="role", owner=owner))
        elif term.sort in {"noun", "thing"} and term.text in _POST_NOUNS | {"position"}:
            found.extend(
                t
                for p, tok in scene.reader.prepositions(term.token)
                if p == "of"
                for t in scene.reader.terms(tok)
                if t.sort == "role"
            )
        elif term.sort == "attribute" and term.text in _POST_NOUNS and term.owner and is_role(term.owner.text):
            found.append(replace(term.owner, sort="role"))
        elif term.sort == "attribute" and term.text in _LEADERSHIP - set(_LEADERSHIP_PHRASE) and term.owner:
            found.append(Term("role", "lead", owner=term.owner, token=term.token))
    return found


def named_trade(term: Term) -> bool:
    """ "As an estimator": after an article a noun of no list is a trade, if it is formed as one."""
    article = any(c.lower_ in {"a", "an"} for c in term.token.children)
    return article and term.text.split()[-1].endswith(("er", "or", "ist", "ian", "ant", "eer", "man", "woman", "hand"))


def organisation_beside(scene: Scene, clause: Clause) -> Term | None:
    """The organisation of a role said beside it: "serves as CTO at Acme", "works at Acme as CTO"."""
    for prep in ("at", "of", "for", "with", "within", "to"):
        for term in scene.terms(clause.at(prep)):
            if term.sort in {"name", "definite"}:
                return term
    if clause.lemma in verbs.JOIN:
        return next((t for t in scene.terms(clause.objects) if t.sort == "name"), None)
    return None


def _emit(scene: Scene, clause: Clause, drafts: list[Draft]) -> None:
    scene.findings.drafts.extend(drafts)


def succeeded(scene: Scene, clause: Clause) -> bool:
    """ "X replaced/succeeded Y as R (of Z)", "Y was replaced by X (as R)"."""
    if clause.lemma not in verbs.HANDOVER_TO_SUBJECT:
        return False
    new, old = scene.subjects(clause), scene.terms(clause.objects)
    if clause.passive:
        new, old = [t for t in scene.terms(clause.at("by")) if t.sort != "time"], new
    roles = roles_among(scene, [*clause.at("as"), *clause.at("at")])
    old = [t.owner if t.sort == "role" and t.owner else t for t in old]
    if not roles and clause.verb.dep_ == "advcl" and _ends_like_head(scene, clause, new, old):
        return True
    if not roles and _as_what_was_left(scene, clause, new, old):
        return True
    if not roles:
        for a in new:
            for b in old:
                if a.sort == "name" and b.sort == "name":
                    scene.add(clause, a, "replaced", b, interval(clause.times, "event"))
        return bool(new and old)
    for role in roles:
        hand_over(scene, clause, role, [t for t in old if t.sort != "role"], new)
    return True


def _ends_like_head(scene: Scene, clause: Clause, new: list[Term], old: list[Term]) -> bool:
    """ "X leads Z, replacing Y": what the main clause begins for X ends for Y."""
    head = next((c for c in scene.clauses if c.verb == clause.verb.head), None)
    begun = [d for d in scene.findings.drafts if d.subject in new and d.phrase in HELD and d.mood == clause.mood]
    if head is None or not begun:
        return False
    end = handover_end(head.times)
    scene.findings.drafts.extend(replace(d, subject=o, time=end) for d in begun for o in old)
    return True


def _as_what_was_left(scene: Scene, clause: Clause, new: list[Term], old: list[Term]) -> bool:
    """ "X stepped down as R of Z in D and was succeeded by Y": Y has from then on what the sentence says X gave up."""
    gone = {t.text for t in old}
    drafts = [d for d in scene.findings.drafts if d.subject.text in gone and d.phrase in HELD]
    ended = [d for d in drafts if d.time.valid_to_precision is not None and d.mood == clause.mood]
    people = all(t.sort == "name" and t.kind in {None, "person"} for t in new)
    if not new or not people or len(drafts) != 1 or len(ended) != 1:
        return False
    mentions = clause.times or [m for _, m in scene.reader.masked.times]
    time = interval([_then(m) for m in mentions], "start", clause.tense) if len(mentions) == 1 else UNDATED
    scene.findings.drafts.extend(replace(ended[0], subject=p, time=time, wording=clause.words) for p in new)
    return True


def hand_over(scene: Scene, clause: Clause, role: Term, old: list[Term], new: list[Term]) -> None:
    """Ends the role for `old` and begins it for `new`, at the same moment."""
    start = interval(clause.times, "start", clause.tense)
    for person in new:
        _emit(scene, clause, role_drafts(person, role, role.owner, start, clause.mood, clause.words))
    for person in old:
        _emit(
            scene, clause, role_drafts(person, role, role.owner, handover_end(clause.times), clause.mood, clause.words)
        )


def took_over(scene: Scene, clause: Clause) -> bool:
    """ "X took over Z (from Y)", "X took over as R of Z from Y", "X took over the role of R"."""
    lemma = clause.lemma
    if lemma not in verbs.TAKE_OVER and not (lemma == "take" and _leads_noun(scene, clause)):
        return False
    if clause.passive:
        new, things = scene.terms(clause.at("by")), scene.subjects(clause)
    else:
        new, things = scene.subjects(clause), scene.terms(clause.objects)
    old = [t for t in scene.terms(clause.at("from")) if t.sort in {"name", "pronoun"}]
    roles = roles_among(scene, [*clause.at("as"), *clause.objects])
    for role in roles:
        hand_over(scene, clause, role, old, new)
    if roles:
        return True
    if not things and lemma == "take over" and not clause.passive:
        return took_that_over(scene, clause, new, old)
    done = False
    for thing in things:
        for person in new:
            done = _takes(scene, clause, person, thing, old) or done
    return done


def took_that_over(scene: Scene, clause: Clause, new: list[Term], old: list[Term]) -> bool:
    """ "X stepped down as R of Z; Y took over", "X led Z until Y took over on D": the role that X is said to hold.

    One date in the sentence dates both; with a date of its own each keeps it.
    """
    drafts, new = scene.findings.drafts, new or _right_before(scene, clause)
    gone = {t.text for t in old}
    held = [i for i, d in enumerate(drafts) if d.phrase in HELD and d.mood is None and d.subject not in new]
    held = [i for i in held if not old or drafts[i].subject.text in gone]
    people = all(t.sort == "name" and t.kind in {None, "person"} for t in new)
    if not new or not people or len({(drafts[i].phrase, drafts[i].subject.text) for i in held}) != 1 or len(held) > 2:
        scene.findings.drop("no_object", clause.lemma, scene.text)
        return True
    if len({drafts[i].object for i in held}) != 1 or _others_named(scene, [drafts[i] for i in held], new):
        scene.findings.drop("no_object", clause.lemma, scene.text)
        return True
    mentions = [m for _, m in scene.reader.masked.times]
    times = [_then(m) for m in (clause.times or (mentions if len(mentions) == 1 else []))]
    mood = None if _came_about(scene, clause) else clause.mood
    first = drafts[held[0]]
    if mood is None:
        for i in held:
            drafts[i] = replace(drafts[i], time=_ended_by(drafts[i].time, handover_end(times)))
    start = interval(times, "start", clause.tense)
    drafts.extend(replace(first, subject=p, time=start, mood=mood, wording=clause.words) for p in new)
    return True


def _others_named(scene: Scene, held: list[Draft], new: list[Term]) -> bool:
    """Whether the sentence names more than who held what and who took it over: then it may mean something else."""
    known = {t.text for d in held for t in (d.subject, d.object) if isinstance(t, Term)}
    known |= {t.text for t in new} | {v for d in held for _, v in d.qualifiers}
    return any(one.text not in known for u in scene.reader.masked.units if u.kind == "name" for one in u.group or (u,))


def _right_before(scene: Scene, clause: Clause) -> list[Term]:
    """ "… and Y took over": the parser may hang Y on what stands before; the name right before the verb is its own."""
    at = clause.verb.i - 1
    joined = at > 0 and scene.reader.doc[at - 1].lower_ in {"and", "but", ",", ";", "while", "until", "when"}
    return [scene.reader.term(scene.reader.doc[at])] if joined else []


def _came_about(scene: Scene, clause: Clause) -> bool:
    """ "Until Y took over", told of the past, is no condition."""
    head = next((c for c in scene.clauses if c.verb == clause.verb.head), None)
    marks = {c.lower_ for c in clause.verb.children if c.dep_ in {"mark", "advmod"}}
    told = clause.mood == "conditional" and clause.tense == "past" and marks & {"until", "till", "when", "before"}
    return bool(told) and head is not None and head.mood is None and head.tense in {"past", "perfect"}


def _then(mention: TimeMention) -> TimeMention:
    """ "Until D, when Y took over": at D, the last moment of X and the first of Y."""
    end = mention.time.valid_to
    if mention.shape != "until" or end is None or mention.time.valid_to_precision in {None, "unknown"}:
        return mention
    precision = mention.time.valid_to_precision
    time = replace(mention.time, valid_from=unit_before(end, precision), valid_from_precision=precision)  # type: ignore[arg-type]
    return replace(mention, shape="point", time=time)


def _ended_by(time: ClaimTime, end: ClaimTime) -> ClaimTime:
    """`time` with the end that the hand-over gives it; an end of its own on another day stays."""
    if end.valid_to is None:
        return time if time.valid_to is not None else replace(time, valid_to_precision="unknown")
    same_day = time.words in end.words and time.valid_from is None
    if time.valid_to is not None and not same_day:
        return time
    words = time.words if time.words in {"", end.words} else f"{time.words} … {end.words}"
    precision = end.valid_to_precision
    return replace(time, valid_to=end.valid_to, valid_to_precision=precision, words=words or end.words)


def redirected(scene: Scene, clause: Clause) -> bool:
    """ "X reports to Y and no longer to Z", "… instead of Z", "… rather than Z": what begins with Y ends with Z."""
    units = scene.reader.masked.units
    known = next(
        (verbs.RELATIONS[clause.lemma, p] for p in ("to", "for") if (clause.lemma, p) in verbs.RELATIONS), None
    )
    if clause.passive or known is None or known.phrase not in _ONE_AT_A_TIME:
        return False
    names = [u for u in units if u.kind == "name" and u.start > units[clause.verb.i].start]
    between = scene.text[names[0].end : names[1].start] if len(names) > 1 else ""
    m = _AND_NO_LONGER.search(between)
    lead = scene.text[units[clause.verb.i].end : names[0].start] if names else ""
    if m is None or re.fullmatch(r"\s*(?:directly )?(?:to|for)\s+", lead) is None:
        return False
    mentions = [mention for _, mention in scene.reader.masked.times]
    times = mentions if len(mentions) == 1 else clause.times
    new, gone = (Term("name", u.text, u.guess, unit=u) for u in names[:2])
    for subject in scene.subjects(clause):
        scene.add(clause, subject, known.phrase, new, interval(times, "start", clause.tense))
        if times or m.group().startswith("no longer"):
            scene.add(clause, subject, known.phrase, gone, handover_end(times))
    return True


def _leads_noun(scene: Scene, clause: Clause) -> bool:
    return any(
        scene.reader.term(o).text.split()[-1:] and scene.reader.term(o).text in _LEADERSHIP for o in clause.objects
    )


def _takes(scene: Scene, clause: Clause, person: Term, thing: Term, old: list[Term]) -> bool:
    thing, phrase = led_thing(thing)
    if thing.sort not in {"name", "definite"}:
        return False
    sure = clause.lemma in verbs.SURE_TAKE_OVER
    company = not sure and thing.kind not in {"project", "product"} and person.kind == "organization"
    if company:
        scene.add(clause, person, "acquired", thing, interval(clause.times, "event"))
        return True
    if person.kind is None and thing.kind is None and not old and not sure:
        scene.findings.drop("ambiguous_takeover", f"{person.text} / {thing.text}", scene.text)
        return True
    transfer(scene, clause, phrase, thing, old, [person])
    return True


def led_thing(thing: Term) -> tuple[Term, str]:
    """ "the leadership of Z", "Z's lead" → Z and the phrase for holding it."""
    words = thing.text.lower().split()
    if thing.sort in {"attribute", "role"} and thing.owner and words and words[-1] in _LEADERSHIP:
        return thing.owner, _LEADERSHIP_PHRASE.get(words[-1], "leads")
    return thing, "leads"


def transfer(scene: Scene, clause: Clause, phrase: str, thing: Term, old: list[Term], new: list[Term]) -> None:
    for person in new:
        scene.add(clause, person, phrase, thing, interval(clause.times, "start", clause.tense), subject_kind="person")
    for person in old:
        scene.add(clause, person, phrase, thing, handover_end(clause.times), subject_kind="person")


def handed_over(scene: Scene, clause: Clause) -> bool:
    """ "X handed (over) Z to Y", "Z was handed over (from X) to Y", "X passed the lead of Z to Y"."""
    if clause.lemma not in verbs.HAND_OVER or (
        clause.lemma == "transfer" and not (clause.passive or clause.objects or clause.at("from"))
    ):
        return False
    if clause.passive and not any(c.dep_ in {"auxpass", "agent"} for c in clause.verb.children):
        return False
    new = [t for t in scene.terms(clause.at("to")) if t.sort in {"name", "pronoun"}]
    if clause.passive:
        old = [t for t in scene.terms(clause.at("by", "from")) if t.sort in {"name", "pronoun"}]
        things = scene.subjects(clause)
    elif not clause.objects and clause.lemma in {"pass", "transfer"}:
        old = [t for t in scene.terms(clause.at("from")) if t.sort in {"name", "pronoun"}]
        things = scene.subjects(clause)
    else:
        old, things = scene.subjects(clause), scene.terms(clause.objects)
    if not new or not things:
        return False
    done = False
    for thing in things:
        roles = roles_among(scene, [thing.token]) if thing.sort in {"noun", "thing", "attribute"} else []
        if roles:
            for role in roles:
                hand_over(scene, clause, role, old, new)
            done = True
            continue
        target, phrase = led_thing(thing)
        plain = (
            clause.lemma in {"transfer", "pass", "hand"}
            and target is thing
            and target.kind not in {"project", "organization"}
        )
        if target.sort in {"name", "definite"} and not plain:
            transfer(scene, clause, phrase, target, old, new)
            done = True
    return done
