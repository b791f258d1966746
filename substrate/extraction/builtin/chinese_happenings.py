"""What happened on a date that no Chinese pattern reads: an open statement in the sentence's own words."""

from __future__ import annotations

import re
from dataclasses import replace

from substrate.extraction.builtin.amounts import parse_amount
from substrate.extraction.builtin.chinese_scene import ChineseSentence, add, name_of
from substrate.extraction.builtin.chinese_verbs import MEASURES, Pattern
from substrate.extraction.builtin.happenings import CONFIDENCE
from substrate.extraction.builtin.intervals import interval
from substrate.extraction.builtin.verbs import Aspect
from substrate.extraction.claims import Mood, Value
from substrate.extraction.times import TimeMention

_SHARED = (
    "投入使用|投入运营|发布|开售|预售|发售|上市|上线|进入|启动|完成|开始|突破|达到|超过|推出|交付|投产|试产|量产|停产|立项|"
    "结项|竣工|开工|开业|签署|签订|获得|获批|通过|更新|升级|扩建|开通|退出|撤出|暂停|恢复|终止|召开|举行|揭牌|挂牌|"
    "中标|封顶|通车|首发|亮相|登陆|入驻|落户|召回|下架|停售|停服|下线|关停|融资|增资|涨价|降价|扩产|复产|减产|搬迁|"
    "改版|验收|备案|注册"
)
_BECOMING = "改用|换用|改为|切换到|切换至|转用"
_DECIDED = re.compile(r"^(?:会议|董事会|公司|项目组|评审会?|委员会)(?:一致)?(?:决定|同意|批准|通过)")
_ADVERBS = r"(?:正式|已经?|首次|全面|顺利|成功|陆续|如期|提前|再次|累计|预计|计划)*"
_AT = r"(?:(?:在|于|从|向|对|与|同)(?P<at>[^，。；]{1,14}?)(?:上|中|里|内)?)?"
_HAPPENED = re.compile(rf"^(?P<s>.{{2,18}}?){_ADVERBS}{_AT}{_ADVERBS}(?P<v>{_SHARED}|{_BECOMING})了?(?P<o>.{{0,24}})$")
_TO_BE_DONE = re.compile(
    rf"^(?P<v>启动|开始|完成|推进|发布|推出|停止|暂停)(?P<s>.{{2,16}}?)的?(?P<n>{_SHARED})?(?:工作)?$"
)
_NUMERAL = re.compile(r"[0-9〇零一二三四五六七八九十百千万亿半两]")
_COUNTERS = "台件辆套个家户款名单次份张只部架"
_MEASURED = re.compile(rf"^(?P<s>.{{2,14}}?)的?(?P<n>{MEASURES})$")


def happened(state: ChineseSentence, text: str, times: tuple[TimeMention, ...], mood: Mood | None) -> bool:
    """Adds the open statement of a dated clause whose verb tells that something happened."""
    if not times:
        return False
    decided = _DECIDED.match(text)
    if decided:
        return _decided(state, text[decided.end() :], times, mood or "planned")
    found = _HAPPENED.match(text)
    if found is None:
        return False
    measured = _MEASURED.match(found["s"])
    subject = name_of(state, measured["s"] if measured else found["s"], role_too=False)
    if subject is None or subject.sort != "name":
        return False
    aspect: Aspect = "start" if re.fullmatch(_BECOMING, found["v"]) else "event"
    phrase = (measured["n"] if measured else "") + found["v"]
    rest = found["o"] or found["at"] or ""
    value = Value(rest) if rest else Value(times[0].time.words, datatype="date")
    add(state, subject, phrase, value, interval(times, aspect), mood, confidence=CONFIDENCE)
    state.subject = replace(subject)
    return True


def measured(
    state: ChineseSentence, pattern: Pattern, g: dict[str, str], times: tuple[TimeMention, ...], mood: Mood | None
) -> bool:
    """ "码表销量为12万台": what is measured, with its number where the words are one."""
    subject, words = name_of(state, g["s"], role_too=False), g["b"]
    counted = g["n"].startswith("所属") or _NUMERAL.search(words) is not None
    if subject is None or subject.sort != "name" or not counted or len(words) > 24:
        return False
    add(state, subject, g["n"], counted_value(words), interval(times, "state"), mood)
    state.subject = subject
    return True


def counted_value(words: str) -> Value:
    """Figures with a counter ("12万台") as a number of that counter, anything else as it stands."""
    value = parse_amount(words)
    if value.number is None and words[-1] in _COUNTERS:
        bare = parse_amount(words[:-1])
        if bare.number is not None and bare.unit is None:
            return replace(bare, raw=words, unit=f"{{{words[-1]}}}")
    return value


def _decided(state: ChineseSentence, text: str, times: tuple[TimeMention, ...], mood: Mood) -> bool:
    """ "会议决定下个月启动X试产": planned of X."""
    found = _TO_BE_DONE.match(text)
    subject = name_of(state, found["s"], role_too=False) if found else None
    if found is None or subject is None or subject.sort != "name":
        return False
    value = Value(times[0].time.words, datatype="date")
    phrase = found["v"] + (found["n"] or "")
    add(state, subject, phrase, value, interval(times, "event"), mood, confidence=CONFIDENCE)
    return True
