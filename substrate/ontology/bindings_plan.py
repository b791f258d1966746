"""A person decides what phrases name, or edits the ontology that they are bound to, and facts follow.

Previewed by carrying it out and taking it back, then done exactly so.

The preview is the change itself, in a transaction under the head lock that is rolled back. So it cannot differ from
what is applied, and it makes writers of the base wait as long as the change would.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import UUID

from substrate import sql
from substrate.db import Database
from substrate.documents.checks import check_text
from substrate.errors import Conflict, InvalidInput, NotFound
from substrate.ledger.canonical import canonical_bytes
from substrate.ledger.door import Door, Via, open_door
from substrate.ledger.ids import new_id
from substrate.ontology.binding import NAMING
from substrate.ontology.edits import apply_plan
from substrate.ontology.phrases import plain_phrase
from substrate.ontology.rebinding import rebind
from substrate.ontology.store import load_ontology
from substrate.ontology.terms import Ontology
from substrate.reads.moments import rfc3339

MOST = 200
"""Phrases that are decided at once."""
COUNTS = (
    "claims", "added", "retyped", "closed", "reopened", "changed", "withdrawn", "names_added", "names_withdrawn",
    "entities_made", "conflicts_opened", "conflicts_withdrawn", "refused",
)  # fmt: skip
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Decision:
    """A phrase, or a wording of it, and the relation that it names; None: it names none."""

    phrase: str
    relation: str | None
    backwards: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """Phrases to decide, decisions of people to take back by their bindings, and a kept plan to apply first."""

    decisions: tuple[Decision, ...] = ()
    undo: tuple[UUID, ...] = ()
    ontology_plan: str | None = None
    """Of an edit of the ontology (`edits.keep_plan`); decisions may name what it declares."""

    @property
    def said(self) -> dict[str, Any]:
        """As JSON."""
        decided = [{"phrase": d.phrase, "relation": d.relation, "backwards": d.backwards} for d in self.decisions]
        return {"decisions": decided, "undo": [str(i) for i in self.undo], "ontology_plan": self.ontology_plan}


@dataclass(frozen=True, slots=True)
class Plan:
    """What a change does at a head of the record. `counts` has a figure for each of `COUNTS`."""

    change: Change
    seq: int
    head_hash: str
    counts: Mapping[str, int]
    examples: Mapping[str, Sequence[Mapping[str, Any]]] = field(compare=False, default_factory=dict)
    bindings: tuple[UUID, ...] = field(compare=False, default=())
    """The rows that it made, by which it is taken back."""

    @property
    def fingerprint(self) -> str:
        """What a plan is known by: the change, the head it was made at and its figures."""
        said = {**self.change.said, "seq": self.seq, "head_hash": self.head_hash, "counts": dict(self.counts)}
        return hashlib.sha256(canonical_bytes(said)).hexdigest()


class _TakenBack(Exception):
    """Rolls the rehearsal's transaction back."""


def rehearse(db: Database, kb_id: UUID, act: Callable[[Door], T]) -> T:
    """What `act` returns when it is carried out under the head lock; nothing of it stays."""
    found: list[T] = []
    try:
        with db.write(kb_id) as connection:
            with open_door(connection, kb_id, actor="rehearsal", via="rest", action="rehearsed") as door:
                found.append(act(door))
                raise _TakenBack
    except _TakenBack:
        return found[0]


def preview_change(db: Database, kb_id: UUID, change: Change, *, examples: int = 10) -> Plan:
    """What the base would hold after `change`, with at most `examples` of each outcome. Nothing stays written.

    Raises `InvalidInput` and `NotFound` naming the decision, and `Conflict` where a decision was taken back before.
    """
    return rehearse(db, kb_id, lambda door: _carry_out(door, change, "", examples))


def apply_change(
    db: Database, kb_id: UUID, change: Change, *, seq: int, plan: str, actor: str, via: Via, why: str = ""
) -> tuple[Plan, int]:
    """Carry out what was previewed at `seq` with the fingerprint `plan`; returns the plan and where it is recorded.

    Raises `Conflict` where the base moved on since, or where what came out is not what was planned.
    """
    with db.write(kb_id) as connection:
        with open_door(connection, kb_id, actor=actor, via=via, action="phrases decided", why=why) as door:
            if door.seq - 1 != seq:
                told = f"the base moved on since this was previewed (seq {seq}, now {door.seq - 1}): preview it again"
                raise Conflict(told, field="plan")
            done = _carry_out(door, change, why, 10)
            if done.fingerprint != plan:
                raise Conflict(f"what came out is not what was planned: {dict(done.counts)}", field="plan")
            return done, door.seq


def _carry_out(door: Door, change: Change, why: str, examples: int) -> Plan:
    before = load_ontology(door.connection, door.kb_id)
    declared = before
    if change.ontology_plan is not None:
        apply_plan(door, change.ontology_plan)
        declared = load_ontology(door.connection, door.kb_id)
    made = [*_undo(door, change), *_decide(door, change, declared, why)]
    after = load_ontology(door.connection, door.kb_id)
    claims = rebind(door, before, after)
    counts, shown = outcome_of_transaction(door, examples)
    counts["claims"] = claims
    figures = {name: counts[name] for name in COUNTS}
    return Plan(change, door.seq - 1, door.previous_hash.hex(), figures, shown, tuple(made))


def _decide(door: Door, change: Change, ontology: Ontology, why: str) -> list[UUID]:
    wanted = _checked(change, ontology)
    asked = {"kb_id": door.kb_id, "phrases": list(wanted)}
    held = {r["phrase"]: r for r in door.connection.execute(sql.query("bindings_of_phrases"), asked).fetchall()}
    rows = []
    for phrase, decision in wanted.items():
        old = held.get(phrase)
        same = old is not None and (old["method"], old["predicate_key"], old["backwards"]) == (
            "person",
            decision.relation,
            decision.backwards,
        )
        if same:
            raise Conflict(f"{phrase!r} is decided so already", field="decisions")
        rows.append(_person_row(phrase, decision, old["id"] if old else None, why))
    door.close("bindings", [r["id"] for r in held.values()])
    door.insert("bindings", rows)
    return [row["id"] for row in rows]


def _person_row(phrase: str, decision: Decision, old: UUID | None, why: str) -> dict[str, Any]:
    basis = {"said": decision.phrase}
    said = {"phrase": phrase, "predicate_key": decision.relation, "backwards": decision.backwards, "method": "person"}
    fingerprint = hashlib.sha256(canonical_bytes(said)).digest()
    return {"id": new_id(), **said, "basis": basis, "fingerprint": fingerprint, "why": why, "supersedes": old}


def _checked(change: Change, ontology: Ontology) -> dict[str, Decision]:
    """Plain phrase → decision. Raises `InvalidInput` and `NotFound` naming the decision by its place."""
    if not change.decisions and not change.undo and change.ontology_plan is None:
        raise InvalidInput("nothing is decided and nothing taken back", field="decisions")
    if len(change.decisions) + len(change.undo) > MOST:
        raise InvalidInput(f"at most {MOST} phrases at once", field="decisions")
    found: dict[str, Decision] = {}
    for place, decision in enumerate(change.decisions):
        where = f"decisions[{place}]"
        check_text(decision.phrase, f"{where}.phrase", most=500)
        phrase = plain_phrase(decision.phrase)
        relation = ontology.by_key.get(decision.relation or "")
        if phrase in found:
            raise InvalidInput(f"{where}.phrase: {decision.phrase!r} is decided twice", field=f"{where}.phrase")
        if phrase in NAMING:
            raise InvalidInput(f"{where}.phrase: {decision.phrase!r} tells a name", field=f"{where}.phrase")
        if decision.relation is not None and relation is None:
            raise NotFound(f"{where}.relation: {decision.relation!r} is not declared", field=f"{where}.relation")
        if decision.backwards and (relation is None or relation.kind == "attribute"):
            raise InvalidInput(f"{where}.backwards: only a relation has two ends", field=f"{where}.backwards")
        found[phrase] = decision
    return found


def _undo(door: Door, change: Change) -> list[UUID]:
    """Close decisions of people; what they superseded is decided again, as it was."""
    if not change.undo:
        return []
    if len(set(change.undo)) != len(change.undo):
        raise InvalidInput("the same decision is taken back twice", field="undo")
    asked = {"kb_id": door.kb_id, "ids": list(change.undo)}
    rows = {r["id"]: r for r in door.connection.execute(sql.query("bindings_by_id"), asked).fetchall()}
    for i in change.undo:
        if i not in rows:
            raise NotFound(f"undo: no binding with the id {i}", field="undo")
        if rows[i]["method"] != "person":
            raise InvalidInput(f"undo: {rows[i]['phrase']!r} was not decided by a person", field="undo")
        if rows[i]["invalidated_seq"] is not None:
            raise Conflict(f"undo: the decision on {rows[i]['phrase']!r} is in force no more", field="undo")
    if both := {r["phrase"] for r in rows.values()} & {plain_phrase(d.phrase) for d in change.decisions}:
        raise InvalidInput(f"{min(both)!r} is both decided and taken back", field="undo")
    door.close("bindings", list(rows))
    earlier = [r["supersedes"] for r in rows.values() if r["supersedes"] is not None]
    old = door.connection.execute(sql.query("bindings_by_id"), {"kb_id": door.kb_id, "ids": earlier}).fetchall()
    undone = {r["supersedes"]: r["id"] for r in rows.values()}
    kept = ("phrase", "predicate_key", "backwards", "method", "basis", "why")
    again = [
        {
            **{c: r[c] for c in kept},
            "id": new_id(),
            "fingerprint": bytes(r["fingerprint"]),
            "supersedes": undone[r["id"]],
        }
        for r in old
    ]
    door.insert("bindings", again)
    return [row["id"] for row in again]


def outcome_of_transaction(door: Door, examples: int) -> tuple[Counter[str], dict[str, list[dict[str, Any]]]]:
    """What this transaction made of facts so far: how many came out how, and some of each."""
    asked = {"kb_id": door.kb_id, "seq": door.seq}
    counts: Counter[str] = Counter()
    shown: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in door.connection.execute(sql.query("bindings_outcome"), asked).fetchall():
        what = _outcome(row)
        counts[what] += 1
        if len(shown[what]) < examples:
            shown[what].append({"before": _side(row, "was"), "after": _side(row, "now")})
    beside = door.connection.execute(sql.query("bindings_side_effects"), asked).fetchone()
    counts.update(beside or {})
    return counts, dict(shown)


def _outcome(row: Mapping[str, Any]) -> str:
    if row["was_id"] is None:
        return "names_added" if row["now_predicate"] == "known_as" else "added"
    if row["now_id"] is None:
        return "names_withdrawn" if row["was_predicate"] == "known_as" else "withdrawn"
    ends = ("predicate", "subject_id", "object_id", "value")
    if any(row[f"was_{e}"] != row[f"now_{e}"] for e in ends):
        return "retyped"
    ended, ends_now = row["was_to_precision"] is not None, row["now_to_precision"] is not None
    return "changed" if ended == ends_now else "closed" if ends_now else "reopened"


def _side(row: Mapping[str, Any], side: str) -> dict[str, Any] | None:
    if row[f"{side}_id"] is None:
        return None
    return {
        "subject": row[f"{side}_subject"],
        "predicate_key": row[f"{side}_predicate"],
        "phrase": row[f"{side}_phrase"],
        "object": row[f"{side}_object"],
        "object_is_entity": row[f"{side}_linked"],
        "valid_from": rfc3339(row[f"{side}_from"]),
        "valid_to": rfc3339(row[f"{side}_to"]),
    }
