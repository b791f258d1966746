"""Timelines recomputed from their live assertions, and the facts table brought to agree by a diff.

A fact row that would come out the same is not touched, so that ids outlive rebuilds. A row that changes is closed and
followed by one with the same lineage that names it in ``supersedes``. Every column but the ids is compared, or the
order of arrival would show in the ones that are not.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal
from uuid import UUID

from substrate import sql
from substrate.ledger import _rows
from substrate.ledger._sending import sending
from substrate.ledger.conflict_rows import bring_to_agree
from substrate.ledger.door import Door
from substrate.ledger.entities import merged_into
from substrate.ledger.fact_times import TIME, outcome, time_of, time_values
from substrate.ledger.ids import new_id
from substrate.ledger.lone import WORDS, told_alone
from substrate.ledger.scenes import Row, Scene, Triple, predicate_of, triple_of, value_of
from substrate.ledger.spans import Span
from substrate.ontology.terms import Ontology

_COMPARED = (*TIME, *WORDS, "qualifiers", "grade", "confidence")
Withdrawal = Literal["retracted", "rejected", "parted", "corrected"]


def recompute(
    door: Door,
    touched: Iterable[Row],
    ontology: Ontology,
    *,
    added: bool = False,
    alone: Mapping[UUID, _rows.Ready] | None = None,
    withdrawal: Withdrawal = "retracted",
    merging: bool = False,
    lineages: Mapping[UUID, UUID] | None = None,
    tally: Counter[str] | None = None,
) -> set[UUID]:
    """Recompute every timeline that `touched` assertion rows take part in; returns the lineages that changed.

    `added`: the rows are new and nothing else changed; `alone` are the facts of those that turn out to stand alone, as
    far as they were made before (`facts_if_alone`). `withdrawal` is why a fact that nothing states any more is
    closed, `merging` that one which another fact now speaks for is. `lineages`: assertion → the lineage, held no more,
    that a fact which comes to rest on it again goes on with. `tally` counts what came out otherwise in time, and how.
    """
    rows = list(touched)
    if not rows:
        return set()
    ids = (i for r in rows for i in (r["subject_id"], r["object_id"]) if i is not None)
    scene = Scene(door, ontology, merged_into(door, ids))
    diff = _Diff(scene, withdrawal, merging, lineages or {})
    triples = [triple_of(r, scene.canonical) for r in rows]
    dirty = set(triples)
    changed: set[UUID] = set()
    if added:
        if not lineages:
            dirty -= diff.tell(scene.alone(rows, triples), alone or {})
        rest = [r for r, triple in zip(rows, triples, strict=True) if triple in dirty]
        linked, changed = _add_to_eternal(scene, rest)
        dirty -= linked
    if dirty:
        dirty = scene.load(dirty, correcting=any(r["corrects"] for r in rows))
    changed |= diff.apply(dirty)
    if tally is not None:
        tally.update(diff.tally)
    return changed


def _add_to_eternal(scene: Scene, rows: Sequence[Row]) -> tuple[set[Triple], set[UUID]]:
    """Let held eternal facts rest on new assertions too, without reading what they rest on already.

    A name stated five thousand times would otherwise be read five thousand times more with each batch. Legal since
    such a fact is one row whose columns are each a least or a greatest of what its assertions say. Returns the
    triples that are done and the lineages that changed.
    """
    fresh: dict[Triple, list[Row]] = defaultdict(list)
    for row in rows:
        triple = triple_of(row, scene.canonical)
        if scene.ontology.temporal(predicate_of(triple)) == "eternal":
            fresh[triple].append(row)
    plain = {t for t, new in fresh.items() if not any(r["denies"] or r["corrects"] for r in new)}
    plain -= scene.contested(plain)
    scene.load_facts(plain)
    diff = _Diff(scene, "retracted", False)
    done = set()
    for triple in sorted(plain, key=str):
        held = scene.facts[triple]
        if len(held) == 1 and held[0]["temporal"] == "eternal":
            new = fresh[triple]
            content = _content(Span(), "eternal", [held[0], *new])
            diff.keep(held[0], content, {r["id"] for r in new})
            done.add(triple)
    diff.write([])
    for triple in plain - done:
        scene.facts.pop(triple, None)
    return done, diff.changed


class _Diff:
    """Collects closings and insertions over all dirty triples, then writes them in a few statements."""

    def __init__(
        self, scene: Scene, withdrawal: Withdrawal, merging: bool, lineages: Mapping[UUID, UUID] | None = None
    ) -> None:
        self.scene, self.door = scene, scene.door
        self.former = dict(lineages or {})
        self.given: set[UUID] = set()
        self.withdrawal, self.merging = withdrawal, merging
        self.closing: dict[str, list[UUID]] = defaultdict(list)
        self.facts: list[dict[str, object]] = []
        self.links: dict[UUID, set[UUID]] = {}
        self.wanted: dict[UUID, set[UUID]] = {}
        self.changed: set[UUID] = set()
        self.tally: Counter[str] = Counter()
        self.spans: dict[str, list[Span]] = {}
        self.lineages: dict[str, list[UUID]] = {}

    def tell(self, alone: Mapping[Triple, Row], made: Mapping[UUID, _rows.Ready]) -> set[Triple]:
        """Collect the facts of statements that stand alone, `made` before or here; returns their triples."""
        for triple, row in alone.items():
            if (fact := made.get(row["id"])) is not None:
                self._add(fact, {row["id"]})
                continue
            temporal, spans = self.scene.spans_alone(triple, row)
            for span in spans:
                self._add(told_alone(row, time_values(span, temporal)), {row["id"]})
        return set(alone)

    def apply(self, dirty: set[Triple]) -> set[UUID]:
        """Bring the facts of `dirty` triples to what their timelines say; returns the lineages that changed."""
        held = [f["lineage_id"] for t in dirty for f in self.scene.facts[t]]
        self.links = self._held_links(held)
        with sending(self.door.connection):
            told, self.facts = self.facts, []  # of new lineages, so that nothing has to be closed before them
            self.door.insert("facts", told)
            for name, triple in sorted((value_of(t), t) for t in dirty):
                self._triple(triple, name)
        self.write(held)
        if dirty:
            self._conflicts(set(self.spans))
        return self.changed

    def _conflicts(self, dirty: set[str]) -> None:
        for triple in self.scene.ring:
            _, spans = self.scene.spans(triple)
            held = self.scene.facts[triple]
            self.links |= self._held_links([f["lineage_id"] for f in held])
            found = self._match([(s, {}) for s in spans], held)
            self._keep_place(value_of(triple), spans, [found[i]["lineage_id"] for i in range(len(spans))])
        opened, gone = bring_to_agree(self.scene, self.spans, self.lineages, dirty)
        self.tally.update(conflicts_opened=opened, conflicts_withdrawn=gone)

    def _keep_place(self, name: str, spans: list[Span], lineages: list[UUID]) -> None:
        self.spans[name], self.lineages[name] = spans, lineages

    def _held_links(self, lineages: list[UUID]) -> dict[UUID, set[UUID]]:
        links: dict[UUID, set[UUID]] = defaultdict(set)
        if lineages:
            parameters = {"kb_id": self.door.kb_id, "ids": lineages}
            for row in self.door.connection.execute(sql.query("held_evidence"), parameters).fetchall():
                links[row["lineage_id"]].add(row["assertion_id"])
        return links

    def _triple(self, triple: Triple, name: str) -> None:
        rows = {r["id"]: r for r in self.scene.assertions.get(triple, ())}
        temporal, spans = self.scene.spans(triple, name)
        wanted = [(s, _content(s, temporal, [rows[i] for i in s.support])) for s in spans]
        old = self._match(wanted, self.scene.facts[triple])
        lineages = [old[i]["lineage_id"] if i in old else self._lineage(s) for i, s in enumerate(spans)]
        self._keep_place(name, spans, lineages)
        for i, (span, content) in enumerate(wanted):
            if i in old:
                self.keep(old[i], content, set(span.support))
            else:
                self.tally["added"] += 1
                self._insert({**content, "lineage_id": lineages[i]}, set(span.support))
        kept = {f["id"] for f in old.values()}
        said = bool(spans) or not all(r["denies"] or r["origin"] == "person" for r in rows.values())
        for f in self.scene.facts[triple]:
            if f["id"] not in kept:
                kind = self.withdrawal if not said else "merged" if self.merging and spans else "corrected"
                self.closing[kind].append(f["id"])
                self.wanted.setdefault(f["lineage_id"], set())
                self.tally["withdrawn"] += 1
                self.changed.add(f["lineage_id"])

    def _match(self, wanted: Sequence[tuple[Span, Mapping[str, Any]]], held: Sequence[Row]) -> dict[int, Row]:
        """Which held row each span continues: the same content first, then most shared evidence, then the start.

        The best pair of all goes first, so that a span never takes the row that another one leaves unchanged.
        """
        if not held:
            return {}
        pairs = []
        for i, (span, content) in enumerate(wanted):
            for f in held:
                shared = len(self.links.get(f["lineage_id"], set()).intersection(span.support))
                same, start = _same(f, content), f["valid_from"] == span.start
                if shared or start:
                    pairs.append(((same, shared, start, -f["recorded_seq"], -i), i, f))
        found: dict[int, Row] = {}
        taken: set[UUID] = set()
        for _, i, f in sorted(pairs, key=lambda pair: (pair[0], str(pair[2]["id"])), reverse=True):
            if i not in found and f["id"] not in taken:
                found[i] = f
                taken.add(f["id"])
        return found

    def keep(self, old: Row, content: Mapping[str, Any], support: set[UUID]) -> None:
        """Let a held row stand, or follow it with one of the same lineage where its content differs."""
        if _same(old, content):
            self.wanted[old["lineage_id"]] = support
            return
        if (what := outcome(old, content)) is not None:
            self.tally[what] += 1
        self.closing["corrected"].append(old["id"])
        ids = {"subject_id": old["subject_id"], "object_id": old["object_id"], "lineage_id": old["lineage_id"]}
        self._insert({**content, **ids, "supersedes": old["id"]}, support)

    def _lineage(self, span: Span) -> UUID:
        """The one that most of what the span rests on made up before, each given once; else a new one."""
        if not self.former:
            return new_id()
        known = Counter(self.former[i] for i in span.support if i in self.former)
        free = [lineage for lineage in known if lineage not in self.given]
        if not free:
            return new_id()
        chosen = min(free, key=lambda lineage: (-known[lineage], str(lineage)))
        self.given.add(chosen)
        return chosen

    def _insert(self, fact: dict[str, Any], support: set[UUID]) -> None:
        self._add({**fact, "id": new_id()}, support)

    def _add(self, fact: dict[str, Any], support: set[UUID]) -> None:
        self.facts.append(fact)
        self.wanted[fact["lineage_id"]] = support
        self.changed.add(fact["lineage_id"])

    def write(self, held: list[UUID]) -> None:
        """Closings before insertions, of rows and of links: the unique indexes over held rows are not deferred."""
        for kind, ids in sorted(self.closing.items()):
            self.door.close("facts", ids, kind)
        gone = [(lin, a) for lin in held for a in self.links.get(lin, set()) - self.wanted.get(lin, set())]
        self.door.close_links(sorted(set(gone)))
        with sending(self.door.connection):
            self.door.insert("facts", self.facts)
            self.door.insert("evidence", self._fresh_links())

    def _fresh_links(self) -> list[dict[str, object]]:
        return [
            {"lineage_id": lineage, "assertion_id": a}
            for lineage, support in self.wanted.items()
            for a in sorted(support - self.links[lineage] if lineage in self.links else support)
        ]


def _same(held: Row, content: Mapping[str, Any]) -> bool:
    return bool(content) and all(held[c] == content[c] for c in _COMPARED)


def _content(span: Span, temporal: str, support: Sequence[Row]) -> dict[str, Any]:
    """A fact row's columns but for its ids; what is not time comes from the assertion that says it best."""
    first = support[0]
    if len(support) > 1:
        first = min(support, key=_eternal_rank if temporal == "eternal" else _rank)
    return {
        "subject_id": first["subject_id"],
        "object_id": first["object_id"],
        **{c: first[c] for c in WORDS},
        "qualifiers": min((r["qualifiers"] for r in support if r["qualifiers"]), key=json.dumps, default=[]),
        **time_of(span, temporal),
        "grade": min(r["grade"] for r in support),
        "confidence": max(r["confidence"] for r in support),
        "supersedes": None,
    }


def _rank(row: Row) -> tuple[object, ...]:
    """Order by content, never by arrival: dated before undated, the earlier document first, then the words."""
    attested = row["attested_at"]
    return (row["stated_from"] is None, attested is None, str(attested), row["quote"], row["wording"], *_spelling(row))


def _eternal_rank(row: Row) -> tuple[object, ...]:
    """By columns that a fact keeps, so that a held fact can stand for all it rests on. Mixed case comes first."""
    raw = row["value_raw"] or ""
    return (raw.isupper(), raw.islower(), len(raw), *_spelling(row))


def _spelling(row: Row) -> tuple[str, ...]:
    return tuple(str(row[c] or "") for c in ("value_raw", "phrase", "value_unit", "value_type", "value_number"))
