"""Chinese names that hold a word which elsewhere says "if", "plans to" or "not": taken out before anything is judged.

A name that begins where a name may and ends where one must ("由" before, "负责" after) becomes one private character;
it comes back in the finished drafts. So "沈若楠负责晨星计划" has no condition and no plan in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from substrate.extraction.builtin import chinese_words as w
from substrate.extraction.builtin.drafts import Draft, Findings
from substrate.extraction.claims import Value

_RISKY = re.compile(r"[若如未可将会拟欲没非准想计希打争于由为任是和与及从向被原曾现应要说名单高成]|计划|准备|可能")
_BEFORE = (
    r"(?:^|(?<=[，,；;。：:、（(“\"《\s])|(?<=[由将把给向与和及从自为是任让请经被据])|(?<=接替|取代|免去|任命|聘任|"
    r"聘请|聘用|负责|领导|主持|牵头|交给|移交|"
    r"转交|成员|顾问|经理|姓名|员工|同事|人是|人为|人由|主管|总监|加入|担任|接手|接管|管理|替换|包括)|"
    r"(?<=工程师|负责人|设计师|分析师|董事长|总经理))"
)
_AFTER = (
    r"(?=自|从|于|因|[\ue800-\uefff]|在(?!于)|已|将|拟|可能|的|担任|出任|任(?!何)|负责|领导|接替|接任|接手|接管|"
    r"不再|不负责|不担任|"
    r"未|没有|曾|卸|辞|离|加入|入职|"
    r"就职|任职|供职|向|与|和|及|、|，|,|。|；|;|：|:|）|\)|\s|\||$|月薪|年薪|每月|工资|现任|升|调|获|被|变更|"
    r"移交|管理|主持|牵头|毕业|同意|表示|称|应|"
    r"婉拒|申请|竞选|计划|打算|准备|预计|有望|即将|继|兼|即日|原为|由|因|提|以|改|共同|均|都|也|分别|作为|成为|"
    r"出席|记录|汇报|为(?!了)|是|并|仍|一直|"
    r"正式|开始|接过|希望|考虑|说|告|全面|暂|代|领|执掌|创|成立|当选|上任|履|名下|手中|处接|更换|换成|改为|是否|会|要)"
)
_HAN = "[\u4e00-\u9fff]"
_SURNAME = "|".join([*w.COMPOUND_SURNAMES, *sorted(w.SURNAMES)])
_PERSON = re.compile(rf"{_BEFORE}(?:{_SURNAME}){_HAN}{{2}}{_AFTER}|{_BEFORE}(?:{_SURNAME}){_HAN}{_AFTER}")
_NO_PERSON = re.compile(
    r"任命|任职|任何|时任|现任|任期|计划|项目|经理|高级|高管|高层|成员|成立|成为|于是|于此|由于|如何|如果|如此|"
    r"如下|如上|如需|可能|可以|可否|应当|应该|应为|将来|"
    r"将于|将由|会议|会计|未来|未能|未知|原因|原本|曾经|现在|现有|为了|为止|向来|从此|从而|和平|与会|及其|方面|"
    r"方案|公司|单位|部门|常务|全部|全体|时间|时候|"
    r"白天|金额|万元|左右|易于|安全|安排|温度|钱款|平台|平均|强制|向公司|经公司|经会议|经研究|经批准|经董事|"
    r"经考虑|于今|于本|于上|于当|于同|于次|于年|明确|"
    r"[会部组委局处长]$|[的了着吗呢吧]|[一二三四五六七八九十]月|年|双方|该|此"
)
_FOLLOWS = re.compile(_AFTER)
_LAST_IS_ADVERB = "曾已将现于也均都仍被由还又才并则就在未会拟欲没不自"
_PLAN = re.compile(
    rf"(?P<before>^|[，,；;。：:、（(“\"\s]|负责|领导|主持|牵头|担任|接手|接管|接任|任|由|将|把|为|在|于|从|和|"
    rf"与|及|加入|启动|成立|参与|管理|执掌|"
    rf"卸任|辞去|辞任|退出|离开|接过|投资|赞助|支持|参加|转入|调入|不再|变更|推进|移交|原)(?P<name>(?!担任|负责|"
    rf"领导|接手|接管|接任|主持|牵头|加入|启动|参与|管理|推进|任命)"
    rf"{_HAN}{{2,4}}?(?:计划|规划|工程))(?P<after>的|由|是|为|负责|顾问|预算|项目|经理|组|团队|，|,|、|。|；|;|"
    rf"：|:|）|\)|"
    rf"$|启动|成立|结束|隶属|属于|位于|更名|改由|移交|交|现|原|自|于|从|主管|组长|总监|发起|成员|经费|资金|已|"
    rf"不再|一职|和|与|及|\s)"
)
_NOT_A_PLAN = re.compile(
    r"[他她它我你其该本此各新原旧两某这那自]|公司|集团|董事会|双方|大家|会议|部门?|政府|团队|下一步|工作|年度|"
    r"如果|按照|根据|目前|由|的|将|"
    r"[一-龥]*(?:科技|银行|大学|学院|中心|委员会)"
)
_RISKY_PLACE = re.compile(
    rf"(?P<before>^|[，,；;。：:、（(“\"\s]|负责|领导|主持|牵头|由|为|任|于|接手|加入|管理)"
    rf"(?P<name>[若未如可非会希望计拟]{_HAN}{{1,2}}(?:项目|科技|集团|公司|银行|工作室|实验室|工程))"
)
_NO_THING = re.compile(
    r"[若如未可非会][该本此各新原两某有能由于下]|会议|可能|可以|非营利|如果|希望|计划|拟[与将收]|未[启完开结立收参加]"
)
_PEOPLE, _THINGS, _BODIES = 0xE000, 0xE800, 0xEC00


@dataclass(slots=True)
class Hidden:
    """Names taken out of one sentence, and how to bring them back."""

    names: dict[str, str] = field(default_factory=dict)

    def hide(self, text: str) -> str:
        """`text` with its risky names as single private characters."""
        text = _RISKY_PLACE.sub(self._thing, text)
        for _ in range(2):
            text = _PERSON.sub(self._person, text)
            text = _PLAN.sub(self._plan, text)
        return text

    def shown(self, text: str) -> str:
        """`text` with every hidden name as it was written."""
        return re.sub("[\ue000-\uefff]", lambda m: self.names.get(m.group(), m.group()), text)

    def bring_back(self, findings: Findings) -> None:
        findings.drafts = [self._draft(d) for d in findings.drafts]
        findings.drops = [replace(d, detail=self.shown(d.detail)) for d in findings.drops]

    def _draft(self, draft: Draft) -> Draft:
        target = draft.object
        target = (
            replace(target, raw=self.shown(target.raw))
            if isinstance(target, Value)
            else replace(target, text=self.shown(target.text))
        )
        more = tuple((k, self.shown(v)) for k, v in draft.qualifiers)
        subject = replace(draft.subject, text=self.shown(draft.subject.text))
        return replace(draft, subject=subject, object=target, qualifiers=more, wording=self.shown(draft.wording))

    def _sign(self, name: str, base: int) -> str:
        known = next((s for s, n in self.names.items() if n == name), None)
        sign = known or chr(base + len(self.names))
        self.names[sign] = name
        return sign

    def _person(self, m: re.Match[str]) -> str:
        name, after = m.group(), m.string[m.end() :]
        if self._is_name(name, m.string[: m.start()], after):
            return self._sign(name, _PEOPLE)
        if (
            len(name) == 3
            and _FOLLOWS.match(name[2] + after)
            and self._is_name(name[:2], m.string[: m.start()], name[2] + after)
        ):
            return self._sign(name[:2], _PEOPLE) + name[2]
        return name

    def _is_name(self, name: str, before: str, after: str) -> bool:
        if not _RISKY.search(name) or _NO_PERSON.search(name):
            return False
        if name[0] in "于由" and not before.endswith(tuple(_certain())) and not _acts(after):
            return False
        if len(name) == 3 and name[:2] not in w.COMPOUND_SURNAMES:
            if name[2] in _LAST_IS_ADVERB or (name[2] in "成任" and after.startswith(("为", "命"))):
                return False
            if name[2] == "为":
                return not re.match("负责人|领导人|经理|主管|顾问|组长|其|了", after)
            if name[2] in "是任":
                return bool(re.match("任职|就职|供职|负责|领导|担任|接替", after))
        return True

    def _plan(self, m: re.Match[str]) -> str:
        name = m.group("name")
        stem = name[:-2]
        if _NOT_A_PLAN.search(stem) or w.is_person(stem) or stem in w.CITIES:
            return m.group()
        if m.group("after") in {"于", "自", "从", "已"} and not re.match(
            r"\ue000|[^，。]{0,14}(?:启动|成立|结束|开始|完工|由|起|立项|上线)", m.string[m.end() :]
        ):
            return m.group()
        return m.group("before") + self._sign(name, _THINGS) + m.group("after")

    def _thing(self, m: re.Match[str]) -> str:
        name = m.group("name")
        base = _THINGS if name.endswith(("项目", "工程")) else _BODIES
        if not name.startswith("未来") and _NO_THING.search(name[:3]):
            return m.group()
        return m.group("before") + self._sign(name, base)


def _certain() -> Iterator[str]:
    """What stands right before a person and nothing else."""
    yield from (
        "任命",
        "接替",
        "由",
        "聘请",
        "聘任",
        "聘用",
        "交给",
        "移交",
        "转交",
        "取代",
        "负责人",
        "人是",
        "人为",
        "姓名：",
        "、",
        "将",
        "变更为",
    )


def _acts(after: str) -> bool:
    """What follows is a verb or a noun that a person's name governs."""
    return bool(
        re.match(
            r"负责|领导|接任|接替|接手|担任|出任|管理|牵头|主持|继任|任|变更|更换|加入|入职|任职|就职|的|自|于|"
            r"不再|卸任|辞|离|月薪|年薪|每月|向|和|与|、|，|。|$|"
            r"被|将|可能|计划|拟|是否|未|有望|申请|婉拒|竞选|已|曾|升|调|兼|暂|创|为|是",
            after,
        )
    )
