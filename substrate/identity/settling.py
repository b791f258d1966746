"""Entities that are there brought to what documents tell of them now: merged, parted, names moved, doubts asked.

A merge is made and taken back through the ledger as a person's would be, marked as the pipeline's, and never against a
person's word. A name that turns out to mean another thing than the entity it stands on moves with what its documents
state; where a person had a say in that, it stays, and the pair is put before a person.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID, uuid4

from substrate import sql
from substrate.db import Database
from substrate.identity.evidence import Profile, judge
from substrate.identity.families import Families, load_families, names_on
from substrate.identity.moving import Move, move_names
from substrate.identity.placing import Unit, homes, make_homes, owners, units
from substrate.ledger.door import Door, open_door
from substrate.ledger.entities import canonical_ids
from substrate.ledger.merges import Wanted, merge_many, revert_merge

AT_ONCE = 200
"""Names settled in one transaction."""


def settle(db: Database, kb_id: UUID) -> int:
    """Settle every name that is not, in committed batches; returns in how many transactions."""
    rounds = 0
    while True:
        with db.write(kb_id) as connection:
            with open_door(connection, kb_id, actor="pipeline", via="pipeline", action="identities settled") as door:
                if not _settle_some(door):
                    return rounds
        rounds += 1


def mark_changed_documents(db: Database, kb_id: UUID) -> None:
    """Names of documents that were deleted or came back are to be settled anew."""
    with db.write(kb_id) as connection:
        asked = {"kb_id": kb_id}
        rows = connection.execute(sql.query("identity_documents_gone_or_back"), asked).fetchall()
        if rows:
            entities = {row["entity_id"] for row in rows if row["entity_id"] is not None}
            norms = sorted({row["norm"] for row in rows} | names_on(connection, kb_id, entities))
            connection.execute(sql.query("identity_mark"), {**asked, "norms": norms, "unsettled": True})


def _settle_some(door: Door) -> bool:
    asked = {"kb_id": door.kb_id}
    rows = door.connection.execute(sql.query("identity_unsettled"), {**asked, "limit": AT_ONCE}).fetchall()
    if not rows:
        return False
    norms = {row["norm"] for row in rows}
    families = load_families(door.connection, door.kb_id, norms)
    again = _Settling(door, families).run()
    settled = sorted(({*families.norms} | norms) - again)
    door.connection.execute(sql.query("identity_mark"), {**asked, "norms": settled, "unsettled": False})
    return True


class _Settling:
    """Some families in one transaction."""

    def __init__(self, door: Door, families: Families) -> None:
        self.door, self.families = door, families
        self.clusters = families.partition.clusters
        self.owner, self.home = owners(families), homes(families)
        self.canonical = dict(families.canonical)

    def run(self) -> set[str]:
        """Returns the names that have to be looked at once more."""
        again = self._part()
        busy = {i for i, cluster in enumerate(self.clusters) if again & {p.norm for p in cluster}}
        self._move(busy)
        self._merge(busy)
        self._doubt(busy)
        return again

    def _part(self) -> set[str]:
        """Take back merges that documents do not bear out: one of each cluster at a time, the last first."""
        if not self.owner:
            return set()
        asked = {"kb_id": self.door.kb_id, "ids": sorted(self.owner)}
        merges = self.door.connection.execute(sql.query("identity_automatic_merges"), asked).fetchall()
        group = _groups(merges)
        at: dict[UUID, set[int]] = defaultdict(set)
        for entity in group.keys() & self.owner.keys():
            at[group[entity]].add(self.owner[entity][0])
        mixed = {g for g, clusters in at.items() if len(clusters) > 1}
        again: set[str] = set()
        touched: set[UUID] = set()
        for row in merges:
            kept: UUID = row["kept_id"]
            place = self.canonical.get(kept, kept)
            if group[kept] in mixed:
                if place not in touched:
                    touched.add(place)
                    revert_merge(self.door, row["id"], "documents tell them apart")
                again |= self._names_on(e for e in group if group[e] == group[kept])
        return again

    def _names_on(self, entities: Any) -> set[str]:
        at = {self.owner[e][0] for e in entities if e in self.owner}
        return {p.norm for i in at for p in self.clusters[i]}

    def _move(self, busy: set[int]) -> None:
        strays = [
            (unit, p, entity)
            for unit, p in units(self.families)
            if unit[0] not in busy
            for entity in sorted(p.entities)
            if self.owner[entity] != unit
        ]
        homeless: dict[Unit, list[Profile]] = defaultdict(list)
        for unit, profile, _ in strays:
            if unit not in self.home:
                homeless[unit].append(profile)
        made = make_homes(self.door, homeless)
        self.home |= made
        self.owner |= {entity: unit for unit, entity in made.items()}
        move_names(self.door, [Move(p.norm, p.signature, entity, self.home[unit]) for unit, p, entity in strays])

    def _merge(self, busy: set[int]) -> None:
        by_cluster: dict[int, list[UUID]] = defaultdict(list)
        for entity, (i, _) in self.owner.items():
            by_cluster[i].append(entity)
        several = {i: its for i, its in by_cluster.items() if i not in busy and len(its) > 1}
        if not several:
            return
        asked = {"kb_id": self.door.kb_id, "ids": sorted({e for its in several.values() for e in its})}
        rows = self.door.connection.execute(sql.query("identity_entities"), asked).fetchall()
        # The one that was there first keeps its name; of those that came at once the one that says most.
        order = {row["id"]: (row["recorded_seq"], -len(row["label"]), row["label"], row["id"]) for row in rows}
        wanted = []
        for i, its in sorted(several.items()):
            first, *rest = sorted(its, key=lambda e: order[e])
            place = self.canonical.get(first, first)
            far = [e for e in rest if self.canonical.get(e, e) != place]
            wanted += [Wanted(first, e, _reason(self.clusters[i], first, e)) for e in far]
        if merge_many(self.door, wanted):
            self.canonical |= canonical_ids(self.door.connection, self.door.kb_id, self.families.entities)

    def _doubt(self, busy: set[int]) -> None:
        """Make the pairs that wait for a person those that are in doubt now."""
        wanted: dict[tuple[UUID, UUID], tuple[float, tuple[str, ...]]] = {}
        cluster_of = {p.digest: i for i, cluster in enumerate(self.clusters) for p in cluster}
        for doubt in self.families.partition.doubts:
            ends = {self.home.get((cluster_of[p.digest], p.norm)) for p in doubt.pair} - {None}
            ids = sorted({self.canonical.get(e, e) for e in ends if e is not None})
            if len(ids) == 2 and frozenset(ids) not in self.families.told_apart:
                wanted.setdefault((ids[0], ids[1]), (doubt.score, doubt.reasons))
        sync_doubts(self.door, self.families.entities, wanted)


def sync_doubts(
    door: Door, entities: Sequence[UUID], wanted: Mapping[tuple[UUID, UUID], tuple[float, tuple[str, ...]]]
) -> None:
    """Close the open doubts on these entities that are none any more, and open those that are new."""
    if not entities:
        return
    rows = door.connection.execute(
        sql.query("identity_doubts_on"), {"kb_id": door.kb_id, "ids": list(entities)}
    ).fetchall()
    held = {(row["one_id"], row["other_id"]): row["id"] for row in rows}
    told = {(row["one_id"], row["other_id"]): tuple(row["reasons"]) for row in rows}
    stale = [i for pair, i in held.items() if pair not in wanted or told[pair] != wanted[pair][1]]
    door.close("doubts", stale)
    door.insert(
        "doubts",
        [
            {"id": uuid4(), "one_id": one, "other_id": other, "score": round(score, 6), "reasons": list(reasons)}
            for (one, other), (score, reasons) in sorted(wanted.items())
            if (one, other) not in held or held[one, other] in stale
        ],
    )


def _groups(merges: Sequence[Mapping[str, Any]]) -> dict[UUID, UUID]:
    """Entity → one that stands for all it is joined with by these merges."""
    parent: dict[UUID, UUID] = {}

    def root(x: UUID) -> UUID:
        while (up := parent.setdefault(x, x)) != x:
            x = up
        return x

    for row in merges:
        parent[root(row["kept_id"])] = root(row["absorbed_id"])
    return {e: root(e) for e in parent}


def _reason(cluster: Sequence[Profile], keep: UUID, absorbed: UUID) -> str:
    """The strongest verdict between the two, in words; by way of others where there is none."""
    kept, gone = ([p for p in cluster if e in p.entities] for e in (keep, absorbed))
    verdicts = [judge(a, b) for a in kept for b in gone if a.digest != b.digest]
    best = max((v for v in verdicts if v.strength in ("sure", "likely", "plain")), key=lambda v: v.score, default=None)
    return "; ".join(best.reasons) if best else "each is one with a third"
