"""The time grammar: what it reads, what it refuses, and that it survives any text."""

from __future__ import annotations

import importlib.util
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from substrate.errors import InvalidInput
from substrate.extraction.claims import ClaimTime
from substrate.extraction.times import Anchor, bucket_end, find_times, parse_point, parse_time


def _tables() -> ModuleType:
    spec = importlib.util.spec_from_file_location("time_tables", Path(__file__).with_name("time_tables.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TABLES = _tables()
ANCHOR: Anchor = TABLES.ANCHOR
UTC_DATES = st.dates(min_value=date(1, 1, 1), max_value=date(9998, 12, 31))
MONTH_NAMES = [date(2000, month, 1).strftime("%B") for month in range(1, 13)]


@pytest.mark.parametrize(("words", "expected"), TABLES.EXPRESSIONS)
def test_an_expression_states_its_interval(words: str, expected: str) -> None:
    assert TABLES.rendered(parse_time(words, ANCHOR)) == expected


@pytest.mark.parametrize("text", TABLES.NOTHING)
def test_what_is_no_date_is_left_alone(text: str) -> None:
    assert [text[m.start : m.end] for m in find_times(text, ANCHOR)] == []


UNDATED = [
    line
    for line in Path(__file__).with_name("undated.txt").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]


def test_of_what_looks_dated_next_to_nothing_is_dated() -> None:
    dated = [text for text in UNDATED if any(m.time.valid_from or m.time.valid_to for m in find_times(text, ANCHOR))]
    assert len(dated) <= 0.02 * len(UNDATED), dated


def test_the_tables_are_as_large_as_promised() -> None:
    assert len(TABLES.EXPRESSIONS) >= 380
    assert len(TABLES.NOTHING) >= 90
    assert len(UNDATED) >= 440


def test_one_date_of_a_text_shows_the_order_of_the_others() -> None:
    text = "Opened 03/04/2024, closed {}."
    starts = {
        last: [m.time.valid_from for m in find_times(text.format(last))]
        for last in ("25/12/2024", "12/25/2024", "05/06/2024")
    }
    assert starts["25/12/2024"][0] == datetime(2024, 4, 3, tzinfo=UTC)
    assert starts["12/25/2024"][0] == datetime(2024, 3, 4, tzinfo=UTC)
    assert starts["05/06/2024"] == []
    both = "Opened 25/12/2024, moved 12/25/2024, closed 03/04/2024."
    assert [m.end for m in find_times(both)] == [17, 35]


def test_the_order_that_is_declared_reaches_the_grammar_through_the_anchor() -> None:
    text = "It closed on 03/04/2024."
    assert find_times(text, Anchor(None, None)) == []
    [found] = find_times(text, Anchor(None, None, order="mdy"))
    assert (found.time.valid_from, found.time.grade) == (datetime(2024, 3, 4, tzinfo=UTC), "A")


def test_what_needs_the_order_is_read_with_it_alone() -> None:
    text = "It is due next Friday 5/12."
    assert find_times(text, Anchor(datetime(2019, 5, 20, tzinfo=UTC), "day")) == []
    anchor = Anchor(datetime(2019, 5, 20, tzinfo=UTC), "day", order="mdy")
    assert [m.time.valid_from for m in find_times(text, anchor)] == [datetime(2019, 5, 12, tzinfo=UTC)]


DISTANCES = ["two weeks ago", "yesterday", "in three months", "last year", "in 10 days", "next week", "half a year ago"]


@given(st.sampled_from(DISTANCES), st.dates(date(1990, 1, 1), date(2040, 12, 31)), st.integers(1, 400))
def test_what_counts_from_the_document_moves_with_it(words: str, day: date, later: int) -> None:
    read = []
    for at in (day, day + timedelta(later * 7)):
        stated = parse_time(words, Anchor(datetime(at.year, at.month, at.day, tzinfo=UTC), "day"))
        assert stated is not None
        assert stated.valid_from is not None
        assert stated.valid_to is not None
        assert stated.grade == "B"
        assert stated.valid_from < stated.valid_to
        read.append((stated.valid_from, stated.valid_from_precision))
    assert read[0][1] == read[1][1]
    moved = read[1][0] - read[0][0]
    if read[0][1] == "day":
        assert moved == timedelta(later * 7)
    else:
        assert timedelta(0) <= moved <= timedelta(later * 7 + 366)


@given(st.dates(date(1990, 1, 1), date(2040, 12, 31)), st.integers(1, 30))
def test_later_moves_with_what_was_told_and_not_with_the_document(day: date, weeks: int) -> None:
    text = f"It opened on {day.isoformat()}. {weeks} weeks later it closed."
    for anchor in (None, ANCHOR, Anchor(datetime(1999, 1, 1, tzinfo=UTC), "day")):
        _, later = find_times(text, anchor)
        assert later.time.valid_from == datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(7 * weeks)
        assert later.time.grade == "B"
    [alone] = find_times(f"{weeks} weeks later it closed.", ANCHOR)
    assert (alone.time.grade, alone.time.valid_from) == ("C", None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It opened in 2012. It closed the year after.", ["2012-01-01 A", "2013-01-01 B"]),
        ("She joined in 2019. The year before, she had worked at Acme.", ["2019-01-01 A", "2018-01-01 B"]),
        ("He joined on 5 May 2023. Since then, he has led Ops.", ["2023-05-05 A", "2023-05-05 B"]),
        ("On 5 May 2023 they met. The same day Ana was appointed.", ["2023-05-05 A", "2023-05-05 B"]),
        ("Revenue rose in Q2 2023. In the following quarter it fell.", ["2023-04-01 A", "2023-07-01 B"]),
        ("The merger closed in June 2020. Three months after the merger it sold.", ["2020-06-01 A", "2020-09-01 B"]),
        ("Two days before its launch on 5 May 2023 it failed.", ["2023-05-03 A"]),
        ("It began in 2015. In October of the same year it moved.", ["2015-01-01 A", "2015-10-01 B"]),
        ("In October of the same year it moved.", ["- C"]),
        ("Three months after the merger it sold.", ["- C"]),
        ("It closed the year after.", ["- C"]),
        ("Since then, he has led Ops.", []),
        ("He leads Ops, then Sales.", []),
    ],
)
def test_what_was_told_anchors_what_follows(text: str, expected: list[str]) -> None:
    found = [m.time for m in find_times(text, ANCHOR)]
    shown = [f"{t.valid_from.date().isoformat() if t.valid_from else '-'} {t.grade}" for t in found]
    assert shown == expected


def test_a_date_in_a_file_name_counts_only_if_it_is_whole() -> None:
    assert [m.time.valid_from for m in find_times("see sales_report-2002-10-09.xlsx")] == [
        datetime(2002, 10, 9, tzinfo=UTC)
    ]
    for text in ("see sales_report-2002.xlsx", "see report-2002-10.pdf", "order 11-15-2024-A", "serial 1987-06-21-445"):
        assert find_times(text, ANCHOR) == []


@pytest.mark.parametrize(
    ("text", "shape", "whole", "core"),
    [
        ("Ann has led Ops since March 2024.", "since", "since March 2024", "March 2024"),
        ("Ann led Ops from 2023-01-10.", "since", "from 2023-01-10", "2023-01-10"),
        ("Ann led Ops until 2019.", "until", "until 2019", "2019"),
        ("Ann led Ops between 2015 and 2018.", "interval", "between 2015 and 2018", "2015 and 2018"),
        ("Ann led Ops from January to March 2021.", "interval", "from January to March 2021", "January to March 2021"),
        ("It was bought in March 2023 by Acme.", "point", "in March 2023", "March 2023"),
        ("Ann (2015–2018) led Ops.", "interval", "2015–2018", "2015–2018"),
        ("It must ship by the end of 2025.", "by", "by the end of 2025", "the end of 2025"),
        ("Before 2024 it was closed.", "before", "Before 2024", "2024"),
        ("It opened after March 2024, then closed.", "after", "after March 2024", "March 2024"),
        ("As of 1 January 2025 it has 30 staff.", "as_of", "As of 1 January 2025", "1 January 2025"),
        ("She stayed for three years.", "duration", "for three years", "for three years"),
        ("Over the past five years it grew.", "interval", "Over the past five years", "the past five years"),
        ("王伟自2023年1月起任经理。", "since", "自2023年1月起", "2023年1月起"),
        ("截至2024年底，公司有300人。", "as_of", "截至2024年底", "2024年底"),
        ("他从2015年到2018年任职。", "interval", "从2015年到2018年", "2015年到2018年"),
        ("2018年之前他在北京。", "before", "2018年之前", "2018年之前"),
        ("他直到2024年3月才离开。", "until", "直到2024年3月", "2024年3月"),
    ],
)
def test_a_mention_covers_its_preposition(text: str, shape: str, whole: str, core: str) -> None:
    [found] = find_times(text)
    assert (found.shape, text[found.start : found.end], text[found.core_start : found.end]) == (shape, whole, core)
    assert found.time.words == whole


@pytest.mark.parametrize(
    "words",
    [
        "last March",
        "two weeks ago",
        "yesterday",
        "next quarter",
        "on 5 July",
        "since last year",
        "上个月",
        "去年三月",
        "3月5日",
    ],
)
def test_a_relative_expression_without_a_document_date_dates_nothing(words: str) -> None:
    stated = parse_time(words)
    assert stated is not None
    assert stated.grade == "C"
    assert (stated.valid_from, stated.valid_to, stated.valid_from_precision, stated.valid_to_precision) == (None,) * 4


def test_a_coarse_document_date_does_not_carry_finer_words() -> None:
    anchor = Anchor(datetime(2024, 1, 1, tzinfo=UTC), "year")
    assert TABLES.rendered(parse_time("last year", anchor)) == "2023-01-01~2024-01-01 year B"
    assert TABLES.rendered(parse_time("yesterday", anchor)) == "~ - C"
    assert TABLES.rendered(parse_time("last month", anchor)) == "~ - C"
    assert TABLES.rendered(parse_time("5 July 2023", anchor)) == "2023-07-05~2023-07-06 day A"


def test_only_a_point_or_a_deadline_is_an_event() -> None:
    flags = {words: _time(words).at_event for words in ("in 2024", "by 2024", "since 2024", "until 2024", "2014-2018")}
    assert flags == {"in 2024": True, "by 2024": True, "since 2024": False, "until 2024": False, "2014-2018": False}


def test_the_sentence_tells_which_way_to_look() -> None:
    [will] = find_times("She will leave in March.", ANCHOR)
    [was] = find_times("She joined in March.", ANCHOR)
    assert will.time.valid_from == datetime(2025, 3, 1, tzinfo=UTC)
    assert was.time.valid_from == datetime(2024, 3, 1, tzinfo=UTC)


def test_several_mentions_come_in_order_and_apart() -> None:
    text = "Ann led Ops from 2015 to 2018, then Sales until March 2021; she left on 5 July 2022."
    assert [text[m.start : m.end] for m in find_times(text)] == [
        "from 2015 to 2018", "until March 2021", "on 5 July 2022",
    ]  # fmt: skip


def test_only_the_asked_language_is_read() -> None:
    text = "since March 2024 自2023年1月起"
    assert [text[m.start : m.end] for m in find_times(text, language="en")] == ["since March 2024"]
    assert [text[m.start : m.end] for m in find_times(text, language="zh")] == ["自2023年1月起"]
    assert len(find_times(text)) == 2


def test_a_swappable_date_is_read_only_where_the_order_is_known() -> None:
    text = "It closed on 03/04/2024."
    assert find_times(text) == []
    assert find_times(text, order="dmy")[0].time.valid_from == datetime(2024, 4, 3, tzinfo=UTC)
    assert find_times(text, order="mdy")[0].time.valid_from == datetime(2024, 3, 4, tzinfo=UTC)


@pytest.mark.parametrize("words", ["since 2019 and more", "x 2024-03-05", "", "hello", "March 2024, May 2024"])
def test_only_a_whole_expression_is_parsed(words: str) -> None:
    assert parse_time(words, ANCHOR) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024", ("2024-01-01T00:00:00", "year")),
        ("2024-03", ("2024-03-01T00:00:00", "month")),
        ("2024-03-05", ("2024-03-05T00:00:00", "day")),
        ("2024-03-05T14:30Z", ("2024-03-05T14:30:00", "minute")),
        ("2024-03-05T14:30:15.9+02:00", ("2024-03-05T12:30:15", "second")),
        ("0001-01-01T00:00+02:00", None),
        ("9999-12-31", None),
        ("2024-03-05T14:30", None),
        ("2024-02-30", None),
        ("0000", None),
        ("24-03-05", None),
        ("٢٠٢٤", None),
        ("5 July 2024", None),
        ("", None),
    ],
)
def test_program_moments(text: str, expected: tuple[str, str] | None) -> None:
    point = parse_point(text)
    assert (point and (point[0].isoformat()[:19], point[1])) == expected


def test_bucket_ends() -> None:
    at = datetime(2024, 12, 31, 23, 59, 59, tzinfo=UTC)
    new_year = datetime(2025, 1, 1, tzinfo=UTC)
    for precision in ("year", "month", "day", "hour", "minute", "second"):
        assert bucket_end(at, precision) == new_year
    with pytest.raises(InvalidInput):
        bucket_end(datetime(9999, 5, 1, tzinfo=UTC), "year")
    with pytest.raises(InvalidInput):
        bucket_end(datetime(2024, 5, 1), "year")  # noqa: DTZ001


@given(UTC_DATES)
def test_any_written_day_comes_back(day: date) -> None:
    name = MONTH_NAMES[day.month - 1]
    year = f"{day.year:04}"
    forms = [
        day.isoformat(),
        f"{day.day} {name} {year}",
        f"{name} {day.day}, {year}",
        f"{year}年{day.month}月{day.day}日",
    ]
    for words in forms:
        stated = _time(words)
        start = datetime(day.year, day.month, day.day, tzinfo=UTC)
        assert (stated.valid_from, stated.valid_to) == (start, start + timedelta(1)), words
        assert (stated.valid_from_precision, stated.grade, stated.at_event) == ("day", "A", True)


@given(UTC_DATES, UTC_DATES)
def test_a_range_runs_to_the_end_of_its_last_day_or_is_refused(first: date, last: date) -> None:
    stated = parse_time(f"from {first.isoformat()} to {last.isoformat()}")
    if first > last:
        assert stated is None
    else:
        assert stated is not None
        assert stated.valid_to == datetime(last.year, last.month, last.day, tzinfo=UTC) + timedelta(1)


FRAGMENTS = st.sampled_from(
    "since until by before after from to between and the end of early last next March May 2024 2024-03-05 5 July 5th "
    "Q3 two weeks ago in 31 February 9999 0000 yesterday Monday , . ( ) - – 自 至 年 月 日 2024年 3月 5日 去年 前 之前 "
    "上个月 星期一 截至 世纪 第三季度 24:00 UTC ' \n \t 10000 0 00 １２ İ ſ".split(" ")
)


@given(
    st.one_of(st.text(max_size=60), st.lists(FRAGMENTS, max_size=12).map(" ".join), st.lists(FRAGMENTS).map("".join))
)
@settings(max_examples=400, deadline=None)
def test_any_text_is_survived_and_offsets_are_true(text: str) -> None:
    for anchor in (
        None,
        ANCHOR,
        Anchor(datetime(1, 1, 1, tzinfo=UTC), "day"),
        Anchor(datetime(9999, 12, 31, tzinfo=UTC), "day"),
    ):
        done = 0
        for found in find_times(text, anchor):
            assert done <= found.start <= found.core_start < found.end <= len(text)
            assert found.time.words == text[found.start : found.end]
            _consistent(found.time)
            done = found.end
        parse_time(text, anchor)


def _consistent(stated: ClaimTime) -> None:
    assert (stated.valid_from is None) == (stated.valid_from_precision is None)
    assert (stated.valid_to is None) == (stated.valid_to_precision is None)
    if stated.valid_from and stated.valid_to:
        assert stated.valid_from < stated.valid_to
    if stated.grade == "C":
        assert stated.valid_from is stated.valid_to is None


def _time(words: str) -> ClaimTime:
    stated = parse_time(words, ANCHOR)
    assert stated is not None, words
    return stated


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "unit",
    ["a", " ", "1", "1 ", "1 a ", "a 1 ",
     "2024", "2024-", "2024-03-05 ", "the ", "March ", "5 July ", "from ", "from 2024 to ", "一", "年", "一年",
     "2024年", "3月", "前", "上", "two weeks ", "twenty ", "the end of ", "and ", "\n", "\r\n", "1/", "'", "last "],
)  # fmt: skip
def test_no_text_takes_long(unit: str) -> None:
    """Time that grows with the square of such lengths could not pass; linear time is 4 s at most."""
    length = 50_000 if find_times(unit * 50, ANCHOR) else 150_000
    find_times(unit * (length // len(unit)), ANCHOR)
