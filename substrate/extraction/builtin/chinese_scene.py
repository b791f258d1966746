"""One Chinese sentence under reading, and how its names and roles are read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from substrate.extraction.builtin import chinese_words as w
from substrate.extraction.builtin.chinese_terms import latin_kind, pronoun
from substrate.extraction.builtin.drafts import CONTEXTUAL, Draft, Findings, text_value
from substrate.extraction.builtin.terms import CONTEXT, Term
from substrate.extraction.claims import ClaimTime, Mood, Value
from substrate.extraction.times import TimeMention


class Replaced(NamedTuple):
    """ "A接替B": both, when, and where the draft that says so stands."""

    new: Term
    old: Term
    times: tuple[TimeMention, ...]
    at: int


@dataclass(slots=True)
class ChineseSentence:
    """One sentence under reading."""

    text: str
    body: str
    mood: Mood | None
    findings: Findings
    subject: Term | None = None
    leading: tuple[TimeMention, ...] = ()
    words: str = ""
    """The clause's own words for the relation."""
    left: tuple[str, tuple[TimeMention, ...], slice] | None = None
    """A role someone just gave up, when, and the drafts that say so, for "由…接任" after it."""
    replaced: Replaced | None = None
    """Who was just replaced, for a clause after it that says as what."""
    topic: Term | None = None
    """The last thing spoken of that is no person, for a clause that names no subject."""
    around: str = ""
    """The passage with its title: what else is named there tells where a name ends."""
    since: tuple[TimeMention, ...] = ()
    """When what the clause before states began."""


def name_of(state: ChineseSentence, text: str, role_too: bool = True) -> Term | None:
    """A name or a pronoun that may be resolved later; None when the words are no name."""
    text = w.strip_around(text)
    if text in w.PRONOUNS:
        return Term(
            "definite" if w.PRONOUN_KINDS.get(text) not in {None, "person"} else "pronoun",
            pronoun(text),
            w.PRONOUN_KINDS.get(text),
        )
    if role_too and not w.is_person(text):
        text = next((text[-n:] for n in (3, 2, 1) if w.is_person(text[-n:]) and w.ROLE.match(text[:-n])), text)
    if not re.fullmatch(r"[\u4e00-\u9fffA-Za-z0-9·\-&.\s]{2,20}|[\ue000-\uefff]", text) or re.search(
        r"[的了吗呢]|并且|但是|因为|所有|什么|任何|一些|这个|那个|我们|他们", text
    ):
        return None
    if re.search(
        r"(?:负责|担任|领导|认为|决定|宣布|通知|会议|报告|召开|讨论|批准|进行|完成|发布|要求|指出|介绍|之间|"
        r"以及|工资|月薪|不再|接替|接任|继任|取代|领取|享受|免去|离职|辞职|原为|改为|每月|每年)",
        text,
    ):
        return None
    return Term("name", text, w.chinese_kind(text) or latin_kind(text))


def names_of(state: ChineseSentence, text: str) -> list[Term]:
    """ "张三和李四", "张三、李四"; empty when one of them is no name."""
    parts = [p for p in re.split(r"、|和|与|及|以及", text) if p] if not w.is_person(text) else [text]
    found = [name_of(state, p) for p in parts]
    if len(parts) > 1 and any(f is None for f in found):
        whole = name_of(state, text)
        return [whole] if whole is not None else []
    return [f for f in found if f is not None]


def add(
    state: ChineseSentence,
    subject: Term,
    phrase: str,
    target: Term | Value,
    time: ClaimTime,
    mood: Mood | None,
    **more: object,
) -> None:
    fields = {"wording": state.words or phrase, **more}
    state.findings.drafts.append(Draft(subject, phrase, target, time, mood, **fields))  # type: ignore[arg-type]


def title_drafts(
    state: ChineseSentence, person: Term, words: str, org: Term | None, time: ClaimTime, mood: Mood | None
) -> list[Draft]:
    words = re.sub(r"^(?:一名|一位|新任|现任|前任?|了)", "", words)
    words = re.sub(r"(?:一职|职务|职位)$", "", words)
    words = re.sub(r"的(?:长期|主要|唯一|独家|重要|核心|稳定)+(?=供应商$|客户$)", "的", words)
    m = w.ROLE.match(words)
    if m is None:
        return []
    named = m.group("org").strip("的")
    role = m.group("role")
    if named and role.startswith("项目") and role != "项目" and w.chinese_kind(named) != "organization":
        named, role = named + "项目", role.removeprefix("项目")
    if named:
        org = name_of(state, named, role_too=False) or org
        if org is None or org.text != w.strip_around(named):
            return []
    relation = w.RELATION_OF_ROLE.get(role)
    if org is None and relation in CONTEXTUAL and role in {"负责人", "项目负责人", "组长", "团队负责人", "部门负责人"}:
        org = CONTEXT
    if relation and org is not None:
        return [Draft(person, relation, org, time, mood, wording=role)]
    if person.kind not in {None, "person"} or (relation and relation not in w.HELD_BY_PERSON):
        return []
    qualifiers = (("of", org.text),) if org else ()
    found = [Draft(person, "job title", text_value(role), time, mood, "person", None, qualifiers, wording=role)]
    ended = (time.valid_to is not None and time.valid_from is None) or time.valid_to_precision == "unknown"
    if org is not None and org.kind in {None, "organization"} and not ended:
        found.append(Draft(person, "works for", org, time, mood, "person", "organization", wording=role))
    return found
