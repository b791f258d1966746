"""What a recomputation needs to see: live assertions and held facts by triple, all on canonical ids."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from itertools import product
from typing import Any
from uuid import UUID

from substrate import sql
from substrate.ledger._arrays import array_of_ids, array_of_texts
from substrate.ledger.conflict_rules import RIVALS, Pair, pair
from substrate.ledger.door import Door
from substrate.ledger.entities import clusters_of, merged_into
from substrate.ledger.spans import Assertion, Fix, Span, Temporal
from substrate.ledger.timelines import Timelines
from substrate.ontology.terms import Ontology

Row = Mapping[str, Any]
Triple = tuple[UUID, str, str]
"""Canonical subject, relation (predicate key or ``phrase:…``), object (canonical id or ``=value``)."""


def relation_of(row: Row) -> str:
    """The relation of an assertion or fact row."""
    return row["predicate_key"] or f"phrase:{row['phrase']}"


def predicate_of(triple: Triple) -> str | None:
    """The predicate key of a triple, None for a phrase that is bound to no relation."""
    return _bound(triple[1])


def only_ends(start: datetime | None, end_precision: str | None) -> bool:
    """Does a statement speak of an end alone?"""
    return start is None and end_precision is not None


def triple_of(row: Row, canonical: Mapping[UUID, UUID]) -> Triple:
    """The triple of an assertion or fact row, on canonical ids."""
    subject, thing = row["subject_id"], row["object_id"]
    if canonical:  # to hash an id takes longer than all the rest, and mostly there is nothing to look up
        subject, thing = canonical.get(subject, subject), canonical.get(thing, thing)
    return subject, relation_of(row), f"={row['value_norm']}" if thing is None else str(thing)


def _bound(relation: str) -> str | None:
    return None if relation.startswith("phrase:") else relation


def says_no_more(row: Row) -> bool:
    """Is a statement about its own triple alone, and not a person's word?"""
    return not (row["denies"] or row["corrects"] or row["replaces"] or row["origin"] == "person")


class Scene:
    """Loaded in a handful of statements, whatever the number of triples."""

    def __init__(self, door: Door, ontology: Ontology, canonical: dict[UUID, UUID]) -> None:
        self.door, self.ontology, self.canonical = door, ontology, canonical
        self.assertions: dict[Triple, list[Row]] = defaultdict(list)
        self.facts: dict[Triple, list[Row]] = defaultdict(list)
        self._on: dict[Hashable, set[Triple]] = defaultdict(set)
        self._seen: set[UUID] = set()
        self._clusters: dict[UUID, list[UUID]] = {}
        self.conflicts: list[Row] = []
        """Open conflicts near by, and decided ones whose decision counts."""
        self.ring: set[Triple] = set()
        """Rivals of what is recomputed that do not change themselves; their conflicts may."""

    def alone(self, rows: Sequence[Row], triples: Sequence[Triple]) -> dict[Triple, Row]:
        """Those of new statements that no other one can touch, as most are: what follows from one is read off itself.

        No relation asks for uniqueness, it is not a person's word, denies and corrects nothing, and its triple was
        never stated by anything that is held.
        """
        contested = {r for r in {relation_of(row) for row in rows} if any(self.ontology.unique(_bound(r)))}
        found: dict[Triple, Row] = {}
        again: set[Triple] = set()
        for row, triple in zip(rows, triples, strict=True):
            if triple in found:
                again.add(triple)
            found[triple] = row
        found = {t: r for t, r in found.items() if t[1] not in contested and t not in again and says_no_more(r)}
        for triple in self._stated_before(found.keys()):
            found.pop(triple, None)
        return found

    def _stated_before(self, triples: Collection[Triple]) -> set[Triple]:
        """Those of `triples` that something held states, on any id of their clusters, but what was just written.

        Where this transaction wrote assertions more than once, all it wrote counts as stated before.
        """
        known = self.door.connection.execute(sql.query("assertions_have_statistics")).fetchone()
        single = known is not None and known["known"]
        links = {t for t in triples if single and predicate_of(t) and not t[2].startswith("=")}
        seq = self.door.seq + (self.door.statements["assertions"] > 1)
        return self._links_before(links, seq) | self._others_before(set(triples) - links, seq)

    def _links_before(self, links: set[Triple], seq: int) -> set[Triple]:
        if not links:
            return set()
        asked = [(link[0], link[1], UUID(link[2]), link) for link in links]
        if self.door.may_hold("entity_canonical"):
            self._learn_clusters(_ends(links) - self._clusters.keys())
            clusters = ((link, self._clusters[subject], self._clusters[thing]) for subject, _, thing, link in asked)
            asked = [(s, link[1], t, link) for link, subjects, things in clusters for s, t in product(subjects, things)]
        subjects, predicates, objects, places = zip(*asked, strict=True)
        ends = {"subjects": array_of_ids(subjects), "objects": array_of_ids(objects)}
        parameters = {"kb_id": self.door.kb_id, "seq": seq, "predicates": array_of_texts(predicates), **ends}
        rows = self.door.connection.execute(sql.query("links_stated_before"), parameters).fetchall()
        return {places[row["place"] - 1] for row in rows}

    def _others_before(self, triples: set[Triple], seq: int) -> set[Triple]:
        if not triples:
            return set()
        parameters = {**self._parameters(triples), "seq": seq}
        rows = self.door.connection.execute(sql.query("triples_stated_before"), parameters).fetchall()
        return {triple_of(row, self.canonical) for row in self._known(rows)}

    def load(self, dirty: set[Triple], *, correcting: bool) -> set[Triple]:
        """Read what decides the timelines of `dirty`; returns them with every triple that a change of them moves.

        `correcting`: what changed corrects others, or did.
        """
        self._fetch_triples("assertions_of_triples", {t for t in dirty if not self.timelines(t)})
        self._fetch_timelines(dirty)
        dirty = dirty | self._rivals(dirty)
        paired = {t for t in dirty if len(self.timelines(t)) == 2}
        if paired:
            # A rival on one side may be cut by a stranger on its own other side.
            self._fetch_timelines(paired)
            dirty |= self._corrected_far_away(paired, correcting)
            self.ring = self._rivals(dirty) - dirty
            self._fetch_timelines(self.ring)
        self.load_facts(dirty | self.ring)
        self._load_conflicts(dirty)
        return dirty

    def _load_conflicts(self, dirty: set[Triple]) -> None:
        if not self.door.may_hold("conflicts"):
            return
        parameters = self._parameters(dirty | self.ring | self.assertions.keys())
        rows = self.door.connection.execute(sql.query("conflicts_of_subjects"), parameters).fetchall()
        for side in ("old", "new"):
            self._known([{**side_of(row, side), "replaces": None} for row in rows])
        self.conflicts = list(rows)

    def sides(self, conflict: Row) -> tuple[str, str]:
        """The triples of a conflict, old and new, on canonical ids, as the timelines name them."""
        old, new = (triple_of(side_of(conflict, side), self.canonical) for side in ("old", "new"))
        return value_of(old), value_of(new)

    def pair_of(self, conflict: Row) -> Pair:
        """The two statements of a conflict."""
        old, new = self.sides(conflict)
        return pair(old, conflict["old_said"], new, conflict["new_said"])

    @property
    def decided(self) -> set[Pair]:
        """The pairs of statements that a person decided and that stand as decided."""
        return {self.pair_of(c) for c in self.conflicts if c["verdict"] is not None}

    def _together(self) -> dict[str, set[str]]:
        """triple → the rivals that a person let stand beside it."""
        found: dict[str, set[str]] = defaultdict(set)
        for c in self.conflicts:
            if c["verdict"] == "kept_both" and c["reason"] in RIVALS:
                old, new = self.sides(c)
                found[old].add(new)
                found[new].add(old)
        return found

    def _fixes(self) -> dict[UUID, Fix]:
        """assertion → how it fixes a period, for the words of people among what is loaded."""
        words = [r["id"] for rows in self.assertions.values() for r in rows if r["origin"] == "person"]
        if not words:
            return {}
        parameters = {"kb_id": self.door.kb_id, "ids": words}
        rows = self.door.connection.execute(sql.query("corrections_of_assertions"), parameters).fetchall()
        return {r["assertion_id"]: fix_of(r) for r in rows if r["fixes_start"] or r["fixes_end"]}

    def timelines(self, triple: Triple) -> tuple[Hashable, ...]:
        """The timelines that a triple must have to itself: its subject's, its object's, both or none."""
        functional, inverse = self.ontology.unique(predicate_of(triple))
        mine = (("subject", triple[0], triple[1]),) if functional else ()
        return (*mine, ("object", triple[2], triple[1])) if inverse else mine

    def _rivals(self, triples: Iterable[Triple]) -> set[Triple]:
        return {r for t in triples for timeline in self.timelines(t) for r in self._on[timeline]}

    def _corrected_far_away(self, paired: set[Triple], correcting: bool) -> set[Triple]:
        """Where each side is unique, a correction changes what is live, and so what is cut, beyond its own rivals.

        The pairs that hang together are read whole then; without a correction near by none of that can happen.
        """
        pairs = {t for t in self.assertions if len(self.timelines(t)) == 2} | paired
        if not correcting and not self._corrections_beside(pairs):
            return set()
        while True:
            self._fetch_timelines(pairs)
            grown = pairs | {t for t in self.assertions if len(self.timelines(t)) == 2}
            if grown == pairs:
                return pairs
            pairs = grown

    def _corrections_beside(self, triples: set[Triple]) -> bool:
        found = self.door.connection.execute(sql.query("corrections_beside"), self._parameters(triples)).fetchone()
        return found is not None

    def contested(self, triples: set[Triple]) -> set[Triple]:
        """Those of `triples` that live denials or corrections speak about."""
        if not triples:
            return set()
        rows = self.door.connection.execute(sql.query("contests_of_triples"), self._parameters(triples))
        return {triple_of(row, self.canonical) for row in self._known(rows.fetchall())}

    def load_facts(self, triples: set[Triple]) -> None:
        """Read the held facts of `triples`."""
        if not triples:
            return
        rows = self.door.connection.execute(sql.query("held_facts_of_triples"), self._parameters(triples))
        found: dict[Triple, list[Row]] = defaultdict(list)
        for row in self._known(rows.fetchall()):
            triple = triple_of(row, self.canonical)
            if triple in triples:
                found[triple].append(row)
        self.facts.update(found)

    def _fetch_timelines(self, triples: set[Triple]) -> None:
        unique = {t: self.ontology.unique(predicate_of(t)) for t in triples}
        self._fetch_triples("assertions_on_subjects", {t for t in triples if unique[t][0]})
        self._fetch_triples("assertions_on_objects", {t for t in triples if unique[t][1]})

    def _fetch_triples(self, name: str, triples: set[Triple]) -> None:
        if not triples:
            return
        rows = self.door.connection.execute(sql.query(name), self._parameters(triples)).fetchall()
        for row in self._known(rows):
            if row["id"] in self._seen:
                continue
            self._seen.add(row["id"])
            triple = triple_of(row, self.canonical)
            self.assertions[triple].append(row)
            for timeline in self.timelines(triple):
                self._on[timeline].add(triple)

    def _parameters(self, triples: set[Triple]) -> dict[str, object]:
        subjects = {t[0] for t in triples}
        objects = {t[2] for t in triples}
        relations = {t[1] for t in triples}
        things = {UUID(o) for o in objects if not o.startswith("=")}
        if self.door.may_hold("entity_canonical"):
            self._learn_clusters((subjects | things) - self._clusters.keys())
            subjects = {m for c in subjects for m in self._clusters[c]}
            things = {m for c in things for m in self._clusters[c]}
        return {
            "kb_id": self.door.kb_id,
            "ids": array_of_ids(subjects),
            "objects": array_of_ids(things),
            "values": [o[1:] for o in objects if o.startswith("=")],
            "predicates": sorted(r for r in relations if not r.startswith("phrase:")),
            "phrases": sorted(r.removeprefix("phrase:") for r in relations if r.startswith("phrase:")),
        }

    def _learn_clusters(self, canonical: set[UUID]) -> None:
        for member, of in clusters_of(self.door, canonical).items():
            self._clusters.setdefault(of, []).append(member)

    def _known(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """`rows`, once the canonical ids of all they name are known."""
        if not self.door.may_hold("entity_canonical"):
            return rows
        named = {i for r in rows for i in (r["subject_id"], r["object_id"]) if i is not None}
        replaced = {UUID(r["replaces"]) for r in rows if (r.get("replaces") or "=")[0] != "="}
        strangers = (named | replaced) - self.canonical.keys()
        own = {i: i for i in strangers}
        self.canonical |= own | merged_into(self.door, strangers)
        return rows

    def row(self, assertion_id: UUID) -> Row:
        """One of the assertions that are loaded."""
        return self._by_id[assertion_id]

    @cached_property
    def _by_id(self) -> dict[UUID, Row]:
        return {r["id"]: r for rows in self.assertions.values() for r in rows}

    def spans(self, triple: Triple, name: str = "") -> tuple[Temporal, list[Span]]:
        """How the triple lives in time, and the spans in which it held; `name`: its `value_of`, where known."""
        rows = self.assertions.get(triple)
        if not rows:
            return self.ontology.temporal(predicate_of(triple)), []
        temporal = self._temporal(triple, rows)
        return temporal, self.settled.spans(name or value_of(triple), temporal)

    def spans_alone(self, triple: Triple, row: Row) -> tuple[Temporal, list[Span]]:
        """As `spans`, of a statement that stands `alone`."""
        temporal = self._temporal(triple, [row])
        statement = self.statement({**row, "recorded_seq": self.door.seq}, _ALONE)
        return temporal, Timelines({statement.value: [statement]}, {}).spans(statement.value, temporal)

    def _temporal(self, triple: Triple, rows: Sequence[Row]) -> Temporal:
        predicate = predicate_of(triple)
        if predicate is None and all(r["at_event"] for r in rows):
            return "event"  # nobody declared the relation, and every text tells of a happening
        return self.ontology.temporal(predicate)

    @cached_property
    def settled(self) -> Timelines:
        """Asked for once everything is loaded."""
        fixes = self._fixes()
        said, shared = {}, {}
        for triple, rows in self.assertions.items():
            name = value_of(triple)
            shared[name] = self.timelines(triple)
            if rows:
                said[name] = [self._assertion(r, triple, name, fixes) for r in rows]
        return Timelines(said, shared, self._together() if self.conflicts else {})

    def statement(self, row: Row, triple: Triple) -> Assertion:
        """One assertion row by itself, as the timelines see it."""
        return self._assertion(row, triple, value_of(triple), {})

    def _assertion(self, row: Row, triple: Triple, name: str, fixes: Mapping[UUID, Fix]) -> Assertion:
        """An assertion row as the timelines see it; a triple's name is the value rivals are told apart by."""
        replaced = row["replaces"]
        if replaced is not None and not replaced.startswith("="):
            replaced = str(self.canonical.get(UUID(replaced), replaced))
        return Assertion(
            id=row["id"],
            value=name,
            replaces=None if replaced is None else value_of((triple[0], triple[1], replaced)),
            start=row["stated_from"],
            start_precision=row["stated_from_precision"],
            end=row["stated_to"],
            end_precision=row["stated_to_precision"],
            at_event=row["at_event"],
            attested=row["attested_at"],
            denies=row["denies"],
            corrects=row["corrects"],
            person=row["origin"] == "person",
            order=(row["recorded_seq"], 0),
            grade=row["grade"],
            fixes=fixes.get(row["id"]) if fixes else None,
        )


def _ends(triples: Iterable[Triple]) -> set[UUID]:
    """The entities that triples are about."""
    return {t[0] for t in triples} | {UUID(t[2]) for t in triples if not t[2].startswith("=")}


_ALONE: Triple = (UUID(int=0), "", "")  # there is no other value to tell it from


def value_of(triple: Triple) -> str:
    """A triple as the timelines name it."""
    return f"{triple[0]}\x1f{triple[1]}\x1f{triple[2]}"


def side_of(conflict: Row, side: str) -> dict[str, Any]:
    """One side of a conflict as a row with a triple."""
    return {
        "subject_id": conflict[f"{side}_subject_id"],
        "predicate_key": conflict["predicate_key"],
        "phrase": conflict["phrase"],
        "object_id": conflict[f"{side}_object_id"],
        "value_norm": conflict[f"{side}_value_norm"],
    }


def fix_of(row: Row) -> Fix:
    """A row of ``corrections`` with where its fact stood, as the timelines need it."""
    placed = not row["undated"] and (row["holds_from"] is not None or row["holds_to"] is not None)
    return Fix(
        start=row["fixes_start"],
        end=row["fixes_end"],
        sustains=row["kind"] != "closed",
        was=(row["holds_from"], row["holds_to"]) if placed else None,
        seen=frozenset(row["seen"]),
    )
