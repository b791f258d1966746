"""The hierarchy of classes in reads: who is of a class, those of every class beneath it included."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from substrate import sql
from substrate.axes.as_of import AsOf
from substrate.db import AnyConnection
from substrate.errors import InvalidInput, NotFound
from substrate.ontology.classes import below, disjoint_pairs
from substrate.ontology.store import load_ontology
from substrate.ontology.terms import Ontology
from substrate.reads.moments import envelope

MOST = 200


def class_card(ontology: Ontology, key: str) -> dict[str, list[str]]:
    """What stands above and beneath a class, and what nothing of it can be."""
    apart = {
        other
        for pair in disjoint_pairs(ontology)
        for mine, others in ((pair.below_left, pair.below_right), (pair.below_right, pair.below_left))
        if key in mine
        for other in others
    }
    above = ontology.ancestors(key) - {key}
    beneath = below(ontology)[key] - {key}
    return {"above": sorted(above), "beneath": sorted(beneath), "apart_from": sorted(apart)}


def entities_of_class(conn: AnyConnection, kb_id: UUID, key: str, as_of: AsOf, *, limit: int = 50) -> dict[str, Any]:
    """Entities that were of a class, or of one beneath it now, at a moment of the record; by name.

    Raises `NotFound` for a class that is not declared and `InvalidInput` for the limit.
    """
    if not 1 <= limit <= MOST:
        raise InvalidInput(f"limit: from 1 to {MOST}", field="limit")
    subtree = below(load_ontology(conn, kb_id))
    if key not in subtree:
        raise NotFound(f"no class {key!r} is declared", field="class_key")
    asked = sql.parameters(as_of, kb_id=kb_id, keys=sorted(subtree[key]), limit=limit)
    rows = conn.execute(sql.query("entities_of_classes", as_of), asked).fetchall()
    total = rows[0]["total"] if rows else 0
    listed = [{"id": str(r["id"]), "name": r["label"], "type_key": r["type_key"]} for r in rows]
    said = {"class": key, "classes": sorted(subtree[key]), "total": total, "truncated": total > len(rows)}
    return {"kb_id": str(kb_id), **envelope(as_of), **said, "entities": listed}
