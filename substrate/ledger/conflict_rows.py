"""The rows of ``conflicts`` brought to agree with what contradicts: a diff, like the facts themselves."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any
from uuid import UUID, uuid4

from substrate.ledger.conflict_rules import Found, Side, find
from substrate.ledger.scenes import Row, Scene
from substrate.ledger.spans import Span

GONE = "the statements contradict one another no more"


def bring_to_agree(
    scene: Scene, spans: Mapping[str, Sequence[Span]], lineages: Mapping[str, Sequence[UUID]], dirty: Collection[str]
) -> tuple[int, int]:
    """Raise the conflicts that `dirty` triples are in and withdraw those that they are in no more.

    `spans` and `lineages`, by triple, go together: the facts as they have just been written, rivals included. Returns
    how many were raised and how many withdrawn.
    """
    found = find(scene.settled, spans, dirty, scene.decided if scene.conflicts else frozenset())
    if not found and not scene.conflicts:
        return 0, 0
    open_now = {_key_of_row(scene, c): c for c in scene.conflicts if c["verdict"] is None and _touches(scene, c, dirty)}
    wanted = {_key(f, lineages): f for f in found}
    gone = [c["id"] for key, c in open_now.items() if key not in wanted]
    scene.door.decide_conflicts(gone, "withdrawn", GONE)
    fresh = [f for key, f in wanted.items() if key not in open_now]
    scene.door.insert("conflicts", [_row(scene, f, spans, lineages) for f in fresh])
    return len(fresh), len(gone)


def _touches(scene: Scene, conflict: Row, dirty: Collection[str]) -> bool:
    return any(side in dirty for side in scene.sides(conflict))


def _key(found: Found, lineages: Mapping[str, Sequence[UUID]]) -> tuple[object, ...]:
    sides = {(s.triple, s.said, lineages[s.triple][s.place]) for s in (found.old, found.new)}
    return found.reason, frozenset(sides)


def _key_of_row(scene: Scene, conflict: Row) -> tuple[object, ...]:
    old, new = scene.sides(conflict)
    sides = {
        (old, conflict["old_said"], conflict["old_lineage_id"]),
        (new, conflict["new_said"], conflict["new_lineage_id"]),
    }
    return conflict["reason"], frozenset(sides)


def _row(
    scene: Scene, found: Found, spans: Mapping[str, Sequence[Span]], lineages: Mapping[str, Sequence[UUID]]
) -> dict[str, Any]:
    row: dict[str, Any] = {"id": uuid4(), "reason": found.reason, "reopens": None}
    for name, side in (("old", found.old), ("new", found.new)):
        said = _statement(scene, side, spans)
        row |= {
            "predicate_key": said["predicate_key"],
            "phrase": said["phrase"],
            f"{name}_subject_id": said["subject_id"],
            f"{name}_object_id": said["object_id"],
            f"{name}_value_norm": said["value_norm"],
            f"{name}_said": side.said,
            f"{name}_lineage_id": lineages[side.triple][side.place],
            f"{name}_assertion_id": said["id"],
        }
    return row


def _statement(scene: Scene, side: Side, spans: Mapping[str, Sequence[Span]]) -> Row:
    """The assertion row that a side shows."""
    wanted = side.statement.id if side.statement else spans[side.triple][side.place].support[0]
    return scene.row(wanted)
