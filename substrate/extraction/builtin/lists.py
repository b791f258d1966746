"""Short forms of business text: specifications, action items, renewals, leavers, signatures, labels in one line."""

from __future__ import annotations

import re
from collections.abc import Sequence

from substrate.extraction.builtin.amounts import amounts_in, parse_amount
from substrate.extraction.builtin.drafts import Draft, role_drafts, text_value
from substrate.extraction.builtin.fields import Key, holder_drafts, looks_like_name, named, read_key
from substrate.extraction.builtin.intervals import interval
from substrate.extraction.builtin.roles import is_role
from substrate.extraction.builtin.terms import Term
from substrate.extraction.builtin.vocabulary import MEASURED_NOUNS
from substrate.extraction.claims import UNDATED, ClaimTime, Value
from substrate.extraction.times import Anchor, find_times, parse_time

_PARTIES = frozenset("甲方 乙方 丙方 买方 卖方 出租方 承租方 委托方 受托方 出借方 借款方 公司名称 名称".split())
_ENTRY = re.compile(r"^(?P<name>[^:：,，;()]{2,60}?)\s*(?P<mark>[:：,，])\s*(?P<rest>\S.*)$")
_PARTS = re.compile(r"\s*[,;，；]\s+|\s*[，；]\s*")
_STATUS = re.compile(
    r"^(?P<status>completed|done|closed|open|ordered|pending|approved|rejected|fixed|cancell?ed|in progress|delayed|"
    r"postponed|finished|started|on hold|delivered|resolved|outstanding|overdue|accepted|deferred|not started|已完成|"
    r"进行中|未开始|待定|已关闭)(?: by (?P<who>[A-Z][\w.'’-]+(?: [A-Za-z][\w.'’-]+){0,3}?))?(?= on | in |[,;.(]|$)",
    re.IGNORECASE,
)
_HELD = re.compile(r"^(?:the )?(?P<role>[a-z]+(?: [a-z]+)?) (?:is|was|:) (?P<who>[A-Z].*?)[.]?$")
_BRACKET = re.compile(r"\s*[(（](?P<label>[^)）]*)[)）]\s*[.;。；]?$")
_LAST_DAY = re.compile(r"^(?:last (?:working )?day|leaving|leaves|left)(?: on)?\s+(?P<date>.+)$", re.IGNORECASE)
_FIRST_DAY = re.compile(r"^(?:first (?:working )?day|starting|starts|joined|since|from)(?: on)?\s+(?P<date>.+)$", re.I)
_DATE_WORDS = {"renewals": "renewal date", "deadlines": "deadline", "milestones": "date", "expiries": "expires on"}


_LABELS = MEASURED_NOUNS | frozenset(
    "battery range dimensions display memory storage voltage current payload diameter material torque throughput "
    "noise consumption runtime resolution length".split()
)
"""Before a colon these are labels of the thing above the list, and no things themselves."""


def entry_drafts(text: str, heading: str, anchor: Anchor | None) -> list[Draft]:
    """Claims of one item of a list: "M6: 6 hp, 25 kg, €1,690", "Domain transfer: completed by X on D"."""
    if (leaver := _leaver(text, anchor)) is not None:
        return leaver
    m = _ENTRY.match(text)
    if m is None or len(m.group("name").split()) > 6:
        return []
    name, rest = m.group("name").strip(), m.group("rest").strip().rstrip(".;。；")
    if m.group("mark") in ":：" and not find_times(name):
        held = _HELD.match(rest)
        if held is not None and looks_like_name(held.group("who")):
            return holder_drafts(named(name), read_key(held.group("role")), held.group("who"), UNDATED, anchor)
        if (stated := _STATUS.match(rest)) is not None:
            return _action(named(name), stated, rest, anchor)
    label = m.group("mark") in ":：" and name.split()[-1].lower() in _LABELS
    return _measured(name, rest, heading, anchor) if name[0].isupper() and not label else []


def _action(thing: Term, stated: re.Match[str], rest: str, anchor: Anchor | None) -> list[Draft]:
    times = find_times(rest, anchor)
    status = text_value(stated.group("status").lower())
    found = [Draft(thing, "status", status, interval(times, "start"), wording="status", confidence=0.8)]
    if stated.group("who"):
        verb = stated.group("status").lower()
        found.append(Draft(named(stated.group("who"), "person"), verb, thing, interval(times, "event"), wording=verb))
    found.extend(
        Draft(thing, "price", a.value, UNDATED, confidence=0.8, wording="price")
        for a in amounts_in(rest[stated.end() :])
        if a.value.datatype == "money"
    )
    return found


def _measured(name: str, rest: str, heading: str, anchor: Anchor | None) -> list[Draft]:
    """Nothing but amounts and dates after a name: what each is, its unit says."""
    parts = [p for p in _PARTS.split(rest) if p]
    values: list[tuple[str, Value, ClaimTime]] = []
    for part in parts:
        amount, time = parse_amount(part), parse_time(part, anchor)
        if amount.number is not None and amount.unit is not None:
            values.append(("price" if amount.datatype == "money" else "amount", amount, UNDATED))
        elif time is not None:
            values.append(
                (
                    _DATE_WORDS.get(heading.lower().split()[-1] if heading else "", "date"),
                    Value(part, datatype="date"),
                    time,
                )
            )
        else:
            return []
    if not values or (len(values) == 1 and values[0][0] == "date"):
        return []
    subject = named(name)
    return [Draft(subject, phrase, v, t, confidence=0.7, wording=phrase) for phrase, v, t in values]


def _leaver(text: str, anchor: Anchor | None) -> list[Draft] | None:
    """ "Arturo Bellini, Tax (last day 11 July 2025)" in a list of who joins or leaves."""
    bracket = _BRACKET.search(text)
    head = text[: bracket.start()] if bracket is not None else ""
    name, _, place = head.partition(",")
    if bracket is None or not place or not (looks_like_name(name) and looks_like_name(place.strip())):
        return None
    last, first = _LAST_DAY.match(bracket.group("label")), _FIRST_DAY.match(bracket.group("label"))
    label = last or first
    time = parse_time(label.group("date"), anchor) if label is not None else None
    if label is None or time is None:
        return None
    held = interval(find_times(label.group("date"), anchor), "end" if last else "start")
    person, thing = named(name, "person"), named(place.strip(), "organization")
    title = is_role(place.strip())
    found = (
        role_drafts(person, Term("role", place.strip()), None, held, None, place.strip())
        if title
        else [Draft(person, "member of", thing, held, None, "person", "organization", wording="department")]
    )
    day = Value(label.group("date").strip(), datatype="date")
    phrase = "ended on" if last else "started on"
    return [*found, Draft(person, phrase, day, interval(find_times(day.raw, anchor), "event"), wording=phrase)]


def signature_drafts(lines: Sequence[str]) -> list[tuple[int, Draft]]:
    """What the lines under a "--" or "Regards," say of who signed, each with its line's index."""
    name = lines[0].strip(" ,") if lines else ""
    if not looks_like_name(name) or not 2 <= len(name.split()) <= 4 or is_role(name):
        return []
    person = Term("name", name, "person")
    found: list[tuple[int, Draft]] = []
    for i, line in enumerate(lines[1:5], start=1):
        tail = [a for a in amounts_in(line) if a.value.number is None]
        if tail and tail[0].start > 0 and is_role(line.split("|")[0].split(",")[0].strip()):
            line, rest = line[: tail[0].start].strip(" ,|"), line[tail[0].start :]
            found.extend((i, d) for d in address_drafts(rest, person))
        parts = [p.strip() for p in re.split(r"\s*[|,]\s*|\s+(?:at|–|-)\s+", line) if p.strip()]
        addresses = [a.value for a in amounts_in(line) if a.value.number is None]
        if parts and is_role(parts[0]):
            org = named(parts[1], "organization") if len(parts) > 1 and looks_like_name(parts[1]) else None
            found.extend((i, d) for d in role_drafts(person, Term("role", parts[0]), org, UNDATED, None, parts[0]))
        elif addresses:
            kinds = [("email" if "@" in v.raw else "phone" if v.raw[0] == "+" else "website", v) for v in addresses]
            found.extend((i, Draft(person, k, v, UNDATED, None, "person", wording=k)) for k, v in kinds)
    return found if any(d.phrase in {"job title", "works for", "leads", "manages", "directs"} for _, d in found) else []


_CREDIT = re.compile(
    r"(?P<name>[A-Z][^,–|()]{3,40}?)(?:,| –| \|) (?P<role>[^,|]{2,50}?)(?:(?:,| \|| at) (?P<org>[A-Z][^,|]{1,50}))?"
)


def credit_drafts(text: str) -> list[Draft]:
    """A line that is nothing but "Tove Rasmussen, Head of Communications, Lysefjord Energi"."""
    tail = [a for a in amounts_in(text) if a.value.number is None and a.start > 0]
    rest = text[tail[0].start :] if tail else ""
    text = text[: tail[0].start].strip(" ,|") if tail else text
    m = _CREDIT.fullmatch(text.strip())
    prose = text.rstrip().endswith((".", ":", "?")) or re.search(
        r"\b(?:ha[ds]|is|was|were|are|will|became|of [a-z]+ed)\b", text
    )
    if m is None or prose or not _full_name(m.group("name")) or not is_role(m.group("role")) or find_times(text):
        return []
    org = named(m.group("org"), "organization") if m.group("org") and looks_like_name(m.group("org")) else None
    if m.group("org") and org is None:
        return []
    person = Term("name", m.group("name"), "person")
    told = role_drafts(person, Term("role", m.group("role")), org, UNDATED, None, m.group("role"))
    return told + address_drafts(rest, person) if told else []


def _full_name(words: str) -> bool:
    return looks_like_name(words) and 2 <= len(words.split()) <= 4 and not is_role(words)


def address_drafts(text: str, person: Term) -> list[Draft]:
    """The line under a credit that is an address alone."""
    found = list(amounts_in(text))
    alone = len(found) == 1 and found[0].value.number is None and len(text.strip()) - len(found[0].value.raw) <= 5
    if not alone:
        return []
    kind = "email" if "@" in found[0].value.raw else "phone"
    return [Draft(person, kind, found[0].value, UNDATED, None, "person", wording=kind)]


_LABEL = re.compile(r"[A-Z][a-z]+(?: [a-z]+){0,2}: \S[^:]{0,40}$")
"""A label with a short value and no prose, of several in one line: "Stage: Proposal. Amount: EUR 240,000."."""


def inline_pairs(text: str) -> tuple[str, list[tuple[str, str]]] | None:
    """ "NET-3305 | Priority: High | Status: open" → its subject and its labels; None for anything else."""
    chinese = re.search(r"[\u4e00-\u9fff]", text) is not None
    cells = [
        c.strip(" 。.") for c in re.split(r"\s*\|\s*" if "|" in text else r"[，；]" if chinese else r"\s*[;|]\s+", text)
    ]
    if len(cells) == 1 and not chinese and len(parts := re.split(r"\.\s+", text.strip(" ."))) > 1:
        cells = parts if all(_LABEL.match(p) for p in parts) else cells
    pairs = [re.match(r"^(?P<key>[^:：]{1,24}?)\s*[:：](?!//)\s*(?P<value>\S.*)$", c) for c in cells]
    labelled = [(m.group("key"), m.group("value")) for m in pairs if m is not None]
    first = "" if pairs and pairs[0] is not None else cells[0]
    if not first and labelled and labelled[0][0] in _PARTIES:
        first, labelled = re.sub(r"[(（].*?[)）]", "", labelled[0][1]), labelled[1:]
        cells = cells[1:]
    if len(labelled) < 2 or len(labelled) < len(cells) - 1 or len(first) > 40:
        return None
    return first, labelled


def bare_code(words: str) -> str:
    """ "缺陷BUG-5127" → "BUG-5127"; other words stay as they are."""
    m = re.search(r"[A-Z][A-Z0-9]*-\d+$", words)
    return m.group() if m is not None else words


def contact_drafts(subject: Term | None, key: Key, value: str) -> list[Draft]:
    """ "Contact: Imke Dierks, imke@x.example": who it is, and how to reach them."""
    addresses = [a for a in amounts_in(value) if a.value.number is None]
    name = value[: addresses[0].start].strip(" ,;:(-–") if addresses else value.strip(" .")
    name, _, house = (p.strip() for p in name.partition(","))
    name = re.sub(r"[,;\s]+(?:tel|phone|e-?mail|mobile)\.?:?$", "", name, flags=re.I).strip(" ,;(")
    person = named(name, "person") if name and looks_like_name(name) and len(name.split()) > 1 else None
    found: list[Draft] = []
    if person is not None and subject is not None:
        found.append(Draft(subject, "contact person", person, UNDATED, wording=key.written))
    about = person or (subject if not name else None)
    if person is not None and house and looks_like_name(house) and not is_role(house):
        org = named(house, "organization")
        found.append(Draft(person, "works for", org, UNDATED, None, "person", "organization", wording=key.written))
    for a in addresses if about is not None else ():
        kind = "email" if "@" in a.value.raw else "phone" if a.value.raw[:1] == "+" else "website"
        phrase = key.plain if person is None and key.plain not in {"contact", "contact person"} else kind
        found.append(Draft(about or named(name), phrase, a.value, UNDATED, wording=key.written))
    return found
