"""The built-in extractor against sentences written for it: what they state, and what they do not."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from substrate.extraction.builtin import BuiltinExtractor
from substrate.extraction.claims import Claim, Passage
from substrate.settings import Settings

_HERE = Path(__file__).parent
_CUT = {"year": 4, "month": 7, "day": 10, "hour": 13, "minute": 16, "second": 19}
_ANCHOR = datetime(2026, 3, 2, tzinfo=UTC)


@cache
def extractor() -> BuiltinExtractor:
    return BuiltinExtractor(Settings())


def read(*texts: str, **passage: object) -> list[tuple[Claim, ...]]:
    passages = [Passage(t, document_date=_ANCHOR, document_date_precision="day", **passage) for t in texts]  # type: ignore[arg-type]
    return [e.claims for e in extractor().extract(passages)]


def spelled(claim: Claim) -> str:
    """A claim as the case files write it."""
    t = claim.time
    start = t.valid_from.isoformat()[: _CUT[t.valid_from_precision]] if t.valid_from and t.valid_from_precision else ""
    end = "?" if t.valid_to_precision == "unknown" else ""
    if t.valid_to and t.valid_to_precision:
        end = t.valid_to.isoformat()[: _CUT[t.valid_to_precision]]
    marks = [claim.mood or "", "=" if t.at_event else "", "corrects" if claim.corrects else "", "denies" if claim.denies else ""]
    value = claim.value
    target = claim.object or ""
    if value is not None:
        target = f"{value.number} {value.unit or ''}".strip() if value.number is not None else value.raw
    fields = [claim.subject, claim.phrase, target, start, end, " ".join(m for m in marks if m)]
    while not fields[-1]:
        fields.pop()
    return " | ".join(fields)


def cases(name: str) -> list[tuple[str, frozenset[str]]]:
    found: list[tuple[str, list[str]]] = []
    for line in (_HERE / name).read_text("utf-8").splitlines():
        if line.startswith("> "):
            found.append((line[2:], []))
        elif line.strip() and not line.startswith("#"):
            fields = [f.strip() for f in line.split("|")]
            while not fields[-1]:
                fields.pop()
            found[-1][1].append(" | ".join(fields))
    return [(s, frozenset(c)) for s, c in found]


def twins() -> list[tuple[str, str]]:
    plain, found = "", []
    for line in (_HERE / "builtin_moods.txt").read_text("utf-8").splitlines():
        if line.startswith("+ "):
            plain = line[2:]
        elif line.startswith("- "):
            found.append((plain, line[2:]))
    return found


@pytest.mark.parametrize(("sentence", "expected"), cases("builtin_english.txt") + cases("builtin_chinese.txt"))
def test_a_sentence_yields_what_it_states_and_nothing_else(sentence: str, expected: frozenset[str]) -> None:
    assert {spelled(c) for c in read(sentence)[0]} == expected


@pytest.mark.parametrize(("plain", "other"), twins())
def test_what_is_not_stated_as_so_never_comes_without_its_mood(plain: str, other: str) -> None:
    stated, modal = read(plain, other)
    assert [c for c in stated if c.mood is None], "the twin's fact must be found, or the zero below means nothing"
    assert [spelled(c) for c in modal if c.mood is None and not c.denies] == []


def test_the_case_files_are_as_large_as_they_claim() -> None:
    assert len(cases("builtin_english.txt")) + len(cases("builtin_chinese.txt")) >= 150
    assert len(twins()) >= 50
