"""Who "he", "it" or "the company" is: only when a single candidate of the right kind stands before it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from substrate.extraction.builtin.terms import Term
from substrate.extraction.builtin.vocabulary import GIVEN_NAMES, SURNAMES, is_demonym

_PERSONAL = {"he", "she", "him", "her", "his", "hers"}
_THINGS = {"it", "its"}
_SPEAKER = {"i", "me", "my", "mine"}


def _may_be_person(name: str, kind: str | None) -> bool:
    """Whether a name of unknown kind may be a person's: no acronym, no figure, no "&" in it."""
    return (
        kind is None
        and not any(w.isupper() and len(w) > 1 for w in name.split())
        and name.replace("-", "").replace(" ", "").replace("'", "").replace("’", "").replace(".", "").isalpha()
    )


def _without_short_forms(pool: dict[str, str | None]) -> dict[str, str | None]:
    """ "Okafor" beside "Amara Okafor" is no second person, if only one has that name."""
    kept = dict(pool)
    for name, kind in pool.items():
        longer = [n for n in pool if n != name and name in n.split() and pool[n] in {"person", None}]
        if " " not in name and len(longer) == 1 and kind in {"person", None}:
            del kept[name]
            kept[longer[0]] = kept.get(longer[0]) or kind
    return kept


@dataclass(slots=True)
class References:
    """Names of one passage in order of mention, with what is known of their kind."""

    speaker: str = ""
    seen: dict[str, str | None] = field(default_factory=dict)
    context: dict[str, str | None] = field(default_factory=dict)
    """Names of the headings and the title: candidates for "the project", never for "he"."""
    about: Term | None = None
    """What the sentence before is about: its subject, if it has one and that is named."""

    def note(self, name: str, kind: str | None) -> None:
        """Remembers a name; a kind learnt later fills one that was unknown."""
        if self.seen.get(name) is None and not is_demonym(name):
            self.seen[name] = kind

    def resolve(self, term: Term) -> Term | None:
        """The same term if it names something, what it points at if that is certain, else None."""
        if term.sort == "name":
            return term
        if term.sort == "thing":
            return replace(term, sort="name")
        if term.sort == "definite":
            found = self._one(term, {term.kind}) or self._unknown_topic(term) or self._topic_before(term)
            return found or self._itself(term)
        if term.sort == "context":
            return self._topic(term)
        if term.sort != "pronoun":
            return None
        if term.text in _SPEAKER:
            return replace(term, sort="name", text=self.speaker, kind="person") if self.speaker else None
        if term.text in _PERSONAL:
            found = self._one(term, {"person"}, doubtful=True)
            return found or self._heading_person(term) or self._person_before(term)
        if term.text in _THINGS:
            things: set[str | None] = {"organization", "project", "product", "place"}
            return self._thing_before(term) or self._one(term, things, doubtful=True)
        return None

    def _thing_before(self, term: Term) -> Term | None:
        """ "It" is what the sentence before is about, if that is no person."""
        about = self.about
        if about is None or about.kind == "person" or self._personal(about):
            return None
        told = about.kind is not None or about.text[0].islower() or not _may_be_person(about.text, None)
        coined = " " not in about.text and about.text.lower() not in GIVEN_NAMES | SURNAMES
        return replace(term, sort="name", text=about.text, kind=about.kind) if told or coined else None

    def _person_before(self, term: Term) -> Term | None:
        about = self.about
        others = [n for n, k in _without_short_forms(self.seen).items() if k == "person" or _may_be_person(n, k)]
        fits = about is not None and set(others) <= {about.text} and (about.kind == "person" or bool(others))
        return replace(term, sort="name", text=about.text, kind="person") if fits and about else None

    def _topic_before(self, term: Term) -> Term | None:
        """ "The airline" after a sentence about something that may be one."""
        about = self.about
        fits = about is not None and about.kind in {None, term.kind} and not self._personal(about)
        return replace(term, sort="name", text=about.text, kind=term.kind) if fits and about else None

    def _itself(self, term: Term) -> Term | None:
        """ "The workshop", where nothing of its kind was named: what the text speaks of without naming it."""
        named = [n for n, k in {**self.context, **self.seen}.items() if k == term.kind]
        return replace(term, sort="name") if term.kind in {"event", "place", "product"} and not named else None

    def _personal(self, about: Term) -> bool:
        return self.seen.get(about.text) == "person"

    def _unknown_topic(self, term: Term) -> Term | None:
        """ "The project" under a heading whose name does not say what it is."""
        known = [k for k in self.seen.values() if k == term.kind]
        topic = self._topic(term) if self.context and not known else None
        return replace(topic, kind=term.kind) if topic is not None and topic.kind is None else None

    def _topic(self, term: Term) -> Term | None:
        """What the headings name, if it is no person; else the only project spoken of."""
        things = [(n, k) for n, k in self.context.items() if k != "person"]
        if not self.context:
            things = [(n, k) for n, k in self.seen.items() if k == "project"]
        return replace(term, sort="name", text=things[0][0], kind=things[0][1]) if len(things) == 1 else None

    def _heading_person(self, term: Term) -> Term | None:
        """Under a heading that is a person's name "she" is that person, while no other person was spoken of."""
        people = [n for n, k in self.context.items() if k == "person" or (k is None and 2 <= len(n.split()) <= 3)]
        own = {n for p in people for n in (p, *p.split())}
        others = [n for n, k in self.seen.items() if n not in own and (k == "person" or _may_be_person(n, k))]
        known = all(self.seen.get(p) == "person" or self.context.get(p) == "person" for p in people)
        others = [n for n in others if not known or self.seen[n] == "person"]
        return replace(term, sort="name", text=people[0], kind="person") if len(people) == 1 and not others else None

    def _one(self, term: Term, kinds: set[str | None], doubtful: bool = False) -> Term | None:
        pool = self.seen if term.text in _PERSONAL else {**self.context, **self.seen}
        pool = _without_short_forms(pool)
        fitting = [n for n, k in pool.items() if k in kinds]
        unclear = [n for n, k in pool.items() if k is None] if doubtful else []
        if term.text in _PERSONAL:
            unclear = [n for n in unclear if _may_be_person(n, None)]
        if len(fitting) == 1 and not unclear:
            return replace(term, sort="name", text=fitting[0], kind=pool[fitting[0]])
        if not fitting and len(unclear) == 1 and len(pool) == 1:
            return replace(term, sort="name", text=unclear[0], kind=next(iter(kinds)) if len(kinds) == 1 else None)
        return None
