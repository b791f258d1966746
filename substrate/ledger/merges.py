"""Merging: two entities are one from now on. Facts keep the ids they were written with; reads join the relation."""

from __future__ import annotations

from uuid import UUID, uuid4

from substrate import sql
from substrate.errors import Conflict, NotFound
from substrate.ledger.door import Door
from substrate.ledger.entities import canonical_ids, cluster_members
from substrate.ledger.recompute import recompute
from substrate.ledger.refusals import refused_assertions
from substrate.ontology.store import load_ontology


def merge(door: Door, keep_id: UUID, absorbed_id: UUID, why: str = "") -> UUID:
    """Make `absorbed_id` and everything merged into it resolve to the canonical entity of `keep_id`.

    Returns the merge's id. Raises `NotFound` for an unknown entity and `Conflict` if they are one already.
    """
    known = door.connection.execute(
        sql.query("entities_by_id"), {"kb_id": door.kb_id, "ids": [keep_id, absorbed_id]}
    ).fetchall()
    for wanted, field in ((keep_id, "keep"), (absorbed_id, "absorb")):
        if wanted not in {row["id"] for row in known}:
            raise NotFound(f"{field}: no entity with that id", field=field)
    canonical = canonical_ids(door.connection, door.kb_id, [keep_id, absorbed_id])
    kept, absorbed = canonical.get(keep_id, keep_id), canonical.get(absorbed_id, absorbed_id)
    if kept == absorbed:
        raise Conflict("these two are one entity already", field="absorb")
    members = cluster_members(door.connection, door.kb_id, [kept, absorbed])
    merge_id = uuid4()
    door.insert("merges", [{"id": merge_id, "kept_id": kept, "absorbed_id": absorbed, "why": why}])
    moving = [m for m, c in members.items() if c == absorbed]
    door.close("entity_canonical", [m for m in moving if m != absorbed])
    door.insert("entity_canonical", [{"entity_id": m, "canonical_id": kept, "merge_id": merge_id} for m in moving])
    rows = door.connection.execute(
        sql.query("assertions_of_entities"), {"kb_id": door.kb_id, "ids": list(members)}
    ).fetchall()
    door.close("assertions", refused_assertions(door, rows), "rejected")  # what one of the two was refused, both are
    recompute(door, rows, load_ontology(door.connection, door.kb_id), merging=True)
    return merge_id
