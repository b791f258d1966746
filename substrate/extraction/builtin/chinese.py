"""Chinese sentences by patterns, without segmentation: times are taken out, clauses matched whole."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from substrate.extraction.builtin import chinese_words as w
from substrate.extraction.builtin.amounts import parse_amount
from substrate.extraction.builtin.chinese_corrections import corrected, righted, taken_back
from substrate.extraction.builtin.chinese_moods import clause_mood, sentence_mood
from substrate.extraction.builtin.chinese_names import Hidden
from substrate.extraction.builtin.chinese_terms import is_thing, latin_kind, object_kind, object_words, pronoun
from substrate.extraction.builtin.chinese_verbs import PATTERNS, Pattern
from substrate.extraction.builtin.drafts import CONTEXTUAL, Draft, Findings, text_value
from substrate.extraction.builtin.fields import CHINESE_KEYS
from substrate.extraction.builtin.frames_roles import belonging
from substrate.extraction.builtin.frames_values import plain_attribute
from substrate.extraction.builtin.intervals import handover_end, interval
from substrate.extraction.builtin.terms import CONTEXT, Term
from substrate.extraction.claims import UNDATED, ClaimTime, Mood, Value
from substrate.extraction.times import Anchor, TimeMention, find_times

_CLAUSE = re.compile(r"[，；;]|,(?!\d{3})|(?<=[\u4e00-\u9fff])、(?=并|且)")
_ENDED_UNKNOWN = re.compile(r"离职|已离开|辞职|退休|卸任")
_PREAMBLE = re.compile(r"(?:决定|批准|研究|同意|通知|需要|安排|要求|精神|规定|调整|审议|讨论|原因|如下|通过)$")
_ATTRIBUTE_FIRST = re.compile(
    r"(?:其|现)?(?:总部|月薪|年薪|工资|薪资|薪酬|基本工资|预算|价格|员工人数|注册资本|负责人|项目负责人|顾问|"
    r"经理|地址|职位|职务|每月工资|收入)"
)
_PLACEHOLDER = "\u0001"


@dataclass(slots=True)
class _Sentence:
    """One sentence under reading."""

    text: str
    body: str
    mood: Mood | None
    findings: Findings
    subject: Term | None = None
    leading: tuple[TimeMention, ...] = ()
    words: str = ""
    """The clause's own words for the relation."""
    left: tuple[str, tuple[TimeMention, ...]] | None = None
    """A role someone just gave up, and when, for "由…接任" after it."""


def read_chinese(text: str, anchor: Anchor | None) -> Findings:
    """Claims in draft of one Chinese sentence."""
    findings, hidden = Findings(), Hidden()
    body, correction, wrong, right = taken_back(text, hidden)
    state = _Sentence(text, body, sentence_mood(body, correction.denies), findings)
    mentions = find_times(body, anchor)
    for clause, times in _clauses(body, mentions):
        bare = clause.strip(" 　。！？!?.;；：:“”")
        if not bare:
            state.leading = (*state.leading, *times)
            continue
        _clause(state, bare, (*state.leading, *times))
    findings.drafts = corrected(findings.drafts, correction, wrong, body)
    findings.drafts += righted(findings.drafts, right)
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


def _clause(state: _Sentence, bare: str, times: tuple[TimeMention, ...]) -> None:
    mood, text = clause_mood(bare)
    if state.mood is not None:
        mood = state.mood
    if re.search(r"日期(?:未|不)|时间(?:未|不)", text) and len(text) < 14:
        return
    _brackets(state, text, mood)
    text = re.sub(r"[(（][^)）]*[)）]", "", text)
    before = len(state.findings.drafts)
    if _matched(state, text, times, mood):
        if re.search(r"曾(?!用名)", text):
            _end_unknown(state.findings.drafts, before)
        return
    if re.search(r"[他她它]", text):
        state.findings.drop("pronoun_subject", text, state.text)
    elif _ENDED_UNKNOWN.search(text):
        state.findings.drop("no_object", text, state.text)


def _matched(state: _Sentence, text: str, times: tuple[TimeMention, ...], mood: Mood | None) -> bool:
    if (m := re.fullmatch(r"由(.+?)(?:接任|继任|接替)", text)) and state.left:
        role, left = state.left
        new = _names(state, m.group(1))
        time = interval(times or left, "start")
        state.findings.drafts.extend(d for n in new for d in _role_drafts(state, n, role, None, time, mood))
        return bool(new)
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


def _with_subject(state: _Sentence, text: str) -> list[str]:
    """The clause as it stands, then with the subject of the clause before it (Chinese leaves it out)."""
    own = [text]
    if state.subject is not None:
        own.append(state.subject.text + text)
    return own[::-1] if _ATTRIBUTE_FIRST.match(text) else own


def _groups(m: re.Match[str]) -> dict[str, str]:
    return {k: v.strip(' 　，,。“”"「」《》') for k, v in m.groupdict().items() if v}


def _brackets(state: _Sentence, text: str, mood: Mood | None) -> None:
    """ "远山科技（原名北河科技）"."""
    for m in re.finditer(
        r"(?P<s>[^，（(的由在]+)[（(](?P<how>原名|曾用名|又名|简称|原称|前身为?|下称|以下简称)(?:为|是|：|"
        r":)?(?P<o>[^)）]+)[)）]",
        text,
    ):
        subject = _name(state, m.group("s"))
        if subject is not None:
            old = m.group("how").startswith(("原", "曾", "前身"))
            time = interval((), "end") if old else interval((), "start")
            phrase = "formerly known as" if old else "known as"
            state.findings.drafts.append(Draft(subject, phrase, text_value(m.group("o").strip('“”"')), time, mood))


def _name(state: _Sentence, text: str, role_too: bool = True) -> Term | None:
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
        r"以及|工资|月薪)",
        text,
    ):
        return None
    return Term("name", text, w.chinese_kind(text) or latin_kind(text))


def _names(state: _Sentence, text: str) -> list[Term]:
    """ "张三和李四", "张三、李四"; empty when one of them is no name."""
    parts = [p for p in re.split(r"、|和|与|及|以及", text) if p] if not w.is_person(text) else [text]
    found = [_name(state, p) for p in parts]
    if len(parts) > 1 and any(f is None for f in found):
        whole = _name(state, text)
        return [whole] if whole is not None else []
    return [f for f in found if f is not None]


def _add(
    state: _Sentence,
    subject: Term,
    phrase: str,
    target: Term | Value,
    time: ClaimTime,
    mood: Mood | None,
    **more: object,
) -> None:
    fields = {"wording": state.words or phrase, **more}
    state.findings.drafts.append(Draft(subject, phrase, target, time, mood, **fields))  # type: ignore[arg-type]


def _pair(
    state: _Sentence, pattern: Pattern, g: dict[str, str], times: tuple[TimeMention, ...], mood: Mood | None
) -> bool:
    left, right = _names(state, g["s"]), _names(state, object_words(g["o"]))
    if not left or not right or (pattern.phrase in {"leads", "manages", "owns"} and not is_thing(right)):
        return False
    time = interval(times, pattern.aspect)
    price = (("price", g["price"]),) if g.get("price") else ()
    for a in left:
        for b in right:
            subject, target = (b, a) if pattern.swap else (a, b)
            _add(
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


def _role_drafts(
    state: _Sentence, person: Term, words: str, org: Term | None, time: ClaimTime, mood: Mood | None
) -> list[Draft]:
    words = re.sub(r"^(?:一名|一位|新任|现任|前任?|了)", "", words)
    words = re.sub(r"(?:一职|职务|职位)$", "", words)
    m = w.ROLE.match(words)
    if m is None:
        return []
    named = m.group("org").strip("的")
    role = m.group("role")
    if named and role.startswith("项目") and role != "项目" and w.chinese_kind(named) != "organization":
        named, role = named + "项目", role.removeprefix("项目")
    if named:
        org = _name(state, named, role_too=False) or org
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


def _role(
    state: _Sentence, pattern: Pattern, g: dict[str, str], times: tuple[TimeMention, ...], mood: Mood | None
) -> bool:
    people = _names(state, g["s"])
    aspect = pattern.aspect
    drafts = [d for p in people for d in _role_drafts(state, p, g["r"], None, interval(times, aspect), mood)]
    if drafts:
        state.subject = people[0]
    state.findings.drafts.extend(drafts)
    return bool(drafts)


def _work(
    state: _Sentence, pattern: Pattern, g: dict[str, str], times: tuple[TimeMention, ...], mood: Mood | None
) -> bool:
    people, places = _names(state, g["s"]), _names(state, re.sub(r"(?:决定|宣布|正式)+$", "", g["o"]))
    if pattern.act == "appoint" and people and not (places and places[0].kind and places[0].text != "董事会"):
        return _role(state, pattern, g, times, mood)
    if not people or not places:
        return False
    time = interval(times, "start" if pattern.act in {"join", "hire", "appoint"} else "state")
    for person in people:
        found = _role_drafts(state, person, g["r"], places[0], time, mood) if g.get("r") else []
        phrase = pattern.phrase or _belongs(places[0], person)
        stated = any(d.phrase == phrase for d in found)
        state.findings.drafts.extend(found)
        if not stated and pattern.act != "appoint" and not (found and found[0].phrase in w.HELD_BY_PERSON):
            _add(state, person, phrase, places[0], time, mood)
    state.subject = people[0]
    return True


def _belongs(place: Term, person: Term) -> str:
    if place.text.endswith(("委员会", "协会", "联盟", "团队", "小组", "组", "部", "理事会", "董事会")):
        return "member of"
    return belonging(place, person)


def _succeed(
    state: _Sentence, pattern: Pattern, g: dict[str, str], times: tuple[TimeMention, ...], mood: Mood | None
) -> bool:
    new, old = _names(state, g["s"]), _names(state, g["p"])
    if not new or not old:
        return False
    drafts = [d for p in new for d in _role_drafts(state, p, g["r"], None, interval(times, "start"), mood)]
    drafts += [d for p in old for d in _role_drafts(state, p, g["r"], None, handover_end(times), mood)]
    state.findings.drafts.extend(drafts)
    state.subject = new[0]
    return bool(drafts)


def _takeover(
    state: _Sentence, pattern: Pattern, g: dict[str, str], times: tuple[TimeMention, ...], mood: Mood | None
) -> bool:
    things = _names(state, re.sub(r"(?:的)?(?:领导权|领导工作|负责人一职|管理权|领导职责)$", "", object_words(g["o"])))
    new, old = _names(state, g["s"]), _names(state, g["p"]) if g.get("p") else []
    if not new or not things or not is_thing(things):
        return False
    for thing in things:
        for person in new:
            _add(state, person, "leads", thing, interval(times, "start"), mood, subject_kind="person")
        for person in old:
            _add(state, person, "leads", thing, handover_end(times), mood, subject_kind="person")
    state.subject = new[0]
    return True


def _stop(
    state: _Sentence, pattern: Pattern, g: dict[str, str], times: tuple[TimeMention, ...], mood: Mood | None
) -> bool:
    people, things = _names(state, g["s"]), _names(state, object_words(g["o"]))
    for person in people:
        for thing in things:
            phrase = pattern.phrase or _belongs(thing, person)
            _add(state, person, phrase, thing, interval(times, "end"), mood)
    if people and things:
        state.subject = people[0]
    return bool(people and things)


def _quit(
    state: _Sentence, pattern: Pattern, g: dict[str, str], times: tuple[TimeMention, ...], mood: Mood | None
) -> bool:
    people = _names(state, g["s"])
    drafts = [d for p in people for d in _role_drafts(state, p, g["r"], None, interval(times, "end"), mood)]
    state.findings.drafts.extend(drafts)
    if drafts:
        state.subject, state.left = people[0], (g["r"], times)
    return bool(drafts)


def _moved(
    state: _Sentence, pattern: Pattern, g: dict[str, str], times: tuple[TimeMention, ...], mood: Mood | None
) -> bool:
    who, new = _name(state, g["s"]), _name(state, g["b"])
    old = _name(state, g["a"]) if g.get("a") else None
    if who is None or new is None or (new.kind not in {"place", None}):
        return False
    _add(state, who, pattern.phrase, new, interval(times, "start"), mood, object_kind="place")
    if old is not None:
        _add(state, who, pattern.phrase, old, handover_end(times), mood, object_kind="place")
    state.subject = who
    return True


def _pay(
    state: _Sentence, pattern: Pattern, g: dict[str, str], times: tuple[TimeMention, ...], mood: Mood | None
) -> bool:
    g = {k: re.sub(r"^(?:每月|每年|人民币|税前)", "", v) if k in "ab" else v for k, v in g.items()}
    who, new = _name(state, g["s"]), parse_amount(g["b"])
    phrase = pattern.phrase or CHINESE_KEYS.get(g.get("n", ""), g.get("n", ""))
    if who is None or new.number is None:
        return False
    aspect = "state" if pattern.act == "value" else "start"
    _add(state, who, phrase, new, interval(times, aspect), mood)  # type: ignore[arg-type]
    if g.get("a") and parse_amount(g["a"], new.unit).number is not None:
        _add(state, who, phrase, parse_amount(g["a"], new.unit), handover_end(times), mood)
    state.subject = who
    return True


def _attribute(
    state: _Sentence, pattern: Pattern, g: dict[str, str], times: tuple[TimeMention, ...], mood: Mood | None
) -> bool:
    owner, noun, cell = _name(state, g["s"]), g["n"], g["b"]
    if owner is None:
        return False
    time = interval(times, "state")
    former = noun.startswith(("前", "原")) and (w.ROLE.match(noun[1:]) is not None or noun.startswith("前任"))
    if former:
        noun, time = re.sub(r"^(?:前任|前|原)", "", noun), interval(times, "end")
    holders = _names(state, cell)
    if w.ROLE.match(noun) and holders and not CHINESE_KEYS.get(noun, "").startswith("job"):
        found = [d for h in holders for d in _role_drafts(state, h, noun, owner, time, mood)]
        state.findings.drafts.extend(found)
        return bool(found)
    phrase = plain_attribute(CHINESE_KEYS.get(noun, noun))
    if phrase in {"headquartered in", "located in"} and holders:
        _add(state, owner, phrase, holders[0], time, mood, object_kind="place")
        return True
    value = parse_amount(cell)
    if value.number is not None and noun in CHINESE_KEYS:
        _add(state, owner, phrase, value, time, mood)
        return True
    return False


def _founded(
    state: _Sentence, pattern: Pattern, g: dict[str, str], times: tuple[TimeMention, ...], mood: Mood | None
) -> bool:
    return _pair(state, pattern, g, times, mood) and (
        _began(state, pattern._replace(phrase="founded on"), {"s": g["o"]}, times, mood) or True
    )


def _began(
    state: _Sentence, pattern: Pattern, g: dict[str, str], times: tuple[TimeMention, ...], mood: Mood | None
) -> bool:
    who = _name(state, g["s"])
    points = [m for m in times if m.shape in {"point", "since", "by"}]
    if who is None or not points or who.kind == "person":
        return False
    words = state.body[points[0].core_start : points[0].end]
    _add(state, who, pattern.phrase, Value(words, datatype="date"), interval(points, "event"), mood)
    state.subject = who
    return True


def _rename(
    state: _Sentence, pattern: Pattern, g: dict[str, str], times: tuple[TimeMention, ...], mood: Mood | None
) -> bool:
    who = _name(state, g["s"])
    if who is None or len(g["o"]) > 20:
        return False
    _add(state, who, pattern.phrase, text_value(g["o"]), interval(times, pattern.aspect), mood)
    state.subject = who
    return True


def _retitled(
    state: _Sentence, pattern: Pattern, g: dict[str, str], times: tuple[TimeMention, ...], mood: Mood | None
) -> bool:
    """ "X的职务由A变更为B"."""
    who = _name(state, g["s"])
    if who is None:
        return False
    new = _role_drafts(state, who, g["b"], None, interval(times, "start"), mood)
    state.findings.drafts.extend(new + _role_drafts(state, who, g["a"], None, handover_end(times), mood))
    state.subject = who
    return bool(new)


_Act = Callable[[_Sentence, Pattern, dict[str, str], tuple[TimeMention, ...], "Mood | None"], bool]
_ACTS: dict[str, _Act] = {
    "pair": _pair, "role": _role, "work": _work, "join": _work, "hire": _work, "appoint": _work, "succeed": _succeed,
    "takeover": _takeover, "hand": _takeover, "stop": _stop, "leave": _stop, "quit": _quit, "moved": _moved,
    "pay": _pay,
    "change": _pay, "value": _pay, "attribute": _attribute, "founded": _founded, "began": _began, "rename": _rename,
    "retitle": _retitled,
}  # fmt: skip
