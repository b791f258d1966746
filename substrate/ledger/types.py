"""What a person says an entity's type is. It beats what was inferred, which beats what was extracted."""

from __future__ import annotations

from uuid import UUID, uuid4

from substrate import sql
from substrate.errors import Conflict, InvalidInput, NotFound
from substrate.ledger.acts import act_id, undo
from substrate.ledger.door import Door
from substrate.ontology.store import load_ontology


def retype(door: Door, entity_id: UUID, type_key: str | None, why: str = "") -> UUID:
    """Give an entity a declared class, or (None) none of them; no guess overrides that.

    Returns the retyping's id. The guesses stay beneath it. Raises `NotFound` for an unknown entity and `InvalidInput`
    for a class that the base does not declare.
    """
    known = door.connection.execute(sql.query("entities_by_id"), {"kb_id": door.kb_id, "ids": [entity_id]}).fetchone()
    if known is None:
        raise NotFound("no entity with that id", field="entity_id")
    if type_key is not None:
        declared = sorted(c.key for c in load_ontology(door.connection, door.kb_id).classes)
        if type_key not in declared:
            listed = ", ".join(declared) or "none"
            raise InvalidInput(f"type_key: no class {type_key!r} is declared; declared: {listed}", field="type_key")
    retyping_id = act_id(door, "retyping")
    door.insert("retypings", [{"id": retyping_id, "entity_id": entity_id, "type_key": type_key, "why": why}])
    _settle(door, entity_id)
    return retyping_id


def revert_retype(door: Door, retyping_id: UUID, why: str = "") -> UUID:
    """Take a person's word on a type back: the one before it counts, or the guess there would be without any.

    Returns the revert's id. Raises `NotFound` for an unknown retyping and `Conflict` if it was reverted before.
    """
    found = door.connection.execute(sql.query("retyping_of_id"), {"kb_id": door.kb_id, "id": retyping_id}).fetchone()
    if found is None:
        raise NotFound("no retyping with that id", field="retyping_id")
    if found["reverted_seq"] is not None:
        raise Conflict(f"this retyping was reverted at seq {found['reverted_seq']}", field="retyping_id")
    revert_id = undo(door, "retyping", retyping_id, why)
    _settle(door, found["entity_id"])
    return revert_id


def _settle(door: Door, entity_id: UUID) -> None:
    asked = {"kb_id": door.kb_id, "entity_id": entity_id}
    last = door.connection.execute(sql.query("last_retyping"), asked).fetchone()
    held = door.connection.execute(sql.query("held_human_type"), asked).fetchone()
    if held is not None and (last is None or last["id"] != held["retyping_id"]):
        door.close("human_types", [held["id"]])
    if last is not None and (held is None or last["id"] != held["retyping_id"]):
        row = {"id": uuid4(), "entity_id": entity_id, "type_key": last["type_key"], "retyping_id": last["id"]}
        door.insert("human_types", [row])
