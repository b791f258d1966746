"""From clauses to claims: tries each frame in turn; the first that reads a clause keeps it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from substrate.extraction.builtin import verbs
from substrate.extraction.builtin.clauses import Clause
from substrate.extraction.builtin.drafts import Draft, Findings
from substrate.extraction.builtin.intervals import interval
from substrate.extraction.builtin.terms import Reader, Term
from substrate.extraction.builtin.vocabulary import GROUP_WORDS, MEASURED_NOUNS
from substrate.extraction.claims import ClaimTime, Value


@dataclass(frozen=True, slots=True)
class Scene:
    """One sentence under reading."""

    reader: Reader
    findings: Findings
    clauses: tuple[Clause, ...]

    @property
    def text(self) -> str:
        return self.reader.masked.text

    def terms(self, tokens: list[object]) -> list[Term]:
        return [t for token in tokens for t in self.reader.terms(token)]

    def subjects(self, clause: Clause) -> list[Term]:
        """What `clause` is about; "A, B and C, who is …" is about C alone."""
        found = self.terms(clause.subjects)
        single = clause.verb.dep_ == "relcl" and len(found) > 1 and clause.verb.tag_ in {"VBZ", "VBD"}
        plural = any(c.dep_ in {"aux", "auxpass"} and c.lower_ in {"are", "were", "have"} for c in clause.verb.children)
        return found[-1:] if single and not plural and clause.verb.lower_ != "were" else found

    def add(
        self, clause: Clause, subject: Term, phrase: str, target: Term | Value, time: ClaimTime, **more: object
    ) -> None:
        """Adds a claim of `clause`, with its mood, unless a word denies one of the two."""
        mood = clause.mood
        if mood is None and (subject.negated or (isinstance(target, Term) and target.negated)):
            mood = "negated"
        fields = {"wording": clause.words, **more}
        self.findings.drafts.append(Draft(subject, phrase, target, time, mood, **fields))  # type: ignore[arg-type]


_RELATING = {"with", "for", "on", "to", "against", "under", "into", "through"}
_PREMISES = {
    "office": "located in",
    "headquarters": "headquartered in",
    "head office": "headquartered in",
    "main office": "headquartered in",
}
Frame = Callable[[Scene, Clause], bool]


def read_clauses(scene: Scene, special: tuple[Frame, ...], last: Frame | None = None) -> None:
    """Runs the frames over every clause, `last` where no other reads it; what none reads is a drop with its reason."""
    for clause in scene.clauses:
        if any(frame(scene, clause) for frame in special) or relation(scene, clause) or fallback(scene, clause):
            continue
        if last is not None and last(scene, clause):
            continue
        if clause.objects or clause.predicates or clause.prepositions:
            scene.findings.drop("no_frame", clause.lemma, scene.text)


def aspect_of(clause: Clause, aspect: verbs.Aspect) -> verbs.Aspect:
    """What ended, ends; what began, starts; else as the verb says."""
    if clause.ended:
        return "end"
    return "start" if clause.begins and aspect == "state" else aspect


def relation(scene: Scene, clause: Clause) -> bool:
    """Verbs of the table, active and passive: "X leads Y", "Y is led by X", "X works for Y"."""
    if clause.passive:
        if _passive(scene, clause):
            return True
    elif (known := verbs.RELATIONS.get((clause.lemma, ""))) and clause.objects:
        return _pairs(scene, clause, known, scene.subjects(clause), scene.terms(clause.objects))
    for prep, target in clause.prepositions:
        known = verbs.RELATIONS.get((clause.lemma, prep))
        if clause.objects and clause.lemma == "meet":
            continue
        if known is None or (clause.objects and not clause.passive and prep not in {"in", "into", "with"}):
            continue
        if _pairs(scene, clause, known, scene.subjects(clause), scene.reader.terms(target)):
            return True
    return False


def _passive(scene: Scene, clause: Clause) -> bool:
    known = verbs.RELATIONS.get((clause.lemma, ""))
    agents = [t for t in scene.terms(clause.at("by")) if t.sort not in {"time", "value"}]
    if known is None or not agents:
        return False
    near = [*clause.verb.children, *clause.subjects]
    share = next((scene.reader.term(c) for c in near if scene.reader.unit(c).kind == "amount"), None)
    if known.phrase in {"owns", "holds"} and share is not None and share.value is not None and share.value.unit == "%":
        above = next((c for c in scene.clauses if c.verb in {clause.verb.head, clause.verb.head.head}), clause)
        owned = [t for t in scene.subjects(clause) + scene.subjects(above) if t.sort in {"name", "definite", "pronoun"}]
        time = interval(clause.times or above.times, aspect_of(clause, known.aspect), clause.tense)
        for a, b in ((a, b) for a in agents for b in owned):
            scene.add(clause, a, "owns", b, time, qualifiers=(("share", share.text),))
        return bool(owned)
    if known.phrase in {"makes", "develops"} and clause.tense == "past":
        known = known._replace(aspect="event")
    return _pairs(scene, clause, known, agents, scene.subjects(clause))


def _pairs(scene: Scene, clause: Clause, known: verbs.Relation, left: list[Term], right: list[Term]) -> bool:
    time = interval(clause.times, aspect_of(clause, known.aspect), clause.tense)
    done = False
    for a in left:
        for b in right:
            done = _one(scene, clause, known, time, a, b) or done
    return done


def _one(scene: Scene, clause: Clause, known: verbs.Relation, time: ClaimTime, a: Term, b: Term) -> bool:
    subject, target = (b, a) if known.swap else (a, b)
    if subject.sort == "attribute" and subject.owner and known.phrase == "located in" and _PREMISES.get(subject.text):
        known, subject = known._replace(phrase=_PREMISES[subject.text]), subject.owner
    if known.phrase == "part of" and known.swap and subject.kind in {None, "person"} and _group(target):
        known = known._replace(phrase="member of")
    if known.phrase in {"leads", "manages", "chairs"} and subject.kind in {"project", "product", "place"}:
        return False
    if target.sort == "noun" and known.phrase in OVER_THINGS and _bare(target):
        target = replace(target, sort="thing")
    if target.sort == "attribute" and known.phrase in OVER_THINGS and target.owner is not None and _bare(target):
        if (
            target.owner.sort == "name"
            and subject.kind in {None, "person"}
            and target.owner.kind in {None, "organization"}
        ):
            scene.add(clause, subject, "works for", target.owner, time, subject_kind="person", confidence=0.7)
        target = replace(target, sort="thing")
    if target.sort == "attribute" and known.phrase in _MADE:
        target = replace(target, sort="thing")
    named = target.sort == "thing" and known.phrase in OVER_THINGS
    if not (named or usable_object(target)) or subject.sort in {"noun", "value", "time", "role"}:
        return False
    if subject.sort == "attribute" or target.sort == "attribute":
        return False
    if target.sort == "value" and known.phrase in _OF_THINGS:
        return False
    share = share_of(scene, target)
    if known.phrase in {"owns", "holds", "acquired"} and share is not None:
        scene.add(clause, subject, known.phrase, share, time, qualifiers=(("share", target.text),))
        return True
    more: dict[str, object] = {"subject_kind": known.subject, "object_kind": known.object}
    price = _price(scene, clause) if known.phrase == "acquired" else None
    if price:
        more["qualifiers"] = (("price", price),)
    wanted: Term | Value = target.value if target.sort == "value" and target.value else target
    scene.add(clause, subject, known.phrase, wanted, time, **more)
    return True


_OF_THINGS = frozenset("makes supplies uses".split())
"""These relate two things: a quantity after them is how much, of something else."""


OVER_THINGS = frozenset(
    ("responsible for", "manages", "runs", "leads", "oversees", "owns", "maintains", "operates", "makes", "supplies",
     "works in", "conducts", "organises", "built", "designed")
)  # fmt: skip
"""What somebody has charge of or makes need not be named ("responsible for exports", "makes heat pumps")."""
_MADE = frozenset(("supplies", "makes", "maintains", "built", "designed", "conducts", "organises"))


def _bare(term: Term) -> bool:
    """No "a", "some" or number before it."""
    if term.token.tag_ not in {"NN", "NNS"} or (term.owner is not None and term.text in MEASURED_NOUNS):
        return False
    before = [c for c in term.token.children if c.i < term.token.i]
    return not any(c.dep_ in {"det", "nummod", "predet"} and c.lower_ != "all" for c in before)


def _group(term: Term) -> bool:
    return term.text.lower().split()[-1] in GROUP_WORDS


def share_of(scene: Scene, term: Term) -> Term | None:
    """ "25% of Acme", "a 25% stake in Acme" → Acme."""
    if term.token is None or (term.value is not None and term.value.unit != "%"):
        return None
    if term.value is None and term.text.split()[-1:] not in (["stake"], ["share"], ["interest"], ["shares"]):
        return None
    found = [scene.reader.term(t) for p, t in scene.reader.prepositions(term.token) if p in {"of", "in"}]
    return next((t for t in found if t.sort == "name"), None)


def _price(scene: Scene, clause: Clause) -> str | None:
    for term in scene.terms([t for p, t in clause.prepositions if p == "for"]):
        if term.sort == "value":
            return term.text
    for target in clause.objects:
        for prep, token in scene.reader.prepositions(target):
            found = scene.reader.term(token)
            if prep == "for" and found.sort == "value":
                return found.text
    return None


def usable_object(term: Term) -> bool:
    """Named, pointing at something named, or a number."""
    return term.sort in {"name", "value", "pronoun", "definite"}


def fallback(scene: Scene, clause: Clause) -> bool:
    """A verb of no table between a named subject and a named object, in its own words."""
    lemma = clause.lemma
    if (
        lemma.split()[0] in verbs.NOT_GENERIC
        or clause.verb.dep_ in {"advcl", "acl", "csubj", "pcomp"}
        or not lemma.replace(" ", "").isalpha()
    ):
        return False
    left, right, prep = scene.subjects(clause), scene.terms(clause.objects), ""
    helped = any(c.dep_ in {"aux", "auxpass"} for c in clause.verb.children)
    if (
        not helped
        and clause.verb.tag_ in {"VB", "VBP"}
        and [t.token.tag_ for t in left if t.token is not None] == ["NNP"]
    ):
        # "Wool blanket CB-20": no verb, since one thing has none of that form.
        return False
    if clause.passive:
        agents = scene.terms(clause.at("by"))
        left, right = agents, left
    elif not clause.objects and len(clause.prepositions) == 1:
        prep, target = clause.prepositions[0]
        if prep not in _RELATING:
            return False
        right = scene.reader.terms(target)
        if prep == "by":
            # "cache-02 restarted by Lott" in a log: the participle lacks its auxiliary.
            left, right, prep = right, left, ""
    phrase = f"{verbs.third_person(lemma)} {prep}".strip()
    known = verbs.Relation(phrase, "state" if clause.tense == "present" else "event")
    pairs = [(a, b) for a in left for b in right if a.sort == "name" and b.sort == "name"]
    for a, b in pairs:
        time = interval(clause.times, aspect_of(clause, known.aspect), clause.tense)
        scene.add(clause, a, phrase, b, time, confidence=0.6)
    return bool(pairs)
