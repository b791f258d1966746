"""Concepts: which words of a declared relation mean the same as a plain phrase of the extractors.

An ontology may call "works for" `employed_by`, `employer` or 雇主. A claim's phrase binds to the one relation whose
key, label or aliases name the same concept; where two relations do, the words decide nothing and the phrase stays
unbound.
`BACKWARDS` holds words whose subject and object have changed places.
"""

from __future__ import annotations

from functools import cache

from substrate.ontology.phrases import plain_phrase

CONCEPTS: dict[str, str] = {
    "leads": (
        "lead; lead of; leader; leader of; head; head of; heads; headed by person; in charge of; "
        "responsible for; person responsible for; team lead of; project lead of; leads project; "
        "负责; 负责人; 领导; 主管; 主持"
    ),
    "manages": "manager of; manage; 管理",
    "directs": "director of; direct",
    "chairs": (
        "chair; chair of; chairman of; chairperson of; chairwoman of; presides over; 主席; 担任主席; 委员会主席"
    ),
    "owns": "owner of; ownership of; has ownership of; holds; 拥有; 持有",
    "advises": (
        "adviser; advisor; adviser to; advisor to; adviser of; advisor of; consultant to; counsels; 顾问; 担任顾问"
    ),
    "sponsors": "sponsor of; 赞助",
    "maintains": "maintainer of; 维护",
    "works for": (
        "employed by; employee of; employer; employment; works at; works with employer; "
        "staff of; staff member of; has employer; on the staff of; hired by; joined; 任职于; "
        "就职于; 雇主; 供职于; 受雇于; 工作单位; 公司; 单位"
    ),
    "works on": "assigned to; project member of; 参与",
    "member of": "member; membership; sits on; board member of; belongs to committee; 成员; 委员",
    "reports to": (
        "manager; line manager; has manager; supervisor; supervised by; boss; superior; "
        "managed by; 汇报; 汇报对象; 上级; 直属上级; 向汇报"
    ),
    "job title": (
        "title; position; role; post; job; job role; occupation; has title; rank; function; "
        "职位; 职务; 岗位; 头衔; 职称"
    ),
    "salary": (
        "annual salary; yearly salary; yearly pay; annual pay; pay; wage; wages; monthly pay; "
        "monthly salary; base salary; base pay; compensation; remuneration; earnings; earns; "
        "工资; 月薪; 薪资; 年薪; 薪水"
    ),
    "part of": (
        "belongs to; division of; unit of; department of; section of; subunit of; parent; "
        "parent unit; parent organization; part; within; sits within; 隶属于; 属于; 隶属; "
        "上级部门; 所属"
    ),
    "subsidiary of": "parent company; owned by company; daughter company of; 子公司; 母公司",
    "located in": ("location; based in; site; city; place; situated in; office in; seat; 位于; 所在地; 地点; 坐落于"),
    "headquartered in": (
        "headquarters; headquarters in; head office; head office in; hq; main office; seat; "
        "registered office; 总部; 总部位于; 总部所在地"
    ),
    "lives in": "residence; home; resides in; resident of; 居住; 住在; 居住地",
    "acquired": "acquires; acquisition; acquisition of; bought; buys; purchased; took over company; 收购",
    "founded": "founder of; founds; established; co-founded; 创立; 创办",
    "founded on": (
        "founded in; founding date; established in; established on; year founded; foundation date; 成立日期; 成立于"
    ),
    "started on": "start date; began on; start; 启动日期; 开始日期",
    "supplies": ("supplier of; supplier to; vendor of; vendor to; delivers to; provides for; 供应商; 供应; 供货"),
    "customer of": "client of; buys from; 客户",
    "partner of": ("partner; partners with; partnership; partnership with; in partnership with; 合作伙伴; 合作方"),
    "budget": "project budget; funding; 预算",
    "price": "list price; unit price; cost; costs; sale price; 价格; 单价; 售价",
    "revenue": "sales; turnover; annual revenue; 营收; 营业收入; 收入",
    "headcount": "number of employees; employees; staff count; 员工人数; 人数",
    "married to": "spouse; spouse of; wife; husband; 配偶; 丈夫; 妻子",
}
"""Plain phrase of an extractor → words that say the same in the same direction."""

BACKWARDS: dict[str, str] = {
    "leads": "led by; headed by; has lead; has leader; has head; lead is",
    "manages": "managed by person; has manager of",
    "chairs": "chaired by; has chair",
    "owns": "owner; owned by; has owner; 所有者; 业主",
    "advises": "advised by; has adviser; has advisor",
    "works for": "employs; has employee; employee; 员工",
    "reports to": "manages; supervises; line manages",
    "member of": "has member; members",
    "part of": "includes; contains; consists of; has part; comprises; 包括",
    "supplies": "supplier; supplied by; vendor; has supplier",
    "acquired": "acquired by; bought by; acquirer",
    "founded": "founded by; founder; 创始人",
    "sponsors": "sponsored by; sponsor",
    "maintains": "maintained by; maintainer",
    "subsidiary of": "has subsidiary; subsidiary; owns company",
}
"""The same for words whose direction is the other one."""

NEAR: tuple[frozenset[str], ...] = (
    frozenset({"leads", "manages", "directs", "heads", "runs", "oversees", "responsible for", "supervises"}),
    frozenset({"located in", "headquartered in"}),
)
"""Concepts near enough to stand for one another where the base declares only one of them, and not of a person."""


@cache
def words_of(phrase: str) -> dict[str, bool]:
    """Plain form of every word for the concept of a plain phrase → whether its direction is turned."""
    found: dict[str, bool] = {}
    for name, table in ((False, CONCEPTS), (True, BACKWARDS)):
        for concept, words in table.items():
            if plain_phrase(concept) == plain_phrase(phrase):
                found |= {plain_phrase(w): name for w in words.split(";") if plain_phrase(w.strip()) not in found}
    return found


@cache
def near(phrase: str) -> tuple[str, ...]:
    """Other concepts that may stand for this one."""
    wanted = plain_phrase(phrase)
    return tuple(sorted(other for group in NEAR if any(plain_phrase(g) == wanted for g in group) for other in group))
