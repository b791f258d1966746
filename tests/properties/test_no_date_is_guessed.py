"""Every date that comes in as text is the one instant or unit that it names, or it is refused: nothing is guessed.

Two doors read dates that programs write: the date of a document (kept to the second) and the moment of a question
(kept to the microsecond); a third reads what people write in sentences. Each line of the table is tried at them, on a
machine that lives in each of three zones.

==========================================  =====================================================================
text                                        then
==========================================  =====================================================================
a clock time with an offset                 that instant, in UTC; the two passes of a repeated hour are two instants
a clock time without an offset, or a zone   refused: around a change of the clocks it may be two instants or none;
by name                                     of a sentence only the day is kept
a year, a month, a day                      the whole unit, in UTC, of 28 to 31 days and 365 or 366 of them
``Z``, ``+00:00``, ``-00:00``               the same
a day that does not exist, BC, year 0       refused
year 9999                                   refused for documents, whose units must end; for a question all that is
                                            left of time
==========================================  =====================================================================
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest

from substrate.documents.checks import read_doc_time
from substrate.errors import InvalidInput
from substrate.extraction.claims import ClaimTime
from substrate.extraction.times import parse_time
from substrate.reads.moments import parse_bucket, resolve
from tests.properties.ledger_play import Play, Said

# zone: (the hour that is skipped, in the old offset; the same wall time in the new one),
#       (the hour that comes twice: its first pass; its second pass), each with what it is in UTC
CHANGES = {
    "Europe/Paris": (
        ("2024-03-31T02:30:00+01:00", "2024-03-31T01:30:00"),
        ("2024-03-31T02:30:00+02:00", "2024-03-31T00:30:00"),
        ("2024-10-27T02:30:00+02:00", "2024-10-27T00:30:00"),
        ("2024-10-27T02:30:00+01:00", "2024-10-27T01:30:00"),
    ),
    "America/New_York": (
        ("2024-03-10T02:30:00-05:00", "2024-03-10T07:30:00"),
        ("2024-03-10T02:30:00-04:00", "2024-03-10T06:30:00"),
        ("2024-11-03T01:30:00-04:00", "2024-11-03T05:30:00"),
        ("2024-11-03T01:30:00-05:00", "2024-11-03T06:30:00"),
    ),
    "America/St_Johns": (
        ("2024-03-10T02:15:00-03:30", "2024-03-10T05:45:00"),
        ("2024-03-10T02:15:00-02:30", "2024-03-10T04:45:00"),
        ("2024-11-03T01:15:00-02:30", "2024-11-03T03:45:00"),
        ("2024-11-03T01:15:00-03:30", "2024-11-03T04:45:00"),
    ),
    "Australia/Lord_Howe": (
        ("2024-10-06T02:10:00+10:30", "2024-10-05T15:40:00"),
        ("2024-10-06T02:10:00+11:00", "2024-10-05T15:10:00"),
        ("2024-04-07T01:40:00+11:00", "2024-04-06T14:40:00"),
        ("2024-04-07T01:40:00+10:30", "2024-04-06T15:10:00"),
    ),
    "Africa/Casablanca": (
        ("2024-04-14T02:30:00+00:00", "2024-04-14T02:30:00"),
        ("2024-04-14T02:30:00+01:00", "2024-04-14T01:30:00"),
        ("2024-03-10T02:30:00+01:00", "2024-03-10T01:30:00"),
        ("2024-03-10T02:30:00+00:00", "2024-03-10T02:30:00"),
    ),
    "Pacific/Apia": (
        ("2011-12-29T23:59:59-10:00", "2011-12-30T09:59:59"),
        ("2011-12-31T00:00:00+14:00", "2011-12-30T10:00:00"),
        ("2012-04-01T03:30:00+14:00", "2012-03-31T13:30:00"),
        ("2012-04-01T03:30:00+13:00", "2012-03-31T14:30:00"),
    ),
}
MOMENTS = {text: utc for pairs in CHANGES.values() for text, utc in pairs} | {
    "2024-02-29T23:59:59Z": "2024-02-29T23:59:59",
    "2024-02-29T23:59:59+00:00": "2024-02-29T23:59:59",
    "2024-02-29T23:59:59-00:00": "2024-02-29T23:59:59",
    "2024-02-29 23:59:59Z": "2024-02-29T23:59:59",
    "2024-12-31T23:30:00-01:00": "2025-01-01T00:30:00",
    "2024-03-01T00:30:00+01:00": "2024-02-29T23:30:00",
    "2023-03-01T00:30:00+01:00": "2023-02-28T23:30:00",
    "2024-07-01T12:00:00+05:45": "2024-07-01T06:15:00",
    "0001-01-01T00:00:00Z": "0001-01-01T00:00:00",
}
UNITS = {
    "2024": ("2024-01-01", 366, "year"),
    "2023": ("2023-01-01", 365, "year"),
    "1900": ("1900-01-01", 365, "year"),
    "2000": ("2000-01-01", 366, "year"),
    "2024-02": ("2024-02-01", 29, "month"),
    "2023-02": ("2023-02-01", 28, "month"),
    "2024-04": ("2024-04-01", 30, "month"),
    "2024-12": ("2024-12-01", 31, "month"),
    "2024-02-29": ("2024-02-29", 1, "day"),
    "2000-02-29": ("2000-02-29", 1, "day"),
    "2024-03-31": ("2024-03-31", 1, "day"),
    "2024-12-31": ("2024-12-31", 1, "day"),
    "0001": ("0001-01-01", 365, "year"),
    "9998": ("9998-01-01", 365, "year"),
    "9999-12-30": ("9999-12-30", 1, "day"),
}
NOT_DATES = (
    "2024-03-31T02:30:00",
    "2024-03-31 02:30",
    "2024-10-27T02:30:00 Europe/Paris",
    "2024-11-03T01:30:00 EST",
    "2024-11-03 01:30 America/New_York",
    "2023-02-29",
    "1900-02-29",
    "2100-02-29T00:00:00Z",
    "2024-02-30",
    "2024-04-31",
    "2024-13",
    "2024-00",
    "2024-06-00",
    "0000",
    "0000-01-01",
    "-0044",
    "-0044-03-15",
    "44 BC",
    "0044-03-15 BC",
    "10000",
    "10000-01-01",
    "0001-01-01T00:00:00+01:00",
    "9999-12-31T23:30:00-01:00",
    "2024-06-31T00:00:00Z",
    "2024-06-30T23:59:60Z",
    "2024-06-30T25:00:00Z",
    "24-06-30",
    "06/07/2024",
    "7.6.2024",
    "today",
    "",
)
ZONES = ("UTC", "America/New_York", "Australia/Lord_Howe")


@pytest.fixture(params=ZONES)
def somewhere(request, monkeypatch):
    """The machine lives there, whether or not it has a database of zones: the rules are spelt out."""
    rules = {"America/New_York": "EST5EDT,M3.2.0,M11.1.0", "Australia/Lord_Howe": "LHST-10:30LHDT-11,M10.1.0,M4.1.0"}
    with monkeypatch.context() as patch:
        patch.setenv("TZ", rules.get(request.param, "UTC0"))
        time.tzset()
        yield request.param
    time.tzset()


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def test_the_table_is_as_large_as_it_says_and_the_machine_moves(somewhere):
    assert len(CHANGES) == 6
    assert len(MOMENTS) + len(UNITS) + len(NOT_DATES) >= 60
    assert (time.localtime(utc("2024-07-01T00:00:00").timestamp()).tm_hour == 0) == (somewhere == "UTC")


def test_a_moment_is_one_instant(somewhere):
    for text, moment in MOMENTS.items():
        start = utc(moment)
        dated, asked = read_doc_time(text, "doc_time"), parse_bucket(text, "at")
        assert (dated.at, dated.precision) == (start, "second"), text
        assert (asked.start, asked.end) == (start, start + timedelta(microseconds=1)), text


def test_in_a_sentence_an_offset_makes_an_instant_and_without_one_only_the_day_is_sure(somewhere):
    for text, moment in MOMENTS.items():
        said = parse_time(f"since {text}")
        assert (said.valid_from, said.valid_from_precision) == (utc(moment), "second"), text
        local = parse_time(f"since {text[:19]}")
        assert (local.valid_from, local.valid_from_precision) == (utc(text[:10]), "day"), text
    first, second = (parse_time(f"from 27 October 2024 at 02:30 {zone}").valid_from for zone in ("CEST", "CET"))
    assert second - first == timedelta(hours=1)
    for several in ("IST", "CST", "America/New_York"):
        assert parse_time(f"from 3 November 2024 at 01:30 {several}") is None, "it names several zones, or none we know"


def test_the_two_passes_of_an_hour_are_two_instants(somewhere):
    for *_, (first, _), (second, _) in CHANGES.values():
        assert first[:19] == second[:19], "the same on the wall"
        assert read_doc_time(first, "doc_time").at < read_doc_time(second, "doc_time").at


def test_a_unit_is_all_of_it(somewhere):
    for text, (first, days, precision) in UNITS.items():
        dated, asked = read_doc_time(text, "doc_time"), parse_bucket(text, "at")
        assert (dated.at, dated.precision) == (utc(first), precision), text
        assert (asked.start, asked.end - asked.start) == (utc(first), timedelta(days=days)), text


@pytest.mark.parametrize(("read", "field"), [(read_doc_time, "doc_time"), (parse_bucket, "at")])
def test_what_names_no_instant_is_refused_by_both_doors(somewhere, read, field):
    for text in NOT_DATES:
        with pytest.raises(InvalidInput) as refused:
            read(text, field)
        assert refused.value.facts["field"] == field, text


def test_the_last_year_there_is(somewhere):
    with pytest.raises(InvalidInput):
        read_doc_time("9999", "doc_time")
    asked = parse_bucket("9999", "at")
    assert (asked.start, asked.end) == (utc("9999-01-01"), datetime.max.replace(tzinfo=UTC))


def test_a_document_keeps_seconds_and_a_question_microseconds(somewhere):
    text = "2024-10-27T02:30:00.123456+02:00"
    assert read_doc_time(text, "doc_time").at == utc("2024-10-27T00:30:00")
    assert parse_bucket(text, "at").start == utc("2024-10-27T00:30:00.123456")


def test_a_question_in_any_zone_meets_what_holds_on_either_side_of_the_repeated_hour(database, somewhere):
    """Ann leads until the second pass of 02:30 in Paris, Bo from then on: to the second, by the minute asked."""
    play, change = Play.begin(database), utc("2024-10-27T01:30:00")
    play.say(
        Said("Ann", "leads", "Xi", time=ClaimTime(utc("2024-10-26T00:00:00"), "second", change, "second")),
        Said("Bo", "leads", "Xi", time=ClaimTime(change, "second")),
    )
    asked = {
        "2024-10-27T02:30:00+02:00": ["Ann"],
        "2024-10-27T02:29:59.999999+01:00": ["Ann"],
        "2024-10-27T02:30:00+01:00": ["Bo"],
        "2024-10-26T21:30:00-04:00": ["Bo"],
        "2024-10-27": ["Ann", "Bo"],
        "2024-10-25": [],
    }
    from substrate.reads import entity_facts

    with database.read(play.kb_id) as connection:
        for text, leaders in asked.items():
            answer = entity_facts(connection, play.kb_id, "Xi", resolve(connection, play.kb_id, at=text))
            assert sorted(f["other_name"] for f in answer["facts"]) == leaders, text


def test_record_time_is_asked_to_the_microsecond(database, somewhere):
    """At a transaction's own moment it is seen, a microsecond before it is not, and a bare date means its last one."""
    play = Play.begin(database)
    play.say(Said("Ann", "leads", "Xi", 1))
    with database.read(play.kb_id) as connection:
        at_head = resolve(connection, play.kb_id)
        moment, seq = at_head.recorded_at, at_head.seq
        tick = timedelta(microseconds=1)

        def known(text: str, word: str = "as_of") -> int:
            return resolve(connection, play.kb_id, **{word: text}).seq

        assert known(moment.isoformat()) == known(f"{moment:%Y-%m-%d}") == seq
        assert known((moment - tick).isoformat()) == seq - 1
        assert known(moment.isoformat(), "before") == seq - 1
        assert known((moment + tick).isoformat(), "before") == seq
        assert known(f"{moment - timedelta(days=1):%Y-%m-%d}") == 0
