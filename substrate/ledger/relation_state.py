"""A whole relation under another declaration: what the facts would be, read once and computed in memory.

Reads the columns that decide time and no others, ids as text, and computes one group of rivals after the other: what
lives long is made of texts and dates alone, which the collector of cycles does not look at.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from psycopg.rows import tuple_row

from substrate import sql
from substrate.db import AnyConnection
from substrate.ledger.conflict_rules import RIVALS, Found, Pair, find, pair
from substrate.ledger.fact_times import TIME, outcome_of, time_values
from substrate.ledger.scenes import fix_of
from substrate.ledger.spans import Assertion, Fix, Span
from substrate.ledger.timelines import Timelines
from substrate.ontology.terms import Ontology
from substrate.reads.moments import rfc3339

OUTCOMES = (
    "added", "closed", "reopened", "changed", "retyped", "withdrawn", "conflicts_opened", "conflicts_withdrawn",
)  # fmt: skip
_SEP = "\x1f"
_ID, _LINEAGE, _SEQ, _TIME = 0, 1, 2, 3
Held = tuple[Any, ...]
"""A held fact: id, lineage, recorded_seq, then the values of `TIME`."""


@dataclass
class Settled:
    """What a relation would come to."""

    facts: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))


@dataclass(slots=True)
class _Group:
    """Triples that share no timeline with others: rows of assertions and held facts, by triple."""

    said: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)
    held: dict[str, list[Held]] = field(default_factory=dict)


class RelationState:
    """The assertions, held facts and conflicts of one relation, and what they would be under `ontology`."""

    def __init__(self, conn: AnyConnection, kb_id: UUID, ontology: Ontology, relation: str) -> None:
        self.conn, self.kb_id, self.relation = conn, kb_id, relation
        self.temporal = ontology.temporal(relation)
        self.functional, self.inverse = ontology.unique(relation)
        asked = {"kb_id": kb_id, "relation": relation}
        self.conflicts = conn.execute(sql.query("conflicts_of_relation"), asked).fetchall()
        self.decided = {_pair_of(c) for c in self.conflicts if c["verdict"] is not None}
        self.open = {_key_of_row(c) for c in self.conflicts if c["verdict"] is None}
        fixes = conn.execute(sql.query("corrections_of_relation"), asked).fetchall()
        self.fixes: dict[str, Fix] = {
            str(r["assertion_id"]): fix_of(r) for r in fixes if r["fixes_start"] or r["fixes_end"]
        }
        self.together = self._together()
        with conn.cursor(row_factory=tuple_row) as cursor:
            self._facts = cursor.execute(sql.query("fact_times_of_relation"), asked).fetchall()
            self._said = cursor.execute(sql.query("assertion_times_of_relation"), asked).fetchall()

    def settle(self, examples: int) -> Settled:
        """What would become of the facts, with at most `examples` of each outcome."""
        settled = Settled(facts=len(self._facts))
        for group in self._groups():
            _Judgement(self, group, settled, examples).judge()
        settled.counts["conflicts_withdrawn"] = len(self.open)  # those found again were taken out
        self._name(settled)
        return settled

    def _groups(self) -> Iterator[_Group]:
        groups: dict[str, _Group] = defaultdict(_Group)
        side = "" if self.functional and self.inverse else "object" if self.inverse else "subject"
        for subject, target, *row in self._facts:
            key = target if side == "object" else subject if side else ""
            triple = f"{subject}{_SEP}{self.relation}{_SEP}{target}"
            groups[key].held.setdefault(triple, []).append(tuple(row))
        for subject, target, *row in self._said:
            key = target if side == "object" else subject if side else ""
            triple = f"{subject}{_SEP}{self.relation}{_SEP}{target}"
            groups[key].said.setdefault(triple, []).append(tuple(row))
        yield from groups.values()

    def _together(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = defaultdict(set)
        for c in self.conflicts:
            if c["verdict"] == "kept_both" and c["reason"] in RIVALS:
                found[c["old_triple"]].add(c["new_triple"])
                found[c["new_triple"]].add(c["old_triple"])
        return found

    def timelines(self, triple: str) -> tuple[Hashable, ...]:
        """The timelines that a triple would have to itself."""
        subject, _, target = triple.split(_SEP, 2)
        mine = (("subject", subject),) if self.functional else ()
        return (*mine, ("object", target)) if self.inverse else mine

    def _name(self, settled: Settled) -> None:
        """Examples with names in place of ids."""
        triples = [e[k] for found in settled.examples.values() for e in found for k in ("triple", "against") if k in e]
        ends = {UUID(i) for t in triples for i in t.split(_SEP, 2)[::2] if not i.startswith("=")}
        rows = self.conn.execute(sql.query("entities_by_id"), {"kb_id": self.kb_id, "ids": list(ends)}).fetchall()
        labels = {str(r["id"]): r["label"] for r in rows}
        for what, found in settled.examples.items():
            settled.examples[what] = [_shown(e, labels) for e in found]


class _Judgement:
    """One group under the new declaration."""

    def __init__(self, state: RelationState, group: _Group, settled: Settled, examples: int) -> None:
        self.state, self.group, self.settled, self.examples = state, group, settled, examples
        self.lineage_of: dict[Any, str] = {}
        self.assertions = {t: [self._assertion(t, *r) for r in rows] for t, rows in group.said.items()}
        unique = state.functional or state.inverse
        shared = {t: state.timelines(t) for t in self.assertions} if unique else {}
        self.timelines = Timelines(self.assertions, shared, state.together)

    def _assertion(self, triple: str, lineage: str | None, said: str, replaces: str | None, *rest: Any) -> Assertion:
        person, seq, grade, *time = rest
        if lineage is not None:
            self.lineage_of[said] = lineage
        if replaces is not None:
            replaces = f"{triple.partition(_SEP)[0]}{_SEP}{self.state.relation}{_SEP}{replaces}"
        fixes = self.state.fixes.get(said) if person else None
        values: Sequence[Any] = (said, triple, *time, replaces, person, (seq, 0), grade, fixes)
        return Assertion(*values)

    def judge(self) -> None:
        """Count what comes out otherwise."""
        spans: dict[str, list[Span]] = {}
        lineages: dict[str, list[Any]] = {}
        for triple in self.assertions.keys() | self.group.held.keys():
            found = self.timelines.spans(triple, self.state.temporal) if triple in self.assertions else []
            spans[triple] = found
            lineages[triple] = self._compare(triple, found)
        dirty = self.assertions.keys()
        for found_one in find(self.timelines, spans, dirty, self.state.decided):
            key = _key(found_one, lineages)
            if key in self.state.open:
                self.state.open.discard(key)
                continue
            sides = {"triple": found_one.old.triple, "against": found_one.new.triple, "reason": found_one.reason}
            self._count("conflicts_opened", sides)

    def _count(self, what: str, example: dict[str, Any]) -> None:
        self.settled.counts[what] += 1
        if len(self.settled.examples[what]) < self.examples:
            self.settled.examples[what].append(example)

    def _compare(self, triple: str, spans: Sequence[Span]) -> list[Any]:
        held = self.group.held.get(triple, [])
        values = [time_values(span, self.state.temporal) for span in spans]
        old = self._match(spans, values, held)
        lineages: list[Any] = []
        for i, content in enumerate(values):
            row = old.get(i)
            lineages.append(row[_LINEAGE] if row else object())
            what = outcome_of(row[_TIME:], content) if row else "added"
            if what is not None:
                self._count(what, {"triple": triple, "before": row and row[_TIME:], "after": content})
        if len(old) < len(held):
            kept = {f[_ID] for f in old.values()}
            for row in held:
                if row[_ID] not in kept:
                    self._count("withdrawn", {"triple": triple, "before": row[_TIME:], "after": None})
        return lineages

    def _match(self, spans: Sequence[Span], values: Sequence[tuple[Any, ...]], held: Sequence[Held]) -> dict[int, Held]:
        """As the recomputation matches them: same content, most shared evidence, same start."""
        if len(spans) == 1 and len(held) == 1 and held[0][_TIME + 1] == spans[0].start:
            return {0: held[0]}
        pairs = []
        for i, span in enumerate(spans):
            for f in held:
                shared = sum(self.lineage_of.get(a) == f[_LINEAGE] for a in span.support)
                same, start = f[_TIME:] == values[i], f[_TIME + 1] == span.start
                if shared or start:
                    pairs.append(((same, shared, start, -f[_SEQ], -i), i, f))
        found: dict[int, Held] = {}
        taken: set[str] = set()
        for _, i, f in sorted(pairs, key=lambda p: (p[0], p[2][_ID]), reverse=True):
            if i not in found and f[_ID] not in taken:
                found[i] = f
                taken.add(f[_ID])
        return found


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


def _period(values: tuple[Any, ...] | None) -> dict[str, Any] | None:
    if values is None:
        return None
    row = dict(zip(TIME, values, strict=True))
    wanted = ("temporal", "valid_from_precision", "valid_to_precision", "valid_to_origin", "undated")
    dates = {c: rfc3339(row[c]) for c in ("valid_from", "valid_to")}
    return {**dates, **{c: row[c] for c in wanted}}


def _key(found: Found, lineages: Mapping[str, Sequence[Any]]) -> tuple[object, ...]:
    sides = {(s.triple, s.said, lineages[s.triple][s.place]) for s in (found.old, found.new)}
    return found.reason, frozenset(sides)


def _key_of_row(conflict: Mapping[str, Any]) -> tuple[object, ...]:
    sides = {(conflict[f"{s}_triple"], conflict[f"{s}_said"], str(conflict[f"{s}_lineage_id"])) for s in ("old", "new")}
    return conflict["reason"], frozenset(sides)


def _pair_of(conflict: Mapping[str, Any]) -> Pair:
    return pair(conflict["old_triple"], conflict["old_said"], conflict["new_triple"], conflict["new_said"])
