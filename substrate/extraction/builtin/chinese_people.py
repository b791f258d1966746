"""Chinese clauses about persons: appointed, born, posted, moved, in charge, standing in for somebody."""

from __future__ import annotations

import re

from substrate.extraction.builtin import chinese_words as w
from substrate.extraction.builtin.chinese_scene import ChineseSentence, add, name_of, title_drafts
from substrate.extraction.builtin.chinese_topics import agents_of, now_about
from substrate.extraction.builtin.intervals import handover_end, interval
from substrate.extraction.builtin.terms import Term
from substrate.extraction.claims import Mood, Value
from substrate.extraction.times import TimeMention

_Times = tuple[TimeMention, ...]


def born(state: ChineseSentence, m: re.Match[str], times: _Times, mood: Mood | None) -> bool:
    person, place = name_of(state, m.group("s")) or state.subject, name_of(state, m.group("b") or "")
    if person is None or not w.is_person(person.text):
        return False
    time = interval(times, "event")
    if place is not None:
        add(state, person, "born in", place, time, mood, subject_kind="person", object_kind="place")
    if times:
        words = state.body[times[0].core_start : times[0].end]
        add(state, person, "born on", Value(words, datatype="date"), time, mood, subject_kind="person")
    state.subject = person
    return bool(times) or place is not None


def stationed(state: ChineseSentence, m: re.Match[str], times: _Times, mood: Mood | None) -> bool:
    subject = (name_of(state, m.group("s")) if m.group("s") else None) or state.subject
    place = name_of(state, m.group("b"))
    if subject is None or place is None:
        return False
    add(state, subject, "located in", place, interval(times, "state"), mood, object_kind="place")
    return True


def charge(state: ChineseSentence, m: re.Match[str], times: _Times, mood: Mood | None) -> bool:
    """ "分管物流与仓储", "负责贵州的业务": what a person has in hand need not be named."""
    person = (name_of(state, m.group("s")) if m.group("s") else None) or state.subject
    what = re.sub(r"(?:等)?(?:工作|事务|事宜)$", "", m.group("b")).strip()
    if person is None or not w.is_person(person.text) or not 2 <= len(what) <= 14 or _NO_AREA.search(what):
        return False
    if w.chinese_kind(what) not in {None, "place"} and m.group("v") == "负责":
        return False
    add(state, person, "responsible for", Term("name", what), interval(times, "state"), mood,
        subject_kind="person", confidence=0.5)  # fmt: skip
    state.subject = person
    return True


_NO_AREA = re.compile(r"[他她它我你]|[。！？]|项目$|计划$|不|担任|任命|领导")


def transferred(state: ChineseSentence, m: re.Match[str], times: _Times, mood: Mood | None) -> bool:
    person, old, new = name_of(state, m.group("s")), name_of(state, m.group("a")), name_of(state, m.group("b"))
    if person is None or old is None or new is None or not w.is_person(person.text):
        return False
    kinds = {"subject_kind": "person", "object_kind": "organization"}
    add(state, person, "member of", new, interval(times, "start"), mood, **kinds)
    add(state, person, "member of", old, handover_end(times), mood, **kinds)
    state.subject = person
    return True


def appointed(state: ChineseSentence, m: re.Match[str], times: _Times, mood: Mood | None) -> bool:
    """ "会议同意聘任A为R", "乙方指定A为R"."""
    person = name_of(state, m.group("s"))
    if person is None or not w.is_person(person.text):
        return False
    drafts = title_drafts(state, person, m.group("r"), None, interval(times, "start"), mood)
    if not drafts:
        return False
    state.findings.drafts.extend(drafts)
    state.subject = person
    return True


def follows(state: ChineseSentence, m: re.Match[str], times: _Times, mood: Mood | None) -> bool:
    """ "董事长由原总裁A接任"."""
    person = name_of(state, m.group("s"))
    if person is None or not w.is_person(person.text):
        return False
    drafts = title_drafts(state, person, m.group("r"), None, interval(times, "start"), mood)
    state.findings.drafts.extend(drafts)
    state.subject = person
    return bool(drafts)


def founded_by(state: ChineseSentence, m: re.Match[str], times: _Times, mood: Mood | None) -> bool:
    """ "由A于D创办的X是…"."""
    person, thing = name_of(state, re.sub("[于在]$", "", m.group("s"))), name_of(state, m.group("o"))
    if person is None or thing is None or not w.is_person(person.text):
        return False
    time = interval(times, "event")
    add(state, person, "founded", thing, time, mood, subject_kind="person")
    if times:
        words = state.body[times[0].core_start : times[0].end]
        add(state, thing, "founded on", Value(words, datatype="date"), time, mood)
    now_about(state, thing)
    return True


def stands_in(state: ChineseSentence, m: re.Match[str], times: _Times, mood: Mood | None) -> bool:
    """ "由副总监A代理其职务" after a clause about B: A stands in for B."""
    agents = agents_of(state, m.group("s"))
    held = [d.subject for d in state.findings.drafts if d.subject.kind == "person" or w.is_person(d.subject.text)]
    others = [t for t in held if not agents or t.text != agents[0].text]
    if len(agents) != 1 or not others or not w.is_person(agents[0].text):
        return False
    add(state, agents[0], "stands in for", others[-1], interval(times, "state"), mood)
    return True
