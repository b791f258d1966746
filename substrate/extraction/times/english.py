"""The English forms of date, without the prepositions around them."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from functools import cache

from substrate.extraction.times import numeric, spans, words
from substrate.extraction.times.buckets import add_months, bucket_start
from substrate.extraction.times.rules import Grammar, Reader, Rule
from substrate.extraction.times.spans import Context, Span
from substrate.extraction.times.words import compiled

Match = re.Match[str]
_MONTH_WORDS = " ".join(words.MONTHS)
_WEEKDAY_WORDS = " ".join(words.WEEKDAYS)
_ORDINAL_WORDS = " ".join(words.ORDINALS) + " twenty thirty 1"
_NUMBER_WORDS = " ".join([*words.ONES, *words.TENS]) + " a an couple 1"
# Also English words: "may" and "march" are months only with a capital, or beside a day or a year.
_LARGER_PART = re.compile(r"\b(?:days?|weeks?|months?|years?),?(?: and)? $", re.IGNORECASE)
_EVERYDAY = {"may", "march", "mar"}


def _dated(match: Match, context: Context) -> Span | None:
    year, grade = words.year(match["y"], context)
    day = spans.day_span(year, words.month(match["mon"]), words.ordinal(match["d"]))
    return replace(day, grade=grade)


def _month_of_year(match: Match, context: Context) -> Span | None:
    year, grade = words.year(match["y"], context)
    return replace(spans.month_span(year, words.month(match["mon"])), grade=grade)


def _yearless_day(match: Match, context: Context) -> Span | None:
    if match["mon"] in _EVERYDAY and match["d"].isdigit():
        raise ValueError("an everyday word")
    return spans.recurring_day(context, words.month(match["mon"]), words.ordinal(match["d"]))


def _yearless_month(match: Match, context: Context) -> Span | None:
    if match["mon"] in _EVERYDAY:
        raise ValueError("an everyday word")
    return spans.recurring_month(context, words.month(match["mon"]))


def _relative_month(match: Match, context: Context) -> Span | None:
    month, offset = words.month(match["mon"]), words.OFFSETS[match["rel"].lower()]
    at = words.needed(context.at("month"))
    earlier, later = month >= at.month, offset > 0 and month <= at.month
    year = at.year - earlier if offset < 0 else at.year + later
    return replace(spans.month_span(year, month), grade="B")


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


def _weekday(match: Match, context: Context) -> Span | None:
    return spans.recurring_weekday(context, words.WEEKDAYS[match["wd"].lower()])


def _relative_weekday(match: Match, context: Context) -> Span | None:
    """ "Last Monday" is the one of last week; "this past Monday" and "this coming Monday" the closest."""
    rel = match["rel"].lower()
    if (match.group().lower().startswith("this ") and rel != "this") or rel in ("past", "coming", "upcoming"):
        return spans.recurring_weekday(replace(context, direction=words.OFFSETS[rel]), _weekday_number(match))
    return _weekday_of_week(match, context)


def _weekday_number(match: Match) -> int:
    return words.WEEKDAYS[match["wd"].lower()]


def _day_and_month(match: Match, context: Context) -> Span | None:
    """ "22/04": only where one number cannot be a month."""
    small, large = sorted((int(match["a"]), int(match["b"])))
    if large <= 12 or match.group() == "24/7":
        raise ValueError("day and month could be swapped")
    return spans.recurring_day(context, small, large)


def _weekday_and_day(match: Match, context: Context) -> Span | None:
    """ "Tuesday the 13th": the closest month in which the 13th is a Tuesday."""
    at, day = words.needed(context.at("day")), words.ordinal(match["d"])
    options = []
    for shift in range(-11, 12):
        first = add_months(bucket_start(at, "month"), shift)
        try:
            option = spans.day_span(first.year, first.month, day)
        except ValueError:
            continue
        if option.start.weekday() == _weekday_number(match):
            options.append(option)
    if not options:
        raise ValueError("no such day")
    return spans.nearest(context, "day", options)


def _weekday_of_week(match: Match, context: Context) -> Span | None:
    week = spans.relative(context, "week", words.OFFSETS[match["rel"].lower()])
    weekday = words.WEEKDAYS[match["wd"].lower()]
    return week and replace(spans.unit_at(week.start, "day", weekday), grade="B")


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
    return spans.recurring_months(context, 3 * int(match["q"]) - 2, 3)


def _quarter_of_the_year(match: Match, context: Context) -> Span | None:
    at = words.needed(context.at("year"))
    rank = words.ordinal(match["ordq"])
    if match["part"].lower() == "quarter":
        return replace(spans.quarter_span(at.year, rank % 5), grade="B")
    return replace(spans.half_span(at.year, rank % 3), grade="B")


def _season(match: Match, context: Context) -> Span | None:
    year, grade = words.year(match["y"], context)
    return replace(spans.season_span(year, words.SEASONS[match["season"].lower()]), grade=grade)


def _relative_season(match: Match, context: Context) -> Span | None:
    offset = words.OFFSETS[match["rel"].lower()]
    at = words.needed(context.at("month"))
    season = words.SEASONS[match["season"].lower()]
    options = [spans.season_span(at.year + shift, season) for shift in (-2, -1, 0, 1)]
    if offset == 0:
        return replace(options[2], grade="B")
    past = [option for option in options if option.end <= at]
    return replace(past[-1] if offset < 0 else options[len(past) + (options[len(past)].start <= at)], grade="B")


def _holiday(match: Match, context: Context) -> Span | None:
    month, day = words.HOLIDAYS[words.plain(match["holiday"])]
    if match["y"] is None:
        return spans.recurring_day(context, month, day)
    year, grade = words.year(match["y"], context)
    return replace(spans.day_span(year, month, day), grade=grade)


def _day_word(offset: int) -> Reader:
    return lambda match, context: spans.relative(context, "day", offset)


def _relative_unit(match: Match, context: Context) -> Span | None:
    unit, many = words.unit(match["unit"])
    offset = words.OFFSETS[match["rel"].lower()]
    if many == 1:
        return spans.relative(context, unit, offset)
    return spans.rolling(context, unit, many * (offset or 1))


def _unit_beyond(match: Match, context: Context) -> Span | None:
    unit, many = words.unit(match["unit"])
    offset = 2 if match["side"].lower() == "after next" else -2
    return spans.relative(context, unit, offset * many)


def _rolling(match: Match, context: Context) -> Span | None:
    unit, many = words.unit(match["unit"])
    offset = words.OFFSETS[match["rel"].lower()]
    if offset == 0:
        raise ValueError("neither ahead nor behind")
    return spans.rolling(context, unit, offset * many * words.cardinal(match["n"]))


def _weekend(match: Match, context: Context) -> Span | None:
    offset = words.OFFSETS[match["rel"].lower()]
    week = spans.relative(context, "week", offset)
    return week and replace(week, start=week.start + timedelta(5))


def _ago(sign: int) -> Reader:
    def read(match: Match, context: Context) -> Span | None:
        if _LARGER_PART.search(match.string[max(0, match.start() - 14) : match.start()]):
            raise ValueError("part of a longer distance")
        unit, many = words.unit(match["unit"])
        return spans.shifted(context, unit, sign * many * words.cardinal(match["n"]))

    return read


def _within(match: Match, context: Context) -> Span | None:
    unit, many = words.unit(match["unit"])
    return spans.rolling(context, unit, many * words.cardinal(match["n"]))


def _shift_from(match: Match, context: Context) -> Span | None:
    """ "Three weeks from tomorrow", "two days before yesterday"."""
    at = words.needed(context.at("day"))
    unit, many = words.unit(match["unit"])
    day = {"today": 0, "now": 0, "tomorrow": 1, "yesterday": -1}[match["from"].lower()]
    sign = -1 if match["side"].lower() == "before" else 1
    base = spans.unit_at(at, "day", day).start
    return spans.bucket(spans.move(base, unit, sign * many * words.cardinal(match["n"])), "day", "B")


def _week_of_year(match: Match, context: Context) -> Span | None:
    year, grade = words.year(match["y"], context)
    return replace(spans.iso_week_span(year, int(match["dn"])), grade=grade)


def _week_within(span: Span, rank: int) -> Span:
    """The `rank`-th week of a month or year, counted by Thursdays as ISO does; -1 for the last."""
    if rank < 0:
        last = span.end - timedelta(1)
        return replace(spans.week_of(last - timedelta((last.weekday() - 3) % 7)), grade=span.grade)
    first = span.start + timedelta((3 - span.start.weekday()) % 7 + 7 * (rank - 1))
    if first >= span.end:
        raise ValueError("no such week")
    return replace(spans.week_of(first), grade=span.grade)


def _week_of_month(match: Match, context: Context) -> Span | None:
    month = (_month_of_year if match["y"] else _yearless_month)(match, context)
    return month and _week_within(month, words.ordinal(match["ordq"]))


def _ranked_week_of_year(match: Match, context: Context) -> Span | None:
    year = _year(match, context)
    return year and _week_within(year, words.ordinal(match["ordq"]))


def _clipped(match: Match, context: Context) -> Span | None:
    """ "Later this week" begins, "earlier this week" ends with the anchor's day."""
    unit, _ = words.unit(match["unit"])
    at = words.needed(context.at("day"))
    whole = replace(spans.unit_at(at, unit), grade="B", kind="interval")
    if match["side"].lower() == "later":
        return replace(whole, start=at, precision="day", end_precision=whole.precision)
    return replace(whole, end=at + timedelta(1), end_precision="day")


def _two_part_ago(sign: int) -> Reader:
    """ "Two years and three months ago": to the finer unit."""

    def read(match: Match, context: Context) -> Span | None:
        (large, many), (small, few) = words.unit(match["unit"]), words.unit(match["unit2"])
        near = spans.shifted(context, small, sign * few * words.cardinal(match["n2"]))
        if near is None:
            return None
        start = spans.move(near.start, large, sign * many * words.cardinal(match["n"]))
        return spans.bucket(start, near.precision, "B")

    return read


def _day_of_month(match: Match, context: Context) -> Span | None:
    return spans.day_of_month(context, words.ordinal(match["od"]))


def _day_of_relative_month(match: Match, context: Context) -> Span | None:
    month = spans.relative(context, "month", words.OFFSETS.get((match["rel"] or "this").lower(), 0))
    return month and spans.bucket(month.start.replace(day=words.ordinal(match["od"])), "day", "B")


def _duration(match: Match, context: Context) -> Span | None:
    words.unit(match["unit"])
    if match["now"] is None:
        return None
    return _ago(-1)(match, context)


def _absolute(grammar: Grammar) -> None:
    def add(starters: str, template: str, read: Reader, *, loose: bool = False) -> None:
        grammar.add(starters, Rule(compiled(template), read, loose=loose))

    add(_ORDINAL_WORDS, r"<d>(?: day)?(?: of)?[ -]?<mon>,?(?: of| in)?[ -]<y>", _dated)
    add(_ORDINAL_WORDS, r"(?P<d>[0-3]?[0-9])[-/ ]<mon>[-/ ](?P<y>[0-9]{4})", _dated)
    add(_MONTH_WORDS, r"<mon> ?(?:the )?<d> ?,?(?: of)? <y>", _dated)
    add(_MONTH_WORDS, r"<mon>[-/](?P<d>[0-3]?[0-9])[-/](?P<y>[0-9]{4})", _dated)
    add("4", r"(?P<y>[0-9]{4})[-/]<mon>[-/](?P<d>[0-3]?[0-9])", _dated)
    add(_WEEKDAY_WORDS, r"<wd>\.?,? (?:the )?<d>(?: of)? <mon>,?(?: of)? <y>", _dated)
    add(_WEEKDAY_WORDS, r"<wd>\.?,? <mon> (?:the )?<d>,?(?: of)? <y>", _dated)
    add(_MONTH_WORDS, r"<mon>(?:,? (?:of |in )?|-)<y>", _month_of_year)
    add(
        _ORDINAL_WORDS,
        r"<d>(?: of <mon2>)? ?(?:-|to|until|till|through|and) ?(?:the )?<d2>(?: of)? <mon>,? (?:of )?<y>",
        _days_of_month,
    )
    add(_MONTH_WORDS, r"<mon> <d> ?(?:-|to|until|till|through) ?<d2>,? <y>", _days_of_month)
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

    add(_ORDINAL_WORDS, r"<d>(?: day)?(?: of)?[ -]<mon>", _yearless_day)
    add(_MONTH_WORDS, r"<mon> (?:the )?<d>(?! ?[ap]m)(?!:)", _yearless_day)
    add(_WEEKDAY_WORDS, r"<wd>\.?,? (?:the )?<d>(?: of)? <mon>", _yearless_day)
    add(_WEEKDAY_WORDS, r"<wd>\.?,? <mon> (?:the )?<d>", _yearless_day)
    add(_MONTH_WORDS, r"<mon>", _yearless_month, loose=True)
    add(_ORDINAL_WORDS, r"<d> ?(?:-|to|until|till|through|and) ?(?:the )?<d2>(?: of)? <mon>", _days_of_month)
    add(_MONTH_WORDS, r"<mon> (?:the )?<d> ?(?:-|to|until|till|through) ?(?:the )?<d2>", _days_of_month)
    add("q", r"q(?P<q>[1-4])", _yearless_quarter, loose=True)
    add(
        "first second third fourth last final 1",
        r"<ordq> (?P<part>quarter|half) of the year",
        _quarter_of_the_year,
    )
    add("christmas halloween new valentine boxing", r"<holiday>(?:,?(?: of| in)? <y>)?", _holiday)
    add(
        "week w",
        r"(?:week (?:of|beginning|commencing|starting)(?: on)?|w/c) (?:<wd>,? )?(?:the )?"
        r"(?:<d>(?: of)? <mon>|<mon2> <d2>),?(?: <y>)?",
        _week_of_either,
    )
    add("first second third fourth last final 1", r"<ordq> week of <mon>(?:,? <y>)?", _week_of_month)
    add("first second third fourth last final 1", r"<ordq> week of (?P<y>[12][0-9]{3})", _ranked_week_of_year)
    add(
        _WEEKDAY_WORDS,
        r"<wd>\.?,? (?:the )?(?P<d>[0-3]?[0-9])(?:st|nd|rd|th)?(?![0-9a-z:/.]| ?[ap]m)",
        _weekday_and_day,
    )
    add("1", r"(?P<a>[0-9]{1,2})/(?P<b>[0-9]{1,2})", _day_and_month, loose=True)
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


def _relative(grammar: Grammar) -> None:
    def add(starters: str, template: str, read: Reader, *, loose: bool = False, duration: bool = False) -> None:
        interval = read in (_rolling, _within, _clipped)
        grammar.add(starters, Rule(compiled(template), read, loose=loose, duration=duration, interval=interval))

    relatives = " ".join(words.OFFSETS)
    part = r"(?: (?:morning|afternoon|evening|night))?"
    add("today tonight", r"today|tonight", _day_word(0))
    add("this", r"this (?:morning|afternoon|evening)", _day_word(0))
    add("yesterday", rf"yesterday{part}", _day_word(-1))
    add("last", r"last (?:night|evening)", _day_word(-1))
    add("tomorrow", rf"tomorrow{part}", _day_word(1))
    add("day", r"day before yesterday", _day_word(-2))
    add("day", r"day after tomorrow", _day_word(2))
    add("now", r"now", _day_word(0), loose=True)
    add(relatives, r"<rel>(?: (?:calendar|fiscal|financial|whole|full))? <unit>(?<!s)(?! of)", _relative_unit)
    add(relatives, r"(?:this past|this coming|this upcoming|<rel>) <mon>", _relative_month)
    add(relatives, rf"(?:this )?<rel> <wd>{part}", _relative_weekday)
    add(relatives, r"<rel> week,?(?: on)? <wd>", _weekday_of_week)
    add(_WEEKDAY_WORDS, r"<wd>,?(?: of)? <rel> week", _weekday_of_week)
    add(relatives, r"(?:this )?<rel> weekend", _weekend)
    add(relatives, r"<rel> <season>", _relative_season)
    add(relatives, r"<rel> <n> <unit>(?! (?:of|and [0-9a-z]+ (?:day|week|month)))", _rolling)
    add(_NUMBER_WORDS, r"<n> <rel> <unit>(?! of)", _rolling)
    add("later earlier", r"(?P<side>later|earlier) (?:this|in the) <unit>(?<!s)", _clipped)
    far = r"<n> <unit>,?(?: and)? <n2> <unit2>"
    add(_NUMBER_WORDS, far + r" (?:ago|earlier)", _two_part_ago(-1))
    add(_NUMBER_WORDS, far + r" (?:from now|later|hence)", _two_part_ago(1))
    add("day week month quarter year", r"<unit> (?P<side>before last|after next)", _unit_beyond)
    add(_NUMBER_WORDS, r"<n> <unit> (?:ago|back|earlier)", _ago(-1))
    add(_NUMBER_WORDS, r"<n> <unit> (?:from now|later|hence)", _ago(1))
    add("in", r"in (?:the )?<n> <unit>(?:'s?)?(?: time)?(?! of)", _ago(1))
    add("within", r"within (?:the )?(?:next )?<n> <unit>(?! of)", _within)
    add(
        _NUMBER_WORDS,
        r"<n> <unit> (?P<side>from|after|before) (?P<from>today|tomorrow|yesterday)",
        _shift_from,
    )
    add("for", r"for (?:the )?<n> <unit>(?P<now> (?:now|already))?", _duration, duration=True)
    add(_ORDINAL_WORDS, r"<od>(?: day)? of (?:the|<rel>) month", _day_of_relative_month)
    add(_ORDINAL_WORDS, r"<od>(?=[.,;:!?)]|$| (?:at|in|for|with) )", _day_of_month, loose=True)


@cache
def gates() -> dict[str, re.Pattern[str]]:
    """What must follow a very common first word before any rule is tried."""
    units = "day|week|fortnight|month|quarter|year|decade"
    months = "|".join(sorted({name[:3] for name in words.MONTHS}))
    joins = "to|until|till|through|and|of|half|century"
    figures = rf"[0-9]{{1,2}}(?:st|nd|rd|th|[/.-]| {{0,2}}(?:[,-]|{units}|{months}|{joins}|{'|'.join(words.OFFSETS)}))"
    article = re.compile(rf"an? {{1,2}}(?:couple|{units})", re.IGNORECASE)
    return {"1": re.compile(figures, re.IGNORECASE), "a": article, "an": article}


@cache
def grammar() -> Grammar:
    """Built when first needed: some seventy patterns."""
    made = Grammar()
    numeric.add_rules(made)
    _absolute(made)
    _recurring(made)
    _relative(made)
    return made
