"""English forms of date that pick one part out of a longer stretch: "the third Friday of May", "the late 90s"."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from functools import partial

from substrate.extraction.times import spans, words
from substrate.extraction.times.rules import Grammar, Reader, Rule
from substrate.extraction.times.spans import Context, Span
from substrate.extraction.times.words import compiled

Match = re.Match[str]
_RANKS = "first second third fourth fifth last final 1"
_TENS = {"thirties": 30, "forties": 40, "fifties": 50, "sixties": 60, "seventies": 70, "eighties": 80, "nineties": 90}
_NOT_YEARS = re.compile(r"\b(?:temperatures?|degrees|highs?|lows?|scor\w+|percentile|ag(?:e|es|ed)|people) ", re.I)


def _weekday_of_month(match: Match, context: Context) -> Span | None:
    """ "The third Friday of May 2024", "the last Monday of next month"; refused where the month has no such day."""
    month = _month(match, context)
    if month is None:
        return None
    return spans.weekday_within(month, words.WEEKDAYS[match["wd"].lower()], words.ordinal(match["wdord"]))


def _month(match: Match, context: Context) -> Span | None:
    if not match["mon"]:
        return spans.relative(context, "month", words.OFFSETS[match["rel"].lower()])
    month = words.month(match["mon"])
    if not match["y"]:
        return spans.recurring_month(context, month)
    year, grade = words.year(match["y"], context)
    return replace(spans.month_span(year, month), grade=grade)


def _edge_day(match: Match, context: Context) -> Span | None:
    """ "The first day of next month", "the last day of 2024"."""
    if match["y"]:
        year, grade = words.year(match["y"], context)
        whole: Span | None = replace(spans.year_span(year), grade=grade)
    else:
        whole = spans.relative(context, words.unit(match["unit"])[0], words.OFFSETS[match["rel"].lower()])
    if whole is None:
        return None
    start = whole.start if match["side"].lower() == "first" else whole.end - timedelta(1)
    return spans.bucket(start, "day", whole.grade)


def _decade(match: Match, _: Context) -> Span | None:
    """ "The nineties", "the late 70s": of the twentieth century. The tens and twenties could be of either."""
    if _NOT_YEARS.search(match.string[max(0, match.start() - 50) : match.start()]):
        raise ValueError("not of the calendar")
    tens = _TENS.get(match["tens"].lower()) or int(match["tens"][:2])
    return spans.years_span(1900 + tens, 10)


def _year_end(match: Match, context: Context) -> Span | None:
    """ "Year-end 2023" is its last month, "month-end" and "quarter-end" likewise."""
    unit = words.unit(match["unit"])[0]
    if match["y"]:
        if unit != "year":
            raise ValueError("which one of the year?")
        year, grade = words.year(match["y"], context)
        return replace(spans.month_span(year, 12), grade=grade)
    whole = spans.relative(context, unit, 0)
    return whole and spans.part_of(whole, "end")


def _split_year(match: Match, _: Context) -> Span | None:
    """ "FY2023/24", "the 2022-23 season": within these two years; when in the first it begins is not said."""
    first = int(match["y"]) if len(match["y"]) == 4 else 2000 + int(match["y"])
    last = int(match["y2"]) if len(match["y2"]) == 4 else first // 100 * 100 + int(match["y2"])
    if last != first + 1 and (last, first % 100) != (first - 99, 99):
        raise ValueError("not two years in a row")
    return replace(spans.years_span(first, 2), unit=None)


def _split_winter(match: Match, context: Context) -> Span | None:
    _split_year(match, context)
    return spans.season_span(int(match["y"]), words.SEASONS["winter"])


def _calendar_week(match: Match, context: Context) -> Span | None:
    """Weeks by number, as ISO counts them; without a year those of the anchor's."""
    week = int(match["dn"])
    if match["y"]:
        year, grade = words.year(match["y"], context)
        return replace(spans.iso_week_span(year, week), grade=grade)
    year = context.year or words.needed(context.at("year")).year
    return replace(spans.iso_week_span(year, week), grade="B")


def _half_distance(sign: int) -> Reader:
    """ "Half a year ago", "two and a half years ago", "in a year and a half": to the month."""

    def read(match: Match, context: Context) -> Span | None:
        count = words.cardinal(match["n"]) if match["n"] else 0
        return spans.shifted(context, "month", sign * (12 * count + 6))

    return read


def _short_quarter(match: Match, _: Context) -> Span | None:
    """ "1Q24", "Q4 FY23", "Q1'24"."""
    year = int(match["yy"]) + (2000 if len(match["yy"]) == 2 else 0)
    part = int(match["part"])
    return spans.half_span(year, part) if match["kind"].lower() == "h" else spans.quarter_span(year, part)


def _cardinal_day(match: Match, context: Context) -> Span | None:
    """ "Twenty five January nineteen eighty six"."""
    year, grade = words.year(match["y"], context)
    return replace(spans.day_span(year, words.month(match["mon"]), words.cardinal(match["n"])), grade=grade)


def _named_weekday(match: Match, context: Context) -> Span | None:
    """ "Friday (15 December)", "this Friday (Dec-15)": the day in brackets is what counts."""
    month = words.month(match["mon"] or match["mon2"])
    day = words.ordinal(match["d"] or match["d2"])
    if match["y"]:
        year, grade = words.year(match["y"], context)
        return replace(spans.day_span(year, month, day), grade=grade)
    at = words.needed(context.at("day"))
    around = (day_in(year, spans.day_span(2000, month, day)) for year in (at.year - 1, at.year, at.year + 1))
    weekday = words.WEEKDAYS[match["wd"].lower()]
    fitting = [found for found in around if found and found.start.weekday() == weekday]
    if not fitting:
        raise ValueError("no such day")
    return replace(min(fitting, key=lambda found: abs(found.start - at)), grade="B")


def day_in(year: int, day: Span) -> Span | None:
    """The same day of `year`, if it has one."""
    try:
        return spans.day_span(year, day.start.month, day.start.day)
    except ValueError:
        return None


def _month_within(match: Match, context: Context) -> Span | None:
    """ "Last year in March", "in 2019, in May"."""
    year, grade = words.year(match["y"], context)
    return replace(spans.month_span(year, words.month(match["mon"])), grade=grade)


def _weekdays_away(match: Match, context: Context) -> Span | None:
    """ "Two Sundays from now", "three Mondays ago", "Tuesday week"."""
    groups = match.groupdict()
    sign = -1 if (groups.get("side") or "").lower() == "ago" else 1
    near = spans.recurring_weekday(replace(context, direction=sign), words.WEEKDAYS[match["wd"].lower()])
    many = words.cardinal(match["n"]) - 1 if groups.get("n") else 1
    return near and spans.bucket(near.start + timedelta(7 * many * sign), "day", "B")


def _business_days_away(match: Match, context: Context) -> Span | None:
    """ "Three business days ago", "5 working days from now": Mondays to Fridays, public holidays unknown."""
    day = words.needed(context.at("day"))
    sign, left = (-1 if match["side"].lower() == "ago" else 1), words.cardinal(match["n"])
    if not left:
        raise ValueError("no distance")
    while left:
        day += timedelta(sign)
        left -= day.weekday() < 5
    return spans.bucket(day, "day", "B")


def _undecided(match: Match, context: Context) -> Span | None:
    """ "A week ago Tuesday": people mean different days by it."""
    words.WEEKDAYS[match["wd"].lower()]
    return None


def _days_of_relative_month(match: Match, context: Context) -> Span | None:
    month = spans.relative(context, "month", words.OFFSETS.get((match["rel"] or "this").lower(), 0))
    first, last = words.ordinal(match["d"]), words.ordinal(match["d2"])
    if first >= last:
        raise ValueError("the range ends before it begins")
    if month is None:
        return None
    days = (spans.bucket(month.start.replace(day=day), "day", "B") for day in (first, last))
    return spans.join(*days)


def _recurring_quarter(match: Match, context: Context) -> Span | None:
    quarter = words.ordinal(match["ordq"]) % 5
    span = spans.recurring_months(context, 3 * quarter - 2, 3)
    return span and replace(span, unit="quarter")


def _season_to_come_or_gone(match: Match, context: Context) -> Span | None:
    """ "In the summer" where the sentence looks ahead or back; said of no year in particular it may be any."""
    if not context.direction:
        raise ValueError("any year's")
    return spans.recurring_months(context, 3 * words.SEASONS[match["season"].lower()] + 3, 3)


def _year_then_month(match: Match, context: Context) -> Span | None:
    if match["mark"] != "-":
        named = words.plain(match["mon"]) in ("jan", "april", "may", "june", "august", "mar", "march")
        if named or re.match(r" [A-Z]", match.string[match.end() :]):
            raise ValueError("somebody's name")
    return _month_within(match, context)


def _spelled_day(match: Match, context: Context) -> Span | None:
    if match["mon"] in ("may", "march", "mar"):
        raise ValueError("an everyday word")
    return spans.recurring_day(context, words.month(match["mon"]), words.cardinal(match["n"]))


def _add(grammar: Grammar, starters: str, template: str, read: Reader, **marks: bool) -> None:
    grammar.add(starters, Rule(compiled(template), read, **marks))


def add_rules(grammar: Grammar) -> None:
    """Adds the forms of this module."""
    add = partial(_add, grammar)
    rank = r"(?P<wdord>first|second|third|fourth|fifth|last|final|[1-5](?:st|nd|rd|th))"
    of_month = r"(?:<mon>(?:,? <y>)?|(?P<rel>last|this|next|the previous|the following) month)"
    add(_RANKS, rank + r" <wd> (?:of|in) " + of_month, _weekday_of_month)
    add("first last", r"(?P<side>first|last) day of (?:<y>|<rel> <unit>(?<!s))", _edge_day)
    tens = r"(?P<tens>thirties|forties|fifties|sixties|seventies|eighties|nineties|[3-9]0'?s)(?![a-z])"
    add(" ".join(_TENS) + " 1", tens, _decade, loose=True)
    add("year", r"(?P<unit>year)[ -]?end(?:,?(?: of)? <y>)?(?![\w-])", _year_end, loose=True)
    add("month quarter", r"(?P<unit>month|quarter)[ -]end(?P<y>(?!))?(?![\w-])", _year_end, loose=True)
    _add_split(grammar)
    named = r"(?:(?:calendar|iso) week|cw|kw|wk) ?<dn>(?:(?:/|(?: of|,| in)? )<y>)?"
    add("cw kw wk calendar iso", named, _calendar_week)
    add("week w", r"(?:week ?|w)<dn>(?: |/|,|, )(?P<y>(?:19|20)[0-9]{2})", _calendar_week)
    _add_halves(grammar)
    _add_counted(grammar)
    add("1", r"(?P<part>[1-4])(?P<kind>q) ?'?(?:fy ?)?(?P<yy>(?:20)?[0-9]{2})(?![0-9])", _short_quarter)
    add("1", r"(?P<part>[12])(?P<kind>h) ?'?(?:fy ?)?(?P<yy>(?:20)?[0-9]{2})(?![0-9])", _short_quarter)
    add("q", r"(?P<kind>q)(?P<part>[1-4])(?:'| ?'| ?fy ?'?|/|-)(?P<yy>(?:20)?[0-9]{2})(?![0-9])", _short_quarter)
    add("h", r"(?P<kind>h)(?P<part>[12])(?:'| ?'| ?fy ?'?|/|-)(?P<yy>(?:20)?[0-9]{2})(?![0-9])", _short_quarter)
    add(words.NUMBER_STARTS, r"(?P<n>(?:twenty|thirty)(?:[ -][a-z]+)?|[a-z]{3,9})(?: of)? <mon>,? <y>", _cardinal_day)
    bracket = r"(?:<d>(?: of)?[ -]<mon>|<mon2>\.?[ -]<d2>)(?:,? <y>)?"
    add(words.WEEKDAY_STARTS + " this next", r"(?:(?:this|next) )?<wd>,? \(" + bracket + r"\)", _named_weekday)
    add("last this next 4", r"(?P<y>(?:last|this|next) year|[12][0-9]{3}),? (?:in|during) <mon>", _month_within)


def _add_counted(grammar: Grammar) -> None:
    add = partial(_add, grammar)
    add(words.NUMBER_STARTS, r"<n> <wd>s? (?P<side>ago|from now|hence)", _weekdays_away)
    add(words.WEEKDAY_STARTS, r"<wd> week(?=[.,;:!?)]|$)", _weekdays_away)
    add(words.NUMBER_STARTS, r"<n> (?:business|working) days? (?P<side>ago|from now|hence)", _business_days_away)
    add(words.NUMBER_STARTS, r"<n> weeks? ago,? (?:on )?<wd>", _undecided)
    days = r"(?:the )?<d> ?(?:-|to|until|till|through) ?(?:the )?<d2> of (?:the|<rel>) month"
    add(words.ORDINAL_STARTS, days, _days_of_relative_month)
    ranked = r"(?P<ordq>first|second|third|fourth|1st|2nd|3rd|4th) quarter(?! of)(?! [0-9'])"
    add("first second third fourth 1", ranked, _recurring_quarter, loose=True)
    add(
        "spring summer autumn fall winter",
        r"<season>(?! (?:of|[0-9']|[a-z]+ing\b))",
        _season_to_come_or_gone,
        loose=True,
    )
    add("4", r"(?P<y>(?:19|20)[0-9]{2})(?P<mark>-|,? )<mon>(?![ -]?[0-9])", _year_then_month)
    cardinal = r"(?P<n>(?:twenty|thirty)[ -](?:one|two|three|four|five|six|seven|eight|nine))"
    add(words.MONTH_STARTS, rf"<mon> {cardinal}", _spelled_day, yearless=True)
    add("4", r"(?P<y>(?:19|20)[0-9]{2})/(?P<y2>(?:19|20)[0-9]{2})", _split_year, loose=True)


def _add_split(grammar: Grammar) -> None:
    add = partial(_add, grammar)
    pair = r"(?P<y>[12][0-9]{3}) ?[-/] ?(?P<y2>[12][0-9]{3}|[0-9]{2})(?![0-9])"
    short = r"(?P<y>[0-9]{2}) ?[-/] ?(?P<y2>[0-9]{2})(?![0-9])"
    noun = "(?:fiscal|financial|academic|school|tax|budget|crop|marketing)"
    add("fy", rf"fy ?'?(?:{pair})", _split_year)
    add("fy", rf"fy ?'?(?:{short})", _split_year)
    add("fiscal financial academic school tax budget crop", rf"{noun}(?: year)? {pair}", _split_year)
    add("season", rf"season {pair}", _split_year)
    add("4", rf"{pair} (?:{noun} year|season|campaign|fiscal|term)\b", _split_year)
    add("winter", rf"winter(?: of)? {pair}", _split_winter)
    bare = r"(?P<y>[12][0-9]{3})[-/](?P<y2>1[3-9]|[2-9][0-9])(?![0-9])"
    add("4", bare, _split_year, loose=True)


def _add_halves(grammar: Grammar) -> None:
    add = partial(_add, grammar)
    half = r"(?:<n>(?:-| )(?:years? and a half|and a half years?)|(?:a )?half (?:a )?year)"
    starts = words.NUMBER_STARTS + " half"
    add(starts, half + r" (?:ago|back)", _half_distance(-1))
    add(starts, half + r" (?:from now|hence)", _half_distance(1))
    add("in", r"in " + half + r"(?:'s?)?(?: time)?(?! of)", _half_distance(1))
