"""Merging two entities into one, and parting them again. Facts keep the ids they were written with.

What a cluster is follows from the merges in force, taken in the order they were made, each on the two ids a person
named. So the revert of a merge on which a later one was built leaves exactly what the later one alone would have
made, and nothing is ambiguous: each merge joins two clusters, and without any of them the rest still do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from substrate import sql
from substrate.errors import Conflict, NotFound
from substrate.ledger.acts import act_id, act_ids, undo
from substrate.ledger.door import Door
from substrate.ledger.entities import canonical_ids, cluster_members
from substrate.ledger.pending import ask_again
from substrate.ledger.recompute import recompute
from substrate.ledger.refusals import withhold
from substrate.ledger.scenes import Row
from substrate.ontology.store import load_ontology


@dataclass(frozen=True, slots=True)
class Wanted:
    """A merge to be made."""

    keep_id: UUID
    absorbed_id: UUID
    why: str = ""


Place = tuple[UUID, UUID]
"""What an entity is part of: its canonical entity, and the merge that put it there."""


def merge(door: Door, keep_id: UUID, absorbed_id: UUID, why: str = "", *, automatic: bool = False) -> UUID:
    """Make the cluster of `absorbed_id` part of that of `keep_id`, whose canonical entity stays.

    Returns the merge's id. Raises `NotFound` for an unknown entity, `Conflict` if they are one already, and if an
    `automatic` merge would join again what a person parted.
    """
    known = door.connection.execute(
        sql.query("entities_by_id"), {"kb_id": door.kb_id, "ids": [keep_id, absorbed_id]}
    ).fetchall()
    for wanted, field in ((keep_id, "keep"), (absorbed_id, "absorb")):
        if wanted not in {row["id"] for row in known}:
            raise NotFound(f"{field}: no entity with that id", field=field)
    canonical = canonical_ids(door.connection, door.kb_id, [keep_id, absorbed_id])
    clusters = {canonical.get(i, i) for i in (keep_id, absorbed_id)}
    if len(clusters) == 1:
        raise Conflict("these two are one entity already", field="absorb")
    if automatic and parted(door, keep_id, absorbed_id):
        raise Conflict("a person told these two apart", field="absorb")
    members = cluster_members(door.connection, door.kb_id, clusters)
    merge_id = act_id(door, "merge")
    door.insert("merges", [{"id": merge_id, "kept_id": keep_id, "absorbed_id": absorbed_id, "why": why}])
    _settle(door, members)
    return merge_id


def merge_many(door: Door, wanted: Sequence[Wanted]) -> list[UUID]:
    """As `merge`, automatic, for many pairs in a few statements, in their order; returns the ids of those made.

    A pair that is one already by then, and one that a person told apart, is passed over. Raises `NotFound` for an
    unknown entity.
    """
    ids = sorted({i for w in wanted for i in (w.keep_id, w.absorbed_id)})
    if not ids:
        return []
    known = door.connection.execute(sql.query("entities_by_id"), {"kb_id": door.kb_id, "ids": ids}).fetchall()
    if len(known) < len(ids):
        raise NotFound("no entity with one of these ids", field="absorb")
    canonical = canonical_ids(door.connection, door.kb_id, ids)
    members = cluster_members(door.connection, door.kb_id, {canonical.get(i, i) for i in ids})
    asked = {"kb_id": door.kb_id, "ids": list(members)}
    pairs = door.connection.execute(sql.query("parted_pairs"), asked).fetchall()
    apart = [(p["kept_id"], p["absorbed_id"]) for p in pairs]
    place, fresh = dict(members), list[Wanted]()
    for w in wanted:
        keep, gone = place[w.keep_id], place[w.absorbed_id]
        told = any({place.get(a), place.get(b)} == {keep, gone} for a, b in apart)
        if keep != gone and not told:
            fresh.append(w)
            place = {e: keep if at == gone else at for e, at in place.items()}
    merge_ids = act_ids(door, "merge", len(fresh))
    rows = [
        {"id": i, "kept_id": w.keep_id, "absorbed_id": w.absorbed_id, "why": w.why}
        for i, w in zip(merge_ids, fresh, strict=True)
    ]
    door.insert("merges", rows)
    moved = {e for e in members if place[e] in {place[w.keep_id] for w in fresh}}
    _settle(door, moved)
    return merge_ids


def _settle(door: Door, members: Collection[UUID]) -> None:
    """Bring places, what is withheld and facts of these clusters to the merges in force."""
    if not members:
        return
    _place(door, sorted(members))
    rows = _assertions(door, members)
    moved = withhold(door, rows)  # what one of them was refused, all are
    ontology = load_ontology(door.connection, door.kb_id)
    recompute(door, [*rows, *moved], ontology, withdrawal="rejected", merging=True)


def revert_merge(door: Door, merge_id: UUID, why: str = "") -> UUID:
    """Tell the two entities apart again: what is held is what would be, had this merge never been made.

    What was recorded meanwhile stays on the ids it was written with, what a refusal reached through the merge counts
    again, and what was not asked since is asked. Returns the revert's id. Raises `NotFound` for an unknown merge and
    `Conflict` if it was reverted before, or if its entities were moved in this very transaction.
    """
    found = _revertible(door, merge_id)
    canonical = canonical_ids(door.connection, door.kb_id, [found["kept_id"]])
    members = cluster_members(door.connection, door.kb_id, {canonical.get(found["kept_id"], found["kept_id"])})
    if any(r["recorded_seq"] == door.seq for r in _held_places(door, members)):
        raise Conflict("what was merged in this transaction is parted in a later one", field="merge_id")
    rows = _assertions(door, members)
    former = _lineages(door, rows, found["recorded_seq"])
    revert_id = undo(door, "merge", merge_id, why)
    _place(door, list(members))
    moved = withhold(door, rows)
    facts = door.connection.execute(
        sql.query("held_facts_of_entities"), {"kb_id": door.kb_id, "ids": list(members)}
    ).fetchall()
    ontology = load_ontology(door.connection, door.kb_id)
    recompute(door, [*rows, *moved, *facts], ontology, withdrawal="parted", lineages=former)
    ask_again(door, entities=list(members))
    return revert_id


def _revertible(door: Door, merge_id: UUID) -> dict[str, Any]:
    found = door.connection.execute(sql.query("merge_of_id"), {"kb_id": door.kb_id, "id": merge_id}).fetchone()
    if found is None:
        raise NotFound("no merge with that id", field="merge_id")
    if found["reverted_seq"] is not None:
        raise Conflict(f"this merge was reverted at seq {found['reverted_seq']}", field="merge_id")
    return found


def parted(door: Door, one_id: UUID, other_id: UUID) -> bool:
    """Did a person tell these two apart, or two that are one with them now? An automatic merge must leave them so."""
    canonical = canonical_ids(door.connection, door.kb_id, [one_id, other_id])
    ends = {canonical.get(i, i) for i in (one_id, other_id)}
    members = cluster_members(door.connection, door.kb_id, ends)
    pairs = door.connection.execute(sql.query("parted_pairs"), {"kb_id": door.kb_id, "ids": list(members)}).fetchall()
    return len(ends) == 2 and any({members.get(p["kept_id"]), members.get(p["absorbed_id"])} == ends for p in pairs)


def _assertions(door: Door, members: Iterable[UUID]) -> list[dict[str, Any]]:
    return door.connection.execute(
        sql.query("assertions_of_entities"), {"kb_id": door.kb_id, "ids": list(members)}
    ).fetchall()


def _lineages(door: Door, rows: Sequence[Row], seq: int) -> dict[UUID, UUID]:
    """assertion → the lineage it was evidence of until that transaction, where it is held no more."""
    found = door.connection.execute(
        sql.query("lineages_before"), {"kb_id": door.kb_id, "ids": [r["id"] for r in rows], "seq": seq}
    ).fetchall()
    return {row["assertion_id"]: row["lineage_id"] for row in found}


def _place(door: Door, members: Sequence[UUID]) -> None:
    """Bring ``entity_canonical`` to what the merges in force say of these clusters."""
    parameters = {"kb_id": door.kb_id, "ids": list(members)}
    wanted = united(door.connection.execute(sql.query("merges_in_force"), parameters).fetchall())
    held = {r["entity_id"]: (r["canonical_id"], r["merge_id"]) for r in _held_places(door, members)}
    door.close("entity_canonical", [e for e, place in held.items() if wanted.get(e) != place])
    door.insert(
        "entity_canonical",
        [
            {"entity_id": entity, "canonical_id": canonical, "merge_id": merge_id}
            for entity, (canonical, merge_id) in wanted.items()
            if held.get(entity) != (canonical, merge_id)
        ],
    )


def _held_places(door: Door, members: Iterable[UUID]) -> list[dict[str, Any]]:
    return door.connection.execute(sql.query("held_canonical"), {"kb_id": door.kb_id, "ids": list(members)}).fetchall()


def united(merges: Iterable[Mapping[str, Any]]) -> dict[UUID, Place]:
    """entity → its place after these merges, for those that are not their own canonical entity. Pure.

    Each merge names two ids (``kept_id``, ``absorbed_id``) and means the clusters they are in by then.
    """
    places: dict[UUID, Place] = {}
    clusters: dict[UUID, list[UUID]] = {}
    for m in merges:
        kept, absorbed = (places[i][0] if i in places else i for i in (m["kept_id"], m["absorbed_id"]))
        moving = clusters.pop(absorbed, [absorbed])
        clusters.setdefault(kept, [kept]).extend(moving)
        places |= dict.fromkeys(moving, (kept, m["id"]))
    return places
