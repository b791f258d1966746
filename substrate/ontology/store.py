"""The ontology's rows on the record clock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

from substrate import sql
from substrate.db import AnyConnection
from substrate.errors import Conflict
from substrate.ledger.door import Door
from substrate.ontology.bindings import held_decisions
from substrate.ontology.terms import Ontology, OntologyClass, Relation


def load_ontology(connection: AnyConnection, kb_id: UUID) -> Ontology:
    """What the base declares now, with what was decided of phrases."""
    rows = connection.execute(sql.query("held_terms"), {"kb_id": kb_id}).fetchall()
    declared = Ontology(
        classes=tuple(OntologyClass(**r["definition"]) for r in rows if r["kind"] == "class"),
        relations=tuple(Relation(**r["definition"]) for r in rows if r["kind"] != "class"),
    )
    return declared.deciding(held_decisions(connection, kb_id))


def replace_term(door: Door, relation: Relation) -> None:
    """Declare one relation anew. The caller recomputes what rests on it, in the same transaction."""
    held = door.connection.execute(sql.query("held_terms"), {"kb_id": door.kb_id}).fetchall()
    door.close("ontology_terms", [row["id"] for row in held if row["key"] == relation.key])
    row = {"id": uuid4(), "kind": relation.kind, "key": relation.key, "definition": relation.model_dump(mode="json")}
    door.insert("ontology_terms", [row])


def declare(door: Door, ontology: Ontology) -> None:
    """Make `ontology` what the base declares; rows that would come out the same are left alone.

    Only terms are added or changed here; what describes a term may change while facts rest on it. Raises `Conflict`
    where facts rest on a relation whose meaning would change: recomputing them is a verb of its own (`redeclare`).
    """
    wanted: dict[str, tuple[str, dict[str, object]]] = {
        c.key: ("class", c.model_dump(mode="json")) for c in ontology.classes
    }
    wanted |= {r.key: (r.kind, r.model_dump(mode="json")) for r in ontology.relations}
    held = door.connection.execute(sql.query("held_terms"), {"kb_id": door.kb_id}).fetchall()
    same = {row["key"] for row in held if wanted.get(row["key"]) == (row["kind"], row["definition"])}
    stale = [row for row in held if row["key"] not in same]
    meant = [row["key"] for row in stale if not _means_the_same(row, wanted.get(row["key"]))]
    used = door.connection.execute(sql.query("relations_in_use"), {"kb_id": door.kb_id, "keys": meant}).fetchall()
    if used:
        named = ", ".join(sorted(row["predicate_key"] for row in used))
        raise Conflict(f"facts rest on {named}: preview the change and redeclare it", field="ontology")
    door.close("ontology_terms", [row["id"] for row in stale])
    rows = [
        {"id": uuid4(), "kind": kind, "key": key, "definition": definition}
        for key, (kind, definition) in wanted.items()
        if key not in same
    ]
    door.insert("ontology_terms", rows)


_DESCRIBES = frozenset({"description", "iri"})


def _means_the_same(held: Mapping[str, Any], wanted: tuple[str, dict[str, object]] | None) -> bool:
    """Does the new definition differ in nothing that facts are computed from?"""
    if wanted is None or wanted[0] != held["kind"]:
        return False
    keys = held["definition"].keys() | wanted[1].keys()
    return all(held["definition"].get(k) == wanted[1].get(k) for k in keys - _DESCRIBES)
