"""An edit of the ontology as a plan: what would be added, changed, removed and refused, and what becomes of facts.

A plan is computed from what the base holds and what is asked for, and writes nothing. Its id is the digest of all it
says, so that the plan computed again under the head lock is the same one, or the base has moved and it is refused.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from uuid import UUID

from pydantic import ValidationError

from substrate import sql
from substrate.db import AnyConnection
from substrate.errors import InvalidInput
from substrate.ledger.canonical import canonical_bytes
from substrate.ledger.relation_state import OUTCOMES, RelationState
from substrate.ontology.classes import (
    Term,
    changed_fields,
    kind_of,
    meaning,
    names_of_others,
    ontology_of,
    terms_of,
)
from substrate.ontology.joining import joined
from substrate.ontology.store import load_ontology
from substrate.ontology.terms import Ontology, Relation
from substrate.ontology.uses import Uses, named_by, told, uses_of

Mode = Literal["replace", "add"]
"""``replace``: the base declares what is asked for and no more. ``add``: nothing that it declares is taken away."""
Action = Literal["added", "changed", "removed", "refused"]
RECOMPUTED = frozenset({"functional", "inverse_functional", "temporal"})
"""Fields that facts are computed from."""
_VALUES = frozenset({"datatype", "unit"})
_USING = ("assertions", "facts", "proposals", "refusals")


@dataclass(frozen=True, slots=True)
class Step:
    """What becomes of one term. `outcomes`: of its facts, by the words of `OUTCOMES`."""

    action: Action
    key: str
    kind: str
    label: str
    fields: tuple[str, ...] = ()
    why: str = ""
    uses: Uses = field(default_factory=dict)
    outcomes: Mapping[str, int] = field(default_factory=dict)

    def shown(self) -> dict[str, Any]:
        """Ready for JSON."""
        said = {"action": self.action, "key": self.key, "kind": self.kind, "label": self.label}
        more = {"fields": list(self.fields), "why": self.why, "uses": dict(self.uses), "outcomes": dict(self.outcomes)}
        return {**said, **{k: v for k, v in more.items() if v}}


@dataclass(frozen=True, slots=True)
class Plan:
    """What an edit would do. `final` is what the base would declare; `rebound` counts assertions of claims whose
    phrase would name another relation, or none, which binding them anew would change."""

    mode: Mode
    steps: tuple[Step, ...]
    final: Ontology
    unchanged: int
    rebound: int
    notes: tuple[str, ...]
    id: str

    @property
    def accepted(self) -> tuple[Step, ...]:
        """The steps that applying carries out."""
        return tuple(s for s in self.steps if s.action != "refused")

    def shown(self) -> dict[str, Any]:
        """Ready for JSON: the steps by what they do, with figures."""
        counts = Counter(step.action for step in self.steps)
        actions: tuple[Action, ...] = ("added", "changed", "removed", "refused")
        figures = {action: counts[action] for action in actions} | {"unchanged": self.unchanged}
        facts = sum((Counter(step.outcomes) for step in self.steps), Counter())
        return {
            "plan": self.id,
            "mode": self.mode,
            "counts": figures,
            "facts": {outcome: facts[outcome] for outcome in OUTCOMES if facts[outcome]},
            "rebound": self.rebound,
            "steps": [step.shown() for step in self.steps],
            "notes": list(self.notes),
        }


def make_plan(conn: AnyConnection, kb_id: UUID, asked: Iterable[Term], mode: Mode, notes: Sequence[str] = ()) -> Plan:
    """What declaring `asked` would do. Reads alone.

    Raises `InvalidInput` where the terms do not fit together: a key twice, or a name of what is not declared.
    """
    held_ontology = load_ontology(conn, kb_id)
    held = terms_of(held_ontology)
    wanted, refused, more = joined(held, tuple(asked), mode)
    uses = uses_of(conn, kb_id, held.keys() | wanted.keys())
    draft = _Draft(held, wanted, uses, refused, mode)
    draft.judge()
    final = _fitting(draft.final.values())
    with planned_blind(conn):
        steps = tuple(_settled(conn, kb_id, final, s) for s in draft.steps())
    rebound = _rebound(conn, kb_id, held_ontology, final) if draft.changes else 0
    said = (*notes, *more)
    unchanged = len(draft.final) - sum(s.action in ("added", "changed") for s in steps)
    plan = Plan(mode, steps, final, unchanged, rebound, said, "")
    return replace(plan, id=_digest(plan, held.values()))


def _fitting(terms: Iterable[Term]) -> Ontology:
    try:
        return ontology_of(terms)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise InvalidInput(f"ontology: {first['msg'].removeprefix('Value error, ')}", field="ontology") from error


def _digest(plan: Plan, held: Iterable[Term]) -> str:
    said = {k: v for k, v in plan.shown().items() if k != "plan"}
    before = [[kind_of(t), meaning(t)] for t in held]
    after = [[kind_of(t), meaning(t)] for t in terms_of(plan.final).values()]
    return hashlib.sha256(canonical_bytes({**said, "before": before, "after": after})).hexdigest()


class _Draft:
    """The terms that the base would hold, while what may not be done is taken out one after the other."""

    def __init__(
        self,
        held: Mapping[str, Term],
        wanted: Mapping[str, Term],
        uses: Mapping[str, Uses],
        refused: Mapping[str, str],
        mode: Mode,
    ) -> None:
        self.held, self.uses, self.refused, self.asked = held, uses, dict(refused), wanted
        self.final = {**held, **wanted} if mode == "add" else dict(wanted)
        for key in refused:
            self._put_back(key)

    @property
    def changes(self) -> bool:
        """Is anything declared otherwise?"""
        return {k: meaning(t) for k, t in self.final.items()} != {k: meaning(t) for k, t in self.held.items()}

    def judge(self) -> None:
        """Refuse what may not be done until nothing more is refused: what stays may need what was to go."""
        while found := self._objections():
            for key, why in found.items():
                self.refused[key] = why
                self._put_back(key)

    def _put_back(self, key: str) -> None:
        self.final.pop(key, None)
        if key in self.held:
            self.final[key] = self.held[key]

    def _objections(self) -> dict[str, str]:
        found = {}
        naming = named_by(self.final.values())
        for key in self.held.keys() | self.final.keys():
            if key in self.refused:
                continue
            old, new = self.held.get(key), self.final.get(key)
            why = (
                self._not_removed(key, naming) if new is None else
                self._not_added(new) if old is None else
                self._not_changed(key, old, new)
            )  # fmt: skip
            if why:
                found[key] = why
        return found

    def _not_removed(self, key: str, naming: Mapping[str, set[str]]) -> str:
        uses = {**self.uses.get(key, {}), "terms": len(naming.get(key, ()))}
        return f"it is used: {told(uses)}" if told(uses) else ""

    def _not_added(self, new: Term) -> str:
        missing = sorted({other for _, other in names_of_others(new) if other not in self.final})
        if missing and any(other in self.refused for other in missing):
            return f"it names {', '.join(missing)}, which is refused"
        return _contradicts(new)

    def _not_changed(self, key: str, old: Term, new: Term) -> str:
        fields = set(changed_fields(old, new))
        if not fields:
            return ""
        uses = self.uses.get(key, {})
        using = {k: n for k, n in uses.items() if k in _USING}
        if kind_of(old) != kind_of(new) and told(uses):
            return f"it cannot become another kind of term while it is used: {told(uses)}"
        if fields & _VALUES and isinstance(old, Relation) and old.kind == "attribute" and told(using):
            return f"{' and '.join(sorted(fields & _VALUES))} cannot change while values rest on it: {told(using)}"
        if missing := sorted(
            {other for _, other in names_of_others(new) if other in self.refused and other not in self.final}
        ):
            return f"it names {', '.join(missing)}, which is refused"
        return _contradicts(new)

    def steps(self) -> list[Step]:
        """In the order of keys, those that say nothing left out."""
        found = []
        for key in sorted(self.held.keys() | self.asked.keys() | self.refused.keys()):
            old, new = self.held.get(key), self.final.get(key)
            shown = self.asked.get(key) or new or old
            if shown is None:
                continue
            about = {"key": key, "kind": kind_of(shown), "label": shown.label, "uses": self.uses.get(key, {})}
            if key in self.refused:
                fields = changed_fields(old, shown) if old is not None and key in self.asked else ()
                found.append(Step("refused", **about, fields=fields, why=self.refused[key]))  # type: ignore[arg-type]
            elif old is None and new is not None:
                found.append(Step("added", **about))  # type: ignore[arg-type]
            elif new is None:
                found.append(Step("removed", **about))  # type: ignore[arg-type]
            elif old is not None and (fields := changed_fields(old, new)):
                found.append(Step("changed", **about, fields=fields))  # type: ignore[arg-type]
        return found


def _contradicts(term: Term) -> str:
    if isinstance(term, Relation) and term.temporal != "state" and (term.functional or term.inverse_functional):
        return f"only a state can be unique at a time, not an {term.temporal}"
    return ""


def _settled(conn: AnyConnection, kb_id: UUID, final: Ontology, step: Step) -> Step:
    """With what would become of the facts, where they are computed from what changes."""
    if step.action != "changed" or not RECOMPUTED & set(step.fields) or not step.uses.get("assertions"):
        return step
    found = RelationState(conn, kb_id, final, step.key).settle(0)
    return replace(step, outcomes={outcome: found.counts[outcome] for outcome in OUTCOMES})


@contextmanager
def planned_blind(conn: AnyConnection) -> Iterator[None]:
    """Statements are planned without a look at the values, as in a transaction that reads: right after a large import
    the statistics say that a relation has a handful of rows, and a plan made for that took minutes."""
    was = _planned(conn, "force_generic_plan")
    yield
    _planned(conn, was)


def _planned(conn: AnyConnection, mode: str) -> str:
    row = conn.execute(sql.query("planned_so"), {"mode": mode}).fetchone()
    assert row is not None  # noqa: S101 - a select without from always has a row
    return str(row["was"])


def _rebound(conn: AnyConnection, kb_id: UUID, held: Ontology, final: Ontology) -> int:
    decided = final.deciding(held.decided)
    rows = conn.execute(sql.query("phrases_asserted"), {"kb_id": kb_id}).fetchall()
    return sum(r["assertions"] for r in rows if _named(held, r["phrase"]) != _named(decided, r["phrase"]))


def _named(ontology: Ontology, phrase: str) -> tuple[str, bool] | None:
    found = ontology.bind(phrase)
    return None if found is None else (found[0].key, found[1])
