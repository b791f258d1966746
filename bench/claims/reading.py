"""Texts through the real parser, chunker and extractor, without a database."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from bench.claims.ends import iso
from bench.claims.score import Said

if TYPE_CHECKING:
    from substrate.extraction.claims import Claim, ClaimTime, Extractor, Passage

_MARKUP = ("|---", "\n- ", "\n* ", "# ", "**", "\n1. ")


def passages(name: str, text: str, date: dt.date | None) -> list[Passage]:
    """The passages an extractor is given of a document; Markdown if its text shows marks of it, else plain text."""
    from substrate.documents.chunking import chunk
    from substrate.documents.parsing.parse import parse
    from substrate.extraction.keeping import passage_of

    filename = name + (".md" if any(mark in text for mark in _MARKUP) else ".txt")
    document = parse(text.encode(), filename)
    row: dict[str, object] = {
        "filename": filename,
        "title": document.title,
        "document_kind": "file",
        "author": "",
        "openings": [],
        "doc_time": dt.datetime(date.year, date.month, date.day, tzinfo=dt.UTC) if date else None,
        "doc_time_precision": "day" if date else None,
    }
    return [
        passage_of(
            {
                **row,
                "text": draft.text,
                "heading_path": draft.heading_path,
                "cells": {"header": draft.header, "rows": draft.rows} if draft.kind == "table" else None,
            }
        )
        for draft in chunk(document)
    ]


def read(extractor: Extractor, texts: Sequence[tuple[str, str, dt.date | None]]) -> dict[str, list[Said]]:
    """Per name, the claims that may become facts: those with no mood, not denied, whose quote is the passage's."""
    found: dict[str, list[Said]] = {}
    for name, text, date in texts:
        given = passages(name.replace("/", "-"), text, date)
        answers = extractor.extract(given) if given else []
        found[name] = [
            claim for passage, answer in zip(given, answers, strict=True) for claim in _facts(passage, answer.claims)
        ]
    return found


def _facts(passage: Passage, claims: Sequence[Claim]) -> Iterator[Said]:
    for claim in claims:
        quoted = bool(claim.quote) and passage.text[claim.quote_start : claim.quote_end] == claim.quote
        if claim.mood is None and not claim.denies and quoted:
            yield said_of(claim)


def said_of(claim: Claim) -> Said:
    """A claim with its stated end on the last day it includes; ``past`` for one that ended nobody says when."""
    value = claim.value
    return Said(
        claim.subject,
        claim.phrase,
        value.raw if value else claim.object or "",
        value.number if value else None,
        value.unit if value else None,
        iso(claim.time.valid_from),
        _end(claim.time),
    )


def _end(time: ClaimTime) -> str:
    if time.valid_to is None:
        return "past" if time.valid_to_precision == "unknown" else ""
    return iso(time.valid_to - dt.timedelta(seconds=1))
