"""Forms of date written in figures only, shared by both languages."""

from __future__ import annotations

import re
from dataclasses import replace

from substrate.extraction.times import spans
from substrate.extraction.times.points import parse_point
from substrate.extraction.times.records import NumericOrder
from substrate.extraction.times.rules import Grammar, Rule
from substrate.extraction.times.spans import Context, Span

Match = re.Match[str]


def year_first(match: Match, _: Context) -> Span | None:
    """Year, month and day in the order that has one reading."""
    return spans.day_span(int(match["y"]), int(match["m"]), int(match["d"]))


def day_and_month(first: int, second: int, context: Context) -> tuple[int, int]:
    """Which of two numbers is the day and which the month. Raises `ValueError` where nothing tells."""
    if first > 12 or (second <= 12 and context.order == "dmy") or first == second:
        return first, second
    if second > 12 or context.order == "mdy":
        return second, first
    raise ValueError("day and month could be swapped")


def _year_last(match: Match, context: Context) -> Span | None:
    day, month = day_and_month(int(match["a"]), int(match["b"]), context)
    return spans.day_span(int(match["y"]), month, day)


def full_year(short: int, context: Context) -> int:
    """The year that two figures stand for. Raises `ValueError` where both centuries are possible."""
    at = context.at("year")
    ahead = min(50, max(30, at.year % 100 + 20)) if at is not None and at.year >= 2000 else 30
    if short <= ahead:
        return 2000 + short
    if short <= ahead + 20:
        raise ValueError("which century?")
    return 1900 + short


def _short_year_last(match: Match, context: Context) -> Span | None:
    """ "12/31/24": with no zeros to tell, where one number cannot be a month and none of them is the year's."""
    first, second = int(match["a"]), int(match["b"])
    if first == second and first <= 12:
        raise ValueError("any of the three may be the year")
    day, month = day_and_month(first, second, context)
    return spans.day_span(full_year(int(match["yy"]), context), month, day)


def _year_month(match: Match, _: Context) -> Span | None:
    """Refused where it may be a pair of years ("2010-11")."""
    year, month = int(match["y"]), int(match["m"])
    if month == (year + 1) % 100:
        raise ValueError("may be two years")
    return spans.month_span(year, month)


def _clocked(match: Match, context: Context) -> Span | None:
    """With a zone a moment; without one only the day is certain."""
    if match["zone"] is None:
        return year_first(match, context)
    zone = re.sub(r"(?i)\s*(?:utc|gmt)(?=[+-])", "", match["zone"].strip())
    zone = "Z" if zone.upper() in ("Z", "UTC", "GMT") else zone
    zone = f"{zone[:3]}:{zone[-2:] if len(zone) > 3 else '00'}" if zone != "Z" else zone
    clock = match["clock"] if len(match["clock"]) > 4 else f"0{match['clock']}"
    point = parse_point(f"{match['y']}-{match['m']}-{match['d']}T{clock}{zone}")
    if point is None:
        raise ValueError("no such moment")
    return spans.bucket(*point)


def _iso_week(match: Match, _: Context) -> Span | None:
    return spans.iso_week_span(int(match["y"]), int(match["w"]))


_WRITTEN = re.compile(r"(?<![0-9./-])([0-3]?[0-9])([/.-])([0-3]?[0-9])\2(?:[0-9]{4}|[0-9]{2})(?![0-9/-]|\.[0-9])")


def order_of(text: str) -> NumericOrder | None:
    """How `text` writes its dates in figures, if one of them can only be read one way and none the other."""
    orders: set[NumericOrder] = set()
    for found in _WRITTEN.finditer(text):
        first, second = int(found[1]), int(found[3])
        if 12 < first <= 31 and 1 <= second <= 12:
            orders.add("dmy")
        elif 12 < second <= 31 and 1 <= first <= 12:
            orders.add("mdy")
    return orders.pop() if len(orders) == 1 else None


def add_rules(grammar: Grammar) -> None:
    year, month, day = r"(?P<y>[0-9]{4})", r"(?P<m>[0-9]{1,2})", r"(?P<d>[0-9]{1,2})"
    two = r"[0-9]{2}"
    clock = (
        r"(?P<clock>[0-2]?[0-9]:[0-5][0-9](?::[0-5][0-9](?:\.[0-9]+)?)?)"
        r"(?P<zone>Z| ?(?:UTC|GMT)(?:[+-][0-9]{1,2}(?::?[0-9]{2})?)?| ?[+-][0-9]{2}(?::?[0-9]{2})?)?"
    )
    forms = [
        (rf"{year}-{month}-{day}", year_first, False),
        (rf"{year}/{month}/{day}", year_first, False),
        (rf"{year}\.(?P<m>{two})\.(?P<d>{two})", year_first, False),
        (rf"{year}-(?P<m>{two})-(?P<d>{two})(?:[T ]|, | at ){clock}", _clocked, False),
        (rf"{year}-(?P<m>{two})", _year_month, True),
        (rf"{year}/(?P<m>{two})", _year_month, True),
        (rf"{year}-?W(?P<w>{two})", _iso_week, False),
    ]
    for pattern, read, loose in forms:
        grammar.add("4", Rule(re.compile(pattern, re.IGNORECASE), read, loose=loose))
    for mark in ("/", r"\.", "-"):
        pattern = rf"(?P<a>[0-9]{{1,2}}){mark}(?P<b>[0-9]{{1,2}}){mark}{year}"
        grammar.add("1", Rule(re.compile(pattern), _year_last))
    for figures, mark, loose in (("2", "/", False), ("1,2", "/", True), ("1,2", r"\.", True), ("1,2", "-", True)):
        pattern = rf"(?P<a>[0-9]{{{figures}}}){mark}(?P<b>[0-9]{{{figures}}}){mark}(?P<yy>[0-9]{{2}})(?![0-9])"
        grammar.add("1", Rule(re.compile(pattern), _short_year_last, loose=loose))
    grammar.add("1", Rule(re.compile(rf"(?P<m>0[1-9]|1[0-2])[/-]{year}"), _month_year, loose=True))


def _month_year(match: Match, _: Context) -> Span | None:
    return replace(spans.month_span(int(match["y"]), int(match["m"])))
