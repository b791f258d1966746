"""Chinese sentences by patterns, without segmentation: times are taken out, clauses matched whole."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from substrate.extraction.builtin import chinese_words as w
from substrate.extraction.builtin.amounts import parse_amount
from substrate.extraction.builtin.chinese_business import business
from substrate.extraction.builtin.chinese_changes import (
    dismissed,
    ending,
    gone,
    leave,
    names_something,
    replaced_by,
    sale,
    told_as_what,
    took_what_was_left,
    was_held,
)
from substrate.extraction.builtin.chinese_corrections import corrected, righted, taken_back
from substrate.extraction.builtin.chinese_happenings import happened, measured
from substrate.extraction.builtin.chinese_moods import clause_mood, sentence_mood
from substrate.extraction.builtin.chinese_names import Hidden
from substrate.extraction.builtin.chinese_scene import ChineseSentence, add, name_of, names_of, title_drafts
from substrate.extraction.builtin.chinese_terms import is_thing, object_kind, object_words
from substrate.extraction.builtin.chinese_titles import titled_names
from substrate.extraction.builtin.chinese_verbs import PATTERNS, Pattern
from substrate.extraction.builtin.drafts import Draft, Findings, text_value
from substrate.extraction.builtin.fields import CHINESE_KEYS
from substrate.extraction.builtin.frames_leaving import belonging
from substrate.extraction.builtin.frames_values import plain_attribute
from substrate.extraction.builtin.intervals import handover_end, interval, joined_periods
from substrate.extraction.builtin.ownership import owners_of
from substrate.extraction.builtin.terms import Term
from substrate.extraction.builtin.verbs import Aspect
from substrate.extraction.claims import UNDATED, Mood, Value
from substrate.extraction.times import Anchor, TimeMention, find_times

_CLAUSE = re.compile(
    r"[，；;]|(?<=通知)：|(?<=记录)：|(?<=公告)：|(?<=审核)：|,(?!\d{3})|(?<=[\u4e00-\u9fff])、(?=并|且)"
)
_ENDED_UNKNOWN = re.compile(r"离职|已离开|辞职|退休|卸任")
_PREAMBLE = re.compile(r"(?:决定|批准|研究|同意|通知|需要|安排|要求|精神|规定|调整|审议|讨论|原因|如下|通过)$")
_ATTRIBUTE_FIRST = re.compile(
    r"(?:其|现)?(?:总部|月薪|年薪|工资|薪资|薪酬|基本工资|预算|价格|员工人数|注册资本|负责人|项目负责人|顾问|"
    r"经理|地址|职位|职务|每月工资|收入)"
)
_PLACEHOLDER = "\u0001"


def read_chinese(text: str, anchor: Anchor | None, around: str = "") -> Findings:
    """Claims in draft of one Chinese sentence; `around` is the passage it stands in, with its title."""
    findings, hidden = Findings(), Hidden()
    body, correction, wrong, right = taken_back(text, hidden)
    state = ChineseSentence(text, body, sentence_mood(body, correction.denies), findings, around=around)
    mentions = joined_periods(body, find_times(body, anchor))
    for clause, times in _clauses(body, mentions):
        bare = clause.strip(" 　。！？!?.;；：:“”")
        if not bare:
            state.leading = (*state.leading, *times)
            continue
        _clause(state, bare, (*state.leading, *times))
    findings.drafts = corrected(findings.drafts, correction, wrong, body)
    findings.drafts += righted(findings.drafts, right)
    findings.drafts += owners_of(findings.drafts)
    if not findings.drafts and not findings.drops and names_something(body):
        findings.drop("no_frame", text[:20], text)
    hidden.bring_back(findings)
    return findings


def _clauses(body: str, mentions: list[TimeMention]) -> list[tuple[str, tuple[TimeMention, ...]]]:
    """Clauses without their time words, each with its mentions."""
    found: list[tuple[str, tuple[TimeMention, ...]]] = []
    marked, taken = list(body), 0
    for m in mentions:
        marked[m.start : m.end] = _PLACEHOLDER * (m.end - m.start)
    at = 0
    whole = "".join(marked)
    for cut in [*(c.end() for c in _CLAUSE.finditer(whole)), len(whole)]:
        times = tuple(m for m in mentions if at <= m.start < cut)
        text = re.sub(r"[(（]\s*\u0001+\s*[)）]|\u0001+", "", whole[at:cut]).strip("，,；;、 ")
        text = re.sub(r"^[-–—：:\]】\s]+|[\[【]$", "", text)
        preamble = bool(found and _PREAMBLE.search(found[-1][0]) and not text.strip("。."))
        if (
            found
            and times
            and not preamble
            and re.fullmatch(
                r"(?:任期|聘期|合同期|期限|从|自|并)*(?:起|正式|开始)*(?:生效|执行|为止|止|实施|履职|算起|计)?[。.]?",
                text,
            )
        ):
            found[-1] = (found[-1][0], (*found[-1][1], *times))
        else:
            found.append((text, times))
        at, taken = cut, taken + len(times)
    return found


def _clause(state: ChineseSentence, bare: str, times: tuple[TimeMention, ...]) -> None:
    mood, text = clause_mood(bare)
    if state.mood is not None:
        mood = state.mood
    if re.search(r"日期(?:未|不)|时间(?:未|不)", text) and len(text) < 14:
        return
    _brackets(state, text, mood)
    text = re.sub(r"[(（][^)）]*[)）]", "", text)
    before = len(state.findings.drafts)
    replaced = state.replaced
    titled = titled_names(state, text, times, mood)
    if titled > 1 or (titled and text.startswith(("我是", "我们是"))):
        return
    if business(state, text, times, mood):
        return
    if len(state.findings.drafts) > before and _ENDED_UNKNOWN.search(text) is None and not times:
        _matched(state, text, times, mood)
        return
    if _matched(state, text, times, mood):
        subject = state.subject
        if subject is not None and subject.kind != "person" and not w.is_person(subject.text):
            state.topic = subject
        if replaced is not None:
            told_as_what(state, replaced, before, times)
        state.since = times if any(m.shape == "since" for m in times) else ()
        if re.search(r"曾(?!用名)", text):
            _end_unknown(state.findings.drafts, before)
        return
    if happened(state, text, times, mood):
        if state.subject is not None and not w.is_person(state.subject.text):
            state.topic = state.subject
        return
    if re.search(r"[他她它]", text):
        state.findings.drop("pronoun_subject", text, state.text)
    elif _ENDED_UNKNOWN.search(text):
        state.findings.drop("no_object", text, state.text)


def _matched(state: ChineseSentence, text: str, times: tuple[TimeMention, ...], mood: Mood | None) -> bool:
    if state.left is not None and took_what_was_left(state, text, times, mood):
        return True
    for candidate in _with_subject(state, text):
        for pattern in PATTERNS:
            m = pattern.regex.match(candidate)
            state.words = _relating(m) if m else ""
            if m and _ACTS[pattern.act](state, pattern, _groups(m), times, mood):
                return True
    return False


def _relating(m: re.Match[str]) -> str:
    """What a clause says between its names: the attribute it names, else the words outside the groups."""
    named = m.groupdict()
    if named.get("n"):
        return str(named["n"])
    marked = list(m.group())
    for name, words in named.items():
        if words is not None:
            marked[m.start(name) : m.end(name)] = "\u0001" * len(words)
    parts = [p.strip("的了，, ") for p in re.split("\u0001+", "".join(marked))]
    return max(parts, key=len)


def _end_unknown(drafts: list[Draft], first: int) -> None:
    """ "曾" without a date: it ended, nobody says when."""
    for i in range(first, len(drafts)):
        if drafts[i].time == UNDATED:
            drafts[i] = replace(drafts[i], time=interval((), "end"))


def _with_subject(state: ChineseSentence, text: str) -> list[str]:
    """The clause as it stands, then with the subject of the clause before it (Chinese leaves it out)."""
    own = [text]
    if state.subject is not None:
        own.append(state.subject.text + text)
    return own[::-1] if _ATTRIBUTE_FIRST.match(text) else own


def _groups(m: re.Match[str]) -> dict[str, str]:
    return {k: v.strip(' 　，,。“”"「」《》') for k, v in m.groupdict().items() if v}


def _brackets(state: ChineseSentence, text: str, mood: Mood | None) -> None:
    """ "远山科技（原名北河科技）"."""
    for m in re.finditer(
        r"(?P<s>[^，（(的由在]+)[（(](?P<how>原名|曾用名|又名|简称|原称|前身为?|下称|以下简称)(?:为|是|：|"
        r":)?(?P<o>[^)）]+)[)）]",
        text,
    ):
        subject = name_of(state, m.group("s"))
        if subject is not None:
            old = m.group("how").startswith(("原", "曾", "前身"))
            time = interval((), "end") if old else interval((), "start")
            phrase = "formerly known as" if old else "known as"
            state.findings.drafts.append(Draft(subject, phrase, text_value(m.group("o").strip('“”"')), time, mood))


def _pair(
    state: ChineseSentence, pattern: Pattern, g: dict[str, str], times: tuple[TimeMention, ...], mood: Mood | None
) -> bool:
    left, right = names_of(state, g["s"]), names_of(state, object_words(g["o"]))
    if not left or not right or (pattern.phrase in {"leads", "manages", "owns"} and not is_thing(right)):
        return False
    if pattern.phrase == "leads" and any(w.is_person(t.text) for t in (left if pattern.swap else right)):
        return False
    time = interval(times, pattern.aspect)
    price = (("price", g["price"]),) if g.get("price") else ()
    for a in left:
        for b in right:
            subject, target = (b, a) if pattern.swap else (a, b)
            add(
                state,
                subject,
                pattern.phrase,
                target,
                time,
                mood,
                qualifiers=price,
                object_kind=object_kind(pattern.phrase),
            )
    # The clause's topic is what it names first; the next clause is about that.
    state.subject = (right if next(iter(g)) == "o" else left)[0]
    return True


def _role(
    state: ChineseSentence, pattern: Pattern, g: dict[str, str], times: tuple[TimeMention, ...], mood: Mood | None
) -> bool:
    people = names_of(state, g["s"])
    # "2020年和2021年担任" lasted through both; a single year beside 担任 is when it began.
    joined = any(m.shape == "interval" and m.time.at_event for m in times)
    aspect: Aspect = "state" if joined and "任" in state.words else pattern.aspect
    drafts = [d for p in people for d in title_drafts(state, p, g["r"], None, interval(times, aspect), mood)]
    if drafts:
        state.subject = people[0]
    state.findings.drafts.extend(drafts)
    return bool(drafts)


def _work(
    state: ChineseSentence, pattern: Pattern, g: dict[str, str], times: tuple[TimeMention, ...], mood: Mood | None
) -> bool:
    people, places = names_of(state, g["s"]), names_of(state, re.sub(r"(?:决定|宣布|正式)+$", "", g["o"]))
    if pattern.act == "appoint" and people and not (places and places[0].kind and places[0].text != "董事会"):
        return _role(state, pattern, g, times, mood)
    if not people or not places:
        return False
    time = interval(times, "start" if pattern.act in {"join", "hire", "appoint"} else "state")
    for person in people:
        found = title_drafts(state, person, g["r"], places[0], time, mood) if g.get("r") else []
        phrase = pattern.phrase or _belongs(places[0], person)
        stated = any(d.phrase == phrase for d in found)
        state.findings.drafts.extend(found)
        if not stated and pattern.act != "appoint" and not (found and found[0].phrase in w.HELD_BY_PERSON):
            add(state, person, phrase, places[0], time, mood)
    state.subject = people[0]
    return True


def _belongs(place: Term, person: Term) -> str:
    if place.text.endswith(("委员会", "协会", "联盟", "团队", "小组", "组", "部", "理事会", "董事会")):
        return "member of"
    return belonging(place, person)


def _succeed(
    state: ChineseSentence, pattern: Pattern, g: dict[str, str], times: tuple[TimeMention, ...], mood: Mood | None
) -> bool:
    new, old = names_of(state, g["s"]), names_of(state, g["p"])
    if not new or not old:
        return False
    drafts = [d for p in new for d in title_drafts(state, p, g["r"], None, interval(times, "start"), mood)]
    drafts += [d for p in old for d in title_drafts(state, p, g["r"], None, handover_end(times), mood)]
    state.findings.drafts.extend(drafts)
    state.subject = new[0]
    return bool(drafts)


def _takeover(
    state: ChineseSentence, pattern: Pattern, g: dict[str, str], times: tuple[TimeMention, ...], mood: Mood | None
) -> bool:
    things = names_of(
        state, re.sub(r"(?:的)?(?:领导权|领导工作|负责人一职|管理权|领导职责)$", "", object_words(g["o"]))
    )
    new, old = names_of(state, g["s"]), names_of(state, g["p"]) if g.get("p") else []
    phrase = pattern.phrase or "leads"
    if not new or not things or not is_thing(things) or (g.get("p") and not old):
        return False
    for thing in things:
        for person in new:
            add(state, person, phrase, thing, interval(times, "start"), mood, subject_kind="person")
        for person in old:
            add(state, person, phrase, thing, handover_end(times), mood, subject_kind="person")
    state.subject = new[0]
    return True


def _stop(
    state: ChineseSentence, pattern: Pattern, g: dict[str, str], times: tuple[TimeMention, ...], mood: Mood | None
) -> bool:
    people, things = names_of(state, g["s"]), names_of(state, object_words(g["o"]))
    for person in people:
        for thing in things:
            phrase = pattern.phrase or _belongs(thing, person)
            add(state, person, phrase, thing, ending(state, person, times), mood)
    if people and things:
        state.subject = people[0]
    return bool(people and things)


def _quit(
    state: ChineseSentence, pattern: Pattern, g: dict[str, str], times: tuple[TimeMention, ...], mood: Mood | None
) -> bool:
    people = names_of(state, g["s"])
    drafts = [d for p in people for d in title_drafts(state, p, g["r"], None, ending(state, p, times), mood)]
    if drafts:
        leave(state, people[0], g["r"], times, drafts)
    return bool(drafts)


def _moved(
    state: ChineseSentence, pattern: Pattern, g: dict[str, str], times: tuple[TimeMention, ...], mood: Mood | None
) -> bool:
    who, new = name_of(state, g["s"]), name_of(state, g["b"])
    old = name_of(state, g["a"]) if g.get("a") else None
    if who is None or new is None or (new.kind not in {"place", None}):
        return False
    add(state, who, pattern.phrase, new, interval(times, "start"), mood, object_kind="place")
    if old is not None:
        add(state, who, pattern.phrase, old, handover_end(times), mood, object_kind="place")
    state.subject = who
    return True


def _pay(
    state: ChineseSentence, pattern: Pattern, g: dict[str, str], times: tuple[TimeMention, ...], mood: Mood | None
) -> bool:
    g = {k: re.sub(r"^(?:每月|每年|人民币|税前)", "", v) if k in "ab" else v for k, v in g.items()}
    who, new = name_of(state, g["s"]), parse_amount(g["b"])
    phrase = pattern.phrase or CHINESE_KEYS.get(g.get("n", ""), g.get("n", ""))
    if who is None or new.number is None:
        return False
    aspect = "state" if pattern.act == "value" else "start"
    add(state, who, phrase, new, interval(times, aspect), mood)  # type: ignore[arg-type]
    if g.get("a") and parse_amount(g["a"], new.unit).number is not None:
        add(state, who, phrase, parse_amount(g["a"], new.unit), handover_end(times), mood)
    state.subject = who
    return True


def _attribute(
    state: ChineseSentence, pattern: Pattern, g: dict[str, str], times: tuple[TimeMention, ...], mood: Mood | None
) -> bool:
    owner, noun, cell = name_of(state, g["s"]), g["n"], g["b"]
    if owner is None:
        return False
    time = interval(times, "state")
    former = noun.startswith(("前", "原")) and (w.ROLE.match(noun[1:]) is not None or noun.startswith("前任"))
    if former:
        noun, time = re.sub(r"^(?:前任|前|原)", "", noun), interval(times, "end")
    holders = names_of(state, cell)
    if w.ROLE.match(noun) and holders and not CHINESE_KEYS.get(noun, "").startswith("job"):
        found = [d for h in holders for d in title_drafts(state, h, noun, owner, time, mood)]
        state.findings.drafts.extend(found)
        return bool(found)
    phrase = plain_attribute(CHINESE_KEYS.get(noun, noun))
    if phrase in {"headquartered in", "located in"} and holders:
        add(state, owner, phrase, holders[0], time, mood, object_kind="place")
        return True
    value = parse_amount(cell)
    if value.number is not None and noun in CHINESE_KEYS:
        add(state, owner, phrase, value, time, mood)
        return True
    return False


def _founded(
    state: ChineseSentence, pattern: Pattern, g: dict[str, str], times: tuple[TimeMention, ...], mood: Mood | None
) -> bool:
    return _pair(state, pattern, g, times, mood) and (
        _began(state, pattern._replace(phrase="founded on"), {"s": g["o"]}, times, mood) or True
    )


def _began(
    state: ChineseSentence, pattern: Pattern, g: dict[str, str], times: tuple[TimeMention, ...], mood: Mood | None
) -> bool:
    who = name_of(state, g["s"])
    points = [m for m in times if m.shape in {"point", "since", "by"}]
    if who is None or not points or who.kind == "person":
        return False
    words = state.body[points[0].core_start : points[0].end]
    add(state, who, pattern.phrase, Value(words, datatype="date"), interval(points, "event"), mood)
    state.subject = who
    return True


def _rename(
    state: ChineseSentence, pattern: Pattern, g: dict[str, str], times: tuple[TimeMention, ...], mood: Mood | None
) -> bool:
    who = name_of(state, g["s"])
    if who is None or len(g["o"]) > 20:
        return False
    add(state, who, pattern.phrase, text_value(g["o"]), interval(times, pattern.aspect), mood)
    state.subject = who
    return True


def _retitled(
    state: ChineseSentence, pattern: Pattern, g: dict[str, str], times: tuple[TimeMention, ...], mood: Mood | None
) -> bool:
    """ "X的职务由A变更为B"."""
    who = name_of(state, g["s"])
    if who is None:
        return False
    new = title_drafts(state, who, g["b"], None, interval(times, "start"), mood)
    state.findings.drafts.extend(new + title_drafts(state, who, g["a"], None, handover_end(times), mood))
    state.subject = who
    return bool(new)


_Act = Callable[[ChineseSentence, Pattern, dict[str, str], tuple[TimeMention, ...], "Mood | None"], bool]
_ACTS: dict[str, _Act] = {
    "pair": _pair, "role": _role, "work": _work, "join": _work, "hire": _work, "appoint": _work, "succeed": _succeed,
    "takeover": _takeover, "hand": _takeover, "stop": _stop, "leave": _stop, "quit": _quit, "moved": _moved,
    "pay": _pay, "measure": measured,
    "change": _pay, "value": _pay, "attribute": _attribute, "founded": _founded, "began": _began, "rename": _rename,
    "retitle": _retitled, "dismiss": dismissed, "was": was_held, "gone": gone, "replaced": replaced_by, "sale": sale,
}  # fmt: skip
