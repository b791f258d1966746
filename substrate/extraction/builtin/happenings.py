"""What happened on a date that no frame reads: an open statement in the sentence's own words.

"Last year Acme opened an office in Lyon" relates Acme to nothing that an ontology could name, but it is dated. Said of
something named it becomes a claim with the verb as its phrase and the rest as text; its confidence says what it is.
"""

from __future__ import annotations

from typing import Any

from substrate.extraction.builtin import verbs
from substrate.extraction.builtin.clauses import Clause
from substrate.extraction.builtin.frames import Scene
from substrate.extraction.builtin.intervals import interval
from substrate.extraction.builtin.terms import CONTEXT, Reader, Term
from substrate.extraction.claims import Value

CONFIDENCE = 0.4
"""Below every frame's: the words are the source's, what they relate is not read."""
_SILENT = frozenset(
    "be have do say tell think know see hear ask mean seem look feel want need like try let make get go come take put "
    "keep help show note mention believe hope expect plan discuss consider agree decide state report "
    "name call rename acquire own hold lead chair head manage direct join leave appoint elect hire promote "
    "replace succeed pay earn work serve act become remain live move marry resign retire step quit employ "
    "nominate".split()
)
"""Verbs that tell nothing by themselves, and those whose own frames know better when to be silent."""
_TRADING = frozenset(("sell", "buy"))
_LONGEST = 90
_SUBORDINATE = {"advcl", "acl", "relcl", "csubj", "pcomp", "ccomp"}
_ACTORS = frozenset("team company project programme program board committee group organisation organization".split())


def happened(scene: Scene, clause: Clause) -> bool:
    """Adds the open statement of `clause` if it is dated, its verb tells something and somebody named is in it."""
    lemma = clause.lemma
    plain = lemma.replace(" ", "").isalpha() and lemma.split()[0] not in _SILENT
    if not clause.times or not plain or clause.verb.dep_ in _SUBORDINATE:
        return False
    if clause.predicates or (lemma in _TRADING and _names_a_party(scene, clause)):
        return False
    subject = _subject(scene, clause)
    if subject is None:
        return False
    if subject is CONTEXT and _turned(scene, clause):
        return True
    if clause.objects and any(token.pos_ == "PRON" for token in clause.objects):
        return False
    told = _told(scene.reader, clause)
    phrase = _phrase(clause, told[0] if told else "")
    if subject is CONTEXT:
        phrase = f"{clause.subjects[0].lower_} {phrase}"
    rest = told[1] if told else clause.times[0].time.words
    if subject is CONTEXT and not told:
        return False
    value = Value(rest, datatype="text" if told else "date")
    time = interval(clause.times, "event", clause.tense)
    scene.add(clause, subject, phrase, value, time, confidence=CONFIDENCE)
    return True


def _names_a_party(scene: Scene, clause: Clause) -> bool:
    """Who sells something named, or to somebody named, is what the frames of sales are for."""
    targets = [*clause.objects, *(target for _, target in clause.prepositions)]
    return any(scene.reader.unit(t).kind == "name" for token in targets for t in token.subtree)


def _subject(scene: Scene, clause: Clause) -> Term | None:
    terms = scene.subjects(clause)
    if len(terms) != 1:
        return None
    [term] = terms
    if term.sort == "name" and not term.negated:
        return term
    actor = term.token is not None and term.token.lower_ in _ACTORS
    return CONTEXT if actor and term.sort in {"definite", "noun", "thing", "role"} else None


def _turned(scene: Scene, clause: Clause) -> bool:
    """ "The team will launch Orion Mobile" tells of Orion Mobile, whoever the team is."""
    known = verbs.RELATIONS.get((clause.lemma, ""))
    named = [term for term in scene.terms(clause.objects) if term.sort == "name"]
    if clause.passive or known is None or known.aspect != "event" or len(named) != 1:
        return False
    time = interval(clause.times, "event", clause.tense)
    doer = Value(scene.reader.slice(clause.subjects[0].left_edge.i, clause.subjects[0].i))
    scene.add(clause, named[0], f"{known.phrase} by", doer, time, confidence=CONFIDENCE)
    return True


def _phrase(clause: Clause, prep: str) -> str:
    # "cache-02 restarted by Lott" in a log: the participle lacks its auxiliary.
    if clause.passive or prep == "by":
        return f"was {clause.verb.lower_} {prep}".strip()
    return f"{verbs.third_person(clause.lemma)} {prep}".strip()


def _told(reader: Reader, clause: Clause) -> tuple[str, str] | None:
    """The preposition, if one leads, and the words of what was done: the first object, else the first complement."""
    if clause.objects and not clause.passive:
        words = _words(reader, clause.objects[0], clause)
        return ("", words) if words else None
    for prep, target in clause.prepositions:
        words = _words(reader, target)
        if words and prep.isalpha():
            return prep, words
    return None


def _words(reader: Reader, token: Any, clause: Clause | None = None) -> str:
    """What `token` heads, as written, with the complements of `clause` that follow it straight on ("in Lyon").

    Empty for what is too long to be one thing, and for a time or a pronoun.
    """
    if reader.unit(token).kind == "time" or token.pos_ == "PRON":
        return ""
    inner = {t.i for t in token.subtree if not t.is_punct}
    for _, target in clause.prepositions if clause else ():
        behind = {t.i for t in (target.head, *target.subtree)}
        if min(behind) == max(inner) + 1:
            inner |= behind
    text = reader.slice(min(inner), max(inner))
    for _, mention in reader.masked.times:
        text = text.replace(mention.time.words, "").replace("  ", " ").strip(" ,;")
    return text if len(text) <= _LONGEST else ""
