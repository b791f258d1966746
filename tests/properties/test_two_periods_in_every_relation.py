"""Two statements in each of Allen's thirteen relations, their ends left open or unknown, or their starts unsaid.

==========================================  =====================================================================
a statement's period                        then it is held
==========================================  =====================================================================
start and end                               for just as long, whatever the other says
start alone                                 until the other's later start, if both may not hold at once
start, and "it ended" of some date          until that date, or until the other's later start before it
end alone                                   until then; since the other's last day before it, if both may not hold at
                                            once
two of one triple                           as the union of the two; an end ends what was open, and an open stretch
                                            ends no later than the next begins
==========================================  =====================================================================

Said in one transaction, in two, or in two the other way round: the same. What is held is read day by day.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from substrate.extraction.claims import ClaimTime
from tests.properties.ledger_play import Play, Said, day

RELATIONS = {
    "before": ((10, 20), (30, 40)),
    "meets": ((10, 20), (20, 40)),
    "overlaps": ((10, 25), (15, 40)),
    "starts": ((10, 20), (10, 40)),
    "during": ((20, 30), (10, 40)),
    "finishes": ((20, 40), (10, 40)),
    "equal": ((10, 40), (10, 40)),
}
RELATIONS |= {f"{name}, turned round": (b, a) for name, (a, b) in RELATIONS.items() if name != "equal"}
KINDS = ("dated", "open", "unknown end", "no start")
CASES = [
    (relation, one, other)
    for relation, one, other in itertools.product(RELATIONS, KINDS, KINDS)
    if "dated" in (one, other) or one == other
]
DAYS = range(60)
ALWAYS, NEVER = float("inf"), -float("inf")


def said(name: str, thing: str, period: tuple[int, int], kind: str) -> Said:
    """The period in the words of its kind; a document that says it is over says so on the period's last day."""
    start, end = period
    what = Said(name, "leads", thing, key=f"{thing}:{name}:{period}:{kind}", quote=f"{period} {kind}")
    if kind == "unknown end":
        time = ClaimTime(valid_from=day(start), valid_from_precision="day", valid_to_precision="unknown")
        return replace(what, attested=end, time=time)
    return replace(what, start=None if kind == "no start" else start, end=None if kind == "open" else end)


def rival(period, kind, other, other_kind):
    """[from, to) of a statement beside one that excludes it."""
    (start, end), (a, b) = period, other
    follows = a if other_kind != "no start" and a > start else ALWAYS
    if kind == "open":
        return start, follows
    if kind == "unknown end":
        return start, min(end, follows)
    if kind == "no start":
        ended = b if other_kind in ("dated", "no start") and b < end else None
        began = a + 1 if other_kind != "no start" and a + 1 < end else NEVER
        return (began if ended is None else ended), end
    return start, end


def on(stretches) -> set[int]:
    return {d for d in DAYS if any(a <= d < b for a, b in stretches)}


@pytest.fixture(scope="module")
def things():
    return {case: f"Thing {n}" for n, case in enumerate(CASES)}


def days_held(play: Play) -> dict[tuple[str, str], set[int]]:
    found: dict[tuple[str, str], set[int]] = {}
    for row in play.grid(list(DAYS))[play.seq()]:
        found.setdefault((row["subject"], row["object"]), set()).update(row["days"])
    return found


def told(play: Play, first: list[Said], second: list[Said], how: str) -> dict[tuple[str, str], set[int]]:
    if how == "one transaction":
        play.say(*first, *second)
    else:
        for part in (first, second) if how == "the first first" else (second, first):
            play.say(*part)
    return days_held(play)


HOW = ("one transaction", "the first first", "the second first")


def test_all_thirteen_relations_are_there():
    def relation(a, b):
        signs = [(x > y) - (x < y) for x in a for y in b]
        return tuple(signs)

    assert len({relation(a, b) for a, b in RELATIONS.values()}) == len(RELATIONS) == 13


@pytest.mark.parametrize("how", HOW)
def test_of_two_that_exclude_each_other(database, things, how):
    first = [said("Ann", things[c], RELATIONS[c[0]][0], c[1]) for c in CASES]
    second = [said("Bo", things[c], RELATIONS[c[0]][1], c[2]) for c in CASES]
    found = told(Play.begin(database), first, second, how)
    wrong = {}
    for case in CASES:
        (a, b), (_, one, other) = RELATIONS[case[0]], case
        expected = on([rival(a, one, b, other)]), on([rival(b, other, a, one)])
        got = found.get(("Ann", things[case]), set()), found.get(("Bo", things[case]), set())
        if got != expected:
            wrong[case] = [(sorted(g), sorted(e)) for g, e in zip(got, expected, strict=True) if g != e]
    assert wrong == {}


@pytest.mark.parametrize("how", HOW)
def test_of_two_of_one_triple(database, things, how):
    dated = [c for c in CASES if c[1:] in (("dated", "dated"), ("open", "dated"), ("dated", "open"))]
    first = [said("Ann", things[c], RELATIONS[c[0]][0], c[1]) for c in dated]
    second = [said("Ann", things[c], RELATIONS[c[0]][1], c[2]) for c in dated]
    found = told(Play.begin(database), first, second, how)
    wrong = {}
    for case in dated:
        periods = RELATIONS[case[0]]
        expected = on(periods) if case[1:] == ("dated", "dated") else on(opened(periods, case))
        if found[("Ann", things[case])] != expected:
            wrong[case] = sorted(found[("Ann", things[case])]), sorted(expected)
    assert wrong == {}


def opened(periods, case):
    """One of the two is open: an end said inside it ends it, a later start begins another stretch, a start alone that
    falls inside a dated stretch is a restatement of it."""
    (start, _), (a, b) = periods if case[1] == "open" else periods[::-1]
    if start > a:
        return [(a, b)] if start < b else [(a, b), (start, ALWAYS)]
    return [(start, b)]


def test_it_is_over_or_it_began_is_refined_inside_the_last_day_alone(database):
    """The stated end is a day; a successor on that very day says where in it, one a day earlier does not."""
    play = Play.begin(database)
    play.say(Said("Ann", "leads", "Xi", 10, 21), Said("Bo", "leads", "Xi", 20))
    play.say(Said("Ann", "leads", "Yo", 10, 21), Said("Bo", "leads", "Yo", 19))
    found = days_held(play)
    assert max(found["Ann", "Xi"]) == 19
    assert max(found["Ann", "Yo"]) == 20
