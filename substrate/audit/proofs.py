"""A proof that one access event is under a seal, and that a seal which a checkpoint names follows from it.

A proof is JSON. Whoever holds it and the checkpoint needs no database::

    {"twoclocks": "access proof", "version": 1, "base": …, "event": "{\\"action\\":…}", "index": 3,
     "path": ["9a0c…", …], "previous": "5f1e…", "seals": [{"number": 12, "sealed_at": …, "events": 17, …}, …]}

``event`` is the canonical text whose bytes were hashed. ``seals`` begins with the event's own, which continues the hash
``previous``, and goes on to the newest one at the time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from substrate import sql
from substrate.audit import merkle
from substrate.audit.seals import Seal, seal_hash
from substrate.db import AnyConnection
from substrate.errors import Conflict, InvalidInput, LedgerDamaged, NotFound

KIND = "access proof"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Proven:
    """What a proof shows: the event's content, the number of its seal, and the last seal that follows from it."""

    event: Mapping[str, Any]
    number: int
    newest: Seal


def prove(connection: AnyConnection, kb_id: UUID, event_id: int) -> dict[str, Any]:
    """The proof of one event. Raises `NotFound`, and `Conflict` where no seal covers it yet."""
    asked = {"kb_id": kb_id, "id": event_id}
    event = connection.execute(sql.query("sealed_event"), asked).fetchone()
    if event is None:
        raise NotFound(f"no access event {event_id} in this base", field="event_id")
    if (number := event["seal"]) is None:
        raise Conflict("this event is not sealed yet; it will be within seconds", field="event_id")
    leaves = connection.execute(sql.query("sealed_leaves"), {"kb_id": kb_id, "number": number}).fetchall()
    hashes = [bytes(row["hash"]) for row in leaves]
    index = next(i for i, row in enumerate(leaves) if row["id"] == event_id)
    seals = connection.execute(sql.query("sealed_seals"), {"kb_id": kb_id, "after": number - 1}).fetchall()
    return {
        "twoclocks": KIND,
        "version": VERSION,
        "base": str(kb_id),
        "event": bytes(event["payload"]).decode(),
        "index": index,
        "path": [sibling.hex() for sibling in merkle.path(hashes, index)],
        "previous": bytes(seals[0]["prev_hash"]).hex(),
        "seals": [
            {
                **{k: seal[k] for k in ("number", "sealed_at", "events", "extractions")},
                "root": bytes(seal["root"]).hex(),
            }
            for seal in seals
        ],
    }


def check_proof(proof: Mapping[str, Any], kb_id: UUID, against: Seal) -> Proven:
    """What a proof shows, given a seal of base `kb_id` that a checkpoint vouches for; no database is needed.

    Raises `InvalidInput` if it is no proof or of another base, `LedgerDamaged` if it does not lead to that seal.
    """
    try:
        if (proof["twoclocks"], proof["version"]) != (KIND, VERSION):
            raise InvalidInput("this is a proof of another kind or version", field="proof")
        if UUID(proof["base"]) != kb_id:
            raise InvalidInput(f"the proof is of base {proof['base']}", field="proof")
        payload = str(proof["event"]).encode()
        siblings = [bytes.fromhex(sibling) for sibling in proof["path"]]
        first = proof["seals"][0]
        size = int(first["events"]) + int(first["extractions"])  # a size of its own could be another's
        reached = merkle.root_of_path(merkle.leaf_hash(payload), int(proof["index"]), size, siblings)
        if reached is None or reached.hex() != first["root"]:
            raise LedgerDamaged("the event is not under the seal that the proof names")
        current, named = bytes.fromhex(proof["previous"]), None
        for seal in proof["seals"]:
            counts = int(seal["events"]), int(seal["extractions"])
            number, root = int(seal["number"]), bytes.fromhex(seal["root"])
            current = seal_hash(current, kb_id, number, str(seal["sealed_at"]), *counts, root)
            named = Seal(number, current)
            if named == against:
                return Proven(json.loads(payload), int(first["number"]), named)
    except (KeyError, ValueError, TypeError, IndexError) as error:
        raise InvalidInput("this is not a proof of an access event", field="proof") from error
    raise LedgerDamaged(f"the proof does not lead to the seal that was signed, number {against.number}")
