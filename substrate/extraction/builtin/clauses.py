"""Takes a parsed sentence apart into clauses: a verb, who, what, by which prepositions, when, how meant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from substrate.extraction.builtin import moods, verbs
from substrate.extraction.builtin.intervals import Tense
from substrate.extraction.builtin.roles import is_role
from substrate.extraction.builtin.terms import Reader
from substrate.extraction.claims import Mood
from substrate.extraction.times import TimeMention

_SUBJECTS = {"nsubj", "nsubjpass", "csubj"}
_OBJECTS = {"dobj", "obj", "dative", "npadvmod"}
_LEMMAS = {
    "co-founde": "co-found",
    "co-founded": "co-found",
    "cofounde": "co-found",
    "co-leads": "co-lead",
    "co-led": "co-lead",
    "rebrande": "rebrand",
    "rebranded": "rebrand",
}
_GOES_ON = re.compile(r"\s*[)）]?\s*(?:,|;|&|\band\b|\bthen\b)", re.IGNORECASE)
_PARTICLES = {"up", "over", "down", "on", "off", "out", "back", "aside"}


@dataclass(slots=True)
class Clause:
    """One verb with what hangs on it; token fields hold spaCy tokens."""

    verb: Any
    lemma: str
    passive: bool
    tense: Tense
    mood: Mood | None
    ended: bool
    begins: bool = False
    subjects: list[Any] = field(default_factory=list)
    objects: list[Any] = field(default_factory=list)
    predicates: list[Any] = field(default_factory=list)
    prepositions: list[tuple[str, Any]] = field(default_factory=list)
    times: list[TimeMention] = field(default_factory=list)
    words: str = ""

    def at(self, *prepositions: str) -> list[Any]:
        return [t for p, t in self.prepositions if p in prepositions]


def clauses_of(reader: Reader, whole: Mood | None) -> list[Clause]:
    """Every clause of the sentence in reading order, with its time mentions attached."""
    found = [_clause(reader, t, whole) for t in reader.doc if _is_verb(reader, t)]
    _attach_times(reader, found)
    return found


def _is_verb(reader: Reader, token: Any) -> bool:
    if token.dep_ in {"aux", "auxpass", "compound", "amod"} or reader.unit(token).kind != "word":
        return False
    return token.pos_ in {"VERB", "AUX"}


def _clause(reader: Reader, verb: Any, whole: Mood | None) -> Clause:
    passive = (
        any(c.dep_ in {"auxpass", "nsubjpass"} for c in verb.children)
        or (verb.dep_ in {"acl", "advcl"} and verb.tag_ == "VBN")
        or _done_by(verb)
    )
    lemma = reader.unit(verb).lemma or _LEMMAS.get(verb.lemma_.lower(), verb.lemma_.lower())
    near = [c for c in verb.children if c.dep_ == "prt" or (c.dep_ == "advmod" and c.i <= verb.i + 2)]
    particle = next((c.lower_ for c in near if c.lower_ in _PARTICLES), "")
    if particle and c_follows(verb, particle):
        lemma = f"{lemma} {particle}"
    mood = moods.clause_mood(verb) or whole
    governor = verb.head if verb.dep_ == "xcomp" else None
    stopped = governor is not None and governor.lemma_.lower() in verbs.CEASE
    used_to = governor is not None and governor.lemma_.lower() == "use"
    clause = Clause(
        verb, lemma, passive, _tense(verb), mood, moods.ceased(verb) or stopped or used_to,
        begins=governor is not None and (governor.lemma_.lower() in verbs.COMMENCE or appointed_to(governor)),
    )  # fmt: skip
    clause.subjects = _subjects(reader, verb)
    _fill(reader, clause)
    clause.words = _wording(reader, verb)
    return clause


def _done_by(verb: Any) -> bool:
    """ "Designed by A and built by B": the second participle, which the parser may take for a past tense."""
    if verb.dep_ != "conj" or verb.head.dep_ not in {"acl", "advcl"} or verb.tag_ not in {"VBN", "VBD"}:
        return False
    kinds = {c.dep_ for c in verb.children}
    return "agent" in kinds and not kinds & {"dobj", "nsubj", "aux"}


def appointed_to(governor: Any) -> bool:
    """ "Was appointed to lead Z": who was appointed begins to lead."""
    return governor.lemma_.lower() in verbs.APPOINTED_TO and any(
        c.dep_ in {"auxpass", "dobj"} for c in governor.children
    )


def c_follows(verb: Any, particle: str) -> bool:
    return any(c.lower_ == particle and c.i > verb.i for c in verb.children)


def _tense(verb: Any) -> Tense:
    source = verb
    while source.dep_ == "xcomp" and source.head != source:
        source = source.head
    auxiliaries = {c.lower_ for c in source.children if c.dep_ in {"aux", "auxpass"}}
    if auxiliaries & {"will", "shall", "'ll", "wo"}:
        return "future"
    if auxiliaries & {"has", "have", "'ve"}:
        return "perfect"
    if auxiliaries & {"had", "was", "were", "did"}:
        return "past"
    if auxiliaries & {"is", "are", "am", "does", "do", "'s"}:
        return "present"
    return "past" if source.tag_ in {"VBD"} else "present"


def _subjects(reader: Reader, verb: Any) -> list[Any]:
    own = [c for c in verb.children if c.dep_ in _SUBJECTS]
    if verb.dep_ == "relcl":
        if own and own[0].tag_ in {"WP", "WDT"}:
            return [_who(reader, verb.head) if own[0].lower_ == "who" else verb.head]
        return own
    if own:
        return own
    head = verb.head
    before = [c for c in verb.children if c.dep_ == "ccomp" and c.i < verb.i and c.tag_ in {"VBZ", "VBD", "VBN"}]
    if before and verb.dep_ == "ROOT":
        return [c for c in before[0].children if c.dep_ in _SUBJECTS]
    if verb.dep_ == "conj" and (misread := _before(reader, verb)) is not None:
        return [misread]
    if verb.dep_ == "acl" and verb.tag_ in {"VBN", "VBG"}:
        kind = head.dep_ == "attr" and head.head.lemma_ == "be" and reader.unit(head).kind == "word"
        if kind and verb.tag_ == "VBN" and not is_role(reader.head_phrase(head)):
            return _subjects(reader, head.head) or [head]
        return [head]
    if verb.dep_ in {"conj", "xcomp"} and head != verb:
        if verb.dep_ == "xcomp":
            objects = [c for c in head.children if c.dep_ in {"dobj"}]
            if objects and head.lemma_.lower() in verbs.PLAN | verbs.APPOINTED_TO:
                return objects
        return _subjects(reader, head) if head.pos_ in {"VERB", "AUX"} else []
    if verb.dep_ == "pcomp" and head.lower_ in {"since", "after", "by"} and head.head.pos_ in {"VERB", "AUX"}:
        return _subjects(reader, head.head)
    if verb.dep_ == "advcl" and verb.tag_ in {"VBG", "VBN"} and head.pos_ in {"VERB", "AUX"}:
        marks = {c.lower_ for c in verb.children if c.dep_ in {"mark", "advmod"}}
        return [] if marks & {"if", "unless", "when"} else _subjects(reader, head)
    return []


def _who(reader: Reader, head: Any) -> Any:
    """ "X from Acme, who …": a person, and not the house the person is from."""
    if head.dep_ != "pobj" or reader.unit(head).guess == "person" or head.head.lower_ not in {"from", "of", "at"}:
        return head
    above = head.head.head
    if reader.unit(above).kind != "name" and head.head.i:
        above = reader.doc[head.head.i - 1]
    return above if reader.unit(above).kind == "name" and reader.unit(above).guess in {None, "person"} else head


def _before(reader: Reader, verb: Any) -> Any:
    """ "X retired and Y became CEO": the parser may hang Y on "retired"; a name right before a verb is its subject."""
    at = verb.i - 1
    while at > 0 and reader.doc[at].dep_ in {"aux", "auxpass", "advmod", "neg"}:
        at -= 1
    token = reader.doc[at]
    hangs = (
        token.dep_ in {"conj", "dobj", "npadvmod", "appos"}
        and token.head == verb.head
        and token.head.pos_ in {"VERB", "AUX"}
    )
    joined = at > 0 and reader.doc[at - 1].lower_ in {"and", "but", ",", "while"}
    return token if hangs and joined and reader.unit(token).kind == "name" else None


def _fill(reader: Reader, clause: Clause) -> None:
    verb = clause.verb
    for child in verb.children:
        if child.dep_ in _OBJECTS and child.i > verb.i and child.pos_ != "ADP":
            clause.objects.append(child)
        elif child.dep_ in {"attr", "oprd"} or (child.dep_ == "acomp" and reader.unit(child).kind != "word"):
            clause.predicates.append(child)
        elif child.dep_ == "ccomp" and reader.unit(child).kind != "word":
            clause.objects.append(child)
    if verb.dep_ == "relcl":
        gap = [c for c in verb.children if c.dep_ == "dobj" and c.tag_ in {"WP", "WDT"}]
        if gap:
            clause.objects = [verb.head]
    clause.prepositions = _prepositions(reader, verb)
    for child in verb.children:
        if child.dep_ == "acomp":
            clause.prepositions.extend((f"{child.lower_} {p}", t) for p, t in reader.prepositions(child))


def _prepositions(reader: Reader, verb: Any) -> list[tuple[str, Any]]:
    """Prepositions of the verb and those that the parser nested under an object ("from A to B")."""
    found: list[tuple[str, Any]] = []
    for prep, target in reader.prepositions(verb):
        found.append((prep, target))
        found.extend((p, t) for p, t in reader.prepositions(target) if p in {"from", "to", "as", "for", "on", "by"})
        for _, inner in reader.prepositions(target):
            found.extend((p, t) for p, t in reader.prepositions(inner) if p in {"from", "to"})
    for child in verb.children:
        if child.dep_ == "prep" and child.lower_ in {"from", "as", "by"}:
            for nested in child.children:
                if nested.dep_ == "prep":
                    found.extend((nested.lower_, g) for g in nested.children if g.dep_ == "pobj")
        if child.dep_ in _OBJECTS | {"attr", "oprd"}:
            found.extend(
                (p, t)
                for p, t in reader.prepositions(child)
                if p in {"from", "to", "as", "by", "in", "into", "with", "on", "at"}
            )
            for _, inner in reader.prepositions(child):
                found.extend((p, t) for p, t in reader.prepositions(inner) if p in {"from", "to", "as"})
        if child.dep_ == "xcomp" and reader.unit(child).kind in {"role", "name", "amount"}:
            found.append(("to", child))
        if child.dep_ == "aux" and reader.unit(child).kind in {"role", "name", "amount"}:
            found.append(("to", child))
    return list(dict.fromkeys(found))


def _wording(reader: Reader, verb: Any) -> str:
    """The verb as the source writes it: its auxiliaries, the verb, and a particle or preposition right behind it."""
    head = verb.head if verb.dep_ == "xcomp" and verb.head.i < verb.i and verb.i - verb.head.i < 4 else verb
    helpers = [c for c in head.children if c.dep_ in {"aux", "auxpass", "neg"} and 0 < head.i - c.i < 4]
    first = min((c.i for c in helpers), default=head.i)
    last = verb.i
    for token in reader.doc[verb.i + 1 : verb.i + 3]:
        joined = token.dep_ in {"prep", "prt", "agent", "acomp"} or token.lower_ in _PARTICLES
        if not joined or reader.unit(token).kind != "word" or token.head not in {verb, reader.doc[last]}:
            break
        last = token.i
    words = [u for u in reader.masked.units[first : last + 1] if u.text and u.kind == "word"]
    return " ".join(reader.masked.text[u.start : u.end] for u in words)


def _attach_times(reader: Reader, clauses: list[Clause]) -> None:
    """A mention belongs to the clause of the word before it; one that opens the sentence, to what follows."""
    if not clauses:
        return
    by_verb = {c.verb.i: c for c in clauses}
    for at, mention in reader.masked.times:
        leading = at == 0 or _only_openers(reader, at)
        index = at if leading else at - 1
        if 0 <= index < len(reader.doc) and reader.doc[index].is_punct and not leading and index:
            index -= 1
        token = reader.doc[min(index, len(reader.doc) - 1)]
        owner = _governing(token, by_verb)
        if _lifetime(reader, token, owner, mention) or (not leading and _apart(reader, token, owner, mention)):
            continue
        if owner is None:
            owner = clauses[0] if leading else min(clauses, key=lambda c: abs(c.verb.i - at))
        mention = _governed_by_noun(token, owner.verb, mention) if not leading else mention
        owner.times.append(mention)
        if leading:
            for other in clauses:
                if other is not owner and _coordinated(other.verb, owner.verb):
                    other.times.append(mention)
    for clause in clauses:
        _share_times(clause, by_verb)


def _apart(reader: Reader, token: Any, owner: Clause | None, mention: TimeMention) -> bool:
    """A time that dates a role in apposition, or one of several names that has it in brackets, and not the clause."""
    beside = next((t for t in (token, *token.ancestors) if t.dep_ == "appos"), None)
    if beside is not None and reader.unit(beside).kind != "name" and is_role(reader.head_phrase(beside)):
        reader.beside.setdefault(beside.i, []).append(mention)
        return True
    text, unit = reader.masked.text, reader.unit(token)
    bracketed = text[: mention.start].rstrip().endswith(("(", "（")) and text[mention.end :].lstrip().startswith(
        (")", "）")
    )
    if text[: mention.start].rstrip().endswith("(") and text[mention.end :].lstrip().startswith(":"):
        # "14.2% (previous year: 13.1%)": the time of the figure in the bracket.
        return True
    names = [u for u in reader.masked.units if u.kind == "name" and u.start > (owner.verb.idx if owner else 0)]
    joined = _GOES_ON.match(text, mention.end) is not None or _GOES_ON.search(text[: unit.start][-6:]) is not None
    if bracketed and unit.kind == "name" and owner is not None and token.i > owner.verb.i and joined and len(names) > 1:
        reader.own.setdefault(unit.start, []).append(mention)
        return True
    return False


def _lifetime(reader: Reader, token: Any, owner: Clause | None, mention: TimeMention) -> bool:
    """ "Jane Roe (1916 – 1993) was …": years in brackets after the subject are its own, not the verb's."""
    if owner is None or mention.shape != "interval" or token.i >= owner.verb.i:
        return False
    return reader.masked.text[: mention.start].rstrip().endswith(("(", "[", "（"))


def _governed_by_noun(token: Any, verb: Any, mention: TimeMention) -> TimeMention:
    """ "since its acquisition in 2015": the preposition above the noun says how the date is meant."""
    if mention.shape != "point":
        return mention
    for above in (token, *token.ancestors):
        if above == verb:
            break
        if above.dep_ == "prep" and above.lower_ in {"since", "after", "following"}:
            time = replace(mention.time, valid_to=None, valid_to_precision=None, at_event=False)
            return replace(mention, shape="since", time=time)
        if above.dep_ == "prep" and above.lower_ in {"until", "till", "before"}:
            time = replace(mention.time, valid_from=None, valid_from_precision=None, at_event=False)
            return replace(mention, shape="until", time=time)
    return mention


def _only_openers(reader: Reader, at: int) -> bool:
    return all(
        t.is_punct or t.lower_ in {"effective", "and", "but", "then", "correction", "update"} for t in reader.doc[:at]
    )


def _governing(token: Any, by_verb: dict[int, Clause]) -> Clause | None:
    seen: Iterator[Any] = iter([token, *token.ancestors])
    return next((by_verb[t.i] for t in seen if t.i in by_verb), None)


def _coordinated(verb: Any, first: Any) -> bool:
    while verb.dep_ == "conj" and verb.head != verb:
        verb = verb.head
        if verb == first:
            return True
    return False


def _share_times(clause: Clause, by_verb: dict[int, Clause]) -> None:
    """ "stopped leading Y on D": the date may have gone to either verb of one event."""
    verb = clause.verb
    if clause.times or verb.dep_ != "xcomp" or verb.head.i not in by_verb:
        return
    clause.times.extend(by_verb[verb.head.i].times)
