"""What a question asks beside its words: about which time, for a time, and about or of which speaker."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from substrate.extraction.times import find_times, parse_time

_WHEN = re.compile(
    r"\bwhen\b|\bhow (?:long|often|recently)\b|\b(?:what|which) (?:year|month|day|date|time|week)\b"
    r"|什么时候|何时|哪一?[年月天日]|几[月号点]|多久|多长时间",
    re.I,
)
_TIME_WORD = re.compile(
    r"\b(?:yesterday|today|tomorrow|tonight|last|next|ago|since|until|recently|weekends?|mornings?"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|days?|weeks?|months?|years?|january|february|march|april|may|june|july"
    r"|august|september|october|november|december|\d+)\b"
    r"|[昨今明前去][天年日晚]|上[周个]|下[周个]|\d+[年月日号]|[一二三四五六七八九十]+[月年天]",
    re.I,
)
_LABEL = re.compile(
    r"(?:\[[^\]\n]{4,32}\] ?)?(?P<name>[^\s:\[\]()][^:\[\]()\n]{0,58}?) ?(?:\((?P<stamp>[^()\n]{4,60})\))?: "
)
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_MONTH = re.compile(rf"\b(?:{'|'.join(_MONTHS)})\b")
_TOLD_WITHIN = timedelta(31)
_EARLIEST, _LATEST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Question:
    """A question as the ranking sees it. ``dates`` are half-open UTC intervals of the absolute times it names."""

    text: str
    asks_when: bool
    dates: tuple[tuple[datetime, datetime], ...]
    months: frozenset[int]
    """Months named where no absolute time is."""

    @classmethod
    def of(cls, text: str) -> Question:
        """Relative times ("last week") are not dated: what they count from is not the question's to say."""
        mentions = find_times(text)
        dates = tuple(
            (m.time.valid_from or _EARLIEST, m.time.valid_to or _LATEST)
            for m in mentions
            if m.time.valid_from is not None or m.time.valid_to is not None
        )
        named = frozenset() if dates else frozenset(_MONTHS.index(m[0]) + 1 for m in _MONTH.finditer(text))
        return cls(text, bool(_WHEN.search(text)), dates, named)

    @property
    def dates_something(self) -> bool:
        return bool(self.dates or self.months)

    def names(self, speaker: str) -> bool:
        """Does the question name this speaker, by the whole name or its first word?"""
        name = speaker.strip().casefold()
        asked = self.text.casefold()
        return any(_stands_in(part, asked) for part in {name, name.split(" ")[0]} if len(part) > 1)

    def dated_at(self, at: datetime | None) -> float:
        """1 where `at` lies in a time the question names, a half in the month after it, when people still tell of it.

        A month without a year is that month of any year.
        """
        if at is None:
            return 0.0
        if at.month in self.months or any(start <= at < end for start, end in self.dates):
            return 1.0
        return 0.5 if any(start <= at < end + _TOLD_WITHIN for start, end in self.dates if end < _LATEST) else 0.0


def _stands_in(name: str, text: str) -> bool:
    if not name.isascii():
        return name in text
    return re.search(rf"\b{re.escape(name)}\b", text) is not None


def label(text: str) -> tuple[str, str]:
    """Speaker and stamp of a message ("Nadia (8 May, 2023): …"), each empty where the text has none."""
    match = _LABEL.match(text)
    return (match["name"], match["stamp"] or "") if match else ("", "")


@lru_cache(maxsize=4096)
def stamped_at(stamp: str) -> datetime | None:
    """The moment a message's stamp names, or None."""
    time = parse_time(re.sub(r"\b\d{1,2}:\d\d(?::\d\d)?\s*(?:am|pm)?( on)?\b", "", stamp, flags=re.I).strip(" ,"))
    return time.valid_from if time else None


def tells_a_time(text: str) -> bool:
    """Does a passage hold a word that may date something?"""
    return _TIME_WORD.search(text) is not None
