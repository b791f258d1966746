"""Names that stand nowhere yet get the entity that their cluster is written with; a cluster that has none gets one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

from substrate import sql
from substrate.identity.evidence import Profile
from substrate.identity.families import Families
from substrate.ledger.door import Door
from substrate.ledger.drafts import normalise_name
from substrate.ledger.ids import new_id

Cluster = Sequence[Profile]


def owners(families: Families) -> dict[UUID, int]:
    """Entity → the cluster it stays with, by its place in the partition: that of most documents of those on it."""
    weight: dict[UUID, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for i, cluster in enumerate(families.partition.clusters):
        for profile in cluster:
            for entity in profile.entities:
                weight[entity][i] += profile.documents
    return {e: min(by, key=lambda i: (-by[i], i)) for e, by in weight.items()}


def homes(families: Families) -> dict[int, UUID]:
    """Cluster → the entity that its names are written with: its canonical one if it owns that, else any."""
    found: dict[int, list[UUID]] = defaultdict(list)
    for entity, i in owners(families).items():
        found[i].append(entity)
    canonical = families.canonical
    return {i: min(its, key=lambda e: (canonical.get(e, e) != e, e)) for i, its in found.items()}


def place(door: Door, families: Families) -> None:
    """Give every profile that stands nowhere an entity, and mark the families that have to be settled."""
    home = homes(families)
    lacking = [(i, c) for i, c in enumerate(families.partition.clusters) if i not in home]
    home |= _adopted(door, lacking)
    home |= make_homes(door, [(i, c) for i, c in lacking if i not in home])
    found = [(p.norm, p.signature, home[i]) for i, cluster in enumerate(families.partition.clusters) for p in cluster]
    asked = {"kb_id": door.kb_id}
    placed = {"norms": [n for n, _, _ in found], "signatures": [s for _, s, _ in found]}
    placed_on = {"entities": [e for _, _, e in found]}
    door.connection.execute(sql.query("identity_place_sightings"), {**asked, **placed, **placed_on})
    if unsettled := _unsettled(families):
        door.connection.execute(sql.query("identity_mark"), {**asked, "norms": unsettled, "unsettled": True})


def _unsettled(families: Families) -> list[str]:
    """Names of clusters that stand on more than one entity, or on one that another cluster owns, or are in doubt."""
    owner = owners(families)
    norms: set[str] = set()
    for i, cluster in enumerate(families.partition.clusters):
        on = {e for p in cluster for e in p.entities}
        if len({families.canonical.get(e, e) for e in on}) > 1 or any(owner[e] != i for e in on):
            norms |= {p.norm for p in cluster}
    groups: dict[UUID, set[int]] = defaultdict(set)
    for entity, i in owner.items():
        groups[families.canonical.get(entity, entity)].add(i)
    for mixed in groups.values():
        if len(mixed) > 1:
            norms |= {p.norm for i in mixed for p in families.partition.clusters[i]}
    norms |= {p.norm for d in families.partition.doubts for p in d.pair}
    return sorted(norms)


def _adopted(door: Door, lacking: Sequence[tuple[int, Cluster]]) -> dict[int, UUID]:
    """Clusters that find an entity by name on which no document stands: a person, an import or a memory made it."""
    wanted = {norm: i for i, cluster in reversed(lacking) for p in cluster for norm in (p.norm, _plain(p))}
    if not wanted:
        return {}
    asked = {"kb_id": door.kb_id}
    rows = door.connection.execute(sql.query("entities_named"), {**asked, "norms": sorted(wanted)}).fetchall()
    if not rows:
        return {}
    ids = {"ids": sorted({row["id"] for row in rows})}
    free = {row["id"] for row in door.connection.execute(sql.query("identity_unsighted"), {**asked, **ids}).fetchall()}
    found: dict[int, UUID] = {}
    for row in rows:
        if row["id"] in free and wanted[row["norm"]] not in found:
            found[wanted[row["norm"]]] = row["id"]
            free.discard(row["id"])
    return found


def _plain(profile: Profile) -> str:
    return normalise_name(profile.surface)


def make_homes(door: Door, lacking: Sequence[tuple[int, Cluster]]) -> dict[int, UUID]:
    """A new entity for each of these clusters."""
    made = {i: new_id() for i, _ in lacking}
    rows = []
    for i, cluster in lacking:
        # Which spelling becomes the label must not depend on what came first.
        first = min(cluster, key=lambda p: (-p.documents, p.surface, p.digest))
        rows.append({"id": made[i], "label": first.surface, "label_norm": first.norm})
    door.insert("entities", rows)
    return made
