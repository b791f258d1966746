"""What is wrong in an ontology, or in what is held under it, computed from what is held now and queued for people.

A defect is known by what it says (its fingerprint). A person mends the ontology, or waives the defect: that is a row of
the record, which can be lifted. A waiver of a defect that is no more counts for nothing until the defect is back.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from substrate import sql
from substrate.db import AnyConnection
from substrate.errors import Conflict, InvalidInput, NotFound
from substrate.ledger.canonical import canonical_bytes
from substrate.ledger.door import Door
from substrate.ontology.classes import cycles, disjoint_pairs, terms_of
from substrate.ontology.phrases import plain_phrase
from substrate.ontology.store import load_ontology
from substrate.ontology.terms import Ontology, Relation
from substrate.reads.moments import rfc3339

MOST = 500
"""Entities of disjoint classes that one look lists; there may be more, and the answer says how many."""
CODES = (
    "parent_cycle", "super_property_cycle", "disjoint_parents", "disjoint_with_itself", "inverse_mismatch",
    "inverse_ends_differ", "contradicting_properties", "domain_outside_super_property",
    "label_collision", "iri_collision", "entity_of_disjoint_classes",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Defect:
    """One thing that is wrong. `entity_id` and `entity` where it is an entity's."""

    code: str
    terms: tuple[str, ...]
    detail: str
    entity_id: UUID | None = None
    entity: str | None = field(default=None, compare=False)

    @property
    def fingerprint(self) -> str:
        """By code, terms and entity: the same defect told in other words is the same."""
        said = {"code": self.code, "terms": list(self.terms), "entity_id": self.entity_id}
        return hashlib.sha256(canonical_bytes(said)).hexdigest()


def defects_of(ontology: Ontology) -> list[Defect]:
    """What is wrong in the declarations alone, by code."""
    looks = (_cycles, _disjoint, _inverses, _properties, _above, _collisions)
    return sorted((d for look in looks for d in look(ontology)), key=lambda d: (CODES.index(d.code), d.terms))


def list_defects(conn: AnyConnection, kb_id: UUID, *, waived: bool = False) -> dict[str, Any]:
    """The queue: defects that nobody waived, or those that somebody did. ``entities``: how many there are in all."""
    ontology = load_ontology(conn, kb_id)
    broken, total = entities_of_disjoint_classes(conn, kb_id, ontology)
    held = {r["fingerprint"]: r for r in conn.execute(sql.query("waivers_held"), {"kb_id": kb_id}).fetchall()}
    found = [d for d in (*defects_of(ontology), *broken) if (d.fingerprint in held) == waived]
    return {"defects": [_shown(d, held.get(d.fingerprint)) for d in found], "total": len(found),
            "entities": total, "truncated": total > len(broken)}  # fmt: skip


def waive(door: Door, fingerprint: str, why: str) -> UUID:
    """A person lives with a defect. Raises `NotFound` where there is no such defect now, `Conflict` if it was waived.

    Raises `InvalidInput` without a reason.
    """
    if not why.strip():
        raise InvalidInput("why: a defect is waived for a reason", field="why")
    ontology = load_ontology(door.connection, door.kb_id)
    broken, _ = entities_of_disjoint_classes(door.connection, door.kb_id, ontology)
    found = next((d for d in (*defects_of(ontology), *broken) if d.fingerprint == fingerprint), None)
    if found is None:
        raise NotFound("there is no such defect now", field="fingerprint")
    held = door.connection.execute(sql.query("waivers_held"), {"kb_id": door.kb_id}).fetchall()
    if any(row["fingerprint"] == fingerprint for row in held):
        raise Conflict("this defect was waived before", field="fingerprint")
    waiver_id = uuid4()
    door.insert("defect_waivers", [{"id": waiver_id, "code": found.code, "fingerprint": fingerprint, "why": why}])
    return waiver_id


def lift_waiver(door: Door, waiver_id: UUID) -> None:
    """The defect is queued again. Raises `NotFound` for a waiver that is not held."""
    held = door.connection.execute(sql.query("waivers_held"), {"kb_id": door.kb_id}).fetchall()
    if all(row["id"] != waiver_id for row in held):
        raise NotFound("no waiver with that id is held", field="waiver_id")
    door.close("defect_waivers", [waiver_id])


def _shown(defect: Defect, waiver: dict[str, Any] | None) -> dict[str, Any]:
    said: dict[str, Any] = {"fingerprint": defect.fingerprint, "code": defect.code, "terms": list(defect.terms)}
    said["detail"] = defect.detail
    if defect.entity_id is not None:
        said |= {"entity_id": str(defect.entity_id), "entity": defect.entity}
    if waiver is not None:
        said["waiver"] = {"id": str(waiver["id"]), "why": waiver["why"], "seq": waiver["recorded_seq"],
                          "at": rfc3339(waiver["recorded_at"])}  # fmt: skip
    return said


def _cycles(ontology: Ontology) -> Iterator[Defect]:
    for loop in cycles({c.key: c.parents for c in ontology.classes}):
        yield Defect("parent_cycle", loop, f"each of {_and(loop)} is above itself")
    for loop in cycles({r.key: r.sub_property_of for r in ontology.relations}):
        yield Defect("super_property_cycle", loop, f"each of {_and(loop)} is above itself")


def _disjoint(ontology: Ontology) -> Iterator[Defect]:
    for one in ontology.classes:
        if one.key in one.disjoint_with:
            yield Defect("disjoint_with_itself", (one.key,), f"nothing can be a {one.label}")
    for pair in disjoint_pairs(ontology):
        for key in sorted(pair.below_left & pair.below_right):
            detail = f"{key} is beneath {pair.left} and {pair.right}, which are disjoint: nothing can be one"
            yield Defect("disjoint_parents", (key, pair.left, pair.right), detail)


def _inverses(ontology: Ontology) -> Iterator[Defect]:
    for one in ontology.relations:
        other = ontology.by_key.get(one.inverse_of or "")
        if other is None:
            continue
        if other.inverse_of not in (None, one.key):
            detail = f"{one.key} is the inverse of {other.key}, which is that of {other.inverse_of}"
            yield Defect("inverse_mismatch", (one.key, other.key), detail)
        elif one.kind != other.kind or one.kind == "attribute":
            yield Defect("inverse_mismatch", (one.key, other.key), "an attribute has no inverse")
        elif (one.key < other.key or other.inverse_of is None) and not _turned(one, other):
            yield Defect(
                "inverse_ends_differ",
                (one.key, other.key),
                f"the ends of {one.key} are not those of {other.key} turned",
            )


def _turned(one: Relation, other: Relation) -> bool:
    ends = ((one.domain, other.range), (one.range, other.domain))
    return all(not a or not b or set(a) == set(b) for a, b in ends)


def _properties(ontology: Ontology) -> Iterator[Defect]:
    for r in ontology.relations:
        pairs = [(r.symmetric and r.asymmetric, "symmetric and asymmetric")]
        pairs += [(r.transitive and r.functional, "transitive and functional")]
        pairs += [(r.temporal != "state" and (r.functional or r.inverse_functional), f"unique and an {r.temporal}")]
        turning = [n for n in ("symmetric", "asymmetric", "irreflexive", "transitive") if getattr(r, n)]
        pairs += [(r.kind == "attribute" and bool(turning), f"an attribute and {_and(turning)}")]
        for wrong, words in pairs:
            if wrong:
                yield Defect("contradicting_properties", (r.key, words), f"{r.key} is {words}")
        if r.symmetric and r.domain and r.range and set(r.domain) != set(r.range):
            yield Defect("contradicting_properties", (r.key, "symmetric"), f"{r.key} is symmetric, its ends are not")


def _above(ontology: Ontology) -> Iterator[Defect]:
    """A narrower relation holds of nothing that the wider one does not."""
    for r in ontology.relations:
        for wider in (ontology.by_key[k] for k in r.sub_property_of if k in ontology.by_key):
            if wider.kind != r.kind:
                yield Defect(
                    "domain_outside_super_property", (r.key, wider.key), f"{r.key} and {wider.key} differ in kind"
                )
                continue
            for end in ("domain", "range") if r.kind == "relation" else ("domain",):
                mine, theirs = getattr(r, end), getattr(wider, end)
                out = [c for c in mine if theirs and not ontology.ancestors(c) & set(theirs)]
                if out:
                    detail = f"the {end} of {r.key}, {_and(out)}, is not beneath that of {wider.key}, {_and(theirs)}"
                    yield Defect("domain_outside_super_property", (r.key, wider.key, end), detail)


def _collisions(ontology: Ontology) -> Iterator[Defect]:
    said: dict[tuple[str, str], set[str]] = defaultdict(set)
    iris: dict[str, set[str]] = defaultdict(set)
    for c in ontology.classes:
        for word in (c.label, *c.aliases):
            said["classes", plain_phrase(word)].add(c.key)
    for r in ontology.relations:
        for word in (r.label, *r.aliases, *r.inverse_aliases):
            said["relations", plain_phrase(word)].add(r.key)
    for t in terms_of(ontology).values():
        if t.iri:
            iris[t.iri].add(t.key)
    for (what, word), keys in said.items():
        if len(keys) > 1:
            listed = tuple(sorted(keys))
            yield Defect("label_collision", (*listed, word), f"{word!r} names {len(keys)} {what}: {_and(listed)}")
    for iri, keys in iris.items():
        if len(keys) > 1:
            yield Defect("iri_collision", tuple(sorted(keys)), f"{iri} is that of {_and(sorted(keys))}")


def entities_of_disjoint_classes(
    conn: AnyConnection, kb_id: UUID, ontology: Ontology, *, limit: int = MOST
) -> tuple[list[Defect], int]:
    """Entities that are of two disjoint classes, by what they are said to be and by the ends of their relations.

    Subclasses count for what is above them. Returns at most `limit`, and how many there are.
    """
    pairs = disjoint_pairs(ontology)
    sides = [
        (n, left, key)
        for n, pair in enumerate(pairs)
        for left, keys in ((True, pair.below_left), (False, pair.below_right))
        for key in sorted(keys)
    ]
    if not sides:
        return [], 0
    told = {key for _, _, key in sides}
    # An end that may be of any of several classes says of nobody which it is.
    ends = [
        (r.key, subject, classes[0])
        for r in ontology.relations
        for subject, classes in ((True, r.domain), (False, r.range if r.kind == "relation" else ()))
        if len(classes) == 1 and classes[0] in told
    ]
    asked = {name: [row[i] for row in sides] for i, name in enumerate(("pairs", "sides", "keys"))}
    asked |= {name: [row[i] for row in ends] for i, name in enumerate(("predicates", "subjects", "classes"))}
    rows = conn.execute(sql.query("entities_of_disjoint_classes"), {"kb_id": kb_id, "limit": limit, **asked}).fetchall()
    return [_broken(row, pairs[row["pair"]].left, pairs[row["pair"]].right) for row in rows], rows[0][
        "total"
    ] if rows else 0


def _broken(row: dict[str, Any], left: str, right: str) -> Defect:
    a, b = (f"{row[side + '_key']} ({_by(row[side + '_by'])})" for side in ("left", "right"))
    detail = f"is {a} and {b}: {left} and {right} are disjoint"
    return Defect("entity_of_disjoint_classes", (left, right), detail, row["id"], row["label"])


def _by(how: str) -> str:
    return how if how == "said to be" else f"an end of {how}"


def _and(words: Any) -> str:
    listed = [str(word) for word in words]
    return " and ".join(part for part in (", ".join(listed[:-1]), *listed[-1:]) if part)
