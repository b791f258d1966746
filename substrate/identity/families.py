"""Profiles as the database holds them: taken from claims of documents, read back with all they could be one with.

A family is every profile that a chain of verdicts leads to from a name. Its partition depends on nothing outside it, so
that what is read for a batch stays as small as what the batch can change.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from substrate import sql
from substrate.db import AnyConnection, WriteConnection
from substrate.identity.clusters import Partition, compared, partition
from substrate.identity.evidence import Profile, Verdict, judge
from substrate.identity.sightings import Sighting
from substrate.ledger.entities import canonical_ids, cluster_members


def take(connection: WriteConnection, kb_id: UUID, found: Sequence[Sighting], documents: Collection[UUID]) -> set[str]:
    """Keep what these documents tell now in place of what they told. Returns the names of which it changed."""
    rows = [
        {
            "document_id": str(s.document_id),
            "norm": s.norm,
            "surface": s.surface,
            "kind": s.kind,
            "signature": s.signature,
            "features": sorted(s.features),
        }
        for s in found
    ]
    keyed = sorted({(key, s.norm) for s in found for key in s.compared_by()})
    asked = {"kb_id": kb_id}
    connection.execute(
        sql.query("identity_take_keys"), {**asked, "keys": [k for k, _ in keyed], "norms": [n for _, n in keyed]}
    )
    changed = connection.execute(sql.query("identity_take_sightings"), {**asked, "rows": json.dumps(rows)}).fetchall()
    told = _by_document(found, documents)
    gone = connection.execute(sql.query("identity_drop_sightings"), {**asked, **told}).fetchall()
    return {row["norm"] for row in (*changed, *gone)}


def _by_document(found: Sequence[Sighting], documents: Collection[UUID]) -> dict[str, list[object]]:
    """Two lists of one length, of which the second may lack a name: a document that names nothing is told of too."""
    silent = set(documents) - {s.document_id for s in found}
    return {
        "documents": [*(s.document_id for s in found), *sorted(silent)],
        "norms": [*(s.norm for s in found), *("" for _ in silent)],
    }


@dataclass(slots=True)
class Families:
    """Whole families, and who is who among them."""

    profiles: list[Profile] = field(default_factory=list)
    partition: Partition = field(default_factory=Partition)
    canonical: dict[UUID, UUID] = field(default_factory=dict)
    """Entity → its canonical one, for those on which these names stand."""
    told_apart: frozenset[frozenset[UUID]] = frozenset()

    @property
    def norms(self) -> list[str]:
        return sorted({p.norm for p in self.profiles})

    @property
    def entities(self) -> list[UUID]:
        return sorted({e for p in self.profiles for e in p.entities})


def load_families(connection: AnyConnection, kb_id: UUID, norms: Iterable[str]) -> Families:
    """Everything that these names could be one with, directly or by way of others, and its partition."""
    reader, wanted = _Reader(connection, kb_id), set(norms)
    while True:
        profiles = reader.closure(wanted)
        entities = {e for p in profiles for e in p.entities}
        # What was one with these until now may be so no more, and no verdict leads there then.
        more = names_on(connection, kb_id, entities) - {p.norm for p in profiles} - wanted
        if not more:
            break
        wanted |= more
    return Families(
        profiles,
        partition(profiles, reader.judge),
        canonical_ids(connection, kb_id, entities),
        reader.told_apart,
    )


def names_on(connection: AnyConnection, kb_id: UUID, entities: Collection[UUID]) -> set[str]:
    """Under which names documents use these entities and all that are one with them."""
    if not entities:
        return set()
    canonical = canonical_ids(connection, kb_id, entities)
    members = cluster_members(connection, kb_id, {canonical.get(e, e) for e in entities})
    rows = connection.execute(
        sql.query("identity_names_of_entities"), {"kb_id": kb_id, "ids": sorted(members)}
    ).fetchall()
    return {row["norm"] for row in rows}


def forget_document(connection: WriteConnection, kb_id: UUID, document_id: UUID) -> None:
    """Forget what a purged document told of names, and the names that no other document uses."""
    asked = {"kb_id": kb_id}
    rows = connection.execute(sql.query("identity_forget_document"), {**asked, "document_id": document_id}).fetchall()
    norms = sorted({row["norm"] for row in rows})
    connection.execute(sql.query("identity_forget_keys"), {**asked, "norms": norms})
    beside = names_on(connection, kb_id, {row["entity_id"] for row in rows if row["entity_id"] is not None})
    connection.execute(sql.query("identity_mark"), {**asked, "norms": sorted({*norms, *beside}), "unsettled": True})


class _Reader:
    def __init__(self, connection: AnyConnection, kb_id: UUID) -> None:
        self.connection, self.kb_id = connection, kb_id
        self.told_apart: frozenset[frozenset[UUID]] = frozenset()
        self.asked: set[UUID] = set()
        self.verdicts: dict[tuple[str, str], Verdict] = {}

    @property
    def judge(self) -> Callable[[Profile, Profile], Verdict]:
        return self._judge

    def _judge(self, one: Profile, other: Profile) -> Verdict:
        key = (one.digest, other.digest) if one.digest < other.digest else (other.digest, one.digest)
        if key not in self.verdicts:
            self.verdicts[key] = judge(one, other, self.told_apart)
        return self.verdicts[key]

    def closure(self, norms: set[str]) -> list[Profile]:
        """Profiles of these names and of every name that a verdict other than "nothing" leads to."""
        read: dict[str, list[Profile]] = {}
        inside: set[str] = set()
        frontier = set(norms)
        while frontier:
            near = self._neighbours(frontier) | frontier
            self._read(near - read.keys(), read)
            inside |= frontier
            mine = [p for n in frontier for p in read.get(n, ())]
            others = [p for n in near - inside for p in read.get(n, ())]
            frontier = self._reached(mine, others, inside)
        return sorted((p for n in inside for p in read.get(n, ())), key=lambda p: p.digest)

    def _reached(self, mine: Sequence[Profile], others: Sequence[Profile], inside: set[str]) -> set[str]:
        if not others:
            return set()
        of_mine = {p.digest for p in mine}
        reached = set()
        for one, other in compared([*mine, *others], {p.digest for p in mine}):
            far = other if one.digest in of_mine else one
            if far.norm not in inside and self._judge(one, other).strength != "none":
                reached.add(far.norm)
        return reached

    def _neighbours(self, norms: set[str]) -> set[str]:
        rows = self.connection.execute(
            sql.query("identity_neighbours"), {"kb_id": self.kb_id, "norms": sorted(norms)}
        ).fetchall()
        return {row["norm"] for row in rows}

    def _read(self, norms: set[str], into: dict[str, list[Profile]]) -> None:
        if not norms:
            return
        asked = {"kb_id": self.kb_id, "norms": sorted(norms)}
        for row in self.connection.execute(sql.query("identity_profiles_of_names"), asked).fetchall():
            profile = Profile(
                row["norm"],
                row["signature"],
                row["surface"],
                row["kind"],
                frozenset(row["features"]),
                frozenset(row["entities"]),
                row["documents"],
            )
            into.setdefault(profile.norm, []).append(profile)
        fresh = {e for n in norms for p in into.get(n, ()) for e in p.entities} - self.asked
        if fresh:
            self.asked |= fresh
            rows = self.connection.execute(
                sql.query("identity_told_apart"), {"kb_id": self.kb_id, "ids": sorted(fresh)}
            ).fetchall()
            self.told_apart |= {frozenset(row.values()) for row in rows}
