"""Persons named straight behind their title: "董事长陆远、财务总监陈静", "远山集团的采购经理陆远"."""

from __future__ import annotations

import re

from substrate.extraction.builtin import chinese_words as w
from substrate.extraction.builtin.chinese_scene import ChineseSentence, add, name_of, title_drafts
from substrate.extraction.builtin.drafts import text_value
from substrate.extraction.builtin.intervals import interval
from substrate.extraction.builtin.terms import Term
from substrate.extraction.claims import Mood
from substrate.extraction.times import TimeMention

_Times = tuple[TimeMention, ...]

_TITLED = re.compile(
    rf"(?P<was>原|前任?|时任)?(?:(?P<org>[\u4e00-\u9fffA-Za-z]{{2,12}}?)的)?"
    rf"(?P<role>(?:{w.TITLE_MODIFIERS})*(?:(?:(?![由为是的向和与前原现])[\u4e00-\u9fff]){{1,4}}(?=科长|处长|部长|主任|负责人|代表|总监|"
    rf"经理|组长))?"
    rf"(?:董秘|总经理助理|助理|合伙人|科长|法定代表人|财务负责人|销售代表|{w.TITLE_ENDINGS}))"
    rf"(?P<name>[\ue000-\ue7ff]|[\u4e00-\u9fff]{{2,4}})$"
)
_AFTER_NAME = re.compile(
    r"(?=[、，。；：（(]|于|已|在|为|接待|表示|出席|主持|负责|离职|退休|辞职|跟进|陪同|介绍|参加|牵头|说|认为|将|带队|到访|兼|代|"
    r"领导|汇报|和|与|及|同志|先生|女士|等|的|$)"
)


def titled_names(state: ChineseSentence, text: str, times: _Times, mood: Mood | None) -> int:
    """ "董事长顾长青、财务负责人褚敏": a title straight before a person's name, wherever it stands in the clause.

    Returns how many persons were found.
    """
    at, count = 0, 0
    for m in re.finditer(rf"(?:{w.TITLE_ENDINGS}|董秘|助理|合伙人|代表)", text):
        if m.end() < at:
            continue
        name = _person_at(text, m.end())
        if name is None:
            continue
        found = _TITLED.search(text[at : m.end()] + name)
        at = m.end() + len(name)
        if found is None or found.group("name") != name:
            continue
        if found.group("role") in w.RELATION_OF_ROLE and not found.group("org"):
            continue
        person = Term("name", name, "person")
        gone = re.search(r"离职|已离开|辞职|退休|卸任", text[at:]) is not None
        was = bool(found.group("was")) or gone
        time = interval(times if gone else (), "end") if was else interval((), "start")
        told = re.sub(r"^(?:我们?是|由|驻|来自)", "", found.group("org") or "")
        org = name_of(state, told, role_too=False) if told else None
        leading = found.group("role").endswith(("负责人", "组长", "队长", "会长", "主席"))
        named = org is not None and org.sort == "name" and leading
        words = f"{org.text}的{found.group('role')}" if named and org is not None else ""
        drafts = title_drafts(state, person, words, None, time, mood) if words else []
        if not drafts:
            add(state, person, "job title", text_value(found.group("role")), time, mood, subject_kind="person")
            if org is not None and org.kind in {None, "organization"} and not was:
                add(state, person, "works for", org, interval((), "start"), mood, subject_kind="person")
        if org is not None and org.kind in {None, "organization"}:
            state.topic = org
        state.findings.drafts.extend(drafts)
        state.subject = person
        count += 1
    return count


def _person_at(text: str, at: int) -> str | None:
    if at < len(text) and "\ue000" <= text[at] < "\ue800":
        return text[at]
    for n in (4, 3, 2):
        name = text[at : at + n]
        if (
            len(name) == n
            and w.is_person(name)
            and name[-1] not in "已于将现由在为的曾仍"
            and _AFTER_NAME.match(text, at + n)
        ):
            return name
    return None
