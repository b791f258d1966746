"""How many forms of plain business documents the built-in extractor reads, and how many it reads right."""

from __future__ import annotations

from functools import cache

import pytest

from substrate.extraction.builtin import BuiltinExtractor
from substrate.settings import Settings
from tests.substrate.extraction.spelling import spelled
from tests.substrate.extraction.unseen_forms import Case, decoys, everything, score


@cache
def extractor() -> BuiltinExtractor:
    return BuiltinExtractor(Settings())


def test_of_what_is_claimed_nearly_all_is_right_and_of_what_is_said_nearly_all_is_found() -> None:
    result = score(extractor(), everything())
    assert result.precision >= 0.95, result.wrong
    assert result.recall >= 0.90, result.missed


@pytest.mark.parametrize("plain", sorted({plain for plain, _ in decoys()}))
def test_the_plain_twin_of_every_decoy_is_found(plain: str) -> None:
    claims = extractor().extract([Case(plain).passage])[0].claims
    assert [spelled(c) for c in claims if c.mood is None]


def test_the_case_files_are_as_large_as_they_claim() -> None:
    cases = everything()
    assert len(cases) >= 200
    assert len([c for c in cases if c.decoy]) >= 60
    assert len([c for c in cases if any("\u4e00" <= x <= "\u9fff" for x in c.text)]) >= 60


@pytest.mark.parametrize(
    ("text", "wording"),
    [
        ("Quillon Ltd. is based in Leeds.", "is based in"),
        ("Orla Finch was put in charge of Project Sandpiper.", "was put in charge of"),
        ("Orla Finch has been appointed to lead Project Sandpiper.", "has been appointed to lead"),
        ("Orla Finch is the lead of Project Sandpiper.", "is the lead of"),
        ("Orla Finch's monthly salary is EUR 3,000.", "monthly salary"),
        ("Project Sandpiper was led by Orla Finch.", "was led by"),
        ("| Name | Monthly pay (EUR) |\n|---|---|\n| Orla Finch | 3,000 |", "Monthly pay (EUR)"),
        ("于可欣的月薪为21000元。", "月薪"),
        ("测试组隶属于质量部。", "隶属于"),
    ],
)
def test_a_claim_keeps_the_words_of_the_source(text: str, wording: str) -> None:
    assert [c.wording for c in extractor().extract([Case(text).passage])[0].claims] == [wording]
