"""A whole relation under another declaration: what the facts would be, read once and computed in memory.

Reads the columns that decide time and no others, so that a hundred thousand facts are a matter of seconds.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID, uuid4

from psycopg.rows import tuple_row

from substrate import sql
from substrate.db import AnyConnection
from substrate.ledger.conflict_rules import RIVALS, Found, Pair, find, pair
from substrate.ledger.fact_times import outcome, time_of
from substrate.ledger.scenes import fix_of
from substrate.ledger.spans import Assertion, Fix, Span
from substrate.ledger.timelines import Timelines
from substrate.ontology.terms import Ontology
from substrate.reads.moments import rfc3339

OUTCOMES = (
    "added",
    "closed",
    "reopened",
    "changed",
    "retyped",
    "withdrawn",
    "conflicts_opened",
    "conflicts_withdrawn",
)


_SEP = "\x1f"


class _Said(NamedTuple):
    """One assertion with the triple it is of and the fact it is evidence of."""

    triple: str
    lineage: UUID | None
    statement: Assertion


@dataclass
class Settled:
    """What a relation would come to."""

    facts: int
    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))


class RelationState:
    """The assertions, held facts and conflicts of one relation, and what they would be under `ontology`."""

    def __init__(self, conn: AnyConnection, kb_id: UUID, ontology: Ontology, relation: str) -> None:
        self.conn, self.kb_id, self.ontology, self.relation = conn, kb_id, ontology, relation
        self._asked = {"kb_id": kb_id, "relation": relation}
        self.temporal = ontology.temporal(relation)
        self.facts: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
        for row in conn.execute(sql.query("fact_times_of_relation"), self._asked):
            self.facts[row["triple"]].append(row)
        self.conflicts = conn.execute(sql.query("conflicts_of_relation"), self._asked).fetchall()
        self.assertions: dict[str, list[Assertion]] = defaultdict(list)
        self._lineage: dict[UUID, UUID] = {}
        for triple, lineage, statement in self._said():
            self.assertions[triple].append(statement)
            if lineage is not None:
                self._lineage[statement.id] = lineage

    def _said(self) -> Iterator[_Said]:
        fixes = self._fixes()
        with self.conn.cursor(row_factory=tuple_row) as cursor:
            for row in cursor.execute(sql.query("assertion_times_of_relation"), self._asked):
                triple, lineage, said, replaces, person, seq, grade, *time = row
                if replaces is not None:
                    replaces = f"{triple.partition(_SEP)[0]}{_SEP}{self.relation}{_SEP}{replaces}"
                rest = (replaces, person, (seq, 0), grade, fixes.get(said))
                yield _Said(triple, lineage, Assertion(*(said, triple, *time, *rest)))

    def _fixes(self) -> dict[UUID, Fix]:
        rows = self.conn.execute(sql.query("corrections_of_relation"), self._asked).fetchall()
        return {r["assertion_id"]: fix_of(r) for r in rows if r["fixes_start"] or r["fixes_end"]}

    def _timelines(self, triple: str) -> tuple[Hashable, ...]:
        functional, inverse = self.ontology.unique(self.relation)
        subject, relation, target = triple.split(_SEP, 2)
        mine = (("subject", subject, relation),) if functional else ()
        return (*mine, ("object", target, relation)) if inverse else mine

    def settle(self, examples: int) -> Settled:
        """What would become of the facts, with at most `examples` of each outcome."""
        unique = any(self.ontology.unique(self.relation))
        shared = {t: self._timelines(t) for t in self.assertions} if unique else {}
        timelines = Timelines(self.assertions, shared, self._together())
        settled = Settled(sum(map(len, self.facts.values())))
        spans: dict[str, list[Span]] = {}
        lineages: dict[str, list[UUID]] = {}
        for triple in self.assertions.keys() | self.facts.keys():
            found = timelines.spans(triple, self.temporal) if triple in self.assertions else []
            spans[triple] = found
            lineages[triple] = self._compare(triple, found, settled, examples)
        self._contradictions(timelines, spans, lineages, settled, examples)
        self._name(settled)
        return settled

    def _compare(self, triple: str, spans: Sequence[Span], settled: Settled, examples: int) -> list[UUID]:
        held = self.facts.get(triple, [])
        old = self._match(spans, held)
        lineages = []
        for i, span in enumerate(spans):
            row = old.get(i)
            lineages.append(row["lineage_id"] if row else uuid4())
            content = time_of(span, self.temporal)
            what = outcome(row, content) if row else "added"
            if what is not None:
                settled.counts[what] += 1
                if len(settled.examples[what]) < examples:
                    settled.examples[what].append({"triple": triple, "before": row, "after": content})
        kept = {f["id"] for f in old.values()}
        for row in held:
            if row["id"] not in kept:
                settled.counts["withdrawn"] += 1
                if len(settled.examples["withdrawn"]) < examples:
                    settled.examples["withdrawn"].append({"triple": triple, "before": row, "after": None})
        return lineages

    def _match(self, spans: Sequence[Span], held: Sequence[Mapping[str, Any]]) -> dict[int, Mapping[str, Any]]:
        """As the recomputation matches them: same content, most shared evidence, same start."""
        if len(spans) == 1 and len(held) == 1:
            return {0: held[0]} if self._akin(spans[0], held[0])[0] else {}
        pairs = []
        for i, span in enumerate(spans):
            for f in held:
                akin, shared, start = self._akin(span, f)
                if akin:
                    same = outcome(f, time_of(span, self.temporal)) is None
                    pairs.append(((same, shared, start, -f["recorded_seq"], -i), i, f))
        found: dict[int, Mapping[str, Any]] = {}
        taken: set[UUID] = set()
        for _, i, f in sorted(pairs, key=lambda p: (p[0], str(p[2]["id"])), reverse=True):
            if i not in found and f["id"] not in taken:
                found[i] = f
                taken.add(f["id"])
        return found

    def _akin(self, span: Span, held: Mapping[str, Any]) -> tuple[bool, int, bool]:
        shared = sum(self._lineage.get(a) == held["lineage_id"] for a in span.support)
        start = held["valid_from"] == span.start
        return bool(shared or start), shared, start

    def _together(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = defaultdict(set)
        for c in self.conflicts:
            if c["verdict"] == "kept_both" and c["reason"] in RIVALS:
                found[c["old_triple"]].add(c["new_triple"])
                found[c["new_triple"]].add(c["old_triple"])
        return found

    def _contradictions(
        self,
        timelines: Timelines,
        spans: Mapping[str, Sequence[Span]],
        lineages: Mapping[str, Sequence[UUID]],
        settled: Settled,
        examples: int,
    ) -> None:
        decided = {_pair_of(c) for c in self.conflicts if c["verdict"] is not None}
        found = {_key(f, lineages): f for f in find(timelines, spans, self.assertions.keys(), decided)}
        held = {_key_of_row(c): c for c in self.conflicts if c["verdict"] is None}
        fresh = [f for key, f in found.items() if key not in held]
        settled.counts["conflicts_opened"] = len(fresh)
        settled.counts["conflicts_withdrawn"] = len(held.keys() - found.keys())
        settled.examples["conflicts_opened"] = [
            {"triple": f.old.triple, "against": f.new.triple, "reason": f.reason} for f in fresh[:examples]
        ]

    def _name(self, settled: Settled) -> None:
        """Examples with names in place of ids."""
        triples = [e[k] for found in settled.examples.values() for e in found for k in ("triple", "against") if k in e]
        ends = {UUID(i) for t in triples for i in t.split(_SEP)[::2] if not i.startswith("=")}
        rows = self.conn.execute(sql.query("entities_by_id"), {"kb_id": self.kb_id, "ids": list(ends)}).fetchall()
        labels = {str(r["id"]): r["label"] for r in rows}
        for outcome_name, found in settled.examples.items():
            settled.examples[outcome_name] = [_shown(e, labels) for e in found]


def _shown(example: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, Any]:
    subject, _, target = example["triple"].split(_SEP, 2)
    shown = {"subject": labels.get(subject, subject), "object": labels.get(target, target.removeprefix("="))}
    if "against" in example:
        rival, _, other = example["against"].split(_SEP, 2)
        shown |= {
            "reason": example["reason"],
            "against_subject": labels.get(rival, rival),
            "against_object": labels.get(other, other.removeprefix("=")),
        }
        return shown
    return {**shown, "before": _period(example["before"]), "after": _period(example["after"])}


def _period(row: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if row is None:
        return None
    wanted = ("temporal", "valid_from_precision", "valid_to_precision", "valid_to_origin", "undated")
    dates = {c: rfc3339(row[c]) for c in ("valid_from", "valid_to")}
    return {**dates, **{c: row[c] for c in wanted}}


def _key(found: Found, lineages: Mapping[str, Sequence[UUID]]) -> tuple[object, ...]:
    sides = {(s.triple, s.said, lineages[s.triple][s.place]) for s in (found.old, found.new)}
    return found.reason, frozenset(sides)


def _key_of_row(conflict: Mapping[str, Any]) -> tuple[object, ...]:
    sides = {(conflict[f"{s}_triple"], conflict[f"{s}_said"], conflict[f"{s}_lineage_id"]) for s in ("old", "new")}
    return conflict["reason"], frozenset(sides)


def _pair_of(conflict: Mapping[str, Any]) -> Pair:
    return pair(conflict["old_triple"], conflict["old_said"], conflict["new_triple"], conflict["new_said"])
