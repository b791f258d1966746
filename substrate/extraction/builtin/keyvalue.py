"""Key-value lines and bullets under a heading: "Lead: Li Si", "- Project X: Li Si"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from substrate.extraction.builtin import vocabulary as v
from substrate.extraction.builtin.drafts import Draft
from substrate.extraction.builtin.fields import (
    NAME_KEYS,
    PERSON_KEYS,
    SILENT_KEYS,
    START_KEYS,
    Key,
    field_drafts,
    field_time,
    is_empty,
    joined_time,
    kind_of_any,
    looks_like_name,
    named,
    read_key,
    speaks_of_person,
)
from substrate.extraction.builtin.names import Lexicon, names_in
from substrate.extraction.builtin.roles import RELATION_OF_ROLE, is_role
from substrate.extraction.builtin.sentences import Line
from substrate.extraction.builtin.terms import Term
from substrate.extraction.claims import UNDATED, ClaimTime, Drop
from substrate.extraction.times import Anchor, find_times

_PAIR = re.compile(r"^(?P<key>[^:：|=]{1,40}?)\s*(?:[:：](?!//)|\s=\s)\s*(?P<value>\S.*)$")
_NOT_A_KEY = re.compile(
    r"^(?:correction|corrected|erratum|update|note|there|in|on|since|until|from\s|as of|effective|it|he|"
    r"she|the following)\b|"
    r"^(?:更正|勘误|注|说明)",
    re.IGNORECASE,
)
_OF = re.compile(
    r"^(?P<noun>[A-Za-z][a-z ]+?) of (?:the )?(?P<owner>[A-Z].*)$|^(?P<owner2>[A-Z].*?)['’]s? (?P<noun2>[a-z ]+)$"
)
_STRIP = re.compile(r"[*_`]+")
_PLURAL_HEADINGS = {
    "salaries": "salary", "locations": "located in", "offices": "located in", "headquarters": "headquarters",
    "budgets": "budget",
    "titles": "job title", "job titles": "job title", "roles": "job title", "positions": "job title",
    "employers": "employer",
    "departments": "department", "teams": "team", "prices": "price", "reporting lines": "reports to",
    "assignments": "works on",
    "sites": "located in",
}  # fmt: skip
_GENERIC_CHINESE = {
    "负责人": "lead",
    "项目负责人": "lead",
    "各项目负责人": "lead",
    "薪资": "salary",
    "工资": "salary",
    "职位": "job title",
    "地点": "location",
}


@dataclass(frozen=True, slots=True)
class Pair:
    """One "key: value" line."""

    line: Line
    key: Key
    value: str


@dataclass(slots=True)
class Record:
    """Neighbouring pairs that speak of one thing."""

    heading: str
    pairs: list[Pair] = field(default_factory=list)


def pair_of(line: Line) -> Pair | None:
    """The line as a pair, or None when it is prose."""
    text = line.text
    m = _PAIR.match(text)
    if m is None:
        return None
    label, value = _STRIP.sub("", m.group("key")).strip(), _STRIP.sub("", m.group("value")).strip()
    if not label or not value or re.fullmatch(r"[\d\s:.\-/\[\]]+", label) or find_times(label):
        return None
    key = read_key(label)
    if _NOT_A_KEY.match(label) and not (key.plain in START_KEYS and find_times(value)):
        return None
    if is_prose(key, value):
        return None
    return Pair(line, key, value)


def is_prose(key: Key, value: str) -> bool:
    """A value that is a sentence of its own makes the key a mere lead-in."""
    if re.search(r"[\u4e00-\u9fff]", value):
        return len(value) > 24 or bool(re.search(r"[，。；]", value))
    words = value.split()
    return len(words) > 9 or len(key.written.split()) > 5 or (value.endswith(".") and len(words) > 4)


def record_drafts(record: Record, context: Term | None, anchor: Anchor | None) -> list[tuple[Pair, Draft | Drop]]:
    """Claims and drops of one record. `context` is the thing the headings name, if they name one."""
    listed = _list_key(record.heading)
    subject, first = _subject(record, context)
    sides: dict[str, ClaimTime] = {}
    for pair in record.pairs:
        if found := field_time(pair.key, pair.value, anchor):
            sides.setdefault(*found) if found[0] != "date" else None
    time = joined_time(sides) if sides else UNDATED
    out: list[tuple[Pair, Draft | Drop]] = []
    for pair in record.pairs:
        if pair is first or field_time(pair.key, pair.value, anchor) or is_empty(pair.value):
            continue
        if listed is not None and looks_like_name(pair.key.written) and pair.key.plain not in SILENT_KEYS:
            who = named(pair.key.written, "person" if listed.plain in {"salary", "job title", "reports to"} else None)
            out.extend((pair, d) for d in field_drafts(who, listed, pair.value, time, anchor))
        elif (of := _OF.match(pair.key.written)) is not None and looks_like_name(
            of.group("owner") or of.group("owner2")
        ):
            owner = named(of.group("owner") or of.group("owner2"))
            key = Key((of.group("noun") or of.group("noun2")).lower(), pair.key.unit, pair.key.written)
            out.extend((pair, d) for d in field_drafts(owner, key, pair.value, time, anchor))
        elif subject is not None:
            out.extend((pair, d) for d in field_drafts(subject, pair.key, pair.value, time, anchor))
        elif pair.key.plain not in SILENT_KEYS:
            out.append((pair, Drop("no_subject", pair.key.written, pair.line.text)))
    return out


def _subject(record: Record, context: Term | None) -> tuple[Term | None, Pair | None]:
    for pair in record.pairs:
        kind = NAME_KEYS.get(pair.key.plain)
        if kind is None or not looks_like_name(pair.value):
            continue
        if pair.key.plain in PERSON_KEYS or context is None:
            person = speaks_of_person(p.key for p in record.pairs)
            exact = None if pair.key.plain == "name" and not person else kind
            return named(pair.value, exact), pair
    return context, None


def starts_record(pair: Pair, record: Record) -> bool:
    """A second "Name:" begins the next record."""
    return pair.key.plain in PERSON_KEYS and any(p.key.plain == pair.key.plain for p in record.pairs)


def _list_key(heading: str) -> Key | None:
    """What a list heading says of each item: "Team leads" → lead, "Salaries (CNY)" → salary."""
    key = read_key(heading)
    if heading.strip() in _GENERIC_CHINESE:
        return Key(_GENERIC_CHINESE[heading.strip()], key.unit, heading)
    if key.plain in _PLURAL_HEADINGS:
        return Key(_PLURAL_HEADINGS[key.plain], key.unit, heading)
    words = key.plain.split()
    if not words or not words[-1].endswith("s") or len(words) > 3:
        return None
    single = " ".join([*words[:-1], words[-1][:-1]])
    last = words[-1][:-1]
    if single in RELATION_OF_ROLE or is_role(single):
        return Key(single if single in RELATION_OF_ROLE else last, key.unit, heading)
    return None


def heading_subject(headings: Sequence[str], lexicon: Lexicon) -> Term | None:
    """The thing the innermost telling heading names: "Project Aurora charter" → Project Aurora."""
    for heading in headings:
        text = _bare_heading(heading)
        if not text:
            continue
        if re.search(r"[\u4e00-\u9fff]", text):
            if 2 <= len(text) <= 14 and kind_of_any(text) is not None:
                return Term("name", text, kind_of_any(text))
            continue
        spans = names_in(text, (), lexicon, frozenset())
        whole = re.sub(r"^(?:The|the)\s+", "", text)
        if len(spans) == 1 and spans[0].kind == "name" and spans[0].text == whole and _is_proper(whole, lexicon):
            return Term("name", whole, spans[0].guess)
    return None


def _bare_heading(heading: str) -> str:
    text = _STRIP.sub("", heading).strip().strip(":：#")
    if m := re.match(
        r"^(?:profile|record|charter|memo|note|fact sheet|about|overview|employee|project file)\s*(?:of|"
        r"for|on|:|-|–)\s*(.+)$",
        text,
        re.I,
    ):
        text = m.group(1)
    text = re.sub(
        r"(?:项目)?(?:章程|备忘录|简介|档案|记录|说明|纪要|报告|概况)$",
        lambda m: "项目" if m.group().startswith("项目") else "",
        text,
    )
    text = re.split(r"\s+[-–—|]\s+|:\s", text)[0]
    words = text.split()
    while words and words[-1].lower().strip(".,") in v.TITLE_SUFFIXES | v.MONTHS_AND_DAYS:
        words.pop()
    while len(words) > 1 and words[-1].lower() in {"team", "project", "employee", "personnel"} and words[-1].islower():
        words.pop()
    return " ".join(words)


def _is_proper(text: str, lexicon: Lexicon) -> bool:
    words = [w.lower() for w in text.split()]
    if kind_of_any(text) is not None and len(words) > 1:
        return not all(w in v.TITLE_SUFFIXES | v.TEAM_WORDS | v.PROJECT_WORDS for w in words)
    return any(not lexicon.knows(w) for w in words)
