"""Open statements of what happened on a date, and times that count from what a passage or section told before."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from substrate.extraction.builtin import BuiltinExtractor
from substrate.extraction.claims import Claim, Extraction, Passage
from substrate.settings import Settings

DATED = datetime(2026, 9, 4, tzinfo=UTC)


@pytest.fixture(scope="module")
def extractor() -> BuiltinExtractor:
    return BuiltinExtractor(Settings())


def read(extractor: BuiltinExtractor, text: str, *, dated: bool = True, title: str = "") -> Extraction:
    at, precision = (DATED, "day") if dated else (None, None)
    passage = Passage(text, title=title, document_date=at, document_date_precision=precision)  # type: ignore[arg-type]
    return extractor.extract([passage])[0]


def shown(claim: Claim) -> tuple[str, str, str, str]:
    start = claim.time.valid_from.date().isoformat() if claim.time.valid_from else claim.time.grade
    return claim.subject, claim.phrase, claim.object or (claim.value.raw if claim.value else ""), start


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Last year Quillon opened an office in Lyon.", ("Quillon", "opens", "an office in Lyon", "2025-01-01")),
        ("Quillon entered beta in January 2024.", ("Quillon", "enters", "beta", "2024-01-01")),
        ("上周，码表一代在日本市场开售。", ("码表一代", "开售", "日本市场", "2026-08-24")),
        ("2026年第二季度起，码表主板改用国产芯片。", ("码表主板", "改用", "国产芯片", "2026-04-01")),
        ("两年前，码表一代完成立项。", ("码表一代", "完成", "立项", "2024-01-01")),
        ("2025年码表一代销量突破十万台。", ("码表一代", "销量突破", "十万台", "2025-01-01")),
    ],
)
def test_what_happened_on_a_date_is_an_open_statement(
    extractor: BuiltinExtractor, text: str, expected: tuple[str, str, str, str]
) -> None:
    [claim] = read(extractor, text).claims
    assert shown(claim) == expected
    assert claim.confidence < 0.5
    assert claim.mood is None


@pytest.mark.parametrize(
    "text",
    [
        "Quillon opened an office in Lyon.",
        "码表一代在日本市场开售。",
        "Quillon was named Corvane on 3 May 2021.",
        "Quillon gave it up in 2021.",
        "In 2021 they opened an office.",
    ],
)
def test_without_a_date_or_a_name_nothing_is_stated(extractor: BuiltinExtractor, text: str) -> None:
    assert read(extractor, text).claims == ()


@pytest.mark.parametrize(
    "text",
    [
        "码表二代将在三个月后发布。",
        "会议决定下个月启动码表二代试产。",
        "Next year Quillon will open an office in Lyon.",
        "In 2027 Quillon may open an office in Lyon.",
    ],
)
def test_what_is_only_planned_says_so(extractor: BuiltinExtractor, text: str) -> None:
    [claim] = read(extractor, text).claims
    assert claim.mood in ("planned", "hedged")
    assert claim.time.valid_from is not None


def test_later_counts_from_what_was_told_and_from_nothing_else(extractor: BuiltinExtractor) -> None:
    told = read(extractor, "Quillon entered beta in January 2024. Six months later Quillon reached general release.")
    assert [shown(c)[3] for c in told.claims] == ["2024-01-01", "2024-07-01"]
    assert told.claims[1].time.grade == "B"
    alone = read(extractor, "Six months later Quillon reached general release.")
    assert [shown(c)[3] for c in alone.claims] == ["C"]
    apart = read(extractor, "# A\nQuillon entered beta in 2024.\n# B\nTwo years later Quillon reached general release.")
    assert [shown(c)[3] for c in apart.claims] == ["2024-01-01", "C"]


def test_an_undated_document_still_counts_from_what_it_told(extractor: BuiltinExtractor) -> None:
    text = "Quillon was founded in 1998. Three years after its founding, Quillon released its first compiler."
    assert [shown(c)[3] for c in read(extractor, text, dated=False).claims] == ["1998-01-01", "2001-01-01"]


def test_an_event_that_nobody_dated_dates_nothing(extractor: BuiltinExtractor) -> None:
    told = "码表一代于2024年3月在欧洲上市。上市半年后，码表一代销量突破十万台。"
    assert [shown(c)[3] for c in read(extractor, told).claims] == ["2024-03-01", "2024-09-01"]
    untold = "码表一代于2024年3月在欧洲上市。东莞工厂完成验厂后两个月，码表二代开始试产。"
    assert [shown(c)[3] for c in read(extractor, untold).claims] == ["2024-03-01", "C"]


def test_a_heading_that_is_a_period_dates_what_stands_below_it(extractor: BuiltinExtractor) -> None:
    text = "## 2025年第三季度\n\n码表销量为12万台。\n\n## 供应链\n\n码表由东莞工厂代工。"
    below, elsewhere = read(extractor, text).claims
    assert (shown(below)[3], below.quote) == ("2025-07-01", "码表销量为12万台。")
    assert below.time.valid_to == datetime(2025, 10, 1, tzinfo=UTC)
    assert elsewhere.time.valid_from is None
    assert below.value
    assert (below.value.number, below.value.unit) == (120000, "{台}")


def test_the_words_of_a_dating_heading_are_the_time_words(extractor: BuiltinExtractor) -> None:
    text = (
        "## 2022\n\nQuillon opened a plant in Porto.\n\n### Sales\n\nQuillon sold 14,000 pumps.\n\n"
        "## Company\n\nQuillon sold 9 pumps."
    )
    plant, pumps = read(extractor, text).claims
    assert (shown(plant), plant.time.words) == (("Quillon", "opens", "a plant in Porto", "2022-01-01"), "2022")
    assert shown(pumps) == ("Quillon", "sells", "14,000 pumps", "2022-01-01")
    assert {plant.quote, pumps.quote} == {"Quillon opened a plant in Porto.", "Quillon sold 14,000 pumps."}


def test_a_section_speaks_from_its_own_date(extractor: BuiltinExtractor) -> None:
    week = "## 第{n}周周报\n\n提报日期：{at}\n\n上周，码表一代在{where}市场开售。\n\n"
    text = week.format(n=35, at="2026年8月28日", where="韩国") + week.format(n=36, at="2026年9月4日", where="泰国")
    assert [shown(c)[3] for c in read(extractor, text, dated=False).claims] == ["2026-08-17", "2026-08-24"]
    after = "## 第35周周报\n\n提报日期：2026年8月28日\n\n## 其他\n\n上周，码表一代在韩国市场开售。"
    assert [shown(c)[3] for c in read(extractor, after, dated=False).claims] == ["C"]


def test_a_base_says_how_it_writes_dates_in_figures() -> None:
    passage = Passage("Quillon was founded on 03/04/2024.")
    plain, american = BuiltinExtractor(Settings()), BuiltinExtractor(Settings(numeric_dates="mdy"))
    assert plain.version != american.version
    assert [c.time.valid_from for c in plain.extract([passage])[0].claims] in ([], [None])
    [claim] = american.extract([passage])[0].claims
    assert claim.time.valid_from == datetime(2024, 3, 4, tzinfo=UTC)


def test_one_date_of_a_passage_shows_the_order_of_the_rest(extractor: BuiltinExtractor) -> None:
    text = "Quillon was founded on 03/04/2024. Corvane was founded on 25/12/2023."
    assert [c.time.valid_from for c in read(extractor, text).claims] == [
        datetime(2024, 4, 3, tzinfo=UTC),
        datetime(2023, 12, 25, tzinfo=UTC),
    ]
