"""How a Chinese clause is meant, and the clause without the word that says so."""

from __future__ import annotations

import re

from substrate.extraction.claims import Mood

_QUESTION = re.compile(r"[？?]|吗[。！]?$|是否|谁|什么时候|哪个|哪位")
_CONDITION = re.compile(
    r"如果|如[获经需遇能](?!名)|(?:^|[，。；])如(?![下上此何期今同])[^，]{1,14}(?=，)|若(?!干)|假如|倘若|只要|除非|要是|一旦|假设|的话|须经|有待批准|待批准|待[^，]{0,8}(?:批准|通过|同意|确认|完成)后?"
)
_REPORTED = re.compile(
    r"据说|据称|据报道|据[^，]{1,8}(?:称|说|报道|透露)|声称|宣称|表示|传言|听说|[^名简又也改自号]称(?!为|呼|职)|"
    r"说(?!明)"
)
_HEDGED = re.compile(r"可能|或许|也许|大概|疑似|据传|似乎|好像|应该|估计|恐怕|未必|或将|有望|传闻|考虑")
_PLANNED = re.compile(
    r"计划(?=[^，。]*[\u4e00-\u9fff])|拟(?!定)|打算|准备(?!金)|预计|提名|候选|竞选|申请|婉拒|谢绝|拒绝|放弃|"
    r"正就|谈判|洽谈|商谈|否决|搁置|草案|提案|征求意见|拟任|待定|人选|推荐|预定|预期|即将|将要?|目标|希望|会(?=在|于|"
    r"将|担任|接|负责|领导|加入)|想要?|欲|争取|意向|提议|建议"
)
_NEGATED = re.compile(
    r"否认|拒不|差点|险些|几乎|(?:并|从|尚|还)?(?:没有|未曾|未能|未|没)(?!来)|并非|不是|不(?!再|仅|但|同|断|久|少|动)|从不|非(?=由)"
)
_DISPOSAL = re.compile(r"将(?=[^，]*(?:移交|交接|转交|交给|交由|转给|出售|转让|卖给|售予|迁|搬|更名|改名|总部))")


def sentence_mood(body: str, denies: bool) -> Mood | None:
    """What the wording of the whole sentence says about everything in it."""
    if _QUESTION.search(body):
        return "question"
    if re.match(r"(?:据传|传闻|传言|有传言|盛传|风传|坊间|网传|有消息称|疑似)", body):
        return "hedged"
    if _CONDITION.search(body):
        return "conditional"
    if not denies and _REPORTED.search(body):
        return "reported"
    return None


def clause_mood(bare: str) -> tuple[Mood | None, str]:
    """The clause's mood, and the clause without the word that says so."""
    disposal = _DISPOSAL.search(bare)
    protected = bare.replace("将", "把", 1) if disposal else bare
    if m := re.search(r"(?<!不)仅|不仅", protected):
        protected = protected[: m.start()] + protected[m.end() :]
    checks: tuple[tuple[Mood, re.Pattern[str]], ...] = (
        ("hedged", _HEDGED),
        ("planned", _PLANNED),
        ("negated", _NEGATED),
    )
    mood: Mood | None = None
    for name, pattern in checks:
        m = pattern.search(protected)
        if m is None or (name == "planned" and m.group() == "计划" and _names_a_plan(protected, m)):
            continue
        mood = mood or name
        protected = protected[: m.start()] + protected[m.end() :]
    return mood, protected


def _names_a_plan(text: str, m: re.Match[str]) -> bool:
    """ "晨星计划" is a name: the word stands after its name and before a verb, or after one."""
    return (
        m.start() > 0 and bool(re.match(r"(?:的|由|是|为|于|隶属|属于|启动|成立|结束|位于|更名|$)", text[m.end() :]))
    ) or m.end() == len(text)
