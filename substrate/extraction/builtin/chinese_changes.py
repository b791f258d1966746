"""Chinese clauses about who gave something up and who has it now, where one clause leaves to the other what or when."""

from __future__ import annotations

import re
from dataclasses import replace

from substrate.extraction.builtin import chinese_words as w
from substrate.extraction.builtin.chinese_scene import (
    ChineseSentence,
    Replaced,
    add,
    name_of,
    names_of,
    title_drafts,
)
from substrate.extraction.builtin.chinese_verbs import Pattern
from substrate.extraction.builtin.drafts import Draft
from substrate.extraction.builtin.intervals import handover_end, interval
from substrate.extraction.builtin.terms import EMPLOYER, Term
from substrate.extraction.claims import UNDATED, ClaimTime, Mood, Value
from substrate.extraction.times import TimeMention

_TOOK_IT = re.compile(
    r"(?:(?:现|改|后)?由(?P<a>.+?)(?:接任|继任|接替|担任|出任|接手|负责|领导|主持)|(?:现|改|后)?(?:为|是|改为|改由|变更为|更换为)(?P<b>[^，]+?)(?:担任)?)"
)
_NAMED = re.compile(r"[\ue000-\uefff]|[\u4e00-\u9fff]{2,}(?:公司|集团|项目|计划|工程|银行|大学|团队)")
_HELD = frozenset(("leads", "manages", "chairs", "coordinates", "job title", "responsible for", "directs"))
_Times = tuple[TimeMention, ...]


def names_something(body: str) -> bool:
    """Whether a sentence that yields nothing names somebody or something, so that its loss must be counted."""
    return _NAMED.search(body) is not None or (len(body) > 4 and any(w.is_person(body[:n]) for n in (2, 3)))


def ending(state: ChineseSentence, who: Term, times: _Times) -> ClaimTime:
    """The end a clause states; undated, it is when what the clause before says of `who` began."""
    if not times and state.since and state.subject is not None and state.subject.text == who.text:
        return handover_end(state.since)
    return interval(times, "end")


def leave(state: ChineseSentence, who: Term, role: str, times: _Times, drafts: list[Draft]) -> None:
    """Notes that `who` gave up `role`, as `drafts` say."""
    first = len(state.findings.drafts)
    state.findings.drafts.extend(drafts)
    state.subject, state.left = who, (role, times, slice(first, first + len(drafts)))


def took_what_was_left(state: ChineseSentence, text: str, times: _Times, mood: Mood | None) -> bool:
    """ "…，自D起由B接任", "…，D起为B": the role of the clause before; a date said here ends it there too."""
    m = _TOOK_IT.fullmatch(text)
    if m is None or state.left is None:
        return False
    role, left, stated = state.left
    new = [n for n in names_of(state, m.group("a") or m.group("b")) if n.kind in {None, "person"}]
    if not new or (m.group("b") and not all(w.is_person(n.text) for n in new)):
        return False
    time = interval(times or left, "start")
    state.findings.drafts.extend(d for n in new for d in title_drafts(state, n, role, None, time, mood))
    if times and not left and mood is None:
        old = state.findings.drafts[stated]
        state.findings.drafts[stated] = [replace(d, time=handover_end(times)) for d in old]
    return True


def dismissed(state: ChineseSentence, pattern: Pattern, g: dict[str, str], times: _Times, mood: Mood | None) -> bool:
    """ "免去A某项目负责人职务" without 的: read only where no second reading says where the name ends."""
    words = g["s"]
    splits = [
        (words[:n], words[n:])
        for n in (4, 3, 2, 1)
        if w.is_person(words[:n]) and _whole_role(state, words[:n], words[n:])
    ]
    if len(splits) > 1:
        others = state.around.replace(words, "", 1)
        splits = [s for s in splits if _named_in(others, *s)]
    if len(splits) != 1:
        return False
    person = Term("name", splits[0][0], "person")
    drafts = title_drafts(state, person, splits[0][1], None, interval(times, "end"), mood)
    if drafts:
        leave(state, person, splits[0][1], times, drafts)
    return bool(drafts)


def _whole_role(state: ChineseSentence, name: str, role: str) -> bool:
    """Whether `role` is a role of a thing whose own name has more than one character."""
    m = w.ROLE.match(role)
    if m is None:
        return False
    stem = re.sub(r"(?:项目|计划|工程|公司|集团|部|组|中心)$", "", m.group("org").strip("的"))
    return len(stem) != 1


def _named_in(others: str, name: str, role: str) -> bool:
    m = w.ROLE.match(role)
    thing = m.group("org").strip("的") if m else ""
    opens = "(?:(?<![\u4e00-\u9fff])|(?<=[为任的由将把与和给]))"
    return any(len(x) > 1 and re.search(opens + re.escape(x), others) for x in (name, thing))


def was_held(state: ChineseSentence, pattern: Pattern, g: dict[str, str], times: _Times, mood: Mood | None) -> bool:
    """ "R原为A": A held it; when that ended may be said by what follows."""
    who = names_of(state, g["s"])
    if times or not who or not all(w.is_person(p.text) for p in who):
        return False
    role = g.get("r") or f"{g['o']}的负责人"
    drafts = [d for p in who for d in title_drafts(state, p, role, None, interval((), "end"), mood)]
    if drafts:
        leave(state, who[0], role, (), drafts)
        state.subject = name_of(state, g["o"]) if g.get("o") else who[0]
    return bool(drafts)


def gone(state: ChineseSentence, pattern: Pattern, g: dict[str, str], times: _Times, mood: Mood | None) -> bool:
    """ "A于D离职": from the employer of the same sentence, else the only one of the passage."""
    who = name_of(state, g["s"])
    if who is None or not (w.is_person(who.text) or who.sort == "pronoun"):
        return False
    held = {d.object: d for d in state.findings.drafts if d.phrase == "works for" and d.subject.text == who.text}
    target = next(iter(held)) if len(held) == 1 else EMPLOYER
    add(state, who, "works for", target, interval(times, "end"), mood, subject_kind="person")
    if times and "退休" in state.body and w.is_person(who.text) and times[0].time.valid_to is not None:
        day = Value(state.body[times[0].core_start : times[0].end], datatype="date")
        add(state, who, "retired on", day, interval(times, "event"), mood, subject_kind="person")
    state.subject = who
    return True


def replaced_by(state: ChineseSentence, pattern: Pattern, g: dict[str, str], times: _Times, mood: Mood | None) -> bool:
    """ "A接替B", without saying as what; the next clause may say it."""
    new, old = name_of(state, g["s"]), name_of(state, g["o"])
    if new is None or old is None or not (w.is_person(new.text) and w.is_person(old.text)):
        return False
    state.replaced = Replaced(new, old, times, len(state.findings.drafts))
    add(state, new, "replaced", old, interval(times, "event"), mood)
    state.subject = new
    return True


def told_as_what(state: ChineseSentence, replaced: Replaced, first: int, times: _Times) -> None:
    """ "A接替B，负责Z": Z from then on for A, until then for B, in place of the bare succession."""
    drafts = state.findings.drafts
    told = [d for d in drafts[first:] if d.subject.text == replaced.new.text and d.phrase in _HELD]
    if not told:
        return
    when = times or replaced.times
    new = [replace(d, time=interval(when, "start")) if d.time == UNDATED else d for d in drafts[first:]]
    old = [replace(d, subject=replaced.old, time=handover_end(when)) for d in told]
    drafts[replaced.at :] = [*drafts[replaced.at + 1 : first], *new, *old]
    state.replaced = None


def sale(state: ChineseSentence, pattern: Pattern, g: dict[str, str], times: _Times, mood: Mood | None) -> bool:
    """ "A将B出售给C": A sold it, C acquired it."""
    sellers, things, buyers = names_of(state, g["x"]), names_of(state, g["o"]), names_of(state, g["s"])
    if not things or not buyers:
        return False
    time = interval(times, "event")
    for thing in things:
        for seller in sellers:
            add(state, seller, "sold", thing, time, mood)
        for buyer in buyers:
            add(state, buyer, "acquired", thing, time, mood)
    state.subject = buyers[0]
    return True
