"""What stands beside an English date and says that it is none: a name, a recurrence, a day that cannot be."""

from __future__ import annotations

import re

from substrate.extraction.times.english_governors import Governed
from substrate.extraction.times.rules import Core

_NAMED_DAY = re.compile(
    r"\b(?:black|good|cyber|ash|palm|easter|super|every|each|any|first|second|third|fourth|fifth|"
    r"[1-5](?:st|nd|rd|th)) $",
    re.IGNORECASE,
)
_COUNTED_ALREADY = re.compile(
    r"(?:[0-9]|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|a|half))(?: (?:to|or) |-| - )$", re.IGNORECASE
)
_EVERYDAY = ("may", "march", "mar")
NUMBERED = re.compile(
    r"(?:pages?|pp|p|no|nos|rooms?|ports?|items?|lines?|rows?|issues?|part|model|tel|phone|fax|code|id|rfc|iso|"
    r"section|version|build|numbers?|ticket|article|chapter|figures?|table|steps?|between|of)\.? {0,2}$",
    re.IGNORECASE,
)
_YEAR_FOLLOWS = re.compile(r",? {0,2}[0-9]{4}(?![0-9:])| [0-9]{2}(?![0-9:./])(?! ?[ap]\.?m)", re.IGNORECASE)
_DAY_PRECEDES = re.compile(r"(?<![0-9.,:/$€£-])[0-9]{1,2}(?:st|nd|rd|th)?(?: of)? $", re.IGNORECASE)
_CALLED = re.compile(r"\b(?:called|named|nicknamed|dubbed|titled|entitled)(?: (?:him|her|it|them|me|us))? [\"'“‘]?$")
_IS_A_NAME = re.compile(r" (?:is|was) (?:the|a|an|her|his|its) (?:name|nickname|title|band|song|film|brand|novel)\b")
_CAPITAL_BEFORE = re.compile(r"(?:^|[^A-Za-z])(?P<word>[A-Z][A-Za-z'-]*) $")
_LEADS_IN = frozenset(
    "On Last Next This By From Since Until Till Before After Early Late Mid And Or But The In At For Of To Starting "
    "Beginning Effective Through During Due Date Dated Monday Tuesday Wednesday Thursday Friday Saturday Sunday Mon "
    "Tue Tues Wed Thu Thur Thurs Fri Sat Sun Only Then Past Coming Upcoming Following Previous Every Issued Published "
    "Updated Signed Closed Opened Filed Released Reported Held Yesterday Today Tomorrow".split()
)
_COMPANY_AFTER = re.compile(
    r" (?:Ltd|Limited|Inc|LLC|GmbH|AG|PLC|Corp|Group|FM|TV|Radio|Show|Times|News|Magazine|Fox|Club|Studios?|Records)\b"
)
_ONE_WORD = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|today|tonight|yesterday|tomorrow|now", re.IGNORECASE
)
_TITLED = re.compile(r"(?:Day|Week|Year) (?:After|Before) [A-Z][a-z]+")
_ATTRIBUTE = re.compile(
    r" (?!morning|afternoon|evening|night|before|after|and|or|at|in|of|was|is|he|she|it|they|we|i|you|when|that|which|"
    r"to|until|by|from|the|a|an)[a-z]{3,}"
)
_DAY = r"(?:mon|tue|tues|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:day)?s?"
WEEKDAY = re.compile(_DAY, re.IGNORECASE)
_AND_ON = re.compile(rf" ?(?:-|to|through|thru|until) ?{_DAY}\b", re.IGNORECASE)
_FROM_ON = re.compile(rf"\b{_DAY} ?(?:-|to|through|thru|until) ?$", re.IGNORECASE)
_WILL = re.compile(r"\b(?:will|going to|expects?|plans?|intends?|promised)\b|'ll\b", re.IGNORECASE)
_IF = re.compile(r"\b(?:if|unless|must|may|should|any|every|each)\b", re.IGNORECASE)
_SHORT_DAY = re.compile(r"sun|sat|mon|wed|fri|tue|thu", re.IGNORECASE)
_OWED = re.compile(r"\b(?:due|payable|respond|reply|answer|refund(?:ed)?|returned?|deliver(?:ed|y)?|notice|paid|pay)$")
_FLOORS = re.compile(r"in (?:the )?$", re.IGNORECASE)


def doubtful(text: str, core: Core, governed: Governed) -> bool:
    """Whether what stands beside the date says that it is none, or not one that can be counted."""
    before = text[max(0, core.start - 60) : core.start]
    return bool(
        governed.refused
        or _COUNTED_ALREADY.search(before[-12:])
        or _contradicted(text, core)
        or _NAMED_DAY.search(before[-8:])
        or _named(text, core, before)
        or _numbered_on(text, core, governed)
        or _weekly(text, core, governed)
    )


def _contradicted(text: str, core: Core) -> bool:
    """Whether a day or a year stands beside the date that cannot belong to it ("30 February 2024")."""
    if "mon" not in core.match.re.groupindex or core.match["mon"] is None:
        return False
    doubted = core.rule.yearless and core.match[0][0].isdigit() and core.match["mon"].lower() in _EVERYDAY
    if doubted and NUMBERED.search(text[max(0, core.start - 12) : core.start]):
        return True
    if core.rule.yearless and _YEAR_FOLLOWS.match(text, core.end):
        return True
    return core.match.start("mon") == core.start and bool(
        _DAY_PRECEDES.search(text[max(0, core.start - 9) : core.start])
    )


def _weekly(text: str, core: Core, governed: Governed) -> bool:
    """ "Open Monday to Friday" is every week; "from Monday to Friday" and the two alone may be one."""
    if not WEEKDAY.fullmatch(text, core.start, core.end):
        return False
    on = _AND_ON.match(text, core.end)
    if on and governed.shape is None:
        return (core.start, on.end()) != (0, len(text))
    return bool(_FROM_ON.search(text[max(0, core.start - 16) : core.start]))


def _named(text: str, core: Core, before: str) -> bool:
    """Whether the words are part of a name ("Joe Friday", "Tomorrow Ltd", "20th Century Fox")."""
    said = text[core.start : core.end]
    if _CALLED.search(before) or _TITLED.match(said) or _IS_A_NAME.match(text, core.end):
        return True
    if said.endswith("entury") and said[-7] == "C" and _COMPANY_AFTER.match(text, core.end):
        return True
    if not _ONE_WORD.fullmatch(said):
        return False
    if _COMPANY_AFTER.match(text, core.end):
        return True
    capital = _CAPITAL_BEFORE.search(before)
    if said[0].isupper() and capital and capital["word"] not in _LEADS_IN:
        return True
    return before[-4:].lower() == "the " and bool(_ATTRIBUTE.match(text, core.end))


def _numbered_on(text: str, core: Core, governed: Governed) -> bool:
    """Whether the number goes on, is one of a size, or owes its day to something that nobody dated."""
    said, after = text[core.start : core.end], text[core.end : core.end + 2]
    in_a_name = core.start > 0 and text[core.start - 1] in "-_/"
    if said[-1].isdigit() and after[:1] == "-" and after[1:].isalpha() and not said[0].isalpha() and not in_a_name:
        return not re.match(r"-(?:present|now|date|today|onwards?|ongoing)\b", text[core.end :], re.IGNORECASE) and (
            sum(map(str.isdigit, said)) > 4
        )
    if said.isdigit() and governed.word == "by" and text[: governed.start].rstrip()[-1:].isdigit():
        return True
    if said.isdigit() and governed.word == "up to" and re.match(r" [a-z]{4,}s\b", text[core.end :]):
        return True
    if "/" in said and len(said) <= 5 and governed.word in ("at", "for", "over"):
        return True
    if said.lower().startswith("within") and "next" not in said.lower():
        clause = text[max(0, core.start - 80) : core.start]
        counted_from = re.match(r" (?:of|after|from|before|following|prior)\b", text[core.end :])
        return bool(counted_from or _OWED.search(clause.rstrip()) or not _WILL.search(clause) or _IF.search(clause))
    if _SHORT_DAY.fullmatch(said):
        return re.match(r" (?!to |at |and |or |until |through |on |[0-9])\w", text[core.end :]) is not None
    ordinal = "od" in core.match.re.groupindex and core.rule.loose
    return ordinal and said.isalpha() and bool(_FLOORS.search(text[: core.start]))
