"""Names that stand nowhere yet get the entity that their cluster writes them with; where there is none, one is made.

Each name of a cluster has an entity of its own, and merges join these: so whatever joins two names can be taken back by
a person, exactly. Namesakes that are one thing share an entity.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from uuid import UUID

from substrate import sql
from substrate.identity.evidence import Profile
from substrate.identity.families import Families
from substrate.ledger.door import Door
from substrate.ledger.drafts import normalise_name
from substrate.ledger.ids import new_id

Unit = tuple[int, str]
"""A cluster by its place in the partition, and a name in it."""


def units(families: Families) -> Iterator[tuple[Unit, Profile]]:
    """Every profile with the unit it belongs to, in the partition's order."""
    for i, cluster in enumerate(families.partition.clusters):
        for profile in cluster:
            yield (i, profile.norm), profile


def owners(families: Families) -> dict[UUID, Unit]:
    """Entity → the unit it stays with: that of most documents of those on it."""
    weight: dict[UUID, dict[Unit, int]] = defaultdict(lambda: defaultdict(int))
    for unit, profile in units(families):
        for entity in profile.entities:
            weight[entity][unit] += profile.documents
    return {e: min(by, key=lambda unit: (-by[unit], unit)) for e, by in weight.items()}


def homes(families: Families) -> dict[Unit, UUID]:
    """Unit → the entity that its name is written with: its canonical one if it owns that, else any."""
    found: dict[Unit, list[UUID]] = defaultdict(list)
    for entity, unit in owners(families).items():
        found[unit].append(entity)
    canonical = families.canonical
    return {unit: min(its, key=lambda e: (canonical.get(e, e) != e, e)) for unit, its in found.items()}


def place(door: Door, families: Families) -> None:
    """Give every profile that stands nowhere an entity, and mark the families that have to be settled."""
    home = homes(families)
    lacking: dict[Unit, list[Profile]] = defaultdict(list)
    for unit, profile in units(families):
        if unit not in home:
            lacking[unit].append(profile)
    home |= _adopted(door, lacking)
    home |= make_homes(door, {unit: its for unit, its in lacking.items() if unit not in home})
    found = [(p.norm, p.signature, home[unit]) for unit, p in units(families)]
    asked = {"kb_id": door.kb_id}
    placed = {"norms": [n for n, _, _ in found], "signatures": [s for _, s, _ in found]}
    placed_on = {"entities": [e for _, _, e in found]}
    door.connection.execute(sql.query("identity_place_sightings"), {**asked, **placed, **placed_on})
    if unsettled := _unsettled(families, home):
        door.connection.execute(sql.query("identity_mark"), {**asked, "norms": unsettled, "unsettled": True})


def _unsettled(families: Families, home: Mapping[Unit, UUID]) -> list[str]:
    """Names that stand on entities not yet one, on one that another owns or is one with, or are in doubt."""
    owner, canonical = owners(families), families.canonical
    norms: set[str] = {p.norm for d in families.partition.doubts for p in d.pair}
    on: dict[int, set[UUID]] = defaultdict(set)
    for unit, profile in units(families):
        on[unit[0]] |= {canonical.get(e, e) for e in (home[unit], *profile.entities)}
        if any(owner[e] != unit for e in profile.entities):
            norms.add(profile.norm)
    clusters: dict[UUID, set[int]] = defaultdict(set)
    for i, entities in on.items():
        for entity in entities:
            clusters[entity].add(i)
    mixed = {i for its in clusters.values() if len(its) > 1 for i in its}
    norms |= {p.norm for (i, _), p in units(families) if len(on[i]) > 1 or i in mixed}
    return sorted(norms)


def _adopted(door: Door, lacking: Mapping[Unit, Sequence[Profile]]) -> dict[Unit, UUID]:
    """Units that find an entity by name on which no document stands: a person, an import or a memory made it, or a
    document that is gone. What a text does not name finds none."""
    wanted = {
        norm: unit
        for unit in sorted(lacking, reverse=True)
        for p in lacking[unit]
        if not p.of("u:")
        for norm in (p.norm, _plain(p))
    }
    if not wanted:
        return {}
    asked = {"kb_id": door.kb_id}
    rows = door.connection.execute(sql.query("entities_named"), {**asked, "norms": sorted(wanted)}).fetchall()
    if not rows:
        return {}
    ids = {"ids": sorted({row["id"] for row in rows})}
    free = {row["id"] for row in door.connection.execute(sql.query("identity_unsighted"), {**asked, **ids}).fetchall()}
    found: dict[Unit, UUID] = {}
    for row in rows:
        if row["id"] in free and wanted[row["norm"]] not in found:
            found[wanted[row["norm"]]] = row["id"]
            free.discard(row["id"])
    return found


def _plain(profile: Profile) -> str:
    return normalise_name(profile.surface)


def make_homes(door: Door, lacking: Mapping[Unit, Sequence[Profile]]) -> dict[Unit, UUID]:
    """A new entity for each of these units."""
    made = {unit: new_id() for unit in lacking}
    rows = []
    for unit, its in lacking.items():
        # Which spelling becomes the label must not depend on what came first.
        first = min(its, key=lambda p: (-p.documents, p.surface, p.digest))
        rows.append({"id": made[unit], "label": first.surface, "label_norm": first.norm})
    door.insert("entities", rows)
    return made
