"""Who "he", "it" or "the company" is: only when a single candidate of the right kind stands before it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from substrate.extraction.builtin.terms import Term

_PERSONAL = {"he", "she", "him", "her", "his", "hers"}
_THINGS = {"it", "its"}
_SPEAKER = {"i", "me", "my", "mine"}


@dataclass(slots=True)
class References:
    """Names of one passage in order of mention, with what is known of their kind."""

    speaker: str = ""
    seen: dict[str, str | None] = field(default_factory=dict)
    context: dict[str, str | None] = field(default_factory=dict)
    """Names of the headings and the title: candidates for "the project", never for "he"."""

    def note(self, name: str, kind: str | None) -> None:
        """Remembers a name; a kind learnt later fills one that was unknown."""
        if self.seen.get(name) is None:
            self.seen[name] = kind

    def resolve(self, term: Term) -> Term | None:
        """The same term if it names something, what it points at if that is certain, else None."""
        if term.sort == "name":
            return term
        if term.sort == "definite":
            return self._one(term, {term.kind}) or self._unknown_topic(term)
        if term.sort == "context":
            return self._topic(term)
        if term.sort != "pronoun":
            return None
        if term.text in _SPEAKER:
            return replace(term, sort="name", text=self.speaker, kind="person") if self.speaker else None
        if term.text in _PERSONAL:
            found = self._one(term, {"person"}, doubtful=True)
            return found or (self._heading_person(term) if not self._people() else None)
        if term.text in _THINGS:
            return self._one(term, {"organization", "project", "product", "place"}, doubtful=True)
        return None

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

    def _people(self) -> list[str]:
        return [n for n, k in self.seen.items() if k in {"person", None}]

    def _heading_person(self, term: Term) -> Term | None:
        """Under a heading that is a person's name "she" is that person."""
        people = [n for n, k in self.context.items() if k == "person" or (k is None and 2 <= len(n.split()) <= 3)]
        return replace(term, sort="name", text=people[0], kind="person") if len(people) == 1 else None

    def _one(self, term: Term, kinds: set[str | None], doubtful: bool = False) -> Term | None:
        pool = self.seen if term.text in _PERSONAL else {**self.context, **self.seen}
        fitting = [n for n, k in pool.items() if k in kinds]
        unclear = [n for n, k in pool.items() if k is None] if doubtful else []
        if len(fitting) == 1 and not unclear:
            return replace(term, sort="name", text=fitting[0], kind=pool[fitting[0]])
        if not fitting and len(unclear) == 1 and len(pool) == 1:
            return replace(term, sort="name", text=unclear[0], kind=next(iter(kinds)) if len(kinds) == 1 else None)
        return None
