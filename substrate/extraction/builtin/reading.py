"""A passage under reading: its items, what each yields, the headings it stands under and what was dated before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from substrate.extraction.builtin import english
from substrate.extraction.builtin.drafts import Draft, Findings
from substrate.extraction.builtin.headings import heading_subject, is_correction
from substrate.extraction.builtin.names import Lexicon
from substrate.extraction.builtin.sentences import Line
from substrate.extraction.builtin.terms import Term
from substrate.extraction.claims import Drop, Passage
from substrate.extraction.times import (
    Anchor,
    Dated,
)


@dataclass(frozen=True, slots=True)
class Quoted:
    """A claim in draft, or a drop, with the words it rests on."""

    item: Draft | Drop
    text: str
    start: int


@dataclass(slots=True)
class Item:
    """A sentence or a record of the passage; what it yields is filled in once it has been read."""

    text: str
    found: list[Quoted] = field(default_factory=list)
    prepared: english.Prepared | None = None
    start: int = 0
    corrects: bool = False
    """Whether it stands under a title or a heading that says "correction"."""
    shown: str = ""
    """What to quote, where that is not the sentence as read (the row of a table, an entry under a date)."""
    heading: str = ""
    """The heading that dates it, whose words are the time words."""
    about: Term | None = None
    """The subject of the main clause, for "it" in the next sentence."""

    @property
    def quote(self) -> str:
        return self.shown or self.text

    def take(self, findings: Findings) -> None:
        items: list[Draft | Drop] = [*findings.drafts, *findings.drops]
        self.about = findings.about
        self.found.extend(Quoted(d, self.quote, self.start) for d in items)


@dataclass(slots=True)
class Work:
    """A passage under reading."""

    passage: Passage
    anchor: Anchor | None
    lexicon: Lexicon
    known: frozenset[str] = frozenset()
    items: list[Item] = field(default_factory=list)
    context: list[Term] = field(default_factory=list)
    headings: list[str] = field(default_factory=list)
    levels: list[int] = field(default_factory=list)
    """How deep each heading of `headings` is that stands in the passage itself; innermost first."""
    dated: list[tuple[int, Anchor | None]] = field(default_factory=list)
    """How deep each section lies that states its own date, and what held before it; innermost last."""
    told: tuple[Dated, ...] = ()
    """What was dated before, since the last heading: "six months later" counts from it."""

    @property
    def here(self) -> Anchor | None:
        """What relative words of the next sentence count from."""
        if not self.told:
            return self.anchor
        return replace(self.anchor, told=self.told) if self.anchor else Anchor(None, None, self.told)

    def add(self, item: Item) -> None:
        outer = (self.passage.title, *self.passage.heading_path, *self.headings[: len(self.levels)])
        item.corrects = any(is_correction(h) for h in outer if h)
        self.items.append(item)


def context_of(work: Work) -> Term | None:
    return heading_subject(work.headings, work.lexicon)


def taken(work: Work, line: Line, drafts: Sequence[Draft | Drop]) -> bool:
    item = Item(line.text, start=line.start)
    item.found.extend(Quoted(d, line.text, line.start) for d in drafts)
    if drafts:
        work.add(item)
    return bool(drafts)
