"""Entities are made inside the door, so that a name met twice at once is one entity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from uuid import UUID

from substrate import sql
from substrate.db import AnyConnection
from substrate.ledger._arrays import array_of_ids, takes_arrays
from substrate.ledger.door import Door
from substrate.ledger.drafts import normalise_name
from substrate.ledger.ids import new_id


def canonical_ids(connection: AnyConnection, kb_id: UUID, ids: Iterable[UUID]) -> dict[UUID, UUID]:
    """entity → canonical id as held now, for those that were merged into another; the rest are their own."""
    wanted = set(ids)
    if not wanted:
        return {}
    asked = {"kb_id": kb_id, "ids": array_of_ids(wanted)}
    rows = takes_arrays(connection).execute(sql.query("canonical_of"), asked).fetchall()
    return {row["entity_id"]: row["canonical_id"] for row in rows}


def cluster_members(connection: AnyConnection, kb_id: UUID, canonical: Iterable[UUID]) -> dict[UUID, UUID]:
    """Every member of these clusters (the canonical entities included) → its canonical id."""
    wanted = set(canonical)
    if not wanted:
        return {}
    asked = {"kb_id": kb_id, "ids": array_of_ids(wanted)}
    rows = takes_arrays(connection).execute(sql.query("members_of"), asked).fetchall()
    return {c: c for c in wanted} | {row["entity_id"]: row["canonical_id"] for row in rows}


def merged_into(door: Door, ids: Iterable[UUID]) -> dict[UUID, UUID]:
    """`canonical_ids` inside the door, which knows whether anything is merged at all."""
    return canonical_ids(door.connection, door.kb_id, ids) if door.may_hold("entity_canonical") else {}


def clusters_of(door: Door, canonical: Iterable[UUID]) -> dict[UUID, UUID]:
    """`cluster_members` inside the door, which knows whether anything is merged at all."""
    if door.may_hold("entity_canonical"):
        return cluster_members(door.connection, door.kb_id, canonical)
    return {c: c for c in canonical}


def resolve_names(
    door: Door, names: Mapping[str, str | None], class_of: Mapping[str, str] | None = None
) -> dict[str, UUID]:
    """Surface name → entity id, making the entities that are not there yet.

    `names` maps each surface form to a guess of its kind or None; `class_of` maps kinds to the base's class keys. An
    entity is found by the name it was first met under or by a name it is known by now. The earliest entity wins
    where several bear the name.
    """
    if not names:
        return {}
    norms = {name: normalise_name(name) for name in names}
    rows = door.connection.execute(
        sql.query("entities_named"), {"kb_id": door.kb_id, "norms": sorted(set(norms.values()))}
    ).fetchall()
    found: dict[str, UUID] = {}
    for row in rows:
        found.setdefault(row["norm"], row["id"])
    fresh: dict[str, str] = {}
    for name in sorted(names):  # sorted: which spelling becomes the label must not depend on hashing
        if norms[name] not in found:
            fresh.setdefault(norms[name], name)
    made = {norm: new_id() for norm in fresh}
    door.insert("entities", [{"id": made[n], "label": fresh[n].strip(), "label_norm": n} for n in fresh])
    found |= made
    type_entities(door, {found[norms[name]]: kind for name, kind in names.items() if kind}, class_of or {})
    return {name: found[norm] for name, norm in norms.items()}


def type_entities(door: Door, kinds: Mapping[UUID, str], class_of: Mapping[str, str]) -> None:
    """Give the entities that have no type yet the class that `class_of` maps their kind to."""
    wanted = {entity: class_of[kind] for entity, kind in kinds.items() if kind in class_of}
    if not wanted:
        return
    rows = door.connection.execute(sql.query("held_types"), {"kb_id": door.kb_id, "ids": list(wanted)}).fetchall()
    typed = {row["entity_id"] for row in rows}
    door.insert(
        "entity_types",
        [{"entity_id": e, "type_key": k, "source": "extracted"} for e, k in wanted.items() if e not in typed],
    )
