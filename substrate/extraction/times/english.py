"""The English forms of date, without the prepositions around them."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from functools import cache

from substrate.extraction.claims import Precision
from substrate.extraction.times import english_ranked, english_relative, english_told, numeric, spans, words
from substrate.extraction.times.records import Anchor
from substrate.extraction.times.rules import Grammar, Reader, Rule
from substrate.extraction.times.spans import Context, Span
from substrate.extraction.times.words import compiled

Match = re.Match[str]
# Also English words: "may" and "march" are months only with a capital, or beside a day or a year.
_EVERYDAY = {"may", "march", "mar"}


def _dated(match: Match, context: Context) -> Span | None:
    year, grade = words.year(match["y"], context)
    day = spans.day_span(year, words.month(match["mon"]), words.ordinal(match["d"]))
    return replace(day, grade=grade)


def _dated_shortly(match: Match, context: Context) -> Span | None:
    year = numeric.full_year(int(match["yy"]), context)
    return spans.day_span(year, words.month(match["mon"]), words.ordinal(match["d"]))


def _month_of_year(match: Match, context: Context) -> Span | None:
    year, grade = words.year(match["y"], context)
    return replace(spans.month_span(year, words.month(match["mon"])), grade=grade)


def _month_of_short_year(match: Match, context: Context) -> Span | None:
    return spans.month_span(numeric.full_year(int(match["yy"]), context), words.month(match["mon"]))


def _yearless_day(match: Match, context: Context) -> Span | None:
    bare = match["d"].isdigit() or (match["d"].replace("-", " ").replace(" ", "").isalpha() and " of " not in match[0])
    if match["mon"] in _EVERYDAY and bare:
        raise ValueError("an everyday word")
    return spans.recurring_day(context, words.month(match["mon"]), words.ordinal(match["d"]))


def _yearless_month(match: Match, context: Context) -> Span | None:
    if match["mon"] in _EVERYDAY:
        raise ValueError("an everyday word")
    return spans.recurring_month(context, words.month(match["mon"]))


def _days_of_month(match: Match, context: Context) -> Span | None:
    month, first, last = words.month(match["mon"]), words.ordinal(match["d"]), words.ordinal(match["d2"])
    if "y" not in match.re.groupindex or match["y"] is None:
        end = spans.recurring_day(context, month, last)
        spans.day_span(2000, month, first)
        if first > last:
            raise ValueError("the range ends before it begins")
        start = end and spans.bucket(end.start.replace(day=first), "day", end.grade)
    else:
        year, grade = words.year(match["y"], context)
        start = replace(spans.day_span(year, month, first), grade=grade)
        end = spans.day_span(year, month, last)
    return spans.join(start, end) if start and end else None


def _slice(match: Match, context: Context) -> Span | None:
    """ "The last 3 weeks of this year", "first ten days of May 2024"."""
    if match["mon"]:
        whole = (_month_of_year if match["y"] else _yearless_month)(match, context)
    else:
        whole = _year(match, context) if match["y"] else spans.relative(context, "month", words.OFFSETS[match["rel"]])
    if whole is None:
        return None
    unit, many = words.unit(match["unit"])
    count = many * (words.cardinal(match["n"]) if match["n"] else 1)
    first = match["side"].lower() == "first"
    edge = spans.week_within(whole, 1 if first else -1) if unit == "week" else whole
    start = edge.start if first else spans.move(edge.end, unit, -count)
    end = spans.move(edge.start, unit, count) if first else edge.end
    precision: Precision = "day" if unit in ("day", "week") else "month"
    if unit not in ("day", "week", "month", "quarter"):
        raise ValueError("not shorter than what it is of")
    return Span(start, end, precision, whole.grade)


def _nth_month(match: Match, context: Context) -> Span | None:
    year, grade = words.year(match["y"], context)
    return replace(spans.month_span(year, words.ordinal(match["od"])), grade=grade)


def _weekday(match: Match, context: Context) -> Span | None:
    return spans.recurring_weekday(context, words.WEEKDAYS[match["wd"].lower()])


def _day_and_month(match: Match, context: Context) -> Span | None:
    """ "22/04", where one number cannot be a month, the order is known or the weekday beside it tells."""
    if match["a"] + match["b"] == "247":
        raise ValueError("around the clock")
    first, second = int(match["a"]), int(match["b"])
    try:
        day, month = numeric.day_and_month(first, second, context)
    except ValueError:
        if "wd" not in match.re.groupindex:
            raise
        return _by_weekday(context, first, second, words.WEEKDAYS[match["wd"].lower()])
    return spans.recurring_day(context, month, day)


def _known_day_and_month(match: Match, context: Context) -> Span | None:
    """ "Next 5/12", "this Friday 7.6", where the order is known; beside a weekday the one nearest to that."""
    if context.order is None:
        raise ValueError("day and month could be swapped")
    day, month = numeric.day_and_month(int(match["a"]), int(match["b"]), context)
    if match["wd"]:
        week = spans.relative(context, "week", words.OFFSETS[match["rel"].lower()])
        if week is None:
            return None
        near = week.start + timedelta(words.WEEKDAYS[match["wd"].lower()])
        return spans.recurring_day(Context(Anchor(near, "day")), month, day)
    direction = words.OFFSETS[match["rel"].lower()] or context.direction
    return spans.recurring_day(replace(context, direction=direction), month, day)


def _by_weekday(context: Context, first: int, second: int, weekday: int) -> Span | None:
    """The one reading of "7/6" that falls on the weekday written beside it."""
    readings = [spans.recurring_day(context, month, day) for day, month in ((first, second), (second, first))]
    if None in readings:
        return None
    fitting = [reading for reading in readings if reading and reading.start.weekday() == weekday]
    at = context.at("day")
    if len(fitting) == 2 and at is not None:
        fitting = [reading for reading in fitting if abs((reading.start - at).days) <= 45]
    if len(fitting) != 1:
        raise ValueError("day and month could be swapped")
    return fitting[0]


def _weekday_and_date(match: Match, context: Context) -> Span | None:
    """ "Sunday, 31 December": of the year next to the anchor's in which it is a Sunday, if there is one."""
    span = _yearless_day(match, context)
    at = context.at("day")
    if span is None or at is None or context.year is not None:
        return span
    weekday = words.WEEKDAYS[match["wd"].lower()]
    around = (english_ranked.day_in(year, span) for year in (at.year - 1, at.year, at.year + 1))
    fitting = [day for day in around if day and day.start.weekday() == weekday]
    fitting = [day for day in fitting if context.direction * (day.start - at).days >= 0]
    closest = min(fitting, key=lambda day: abs(day.start - at), default=span)
    return replace(closest, grade="B")


def _year(match: Match, context: Context) -> Span | None:
    year, grade = words.year(match["y"], context)
    return replace(spans.year_span(year), grade=grade)


def _bare_year(match: Match, _: Context) -> Span | None:
    return spans.year_span(int(match["yb"]))


def _decade(match: Match, _: Context) -> Span | None:
    return spans.years_span(int(match["decade"]), 10)


def _century(match: Match, _: Context) -> Span | None:
    return replace(spans.years_span(words.ordinal(match["od"]) * 100 - 99, 100), unit="decade")


def _quarter(match: Match, context: Context) -> Span | None:
    quarter = int(match["q"]) if match["q"] else words.ordinal(match["ordq"]) % 5
    year, grade = words.year(match["y"], context)
    return replace(spans.quarter_span(year, quarter), grade=grade)


def _half(match: Match, context: Context) -> Span | None:
    half = int(match["h"]) if match["h"] else words.ordinal(match["ordq"]) % 3
    year, grade = words.year(match["y"], context)
    return replace(spans.half_span(year, half), grade=grade)


def _yearless_quarter(match: Match, context: Context) -> Span | None:
    span = spans.recurring_months(context, 3 * int(match["q"]) - 2, 3)
    return span and replace(span, unit="quarter")


def _quarter_of_the_year(match: Match, context: Context) -> Span | None:
    at = words.needed(context.at("year"))
    rank = words.ordinal(match["ordq"])
    if match["part"].lower() == "quarter":
        return replace(spans.quarter_span(at.year, rank % 5), grade="B")
    return replace(spans.half_span(at.year, rank % 3), grade="B")


def _season(match: Match, context: Context) -> Span | None:
    year, grade = words.year(match["y"], context)
    return replace(spans.season_span(year, words.SEASONS[match["season"].lower()]), grade=grade)


def _holiday(match: Match, context: Context) -> Span | None:
    name = words.plain(match["holiday"])
    if context.order != "mdy" and (name in words.AMERICAN or name in ("thanksgiving", "thanksgiving day")):
        raise ValueError("of which country?")
    if match["y"] is not None:
        year, grade = words.year(match["y"], context)
        return replace(_holiday_of(name, year), grade=grade)
    if not match["rel"] and context.year is not None:
        return _holiday_of(name, context.year)
    at = words.needed(context.at("day"))
    options = [_holiday_of(name, at.year + shift) for shift in (-1, 0, 1)]
    offset = words.OFFSETS[match["rel"].lower()] if match["rel"] else 0
    if match["rel"] and offset == 0:
        return replace(options[1], grade="B")
    return spans.nearest(replace(context, direction=offset or context.direction), "day", options)


def _holiday_of(name: str, year: int) -> Span:
    if name in words.HOLIDAYS:
        return spans.day_span(year, *words.HOLIDAYS[name])
    if name in words.AROUND_EASTER:
        return spans.bucket(spans.easter(year) + timedelta(words.AROUND_EASTER[name]), "day")
    if name in words.RANKED:
        month, weekday, rank = words.RANKED[name]
        return spans.weekday_within(spans.month_span(year, month), weekday, rank)
    if name in words.AMERICAN:
        return spans.day_span(year, *words.AMERICAN[name])
    thanksgiving = spans.weekday_within(spans.month_span(year, 11), 3, 4)
    return spans.bucket(thanksgiving.start + timedelta(words.AROUND_THANKSGIVING[name]), "day")


def _week_of_year(match: Match, context: Context) -> Span | None:
    year, grade = words.year(match["y"], context)
    return replace(spans.iso_week_span(year, int(match["dn"])), grade=grade)


def _week_of_month(match: Match, context: Context) -> Span | None:
    month = (_month_of_year if match["y"] else _yearless_month)(match, context)
    return month and spans.week_within(month, words.ordinal(match["ordq"]))


def _ranked_week_of_year(match: Match, context: Context) -> Span | None:
    year = _year(match, context)
    return year and spans.week_within(year, words.ordinal(match["ordq"]))


def _absolute(grammar: Grammar) -> None:
    def add(starters: str, template: str, read: Reader, *, loose: bool = False) -> None:
        grammar.add(starters, Rule(compiled(template), read, loose=loose))

    add(words.ORDINAL_STARTS, r"<d>(?: day)?(?: of)?[ -]?<mon>,?(?: of| in)?[ -]<y>", _dated)
    add(words.ORDINAL_STARTS, r"(?P<d>[0-3]?[0-9])[-/ ]<mon>[-/ ](?P<y>[0-9]{4})", _dated)
    add(words.MONTH_STARTS, r"<mon> ?(?:the )?<d> ?,?(?: of)? <y>", _dated)
    add(words.MONTH_STARTS, r"<mon>[-/](?P<d>[0-3]?[0-9])[-/](?P<y>[0-9]{4})", _dated)
    add("4", r"(?P<y>[0-9]{4})[-/]<mon>[-/](?P<d>[0-3]?[0-9])", _dated)
    add("4", r"(?P<y>[0-9]{4})[-/](?P<d>[0-3]?[0-9])[-/]<mon>", _dated)
    add("4", r"(?P<y>(?:19|20)[0-9]{2}) (?P<m>[01][0-9]) (?P<d>[0-3][0-9])(?![0-9])", numeric.year_first, loose=True)
    add("8", r"(?P<y>(?:19|20)[0-9]{2})(?P<m>[01][0-9])(?P<d>[0-3][0-9])", numeric.year_first, loose=True)
    short = r"(?P<d>[0-3]?[0-9])(?: |-|/)<mon>(?: |-|/)(?P<yy>[0-9]{2})(?=[.,;:!?)]|$| ?[-–] |\n)"
    add(words.ORDINAL_STARTS, short, _dated_shortly)
    add(words.WEEKDAY_STARTS, r"<wd>\.?,? (?:the )?<d>(?: of)? <mon>,?(?: of)? <y>", _dated)
    add(words.WEEKDAY_STARTS, r"<wd>\.?,? <mon> (?:the )?<d>,?(?: of)? <y>", _dated)
    clock = r"[0-2]?[0-9]:[0-5][0-9](?::[0-5][0-9])?(?: [A-Z]{1,5})?"
    add(words.WEEKDAY_STARTS, rf"<wd> <mon> <d> {clock} (?P<y>[0-9]{{4}})", _dated)
    add(words.MONTH_STARTS, rf"<mon> <d> {clock} (?P<y>[0-9]{{4}})", _dated)
    add(words.MONTH_STARTS, r"<mon>(?:,? (?:of |in )?|-)<y>", _month_of_year)
    add(words.MONTH_STARTS, r"<mon> of (?P<yy>[0-9]{2})(?=[.,;:!?)]|$)", _month_of_short_year)
    add(
        words.ORDINAL_STARTS,
        r"<d>(?: of <mon2>)? ?(?:-|to|until|till|through|and) ?(?:the )?<d2>(?: of)? <mon>,? (?:of )?<y>",
        _days_of_month,
    )
    add(words.MONTH_STARTS, r"<mon> <d> ?(?:-|to|until|till|through) ?<d2>,? <y>", _days_of_month)
    add("1", r"<od> century", _century)
    add(" ".join(words.ORDINALS), r"<od> century", _century)
    add("4", r"(?P<decade>[12][0-9]{2}0)(?:'s|s| s)(?![a-z])", _decade)
    add(
        "q first second third fourth last final 1",
        r"(?:q(?P<q>[1-4])|<ordq> quarter)(?:,? (?:of |in )?|[-/])?(?:fy ?)?<y>",
        _quarter,
    )
    add("h first second last 1", r"(?:h(?P<h>[12])|<ordq> half)(?:,? (?:of |in )?|[-/])?(?:fy ?)?<y>", _half)
    add("4", r"(?P<y>[0-9]{4})[ -]?q(?P<q>[1-4])(?P<ordq>)", _quarter)
    add("4", r"(?P<y>[0-9]{4})[ -]?h(?P<h>[12])(?P<ordq>)", _half)
    add("spring summer autumn fall winter", r"<season>(?: of|,)? <y>", _season)
    add("fy cy", r"[fc]y ?'?(?P<y>(?:19|20)[0-9]{2})", _year)
    add("fy cy", r"[fc]y ?(?P<y>'?[0-9]{2})(?![0-9/-])", lambda m, _: spans.year_span(2000 + int(m["y"][-2:])))
    add("fiscal financial calendar", r"(?:fiscal|financial|calendar)(?: year)? (?P<y>[12][0-9]{3})", _year)
    add("year", r"year(?: of)? (?P<y>[12][0-9]{3})", _year)
    add("nineteen twenty eighteen two", r"(?P<y>" + words.FRAGMENTS["yw"] + ")", _year, loose=True)
    add("4", r"<yb>", _bare_year, loose=True)
    add("week", r"week <dn>(?: of|,)? <y>", _week_of_year)


def _recurring(grammar: Grammar) -> None:
    def add(starters: str, template: str, read: Reader, *, loose: bool = False) -> None:
        grammar.add(starters, Rule(compiled(template), read, loose=loose, yearless=True))

    add(words.ORDINAL_STARTS, r"<d>(?: day)?(?: of)?[ -]<mon>", _yearless_day)
    add(words.MONTH_STARTS, r"<mon> (?:the )?<d>(?! ?[ap]m)(?!:)", _yearless_day)
    add(words.WEEKDAY_STARTS, r"<wd>\.?,? (?:the )?<d>(?: of)? <mon>", _weekday_and_date)
    add(words.WEEKDAY_STARTS, r"<wd>\.?,? <mon> (?:the )?<d>", _weekday_and_date)
    add(words.MONTH_STARTS, r"<mon>-(?P<d>[1-9])(?![0-9/-])", _yearless_day)
    add("1", r"(?P<d>[0-3]?[0-9])\. <mon>", _yearless_day, loose=True)
    add(words.MONTH_STARTS, r"<mon>", _yearless_month, loose=True)
    add(words.ORDINAL_STARTS, r"<d> ?(?:-|to|until|till|through|and) ?(?:the )?<d2>(?: of)? <mon>", _days_of_month)
    add(words.MONTH_STARTS, r"<mon> (?:the )?<d> ?(?:-|to|until|till|through) ?(?:the )?<d2>", _days_of_month)
    add("q", r"q(?P<q>[1-4])", _yearless_quarter, loose=True)
    add(
        "first second third fourth last final 1",
        r"<ordq> (?P<part>quarter|half) of the year",
        _quarter_of_the_year,
    )
    starts = " ".join(sorted({re.split("[ ']", name)[0] for name in words.holidays()}))
    goods = "sales?|music|tree|part|deals?|season|holidays?|period|party|dinner|gifts?|cards?|bonus"
    event = rf"(?! (?:[0-9]{{4}} )?(?:weekend|{goods}))"
    add(starts, r"<holiday>(?P<rel>)(?:,?(?: of| in)? <y>)?" + event, _holiday)
    add(" ".join(words.OFFSETS), r"<rel> <holiday>(?P<y>(?!))?" + event, _holiday)
    add(
        "week w",
        r"(?:week (?:of|beginning|commencing|starting)(?: on)?|w/c) (?:<wd>,? )?(?:the )?"
        r"(?:<d>(?: of)? <mon>|<mon2> <d2>),?(?: <y>)?",
        _week_of_either,
    )
    whole = r"(?:<mon>(?:,? <y>)?|(?P<rel>last|this|next) month)"
    add("first last", r"(?P<side>first|last) (?:<n> )?<unit> of (?:the )?" + whole, _slice)
    add("first last", r"(?P<side>first|last) <n> <unit> of (?:the )?(?P<mon>(?!))?(?P<rel>(?!))?<y>", _slice)
    add(words.ORDINAL_STARTS, r"<od> month of <y>", _nth_month)
    add("first second third fourth last final 1", r"<ordq> week of <mon>(?:,? <y>)?", _week_of_month)
    add("first second third fourth last final 1", r"<ordq> week of (?P<y>[12][0-9]{3})", _ranked_week_of_year)
    add("1", r"(?P<a>[0-9]{1,2})/(?P<b>[0-9]{1,2})", _day_and_month, loose=True)
    add("this next last", r"<rel> (?:<wd>,? )?(?P<a>[0-9]{1,2})[./](?P<b>[0-9]{1,2})(?![0-9/])", _known_day_and_month)
    add(words.WEEKDAY_STARTS, r"<wd>\.?,? (?P<a>[0-9]{1,2})/(?P<b>[0-9]{1,2})(?![0-9/])", _day_and_month)
    add(words.MONTH_STARTS, r"<mon>/(?P<d>[0-3]?[0-9])(?![0-9/])", _yearless_day)
    alone = r"<wd>(?! ?[0-9]+[/.-]| [0-9]+(?! ?[ap]m|:))"
    add("monday tuesday wednesday thursday friday saturday sunday", alone, _weekday)
    add("mon tue tues wed thu thur thurs fri sat sun", alone, _weekday, loose=True)


def _week_of_either(match: Match, context: Context) -> Span | None:
    day, month = match["d"] or match["d2"], match["mon"] or match["mon2"]
    if match["y"] is None:
        span = spans.recurring_day(context, words.month(month), words.ordinal(day))
    else:
        year, grade = words.year(match["y"], context)
        span = replace(spans.day_span(year, words.month(month), words.ordinal(day)), grade=grade)
    return span and replace(spans.week_of(span.start), grade=span.grade)


@cache
def gates() -> dict[str, re.Pattern[str]]:
    """What must follow a very common first word before any rule is tried."""
    units = "day|week|fortnight|month|quarter|year|decade"
    months = "|".join(sorted({name[:3] for name in words.MONTHS}))
    joins = "to|until|till|through|and|of|half|century"
    days = "mon|tue|wed|thu|fri|sat|sun|business|working"
    following = f"[,-]|{units}|{months}|{joins}|{days}|{'|'.join(words.OFFSETS)}"
    figures = rf"[0-9]{{1,2}}(?:st|nd|rd|th|'?s|[qh]|[/.-]| {{0,2}}(?:{following}))"
    article = re.compile(rf"an? {{1,2}}(?:couple|{units})", re.IGNORECASE)
    return {"1": re.compile(figures, re.IGNORECASE), "a": article, "an": article}


@cache
def grammar() -> Grammar:
    """Built when first needed: some seventy patterns."""
    made = Grammar()
    numeric.add_rules(made)
    _absolute(made)
    _recurring(made)
    english_ranked.add_rules(made)
    english_relative.add_rules(made)
    english_told.add_rules(made)
    return made
