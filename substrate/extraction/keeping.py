"""Passages as an extractor is given them, and what it found as rows, written once per chunk and extractor version.

A quote is checked against the chunk here, whatever the extractor promised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid5

from psycopg.types.json import Jsonb

from substrate import sql
from substrate.audit.extractions import content_of
from substrate.db import AnyConnection, WriteConnection
from substrate.extraction.claims import Claim, Drop, Extraction, Known, Passage
from substrate.extraction.times.stated import section_date

KNOWN = 40
"""Things of the rest of the document that a passage is told of: those most spoken of."""
_NAMESPACE = UUID("6f0f8b5e-6e0a-5a52-9d0e-6c1d4a3b2f10")
_EXAMPLE = 200


def held_rows(conn: AnyConnection, kb_id: UUID, ids: Sequence[UUID]) -> list[dict[str, Any]]:
    """Those of the chunks that are held now, with what a reader of the document would know beside them."""
    found = conn.execute(sql.query("stage_passages"), {"kb_id": kb_id, "ids": list(ids)}).fetchall()
    return [row for row in found if row["held"]]


def known_things(
    conn: AnyConnection, kb_id: UUID, extractor: str, ids: Sequence[UUID]
) -> dict[UUID, tuple[Known, ...]]:
    """Per chunk, what `extractor` found the rest of its document to speak of."""
    values = {"kb_id": kb_id, "extractor": extractor, "ids": list(ids), "most": KNOWN}
    rows = conn.execute(sql.query("known_things"), values).fetchall()
    return {row["id"]: tuple(map(Known, row["names"], row["kinds"])) for row in rows}


def passage_of(row: Mapping[str, Any], known: tuple[Known, ...] = ()) -> Passage:
    """What an extractor is given of a row of `held_rows`."""
    cells = row["cells"] or {"header": [], "rows": []}
    date, precision = section_date(row["openings"]) or (row["doc_time"], row["doc_time_precision"])
    return Passage(
        text=row["text"],
        filename=row["filename"],
        title=row["title"],
        heading_path=tuple(row["heading_path"]),
        document_date=date,
        document_date_precision=precision,
        header=tuple(cells["header"]),
        rows=tuple(tuple(cell for cell in cells_of_row) for cells_of_row in cells["rows"]),
        speaker=row["author"] if row["document_kind"] == "memory" else "",
        known=known,
    )


def keep(conn: WriteConnection, kb_id: UUID, key: str, found: Sequence[tuple[Mapping[str, Any], Extraction]]) -> int:
    """Write what was found in rows of `held_rows`; returns how many claims.

    A passage that this extractor has read before keeps what it has: another answer is not mixed into it.
    """
    readings = {row["id"]: _reading(kb_id, key, row, extraction) for row, extraction in found}
    if not readings:
        return 0
    told = [reading.row for reading in readings.values()]
    columns = {f"{name}s": [row[name] for row in told] for name in told[0]}
    values = {"kb_id": kb_id, "extractor": key, **columns}
    new = [readings[row["chunk_id"]] for row in conn.execute(sql.query("keep_readings"), values).fetchall()]
    with conn.cursor() as cursor:
        cursor.executemany(sql.query("stage_keep_drop"), [drop for reading in new for drop in reading.drops])
        claims = [claim for reading in new for claim in reading.claims]
        stored = [{**claim, "qualifiers": Jsonb(claim["qualifiers"])} for claim in claims]
        cursor.executemany(sql.query("stage_keep_claim"), stored)
    return len(claims)


@dataclass(frozen=True, slots=True)
class _Reading:
    row: dict[str, Any]
    claims: list[dict[str, Any]]
    drops: list[dict[str, Any]]


def _reading(kb_id: UUID, key: str, row: Mapping[str, Any], extraction: Extraction) -> _Reading:
    good, drops = _checked(row["text"], extraction)
    base = {"kb_id": kb_id, "chunk_id": row["id"], "extractor": key}
    claims = [{**base, **_claim_row(base, ordinal, claim)} for ordinal, claim in enumerate(good)]
    dropped = [
        {**base, "ordinal": n, "code": d.code, "detail": _storable(d.detail), "example": _storable(d.example)}
        for n, d in enumerate(drops)
    ]
    usage = {f"{kind}_token": extraction.usage.get(f"{kind}_tokens", 0) for kind in ("prompt", "completion")}
    counts = {"claim": len(claims), "drop": len(dropped), "content": content_of(claims, dropped)}
    return _Reading({"chunk_id": row["id"], **usage, **counts}, claims, dropped)


def _storable(text: str) -> str:
    return text.replace("\0", "\ufffd")[:_EXAMPLE]


def _checked(text: str, extraction: Extraction) -> tuple[Sequence[Claim], Sequence[Drop]]:
    """Claims that can be kept, and drops with the reason for those that cannot."""
    good: list[Claim] = []
    drops = list(extraction.drops)
    for claim in extraction.claims:
        problem = _problem(text, claim)
        if problem is None:
            good.append(claim)
        else:
            drops.append(problem)
    return good, drops


def _problem(text: str, claim: Claim) -> Drop | None:
    if not claim.quote or text[claim.quote_start : claim.quote_end] != claim.quote:
        return Drop("quote_not_in_chunk", f"{claim.subject} {claim.phrase}", claim.quote)
    if not claim.subject.strip() or not claim.phrase.strip():
        return Drop("malformed_item", "the subject or the phrase is blank", claim.quote)
    if (claim.object is None) == (claim.value is None) or (claim.object is not None and not claim.object.strip()):
        return Drop("no_object", "needs exactly one of object and value", claim.quote)
    return None


def _claim_row(base: dict[str, Any], ordinal: int, claim: Claim) -> dict[str, Any]:
    value, time = claim.value, claim.time
    return {
        "id": uuid5(_NAMESPACE, f"{base['chunk_id']}|{base['extractor']}|{ordinal}"),
        "ordinal": ordinal,
        "subject": claim.subject,
        "subject_kind": claim.subject_kind,
        "phrase": claim.phrase,
        "wording": claim.wording,
        "object": claim.object,
        "object_kind": claim.object_kind,
        "value_raw": value.raw if value else None,
        "value_number": value.number if value else None,
        "value_unit": value.unit if value else None,
        "value_type": value.datatype if value else None,
        "qualifiers": [list(pair) for pair in claim.qualifiers],
        "quote": claim.quote,
        "quote_start": claim.quote_start,
        "quote_end": claim.quote_end,
        "valid_from": time.valid_from,
        "valid_from_precision": time.valid_from_precision,
        "valid_to": time.valid_to,
        "valid_to_precision": time.valid_to_precision,
        "grade": time.grade,
        "time_words": time.words,
        "at_event": time.at_event,
        "mood": claim.mood,
        "denies": claim.denies,
        "corrects": claim.corrects,
        "confidence": claim.confidence,
    }
