"""How Chinese governs a date: 自…起, 截至…, …之前, and ranges with 至 or 到."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from substrate.extraction.times import chinese, spans
from substrate.extraction.times.frames import REMEMBERED, mention, told_by
from substrate.extraction.times.records import Anchor, Dated, Shape, TimeMention
from substrate.extraction.times.rules import Core
from substrate.extraction.times.spans import Context, Span

_BEFORE: tuple[tuple[str, Shape], ...] = (
    ("截止到", "as_of"), ("截止至", "as_of"), ("截至到", "as_of"), ("截至", "as_of"), ("截止", "as_of"),
    ("不晚于", "by"), ("最迟", "by"), ("最晚", "by"), ("早于", "before"), ("晚于", "after"),
    ("一直到", "until"), ("直到", "until"), ("直至", "until"), ("自从", "since"), ("始于", "since"),
    ("自", "since"), ("从", "since"), ("由", "since"), ("到", "until"), ("至", "until"), ("在", "point"),
    ("于", "point"),
)  # fmt: skip
_AFTER: tuple[tuple[str, Shape], ...] = (
    (r"(?:或|及|以及|和)(?:之|以)?前", "by"),
    (r"(?:或|及|以及|和)(?:之|以)?后", "since"),
    (r"(?:之|以)前|前(?![0-9后往来任身景期夕线台]|[一二三四五六七八九十两]+[天周个年])", "before"),
    (r"(?:之|以)后|后(?!来|期|续|面)", "after"),
    (r"から|부터|以降", "since"),
    (r"まで|까지", "until"),
    (r"以来|至今|起(?!草|诉|点|伏|飞|床|步|源)|开始", "since"),
    (r"为止|止", "until"),
)  # fmt: skip
_AFTERS = [(re.compile(" ?" + pattern), shape) for pattern, shape in _AFTER]
_JOIN = re.compile(r" ?(?P<mark>至|到|-|~|直到|和|与|及) ?")
_CLOSED = re.compile(r" ?(?:之间|期间|间|为止|止|(?:之|以)前)")
_OPENED = re.compile(" ?(?:起|开始)?")
_LAST_DAY = re.compile("(?P<d>[0-3]?[0-9]|[一二三]?十[一二三四五六七八九]?|[一二三四五六七八九])[日号]")
_EVENT = re.compile(r"(?:[\u4e00-\u9fffA-Za-z0-9]{0,18}?)(?P<event>[\u4e00-\u9fff]{2})(?:之|以)?$")
_A_NAME = re.compile(r"(?:乐队|有限公司)|是[^，。]{0,6}(?:名字|名称|昵称|品牌)")
_NO_EVENT = "在于将约会自从到至过近今往此其每的了，、"
_NO_EVENTS = {
    "预计",
    "大约",
    "计划",
    "最近",
    "随后",
    "大概",
    "再过",
    "未来",
    "接着",
    "此后",
    "今后",
    "以后",
    "之后",
    "他们",
    "我们",
}
_FUTURE = re.compile("将|会(?=[在来去到有成推开举完进搬离加任发])|要在|计划|预计|打算|准备|即将")
_PAST = re.compile("[了过]|曾|已")


def _fits(text: str, end: int) -> bool:
    after = text[end : end + 1]
    if text[end - 1].isdigit() and text[end - 1].isascii():
        return not (after.isascii() and (after.isalnum() or after in "%_.")) and after != "个"
    return True


def _opening(text: str, start: int) -> bool:
    if not start:
        return True
    before = text[start - 1]
    if text[start] in "0123456789":
        return not (before.isascii() and (before.isalnum() or before in "$€£¥#_.&+\\/@-")) and before != "第"
    numeral = "〇零○一二三四五六七八九十百千万两第"
    return not (text[start] in numeral and before in numeral)


@dataclass(slots=True)
class Reader:
    """One text being read."""

    text: str
    anchor: Anchor | None
    told: tuple[Dated, ...] = ()

    def __post_init__(self) -> None:
        self.told = self.anchor.told if self.anchor else ()

    def mentions(self) -> Iterator[TimeMention]:
        position, rules = 0, chinese.grammar().rules
        while position < len(self.text):
            key = self._key(position)
            core = self._core(position, key) if key in rules and _opening(self.text, position) else None
            found = core and self._safely(core)
            if found:
                yield found
                position = found.end
                self.told = (*self.told, *told_by(found, self.text))[-REMEMBERED:]
            elif core:
                position = core.end
            else:
                position += len(key) if len(key) > 1 else 1

    def _safely(self, core: Core) -> TimeMention | None:
        """None where a date turns out to lie outside the years 1 to 9999."""
        try:
            return self._mention(core)
        except (ValueError, LookupError, OverflowError):
            return None

    def _key(self, at: int) -> str:
        if self.text[at] not in "0123456789":
            return self.text[at]
        end = at
        while end < len(self.text) and self.text[end] in "0123456789":
            end += 1
        return "4" if end - at == 4 else "1" if end - at < 4 else self.text[at:end]

    def _context(self, start: int) -> Context:
        if self.anchor is None:
            return Context(told=self.told)
        begin = max(self.text.rfind(mark, max(0, start - 60), start) for mark in "。！？;；\n")
        clause = self.text[max(begin, start - 60, 0) : start + 24]
        if _FUTURE.search(clause):
            return Context(self.anchor, 1, told=self.told)
        return Context(self.anchor, -1 if _PAST.search(clause) else 0, told=self.told)

    def _core(self, start: int, key: str) -> Core | None:
        return chinese.grammar().longest(self.text, start, key, self._context(start), _fits)

    def _mention(self, core: Core) -> TimeMention | None:
        start, shape = self._before(core.start)
        if self.text.endswith(("农历", "阴历", "旧历", "每", "每个"), 0, core.start):
            return None
        if _A_NAME.match(self.text, core.end):
            return None
        if chinese.is_after_event(core.match) and (event := self._event(core)) is not None:
            return event
        joined = self._range(core, start, shape)
        if joined is not None:
            return joined
        if core.rule.loose and shape is None and core.start + 4 == core.end:
            return None
        after, end = self._after(core.end)
        if shape == "since" and after in ("after", "since"):
            after = "since"
        shape = after or shape or "point"
        if shape in ("point", "since") and (core.rule.interval or (core.span and core.span.kind == "interval")):
            shape = "interval"
        return mention(self.text, start, end, core.start, shape, core.span)

    def _event(self, core: Core) -> TimeMention | None:
        """ "上市半年后", "验厂后两个月": counted from the event that stands before, if it was told; else undated.

        Ahead of a comma the event belongs to the time; elsewhere only the words that count do.
        """
        event = _EVENT.search(self.text[max(0, core.start - 24) : core.start])
        if event is None or event["event"][-1] in _NO_EVENT or event["event"] in _NO_EVENTS:
            return None
        known = tuple(told for told in self.told if event["event"][-2:] in told.words)
        context = replace(self._context(core.start), told=known, anchor=None)
        span = chinese.counted_after(core.match, context) if known else None
        start = core.start
        if self.text[core.end : core.end + 1] in ("，", ","):
            start = max(0, core.start - 24) + event.start()
        return mention(self.text, start, core.end, start, "point", span)

    def _before(self, at: int) -> tuple[int, Shape | None]:
        for blank in (0, 1):
            end = at - blank
            if blank and self.text[end:at] != " ":
                break
            for word, shape in _BEFORE:
                if self.text.endswith(word, 0, end) and end >= len(word):
                    return end - len(word), shape
        return at, None

    def _after(self, at: int) -> tuple[Shape | None, int]:
        for pattern, shape in _AFTERS:
            match = pattern.match(self.text, at)
            if match:
                return shape, match.end()
        return None, at

    def _range(self, first: Core, start: int, shape: Shape | None) -> TimeMention | None:
        if shape not in (None, "since", "point"):
            return None
        opened = _OPENED.match(self.text, first.end)
        join = _JOIN.match(self.text, opened.end() if opened else first.end)
        if join is None or join.end() >= len(self.text):
            return None
        key = self._key(join.end())
        same_month = self._same_month(first, start, join.end())
        if same_month is not None:
            return same_month
        last = self._core(join.end(), key) if key in chinese.grammar().rules else None
        if last is None or (last.span and last.span.kind == "interval"):
            return None
        closed = _CLOSED.match(self.text, last.end)
        if join["mark"] in "和与及" and (closed is None or "间" not in closed[0]):
            return None
        left, right = self._aligned(first, last)
        end = closed.end() if closed else last.end
        if left is None or right is None:
            return mention(self.text, start, end, first.start, "interval", None)
        try:
            return mention(self.text, start, end, first.start, "interval", spans.join(left, right))
        except ValueError:
            return None

    def _same_month(self, first: Core, start: int, at: int) -> TimeMention | None:
        """ "到十二日" after a full day."""
        day = _LAST_DAY.match(self.text, at)
        if day is None or first.span is None or first.span.precision != "day" or first.span.unit:
            return None
        closed = _CLOSED.match(self.text, day.end())
        try:
            end = first.span.start.replace(day=chinese.number(day["d"]))
            span = spans.join(first.span, spans.bucket(end, "day", first.span.grade))
        except (ValueError, LookupError):
            return None
        return mention(self.text, start, closed.end() if closed else day.end(), first.start, "interval", span)

    def _aligned(self, first: Core, last: Core) -> tuple[Span | None, Span | None]:
        """Both ends of a range, each with the year that the other lends."""
        left, right, context = first.span, last.span, self._context(first.start)
        if first.rule.yearless and last.rule.yearless:
            return spans.alike(context, first.again, last.again)
        if last.rule.yearless and left:
            right = last.again(replace(context, year=left.start.year))
            if right and right.start < left.start:
                right = last.again(replace(context, year=left.start.year + 1))
        elif first.rule.yearless and right:
            left = first.again(replace(context, year=right.start.year))
        if left and right and "B" in (left.grade, right.grade):
            return replace(left, grade="B"), replace(right, grade="B")
        return left, right
