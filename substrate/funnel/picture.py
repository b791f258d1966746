"""The funnel as text: one row for each level, a bar for what went on, and what was dropped by code."""

from __future__ import annotations

from substrate.funnel.count import Funnel, Level

WIDTH = 20
WORDS = {
    "passages": "passages",
    "seen": "seen in them",
    "claims": "claims",
    "bindings": "bound",
    "entities": "names resolved",
    "facts": "on facts",
}
Row = tuple[str, int, int, str, str, str]
"""Level, what came in, what went on, a bar, what the parts that went on are, and what was dropped."""


def rows(funnel: Funnel) -> list[Row]:
    """A row for each level, in order."""
    return [_row(level) for level in funnel.levels]


def _row(level: Level) -> Row:
    on = [p for p in level.parts if p.goes_on]
    kinds = ", ".join(f"{p.code} {p.items}" for p in on) if len(on) > 1 else ""
    dropped = ", ".join(f"{p.code} {p.items}" for p in level.parts if not p.goes_on)
    full = round(WIDTH * level.went_on / level.came_in) if level.came_in else 0
    return WORDS[level.name], level.came_in, level.went_on, "█" * full + "░" * (WIDTH - full), kinds, dropped


def sentences(funnel: Funnel) -> str:
    """Coverage in words, and what was not counted yet."""
    c = funnel.coverage
    share = f" ({c['covered'] / c['sentences']:.0%})" if c["sentences"] else ""
    left = c["readings"] - c["measured"]
    more = f"; {left} readings not counted yet" if left else ""
    return f"{c['covered']} of {c['sentences']} sentences have a claim{share}{more}"


def facts(funnel: Funnel) -> str:
    """What the held facts are."""
    f = funnel.facts
    told = f"{f['claims_on_facts']} claims rest on {f['stated']} facts"
    return f"{told}; with {f['names']} names and {f['other']} on a person's word, {f['facts']} facts are held"


def markdown(funnel: Funnel) -> str:
    """A table, then coverage, facts and the undecided phrases."""
    head = "| | in | on | | of which | dropped |\n|---|---:|---:|---|---|---|"
    lines = [f"| {' | '.join(map(str, row))} |" for row in rows(funnel)]
    said = [sentences(funnel), facts(funnel)]
    if not funnel.balanced:
        said.append("**Not everything is accounted for.**")
    undecided = [f"- {phrase}: {claims}" for phrase, claims in funnel.undecided]
    more = ["Undecided phrases, by claims:", "", *undecided] if undecided else []
    return "\n".join([head, *lines, "", *(f"{s}  " for s in said), "", *more])
