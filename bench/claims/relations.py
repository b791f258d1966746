"""Which relation of the benchmark's closed list an extractor's wording stands for, and in which direction.

The table is of the scorer alone and is no measure of an extractor: a wording that it lacks and that is right belongs
in it. What was wanted at both ends but worded in a way the table lacks is counted and shown as such.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import yaml

Reading = tuple[str, bool]
"""A relation, and whether subject and object stand the other way about."""

TABLE = Path(__file__).with_name("relations.yaml")
TITLES = frozenset(
    "head director manager chief officer president secretary chair chairman chairwoman treasurer engineer ceo cfo cto"
    " coo vp lead leader founder chemist actuary auditor counsel partner bursar admin master trustee".split()
)
_ZH_TITLES = tuple("总监 经理 主任 董事长 总裁 院长 科长 主管 专员 工程师 负责人 代表 合伙人".split())
_FORMS = frozenset(
    "is are was were be been being has have had having now currently still also since the a an its their his her our"
    " again today recently".split()
)
TITLED = ("role", "works_for", "leads", "member_of", "responsible_for")
RELATIONS = (
    *("works_for", "role", "reports_to", "member_of", "located_in", "headquartered_in", "owns", "acquired"),
    *("subsidiary_of", "founded", "part_of", "supplies", "customer_of", "partner_of", "price", "amount", "headcount"),
    *("version", "status", "responsible_for", "leads", "uses", "replaces", "renamed", "born", "contact", "deadline"),
    *("started", "ended", "makes", "approved", "attribute"),
)


def _root(word: str) -> str:
    """A word without its inflection, roughly: both sides of a comparison go through this."""
    for ending, stem in (("ies", "y"), ("ied", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""), ("e", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)] + stem
            break
    return word.removesuffix("e") if len(word) > 3 else word


def _words(phrase: str) -> tuple[str, ...]:
    return tuple(re.findall(r"[a-z0-9]+|[\u4e00-\u9fff]", phrase.casefold().replace("co-", "co")))


def _key(phrase: str) -> tuple[str, ...]:
    words = _words(phrase)
    bare = [word for word in words if word not in _FORMS]
    return tuple(_root(word) for word in bare or words)


@cache
def _wordings() -> dict[tuple[str, ...], set[Reading]]:
    table = yaml.load(TABLE.read_text(encoding="utf-8"), yaml.CSafeLoader)
    if set(table) != set(RELATIONS):
        raise ValueError(f"{TABLE.name}: not the relations of the benchmark: {sorted(set(table) ^ set(RELATIONS))}")
    found: dict[tuple[str, ...], set[Reading]] = {}
    for relation, halves in table.items():
        for half, turned in (("said", False), ("turned", True)):
            for wording in halves.get(half, ()):
                found.setdefault(_key(str(wording)), set()).add((relation, turned))
    return found


@cache
def readings(phrase: str) -> frozenset[Reading]:
    """What `phrase` may stand for; empty where the table has no part of it."""
    words, table = _key(phrase), _wordings()
    for length in range(len(words), 0, -1):
        hits = [table.get(words[at : at + length]) for at in range(len(words) - length + 1)]
        found = frozenset(reading for hit in hits if hit for reading in hit)
        # A single weak word inside a longer phrase says nothing: "at" in "signs at the gate of".
        if found and (length == len(words) or length > 1 or len(words) <= 3):
            return found | _titled(phrase)
    return _titled(phrase)


def _titled(phrase: str) -> frozenset[Reading]:
    """A phrase that names a post ("finance director of") says who works where and as what, either way about."""
    if TITLES & set(_words(phrase)) or any(title in phrase for title in _ZH_TITLES):
        return frozenset((relation, turned) for relation in TITLED for turned in (False, True))
    return frozenset()
