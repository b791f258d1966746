"""Frames that were grown on texts of ten kinds: each sentence gives exactly what is listed of it."""

from __future__ import annotations

from functools import cache

import pytest

from substrate.extraction.builtin import BuiltinExtractor
from substrate.settings import Settings
from tests.substrate.extraction.spelling import spelled
from tests.substrate.extraction.unseen_forms import Case, forms

CASES = forms("general_forms.txt")


@cache
def extractor() -> BuiltinExtractor:
    return BuiltinExtractor(Settings())


@pytest.mark.parametrize("case", CASES, ids=[case.text[:60] for case in CASES])
def test_a_passage_gives_what_is_listed_of_it_and_nothing_else(case: Case) -> None:
    claims = extractor().extract([case.passage])[0].claims
    assert {spelled(c) for c in claims if c.mood is None and not c.denies} - case.allowed == case.expected
