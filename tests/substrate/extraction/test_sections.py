"""A date that a section states of itself is what all its chunks count from, and no other section's."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from substrate import sql
from substrate.db import Database
from substrate.documents.intake import PushItem, push
from substrate.documents.stage import run_parse
from substrate.extraction.builtin import BuiltinExtractor
from substrate.extraction.stage import run_claims
from substrate.extraction.times.stated import section_date
from substrate.settings import Settings

_FILLER = "固件团队整理了用户反馈，复核了传感器标定流程，并且更新了内部测试用例清单，没有发现新的阻塞问题。" * 8


def _week(number: int, day: str, place: str) -> str:
    return f"## 第{number}周周报\n\n{day}\n\n{_FILLER}\n\n上周，码表一代在{place}市场开售。\n\n"


def test_a_sections_date_reaches_chunks_that_do_not_show_it(database: Database, kb: UUID) -> None:
    text = (
        "# 周报汇编\n\n"
        + _week(35, "提报日期：2026年8月28日", "韩国")
        + _week(36, "提报日期：2026年9月4日", "泰国")
        + _week(37, "本周无日期。", "巴西")
    )
    push(database, kb, [PushItem("weeks", "weeks.md", text.encode())], actor="person:Ada", via="rest")
    run_parse(database, kb)
    run_claims(database, kb, BuiltinExtractor(Settings()))
    with database.read(kb) as connection:
        rows = connection.execute(sql.query("statements_of_base"), {"kb_id": kb}).fetchall()
    starts = {row["value_raw"]: row["valid_from"] for row in rows if row["phrase"] == "开售"}
    assert starts["韩国市场"] == datetime(2026, 8, 17, tzinfo=UTC)
    assert starts["泰国市场"] == datetime(2026, 8, 24, tzinfo=UTC)
    # The third states none: it counts from the document's own, which is its latest section's.
    assert starts["巴西市场"] == datetime(2026, 8, 24, tzinfo=UTC)
    assert {row["attested_at"] for row in rows} == {datetime(2026, 9, 4, tzinfo=UTC)}


def test_the_innermost_section_with_a_date_counts() -> None:
    outer, inner = "## Week 35\nDate: 2026-08-28\nMore.", "### Day\nDate: 2026-08-27"
    assert section_date([outer, inner]) == (datetime(2026, 8, 27, tzinfo=UTC), "day")
    assert section_date([outer, "### Day\nNo date."]) == (datetime(2026, 8, 28, tzinfo=UTC), "day")
    assert section_date(["## Week 35\nOn 28 August 2026 it rained."]) is None
