"""The Chinese forms of date, on text whose traditional characters have become simplified ones."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from functools import cache

from substrate.extraction.times import numeric, spans
from substrate.extraction.times.rules import Grammar, Reader, Rule
from substrate.extraction.times.spans import Context, NeedsAnchor, Span, Unit

Match = re.Match[str]
_DIGITS = {character: number for number, character in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "○": 0,
    "两": 2,
}
_WITHOUT_YEAR = "(?<!年)(?<!年 )"
_YEARS = {
    "大前年": -3,
    "大后年": 3,
    "前年": -2,
    "去年": -1,
    "上年": -1,
    "今年": 0,
    "本年": 0,
    "明年": 1,
    "来年": 1,
    "后年": 2,
}
_DAYS = {
    "大前天": -3, "前天": -2, "前日": -2, "昨天": -1, "昨日": -1, "昨晚": -1, "今天": 0, "今日": 0, "今晚": 0,
    "明天": 1, "明日": 1, "后天": 2, "大后天": 3,
}  # fmt: skip
_SIDES = {"上上": -2, "上": -1, "前": -1, "这": 0, "本": 0, "当": 0, "下": 1, "下下": 2}
_WEEKDAYS = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6}
_SEASONS = {"春": 0, "夏": 1, "秋": 2, "冬": 3}
_UNITS: dict[str, Unit] = {
    "天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "季度": "quarter",
    "年": "year",
}  # fmt: skip
_FEASTS = {
    "元旦": (1, 1), "情人节": (2, 14), "妇女节": (3, 8), "植树节": (3, 12), "愚人节": (4, 1), "劳动节": (5, 1),
    "五一劳动节": (5, 1), "青年节": (5, 4), "儿童节": (6, 1), "建党节": (7, 1), "建军节": (8, 1), "教师节": (9, 10),
    "国庆节": (10, 1), "国庆": (10, 1), "平安夜": (12, 24), "圣诞节": (12, 25),
}  # fmt: skip
"""Feasts with a day of the solar calendar; those of the moon's are not read."""
STARTERS = "〇零○一二三四五六七八九十两半前去上今本明来后大昨这当下周星礼近过最未接第"
_N = "[0-9]{1,3}|[一二三四五六七八九十两]{1,3}"
_YEAR = (
    "(?:(?P<y>[0-9]{4}|[〇零○一二三四五六七八九]{4}|0[0-9]) ?年|"
    "(?P<ry>大前年|大后年|前年|去年|上年|今年|本年|明年|来年|后年))"
)
_MONTH = "(?P<m>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九]) ?月(?:份)?(?![初廿])"
_BARE_MONTH = "1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九]"
_DAY = "(?P<d>[0-3]?[0-9]|三十一?|二?十[一二三四五六七八九]?|[一二三四五六七八九])"
_WEEK = "(?:周|星期|礼拜)"
_NOT_A_DAY = "(?![楼线门院房馆机店柜台桌文令公车球站井坑位选])"
_CLOCK = "(?:(?:凌晨|清晨|早上|上午|中午|下午|傍晚|晚上|晚间)?(?:[0-9]{1,2}[时点:][0-9]{0,2}分?)?)"


def number(words: str) -> int:
    """Figures, or Chinese numerals up to ninety-nine. Raises `LookupError` otherwise."""
    if words.isdigit() and words.isascii():
        return int(words)
    if "十" in words:
        tens, ones = words.split("十")
        return (_DIGITS[tens] if tens else 1) * 10 + (_DIGITS[ones] if ones else 0)
    return int("".join(str(_DIGITS[character]) for character in words))


def _year(match: Match, context: Context) -> tuple[int, str]:
    if match["y"] is not None:
        year = number(match["y"])
        return (year + 2000 if len(match["y"]) == 2 else year), "A"
    at = context.at("year")
    if at is None:
        raise NeedsAnchor
    return at.year + _YEARS[match["ry"]], "B"


def _of_year(build: Reader) -> Reader:
    """A reader whose year, relative or written, sets the grade."""

    def read(match: Match, context: Context) -> Span | None:
        year, grade = _year(match, context)
        span = build(match, replace(context, year=year))
        return span and replace(span, grade="B" if grade == "B" else span.grade)

    return read


def _day(match: Match, context: Context) -> Span | None:
    return spans.recurring_day(context, number(match["m"]), number(match["d"]))


def _month(match: Match, context: Context) -> Span | None:
    return spans.recurring_month(context, number(match["m"]))


def _whole_year(_: Match, context: Context) -> Span | None:
    return None if context.year is None else spans.year_span(context.year)


def _part_of_year(match: Match, context: Context) -> Span | None:
    year = _whole_year(match, context)
    part = match["part"]
    if year is None or part == "中":
        return year
    return spans.part_of(year, "start" if part == "初" else "end")


def _quarter(match: Match, context: Context) -> Span | None:
    quarter = number(match["q"])
    if not 1 <= quarter <= 4:
        raise ValueError("no such quarter")
    return replace_unit(spans.recurring_months(context, 3 * quarter - 2, 3), "quarter")


def replace_unit(span: Span | None, unit: Unit) -> Span | None:
    return span and replace(span, unit=unit)


def _fiscal(match: Match, context: Context) -> Span | None:
    """A financial year is taken as the calendar's."""
    return _of_year(_quarter if match["q"] else _whole_year)(match, context)


def _half(match: Match, context: Context) -> Span | None:
    month = 1 if match["half"] in "上前" else 7
    at = context.at("year")
    if context.year is None and at is not None:
        year = at.year
        return replace(spans.months_span(year, month, 6, "half"), grade="B")
    return replace_unit(spans.recurring_months(context, month, 6), "half")


def _season(match: Match, context: Context) -> Span | None:
    return spans.recurring_months(context, 3 * _SEASONS[match["season"]] + 3, 3)


def _relative_month(match: Match, context: Context) -> Span | None:
    month = spans.relative(context, "month", _SIDES[match["side"]])
    if month is None or match["d"] is None:
        return month
    return spans.bucket(month.start.replace(day=number(match["d"])), "day", "B")


def _third_of_month(match: Match, context: Context) -> Span | None:
    """ "上旬" is the first ten days, "下旬" what is left after the twentieth; "上半月" ends with the fifteenth."""
    month = _month_of(match, context)
    if month is None:
        return None
    first, last = {"上旬": (1, 10), "中旬": (11, 20), "下旬": (21, 0), "上半月": (1, 15), "下半月": (16, 0)}[
        match["third"]
    ]
    start = month.start.replace(day=first)
    end = month.start.replace(day=last) + timedelta(1) if last else month.end
    return Span(start, end, "day", month.grade)


def _month_of(match: Match, context: Context) -> Span | None:
    if match["m"] is None:
        return spans.relative(context, "month", _SIDES[match["side"] or "本"])
    if match["y"] is None and match["ry"] is None:
        return _month(match, context)
    return _of_year(_month)(match, context)


def _part_of_month(match: Match, context: Context) -> Span | None:
    """The end of a month is within it: nothing finer is said."""
    return _month_of(match, context)


def _part_alone(match: Match, context: Context) -> Span | None:
    """ "年底", "月末", "季度末" of the anchor's own year, month or quarter."""
    unit: Unit = {"年": "year", "月": "month", "季": "quarter"}[match["unit"]]  # type: ignore[assignment]
    whole = spans.relative(context, unit, 0)
    if whole is None or match["part"] in "中":
        return whole
    return spans.part_of(whole, "start" if match["part"] == "初" else "end")


def _ranked_weekday(match: Match, context: Context) -> Span | None:
    month = _month_of(match, context)
    rank = -1 if match["rank"] == "最后一" else number(match["rank"].removeprefix("第"))
    return month and spans.weekday_within(month, _WEEKDAYS[match["wd"]], rank)


def _slice(match: Match, context: Context) -> Span | None:
    """ "今年的最后3周", "去年的前10天"."""
    whole = (_month_of if match["m"] else _of_year(_whole_year))(match, context)
    if whole is None:
        return None
    unit, count = _UNITS[match["unit"]], number(match["n"])
    if unit not in ("day", "week", "month", "quarter"):
        raise ValueError("not shorter than what it is of")
    first = match["edge"] in ("前", "头", "最初")
    edge = spans.week_within(whole, 1 if first else -1) if unit == "week" else whole
    start = edge.start if first else spans.move(edge.end, unit, -count)
    end = spans.move(edge.start, unit, count) if first else edge.end
    return Span(start, end, "day" if unit in ("day", "week") else "month", whole.grade)


def _told_unit(match: Match, context: Context) -> Span | None:
    """ "次年", "同月", "翌日": of what was told last; None where nothing was."""
    return spans.relative(context.narrated(), _UNITS[match["unit"]], 0 if match["side"] in "同当" else 1)


def _weekend(match: Match, context: Context) -> Span | None:
    week = spans.relative(context, "week", _SIDES[match["side"]])
    return week and replace(week, start=week.start + timedelta(5))


def _first_quarters(match: Match, context: Context) -> Span | None:
    """ "前三季度": the first ones of a year, never the last ones before today."""
    return _last_begun(context, 1, 3 * number(match["n"]))


def _last_begun(context: Context, month: int, count: int) -> Span | None:
    """The months of the anchor's year, or of the one before where those still lie ahead of it."""
    at = context.at("month")
    if context.year is not None or context.direction > 0 or at is None:
        return spans.recurring_months(context, month, count)
    year = at.year if month <= at.month else at.year - 1
    return replace(spans.months_span(year, month, count), grade="B")


def _months_to_month(match: Match, context: Context) -> Span | None:
    """ "1-6月", "2018年三到五月"."""
    first, last = number(match["m"]), number(match["m2"])
    if not 1 <= first < last <= 12:
        raise ValueError("the range ends before it begins")
    if match["y"] or match["ry"]:
        year, grade = _year(match, context)
        span: Span | None = replace(
            spans.months_span(year, first, last - first + 1), grade="B" if grade == "B" else "A"
        )
    else:
        span = _last_begun(context, first, last - first + 1)
    return span and replace(span, kind="interval")


def _week_of_month(match: Match, context: Context) -> Span | None:
    month = _month_of(match, context)
    return month and spans.week_within(month, -1 if match["rank"] == "最后一" else number(match["rank"][1:]))


def _feast(match: Match, context: Context) -> Span | None:
    month, day = _FEASTS[match["feast"]]
    return spans.recurring_day(context, month, day)


def _feast_either(match: Match, context: Context) -> Span | None:
    return _of_year(_feast)(match, context) if match["y"] or match["ry"] else _feast(match, context)


def _relative_unit(unit: Unit) -> Reader:
    return lambda match, context: spans.relative(context, unit, _SIDES[match["side"]])


def _relative_weekday(match: Match, context: Context) -> Span | None:
    week = spans.relative(context, "week", _SIDES[match["side"]])
    return week and replace(spans.unit_at(week.start, "day", _WEEKDAYS[match["wd"]]), grade="B")


def _weekday(match: Match, context: Context) -> Span | None:
    at = context.at("day")
    weekday = _WEEKDAYS[match["wd"]]
    if at is not None and at.weekday() == weekday and context.direction == 0:
        return spans.relative(context, "day", 0)
    return spans.recurring_weekday(context, weekday)


def _day_word(match: Match, context: Context) -> Span | None:
    return spans.relative(context, "day", _DAYS[match["word"]])


def _day_of_month(match: Match, context: Context) -> Span | None:
    return spans.day_of_month(context, number(match["d"]))


def _ago(match: Match, context: Context) -> Span | None:
    count = number(match["n"]) * (-1 if match["side"] == "前" else 1)
    return spans.shifted(context, _UNITS[match["unit"]], count)


def counted_after(match: Match, unit_context: Context) -> Span | None:
    """The date that "…后两个月" or "…两个月后" counts to from the last thing told."""
    groups = match.groupdict()
    if "unit" not in groups:
        months = 12 * (number(match["n"]) if match["n"] else 0) + 6
        return spans.shifted(unit_context.narrated(), "month", months)
    return spans.shifted(unit_context.narrated(), _UNITS[match["unit"]], number(match["n"]))


def is_after_event(match: Match) -> bool:
    """Whether the words count forward, so that what stands before them may be what they count from."""
    groups = match.groupdict()
    return (groups.get("side") == "后" and "n" in groups) or groups.get("way") == "后"


def _rolling(match: Match, context: Context) -> Span | None:
    count = number(match["n"]) * (1 if match["way"] in ("未来", "后", "下", "接下来") else -1)
    return spans.rolling(context, _UNITS[match["unit"]], count)


def _decade(match: Match, _: Context) -> Span | None:
    """Without a century the fifties to the nineties are those of the twentieth."""
    if match["decade"]:
        return spans.years_span(int(match["decade"]), 10)
    tens = number(match["tens"])
    if match["c"] is None and tens < 50:
        raise ValueError("of which century?")
    century = 20 if match["c"] is None or match["c"].startswith("上") else number(match["c"])
    return spans.years_span((century - 1) * 100 + tens, 10)


def _century(match: Match, _: Context) -> Span | None:
    return spans.years_span(number(match["c"]) * 100 - 99, 100)


def _week_of_year(match: Match, context: Context) -> Span | None:
    return None if context.year is None else spans.iso_week_span(context.year, number(match["n"]))


def _days_of_month(match: Match, context: Context) -> Span | None:
    first = _day(match, context)
    last = first and spans.bucket(first.start.replace(day=number(match["d2"])), "day", first.grade)
    return spans.join(first, last) if first and last else None


def _written() -> list[tuple[str, Reader, bool]]:
    day_mark = "[日号]"
    weekday = f"(?:[,，(]? ?{_WEEK}[一二三四五六日天]\\)?)?"
    return [
        (f"{_YEAR}的? ?{_MONTH} ?{_DAY}{day_mark}{weekday}{_CLOCK}", _of_year(_day), False),
        (f"{_YEAR}的? ?{_MONTH}", _of_year(_month), False),
        (f"{_YEAR}度?", _of_year(_whole_year), False),
        (f"{_YEAR}的? ?年?(?P<part>[初中底末])", _of_year(_part_of_year), False),
        (f"{_YEAR}的? ?第?(?P<q>[一二三四1-4])季度?", _of_year(_quarter), False),
        (f"{_YEAR}的? ?[Qq](?P<q>[1-4])", _of_year(_quarter), False),
        (f"{_YEAR}的? ?(?P<half>[上下前后])半年", _of_year(_half), False),
        (f"{_YEAR}的? ?(?P<season>[春夏秋冬])(?:天|季)?", _of_year(_season), False),
        (f"{_YEAR}的? ?第(?P<n>{_N})(?:周|个?星期)", _of_year(_week_of_year), False),
        (f"{_YEAR}的? ?第(?P<m>{_N})个月", _of_year(_month), False),
        (f"{_YEAR}的? ?(?P<edge>前|头|最初|最后) ?(?P<n>{_N}) ?个?(?P<unit>天|周|星期|月|季度)(?P<m>)", _slice, False),
        (f"(?:{_YEAR}的? ?)?{_MONTH}的?(?P<third>[上中下]旬|[上下]半月)", _third_of_month, True),
        (f"(?:{_YEAR}的? ?)?{_MONTH[:-8]}[初中底末](?![一二三四五六七八九十])", _part_of_month, True),
        (
            f"(?:{_YEAR}的? ?)?{_MONTH}的? ?(?P<rank>第[一二三四五]|最后一)个?{_WEEK}(?P<wd>[一二三四五六日天])",
            _ranked_weekday,
            True,
        ),
        ("(?P<y>[0-9]{4})(?P<ry>)(?= ?[-~至到] ?[0-9]{4} ?年)", _of_year(_whole_year), False),
        (f"{_WITHOUT_YEAR}{_MONTH} ?{_DAY}{day_mark}{weekday}{_CLOCK}", _day, True),
        (
            f"(?:{_YEAR} ?)?{_MONTH} ?{_DAY}{day_mark}? ?[到至~-] ?(?P<d2>{_DAY[6:-1]}){day_mark}",
            _days_either,
            True,
        ),
        (f"{_WITHOUT_YEAR}{_MONTH}(?!天)", _month, True),
        (
            f"(?:{_YEAR}的? ?)?(?P<m>{_BARE_MONTH}) ?[到至~-] ?(?P<m2>{_BARE_MONTH}) ?月份?(?![0-9]|{_N}[日号])",
            _months_to_month,
            False,
        ),
        (
            f"(?:{_YEAR}的? ?)?{_MONTH}的?(?P<rank>第[一二三四五]|最后一)(?:个?星期|周)(?![一二三四五六日天])",
            _week_of_month,
            True,
        ),
        (f"(?:{_YEAR}的? ?)?(?P<feast>{'|'.join(sorted(_FEASTS, key=len, reverse=True))})", _feast_either, True),
        (
            "(?P<y>[0-9]{4})(?P<ry>) ?(?:财年|财政年度|会计年度)(?:的? ?第?(?P<q>[一二三四1-4])(?:财季|季度))?",
            _fiscal,
            False,
        ),
        ("(?<![前后近续每第过])(?P<q>[一二三四])季度", _quarter, True),
        ("第(?P<q>[一二三四1-4])季度", _quarter, True),
        ("(?P<half>[上下])个?半年", _half, True),
        (
            "(?:(?P<decade>[12][0-9]{2}0)|(?:(?P<c>[12][0-9]|十九|二十|上个?) ?世纪)?"
            "(?P<tens>[0-9]0|[一二三四五六七八九]十))年代",
            _decade,
            False,
        ),
        ("(?P<c>[12]?[0-9]|十[一二三四五六七八九]?|二十一?) ?世纪", _century, False),
    ]


def _days_either(match: Match, context: Context) -> Span | None:
    if match["y"] or match["ry"]:
        return _of_year(_days_of_month)(match, context)
    return _days_of_month(match, context)


def _spoken() -> list[tuple[str, Reader, bool]]:
    days = "|".join(sorted(_DAYS, key=len, reverse=True))
    unit = "天|日|周|星期|礼拜|月|季度|年"
    sides = "上上|下下|上|这|本|下"
    return [
        (f"(?P<side>{sides})个?月(?:份)?(?:{_DAY}[日号]?(?![0-9]))?", _relative_month, False),
        (f"(?P<side>{sides})个?(?:周|星期|礼拜)", _relative_unit("week"), False),
        (f"(?P<side>{sides})个?(?:周|星期|礼拜)(?P<wd>[一二三四五六日天])", _relative_weekday, False),
        (f"(?P<side>{sides})(?:一)?个?季度?", _relative_unit("quarter"), False),
        (
            "(?P<side>上|本|这|下)个?月(?P<y>)(?P<ry>)(?P<m>(?!))?的?(?P<third>[上中下]旬|[上下]半月)",
            _third_of_month,
            False,
        ),
        ("(?P<side>)(?P<m>(?!))?(?P<third>[上中下]旬|[上下]半月)", _third_of_month, False),
        ("(?P<unit>年)(?P<part>[初中底末])(?![高级学生中部])", _part_alone, False),
        ("(?<![0-9一二三四五六七八九十])(?P<unit>月)(?P<part>[底末初])(?![一二三四五六七八九十])", _part_alone, False),
        ("(?P<unit>季)度?(?P<part>[末初])", _part_alone, False),
        ("(?P<side>次|翌|同|当)(?P<unit>[年月日天])(?![级龄份气空])", _told_unit, False),
        (f"(?P<side>{sides})个?周末", _weekend, False),
        ("前(?P<n>[二两三])个?季度", _first_quarters, True),
        (f"(?P<word>{days})(?!头条)", _day_word, False),
        (f"{_WEEK}(?P<wd>[一二三四五六日天])", _weekday, True),
        ("(?P<d>[1-3]?[0-9])日(?![内游间元均本前后])", _day_of_month, True),
        (f"(?P<d>[1-3]?[0-9])号{_NOT_A_DAY}", _day_of_month, True),
        (f"(?P<n>{_N})(?P<unit>天|周|年)以?之?(?P<side>[前后])", _ago_plain, False),
        (f"(?:(?P<n>{_N})年)?半年?(?<=年半|半年)以?之?(?P<side>[前后])", _half_years, False),
        (f"(?P<n>{_N})个(?P<unit>月|星期|礼拜|季度)以?之?(?P<side>[前后])", _ago_plain, False),
        (
            f"(?<![最之以])(?P<way>近|过去|最近|未来|接下来|前|后)的?(?P<n>{_N})个?(?P<unit>{unit})(?![初底末])",
            _rolling,
            False,
        ),
    ]


def _ago_plain(match: Match, context: Context) -> Span | None:
    """ "三年后" counts from something told before unless the sentence looks ahead."""
    if match["n"].startswith("0"):
        raise ValueError("a year")
    if match["side"] == "后" and context.direction <= 0:
        return _ago(match, context.narrated())
    return _ago(match, context)


def _half_years(match: Match, context: Context) -> Span | None:
    """ "半年后", "两年半前": to the month."""
    months = 12 * (number(match["n"]) if match["n"] else 0) + 6
    if match["side"] == "后" and context.direction <= 0:
        return spans.shifted(context.narrated(), "month", months)
    return spans.shifted(context, "month", months * (-1 if match["side"] == "前" else 1))


_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925, "大正": 1911, "明治": 1867, "民国": 1911}
"""Reigns and republics whose first year is known to the year: the year before it."""


def _of_era(build: Reader) -> Reader:
    def read(match: Match, context: Context) -> Span | None:
        count = 1 if match["ey"] == "元" else int(match["ey"])
        if not count:
            raise ValueError("no such year")
        return build(match, replace(context, year=_ERAS[match["era"]] + count))

    return read


def _add_eras(made: Grammar) -> None:
    year = f"(?P<era>{'|'.join(_ERAS)}) ?(?P<ey>元|[0-9]{{1,3}}) ?年"
    forms = [
        (f"{year} ?{_MONTH} ?{_DAY}[日号]", _of_era(_day)),
        (f"{year} ?{_MONTH}", _of_era(_month)),
        (year, _of_era(_whole_year)),
    ]
    for pattern, read in forms:
        for key in {era[0] for era in _ERAS}:
            made.add(key, Rule(re.compile(pattern), read))


def _keys(read: Reader) -> tuple[str, ...]:
    """What a form may begin with; the common characters are kept to the few forms that need them."""
    if read is _part_alone:
        return ("年", "月", "季")
    if read is _told_unit:
        return ("次", "翌", "同", "当")
    more = "".join(sorted({feast[0] for feast in _FEASTS})) if read is _feast_either else ""
    more = "中" if read is _third_of_month else more
    return (*STARTERS, *(character for character in more if character not in STARTERS), "1", "4")


@cache
def grammar() -> Grammar:
    """Built when first needed. Rules are filed under their first character, figures as in English."""
    made = Grammar()
    numeric.add_rules(made)
    _add_eras(made)
    for pattern, read, yearless in _written() + _spoken():
        rule = Rule(re.compile(pattern), read, yearless=yearless, interval=read is _rolling)
        for key in _keys(read):
            made.add(key, rule)
    return made
