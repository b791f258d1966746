"""Timelines recomputed from their live assertions, and the facts table brought to agree by a diff.

A fact row that would come out the same is not touched, so that ids outlive rebuilds. A row that changes is closed and
followed by one with the same lineage that names it in ``supersedes``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from substrate import sql
from substrate.ledger.door import Door
from substrate.ledger.entities import canonical_ids, cluster_members
from substrate.ledger.timelines import Assertion, Span, spans
from substrate.ontology.terms import Ontology

Row = Mapping[str, Any]
Triple = tuple[UUID, str, str]
"""Canonical subject, relation (predicate key or ``phrase:…``), object (canonical id or ``=value``)."""

_COMPARED = (
    "valid_from", "valid_from_precision", "valid_to", "valid_to_precision", "valid_to_origin",
    "attested_from", "attested_to", "holds_from", "holds_to", "temporal", "predicate_key",
)  # fmt: skip
_CARRIED = (
    "predicate_key",
    "phrase",
    "object_id",
    "value_raw",
    "value_norm",
    "value_number",
    "value_unit",
    "value_type",
)


def relation_of(row: Row) -> str:
    """The relation of an assertion or fact row."""
    return row["predicate_key"] or f"phrase:{row['phrase']}"


def triple_of(row: Row, canonical: Mapping[UUID, UUID]) -> Triple:
    """The triple of an assertion or fact row, on canonical ids."""
    subject = canonical.get(row["subject_id"], row["subject_id"])
    if row["object_id"] is not None:
        return subject, relation_of(row), str(canonical.get(row["object_id"], row["object_id"]))
    return subject, relation_of(row), f"={row['value_norm']}"


@dataclass(slots=True)
class _Scene:
    """What a recomputation needs: live assertions and held facts by triple, all on canonical ids."""

    canonical: dict[UUID, UUID]
    assertions: dict[Triple, list[Row]] = field(default_factory=lambda: defaultdict(list))
    facts: dict[Triple, list[Row]] = field(default_factory=lambda: defaultdict(list))
    by_subject: dict[tuple[UUID, str], set[Triple]] = field(default_factory=lambda: defaultdict(set))
    by_object: dict[tuple[str, str], set[Triple]] = field(default_factory=lambda: defaultdict(set))
    seen: set[UUID] = field(default_factory=set)

    def add(self, row: Row) -> None:
        if row["id"] in self.seen:
            return
        self.seen.add(row["id"])
        triple = triple_of(row, self.canonical)
        self.assertions[triple].append(row)
        self.by_subject[triple[0], triple[1]].add(triple)
        self.by_object[triple[2], triple[1]].add(triple)

    def rivals(self, triple: Triple, unique: tuple[bool, bool]) -> set[Triple]:
        functional, inverse = unique
        found: set[Triple] = set()
        if functional:
            found |= self.by_subject[triple[0], triple[1]]
        if inverse:
            found |= self.by_object[triple[2], triple[1]]
        return found - {triple}


def recompute(door: Door, touched: Iterable[Row], ontology: Ontology) -> set[UUID]:
    """Recompute every timeline that `touched` assertion rows take part in; returns the lineages that changed."""
    rows = list(touched)
    if not rows:
        return set()
    ids = {i for r in rows for i in (r["subject_id"], r["object_id"]) if i is not None}
    scene = _Scene(canonical_ids(door.connection, door.kb_id, ids))
    dirty = {triple_of(r, scene.canonical) for r in rows}
    _load(door, scene, dirty, ontology)
    for triple in list(dirty):  # a change moves the ends of whatever shares a unique timeline with it
        dirty |= scene.rivals(triple, ontology.unique(_predicate(triple)))
    _load_far_sides(door, scene, dirty, ontology)
    _load_facts(door, scene, dirty)
    return _Diff(door, scene).apply(dirty, ontology)


def _predicate(triple: Triple) -> str | None:
    return None if triple[1].startswith("phrase:") else triple[1]


def _load(door: Door, scene: _Scene, dirty: set[Triple], ontology: Ontology) -> None:
    _load_by_subject(door, scene, {t[0] for t in dirty}, {t[1] for t in dirty})
    inverse = {t for t in dirty if ontology.unique(_predicate(t))[1]}
    _load_by_object(door, scene, {t[2] for t in inverse}, {t[1] for t in inverse})


def _load_far_sides(door: Door, scene: _Scene, dirty: set[Triple], ontology: Ontology) -> None:
    """A rival on one side may be cut by a stranger on its own other side; load those timelines too."""
    both = {t for t in dirty if all(ontology.unique(_predicate(t)))}
    if both:
        _load_by_subject(door, scene, {t[0] for t in both}, {t[1] for t in both})
        _load_by_object(door, scene, {t[2] for t in both}, {t[1] for t in both})


def _load_by_subject(door: Door, scene: _Scene, subjects: set[UUID], relations: set[str]) -> None:
    members = cluster_members(door.connection, door.kb_id, subjects)
    _fetch(door, scene, "assertions_on_subjects", list(members), relations)


def _load_by_object(door: Door, scene: _Scene, objects: set[str], relations: set[str]) -> None:
    members = cluster_members(door.connection, door.kb_id, {UUID(o) for o in objects if not o.startswith("=")})
    if members:
        _fetch(door, scene, "assertions_on_objects", list(members), relations)


def _fetch(door: Door, scene: _Scene, name: str, ids: list[UUID], relations: set[str]) -> None:
    parameters = {
        "kb_id": door.kb_id,
        "ids": ids,
        "predicates": sorted(r for r in relations if not r.startswith("phrase:")),
        "phrases": sorted(r.removeprefix("phrase:") for r in relations if r.startswith("phrase:")),
    }
    rows = door.connection.execute(sql.query(name), parameters).fetchall()
    strangers = {i for r in rows for i in (r["subject_id"], r["object_id"]) if i is not None}
    scene.canonical |= canonical_ids(door.connection, door.kb_id, strangers - scene.canonical.keys())
    for row in rows:
        scene.add(row)


def _load_facts(door: Door, scene: _Scene, dirty: set[Triple]) -> None:
    members = cluster_members(door.connection, door.kb_id, {t[0] for t in dirty})
    parameters = {
        "kb_id": door.kb_id,
        "ids": list(members),
        "predicates": sorted({t[1] for t in dirty if _predicate(t)}),
        "phrases": sorted({t[1].removeprefix("phrase:") for t in dirty if not _predicate(t)}),
    }
    rows = door.connection.execute(sql.query("held_facts_on_subjects"), parameters).fetchall()
    strangers = {i for r in rows for i in (r["subject_id"], r["object_id"]) if i is not None}
    scene.canonical |= canonical_ids(door.connection, door.kb_id, strangers - scene.canonical.keys())
    for row in rows:
        triple = triple_of(row, scene.canonical)
        if triple in dirty:
            scene.facts[triple].append(row)


def assertion_of(row: Row, triple: Triple, canonical: Mapping[UUID, UUID]) -> Assertion:
    """An assertion row as the timelines see it; a triple is the value rivals are told apart by."""
    replaced = row["replaces"]
    if replaced is not None and not replaced.startswith("="):
        replaced = str(canonical.get(UUID(replaced), replaced))
    return Assertion(
        id=row["id"],
        value=_value(triple),
        replaces=None if replaced is None else _value((triple[0], triple[1], replaced)),
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
    )


def _value(triple: Triple) -> str:
    return "\x1f".join(map(str, triple))


class _Diff:
    """Collects closings and insertions over all dirty triples, then writes them in a few statements."""

    def __init__(self, door: Door, scene: _Scene) -> None:
        self.door, self.scene = door, scene
        self.closing: dict[str, list[UUID]] = defaultdict(list)
        self.facts: list[dict[str, object]] = []
        self.wanted: dict[UUID, set[UUID]] = {}
        self.changed: set[UUID] = set()

    def apply(self, dirty: set[Triple], ontology: Ontology) -> set[UUID]:
        held = [f["lineage_id"] for t in dirty for f in self.scene.facts[t]]
        self.links = self._held_links(held)
        self._taken: set[UUID] = set()
        for triple in sorted(dirty, key=str):
            self._triple(triple, ontology)
        self._gone(dirty)
        self._write(held)
        return self.changed

    def _held_links(self, lineages: list[UUID]) -> dict[UUID, set[UUID]]:
        links: dict[UUID, set[UUID]] = defaultdict(set)
        rows = self.door.connection.execute(
            sql.query("held_evidence"), {"kb_id": self.door.kb_id, "ids": lineages}
        ).fetchall()
        for row in rows:
            links[row["lineage_id"]].add(row["assertion_id"])
        return links

    def _triple(self, triple: Triple, ontology: Ontology) -> None:
        rows = {r["id"]: r for r in self.scene.assertions[triple]}
        if not rows:
            return
        predicate = _predicate(triple)
        rivals = [
            assertion_of(r, t, self.scene.canonical)
            for t in sorted(self.scene.rivals(triple, ontology.unique(predicate)), key=str)
            for r in self.scene.assertions[t]
        ]
        own = [assertion_of(r, triple, self.scene.canonical) for r in rows.values()]
        temporal = ontology.temporal(predicate)
        if predicate is None and all(a.at_event for a in own):
            temporal = "event"  # nobody declared the relation, and every text tells of a happening
        for span in spans(own, rivals, temporal):
            self._span(triple, span, temporal, rows)

    def _span(self, triple: Triple, span: Span, temporal: str, rows: Mapping[UUID, Row]) -> None:
        old = self._match(triple, span)
        content = _content(span, temporal, [rows[i] for i in span.support])
        if old is not None and all(old[c] == content[c] for c in _COMPARED):
            self.wanted[old["lineage_id"]] = set(span.support)
            return
        lineage = old["lineage_id"] if old is not None else uuid4()
        carried = {c: old[c] for c in ("subject_id", *_CARRIED)} if old is not None else {}
        fact = {
            **content,
            **carried,
            "predicate_key": content["predicate_key"],
            "id": uuid4(),
            "lineage_id": lineage,
        }
        fact["supersedes"] = old["id"] if old is not None else None
        if old is not None:
            self.closing["corrected"].append(old["id"])
        self.facts.append(fact)
        self.wanted[lineage] = set(span.support)
        self.changed.add(lineage)

    def _match(self, triple: Triple, span: Span) -> Row | None:
        """The held row this span continues: the one that shares most evidence, then the nearest start."""
        free = [f for f in self.scene.facts[triple] if f["id"] not in self._taken]
        if not free:
            return None
        support = set(span.support)

        def nearness(f: Row) -> tuple[int, bool, int]:
            shared = len(support & self.links.get(f["lineage_id"], set()))
            return shared, f["valid_from"] == span.start, -f["recorded_seq"]

        best = max(free, key=nearness)
        if not support & self.links.get(best["lineage_id"], set()) and best["valid_from"] != span.start:
            return None
        self._taken.add(best["id"])
        return best

    def _gone(self, dirty: set[Triple]) -> None:
        for triple in dirty:
            merged = bool(self.scene.assertions[triple])
            for f in self.scene.facts[triple]:
                if f["id"] not in self._taken:
                    kind = "corrected" if merged else "retracted"
                    self.closing[kind].append(f["id"])
                    self.wanted.setdefault(f["lineage_id"], set())
                    self.changed.add(f["lineage_id"])

    def _write(self, held: list[UUID]) -> None:
        for kind, ids in sorted(self.closing.items()):
            self.door.close("facts", ids, kind)
        self.door.insert("facts", self.facts)
        gone = [
            (lineage, a) for lineage in held for a in self.links.get(lineage, set()) - self.wanted.get(lineage, set())
        ]
        self.door.close_links(sorted(set(gone)))
        fresh = [
            {"lineage_id": lineage, "assertion_id": a}
            for lineage, support in self.wanted.items()
            for a in sorted(support - self.links.get(lineage, set()))
        ]
        self.door.insert("evidence", fresh)


def _content(span: Span, temporal: str, support: Sequence[Row]) -> dict[str, Any]:
    """A fact row's columns but for its ids; what is not time comes from the assertion that says it best."""
    first = min(support, key=_rank)
    holds_from, holds_to = span.holds
    return {
        "subject_id": first["subject_id"],
        **{c: first[c] for c in _CARRIED},
        "qualifiers": next((r["qualifiers"] for r in sorted(support, key=_rank) if r["qualifiers"]), []),
        "temporal": temporal,
        "valid_from": span.start,
        "valid_from_precision": span.start_precision,
        "valid_to": span.end,
        "valid_to_precision": span.end_precision,
        "valid_to_origin": span.end_origin,
        "attested_from": span.attested_from,
        "attested_to": span.attested_to,
        "holds_from": holds_from,
        "holds_to": holds_to,
        "undated": span.undated,
        "grade": min(r["grade"] for r in support),
        "confidence": max(r["confidence"] for r in support),
        "supersedes": None,
    }


def _rank(row: Row) -> tuple[object, ...]:
    """Order by content, never by arrival: dated before undated, the earlier document first, then the words."""
    attested = row["attested_at"]
    return (
        row["stated_from"] is None,
        attested is None,
        str(attested),
        row["quote"],
        row["wording"],
        str(row["value_raw"]),
    )
