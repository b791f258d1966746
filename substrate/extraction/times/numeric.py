"""Forms of date written in figures only, shared by both languages."""

from __future__ import annotations

import re
from dataclasses import replace

from substrate.extraction.times import spans
from substrate.extraction.times.points import parse_point
from substrate.extraction.times.rules import Grammar, Rule
from substrate.extraction.times.spans import Context, Span

Match = re.Match[str]


def _year_first(match: Match, _: Context) -> Span | None:
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


def _year_month(match: Match, _: Context) -> Span | None:
    """Refused where it may be a pair of years ("2010-11")."""
    year, month = int(match["y"]), int(match["m"])
    if month == (year + 1) % 100:
        raise ValueError("may be two years")
    return spans.month_span(year, month)


def _clocked(match: Match, context: Context) -> Span | None:
    """With a zone a moment; without one only the day is certain."""
    if match["zone"] is None:
        return _year_first(match, context)
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


def add_rules(grammar: Grammar) -> None:
    year, month, day = r"(?P<y>[0-9]{4})", r"(?P<m>[0-9]{1,2})", r"(?P<d>[0-9]{1,2})"
    two = r"[0-9]{2}"
    clock = (
        r"(?P<clock>[0-2]?[0-9]:[0-5][0-9](?::[0-5][0-9](?:\.[0-9]+)?)?)"
        r"(?P<zone>Z| ?(?:UTC|GMT)(?:[+-][0-9]{1,2}(?::?[0-9]{2})?)?| ?[+-][0-9]{2}(?::?[0-9]{2})?)?"
    )
    forms = [
        (rf"{year}-{month}-{day}", _year_first, False),
        (rf"{year}/{month}/{day}", _year_first, False),
        (rf"{year}\.(?P<m>{two})\.(?P<d>{two})", _year_first, False),
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
    grammar.add("1", Rule(re.compile(rf"(?P<m>0[1-9]|1[0-2])[/-]{year}"), _month_year, loose=True))


def _month_year(match: Match, _: Context) -> Span | None:
    return replace(spans.month_span(int(match["y"]), int(match["m"])))
