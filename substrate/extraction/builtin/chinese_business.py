"""Chinese clauses of business text that name their subject only once: measures, holders, parties, systems, contacts."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from substrate.extraction.builtin import chinese_people as people
from substrate.extraction.builtin import chinese_words as w
from substrate.extraction.builtin.amounts import amounts_in, parse_amount
from substrate.extraction.builtin.chinese_business_words import AMOUNT, HOLDER_NOUNS, NOUN
from substrate.extraction.builtin.chinese_happenings import counted_value
from substrate.extraction.builtin.chinese_scene import ChineseSentence, add, name_of, names_of, title_drafts
from substrate.extraction.builtin.chinese_topics import agents_of, now_about, said_of, topic_of
from substrate.extraction.builtin.drafts import text_value
from substrate.extraction.builtin.intervals import handover_end, interval
from substrate.extraction.builtin.terms import Term
from substrate.extraction.claims import ClaimTime, Mood, Value
from substrate.extraction.times import TimeMention

_Times = tuple[TimeMention, ...]
_Act = Callable[[ChineseSentence, "re.Match[str]", _Times, "Mood | None"], bool]

_RESPONSIBLE = frozenset("负责人 责任人 处理人 操作人 经办人 对接人 跟进人 维护人 值班员 管理员".split())
_ABOVE = frozenset(("直属领导", "直接上级", "上级领导", "直属上级", "直接领导"))
_OWNING = frozenset("控股股东 第一大股东 大股东 实际控制人".split())


def _measured(state: ChineseSentence, m: re.Match[str], times: _Times, mood: Mood | None) -> bool:
    value = _value(m.group("b"))
    if value is None:
        return False
    noun = m.group("n")
    if noun in {"重", "净重", "毛重", "长", "宽", "高"} and value.unit in {None, "%"}:
        return False
    subject = said_of(state, m.group("s"))
    if subject is None and not m.group("s").strip("的 ") and not re.search(r"人数|员工", noun):
        subject = Term("name", noun)
        noun = "金额" if value.datatype == "money" else "数量"
    if subject is None or subject.kind == "person":
        return False
    phrase = "headcount" if re.search(r"人数|员工总?数", noun) else _PLAIN.get(noun, noun)
    add(state, subject, phrase, value, interval(times, "state"), mood)
    if subject.text != m.group("n"):
        now_about(state, subject)
    return True


_PLAIN = {"营业收入": "revenue", "收入": "revenue", "预算": "budget", "价格": "price", "售价": "price", "单价": "单价"}


def _value(words: str) -> Value | None:
    words = re.sub(r"^(?:约|近|超过?|逾|达)+", "", words.strip())
    value = counted_value(words)
    if value.number is not None:
        return value
    value = parse_amount(
        re.sub(r"[多余]?(?=[万亿元人名台]|$)", "", words) if parse_amount(words).number is None else words
    )
    if value.number is not None:
        return value
    found = list(amounts_in(words))
    return replace(found[0].value, raw=words) if len(found) == 1 and found[0].start <= 3 else None


def _staff(state: ChineseSentence, m: re.Match[str], times: _Times, mood: Mood | None) -> bool:
    subject, value = said_of(state, m.group("s")), _value(m.group("b"))
    if subject is None or value is None:
        return False
    add(state, subject, "headcount", value, interval(times, "state"), mood)
    now_about(state, subject)
    return True


def _holder(state: ChineseSentence, m: re.Match[str], times: _Times, mood: Mood | None) -> bool:
    """ "X的负责人是A", "负责人：A", "该院院长为A", "审核组长A": A holds that of X, or of the topic."""
    noun = m.group("n")
    plain = re.sub(
        r"^(?:项目|技术|业务|财务|质量|安全|审核|现场|主要|运维|产品|应急)(?=负责人|责任人|联系人|供应商)", "", noun
    )
    holders = names_of(state, m.group("b"))
    subject = said_of(state, m.group("s"))
    if noun in _ABOVE and state.subject is not None and not m.group("s").strip("的现在目前"):
        subject = state.subject
    if not holders or any(h.sort != "name" for h in holders) or _CHANGES.search(m.group("s") + m.group("b")):
        return False
    if m.group("s").rstrip("的任").endswith("前"):
        return False
    if not m.group("v") and not all(w.is_person(h.text) for h in holders):
        return False
    person = all(w.is_person(h.text) for h in holders)
    changed = "变更" in m.group("v") or "改" in m.group("v") or "调整" in m.group("v")
    time = interval(times, "start" if changed else "state")
    for holder in holders:
        _held(state, holder, noun, plain, subject, person, time, mood)
    if subject is not None:
        now_about(state, subject)
    return True


_OF_A_MATTER = ("联系人", "处理人", "经办人", "操作人", "责任人", "对接人", "跟进人", "审批人")
"""Of one matter and no title: nothing is said where the matter is not named."""
_CHANGES = re.compile(r"辞去|卸任|担任|不再|免去|接替|任命|聘任|一职|职务|原|曾|由.*由")


def _held(
    state: ChineseSentence,
    holder: Term,
    noun: str,
    plain: str,
    subject: Term | None,
    person: bool,
    time: ClaimTime,
    mood: Mood | None,
) -> None:
    if subject is None:
        if person and noun.endswith(_OF_A_MATTER):
            state.subject = holder
        elif person:
            add(state, holder, "job title", text_value(noun), time, mood, subject_kind="person")
        elif noun.endswith("单位"):
            add(state, holder, "role", text_value(noun), time, mood)
        return
    if plain in _OWNING:
        add(state, holder, "owns", subject, time, mood)
    elif plain.endswith("供应商"):
        add(state, holder, "supplies", subject, time, mood)
    elif noun in _ABOVE:
        add(state, subject, "reports to", holder, time, mood)
    elif plain in _RESPONSIBLE and person:
        phrase = "leads" if plain == "负责人" else "responsible for"
        add(state, holder, phrase, subject, time, mood, subject_kind="person")
    elif person:
        drafts = title_drafts(state, holder, plain, subject, time, mood)
        if drafts:
            state.findings.drafts.extend(drafts)
        else:
            add(state, holder, "job title", text_value(noun), time, mood, subject_kind="person")
    else:
        add(state, subject, noun, holder, time, mood)


def _stake(state: ChineseSentence, m: re.Match[str], times: _Times, mood: Mood | None) -> bool:
    """ "…控股股东为A，持股51.3%": the share of what was just said."""
    drafts = state.findings.drafts
    if drafts and drafts[-1].phrase == "owns":
        share = m.group("b")
        drafts[-1] = replace(drafts[-1], qualifiers=(*drafts[-1].qualifiers, ("share", share)))
        value = _value(share)
        if value is not None:
            add(state, drafts[-1].subject, "持股比例", value, interval(times, "state"), mood)
        return True
    return False


def _part_of(state: ChineseSentence, m: re.Match[str], times: _Times, mood: Mood | None) -> bool:
    """ "X的子公司包括A和B", "成员包括A、B": each is that of X, or of the topic."""
    whole, parts = said_of(state, m.group("s")), names_of(state, m.group("b"))
    if whole is None or not parts or any(p.sort != "name" for p in parts):
        return False
    phrase = "member of" if m.group("n") == "成员" else "customer of" if m.group("n") == "客户" else "subsidiary of"
    for part in parts:
        add(state, part, phrase, whole, interval(times, "state"), mood)
    now_about(state, whole)
    return True


def _holds(state: ChineseSentence, m: re.Match[str], times: _Times, mood: Mood | None) -> bool:
    """ "A持有B18%的股份"."""
    owner, owned = said_of(state, m.group("s")), name_of(state, m.group("b"))
    if owner is None or owned is None:
        return False
    share = (("share", m.group("share")),)
    add(state, owner, "owns", owned, interval(times, "state"), mood, qualifiers=share)
    now_about(state, owner)
    return True


def _posted(state: ChineseSentence, m: re.Match[str], times: _Times, mood: Mood | None) -> bool:
    """ "岗位为品牌专员": of the person spoken of."""
    person = state.subject
    if person is None or not w.is_person(person.text) or name_of(state, m.group("r")) is None:
        return False
    add(state, person, "job title", text_value(m.group("r")), interval(times, "state"), mood, subject_kind="person")
    return True


def _placed(state: ChineseSentence, m: re.Match[str], times: _Times, mood: Mood | None) -> bool:
    """ "订单服务部署在上海机房"."""
    thing, place = said_of(state, m.group("s")), name_of(state, m.group("b"))
    if thing is None or place is None or w.is_person(place.text):
        return False
    add(state, thing, "located in", place, interval(times, "state"), mood, object_kind="place")
    now_about(state, thing)
    return True


def _switched(state: ChineseSentence, m: re.Match[str], times: _Times, mood: Mood | None) -> bool:
    """ "消息队列由A切换为B"."""
    subject = said_of(state, m.group("s"))
    new, old = name_of(state, m.group("b")), name_of(state, m.group("a"))
    if subject is None or new is None or old is None or w.is_person(new.text) or subject.kind == "person":
        return False
    if all(re.fullmatch(r"[vV]?\d+(?:\.\d+)+", t.text) for t in (new, old)):
        add(state, subject, "version", text_value(new.text), interval(times, "start"), mood)
        add(state, subject, "version", text_value(old.text), handover_end(times), mood)
        now_about(state, subject)
        return True
    if all(_ROOM.search(t.text) for t in (new, old)):
        add(state, subject, "located in", new, interval(times, "start"), mood, object_kind="place")
        add(state, subject, "located in", old, handover_end(times), mood, object_kind="place")
        now_about(state, subject)
        return True
    add(state, subject, "uses", new, interval(times, "start"), mood)
    add(state, subject, "uses", old, handover_end(times), mood)
    add(state, new, "replaced", old, interval(times, "event"), mood)
    now_about(state, subject)
    return True


_ROOM = re.compile(r"(?:机房|数据中心|仓库|仓|厂区|园区|办公室|办公楼|大厦|库房|车间)$")
"""Where something stands: moved from one to the other it is used by neither."""


def _uses(state: ChineseSentence, m: re.Match[str], times: _Times, mood: Mood | None) -> bool:
    subject = said_of(state, m.group("s"))
    things = names_of(state, re.sub(r"(?:语言)?(?:开发|编写|实现|构建|搭建|部署|存储)$", "", m.group("b")))
    if subject is None or not things or subject.kind == "person":
        return False
    begun = m.group("v").startswith("改")
    for thing in things:
        add(state, subject, "depends on" if "依赖" in m.group("v") else "uses", thing,
            interval(times, "start" if begun else "state"), mood)  # fmt: skip
    now_about(state, subject)
    return True


def _by(state: ChineseSentence, m: re.Match[str], times: _Times, mood: Mood | None) -> bool:
    """ "代码由A维护", "由A跟进", "滤芯由A供应": A has it in hand, or makes or supplies it."""
    agents = agents_of(state, m.group("b"))
    said = m.group("s").strip("的，, ")
    subject = said_of(state, said) if said not in _PARTS else topic_of(state)
    if not agents or subject is None or any(a.sort != "name" for a in agents):
        return False
    phrase = {"供应": "supplies", "供货": "supplies", "生产": "makes", "制造": "makes", "研发": "develops",
              "开发": "develops",
              "承建": "makes", "维护": "maintains", "取代": "replaced", "替代": "replaced"}  # fmt: skip
    for agent in agents:
        add(state, agent, phrase.get(m.group("v"), "responsible for"), subject, interval(times, "state"), mood)
    now_about(state, subject)
    return True


_PARTS = frozenset("代码 系统 服务 维护 日常维护 日常工作 后续 后续工作 客户 业务 运维".split())


def _only_named(state: ChineseSentence, m: re.Match[str], times: _Times, mood: Mood | None) -> bool:
    """A clause that is nothing but a name: what follows is about it."""
    subject = name_of(state, m.group("s"), role_too=False)
    if subject is None or subject.sort != "name" or times or state.findings.drafts or _TELLS.search(m.group("s")):
        return False
    if subject.kind is None and (state.subject is not None or len(subject.text) < 4):
        return False
    now_about(state, subject)
    return True


_TELLS = re.compile(r"[由为是任将已与向在于用负管调签有以对从被把离进接后]|加入|成立|领导|收购|投资|启动|开始|结束")


def _seated(state: ChineseSentence, m: re.Match[str], times: _Times, mood: Mood | None) -> bool:
    place, topic = name_of(state, m.group("b")), topic_of(state)
    if topic is None or place is None:
        return False
    add(state, topic, "headquartered in", place, interval(times, "state"), mood, object_kind="place")
    return True


def _took(state: ChineseSentence, m: re.Match[str], times: _Times, mood: Mood | None) -> bool:
    """ "A以V收购了B60%的股权"."""
    buyer = said_of(state, re.sub(r"(?:日前|近日|已|宣布|正式|将)+$", "", m.group("s")))
    words = re.sub(r"(?P<share>[\d.]+%)?的?(?:全部)?(?:股权|股份)$", "", m.group("b"))
    bought = name_of(
        state, re.sub(r"^[\u4e00-\u9fff]{2,6}(?:企业|品牌|厂商|平台|公司)(?=[\u4e00-\u9fff]{3})", "", _named(words))
    )
    if buyer is None or bought is None or buyer.sort != "name":
        return False
    share = re.search(r"[\d.]+%", m.group("b"))
    price = _value(m.group("price")) if m.group("price") else None
    told = [("share", share.group())] if share else []
    told += [("price", m.group("price"))] if m.group("price") else []
    time = interval(times, "event")
    add(state, buyer, "acquired", bought, time, mood, qualifiers=tuple(told))
    if price is not None:
        add(state, bought, "purchase price", price, time, mood)
    now_about(state, buyer)
    return True


def _dated(state: ChineseSentence, m: re.Match[str], times: _Times, mood: Mood | None) -> bool:
    """ "审核日期" beside a date."""
    subject = said_of(state, m.group("s"))
    if subject is None or not times or subject.kind == "person":
        return False
    words = state.body[times[0].core_start : times[0].end]
    add(state, subject, m.group("n"), Value(words, datatype="date"), interval(times, "event"), mood)
    return True


def _rated(state: ChineseSentence, m: re.Match[str], times: _Times, mood: Mood | None) -> bool:
    subject = said_of(state, m.group("s"))
    if subject is None:
        return False
    add(state, subject, m.group("n"), text_value(m.group("b")), interval(times, "state"), mood)
    return True


def _signed(state: ChineseSentence, m: re.Match[str], times: _Times, mood: Mood | None) -> bool:
    one, other = said_of(state, m.group("s")), name_of(state, m.group("b"))
    if one is None or other is None or other.sort != "name" or w.is_person(other.text):
        return False
    add(state, one, "partner of", other, interval(times, "start"), mood)
    now_about(state, one)
    return True


def _bought(state: ChineseSentence, m: re.Match[str], times: _Times, mood: Mood | None) -> bool:
    buyer, bought = (
        said_of(state, re.sub(r"^(?:全资|控股)?子公司", "", m.group("s"))),
        name_of(state, _named(m.group("b"))),
    )
    if buyer is None or bought is None:
        return False
    add(state, buyer, "acquired", bought, interval(times, "event"), mood)
    now_about(state, buyer)
    return True


def _named(words: str) -> str:
    """ "奥地利BioAlp公司" → "BioAlp公司": the country before a name in Latin letters is no part of it."""
    return re.sub(r"^[\u4e00-\u9fff]{2,4}(?=[A-Z])", "", words)


def _expires(state: ChineseSentence, m: re.Match[str], times: _Times, mood: Mood | None) -> bool:
    subject = said_of(state, m.group("s"))
    points = [t for t in times if t.shape in {"point", "until", "by"}]
    if subject is None or not points:
        return False
    words = state.body[points[0].core_start : points[0].end]
    phrase = "ended on" if m.group("v") in {"到期", "届满", "期满", "终止"} else m.group("v")
    add(state, subject, phrase, Value(words, datatype="date"), interval(points, "event"), mood)
    now_about(state, subject)
    return True


def _reached(state: ChineseSentence, m: re.Match[str], times: _Times, mood: Mood | None) -> bool:
    about = said_of(state, m.group("s")) if m.group("s") else state.subject or topic_of(state)
    if about is None:
        return False
    phrase = "email" if "@" in m.group("b") else "phone"
    add(state, about, phrase, text_value(m.group("b")), interval((), "start"), mood)
    return True


def _supersedes(state: ChineseSentence, m: re.Match[str], times: _Times, mood: Mood | None) -> bool:
    new, old = said_of(state, re.sub(r"^(?:新款|新版|新)", "", m.group("s"))), name_of(state, m.group("b"))
    if new is None or old is None or w.is_person(old.text) or w.is_person(new.text):
        return False
    add(state, new, "replaced", old, interval(times, "event"), mood)
    now_about(state, new)
    return True


def _system(state: ChineseSentence, m: re.Match[str], times: _Times, mood: Mood | None) -> bool:
    subject, thing = said_of(state, m.group("s")), name_of(state, m.group("b"))
    if subject is None or thing is None:
        return False
    add(state, subject, m.group("n"), thing, interval(times, "state"), mood)
    now_about(state, subject)
    return True


def _p(regex: str, act: _Act) -> tuple[re.Pattern[str], _Act]:
    return re.compile(f"^{regex}$"), act


_BE = r"(?P<v>(?:现)?(?:为|是|：|:|由|变更为|更换为|调整为|改为|改由)?)"
_PATTERNS: tuple[tuple[re.Pattern[str], _Act], ...] = (
    _p(r"(?P<s>.*?)的?(?:全资|控股|主要|重点|核心|长期)*(?P<n>子公司|成员|客户)(?:包括|有)(?P<b>[^，]+)", _part_of),
    _p(r"(?P<s>.+?)持有(?P<b>[^，]+?)(?P<share>[\d.]+%)的?(?:股份|股权)", _holds),
    _p(r"(?:其)?(?:岗位|职位|职务|职级|头衔)(?:为|是)(?P<r>[^，]{2,12})", _posted),
    _p(r"(?P<s>.*?)(?:部署|托管|存放|存储|安装|存储)(?:在|于)(?P<b>[^，]{2,16})", _placed),
    _p(rf"(?P<s>.+?)(?P<n>净重|毛重|重|长|宽|高)(?:约|达|为)?{AMOUNT}", _measured),
    _p(r"(?:(?:会议|董事会|股东会|公司|乙方|甲方|集团)?(?:一致)?(?:审议)?(?:同意|决定|通过|批准)*)(?:聘任|"
        r"任命|委任|指定|指派|委派|选举)"
       r"(?P<s>[\ue000-\ue7ff]|[\u4e00-\u9fff]{2,4}?)(?:同志)?(?:为|担任|出任)(?P<r>[^，]+)", people.appointed),
    _p(r"(?P<r>[\u4e00-\u9fff]{2,10}?)(?:一职)?(?:改|现)?由(?:原|时任|现任|前)?(?:[\u4e00-\u9fff]{2,8}?)??"
       r"(?P<s>[\ue000-\ue7ff]|[\u4e00-\u9fff]{2,3})(?:接任|继任|担任|出任|兼任)", people.follows),
    _p(r"由(?P<s>.{1,5}?)(?:于|在)?(?:创办|创立|创建|成立)的(?P<o>[\u4e00-\u9fffA-Za-z]{2,14}?)(?:是.*|为.*)?",
       people.founded_by),
    _p(r"(?P<s>.+?)(?:以(?P<price>[\d.,]+[^，收]*?)(?:的价格)?)(?:全资)?收购了?(?P<b>[^，]+)", _took),
    _p(r"(?P<s>.+?)收购了?(?P<b>[^，]+?[\d.]+%的?(?:股权|股份))(?P<price>)", _took),
    _p(r"(?P<s>.*?)(?P<n>[\u4e00-\u9fff]{2}(?:日期|时间))(?:为|是|：|:)?", _dated),
    _p(r"(?P<s>.*?)(?P<n>(?:综合|信用|客户|风险|安全|总体|质量)*(?:评级|等级|级别))(?:评定为|评为|为|是)?"
        r"(?P<b>[A-Za-z0-9+一二三四优良]{1,5}级?)",
       _rated),
    _p(rf"(?P<s>.*?)(?:现有|拥有|共有|在册|有)?员工(?:总数|人数|数)?(?:为|达|约|共)?{AMOUNT}", _staff),
    _p(rf"(?P<s>.*?)(?:现有|拥有|共有|开设|设有|共计)(?P<n>门店|网点|客户|会员|用户|专利|车辆|分公司|仓库)(?:数)?{AMOUNT}",
       _measured),
    _p(rf"(?P<s>.*?)(?P<n>占地)(?:约|达)?{AMOUNT}", _measured),
    _p(rf"(?P<s>.*?)的?(?:实现|完成|取得|录得|达成)?(?P<n>{NOUN})(?:约|合计|共计|调整)?"
       rf"(?:为|是|达到?|：|:|至|超过?)?{AMOUNT}", _measured),
    _p(r"(?:其)?持股(?:比例)?(?:为|达)?(?P<b>[\d.]+%)", _stake),
    _p(r"(?P<s>.+?)(?:由|从)(?P<a>[^由从]+?)(?:切换|迁移|升级|更换|替换)(?:为|到|至|成)了?(?P<b>.+)", _switched),
    _p(r"(?P<s>.*?)(?P<v>改用|采用|目前使用|一直使用|底层使用|使用|依赖|改为使用|基于)"
        r"了?(?P<b>[A-Za-z][^，。]*)", _uses),
    _p(r"(?P<s>.*?)(?P<v>一直使用|目前使用|长期使用|正在使用)(?:我们的|我司的|本公司的)?"
        r"(?P<b>[\u4e00-\u9fff]{2,10})", _uses),
    _p(rf"(?P<s>.*?)的?(?P<n>{HOLDER_NOUNS}){_BE}(?P<b>[^为是：:]{{1,16}})", _holder),
    _p(r"(?P<s>.*?)(?:改|转|现|目前|已)?由(?P<b>[^由]{1,14}?)(?P<v>维护|跟进|处理|对接|运维|供应|供货|承建|"
        r"研发|取代|替代|接手)", _by),
    _p(r"(?P<s>[^出]*?)(?:出)?生于?(?P<b>[\u4e00-\u9fff]{2,8})?", people.born),
    _p(r"(?P<s>.*?)(?:常驻|派驻|驻)(?:于|在)?(?P<b>[\u4e00-\u9fff]{2,10})", people.stationed),
    _p(r"(?P<s>.*?)(?P<v>分管|主管(?!人)|负责(?!人))(?P<b>[\u4e00-\u9fff、与和及]{2,16})", people.charge),
    _p(r"(?P<s>.+?)(?:已)?(?:与|和|同)(?P<b>[^与和同]+?)(?:正式)?(?:签订|签署|签约|达成)了?(?:[^，]*(?:协议|"
        r"合同|合作))?", _signed),
    _p(r"(?P<s>.+?)(?:已|宣布)*完成(?:了)?对(?P<b>.+?)的(?:全资)?(?:并购|收购)", _bought),
    _p(r"(?P<s>.+?)(?:从|由)(?P<a>[\u4e00-\u9fff]{2,12}?)(?:调到|调至|调任至?|转到|转至|"
        r"转入)了?(?P<b>[\u4e00-\u9fff]{2,12})", people.transferred),
    _p(r"(?P<s>.*?)(?:将)?(?:于)?(?P<v>到期|届满|期满)", _expires),
    _p(r"(?P<s>.*?)的?(?:联系)?(?:电话|手机|邮箱|邮件)(?:号码)?(?:(?:是|为|：|:)|(?=[\d+]))"
       r"(?P<b>[\w.+@-]{6,40})", _reached),
    _p(r"(?P<s>.+?)(?:正式)?(?:取代|替代|代替)了?(?P<b>.+)", _supersedes),
    _p(r"(?:其)?总部(?:位于|设在|在)(?P<b>[^，]+)", _seated),
    _p(r"由?(?P<s>.+?)(?:代理|代行|暂代)(?:其|他的|她的)?(?:职务|职责|工作|职权)", people.stands_in),
    _p(r"(?P<s>.*?)的?(?P<n>操作系统|开发语言|编程语言|数据库|版本|当前版本)(?:为|是|：|:)(?P<b>.+)", _system),
    _p(r"(?P<s>[\ue000-\uefff]|[\u4e00-\u9fffA-Za-z·]{2,12})", _only_named),
)  # fmt: skip


def business(state: ChineseSentence, text: str, times: _Times, mood: Mood | None) -> bool:
    """Reads a clause by the first pattern that can; False where none does."""
    for regex, act in _PATTERNS:
        m = regex.match(text)
        state.words = _said(m) if m else ""
        if m is not None and act(state, m, times, mood):
            return True
    return False


def _said(m: re.Match[str]) -> str:
    groups = m.groupdict()
    return str(groups.get("n") or groups.get("v") or "")
