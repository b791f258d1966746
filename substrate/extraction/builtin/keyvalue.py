"""Key-value lines and bullets under a heading: "Lead: Li Si", "- Project X: Li Si"."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from substrate.extraction.builtin.drafts import Draft, role_drafts
from substrate.extraction.builtin.edits import arrow, changed_field, owner_in_label
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
from substrate.extraction.builtin.headings import described, list_key
from substrate.extraction.builtin.lists import contact_drafts
from substrate.extraction.builtin.roles import is_role
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
_CHINESE_OF = re.compile(
    r"^(?P<owner>[\u4e00-\u9fff]{2,12}?)的?(?P<noun>负责人|顾问|预算|成员|经理|总部|主管|"
    r"组长|发起人|供应商)$"
)
PARTY_KEYS = frozenset("customer client supplier vendor account partner".split())
SUBJECT_KEYS = PARTY_KEYS | frozenset(
    "service policy opportunity item ticket incident product model article asset host server device vehicle order "
    "invoice contract job event course release package repository application module database property document "
    "system workstream lead deal opportunity machine material chemical standard procedure dataset table queue".split()
) | {
    "part no", "part number", "order no", "order number", "invoice no", "invoice number", "contract no", "article no",
    "customer name", "client name", "policy name", "ticket id", "issue", "product name", "model no", "serial no", "sku",
    "客户名称", "产品", "产品名称", "型号", "合同编号", "服务", "系统", "主机", "缺陷", "工单", "订单号", "设备",
    "工单编号", "工单号", "缺陷编号", "订单编号", "产品型号", "客户名", "服务名", "系统名称", "物料编号", "物料名称",
    "资产编号", "服务名称", "设备名称", "供应商名称", "合同名称", "客户", "供应商",
}  # fmt: skip
"""Opening a block without a heading that names something, these give what the block is about."""
CONTACT_KEYS = frozenset(
    ("contact", "contact person", "contacts", "email", "e-mail", "phone", "telephone", "tel", "mobile", "mailing list",
     "customer contact", "site contact", "main contact", "联系人", "邮箱", "电话", "联系电话")
)  # fmt: skip
_MODEL_KEYS = frozenset(("model", "product", "product name", "model name", "article", "型号", "产品型号", "产品名称"))
"""Wherever in a block these stand, it is about what they name."""
_THINGS = {"project", "organization", "product"}
_STRIP = re.compile(r"[*_`]+")


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
    listed, owner_of_list = list_key(record.heading)
    context = owner_of_list or context
    subject, first = _subject(record, context)
    sides: dict[str, ClaimTime] = {}
    for pair in record.pairs:
        if found := field_time(pair.key, pair.value, anchor):
            sides.setdefault(*found) if found[0] != "date" else None
    time = joined_time(sides) if sides else UNDATED
    out: list[tuple[Pair, Draft | Drop]] = _between(record)
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
        elif (chinese := _CHINESE_OF.match(pair.key.written)) and kind_of_any(chinese.group("owner")) in _THINGS:
            key = read_key(chinese.group("noun"))
            owner = named(chinese.group("owner"))
            out.extend((pair, d) for d in field_drafts(owner, key, pair.value, time, anchor))
        elif (inner := owner_in_label(pair.key.written)) is not None:
            out.extend((pair, d) for d in _pair_drafts(inner[0], inner[1].under(pair.key.written), pair, time, anchor))
        elif pair.key.plain in CONTACT_KEYS and (told := contact_drafts(subject, pair.key, pair.value)):
            out.extend((pair, d) for d in told)
        elif subject is not None:
            out.extend((pair, d) for d in _pair_drafts(subject, pair.key, pair, time, anchor))
        elif is_role(pair.key.plain) and _one_person(pair.value) and " " in pair.key.plain:
            holder = named(pair.value, "person")
            out.extend((pair, d) for d in role_drafts(holder, Term("role", pair.key.written), None, time, None))
        elif pair.key.plain not in SILENT_KEYS:
            out.append((pair, Drop("no_subject", pair.key.written, pair.line.text)))
    return out


_SIDES = {("甲方", "乙方"): "partner of", ("买方", "卖方"): "customer of", ("出租方", "承租方"): "leases to"}
_CALLED_SO = re.compile(r"\s*[(（][^)）]*[)）]\s*$")


def _between(record: Record) -> list[tuple[Pair, Draft | Drop]]:
    """The two sides of a contract, each on a line of its own ("甲方：…", "乙方：…"): what they are to each other."""
    told = {pair.key.plain: pair for pair in record.pairs}
    out: list[tuple[Pair, Draft | Drop]] = []
    for (one, other), phrase in _SIDES.items():
        if one not in told or other not in told:
            continue
        names = [_CALLED_SO.sub("", told[side].value) for side in (one, other)]
        if all(looks_like_name(name) for name in names) and names[0] != names[1]:
            left, right = (named(name, "organization") for name in names)
            out.append((told[other], Draft(left, phrase, right, UNDATED, wording=f"{one}，{other}")))
    return out


def _one_person(words: str) -> bool:
    return looks_like_name(words) and 2 <= len(words.split()) <= 4 and kind_of_any(words) in {None, "person"}


def _pair_drafts(subject: Term, key: Key, pair: Pair, time: ClaimTime, anchor: Anchor | None) -> list[Draft]:
    if (change := arrow(pair.value)) is not None:
        return changed_field(subject, key, *change, find_times(pair.value, anchor), anchor)
    return field_drafts(subject, key, pair.value, time, anchor)


def _subject(record: Record, context: Term | None) -> tuple[Term | None, Pair | None]:
    for pair in record.pairs:
        kind = NAME_KEYS.get(pair.key.plain)
        if kind is None or not looks_like_name(pair.value):
            continue
        if pair.key.plain in PERSON_KEYS or context is None:
            person = speaks_of_person(p.key for p in record.pairs)
            exact = None if pair.key.plain == "name" and not person else kind
            return named(pair.value, exact), pair
    first = record.pairs[0] if record.pairs else None
    if context is None and first is not None and first.key.plain in SUBJECT_KEYS and len(first.value.split()) <= 7:
        return named(first.value, "organization" if first.key.plain in PARTY_KEYS else None), first
    told = next((p for p in record.pairs if p.key.plain in _MODEL_KEYS and looks_like_name(p.value)), None)
    if context is None and told is not None and len(record.pairs) > 2:
        return named(told.value), told
    if context is None and len(record.pairs) > 1 and (thing := described(record.heading)) is not None:
        return thing, None
    return context, None


def starts_record(pair: Pair, record: Record) -> bool:
    """A second "Name:" begins the next record."""
    return pair.key.plain in PERSON_KEYS and any(p.key.plain == pair.key.plain for p in record.pairs)
