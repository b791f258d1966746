"""What the base goes by: every property that it declares of its relations and classes, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal
from uuid import UUID

from substrate import sql
from substrate.axes.as_of import AsOf
from substrate.db import AnyConnection
from substrate.reads.moments import envelope, rfc3339
from substrate.reads.shapes import Row

Effect = Literal["constrains", "derives", "describes"]

_FLAGS: tuple[tuple[str, Effect, str], ...] = (
    ("functional", "constrains", "one object per subject at a time: a later start ends the period before it, and two "
     "that no date parts are a conflict"),
    ("inverse_functional", "constrains", "one subject per object at a time: a later start ends the period before it, "
     "and two that no date parts are a conflict"),
    ("transitive", "derives", "declared transitive; nothing is derived from it in this version"),
    ("symmetric", "derives", "declared symmetric; nothing is derived from it in this version"),
    ("asymmetric", "describes", "declared asymmetric; not enforced in this version"),
    ("irreflexive", "describes", "declared irreflexive; not enforced in this version"),
)  # fmt: skip
_LISTS: tuple[tuple[str, Effect, str], ...] = (
    ("inverse_of", "derives", "declared the inverse of {}; nothing is derived from it in this version"),
    ("sub_property_of", "derives", "declared a kind of {}; nothing is derived from it in this version"),
    ("domain", "describes", "its subject is of class {}: tells which way round a phrase is read"),
    ("range", "describes", "its object is of class {}: tells which way round a phrase is read"),
    ("parents", "describes", "every one of them is a {} too"),
    ("disjoint_with", "describes", "none of them is a {}"),
)
_TEMPORAL = {
    "event": "happens at a moment and does not end another",
    "eternal": "holds at every time",
}


def list_rules(conn: AnyConnection, kb_id: UUID, as_of: AsOf) -> dict[str, Any]:
    """The declarations in force at `as_of`, in the order of their keys.

    Each of ``rules`` has ``on`` (a relation's or class's key), ``label``, ``rule`` (the property), ``value``,
    ``effect`` (``constrains``: the ledger acts on it; ``derives``: it would yield facts; ``describes``), ``says`` in
    words, since when it is declared, and how often its bearer was declared otherwise before. ``refused`` counts triples
    that people refused, which no path asserts again.
    """
    parameters = sql.parameters(as_of, kb_id=kb_id)
    rows = conn.execute(sql.query("rules_declared", as_of), parameters).fetchall()
    refused = conn.execute(sql.query("rules_refused", as_of), parameters).fetchone()
    rules = [{**_bearer(row), **rule} for row in rows for rule in _of(row)]
    return {
        "kb_id": str(kb_id),
        **envelope(as_of),
        "total": len(rules),
        "rules": rules,
        "refused": refused["refused"] if refused else 0,
    }


def _bearer(row: Row) -> dict[str, Any]:
    return {
        "on": row["key"],
        "kind": row["kind"],
        "label": row["definition"].get("label") or row["key"],
        "declared_at": rfc3339(row["recorded_at"]),
        "declared_seq": row["recorded_seq"],
        "redeclared": row["redeclared"],
    }


def _of(row: Row) -> Iterator[dict[str, Any]]:
    declared = row["definition"]
    for name, effect, says in _FLAGS:
        if declared.get(name):
            yield {"rule": name, "value": True, "effect": effect, "says": says}
    for name, effect, says in _LISTS:
        value = declared.get(name)
        if value:
            listed = [value] if isinstance(value, str) else value
            yield {"rule": name, "value": listed, "effect": effect, "says": says.format(" or ".join(listed))}
    temporal = declared.get("temporal")
    if temporal in _TEMPORAL:
        yield {"rule": "temporal", "value": temporal, "effect": "constrains", "says": _TEMPORAL[temporal]}
