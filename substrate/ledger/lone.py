"""Facts of statements that stand alone, as most do: made from the statement, before anything is read.

Whether one does stand alone is asked afterwards (`Scene.alone`); of those that do not, what is made here is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any
from uuid import UUID

from substrate.ledger import _rows
from substrate.ledger.fact_times import TIME, time_alone
from substrate.ledger.ids import new_id
from substrate.ledger.scenes import Row, says_no_more
from substrate.ontology.terms import Ontology

WORDS = ("predicate_key", "phrase", "value_raw", "value_norm", "value_number", "value_unit", "value_type")
_words = itemgetter(*WORDS)


def facts_if_alone(rows: Sequence[Row], ontology: Ontology) -> dict[UUID, _rows.Ready]:
    """assertion → its fact, ready to be written; only of those whose time is read off their columns.

    No fact of a relation that asks for uniqueness, of a person's word or of what contests others.
    """
    found: dict[UUID, dict[str, Any]] = {}
    unique: dict[str | None, bool] = {}
    for row in rows:
        predicate = row["predicate_key"]
        if predicate not in unique:
            unique[predicate] = any(ontology.unique(predicate))
        if unique[predicate] or not says_no_more(row):
            continue
        event = not predicate and row["at_event"]
        times = time_alone(row, "event" if event else ontology.temporal(predicate))
        if times is not None:
            found[row["id"]] = told_alone(row, times)
    return dict(zip(found, _rows.ready("facts", list(found.values())), strict=True))


def told_alone(row: Row, times: Sequence[object]) -> dict[str, Any]:
    """The fact that one statement makes, with ids of its own; `times` are the values of `TIME`."""
    return {
        "id": new_id(),
        "lineage_id": new_id(),
        "subject_id": row["subject_id"],
        "object_id": row["object_id"],
        **dict(zip(WORDS, _words(row), strict=True)),
        "qualifiers": row["qualifiers"] or [],
        **dict(zip(TIME, times, strict=True)),
        "grade": row["grade"],
        "confidence": row["confidence"],
        "supersedes": None,
    }
