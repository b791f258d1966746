"""One labelled value ("Lead: Li Si", a cell under "Salary (CNY)") as claims about its subject."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from substrate.extraction.builtin.amounts import parse_amount, unit_named
from substrate.extraction.builtin.drafts import Draft, role_drafts, text_value
from substrate.extraction.builtin.frames_values import PLAIN_ATTRIBUTE, plain_attribute
from substrate.extraction.builtin.intervals import UNKNOWN_END, interval
from substrate.extraction.builtin.names import capitalised, kind_of
from substrate.extraction.builtin.roles import MIRRORED, RELATION_OF_ROLE, is_role
from substrate.extraction.builtin.terms import Term
from substrate.extraction.builtin.verbs import STATE_NOUNS
from substrate.extraction.builtin.vocabulary import SMALL_COMPANY_FORMS
from substrate.extraction.claims import ClaimTime, Grade, Value
from substrate.extraction.times import Anchor, TimeMention, find_times, parse_time


def _words(text: str) -> frozenset[str]:
    return frozenset(w.strip() for w in text.split(",") if w.strip())


CHINESE_KEYS = {
    "负责人": "lead", "项目负责人": "lead", "组长": "lead", "牵头人": "lead", "领导": "lead", "经理": "manager",
    "项目经理": "manager", "主管": "manager", "月薪": "salary", "年薪": "salary", "薪资": "salary", "工资": "salary",
    "薪水": "salary", "薪酬": "salary", "基本工资": "salary", "职位": "job title", "职务": "job title",
    "岗位": "job title",
    "职称": "job title", "部门": "department", "所属部门": "department", "所在部门": "department", "团队": "team",
    "公司": "company", "单位": "company", "雇主": "employer", "工作单位": "employer", "所属公司": "employer",
    "地点": "location", "所在地": "location", "地址": "address", "办公地点": "location", "总部": "headquarters",
    "上级": "reports to", "汇报对象": "reports to", "直属上级": "reports to", "起始日期": "start", "开始日期": "start",
    "生效日期": "start", "入职日期": "start", "入职时间": "start",
    "任职日期": "start", "到岗日期": "start", "任命日期": "start", "执行日期": "start", "上任日期": "start",
    "起薪日期": "start",
    "加入日期": "start", "任职时间": "start", "离职日期": "end", "卸任日期": "end", "失效日期": "end",
    "合同到期日": "end",
    "开始时间": "start", "起始时间": "start", "起": "start", "自": "start", "生效时间": "start",
    "结束日期": "end", "截止日期": "end", "结束时间": "end", "终止日期": "end", "止": "end", "日期": "date",
    "时间": "date",
    "项目": "project", "项目名称": "project", "姓名": "name", "员工": "employee", "人员": "employee",
    "员工姓名": "employee",
    "名称": "name", "公司名称": "company", "预算": "budget", "状态": "status", "隶属": "part of", "所属": "part of",
    "上级单位": "part of", "顾问": "adviser", "成员": "member", "曾用名": "former name", "原名": "former name",
    "别名": "also known as", "又名": "also known as", "简称": "also known as", "客户": "customer", "供应商": "supplier",
    "责任人": "responsible", "经办人": "responsible", "处理人": "responsible", "跟进人": "responsible",
    "客户经理": "account manager", "严重程度": "severity", "优先级": "priority", "修复版本": "fix version",
    "法定代表人": "legal representative", "住所地": "address", "住所": "address", "注册地址": "address",
    "发起人": "sponsor", "所有者": "owner", "创始人": "founder", "价格": "price", "备注": "备注",
    "员工人数": "headcount", "收入": "revenue", "营业额": "revenue", "注册资本": "registered capital", "编号": "id",
    "邮箱": "email", "电话": "phone", "主席": "chair", "成立日期": "founded", "成立时间": "founded",
}  # fmt: skip

PERSON_KEYS = _words("name, full name, employee, employee name, person, staff member, staff, member name, who")
NAME_KEYS = {
    **dict.fromkeys(PERSON_KEYS, "person"),
    **dict.fromkeys(_words("project, project name, programme, program, initiative"), "project"),
    **dict.fromkeys(_words("company, company name, organisation, organization, customer name, vendor name, "
        "firm, employer name"), "organization"),
    **dict.fromkeys(_words("team, team name, department, unit, group, division"), "organization"),
    **dict.fromkeys(_words("product, product name, system, service, application, component"), "product"),
    **dict.fromkeys(_words("site, office, facility"), "place"),
}  # fmt: skip
"""Header or key whose value is the subject, and what kind of thing that is."""

START_KEYS = _words(
    "from, since, start, start date, started, effective, effective date, effective from, valid from, begin, begins, "
    "begin date, starting, with effect from, effective since, as of, in force from, active from, appointed on, hired, "
    "hire date, date of hire, hired on, joined, joined on, date of joining, joining date, employed since, in "
    "post since, "
    "appointed, date of appointment, appointment date, commencement date, commencement, starting date, "
    "employment start, "
    "start of employment, in role since, in office since, first day, effective as of, takes effect, effect "
    "from, lead since, "
    "with the company since, date of effect, in effect from, date of entry, entry date, date effective"
)
END_KEYS = _words("to, until, end, end date, ended, valid to, valid until, through, expires, till, active until, thru")
DATE_KEYS = _words("date, when, month, year, period, day, quarter")
SILENT_KEYS = _words(
    "参会人员, 与会人员, 出席, 出席人员, 缺席, 参加人员, 列席, 记录人, 记录, 主题, 议题, 抄送, 收件人, 发件人, "
    "发文日期, 文号, 电话, 邮箱, "
    "致, 主送, 附件, 备注, 制表, 制表人, 审核, 审核人, 批准人, 签发, 签发人, 落款, phone, telephone, email, "
    "e-mail, fax, mobile, "
    "contact, signed, signed by, approved by, reviewed by, issued by, issued, date of issue, document number, doc no, "
    "absent, participants, secretary of the meeting, copies, sincerely, dear, regarding, place and date, "
    "to, from, cc, bcc, subject, re, date, author, authors, prepared by, written by, version, page, "
    "attendees, present, "
    "apologies, reference, ref, note, notes, id, no, no., #, index, attachment, attachments, sent, tel, topic, agenda, "
    "minutes, recorded by, distribution, classification, document, title of document, source, url, link, "
    "tags, keywords, "
    "remarks, comment, comments, summary, description, details, background, purpose, scope, event, action, actions, "
    "decision, decisions, time, venue, example, question, answer, q, a, warning, tip, important, todo, fyi, ps, p.s"
)

TOLD_KEYS = _words(
    "change, changes, event, description, entry, what, decision, note, notes, remarks, details, what changed, update, "
    "change made, summary, comment, action, minute, resolution, 变更, 事项, 内容, 说明, 变更内容, 变更事项, "
    "事件, 决议, 备注"
)
"""Columns that say in words what happened."""
NOT_SUBJECTS = _words(
    "salary, budget, status, price, pay, location, city, role, position, job title, title, author, approved by"
)
"""Columns that no row is about."""

_ENTITY_PHRASES = {
    **dict.fromkeys(_words("employer, works for, employed by, works at"), "works for"),
    **dict.fromkeys(_words("part of, belongs to, parent, parent company, parent organisation, parent "
        "organization, parent unit, reports into"), "part of"),
    **dict.fromkeys(_words("reports to, supervisor, line manager, boss, direct manager"), "reports to"),
    **dict.fromkeys(_words("location, site, city, located in, based in, office, office location, place, "
        "country, work location"), "located in"),
    **dict.fromkeys(_words("headquarters, hq, head office, headquartered in"), "headquartered in"),
    **dict.fromkeys(_words("works on, assigned to, assignment, assigned project"), "works on"),
    **dict.fromkeys(_words("member of, committee, board"), "member of"),
    **dict.fromkeys(_words("leads, lead of, leader of, head of"), "leads"),
    **dict.fromkeys(_words("manages, manager of"), "manages"),
    **dict.fromkeys(_words("owns, owner of"), "owns"),
    **dict.fromkeys(_words("advises, adviser of, advisor of"), "advises"),
    **dict.fromkeys(_words("uses"), "uses"),
    **dict.fromkeys(_words("acquired"), "acquired"),
    **dict.fromkeys(_words("subsidiary of"), "subsidiary of"),
    **dict.fromkeys(_words("assignee"), "assigned to"),
    **dict.fromkeys(_words("replaces, supersedes"), "replaced"),
    **dict.fromkeys(_words("reporter, reported by"), "reported by"),
    **dict.fromkeys(_words("depends on, dependency, dependencies"), "depends on"),
    **dict.fromkeys(_words("runs on, hosted on"), "runs on"),
}  # fmt: skip
RESPONSIBLE_KEYS = _words(
    "responsible, responsible person, action owner, handled by, account manager, "
    "person responsible, in charge, owner of action, case owner, caretaker, administrator, admin"
)
"""Who has a thing in hand."""
_TITLE_KEYS = _words("job title, title, role, position, job, post, rank, function")
_NAME_VALUES = {
    **dict.fromkeys(_words("also known as, aka, alias, aliases, known as, short name, new name"), "known as"),
    **dict.fromkeys(_words("former name, formerly, formerly known as, old name, previous name, maiden name"),
        "formerly known as"),
}  # fmt: skip
_HOLDER_KEYS = _words("lead, leader, head, manager, director, owner, chair, chairman, chairwoman, chairperson")
_UNIT_IN_HEADER = re.compile(r"\s*[(（\[]\s*(?P<unit>[^)）\]]+)\s*[)）\]]\s*|\s+in\s+(?P<in>[A-Z]{3})$")
_OF_PERSONS = _words(
    "job title, title, position, salary, pay, wage, employer, department, team, reports to, line manager, "
    "supervisor, hire date, "
    "role, job, employee id, email, grade, works for, annual salary, monthly salary, base salary, date of "
    "birth, birthday"
)
_VERSION = re.compile(
    r"^(?:(?P<old>old|previous|former|prior|原|旧|调整前|变更前|调薪前)|(?:new|current|present|新|现|调整后|"
    r"变更后|调薪后))\s*的?"
    r"(?P<rest>salary|pay|wage|monthly salary|annual salary|monthly pay|budget|price|title|job title|position|"
    r"role|lead|"
    r"leader|manager|owner|head|sponsor|chair|location|headcount|department|employer|月薪|年薪|工资|薪资|"
    r"基本工资|预算|价格|职位|"
    r"职务|岗位|负责人|项目负责人|部门|地点|经理|顾问)$"
)
_EMPTY = {
    "",
    "-",
    "–",
    "—",
    "n/a",
    "na",
    "none",
    "null",
    "tbd",
    "tbc",
    "?",
    "无",
    "暂无",
    "unknown",
    "n.a.",
    "…",
    "...",
    "待定",
    "nil",
    "vacant",
    "/",
}
_SPLIT = re.compile(r"\s*(?:[,，、;；/&]|\band\b|和|及|与)\s*")
_OUTSIDE_BRACKETS = re.compile(r"\s*[,;，；、]\s*(?![^(（]*[)）])(?:and\s+)?|\s+and\s+(?![^(（]*[)）])")
_UNIT_KEYS = _words("department, team, unit, group, division, part, branch, component")


@dataclass(frozen=True, slots=True)
class Key:
    """A label brought to a plain form, with the unit it names for its values."""

    plain: str
    unit: str | None = None
    written: str = ""

    def under(self, heading: str) -> Key:
        """The same key as a heading writes it."""
        return Key(self.plain, self.unit, heading)


def read_key(label: str) -> Key:
    """ "Salary (CNY)" → ("salary", CNY); "项目负责人" → "lead"."""
    text = label.strip().strip("*_ :：")
    unit = None
    if m := _UNIT_IN_HEADER.search(text):
        unit = unit_named(m.group("unit") or m.group("in") or "")
        text = (text[: m.start()] + " " + text[m.end() :]).strip()
    low = re.sub(r"[\s_]+", " ", text.replace("_", " ").lower()).strip(" .")
    return Key(CHINESE_KEYS.get(text, low), unit, label.strip())


def speaks_of_person(keys: Iterable[Key]) -> bool:
    """Whether one of the labels makes sense of a person alone, so that the "Name" beside it is a person's."""
    return any(k.plain in _OF_PERSONS for k in keys)


def is_empty(cell: str) -> bool:
    return cell.strip().lower() in _EMPTY


def looks_like_name(text: str) -> bool:
    """Capitalised throughout (short joining words aside), or a short Chinese name."""
    text = text.strip().strip(".")
    words = text.split()
    if not words or len(words) > 7 or re.search(r"[.!?。！？:：]\s", text):
        return False
    if re.search(r"[\u4e00-\u9fff]", text):
        return len(text) <= 16 and not re.search(r"[，。；]", text)
    small = {
        *SMALL_COMPANY_FORMS,
        "of",
        "the",
        "and",
        "for",
        "de",
        "van",
        "von",
        "der",
        "di",
        "da",
        "la",
        "team",
        "group",
        "project",
        "al",
        "bin",
    }
    words = [w.rstrip(",;") for w in words]
    if not all(words):
        return False
    return capitalised(words[0]) and all(capitalised(w) or w in small or w.isdigit() for w in words)


def named(text: str, kind: str | None = None) -> Term:
    text = re.sub(r"^(?:the|The)\s+", "", text.strip())
    return Term("name", text, kind_of_any(text) or kind)


def kind_of_any(text: str) -> str | None:
    from substrate.extraction.builtin.chinese_words import chinese_kind

    return chinese_kind(text) if re.search(r"[\u4e00-\u9fff]", text) else kind_of(text)


def cell_time(cell: str, anchor: Anchor | None) -> tuple[str, ClaimTime | None]:
    """The cell without a bracketed or trailing time, and that time ("Li Si (since 2024-07-05)")."""
    mentions = find_times(cell, anchor)
    if not mentions:
        return cell, None
    rest = _without_times(cell, mentions)
    return (rest, interval(mentions, "state")) if rest and looks_like_name(rest) else (cell, None)


def _without_times(cell: str, mentions: Sequence[TimeMention]) -> str:
    rest = cell
    for m in reversed(mentions):
        rest = rest[: m.start] + rest[m.end :]
    return re.sub(r"[(（\[]\s*[,;，]*\s*[)）\]]", "", rest).strip(" ,;，；")


def _ended(time: ClaimTime) -> ClaimTime:
    """Until the row's start, for a column of what was before ("Old salary")."""
    if time.valid_from is None:
        return UNKNOWN_END
    return ClaimTime(
        valid_to=time.valid_from, valid_to_precision=time.valid_from_precision, grade=time.grade, words=time.words
    )


def field_drafts(subject: Term, key: Key, cell: str, time: ClaimTime, anchor: Anchor | None) -> list[Draft]:
    """Claims that `cell` under `key` makes about `subject`; none for keys that say nothing of it."""
    if is_empty(cell) or key.plain in SILENT_KEYS - _TITLE_KEYS:
        return []
    if (m := _VERSION.match(key.plain)) is not None:
        time = _ended(time) if m.group("old") else time
        inner = read_key(m.group("rest"))
        key = Key(inner.plain, key.unit, key.written)
    rest, own = cell_time(cell.strip(), anchor)
    time = own or time
    plain = key.plain
    if plain in RESPONSIBLE_KEYS and subject.kind != "person":
        people = timed_names(cell.strip(), own or time, anchor)
        kind = None if re.search(r"(?i)\b(?:team|group|department)\b", cell) else "person"
        return [Draft(named(n, kind), "responsible for", subject, t, wording=key.written) for n, t in people]
    if plain in _TITLE_KEYS:
        if subject.kind not in {None, "person"}:
            return []
        return role_drafts(Term("name", subject.text, "person"), Term("role", rest), None, time, None, key.written)
    if plain in _NAME_VALUES:
        return [Draft(subject, _NAME_VALUES[plain], text_value(rest), time, wording=key.written)]
    if plain in {"founded", "established", "launched", "started"} and parse_time(rest, anchor):
        event = "founded on" if plain in {"founded", "established"} else f"{plain} on"
        return [
            Draft(subject, event, Value(rest, datatype="date"), parse_time(rest, anchor) or time, wording=key.written)
        ]
    holders = holder_drafts(subject, key, cell.strip(), own or time, anchor)
    if holders:
        return holders
    phrase = _entity_phrase(plain, subject)
    if phrase is not None and looks_like_name(rest):
        kind = "place" if phrase in {"located in", "headquartered in"} else None
        return [Draft(subject, phrase, named(p, kind), time, wording=key.written) for p in _parts(rest)]
    return _valued(subject, key, rest, time, anchor)


def tells_of_thing(key: Key) -> bool:
    """Whether a label is a role, a relation or an attribute we know, and not the head of just any list."""
    plain = plain_attribute(key.plain)
    role = key.plain[:-1] if key.plain.endswith("s") else key.plain
    known = plain in STATE_NOUNS | {"status", "located in", "headquartered in"} or plain in PLAIN_ATTRIBUTE
    return known or role in RELATION_OF_ROLE or is_role(role) or key.plain in _ENTITY_PHRASES


_OF_ACCOUNTS = re.compile(
    r"^(?:account|client|customer|sales|relationship|deal|opportunity) (?:owner|manager|executive|rep|representative)$"
)
"""Who looks after a customer for somebody else does not work for that customer."""


def holder_drafts(subject: Term, key: Key, cell: str, time: ClaimTime, anchor: Anchor | None) -> list[Draft]:
    """ "Lead: Li Si" about a project; "Members: A, B"; "Lead: A (2019–2021), B (since 2021)"."""
    role = key.plain[:-1] if key.plain.endswith("s") and is_role(key.plain[:-1]) else key.plain
    kind, _, last = role.rpartition(" ")
    if role not in RELATION_OF_ROLE and last in {"owner", "lead", "sponsor", "maintainer"} and kind in _KINDS_OWNED:
        role = last
    if _OF_ACCOUNTS.match(role):
        people = timed_names(cell, time, anchor)
        return [Draft(named(n, "person"), "responsible for", subject, t, wording=key.written) for n, t in people]
    relation = role in RELATION_OF_ROLE or role in MIRRORED or (is_role(role) and subject.kind != "person")
    people = timed_names(cell, time, anchor)
    if not relation or not people or role in _UNIT_KEYS:
        return []
    if role in {"parent company", "parent", "employer"}:
        phrase = "works for" if role == "employer" else "part of"
        return [Draft(subject, phrase, named(n), t, wording=key.written) for n, t in people]
    if subject.kind == "person" and role in {"project lead", "project", "supplier", "customer"}:
        return []
    found: list[Draft] = []
    spelled = role.upper() if len(role) == 3 else role
    if role not in RELATION_OF_ROLE and key.plain == role:
        spelled = key.written.strip("*_ :：") or spelled
    for name, held in people:
        holder = named(name, "person" if role in _HOLDER_KEYS else None)
        made = role_drafts(holder, Term("role", spelled), subject, held, None, key.written)
        # Who is the deputy lead of a project does not work for the project.
        found.extend(
            d for d in made if d.phrase != "works for" or role in RELATION_OF_ROLE or subject.kind == "organization"
        )
    return found


_KINDS_OWNED = _words(
    "policy, service, system, data, process, document, page, dataset, module, application, contract, risk"
)


def timed_names(cell: str, time: ClaimTime, anchor: Anchor | None) -> list[tuple[str, ClaimTime]]:
    """The names of a cell, each with the time written beside it or else `time`; empty when one is no name."""
    found: list[tuple[str, ClaimTime]] = []
    for piece in (p.strip() for p in _OUTSIDE_BRACKETS.split(cell) if p.strip()):
        if found and (alone := parse_time(piece, anchor)) is not None:
            mentions = find_times(piece, anchor)
            found[-1] = (found[-1][0], interval(mentions, "state") if mentions else alone)
            continue
        rest, said = cell_time(piece, anchor)
        if not looks_like_name(rest):
            whole, own = cell_time(cell, anchor)
            return [(whole, own or time)] if looks_like_name(whole) and not _SPLIT.search(whole) else []
        found.append((rest, said or time))
    return found


def _entity_phrase(plain: str, subject: Term) -> str | None:
    if plain in {"assigned to", "assignee"}:
        return "works on" if subject.kind == "person" else "assigned to"
    if plain in _ENTITY_PHRASES:
        return _ENTITY_PHRASES[plain]
    if plain in {"team", "department", "unit", "group", "division", "squad", "section", "business unit"}:
        return "member of" if subject.kind == "person" else "part of"
    if plain in {"company", "organisation", "organization", "firm"}:
        return "works for" if subject.kind == "person" else "part of"
    if plain in {"project", "programme", "program", "projects"}:
        return "works on" if subject.kind == "person" else "part of"
    return None


def _parts(cell: str) -> list[str]:
    parts = [p for p in _SPLIT.split(cell) if p]
    return parts if all(looks_like_name(p) for p in parts) and not re.search(r"&", cell) else [cell]


def _valued(subject: Term, key: Key, cell: str, time: ClaimTime, anchor: Anchor | None) -> list[Draft]:
    phrase = plain_attribute(key.plain)
    if not re.fullmatch(r"[a-z][a-z0-9 .&/-]{1,40}|[\u4e00-\u9fff]{2,10}", phrase) or len(phrase.split()) > 4:
        return []
    value = parse_amount(cell, key.unit)
    if value.number is None and (mentions := find_times(cell, anchor)):
        bare = parse_amount(_without_times(cell, mentions), key.unit)
        if bare.number is not None:
            value, time = bare, interval(mentions, "state")
    if value.number is None and parse_time(cell, anchor) is not None:
        value = Value(cell, datatype="date")
    if value.number is None and len(cell.split()) > 8:
        return []
    return [Draft(subject, phrase, value, time, confidence=0.8, wording=key.written)]


def field_time(key: Key, cell: str, anchor: Anchor | None) -> tuple[str, ClaimTime] | None:
    """("start" | "end" | "date", time) when the label dates its row or block and the cell is a time."""
    sides = (("start", START_KEYS), ("end", END_KEYS), ("date", DATE_KEYS))
    side = next((name for name, keys in sides if key.plain in keys), None)
    if side is None or is_empty(cell):
        return None
    time = parse_time(cell, anchor)
    return (side, time) if time is not None else None


def joined_time(sides: dict[str, ClaimTime]) -> ClaimTime:
    """One interval from a start, an end and a date; a lone date is a start, since a row states what begins."""
    start, end, date = sides.get("start"), sides.get("end"), sides.get("date")
    if start is None and date is not None:
        if date.valid_from_precision in {"month", "year"} and end is None:
            return ClaimTime(
                date.valid_from,
                date.valid_from_precision,
                date.valid_to,
                date.valid_to_precision,
                date.grade,
                date.words,
            )
        start = date
    grade: Grade = max((t.grade for t in (start, end) if t), default="A")
    words = " … ".join(t.words for t in (start, end) if t and t.words)
    return ClaimTime(
        start.valid_from if start else None,
        start.valid_from_precision if start else None,
        end.valid_to if end else None,
        end.valid_to_precision if end else None,
        grade,
        words,
    )
