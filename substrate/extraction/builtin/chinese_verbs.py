"""What Chinese verbs state: patterns over a clause from which the time words were taken out. Data only.

``s`` and ``o`` are subject and object, ``p`` the one who held it before, ``r`` a role, ``a``/``b`` old and
new value. The order is the order of trial: the more telling pattern stands first.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from substrate.extraction.builtin.verbs import Aspect


class Pattern(NamedTuple):
    """A clause pattern and what it states; ``act`` names the reading, ``phrase`` its relation if it has one."""

    act: str
    regex: re.Pattern[str]
    phrase: str = ""
    aspect: Aspect = "state"
    swap: bool = False


def _p(act: str, regex: str, phrase: str = "", aspect: Aspect = "state", swap: bool = False) -> Pattern:
    return Pattern(act, re.compile(f"^{regex}$"), phrase, aspect, swap)


_LEAD = "负责领导|负责牵头|领导|负责|主持|牵头|带领|执掌|统领|掌管|领衔"
_WORK = "任职于|就职于|供职于|受雇于|受聘于|效力于|服务于"
_PAY = "基本月薪|月薪|年薪|薪水|工资|薪资|薪酬|基本工资"
MEASURES = (
    "销售额|销售量|销量|出货量|产量|产能|订单量|订单数|营业收入|营收|净利润|毛利率|毛利|利润率|利润|退货率|良品率|良率|不良率|"
    "转化率|市占率|市场份额|平均售价|平均价格|均价|售价|单价|总成本|成本|库存量|库存|交期|工期|用户数|月活跃用户|月活|日活|"
    "月活用户数|日活用户数|活跃用户数|注册用户数|客户数|门店数|总面积|面积|容量|续航|总额|增长率|增速|满意度|占比|缺陷率|故障率|投诉率|复购率|留存率"
)
"""Nouns that are measured: what stands before one is what it is of."""
_SUMS = "预算|价格|员工人数|收入|营业额|注册资本"
_UP = "追加|上调|提|下调|调整|提高|提升|增加|涨|升|降低|降|减少|改|变更|调高|调低|增|加|减|调|变"
_QUIT = "辞去|卸任|卸下|不再(?:继续)?(?:担任|出任|兼任|任|是|为)|停止担任|辞任|离任"
_AFTER_ANOTHER = "接替|取代|顶替|代替"
_TAKE = (
    "担任|出任|就任|升任|晋升为|升为|提拔为|成为|被任命为|获任命为|获任|当选为|当选|被选为|接任|继任|"
    "调任|调任为|获聘为|履新|被聘为|受聘为|被委任为|转任|改任|兼任|上任|任命为|任"
)
_STATE_TAKE = "现任|时任|一直担任|的职位是|的职务是|的职位为|的职务为|职位是|职务是|职务为|职位为|的岗位是|的头衔是"
_HAND = "移交给了?|移交予|移交于|交接给了?|转交给了?|交给了?|移交|交由|转给|交棒给"

_BE_TOGETHER = "(?:一直|长期|目前)?(?:是|为|互为|保持)"
_PARTNERS = "(?:长期|战略|重要|主要)*(?:的)?(?:合作伙伴|伙伴|合作关系|伙伴关系|战略合作伙伴|合作伙伴关系)"

PATTERNS: tuple[Pattern, ...] = (
    _p(
        "rename",
        r"(?P<s>.+?)(?:的?名称)?(?:正式)?(?:更名为|改名为|改称为?|更名|改名叫|名称变更为)(?P<o>.+)",
        "known as",
        "start",
    ),
    _p(
        "rename",
        r"(?P<s>.+?)的?(?:原名|曾用名|旧称|原称|旧名|前身为|前身是)(?:为|是|叫)?(?P<o>.+)",
        "formerly known as",
        "end",
    ),
    _p(
        "rename",
        r"(?P<s>.+?)(?:又名|又称|也称|也叫|简称为?|别名|亦称|英文名为?|昵称)(?:为|是|叫)?(?P<o>.+)",
        "known as",
    ),
    _p("succeed", rf"由?(?P<s>.+?)(?:{_AFTER_ANOTHER})了?(?P<p>.+?)(?:担任|出任|成为|任)(?P<r>.+)"),
    _p("takeover", rf"由?(?P<s>.+?)(?:{_AFTER_ANOTHER})了?(?P<p>.+?)(?:全面)?(?:{_LEAD}|接手|接管)(?P<o>.+)", "leads"),
    _p("takeover", rf"(?P<o>.+?)由(?P<s>.+?)(?:{_AFTER_ANOTHER})了?(?P<p>.+?)(?:全面)?(?:{_LEAD})", "leads"),
    _p("takeover", rf"由?(?P<s>.+?)(?:{_AFTER_ANOTHER})了?(?P<p>.+?)(?:管理|主管|分管)(?P<o>.+)", "manages"),
    _p("takeover", rf"由?(?P<s>.+?)(?:{_AFTER_ANOTHER})了?(?P<p>.+?)(?:协调|统筹)(?P<o>.+)", "coordinates"),
    _p("succeed", r"(?P<s>.+?)(?:接替|取代|替换|代替|顶替)(?:了)?(?P<p>.+?)(?:担任|出任|成为|任|的)(?P<r>.+)"),
    _p("succeed", r"由(?P<s>.+?)(?:接替|取代|替换)(?P<p>.+?)(?:担任|出任|成为|任)(?P<r>.+)"),
    _p("succeed", r"(?P<p>.+?)(?:的)(?P<r>[^的]+?)(?:一职|职务|职位)由(?P<s>.+?)(?:接任|接替|继任)"),
    _p("succeed", r"(?P<r>.+?)由(?P<p>.+?)(?:变更|更换|改|换|调整|更替)(?:为|成)(?P<s>.+)"),
    _p("hand", r"(?P<p>.+?)(?:向|给)(?P<s>.+?)(?:移交|交接|转交)了?(?P<o>.+)"),
    _p("takeover", r"(?P<s>.+?)从(?P<p>.+?)(?:手中|处|那里|手上)(?:正式)?(?:接过|接手|接管|接任)了?(?P<o>.+)"),
    _p("hand", rf"(?P<p>.+?)(?:将|把)(?P<o>.+?)(?:正式)?(?:{_HAND})(?P<s>.+)"),
    _p("hand", rf"(?P<o>.+?)由(?P<p>.+?)(?:{_HAND})(?P<s>.+)"),
    _p("succeed", r"(?P<p>.+?)(?:卸任|不再担任|辞去)(?P<r>.+?)(?:一职|职务)?由(?P<s>.+?)(?:接任|接替|继任)"),
    _p("takeover", r"(?P<s>.+?)(?:接手|接管|接过)了?(?P<o>.+)"),
    _p("sale", r"(?P<x>.+?)(?:将|把)(?P<o>.+?)(?:全部)?(?:出售|转让|卖|售)(?:给|予)了?(?P<s>.+)", "acquired", "event"),
    _p("pair", r"(?P<s>.+?)被(?P<o>.+?)(?:全资)?(?:收购|并购|买下|兼并)了?", "acquired", "event", True),
    _p(
        "pair",
        r"(?P<s>.+?)(?:以(?P<price>.+?)(?:的价格)?)?(?:全资)?(?:收购|并购|买下|兼并)了?(?P<o>.+?)",
        "acquired",
        "event",
    ),
    _p("stop", r"(?P<s>.+?)不再(?:为|在|给)(?P<o>.+?)(?:工作|效力|任职|就职|上班|供职)", "works for", "end"),
    _p("stop", r"(?P<s>.+?)不再向(?P<o>.+?)(?:汇报工作|汇报)", "reports to", "end"),
    _p("stop", r"(?P<s>.+?)(?:不再|停止)(?:向|为|给)(?P<o>.+?)(?:供货|供应.*)", "supplies", "end"),
    _p("quit", r"(?:.{0,6}?(?:决定|同意|批准))?免去(?P<s>.+?)的(?P<r>.+?)(?:一职|职务|职位)?"),
    _p("dismiss", r"(?:.{0,6}?(?:决定|同意|批准))?免去(?P<s>.+?)(?:一职|职务|职位)"),
    _p("was", rf"(?P<o>.+?)(?:此前|之前|原先|原来|原本|原)由(?P<s>.+?)(?:{_LEAD})"),
    _p("was", r"(?P<r>.+?)原(?:先|来|本)?(?:为|是|由)(?P<s>.+?)(?:担任)?"),
    _p("quit", rf"(?P<s>.+?)(?:{_QUIT})了?(?P<r>.+?)(?:一职|的?职务|的?职位)?"),
    _p("stop", rf"(?P<s>.+?)(?:不再|停止)(?:{_LEAD})(?P<o>.+?)", "leads", "end"),
    _p("stop", r"(?P<s>.+?)(?:不再|停止)管理(?P<o>.+?)", "manages", "end"),
    _p("stop", rf"(?P<s>.+?)不再(?:{_WORK})(?P<o>.+?)", "works for", "end"),
    _p("stop", r"(?P<s>.+?)不再(?:隶属于|属于|从属于)(?P<o>.+?)", "part of", "end"),
    _p("stop", r"(?P<s>.+?)不再(?:使用|采用)(?P<o>.+?)", "uses", "end"),
    _p("leave", r"(?P<s>.+?)从(?P<o>.+?)(?:离职|辞职|退休|离开)了?", "", "end"),
    _p("leave", r"(?P<s>.+?)(?:离开|退出)了?(?P<o>.+?)", "", "end"),
    _p("gone", r"(?P<s>.+?)(?:离职|辞职|退休)"),
    _p("replaced", rf"由?(?P<s>.+?)(?:{_AFTER_ANOTHER})了?(?P<o>.+?)", "replaced", "event"),
    _p(
        "moved",
        r"(?P<s>.+?)(?:将|把)?(?:其)?(?:的)?总部(?:由|从)(?P<a>.+?)(?:迁至|迁到|搬至|搬到|搬迁至|迁往|迁移至)(?P<b>.+)",
        "headquartered in",
    ),
    _p(
        "moved",
        r"(?P<s>.+?)(?:将|把)?(?:其)?(?:的)?总部(?:迁至|迁到|搬至|搬到|搬迁至|迁往)(?P<b>.+)",
        "headquartered in",
    ),
    _p("moved", r"(?P<s>.+?)(?:由|从)(?P<a>.+?)(?:迁至|迁到|搬至|搬到|搬迁至|迁往)(?P<b>.+)", "located in"),
    _p("pay", rf"(?P<s>.+?)的?(?P<n>{_PAY})(?:由|从)(?P<a>.+?)(?:{_UP})(?:了)?(?:至|到|为)(?P<b>.+)", "salary"),
    _p("pay", rf"(?P<s>.+?)的?(?P<n>{_PAY})(?:已)?(?:{_UP})(?:了)?(?:至|到|为)(?P<b>.+)", "salary"),
    _p("change", rf"(?P<s>.+?)的?(?P<n>{_SUMS})(?:由|从)(?P<a>.+?)(?:{_UP})(?:了)?(?:至|到|为)(?P<b>.+)"),
    _p("value", rf"(?P<s>.+?)的?(?P<n>{_SUMS})(?:为|是|达到?|：|:)(?P<b>.+)"),
    _p(
        "value",
        rf"(?P<s>.+?)(?:每月|每年)?(?:领取|享受|领|拿)(?:的)?(?:每月|每年|税前|基本)*(?P<n>{_PAY})(?:为|是)?(?P<b>[¥￥]?[\d.,]+.*)",
        "salary",
    ),
    _p(
        "value",
        rf"(?P<s>.+?)(?:每月|每年)?(?:领取|享受|领|拿)(?:每月|每年)?(?P<b>[¥￥]?[\d.,]+[^的]*?)(?:的)?(?P<n>{_PAY})",
        "salary",
    ),
    _p("value", rf"(?P<s>.+?)的?(?:每月|每年|税前|基本)*(?P<n>{_PAY})(?:为|是|：|:)?(?P<b>[¥￥]?[\d.,]+.*)", "salary"),
    _p("value", r"(?P<s>.+?)(?:现)?(?:拥有|共有|有)员工(?P<b>[\d,]+(?:多)?(?:人|名))", "headcount"),
    _p("value", r"(?P<s>.+?)(?:现)?(?:拥有|共有|有)(?P<b>[\d,]+名员工)", "headcount"),
    _p("change", rf"(?P<s>.+?)的(?P<n>[^的]{{2,6}})(?:由|从)(?P<a>.+?)(?:{_UP})(?:了)?(?:至|到|为)(?P<b>.+)"),
    _p("value", rf"(?P<s>.+?)的?(?P<n>{_PAY})(?:为|是|达到?|：|:)(?P<b>.+)", "salary"),
    _p("pair", r"(?P<s>.+?)(?:的)?总部(?:位于|设在|在|设于|坐落于)(?P<o>.+)", "headquartered in"),
    _p("pair", r"(?P<s>.+?)(?:位于|坐落于|坐落在|地处|设在|设于)(?P<o>.+)", "located in"),
    _p("pair", r"(?P<s>.+?)(?:被)?(?:划归|并入|划入|归入|纳入)(?P<o>.+?)", "part of", "start"),
    _p("pair", r"(?P<s>.+?)(?:隶属于|隶属|从属于|归属于|归属|下属于|属于)(?P<o>.+?)", "part of"),
    _p("pair", r"(?P<s>.+?)是(?P<o>.+?)的(?:一部分|组成部分|下属部门|下属单位|一个部门|子项目)", "part of"),
    _p("succeed", r"(?P<r>.+?)(?:一职|职务|职位)?(?:改由|由|交由)(?P<s>.+?)(?:接任|接替|继任)(?:了)?(?P<p>.+)"),
    _p("role", r"(?P<r>.+?)(?:一职|职务|职位)(?:改由|由|交由)(?P<s>.+?)(?:接任|继任|担任|出任)", "", "start"),
    _p("pair", rf"(?P<s>.+?)(?:与|和|同)(?P<o>.+?){_BE_TOGETHER}{_PARTNERS}", "partner of", "state"),
    _p("pair", rf"(?P<s>.+?)(?:与|和|同)(?P<o>.+?)(?:结为|结成|成为){_PARTNERS}", "partner of", "start"),
    _p(
        "pair",
        r"(?P<s>.+?)(?:与|和|同)(?P<o>.+?)(?:建立|达成|确立|签署|结成)了?(?:长期|战略|全面|业务)*"
        r"(?:合作|伙伴)+(?:关系|协议)",
        "partner of",
        "start",
    ),
    _p("pair", rf"(?P<s>.+?)(?:与|和|同)(?P<o>.+?){_BE_TOGETHER}(?:主要|直接)?(?:竞争对手|竞争关系)", "competes with"),
    _p("pair", rf"(?P<s>.+?)(?:与|和|同)(?P<o>.+?){_BE_TOGETHER}(?:夫妻|夫妇)", "married to"),
    _p("pair", r"(?P<s>.+?)(?:与|和|同)(?P<o>.+?)(?:结婚|成婚|登记结婚)", "married to", "start"),
    _p(
        "pair", r"(?P<s>.+?)(?:与|和|同)(?P<o>.+?)(?:终止|结束|解除)了?(?:战略)?合作(?:关系|协议)?", "partner of", "end"
    ),
    _p("pair", r"(?P<s>.+?)(?:与|和|同)(?P<o>.+?)合并", "merged with", "event"),
    _p("pair", r"(?P<s>.+?)向(?P<o>.+?)(?:汇报工作|汇报|负责)", "reports to"),
    _p("pair", r"(?P<s>.+?)的母公司(?:是|为)(?P<o>.+)", "subsidiary of"),
    _p("pair", r"(?P<o>.+?)是(?P<s>.+?)的母公司", "subsidiary of"),
    _p(
        "retitle",
        rf"(?P<s>.+?)的?(?:职务|职位|岗位|职称)(?:由|从)(?P<a>.+?)(?:{_UP})(?:了)?(?:至|到|为|成)(?P<b>.+)",
        "job title",
        "start",
    ),
    _p("pair", r"(?P<s>.+?)的(?:直属上级|直接上级|上级|上司)(?:是|为)(?P<o>.+)", "reports to"),
    _p("work", rf"(?P<s>.+?)(?:{_WORK})(?P<o>.+?)(?:担任|任)(?P<r>.+)", "works for"),
    _p("pair", rf"(?P<s>.+?)(?:{_WORK})(?P<o>.+?)", "works for"),
    _p("work", r"(?P<s>.+?)在(?P<o>.+?)(?:担任|出任|任)(?P<r>.+)", "works for"),
    _p("pair", r"(?P<s>.+?)在(?P<o>.+?)(?:工作|任职|就职|上班|供职)", "works for"),
    _p("join", r"(?P<s>.+?)(?:加入|入职|加盟)了?(?P<o>.+?)(?:担任|出任|任)(?P<r>.+)", "", "start"),
    _p("join", r"(?P<s>.+?)(?:加入|入职|加盟)了?(?P<o>.+)", "", "start"),
    _p("hire", r"(?P<o>.+?)(?:聘用|雇用|录用|聘请)了?(?P<s>.+?)(?:担任|出任|为|任)(?P<r>.+)", "works for", "start"),
    _p("pair", r"(?P<o>.+?)(?:聘用|雇用|录用)了?(?P<s>.+)", "works for", "start"),
    _p("appoint", r"(?P<o>.+?)任命(?:了)?(?P<s>.+?)(?:为|担任)(?P<r>.+)", "", "start"),
    _p("role", r"(?:改|现|决定)?由(?P<s>.+?)(?:担任|出任|接任|任)(?P<r>.+)", "", "start"),
    _p("quit", r"(?:决定|同意)?免去(?P<s>[\ue000-\ue7ff])(?P<r>.+?)(?:一职|职务|职位)?"),
    _p("role", r"(?:决定|兹|特|现|正式)*(?:任命|聘任|委任|聘请)(?P<s>.+?)(?:为|担任|出任)(?P<r>.+)", "", "start"),
    _p("role", rf"(?P<s>.+?)(?:{_STATE_TAKE})(?P<r>.+)", "", "state"),
    _p("role", rf"(?P<s>.+?)(?:{_TAKE})了?(?P<r>.+?)(?:一职|的?职务|的?职位)?", "", "start"),
    _p("founded", r"(?P<o>.+?)(?:是)?由(?P<s>.+?)(?:创立|创办|创建|成立|设立)的?", "founded", "event"),
    _p("pair", r"(?P<s>.+?)(?:创立|创办|创建)了?(?P<o>.+)", "founded", "event"),
    _p("pair", rf"由(?P<s>.+?)(?:{_LEAD})(?P<o>.+?)", "leads", "start"),
    _p("pair", rf"(?P<o>.+?)(?:改由|转由|交由)(?P<s>.+?)(?:{_LEAD})", "leads", "start"),
    _p("pair", rf"(?P<o>.+?)(?:现|一直|目前|开始)?由(?P<s>.+?)(?:{_LEAD})", "leads"),
    _p("pair", r"(?P<o>.+?)(?:现)?由(?P<s>.+?)管理", "manages"),
    _p("pair", rf"(?P<s>.+?)(?:{_LEAD})(?P<o>.+?)(?:的?(?:全面|日常|整体)?工作)?", "leads"),
    _p("pair", r"(?P<s>.+?)(?:管理|主管)(?P<o>.+)", "manages"),
    _p("pair", r"(?P<s>.+?)(?:为|给)(?P<o>.+?)(?:提供咨询|提供建议|提供顾问服务)", "advises"),
    _p(
        "pair",
        r"(?P<s>.+?)(?:为|向|给)(?P<o>.+?)(?:供货|供应.+|提供(?!贷款|资金|担保|融资|支持|咨询|培训|帮助|建议|便利|援助|法律|资助|赞助).+)",
        "supplies",
    ),
    _p("pair", r"(?P<s>.+?)(?:持有|拥有)(?P<o>.+)", "owns"),
    _p("pair", r"(?P<s>.+?)(?:使用|采用)(?P<o>.+)", "uses"),
    _p("pair", r"(?P<s>.+?)(?:赞助)了?(?P<o>.+)", "sponsors"),
    _p("pair", r"(?P<s>.+?)(?:支持)(?P<o>.+)", "supports"),
    _p("pair", r"(?P<s>.+?)(?:维护)(?P<o>.+)", "maintains"),
    _p("pair", r"(?P<s>.+?)(?:住在|居住在|居住于|定居于|定居|现居)(?P<o>.+)", "lives in"),
    _p("pair", r"(?P<s>.+?)(?:毕业于|就读于)(?P<o>.+)", "studied at"),
    _p("pair", r"(?P<s>.+?)(?:投资)了?(?P<o>.+)", "invests in"),
    _p("began", r"(?P<s>.+?)(?:成立|创立|创建)(?:于)?", "founded on", "event"),
    _p(
        "began",
        r"(?P<s>.+?)(?:在[^，]{1,10}?)?(?:启动|开始)?(?:启动|开工|开始|立项|上线)(?:于)?",
        "started on",
        "event",
    ),
    _p("began", r"(?P<s>.+?)(?:结束|完工|关闭|终止|结项)(?:于)?", "ended on", "event"),
    _p("attribute", r"(?P<s>.+?)的(?P<n>[^的]{2,8})(?:是|为)(?P<b>.+)"),
    _p("measure", rf"(?P<s>.+?)的?(?P<n>{MEASURES})(?:为|是|达到?|约为|：|:)(?P<b>.+)"),
    _p("measure", r"(?P<s>.+?)(?P<n>所属(?:市场|事业部|部门|公司|行业|类别|品类|区域|团队|集团|BU))(?:为|是)(?P<b>.+)"),
    _p("pair", r"(?P<o>.+?)由(?P<s>.+?)(?:代工|生产|制造|组装)", "makes"),
    _p("role", r"(?P<r>.+?)(?:现)?(?:为|是|由)(?P<s>[\u4e00-\u9fff]{2,4}?|[\ue000-\ue7ff])(?:担任)?", "", "state"),
    _p("role", r"(?P<s>.+?)(?:是|为)(?P<r>.+)", "", "state"),
)
