"""How a rule is written down and tried at a place in the text."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from substrate.extraction.times.spans import Context, NeedsAnchor, Span

Reader = Callable[[re.Match[str], Context], Span | None]
"""A span; None if only an anchor could complete it; any `ValueError` or `LookupError` if it is no date."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One form of date.

    ``loose`` marks forms that are also ordinary words or numbers ("May", "2019") and count only where a
    preposition governs them. ``yearless`` marks forms that take their year from elsewhere.
    """

    pattern: re.Pattern[str]
    read: Reader
    loose: bool = False
    yearless: bool = False
    duration: bool = False
    interval: bool = False
    """A stretch even where nothing is there to count it from ("the past five years")."""


@dataclass(frozen=True, slots=True)
class Core:
    """A rule that matched: ``text[start:end]`` is the date without its preposition."""

    start: int
    end: int
    rule: Rule
    match: re.Match[str]
    span: Span | None
    context: Context = field(default_factory=Context)
    """What it was read with."""

    def again(self, context: Context) -> Span | None:
        """Read once more with another context, such as the year that the far end of a range lends."""
        try:
            return self.rule.read(self.match, context)
        except NeedsAnchor:
            return None


@dataclass(slots=True)
class Grammar:
    """Rules by their first word; ``"1"`` and ``"4"`` stand for numbers of up to two and of four digits."""

    rules: dict[str, list[Rule]] = field(default_factory=dict)

    def add(self, starters: str, rule: Rule) -> None:
        for starter in starters.split():
            self.rules.setdefault(starter, []).append(rule)

    def longest(
        self, text: str, start: int, key: str, context: Context, fits: Callable[[str, int], bool]
    ) -> Core | None:
        """The longest form that matches at `start` and names a date that can exist."""
        best: Core | None = None
        for rule in self.rules.get(key, ()):
            match = rule.pattern.match(text, start)
            if match is None or match.end() <= (best.end if best else start) or not fits(text, match.end()):
                continue
            try:
                span = rule.read(match, context)
            except NeedsAnchor:
                span = None
            except (ValueError, LookupError, OverflowError):
                continue
            best = Core(start, match.end(), rule, match, span, context)
        return best
