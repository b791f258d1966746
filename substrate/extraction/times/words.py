"""English words of the calendar: what they are worth and the pattern fragments that match them."""

from __future__ import annotations

import re
from datetime import datetime

from substrate.extraction.claims import Grade
from substrate.extraction.times.spans import Context, NeedsAnchor, Unit


def _listed(words: str) -> list[str]:
    return words.split()


def _numbered(lines: str, first: int) -> dict[str, int]:
    """Each line's words, numbered by line."""
    numbered = enumerate(lines.strip().splitlines(), first)
    return {word: number for number, names in numbered for word in names.split()}


MONTHS = _numbered(
    """
january jan
february feb
march mar
april apr
may
june jun
july jul
august aug
september sept sep
october oct
november nov
december dec
""",
    1,
)
WEEKDAYS = _numbered(
    """
monday mon
tuesday tues tue
wednesday wed
thursday thurs thur thu
friday fri
saturday sat
sunday sun
""",
    0,
)
UNITS: dict[str, tuple[Unit, int]] = {
    "day": ("day", 1),
    "week": ("week", 1),
    "fortnight": ("week", 2),
    "month": ("month", 1),
    "quarter": ("quarter", 1),
    "year": ("year", 1),
    "decade": ("decade", 1),
}
_ONES = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"""
ONES = dict(zip(_listed(_ONES), range(20), strict=True))
TENS = dict(zip(_listed(_TENS), range(20, 100, 10), strict=True))
ORDINALS = dict(zip(_listed(_ORDINALS), range(1, 21), strict=True)) | {
    "thirtieth": 30,
    "last": -1,
    "final": -1,
}
MONTH_STARTS = " ".join(MONTHS)
WEEKDAY_STARTS = " ".join(WEEKDAYS)
ORDINAL_STARTS = " ".join(ORDINALS) + " twenty thirty 1"
NUMBER_STARTS = " ".join([*ONES, *TENS]) + " a an couple 1"
"""First words of a form, as `Grammar.add` takes them; "1" is a number of up to two digits."""
SEASONS = {"spring": 0, "summer": 1, "autumn": 2, "fall": 2, "winter": 3}
OFFSETS = {
    "last": -1, "previous": -1, "past": -1, "this": 0, "current": 0, "same": 0,
    "next": 1, "coming": 1, "upcoming": 1, "following": 1,
}  # fmt: skip
HOLIDAYS = {
    "new year's day": (1, 1), "new years day": (1, 1), "valentine's day": (2, 14), "halloween": (10, 31),
    "christmas eve": (12, 24), "christmas": (12, 25), "christmas day": (12, 25), "boxing day": (12, 26),
    "new year's eve": (12, 31), "epiphany": (1, 6), "groundhog day": (2, 2), "st. patrick's day": (3, 17),
    "st patrick's day": (3, 17), "saint patrick's day": (3, 17), "april fools' day": (4, 1), "april fool's day": (4, 1),
    "earth day": (4, 22), "anzac day": (4, 25), "juneteenth": (6, 19), "canada day": (7, 1), "bastille day": (7, 14),
    "all saints' day": (11, 1), "armistice day": (11, 11), "veterans day": (11, 11),
    "new years eve": (12, 31), "new year": (1, 1), "may day": (5, 1),
    "international workers' day": (5, 1), "international women's day": (3, 8),
}  # fmt: skip
AROUND_EASTER = {
    "ash wednesday": -46, "palm sunday": -7, "maundy thursday": -3, "ascension day": 39, "pentecost": 49,
    "whit monday": 50, "good friday": -2, "easter": 0, "easter sunday": 0, "easter monday": 1,
}  # fmt: skip
RANKED = {
    "martin luther king day": (1, 0, 3), "presidents' day": (2, 0, 3), "memorial day": (5, 0, -1),
    "labor day": (9, 0, 1), "columbus day": (10, 0, 2),
}  # fmt: skip
"""American by name or by spelling: month, weekday, and which one."""
AMERICAN = {"independence day": (7, 4)}
"""Read only where dates are known to be written the American way; other countries keep other days."""
AROUND_THANKSGIVING = {"thanksgiving": 0, "thanksgiving day": 0, "black friday": 1, "cyber monday": 4}


def holidays() -> list[str]:
    """Days with a name that have one date for everybody, and those of `AMERICAN`."""
    return [*HOLIDAYS, *AROUND_EASTER, *RANKED, *AMERICAN, *AROUND_THANKSGIVING]


def _any(words: object) -> str:
    return "|".join(sorted(map(str, words), key=lambda word: (-len(word), word)))  # type: ignore[call-overload]


_ONE_TO_NINE = "one|two|three|four|five|six|seven|eight|nine"
_CARDINAL = rf"(?:{_any(TENS)})(?:[ -](?:{_ONE_TO_NINE}))?|{_any(ONES)}"
_ORDINAL_WORD = (
    rf"(?:twenty|thirty)[ -](?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)|"
    rf"{_any(word for word in ORDINALS if word not in ('last', 'final'))}"
)
_SPELLED_YEAR = (
    rf"(?:eighteen|nineteen|twenty)[ -](?:(?:{_any(TENS)})(?:[ -](?:{_ONE_TO_NINE}))?|"
    rf"(?:oh|o)[ -](?:{_ONE_TO_NINE})|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|"
    rf"nineteen|hundred)|two thousand(?:(?: and)? (?:{_CARDINAL}))?"
)
_RELATIVE_YEAR = r"(?:of )?(?:last|this|next|the previous|the current|the following|the same) year"
_MONTH = rf"(?:{_any(word for word in MONTHS if len(word) > 4 or word in ('may', 'june', 'july'))}|" + (
    rf"(?:{_any(word for word in MONTHS if len(word) <= 4 and word not in ('may', 'june', 'july'))})\.?)"
)
FRAGMENTS = {
    "mon": _MONTH,
    "wd": _any(WEEKDAYS),
    "d": rf"[0-3]?[0-9](?:st|nd|rd|th)?(?![0-9a-z])|{_ORDINAL_WORD}",
    "od": rf"[0-3]?[0-9](?:st|nd|rd|th)|{_ORDINAL_WORD}",
    "dn": r"[0-3]?[0-9](?![0-9])",
    "y": rf"[0-9]{{4}}|'[0-9]{{2}}|{_SPELLED_YEAR}|{_RELATIVE_YEAR}",
    "yw": _SPELLED_YEAR,
    "yyyy": r"[0-9]{4}",
    "yb": r"(?:1[0-9]|20|21)[0-9]{2}",
    "n": rf"[0-9]{{1,3}}(?![0-9])|(?:a )?couple(?: of)?|{_CARDINAL}|an?",
    "unit": r"days?|weeks?|fortnights?|months?|quarters?|years?|decades?",
    "rel": _any(OFFSETS),
    "season": _any(SEASONS),
    "holiday": _any(holidays()),
    "ordq": r"first|second|third|fourth|last|final|1st|2nd|3rd|4th",
}


def compiled(template: str) -> re.Pattern[str]:
    """`template` with ``<name>`` or ``<name2>`` standing for a named fragment and a blank for one or two."""

    def fragment(match: re.Match[str]) -> str:
        return f"(?P<{match[1]}{match[2]}>{FRAGMENTS[match[1]]})"

    expanded = re.sub(r"(?<!\?P)<([a-z]+)([0-9]?)>", fragment, template)
    expanded = expanded.replace("[ -]", "(?:\t|-)").replace(" ?", "\v").replace(" ", "\t")
    return re.compile(expanded.replace("\t", " {1,2}").replace("\v", " {0,2}"), re.IGNORECASE)


def plain(words: str) -> str:
    return " ".join(words.lower().split()).rstrip(".")


def cardinal(words: str) -> int:
    """ "12", "twelve", "twenty-five", "a", "a couple of". Raises `LookupError` otherwise."""
    words = plain(words)
    if words.isdigit():
        return int(words)
    if words in ("a", "an"):
        return 1
    if "couple" in words:
        return 2
    parts = words.replace("-", " ").split()
    if len(parts) == 2:
        return TENS[parts[0]] + ONES[parts[1]]
    return TENS[parts[0]] if parts[0] in TENS else ONES[parts[0]]


def ordinal(words: str) -> int:
    """ "5", "5th", "fifth", "twenty-third"; -1 for "last". Raises `LookupError` or `ValueError` otherwise."""
    words = plain(words)
    if words[0].isdigit():
        number = int(words.rstrip("stndrh"))
        return number
    parts = words.replace("-", " ").split()
    return TENS[parts[0]] + ORDINALS[parts[1]] if len(parts) == 2 else ORDINALS[parts[0]]


def month(words: str) -> int:
    return MONTHS[plain(words)]


def unit(words: str) -> tuple[Unit, int]:
    """The unit and how many of it: a fortnight is two weeks."""
    return UNITS[plain(words).removesuffix("s")]


def _spelled_year(words: str) -> int:
    parts = [part for part in words.replace("-", " ").split() if part != "and"]
    if parts[:2] == ["two", "thousand"]:
        return 2000 + (cardinal(" ".join(parts[2:])) if len(parts) > 2 else 0)
    century = cardinal(parts[0]) * 100
    if parts[1:] == ["hundred"]:
        return century
    return century + cardinal(" ".join(part for part in parts[1:] if part not in ("oh", "o")))


def year(words: str, context: Context) -> tuple[int, Grade]:
    """The year and how it is known. "'24" is 2024 and "'87" is 1987.

    Raises `NeedsAnchor` for "last year" in an undated document.
    """
    words = plain(words)
    if words.isdigit():
        return int(words), "A"
    if words.startswith("'"):
        short = int(words[1:])
        return short + (2000 if short < 50 else 1900), "A"
    if words.endswith("year"):
        rel = words.split()[-2]
        narrated = rel in ("same", "following") or (rel == "previous" and bool(context.told))
        at = needed((context.narrated() if narrated else context).at("year"))
        return at.year + OFFSETS[rel], "B"
    return _spelled_year(words), "A"


def needed(at: datetime | None) -> datetime:
    if at is None:
        raise NeedsAnchor
    return at
