"""Absolute dates in German, French, Spanish, Italian, Portuguese, Dutch, Polish and Russian.

A month name with its year, with or without a day, and years after words that can only be prepositions of time. Names
are matched in the case their language writes them in, so that the planet Mars is no March.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from substrate.extraction.times import spans
from substrate.extraction.times.frames import mention
from substrate.extraction.times.records import Anchor, Shape, TimeMention
from substrate.extraction.times.spans import Context, Span

_MONTHS = """
Januar Jänner janvier enero gennaio janeiro januari stycznia января
Februar Feber février febrero febbraio fevereiro februari lutego февраля
März mars marzo março maart marca марта
April avril abril aprile april kwietnia апреля
Mai mai mayo maggio maio mei maja мая
Juni juin junio giugno junho juni czerwca июня
Juli juillet julio luglio julho juli lipca июля
August août agosto augustus sierpnia августа
September septembre septiembre setiembre settembre setembro september września сентября
Oktober octobre octubre ottobre outubro oktober października октября
November novembre noviembre november listopada ноября
Dezember décembre diciembre dicembre dezembro december grudnia декабря
"""
_ENGLISH = {"April", "August", "September", "November", "april", "september", "november", "december"}
_PREPOSITIONS: tuple[tuple[Shape, str], ...] = (
    (
        "since",
        "seit|seit dem|ab|ab dem|depuis|depuis le|dès|dès le|à partir de|à partir du|à compter du|desde|desde el|"
        "a partir de|a partir del|a partir do|dal|da|sinds|vanaf|od|с",
    ),
    ("until", "bis|bis zum|bis zu|jusqu'à|jusqu'au|jusqu'en|hasta|hasta el|até|fino a|fino al|tot|do|до"),
    ("point", "im|am|vom|en|le|du|el|em|in|il|nel|op|w|dnia|в"),
)
_LONE_YEAR = (
    r"(?P<pre>[Ss]eit(?: dem Jahre?)?|[Bb]is(?: zum Jahre?)?|[Ii]m Jahre?|[Ss]eit Anfang|[Dd]epuis|[Jj]usqu'en|[Ee]n|"
    r"[Dd]esde|[Hh]asta|[Ee]n el año|[Dd]esde el año|[Aa]té|[Ee]m|[Nn]el|[Dd]al|[Ss]inds|[Vv]anaf) "
    r"(?P<y>(?:19|20)[0-9]{2})(?![0-9%.,/-]*[0-9])(?! (?:[a-zà-ÿ]+s|[A-Z]?[a-zà-ÿ]+en)\b)"
)


@cache
def _numbers() -> dict[str, int]:
    return {name: number for number, line in enumerate(_MONTHS.split("\n")) for name in line.split()}


@cache
def _forms() -> re.Pattern[str]:
    names = "|".join(sorted(_numbers(), key=len, reverse=True))
    day = r"(?P<d>[0-3]?[0-9])(?P<mark>\.|er|º|°|ª)?"
    year = r"(?:,? (?:de |del |do )?(?P<y>[12][0-9]{3})(?: ?r\.| года?)?)"
    first = r"(?:(?P<d0>[0-3]?[0-9])\.?(?: de)? ?(?:bis|bis zum|au|al|a|e|tot|t/m|до|do|-) ?)?"
    return re.compile(rf"(?<![\w.,/-])(?:{first}{day} (?:de |di |d')?)?(?P<mon>{names})(?:\.?{year})?(?![\w-])")


@cache
def _any_month() -> re.Pattern[str]:
    """A quick look: most texts hold no such name."""
    names = (name for name in _numbers() if name not in _ENGLISH)
    return re.compile(
        rf"\b(?:{'|'.join(sorted(names, key=len, reverse=True))})\b|[0-9]\. (?:April|August|Septem|Novem)"
    )


@cache
def _years() -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-]){_LONE_YEAR}")


@cache
def _before() -> re.Pattern[str]:
    every = "|".join(sorted((word for _, words in _PREPOSITIONS for word in words.split("|")), key=len, reverse=True))
    return re.compile(rf"(?<!\w)(?P<pre>{every}) ?$", re.IGNORECASE)


@cache
def _shapes() -> dict[str, Shape]:
    return {word: shape for shape, words in _PREPOSITIONS for word in words.split("|")}


def mentions(text: str, anchor: Anchor | None) -> Iterator[TimeMention]:
    """What the forms above find in `text`, left to right; English is left to its own grammar."""
    for found in _forms().finditer(text) if _any_month().search(text) else ():
        span = _span(found, Context(anchor))
        if span is not None:
            start, shape = _governed(text, found.start())
            if span.kind == "interval" and shape in ("point", "since"):
                shape = "interval"
            yield mention(text, start, found.end(), found.start(), shape, span)
    for found in _years().finditer(text):
        first = found["pre"].lower().split()[0]
        shape = _shapes().get(first, "point")
        yield mention(text, found.start(), found.end(), found.start("y"), shape, spans.year_span(int(found["y"])))


def _span(found: re.Match[str], context: Context) -> Span | None:
    month, day, year = _numbers()[found["mon"]], found["d"], found["y"]
    if found["mon"] in _ENGLISH and not (day and found["mark"]):
        return None
    try:
        if day is None:
            return spans.month_span(int(year), month) if year else None
        if year is not None:
            last = spans.day_span(int(year), month, int(day))
            return spans.join(spans.day_span(int(year), month, int(found["d0"])), last) if found["d0"] else last
        if found["d0"]:
            return None
        span = spans.recurring_day(context, month, int(day))
        return replace(span, grade="B") if span else None
    except ValueError:
        return None


def _governed(text: str, at: int) -> tuple[int, Shape]:
    before = _before().search(text[max(0, at - 16) : at])
    if before is None:
        return at, "point"
    return max(0, at - 16) + before.start("pre"), _shapes()[before["pre"].lower()]
