"""The chains of facts that join two entities, up to three hops, shortest first.

Both ends are opened and meet in the middle. What bounds that is said in the answer: an end of very many facts is read
in part, and an entity that very many facts touch is no bridge of a chain of three (everything is joined by a country).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from substrate import sql
from substrate.axes.as_of import AsOf
from substrate.db import AnyConnection
from substrate.errors import InvalidInput
from substrate.reads.entities import names_of, subject
from substrate.reads.facts import fact, with_names_and_evidence
from substrate.reads.moments import envelope
from substrate.reads.neighbors import SHOWN, types_of
from substrate.reads.shapes import Row

MOST_HOPS = 3
SHOWN_CHAINS = 10
HUB = 150
"""An entity with more facts is not opened on the way from one end to the other."""
OF_AN_END = 5_000
FRONTIER = 1_000
CANDIDATES = 400


@dataclass(frozen=True, slots=True)
class _Edge:
    """A fact as a step, seen from one of its ends."""

    near: UUID
    far: UUID
    fact_id: UUID
    direction: str
    predicate: str
    confidence: float

    def turned(self) -> _Edge:
        """The same fact, seen from the other end."""
        other = "in" if self.direction == "out" else "out"
        return _Edge(self.far, self.near, self.fact_id, other, self.predicate, self.confidence)


_Chain = tuple[_Edge, ...]


def paths_between(
    conn: AnyConnection, kb_id: UUID, start: str, end: str, as_of: AsOf, *, max_hops: int = MOST_HOPS
) -> dict[str, Any]:
    """At most ten chains from `start` to `end` (ids or names), every fact held at `as_of` and holding at its ``at``.

    Of each of ``paths``: ``hops`` and ``edges``, each with both ends, a fact's fields as in `neighbors`, and
    ``more_facts`` that say the same step. Shorter ones first, then those over entities that fewer facts touch, then the
    more confident. ``left_out`` counts ``hubs`` and other entities that were not opened, and facts of an end that were
    not read. Raises `InvalidInput` and `NotFound` naming ``from`` or ``to``.
    """
    if not 1 <= max_hops <= MOST_HOPS:
        raise InvalidInput(f"max_hops: must lie between 1 and {MOST_HOPS}", field="max_hops")
    one = subject(conn, kb_id, start, as_of, field="from")
    other = subject(conn, kb_id, end, as_of, field="to")
    if one.id == other.id:
        raise InvalidInput("to: the same entity as from", field="to")
    chains, left_out = _chains(conn, kb_id, as_of, one.id, other.id, max_hops)
    ranked = _ranked(conn, kb_id, as_of, chains)
    return {
        "kb_id": str(kb_id),
        "from": one.shown(),
        "to": other.shown(),
        "at": as_of.at_text,
        "max_hops": max_hops,
        **envelope(as_of),
        "total": len(ranked),
        "limit": SHOWN_CHAINS,
        "truncated": len(ranked) > SHOWN_CHAINS,
        "left_out": left_out,
        "paths": _shown(conn, kb_id, as_of, ranked[:SHOWN_CHAINS]),
    }


def _chains(
    conn: AnyConnection, kb_id: UUID, as_of: AsOf, start: UUID, end: UUID, max_hops: int
) -> tuple[list[_Chain], dict[str, int]]:
    rows = _edges(conn, kb_id, as_of, [start, end], OF_AN_END + 1)
    first, last = (_by_far(_edge(r) for r in rows if r["near"] == node) for node in (start, end))
    # Counted up to one more than is read: the end has at least so many.
    unread = sum({r["near"]: max(0, r["degree"] - OF_AN_END) for r in rows}.values())
    found: list[_Chain] = [(edge,) for edge in first.get(end, ())]
    left_out = {"hubs": 0, "entities": 0, "facts": unread}
    first.pop(end, None)
    last.pop(start, None)
    if max_hops >= 2:
        for node in sorted(first.keys() & last.keys()):
            found += [(a, b.turned()) for a in first[node] for b in last[node]]
    if max_hops >= 3:
        found += _of_three(conn, kb_id, as_of, first, last, left_out)
    return found, left_out


def _of_three(
    conn: AnyConnection,
    kb_id: UUID,
    as_of: AsOf,
    first: Mapping[UUID, Sequence[_Edge]],
    last: Mapping[UUID, Sequence[_Edge]],
    left_out: dict[str, int],
) -> list[_Chain]:
    turned = len(last) < len(first)
    opened, met = (last, first) if turned else (first, last)
    frontier = sorted(opened)
    left_out["entities"] = max(0, len(frontier) - FRONTIER)
    touching = _degrees(conn, kb_id, as_of, frontier[:FRONTIER])
    nodes = [n for n in frontier[:FRONTIER] if touching.get(n, 0) <= HUB]
    left_out["hubs"] = len(frontier[:FRONTIER]) - len(nodes)
    found: list[_Chain] = []
    for row in _edges(conn, kb_id, as_of, nodes, HUB, sorted(met)):
        middle = _edge(row)
        if turned:
            found += [(a, middle.turned(), b.turned()) for a in first[middle.far] for b in last[middle.near]]
        else:
            found += [(a, middle, b.turned()) for a in first[middle.near] for b in last[middle.far]]
    return found


def _ranked(conn: AnyConnection, kb_id: UUID, as_of: AsOf, chains: Iterable[_Chain]) -> list[list[_Chain]]:
    """Chains of the same steps together, the best first: its first member stands for it."""
    alike: defaultdict[tuple[object, ...], list[_Chain]] = defaultdict(list)
    for chain in chains:
        alike[tuple((e.near, e.direction, e.predicate, e.far) for e in chain)].append(chain)
    for several in alike.values():
        several.sort(key=lambda chain: (-_mean(chain), [e.fact_id for e in chain]))
    candidates = sorted(alike.values(), key=lambda several: _order(several[0]))
    through = {e.far for several in candidates[:CANDIDATES] for e in several[0][:-1]}
    degrees = _degrees(conn, kb_id, as_of, sorted(through))

    def place(several: list[_Chain]) -> tuple[object, ...]:
        worth = sum(math.log1p(degrees.get(e.far, 0)) for e in several[0][:-1])
        return len(several[0]), round(worth, 9), *_order(several[0])[1:]

    return sorted(candidates[:CANDIDATES], key=place) + candidates[CANDIDATES:]


def _order(chain: _Chain) -> tuple[object, ...]:
    return len(chain), -round(_mean(chain), 9), [e.fact_id for e in chain]


def _mean(chain: _Chain) -> float:
    return sum(e.confidence for e in chain) / len(chain)


def _shown(conn: AnyConnection, kb_id: UUID, as_of: AsOf, ranked: Sequence[Sequence[_Chain]]) -> list[dict[str, Any]]:
    ids = {e.fact_id for several in ranked for e in several[0]}
    if not ids:
        return []
    parameters = sql.parameters(as_of, kb_id=kb_id, ids=sorted(ids))
    rows = conn.execute(sql.query("paths_facts", as_of), parameters).fetchall()
    facts = {row["id"]: fact(row) for row in with_names_and_evidence(conn, kb_id, as_of, rows)}
    nodes = {n for several in ranked for e in several[0] for n in (e.near, e.far)}
    names, types = names_of(conn, kb_id, as_of, nodes), types_of(conn, kb_id, as_of, nodes)

    def node(entity_id: UUID) -> dict[str, Any]:
        kind = types.get(entity_id, {})
        told = {"type_key": kind.get("type_key"), "type_label": kind.get("type_label")}
        return {"id": str(entity_id), "name": names.get(entity_id), **told}

    def step(edge: _Edge, several: Sequence[_Chain], place: int) -> dict[str, Any]:
        shown = {name: facts[edge.fact_id][name] for name in SHOWN} | {"direction": edge.direction}
        more = {chain[place].fact_id for chain in several} - {edge.fact_id}
        ends = {"from": node(edge.near), "to": node(edge.far)}
        return {"fact_id": str(edge.fact_id), **ends, **shown, "more_facts": len(more)}

    return [
        {"hops": len(several[0]), "edges": [step(e, several, n) for n, e in enumerate(several[0])]}
        for several in ranked
    ]


def _edges(
    conn: AnyConnection,
    kb_id: UUID,
    as_of: AsOf,
    nodes: Sequence[UUID],
    most: int,
    targets: Sequence[UUID] | None = None,
) -> Sequence[Row]:
    if not nodes:
        return []
    values = {"kb_id": kb_id, "nodes": list(nodes), "most": most, "targets": targets}
    return conn.execute(sql.query("paths_edges", as_of), sql.parameters(as_of, **values)).fetchall()


def _degrees(conn: AnyConnection, kb_id: UUID, as_of: AsOf, nodes: Collection[UUID]) -> Mapping[UUID, int]:
    """How many facts touch each, counted up to one more than `HUB`."""
    if not nodes:
        return {}
    values = {"kb_id": kb_id, "nodes": list(nodes), "most": HUB + 1}
    rows = conn.execute(sql.query("paths_degrees", as_of), sql.parameters(as_of, **values))
    return {row["id"]: row["degree"] for row in rows}


def _edge(row: Row) -> _Edge:
    sure = float(row["confidence"])
    return _Edge(row["near"], row["far"], row["id"], row["direction"], row["predicate"], sure)


def _by_far(edges: Iterable[_Edge]) -> dict[UUID, list[_Edge]]:
    found: defaultdict[UUID, list[_Edge]] = defaultdict(list)
    for edge in edges:
        found[edge.far].append(edge)
    return dict(found)
