"""Absolute dates in languages beside English and Chinese: read where exact, and nothing that only looks so."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from substrate.extraction.times import Anchor, find_times, parse_time

ANCHOR = Anchor(datetime(2024, 11, 15, tzinfo=UTC), "day")


def shown(text: str) -> list[tuple[str, str, str, str, str]]:
    return [
        (
            text[m.start : m.end],
            m.shape,
            m.time.valid_from.date().isoformat() if m.time.valid_from else "",
            m.time.valid_to.date().isoformat() if m.time.valid_to else "",
            m.time.grade,
        )
        for m in find_times(text, ANCHOR)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Der Vertrag wurde am 5. März 2024 unterzeichnet.", "am 5. März 2024|point|2024-03-05|2024-03-06|A"),
        ("Seit Januar 2023 leitet Anna das Projekt.", "Seit Januar 2023|since|2023-01-01||A"),
        ("Bis zum 31. Dezember 2024 gilt der Preis.", "Bis zum 31. Dezember 2024|until||2025-01-01|A"),
        ("vom 5. bis 12. März 2024", "vom 5. bis 12. März 2024|interval|2024-03-05|2024-03-13|A"),
        ("Sie arbeitet seit 2019 bei Acme.", "seit 2019|since|2019-01-01||A"),
        ("Sie kommt am 12. August.", "am 12. August|point|2024-08-12|2024-08-13|B"),
        ("Le contrat a été signé le 5 mars 2024.", "le 5 mars 2024|point|2024-03-05|2024-03-06|A"),
        ("Signé le 1er février 2022.", "le 1er février 2022|point|2022-02-01|2022-02-02|A"),
        ("Elle dirige le projet depuis janvier 2023.", "depuis janvier 2023|since|2023-01-01||A"),
        ("El contrato se firmó el 5 de marzo de 2024.", "el 5 de marzo de 2024|point|2024-03-05|2024-03-06|A"),
        ("Vale hasta el 31 de diciembre de 2024.", "hasta el 31 de diciembre de 2024|until||2025-01-01|A"),
        ("Firmato il 5 maggio 2023.", "il 5 maggio 2023|point|2023-05-05|2023-05-06|A"),
        ("Assinado em 5 de março de 2024.", "em 5 de março de 2024|point|2024-03-05|2024-03-06|A"),
        ("Getekend op 5 maart 2024.", "op 5 maart 2024|point|2024-03-05|2024-03-06|A"),
        ("Подписан 5 марта 2024 года.", "5 марта 2024 года|point|2024-03-05|2024-03-06|A"),
        ("2024年3月5日から東京にいる。", "2024年3月5日から|since|2024-03-05||A"),
        ("令和6年3月5日に署名した。", "令和6年3月5日|point|2024-03-05|2024-03-06|A"),
        ("2024년 3월 5일부터 근무한다.", "2024년 3월 5일부터|since|2024-03-05||A"),
    ],
)
def test_absolute_dates_of_other_languages(text: str, expected: str) -> None:
    assert ["|".join(found) for found in shown(text)] == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "The Mars 2020 rover landed.",
        "Mai leads it.",
        "Mai Tai is a drink.",
        "Der 31. Februar 2024 fällt aus.",
        "Le 30 février 2024 est une erreur.",
        "Seit 2019 Personen zugestimmt haben, gilt es.",
        "Wir haben 2024 Stück.",
        "令和0年",
        "康熙三年五月",
        "Juni ist ein Verlag.",
    ],
)
def test_what_only_looks_like_a_date_is_none(text: str) -> None:
    assert shown(text) == []


@given(st.dates(min_value=date(1000, 1, 1), max_value=date(2999, 12, 31)))
def test_any_day_comes_back_in_every_language(day: date) -> None:
    months = {
        "{d}. {m} {y}": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
        "{d} {m} {y}": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "{d} de {m} de {y}": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    }
    start = datetime(day.year, day.month, day.day, tzinfo=UTC)
    for form, names in months.items():
        words = form.format(d=day.day, m=names.split()[day.month - 1], y=day.year)
        stated = parse_time(words)
        assert stated is not None, words
        assert (stated.valid_from, stated.valid_to) == (start, start + timedelta(1)), words
        assert stated.grade == "A"
