"""Precision and recall of claims against what was annotated.

A claim is right if it matches an entry of gold or also: both ends the same, and its wording one that may stand for the
entry's relation in that direction. Values count by number and currency or date; a value's wording that the table of
relations does not know is let pass, a relation's is not. What the text says is over is wrong if claimed as if it went
on. An entry of gold is found if a right claim matches it; a stated start or end is kept if one of those claims has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from bench.claims.data import Item, Part, Wanted
from bench.claims.ends import date_of, holds, same_date, same_name, same_value, tokens
from bench.claims.relations import Reading, readings


@dataclass(frozen=True)
class Said:
    """A claim as the scorer sees it; ``start`` and ``end`` are days, the last day included, or "" or ``past``."""

    subject: str
    phrase: str
    object: str
    number: Decimal | None = None
    unit: str | None = None
    start: str = ""
    end: str = ""

    def __str__(self) -> str:
        times = f" [{self.start}..{self.end}]" if self.start or self.end else ""
        return f"{self.subject} | {self.phrase} | {self.object}{times}"


CHINESE = re.compile(r"[\u4e00-\u9fff]")
_VALUES = frozenset({"price", "amount", "headcount", "version", "attribute", "contact"})
_MONEY = frozenset({"price", "amount", "headcount", "attribute"})
_MOMENTS = frozenset({"started", "ended", "deadline"})
_IN_PHRASE = frozenset({"role", "status", "attribute", "ended"})
"""Relations whose object may stand in the wording: (X, finance director of, Y), (X, retired from, Y)."""
_OVER = re.compile(
    r"\b(left|leaves?|depart\w*|resign\w*|retire\w*|step\w* down|s[oe]l[dl]s?|dispose\w*|divest\w*|former(ly)?"
    r"|previous(ly)?|(moved?|migrated?|switche[sd]|transferred) from|predecessor|ended|ceased?)\b"
    r"|离开|离职|退休|卸任|原|前任|曾|调离|不再"
)
"""Wordings that say by themselves that it is over."""


def matches(said: Said, wanted: Wanted, year: int) -> bool:
    """Whether `said` states `wanted`; `year` is that of the document, for dates that name none."""
    found = readings(said.phrase)
    return any(_states(said, wanted, relation, found, year) for relation in wanted.relations)


def right(said: Said, wanted: Wanted, item: Item) -> bool:
    """Whether `said` states `wanted` and, if that was over when the document was written, does not let it go on."""
    over = wanted.end == "past" or (wanted.end != "" and wanted.end <= item.date.isoformat())
    goes_on = over and not said.end and not _OVER.search(said.phrase.casefold())
    return not goes_on and matches(said, wanted, item.date.year)


def _states(said: Said, wanted: Wanted, relation: str, found: frozenset[Reading], year: int) -> bool:
    forward = _is_any(said.subject, wanted.subjects) and _is_object(said, wanted.objects, year)
    backward = _is_any(said.object, wanted.subjects) and _is_any(said.subject, wanted.objects)
    if relation == "any":
        return forward or backward or _named_in_phrase(said, wanted) or _dated_so(said, wanted)
    if forward and (_worded(found, relation, False) or _let_pass(found, relation)):
        return True
    if backward and (_worded(found, relation, True) or (relation == "partner_of" and _worded(found, relation, False))):
        return True
    if relation in _IN_PHRASE and _named_in_phrase(said, wanted):
        return True
    return relation in _MOMENTS and _worded(found, relation, False) and _dated_so(said, wanted)


def _worded(found: frozenset[Reading], relation: str, turned: bool) -> bool:
    return (relation, turned) in found


def _let_pass(found: frozenset[Reading], relation: str) -> bool:
    """A value under a wording that the table does not know, or knows as another kind of number."""
    said = {name for name, _ in found}
    return relation in _VALUES and (not said or (relation in _MONEY and bool(said & _MONEY)))


def _is_any(name: str, names: Sequence[str]) -> bool:
    return any(same_name(name, other) for other in names)


def _is_object(said: Said, objects: Sequence[str], year: int) -> bool:
    given = date_of(said.object, year)
    return any(
        same_value(said.object, said.number, said.unit, wanted) or same_date(given, date_of(wanted))
        for wanted in objects
    )


def _named_in_phrase(said: Said, wanted: Wanted) -> bool:
    mine = _is_any(said.subject, wanted.subjects) or _is_any(said.object, wanted.subjects)
    return mine and any(holds(tokens(said.phrase), tokens(name)) for name in wanted.objects)


def _dated_so(said: Said, wanted: Wanted) -> bool:
    """The moment is the claim's own time: (Quern, founded in, Bergen) of 2003."""
    mine = _is_any(said.subject, wanted.subjects) or _is_any(said.object, wanted.subjects)
    given = {said.start, said.end} - {"", "past"}
    return mine and any(same_date(day, date_of(name)) for day in given for name in wanted.objects)


@dataclass
class Count:
    """Of one kind, or of all. ``dated`` counts stated starts and ends of what was found, ``dated_right`` those kept."""

    items: int = 0
    claims: int = 0
    right: int = 0
    gold: int = 0
    found: int = 0
    dated: int = 0
    dated_right: int = 0
    wrong: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    misworded: int = 0

    @property
    def precision(self) -> float:
        """1 where nothing was claimed: nothing was wrong. `summary` shows recall beside it."""
        return self.right / self.claims if self.claims else 1.0

    @property
    def recall(self) -> float:
        return self.found / self.gold if self.gold else 1.0

    def add(self, other: Count) -> None:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


def score_item(item: Item, said: Sequence[Said]) -> Count:
    year = item.date.year
    count = Count(items=1, claims=len(said), gold=len(item.gold))
    for claim in said:
        if any(right(claim, wanted, item) for wanted in (*item.gold, *item.also)):
            count.right += 1
            continue
        ends = any(_states(claim, wanted, "any", frozenset(), year) for wanted in (*item.gold, *item.also))
        count.misworded += ends
        count.wrong.append(f"{item.key}: {claim}" + (" (ends right)" if ends else ""))
    for wanted in item.gold:
        mine = [claim for claim in said if right(claim, wanted, item)]
        if not mine:
            subject, relation, thing = wanted.subjects[0], " / ".join(wanted.relations), wanted.objects[0]
            count.missed.append(f"{item.key}: {subject} | {relation} | {thing}")
            continue
        count.found += 1
        for stated, given in ((wanted.start, {c.start for c in mine}), (wanted.end, {c.end for c in mine})):
            count.dated += bool(stated)
            count.dated_right += bool(stated) and any(_kept(one, stated) for one in given)
    return count


def _kept(given: str, stated: str) -> bool:
    return bool(given) if stated == "past" else same_date(given, stated)


@dataclass
class Score:
    """Of one part. ``twins_found`` are pairs whose plain twin's gold was found; ``modal`` are facts of the others."""

    kinds: dict[str, Count]
    languages: dict[str, Count] = field(default_factory=dict)
    pairs: int = 0
    twins_found: int = 0
    modal: list[str] = field(default_factory=list)
    twins_missed: list[str] = field(default_factory=list)

    @property
    def total(self) -> Count:
        total = Count()
        for count in self.kinds.values():
            total.add(count)
        return total


def score(part: Part, said: Mapping[str, Sequence[Said]]) -> Score:
    """`said` gives the claims that may become facts by item's key; a pair's are ``KEY/modal`` and ``KEY/plain``."""
    result = Score({})
    for item in part.items:
        count = score_item(item, said.get(item.key, ()))
        language = "zh" if CHINESE.search(item.text) else "en"
        result.kinds.setdefault(item.kind, Count()).add(count)
        result.languages.setdefault(language, Count()).add(count)
    for pair in part.pairs:
        key = pair.plain.key
        result.pairs += 1
        result.modal += [f"{key} ({pair.mode}): {claim}" for claim in said.get(f"{key}/modal", ())]
        twin = score_item(pair.plain, said.get(f"{key}/plain", ()))
        result.twins_found += twin.found == twin.gold
        result.twins_missed += twin.missed
    return result


def summary(opened: Score, held: Score) -> str:
    """The last line: shares of one, facts taken from sentences that state none, share of plain twins found."""
    twins = (opened.twins_found + held.twins_found) / (opened.pairs + held.pairs)
    return (
        f"claims: open_p={opened.total.precision:.3f} open_r={opened.total.recall:.3f}"
        f" held_p={held.total.precision:.3f} held_r={held.total.recall:.3f}"
        f" modal_facts={len(opened.modal) + len(held.modal)} twins_found={twins:.2f}"
    )


def lines(counts: Iterable[tuple[str, Count]]) -> list[str]:
    """Rows of a Markdown table: items, claims, precision, entries of gold, recall, times kept of those stated."""
    return [
        f"| {name} | {c.items} | {c.claims} | {c.precision:.3f} | {c.gold} | {c.recall:.3f}"
        f" | {c.dated_right}/{c.dated} |"
        for name, c in counts
    ]
