"""Which relations look as if one value at a time were the rule, though nobody declared it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from substrate import sql
from substrate.axes.as_of import AsOf
from substrate.db import AnyConnection
from substrate.reads.moments import envelope

FEW = 0.05
"""A relation looks unique where at most this share of its holders would wait for a person."""


def uniqueness(conn: AnyConnection, kb_id: UUID, as_of: AsOf) -> dict[str, Any]:
    """Each state relation in use with facts at `as_of`, on either side, those that look unique first.

    ``holders``: ends that bear it (subjects for functional, objects for inverse functional). ``with_several``: those
    with more than one value. ``would_close`` and ``would_review``: facts that a later start would end, and that would
    wait for a person, were it declared so; estimates by start, the preview has the exact figures. ``looks_unique``:
    not declared, some holder has several values, and at most one holder in twenty would wait for a person.
    """
    rows = conn.execute(sql.query("reads_unique_candidates", as_of), sql.parameters(as_of, kb_id=kb_id)).fetchall()
    found = [{**row, "looks_unique": _looks(row)} for row in rows]
    found.sort(key=lambda r: (not r["looks_unique"], -r["would_close"], r["relation"], r["side"]))
    return {"kb_id": str(kb_id), **envelope(as_of), "relations": found}


def _looks(row: dict[str, Any]) -> bool:
    few = row["would_review"] <= FEW * row["holders"]
    return bool(not row["declared"] and row["with_several"] and row["would_close"] and few)
