"""Lines that say what was edited: "Status changed from Open to Done", "Owner: A -> B", "Renamed A to B"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from substrate.extraction.builtin.drafts import Draft, text_value
from substrate.extraction.builtin.fields import Key, field_drafts, looks_like_name, named, read_key, tells_of_thing
from substrate.extraction.builtin.frames_values import PLAIN_ATTRIBUTE
from substrate.extraction.builtin.intervals import handover_end, interval
from substrate.extraction.builtin.roles import RELATION_OF_ROLE, ROLE_MODIFIERS, is_role
from substrate.extraction.builtin.terms import Term
from substrate.extraction.times import Anchor, TimeMention, find_times

_CHANGED = re.compile(
    r"^(?:the )?(?P<key>[A-Za-z][A-Za-z ]{1,30}?) (?:(?:was|has been|is) )?"
    r"(?:changed|moved|raised|lowered|set|reset|reassigned|updated|increased|decreased|bumped|switched|reduced|modified)"
    r"(?: from (?P<old>.+?))? to (?P<new>.+?)(?: by (?P<who>[A-Z][\w .'’-]+?))?[.;]?$",
    re.IGNORECASE,
)
_ARROW = re.compile(r"^(?P<old>[^<>]*?)\s*(?:->|=>|→|⇒)\s*(?P<new>[^<>]+)$")
_RENAMED = re.compile(
    r"^Renamed? (?:the )?(?:(?:module|service|project|package|product|team|table|system|tool|component|department|"
    r"company|app|application|repository) )?[`\"“]?(?P<old>[\w.-]+(?: [A-Z][\w.-]*)*)[`\"”]? (?:to|as) "
    r"[`\"“]?(?P<new>[\w.-]+(?: [A-Z][\w.-]*)*)[`\"”]?[.;]?$"
)
_BUMPED = re.compile(
    r"\b(?:bump(?:ed|s|ing)?|upgrad(?:ed?|es|ing)|updat(?:ed?|es|ing)|downgrad(?:ed?|es|ing)) (?:the )?"
    r"(?P<name>(?!(?:from|to)\b)[\w.+-]+(?: [\w.+-]+){0,2}?)(?: from (?:version |v)?(?P<old>\d+(?:\.\d+)*))?"
    r" to (?:version |v)?(?P<new>\d+(?:\.\d+)*)\b",
    re.IGNORECASE,
)
_WENT_UP = re.compile(
    r"(?P<name>[A-Za-z][\w.+]*(?:-[\w.+]+)*) (?:(?:was|has been) )?(?:bumped|upgraded|updated|downgraded)"
    r"(?: from (?:version |v)?(?P<old>\d+(?:\.\d+)+))? to (?:version |v)?(?P<new>\d+(?:\.\d+)+)\b"
)
_BY = re.compile(
    r"(?P<what>[A-Z][^().]{3,60}) \((?P<did>contributed|reported|requested|written|added|fixed) by "
    r"(?P<who>[A-Z][^()]{3,40})\)?[.;]?"
)
_NO_NAMES = frozenset("it which that this been be and then were they we later now".split())
_OF_A_RECORD = frozenset(
    "status state priority severity assignee reporter owner maintainer milestone component estimate type resolution "
    "sprint stage phase lead sponsor reviewer approver category classification".split()
) | {"fix version", "due date", "target date", "target version", "story points"}


def edit_drafts(text: str, context: Term | None, anchor: Anchor | None, dated: str = "") -> list[Draft]:
    """What a line of a log says was edited, of `context` or of what it names; `dated` is the date it stands under."""
    bare, times = _bare(text, anchor)
    times = times or find_times(dated, anchor)
    if (m := _RENAMED.match(bare)) is not None:
        time = interval(times, "start")
        return [
            Draft(named(m.group("old")), "known as", text_value(m.group("new").rstrip(".")), time, wording="renamed")
        ]
    if (m := _BUMPED.search(bare)) is not None and len(bare.split()) < 14:
        return _versions(m, times)
    if (m := _WENT_UP.search(bare)) is not None and m.group("name") not in _NO_NAMES and len(bare.split()) < 14:
        return _versions(m, times)
    if (m := _BY.fullmatch(bare)) is not None and looks_like_name(m.group("who")):
        return [
            Draft(
                named(m.group("who"), "person"),
                m.group("did").lower(),
                named(m.group("what")),
                interval(times, "event"),
            )
        ]
    m = _CHANGED.match(bare)
    key = read_key(m.group("key")) if m is not None else None
    if m is None or key is None or context is None or key.plain not in _OF_A_RECORD:
        return []
    return changed_field(context, key, m.group("old") or "", m.group("new"), times, anchor)


def _versions(m: re.Match[str], times: Sequence[TimeMention]) -> list[Draft]:
    thing = named(m.group("name"))
    found = [Draft(thing, "version", text_value(m.group("new")), interval(times, "start"), wording="version")]
    if m.group("old"):
        found.append(Draft(thing, "version", text_value(m.group("old")), handover_end(times), wording="version"))
    return found


def changed_field(
    subject: Term,
    key: Key,
    old: str,
    new: str,
    times: Sequence[TimeMention],
    anchor: Anchor | None,
) -> list[Draft]:
    """`key` of `subject` is `new` from when `old` ends."""
    begun = field_drafts(subject, key, new.strip(' `".'), interval(times, "start"), anchor)
    ended = field_drafts(subject, key, old.strip(' `".'), handover_end(times), anchor) if old.strip() else []
    return begun + ended


def arrow(value: str) -> tuple[str, str] | None:
    """(old, new) of "A -> B"."""
    m = _ARROW.match(value)
    return (m.group("old").strip(), m.group("new").strip()) if m is not None else None


def owner_in_label(label: str) -> tuple[Term, Key] | None:
    """ "Search service owner" → (Search service, owner): a name before a role or an attribute that we know."""
    words = label.split()
    if is_role(label) and all(w.lower() in ROLE_MODIFIERS for w in words[:-1]):
        return None
    for n in (2, 1):
        if n == 2 and " ".join(words[-2:]).lower() not in {**RELATION_OF_ROLE, **PLAIN_ATTRIBUTE}:
            continue
        key = read_key(" ".join(words[-n:]))
        owner = " ".join(words[:-n])
        if not owner or not tells_of_thing(key) or not words[-1][0].islower():
            continue
        first = owner.split()[0]
        if (
            len(owner.split()) > 1
            and first[0].isupper()
            and (looks_like_name(owner) or looks_like_name(first))
            and _mostly_named(owner)
        ):
            return named(owner), key
    return None


def _mostly_named(words: str) -> bool:
    from substrate.extraction.builtin.vocabulary import KIND_NOUNS

    *first, last = words.split()
    return (
        all(w[0].isupper() or w[0].isdigit() for w in first)
        and (last[0].isupper() or last in KIND_NOUNS)
        and bool(first or last[0].isupper())
    )


def _bare(text: str, anchor: Anchor | None) -> tuple[str, list[TimeMention]]:
    mentions = list(find_times(text, anchor))
    rest = text
    for m in reversed(mentions):
        rest = rest[: m.start] + " " + rest[m.end :]
    rest = re.sub(r"[\[(]\s*[\])]", " ", rest)
    return re.sub(r"\s+", " ", rest).strip(" -–—:·|,[]()"), mentions
