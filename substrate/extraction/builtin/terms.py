"""What a noun phrase of the parsed sentence names: a thing, a role, a value, or something nobody can tell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from substrate.extraction.builtin import vocabulary as v
from substrate.extraction.builtin.masking import Masked, Unit
from substrate.extraction.builtin.roles import (
    FUNCTION_AREAS,
    MIRRORED,
    QUALIFYING,
    RELATION_OF_ROLE,
    is_role,
    undegreed,
)
from substrate.extraction.claims import Value
from substrate.extraction.times import TimeMention

Sort = Literal["name", "role", "value", "time", "attribute", "pronoun", "definite", "noun", "context", "thing"]
"""``thing``: what a text speaks of as known without naming it ("the annual pass"), ``noun``: anything else unnamed."""
POINTING = frozenset(("name", "pronoun", "definite", "thing"))
"""What a claim may be about."""
FORMER = frozenset(
    (
        "formerly",
        "previously",
        "once",
        "former",
        "previous",
        "then",
        "outgoing",
        "late",
        "ex",
        "onetime",
        "erstwhile",
        "past",
    )
)
_MODIFIER_DEPS = {"compound", "amod", "nmod", "nummod"}
_INDEFINITE = frozenset("a an any some no each every another what which neither either all both many few such".split())
_NOTHING = frozenset(
    "one ones others thing things something anything nothing people person someone everyone anyone nobody everybody "
    "part parts lot lots way ways kind sort number fact case point reason idea question time times day days week weeks "
    "month months year years today tomorrow yesterday place hand hands man woman men women thanks regards sorry order "
    "addition example instance general turn course front sides side".split()
)
"""Words that name nothing that is spoken of."""
_ABSTRACT = ("tion", "sion", "ment", "ance", "ence", "ing", "ship", "ity", "ness", "ism", "ure")
_OWNER_PREPS = ("of", "at", "for", "in", "within", "to")


@dataclass(frozen=True, slots=True)
class Term:
    """One noun phrase, resolved as far as the sentence goes."""

    sort: Sort
    text: str
    kind: str | None = None
    token: Any = None
    owner: Term | None = None
    """Whose attribute ("X's salary"), or of what the role is ("CTO of Y")."""
    former: bool = False
    value: Value | None = None
    mention: TimeMention | None = None
    negated: bool = False
    future: bool = False
    unit: Unit | None = None
    place: Term | None = None


CONTEXT = Term("context", "")
"""The one thing that the headings, or else the passage, are about: of what "the lead" is when nothing is said."""


EMPLOYER = Term("context", "the employer", "organization")
"""The one organisation that the passage says the subject works for: what "left" means when nothing is said."""


class Reader:
    """Reads terms off one parsed sentence. ``doc`` is a spaCy ``Doc`` whose token i is ``masked.units[i]``."""

    def __init__(self, doc: Any, masked: Masked) -> None:
        self.doc = doc
        self.masked = masked
        self.beside: dict[int, list[TimeMention]] = {}
        """Times that date what a role in apposition says, by the index of its token."""
        self.own: dict[int, list[TimeMention]] = {}
        """Times in brackets behind one of several names, by where the name begins."""

    def unit(self, token: Any) -> Unit:
        index: int = token.i
        return self.masked.units[index]

    def terms(self, token: Any) -> list[Term]:
        """The term at `token` and those joined to it by "and"."""
        found = [self.term(token)]
        if found[0].sort == "role" and (holder := self._holder(token)) is not None:
            found = [holder]
        if group := self.unit(token).group:
            found = [Term("name", u.text, u.guess, token, unit=u) for u in group]
        for child in token.children:
            if child.dep_ == "conj" and not _is_clause(child):
                found.extend(self.terms(child))
        found = _sharing_owner(found)
        negated = any(c.dep_ in {"neg", "preconj"} and c.lower_ in {"not", "neither"} for c in token.children)
        if negated:
            return [_as_negated(t) for t in found]
        return found

    def _holder(self, token: Any) -> Term | None:
        """ "The CTO of Acme, Jane Roe, …" is Jane Roe."""
        near = [token, *(t for _, t in self.prepositions(token))]
        for child in (c for t in near for c in t.children if c.dep_ == "appos"):
            unit = self.unit(child)
            if unit.kind == "name":
                return self._name(child, unit)
        return None

    def term(self, token: Any) -> Term:
        unit = self.unit(token)
        if unit.kind == "name" or (unit.kind == "word" and token.tag_ in {"NNP", "NNPS"} and unit.text[0].isupper()):
            return self._name(token, unit)
        if unit.kind == "amount":
            return Term("value", unit.text, token=token, value=unit.value)
        if unit.kind == "time":
            return Term("time", unit.text, token=token, mention=unit.mention)
        if unit.kind == "role":
            return self._role(token)
        if token.pos_ == "PRON" or token.tag_ in {"PRP", "DT", "WP", "WDT", "EX"}:
            return Term("pronoun", unit.text.lower(), token=token, unit=unit)
        return self._common(token)

    def slice(self, first: int, last: int) -> str:
        units = self.masked.units
        return self.masked.text[units[first].start : units[last].end]

    def _name(self, token: Any, unit: Unit) -> Term:
        kind = unit.guess
        former = any(c.lower_ in FORMER for c in token.children if c.dep_ in _MODIFIER_DEPS)
        negated = any(c.lower_ in {"no", "neither"} for c in token.children)
        text = unit.text
        last = token.i
        nxt = self.doc[token.i + 1] if token.i + 1 < len(self.doc) else None
        if (
            nxt is not None
            and nxt.lower_ in v.KIND_NOUNS
            and nxt.lower_ not in v.PLACE_CLASSES
            and self._same_phrase(token, nxt)
        ):
            text, kind, last = self.slice(token.i, nxt.i), v.KIND_NOUNS[nxt.lower_], nxt.i
        return Term("name", text, kind, self.doc[last], former=former, negated=negated, unit=unit)

    def _same_phrase(self, token: Any, nxt: Any) -> bool:
        return (
            self.unit(nxt).kind == "word"
            and nxt.tag_ in {"NN", "NNP"}
            and (token.head == nxt and token.dep_ in _MODIFIER_DEPS)
        )

    def _common(self, token: Any) -> Term:
        low = token.lower_
        if low in v.PLACE_CLASSES:
            for prep, target in self.prepositions(token):
                if prep == "of" and self.unit(target).kind == "name":
                    return Term("name", self.unit(target).text, "place", token, unit=self.unit(target))
        named = [
            c for c in token.children if self.unit(c).kind == "name" and c.i < token.i and c.dep_ in _MODIFIER_DEPS
        ]
        if named and low in v.KIND_NOUNS and self.unit(token).start - self.unit(named[-1]).end <= 1:
            inner = self.unit(named[-1])
            if inner.guess == "place" and low in v.COMPANY_NOUNS:
                return Term("definite", low, "organization", token, unit=self.unit(token))
            if inner.guess != "person":
                text = self.slice(named[-1].i, token.i)
                return Term("name", text, v.KIND_NOUNS[low], token, unit=inner)
        for child in token.children:
            if child.dep_ == "appos" and self.unit(child).kind == "name" and child.i == token.i + 1:
                kind = v.KIND_NOUNS.get(low) or ("person" if is_role(low) else self.unit(child).guess)
                return Term("name", self.unit(child).text, kind, child, unit=self.unit(child))
        if is_role(self.head_phrase(token)) or undegreed(self.head_phrase(token)) in MIRRORED:
            return self._role(token)
        named_so = next((c for c in token.children if c.dep_ == "appos" and self.unit(c).kind == "name"), None)
        if named_so is not None and not is_role(self.head_phrase(token)) and self._spoken_of(token):
            unit = self.unit(named_so)
            return Term("name", unit.text, v.KIND_NOUNS.get(low) or unit.guess, named_so, unit=unit)
        if (several := self._several(token)) is not None:
            return several
        if (thing := self._told_apart(token, named)) is not None:
            return thing
        owner = self.owner(token)
        if owner is not None:
            return Term("attribute", self.head_phrase(token).lower(), token=token, owner=owner)
        bare = all(c.dep_ == "det" for c in token.children if c.i < token.i) and not self._narrowed(token)
        if bare and any(c.lower_ in {"the", "this"} for c in token.children) and low in v.KIND_NOUNS:
            return Term("definite", low, v.KIND_NOUNS[low], token, unit=self.unit(token))
        negated = any(c.lower_ in {"no", "neither"} for c in token.children)
        sort: Sort = "thing" if self._spoken_of(token) else "noun"
        return Term(sort, self._lowered(token), token=token, negated=negated, unit=self.unit(token))

    def _lowered(self, token: Any) -> str:
        """The phrase in lower case, but for what is written in capitals throughout."""
        words = self.head_phrase(token).split()
        return " ".join(w if w.isupper() and len(w) > 1 else w.lower() for w in words)

    def _spoken_of(self, token: Any) -> bool:
        """ "The annual pass", "our new offices", "net debt": known to the reader, and no "a", "some" or "every"."""
        if token.tag_ not in {"NN", "NNS", "NNP", "NNPS"} or token.lower_ in _NOTHING or len(token.text) < 3:
            return False
        before = {c.lower_ for c in token.children if c.i < token.i and c.dep_ in {"det", "poss", "predet", "neg"}}
        if before & _INDEFINITE or any(self.unit(c).kind == "amount" for c in token.children if c.i < token.i):
            return False
        pointing = before & {"the", "this", "that", "these", "those", "our", "your", "their", "its", "his", "her", "my"}
        return bool(pointing) or (not before and token.dep_ in {"nsubj", "nsubjpass"})

    def _several(self, token: Any) -> Term | None:
        """ "The members of Z", "one of the suppliers of Z": the role in the singular, with its owner."""
        if token.lower_ == "one":
            token = next((t for p, t in self.prepositions(token) if p == "of"), token)
        single = token.lemma_.lower()
        if token.tag_ != "NNS" or undegreed(single) not in RELATION_OF_ROLE:
            return None
        owner = self.owner(token)
        owner = owner or next((self.term(t) for p, t in self.prepositions(token) if p in {"to", "at"}), None)
        if owner is None or owner.sort not in {"name", "definite"}:
            return None
        return Term("role", single, token=token, owner=owner)

    def _told_apart(self, token: Any, named: list[Any]) -> Term | None:
        """ "The Aquila pump", "the audit committee": a thing that the words before its noun tell from others."""
        low, unit = token.lower_, self.unit(token)
        if token.tag_ not in {"NN", "NNP"} or unit.kind != "word":
            return None
        if named:
            inner = self.unit(named[-1])
            concrete = low not in v.MEASURED_NOUNS and not low.endswith(_ABSTRACT) and inner.guess != "person"
            between = range(named[-1].i + 1, token.i)
            near = all(self.doc[i].dep_ == "compound" and self.doc[i].head == token for i in between)
            near = near and (bool(between) or unit.start - inner.end == 1)
            if not concrete or not near or v.is_demonym(inner.text):
                return None
            return Term("name", self.slice(named[-1].i, token.i), None, token, unit=inner)
        before = [c for c in token.children if c.i < token.i and c.dep_ == "compound" and self.unit(c).kind == "word"]
        known = low in v.GROUP_WORDS or v.KIND_NOUNS.get(low) == "product"
        if not known or not before or any(c.lower_ in v.PLAIN_MODIFIERS for c in before):
            return None
        others = {c.dep_ for c in token.children if c.i < token.i} - {"compound", "det", "poss"}
        definite = any(c.lower_ == "the" or c.dep_ == "poss" for c in token.children)
        if others or not definite or before[-1].i != token.i - 1:
            return None
        kind = "organization" if low in v.GROUP_WORDS else "product"
        return Term("name", self.slice(before[0].left_edge.i, token.i), kind, token, unit=unit)

    def _narrowed(self, token: Any) -> bool:
        """ "The warehouse in Venlo" is one among several: it points back at nothing."""
        return any(
            c.dep_ in {"prep", "acl", "relcl", "appos"} and c.i > token.i and c.lower_ not in {"as", "from", "by"}
            for c in token.children
        )

    def head_phrase(self, token: Any) -> str:
        """Modifiers and head as written, without determiner, owner and what the holder was before."""
        first = token.i
        for child in sorted(token.children, key=lambda c: -c.i):
            if child.i != first - 1 or child.dep_ not in _MODIFIER_DEPS or self.unit(child).kind in {"name", "amount"}:
                continue
            if child.lower_ in FORMER | {"new", "current", "sole", "other", "own"}:
                continue
            first = child.left_edge.i if self.unit(child.left_edge).kind != "name" else child.i
            if self.doc[first].dep_ in {"det", "poss"}:
                first = child.i
        return self.slice(first, token.i)

    def _role(self, token: Any) -> Term:
        words = self.head_phrase(token)
        modifiers = {c.lower_ for c in token.children if c.i < token.i}
        owner, area = None, ""
        for prep, target in self.prepositions(token):
            if target.head.i and self.doc[target.head.i - 1].lower_ in FORMER:
                continue
            found = self.term(target)
            unnamed = found.sort == "noun" or (prep == "of" and found.text.lower() in FUNCTION_AREAS)
            if prep in {"of", "for"} and unnamed and not area and owner is None:
                area = f" {prep} {self.slice(target.left_edge.i, target.i)}"
                deeper = [self.term(t) for p, t in self.prepositions(target) if p in _OWNER_PREPS]
                owner = next((t for t in deeper if t.sort in {"name", "definite"}), None)
            elif prep in _OWNER_PREPS and owner is None and found.sort in {"name", "definite", "pronoun"}:
                owner = found
        if owner is None:
            owner = self.owner(token)
        return Term("role", words + area, "person", token, owner, former=bool(modifiers & FORMER))

    def prepositions(self, token: Any) -> list[tuple[str, Any]]:
        """(preposition, its object) pairs that hang on `token`."""
        return [
            (c.lower_, g)
            for c in token.children
            if c.dep_ in {"prep", "agent", "dative"} or (c.pos_ == "ADP" and c.dep_ != "prt")
            for g in c.children
            if g.dep_ in {"pobj", "pcomp"} and not _is_clause(g)
        ]

    def owner(self, token: Any) -> Term | None:
        """Who owns what `token` names: "X's …", "… of X", or a name written before it ("Atlas budget")."""
        for child in token.children:
            if child.dep_ == "poss" and child.lower_ == "whose":
                clause = token.head
                return (
                    self.term(clause.head) if clause.dep_ == "relcl" and self.unit(clause.head).kind == "name" else None
                )
            if child.dep_ == "poss":
                return self.term(child)
        for prep, target in self.prepositions(token):
            if target.head.i and self.doc[target.head.i - 1].lower_ in FORMER:
                continue
            if prep in {"of", "for"}:
                found = self.term(target)
                if found.sort in {"name", "definite", "thing"}:
                    return found
                if prep == "of" and found.sort == "noun" and token.lower_ in v.MEASURED_NOUNS and target.tag_ == "NNS":
                    return replace(found, sort="thing")
        if token.lower_ in v.MEASURED_NOUNS:
            for prep, target in self.prepositions(token):
                if prep in {"at", "in"} and self.term(target).sort == "name":
                    return self.term(target)
        for child in token.children:
            unit = self.unit(child)
            if child.dep_ in _MODIFIER_DEPS and unit.kind == "name" and not v.is_demonym(unit.text):
                return self.term(child)
        return None


def _sharing_owner(found: list[Term]) -> list[Term]:
    """ "Founder and CEO of Acme", "Acme's founder and chairman": each is of Acme."""
    owned = [i for i, t in enumerate(found) if t.owner is not None and t.owner.sort == "name"]
    if len(found) < 2 or len(owned) != 1 or any(t.sort != "role" for t in found):
        return found
    holder = found[owned[0]]
    if owned[0] and any(c.dep_ == "det" for c in holder.token.children):
        return found
    return [replace(t, owner=holder.owner) if t.owner is None else t for t in found]


def _is_clause(token: Any) -> bool:
    return bool(
        token.pos_ in {"VERB", "AUX"}
        and any(c.dep_ in {"nsubj", "nsubjpass", "aux", "auxpass"} for c in token.children)
    )


def _as_negated(term: Term) -> Term:
    return replace(term, negated=True)


def is_deputy(title: str) -> bool:
    """A deputy, acting or assistant holder does not hold the role itself."""
    return bool(set(title.lower().replace("-", " ").split()) & QUALIFYING)
