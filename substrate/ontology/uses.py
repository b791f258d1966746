"""What rests on the terms of a base, counted: what is used is not deleted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from uuid import UUID

from substrate import sql
from substrate.db import AnyConnection
from substrate.ontology.classes import Term, names_of_others

Uses = Mapping[str, int]
"""Kind of use (the keys of `_WORDS`) → how many."""
_WORDS = {
    "facts": ("fact", "facts"),
    "assertions": ("assertion", "assertions"),
    "proposals": ("proposal", "proposals"),
    "refusals": ("refusal", "refusals"),
    "bindings": ("binding that a person decided", "bindings that a person decided"),
    "entities": ("entity", "entities"),
    "terms": ("term", "terms"),
}


def uses_of(conn: AnyConnection, kb_id: UUID, keys: Iterable[str]) -> dict[str, dict[str, int]]:
    """What rests on each of these keys; a key that nothing rests on is left out. Other terms are not counted here."""
    wanted = sorted(set(keys))
    if not wanted:
        return {}
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for row in conn.execute(sql.query("uses_of_terms"), {"kb_id": kb_id, "keys": wanted}).fetchall():
        found[row["key"]][row["use"]] = row["uses"]
    return dict(found)


def named_by(terms: Iterable[Term]) -> dict[str, set[str]]:
    """Key → keys of the other terms that name it."""
    found: dict[str, set[str]] = defaultdict(set)
    for term in terms:
        for _, other in names_of_others(term):
            if other != term.key:
                found[other].add(term.key)
    return dict(found)


def told(uses: Uses) -> str:
    """ "3 facts, 1 proposal"; of assertions only where no fact says the same."""
    shown = {k: n for k, n in uses.items() if n and not (k == "assertions" and uses.get("facts"))}
    return ", ".join(
        f"{n} {_WORDS[k][n != 1]}" for k, n in sorted(shown.items(), key=lambda u: list(_WORDS).index(u[0]))
    )
