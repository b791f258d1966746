"""Named stretches of the calendar, and the arithmetic that relative words need.

Everything here may raise `ValueError` or `OverflowError` for days that do not exist and years outside 1 to
9999; the rules let that through and the finder takes it as "not a date".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal

from substrate.errors import InvalidInput
from substrate.extraction.claims import Grade, Precision
from substrate.extraction.times.buckets import add_months, bucket_end, bucket_start, fineness
from substrate.extraction.times.records import Anchor, Dated, NumericOrder

Again = Callable[["Context"], "Span | None"]
Unit = Literal["day", "week", "month", "quarter", "half", "year", "decade"]
Part = Literal["start", "end"]
_MONTHS: dict[Unit, int] = {"month": 1, "quarter": 3, "half": 6, "year": 12, "decade": 120}
_PRECISION: dict[Unit, Precision] = {
    "day": "day",
    "week": "day",
    "month": "month",
    "quarter": "month",
    "half": "month",
    "year": "year",
    "decade": "year",
}


class NeedsAnchor(Exception):
    """The words are a date, but one that only the document's own date could complete."""


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open. The two precisions differ only where two written dates were joined."""

    start: datetime
    end: datetime
    precision: Precision
    grade: Grade = "A"
    end_precision: Precision | None = None
    kind: Literal["point", "interval"] = "point"
    unit: Unit | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """What a rule may use beside its own words.

    ``direction`` is +1 where the sentence speaks of what is to come, -1 where it speaks of what was, 0 where
    nothing tells. ``year`` is lent by the other end of a range. ``told`` is what was dated before, latest last.
    """

    anchor: Anchor | None = None
    direction: int = 0
    year: int | None = None
    order: NumericOrder | None = None
    told: tuple[Dated, ...] = ()

    def at(self, needed: Precision) -> datetime | None:
        """The anchor, if it is at least as fine as `needed`."""
        anchor = self.anchor
        if anchor is None or anchor.at is None or anchor.precision is None:
            return None
        if fineness(anchor.precision) < fineness(needed):
            return None
        return bucket_start(anchor.at, anchor.precision)

    def narrated(self) -> Context:
        """The same with the last thing told in the place of the document's date; nothing told anchors nothing."""
        last = self.told[-1] if self.told else None
        return replace(self, anchor=Anchor(last.at, last.precision) if last else None, direction=0)


def moment(year: int, month: int = 1, day: int = 1) -> datetime:
    return datetime(year, month, day, tzinfo=UTC)


def bucket(start: datetime, precision: Precision, grade: Grade = "A") -> Span:
    try:
        return Span(start, bucket_end(start, precision), precision, grade)
    except InvalidInput as error:
        raise ValueError(str(error)) from error


def year_span(year: int) -> Span:
    return bucket(moment(year), "year")


def month_span(year: int, month: int) -> Span:
    return bucket(moment(year, month), "month")


def day_span(year: int, month: int, day: int) -> Span:
    return bucket(moment(year, month, day), "day")


def months_span(year: int, month: int, count: int, unit: Unit | None = None) -> Span:
    """`count` months from the given one, with month precision."""
    start = moment(year, month)
    return Span(start, add_months(start, count), "month", unit=unit)


def quarter_span(year: int, quarter: int) -> Span:
    if not 1 <= quarter <= 4:
        raise ValueError("no such quarter")
    return months_span(year, 3 * quarter - 2, 3, "quarter")


def half_span(year: int, half: int) -> Span:
    if half not in (1, 2):
        raise ValueError("no such half")
    return months_span(year, 6 * half - 5, 6, "half")


def years_span(year: int, count: int) -> Span:
    return Span(moment(year), moment(year + count), "year", unit="decade")


def season_span(year: int, season: int) -> Span:
    """Meteorological seasons of the north, 0 for spring; the winter of a year begins in its December."""
    return months_span(year, 3 * season + 3, 3)


def iso_week_span(year: int, week: int) -> Span:
    start = datetime.fromisocalendar(year, week, 1).replace(tzinfo=UTC)
    return Span(start, start + timedelta(7), "day", unit="week")


def week_of(at: datetime) -> Span:
    start = bucket_start(at, "day") - timedelta(at.weekday())
    return Span(start, start + timedelta(7), "day", unit="week")


def week_within(span: Span, rank: int) -> Span:
    """The `rank`-th week of a month or year, counted by Thursdays as ISO does; -1 for the last."""
    if rank < 0:
        last = span.end - timedelta(1)
        return replace(week_of(last - timedelta((last.weekday() - 3) % 7)), grade=span.grade)
    first = span.start + timedelta((3 - span.start.weekday()) % 7 + 7 * (rank - 1))
    if first >= span.end:
        raise ValueError("no such week")
    return replace(week_of(first), grade=span.grade)


def weekday_within(month: Span, weekday: int, rank: int) -> Span:
    """The `rank`-th such weekday of a month, -1 for the last. Raises `ValueError` where it has no so many."""
    if rank < 0:
        last = month.end - timedelta(1)
        start = last - timedelta((last.weekday() - weekday) % 7)
    else:
        start = month.start + timedelta((weekday - month.start.weekday()) % 7 + 7 * (rank - 1))
    if not month.start <= start < month.end:
        raise ValueError("no such day")
    return bucket(start, "day", month.grade)


def unit_at(at: datetime, unit: Unit, offset: int = 0) -> Span:
    """The unit `offset` after the one that holds `at`."""
    if unit == "day":
        return bucket(bucket_start(at, "day") + timedelta(offset), "day")
    if unit == "week":
        return week_of(at + timedelta(7 * offset))
    months = _MONTHS[unit]
    first = at.year // 10 * 10 * 12 if unit == "decade" else (at.year * 12 + at.month - 1) // months * months
    year, month = divmod(first + offset * months, 12)
    span = months_span(year, month + 1, months, unit)
    return replace(span, precision=_PRECISION[unit])


def relative(context: Context, unit: Unit, offset: int) -> Span | None:
    """The unit `offset` after the anchor's own ("last month" is month, -1); None without a usable anchor."""
    at = context.at(_PRECISION[unit])
    return None if at is None else replace(unit_at(at, unit, offset), grade="B")


def shifted(context: Context, unit: Unit, count: int) -> Span | None:
    """`count` units away: to the day for days and weeks, to the named unit for longer ones."""
    if unit == "week":
        return relative(context, "day", 7 * count)
    return relative(context, unit, count)


def move(at: datetime, unit: Unit, count: int) -> datetime:
    """`at` moved by a whole number of units."""
    if unit in ("day", "week"):
        return at + timedelta(count * (7 if unit == "week" else 1))
    return add_months(at, count * _MONTHS[unit])


def rolling(context: Context, unit: Unit, count: int) -> Span | None:
    """The `count` units up to the anchor ("the past five years", negative) or from the day after it on.

    The near end is the anchor itself; the far one is only as precise as the unit. Quarters and halves are
    those of the calendar.
    """
    precision = _PRECISION[unit]
    at = context.at(precision)
    known = context.anchor.precision if context.anchor else None
    if at is None or known is None:
        return None
    near = known if fineness(known) < 2 else "day"
    here = bucket(bucket_start(at, near), near)
    if unit in ("quarter", "half"):
        whole = unit_at(at, unit)
        here = replace(whole, end=whole.start) if count < 0 else replace(whole, start=whole.end)
        near = "month"
    if count < 0:
        start = bucket_start(move(here.start, unit, count), precision)
        return Span(start, here.start, precision, "B", near, "interval")
    if precision == "day" or unit in ("quarter", "half"):
        start = here.start if unit in ("quarter", "half") else here.end
        return Span(start, move(start, unit, count), near, "B", precision, "interval")
    end = bucket(bucket_start(move(here.start, unit, count), precision), precision).end
    return Span(here.end, end, near, "B", precision, "interval")


def nearest(context: Context, needed: Precision, options: list[Span], *, yearly: bool = True) -> Span | None:
    """The recurring date that the sentence means, counted from the anchor.

    The next one where the sentence looks ahead, the last one where it looks back. Else, for what comes once a
    year, the one of the anchor's year, since that is when writers leave the year out, unless the turn of the
    year lies between; for what comes more often the closest.
    """
    at = context.at(needed)
    if at is None or not options:
        return None
    ahead = [span for span in options if span.end > at]
    behind = [span for span in options if span.start <= at]
    if context.direction > 0 and ahead:
        best = min(ahead, key=lambda span: span.start)
    elif context.direction < 0 and behind:
        best = max(behind, key=lambda span: span.start)
    else:
        best = min(options, key=lambda span: abs(span.start - at))
        if yearly:
            best = _of_this_year(at, best, options)
    return replace(best, grade="B")


def _of_this_year(at: datetime, closest: Span, options: list[Span]) -> Span:
    same = [span for span in options if span.start.year == at.year]
    if not same:
        return closest
    over_new_year = abs(closest.start - at).days <= 92 and abs(same[0].start - at).days > 240
    return closest if over_new_year else same[0]


def recurring_month(context: Context, month: int) -> Span | None:
    if context.year is not None:
        return month_span(context.year, month)
    at = context.at("month")
    if at is None:
        return None
    years = range(max(1, at.year - 1), min(9998, at.year + 1) + 1)
    return nearest(context, "month", [month_span(year, month) for year in years])


def recurring_months(context: Context, month: int, count: int) -> Span | None:
    """Like `recurring_month`, for quarters, halves and seasons."""
    if context.year is not None:
        return months_span(context.year, month, count)
    at = context.at("month")
    if at is None:
        return None
    options = [months_span(at.year + shift, month, count) for shift in (-1, 0, 1)]
    around = [span for span in options if span.start <= at < span.end]
    return nearest(context, "month", around if around and context.direction == 0 else options)


def recurring_day(context: Context, month: int, day: int) -> Span | None:
    if context.year is not None:
        return day_span(context.year, month, day)
    day_span(2000, month, day)  # Refuses the 30th of February even where no anchor is at hand.
    at = context.at("day")
    if at is None:
        return None
    options = []
    for year in range(max(1, at.year - 4), min(9998, at.year + 4) + 1):
        try:
            options.append(day_span(year, month, day))
        except ValueError:
            continue
    return nearest(context, "day", options)


def recurring_weekday(context: Context, weekday: int) -> Span | None:
    """The last such day before the anchor, or the next one where the sentence looks ahead."""
    at = context.at("day")
    if at is None:
        return None
    offset = (weekday - at.weekday()) % 7
    if context.direction > 0:
        return relative(context, "day", offset or 7)
    return relative(context, "day", offset - 7 if offset else -7)


def day_of_month(context: Context, day: int) -> Span | None:
    """ "The 15th": of the anchor's month or of the one next to it."""
    if not 1 <= day <= 31:
        raise ValueError("no such day")
    at = context.at("day")
    if at is None:
        return None
    options = []
    for shift in (-2, -1, 0, 1, 2):
        first = add_months(bucket_start(at, "month"), shift)
        try:
            options.append(day_span(first.year, first.month, day))
        except ValueError:
            continue
    return nearest(context, "day", options, yearly=False)


def part_of(span: Span, part: Part) -> Span:
    """Start or end of a year or a quarter is its first or last month; of anything else, the thing itself."""
    if span.precision == "year" and span.unit != "decade":
        start = span.start if part == "start" else add_months(span.end, -1)
        return replace(bucket(start, "month"), grade=span.grade)
    if span.unit in ("quarter", "half"):
        start = span.start if part == "start" else add_months(span.end, -1)
        return replace(bucket(start, "month"), grade=span.grade)
    if span.precision == "year":
        start = span.start if part == "start" else moment(span.end.year - 1)
        return replace(bucket(start, "year"), grade=span.grade)
    return span


def join(first: Span, last: Span) -> Span:
    """From the start of `first` to the end of `last`. Raises `ValueError` if they are the wrong way round."""
    if first.start >= last.end or first.start > last.start:
        raise ValueError("the range ends before it begins")
    grade: Grade = "B" if "B" in (first.grade, last.grade) else "A"
    return Span(first.start, last.end, first.precision, grade, last.end_precision or last.precision, "interval")


def easter(year: int) -> datetime:
    """Easter Sunday of the Gregorian calendar, by the algorithm of Meeus, Jones and Butcher."""
    century, rest = divmod(year, 100)
    golden = year % 19
    epact = (19 * golden + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    weekday = (32 + 2 * (century % 4) + 2 * (rest // 4) - epact - rest % 4) % 7
    late = (golden + 11 * epact + 22 * weekday) // 451
    month, day = divmod(epact + weekday - 7 * late + 114, 31)
    return moment(year, month, day + 1)


def alike(context: Context, first: Again, last: Again) -> tuple[Span | None, Span | None]:
    """Both ends of a range that names no year ("from November to March"): the stretch closest to the anchor.

    `first` and `last` read their end with a given context.
    """
    at = context.at("month")
    if at is None:
        return None, None
    options: list[tuple[Span, Span]] = []
    for year in (at.year - 1, at.year, at.year + 1):
        left, right = first(replace(context, year=year)), last(replace(context, year=year))
        if left and right and right.start < left.start:
            right = last(replace(context, year=year + 1))
        if left and right:
            options.append((replace(left, grade="B"), replace(right, grade="B")))
    if context.direction > 0:
        options = [option for option in options if option[1].end > at]
    elif context.direction < 0:
        options = [option for option in options if option[0].start <= at]
    if not options:
        return None, None
    around = [option for option in options if option[0].start <= at < option[1].end]
    same = [option for option in options if option[1].start.year == at.year]
    closest = min(options, key=lambda option: max(option[0].start - at, at - option[1].end))
    return (around or same or [closest])[0]
