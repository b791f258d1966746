"""A claim before it knows its quote, and the sentence's context that all frames share."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from substrate.extraction.builtin.intervals import UNKNOWN_END
from substrate.extraction.builtin.roles import plain_title, read_role
from substrate.extraction.builtin.terms import CONTEXT, Term, is_deputy
from substrate.extraction.claims import UNDATED, Claim, ClaimTime, Drop, Mood, Value

PERIOD = re.compile(r"(year|annum|month|week|day|hour|annually|monthly|yearly|p\.a\.|[年月周日])$", re.IGNORECASE)
_PERIODS = {
    "annum": "year",
    "annually": "year",
    "yearly": "year",
    "p.a.": "year",
    "monthly": "month",
    "年": "year",
    "月": "month",
    "周": "week",
    "日": "day",
} | {p: p for p in ("year", "month", "week", "day", "hour")}


_EMPTY_ALONE = frozenset(
    "lead head chair part member unit division department team group branch component subsidiary customer "
    "client partner "
    "parent capital boss captain leader child son daughter father mother brother sister wife husband".split()
)
"""Roles that say nothing without "of"."""
CONTEXTUAL = frozenset(("leads", "chairs", "manages", "sponsors", "owns", "advises"))
_OF_CONTEXT = frozenset(
    ("lead", "leader", "head", "project lead", "project leader", "project head", "team lead", "team leader", "chair",
     "project manager", "sponsor", "project sponsor", "project owner", "programme lead", "program lead")
)  # fmt: skip
"""Said without "of", these are of what the document is about."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What will be a claim once the subject is resolved and the quote is known."""

    subject: Term
    phrase: str
    object: Term | Value
    time: ClaimTime = UNDATED
    mood: Mood | None = None
    subject_kind: str | None = None
    object_kind: str | None = None
    qualifiers: tuple[tuple[str, str], ...] = ()
    confidence: float = 0.9
    wording: str = ""
    denies: bool = False
    corrects: bool = False


@dataclass(slots=True)
class Findings:
    """What one sentence yields."""

    drafts: list[Draft] = field(default_factory=list)
    drops: list[Drop] = field(default_factory=list)
    about: Term | None = None
    """The subject of the main clause."""

    def drop(self, code: str, detail: str, example: str) -> None:
        self.drops.append(Drop(code, detail, example))


def text_value(text: str) -> Value:
    return Value(text)


def role_drafts(
    holder: Term, role: Term, org: Term | None, time: ClaimTime, mood: Mood | None, wording: str = ""
) -> list[Draft]:
    """What "holder is role of org" states.

    A role that is a relation (lead, owner, member …) relates holder and organisation. Any other title is a
    value of "job title", and with an organisation the holder also "works for" it, unless the role has ended:
    who is no longer its CTO may still work there.
    """
    reading = read_role(role.text)
    org = org or role.owner
    title = reading.title
    opening = org is not None and org.text == "its" and org.token is not None and org.token.i == 0
    nobody = org is not None and org.sort == "pronoun" and not opening
    if nobody and (reading.relation is None or (org is not None and org.text in {"our", "their"})):
        org = None
    if title is not None and is_deputy(title):
        reading = replace(reading, relation=None)
    if org is None and reading.relation in CONTEXTUAL and title is not None and title.lower() in _OF_CONTEXT:
        org = CONTEXT
    if holder.sort == "thing":
        return []
    if reading.relation and org is not None:
        subject, target = (org, holder) if reading.mirrored else (holder, org)
        kinds = _kinds(reading.relation)
        return [Draft(subject, reading.relation, target, time, mood, *kinds, wording=wording or role.text)]
    if reading.relation and title is not None and title.lower() in _EMPTY_ALONE:
        return []
    if title is None or holder.kind in {"organization", "place", "project", "product"}:
        return []
    if (party := _PARTY.match(title)) is not None:
        supplying = org is not None and party.group() in {"supplier", "vendor", "provider"}
        return [Draft(holder, "supplies", org, time, mood, wording=title)] if org is not None and supplying else []
    if _OF_FIRMS.match(title):
        return []
    return _title_drafts(holder, title, org, time, mood, wording or role.text)


def _title_drafts(
    holder: Term, title: str, org: Term | None, time: ClaimTime, mood: Mood | None, wording: str
) -> list[Draft]:
    if org is not None and title.endswith(f" {org.text}"):
        org = None
    value = text_value(plain_title(title))
    qualifiers = (("of", org.text),) if org is not None and org.sort == "name" else ()
    found = [Draft(holder, "job title", value, time, mood, "person", None, qualifiers, wording=wording)]
    ended = (time.valid_to is not None and time.valid_from is None) or time.valid_to_precision == "unknown"
    if org is not None and org.kind in {None, "organization"} and not ended:
        phrase = "member of" if org.text.lower().split()[-1] in _NO_EMPLOYERS else "works for"
        found.append(Draft(holder, phrase, org, time, mood, "person", "organization", wording=wording))
    return found


_PARTY = re.compile(r"(?:supplier|vendor|provider|customer|distributor|contractor|carrier|landlord|tenant)(?= for |$)")
"""Sides of a contract: no titles either, whatever they are for."""
_OF_FIRMS = re.compile(
    r"(?:leading|major|global|large|largest|independent|privately|listed)\b|(?:[a-z-]+ )*(?:developer|maker|operator|"
    r"provider|manufacturer|distributor|producer|retailer|supplier|vendor|builder|owner) of [a-z]"
)
"""What a firm is called beside its name, and no title that a person holds."""
_NO_EMPLOYERS = frozenset(("team", "squad", "crew"))


def _kinds(phrase: str) -> tuple[str | None, str | None]:
    if phrase in {"leads", "chairs", "directs", "coordinates"}:
        return "person", None
    if phrase == "works for":
        return "person", "organization"
    if phrase == "member of":
        return None, "organization"
    return None, None


def former(time: ClaimTime) -> ClaimTime:
    """The same with its end unknown, for what a text calls former without saying until when."""
    if time.valid_to is not None:
        return time
    return replace(time, valid_to_precision="unknown") if time.valid_from is not None else UNKNOWN_END


def claim_of(draft: Draft, subject: Term, target: Term | None, quote: str, start: int) -> Claim:
    value = draft.object if isinstance(draft.object, Value) else None
    per = PERIOD.search(value.raw) if value is not None and value.datatype == "money" else None
    period = (("per", _PERIODS[per.group(1).lower()]),) if per else ()
    return Claim(
        subject=subject.text,
        phrase=draft.phrase,
        quote=quote,
        quote_start=start,
        quote_end=start + len(quote),
        object=target.text if target is not None else None,
        value=value,
        subject_kind=subject.kind or draft.subject_kind,
        object_kind=(target.kind or draft.object_kind) if target is not None else None,
        time=draft.time,
        mood=draft.mood,
        denies=draft.denies,
        corrects=draft.corrects,
        qualifiers=draft.qualifiers + period,
        confidence=draft.confidence,
        wording=draft.wording,
    )
