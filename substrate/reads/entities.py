"""Finding entities by name, and what an entity was at a moment of the record."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from substrate import sql
from substrate.axes.as_of import AsOf
from substrate.db import AnyConnection
from substrate.errors import InvalidInput, NotFound
from substrate.ledger.drafts import normalise_name
from substrate.reads.moments import envelope
from substrate.reads.shapes import Row

FOUND = 8
"""How many candidates one answer names."""
_MAX_NAME = 300


@dataclass(frozen=True, slots=True)
class Subject:
    """The entity a question is about, as it was at the moment asked."""

    id: UUID
    members: tuple[UUID, ...]
    """Every id that facts about it may have been written with."""
    card: Row

    def shown(self) -> dict[str, object]:
        """The ``entity`` field of an answer."""
        return {"id": str(self.id), **{k: self.card[k] for k in ("name", "type_key", "type_label")}}


def find_entities(conn: AnyConnection, kb_id: UUID, name: str, as_of: AsOf, *, limit: int = FOUND) -> dict[str, Any]:
    """Candidates for a whole or partial name, best first.

    A whole name comes before a part of one, a typed entity before an untyped, then the one with more facts. When
    nothing contains the text, names with all but one of its words (at least two) are taken. Returns ``entities``
    with ``match`` (``name``, ``part`` or ``words``), and ``total`` of which `limit` are shown.
    """
    rows = _candidates(conn, kb_id, name, as_of, limit, "name")
    total = rows[0]["total"] if rows else 0
    return {
        "kb_id": str(kb_id),
        **envelope(as_of),
        "limit": limit,
        "total": total,
        "truncated": total > len(rows),
        "entities": [_shown(row, rows) for row in rows],
    }


def subject(conn: AnyConnection, kb_id: UUID, entity: str, as_of: AsOf, *, field: str = "entity") -> Subject:
    """The entity that an id or a name means at the moment asked.

    A name must be somebody's whole name, or part of one entity's name only. Raises `NotFound` when there is none
    then, whatever is known later, and `InvalidInput` with ``candidates`` when several answer to the name.
    """
    wanted = entity.strip() if isinstance(entity, str) else ""
    entity_id = as_id(wanted)
    row = _cluster(conn, kb_id, entity_id, as_of) if entity_id else _by_name(conn, kb_id, wanted, as_of, field)
    if row is not None:
        members = list(row["members"])
        card = conn.execute(
            sql.query("reads_entity_card", as_of),
            sql.parameters(as_of, kb_id=kb_id, id=row["id"], members=members),
        ).fetchone()
        if card is not None and card["present"]:
            return Subject(row["id"], tuple(members), card)
    raise _absent(wanted, as_of, field)


def _cluster(conn: AnyConnection, kb_id: UUID, entity_id: UUID, as_of: AsOf) -> Row | None:
    parameters = sql.parameters(as_of, kb_id=kb_id, id=entity_id)
    return conn.execute(sql.query("reads_cluster_of_id", as_of), parameters).fetchone()


def _by_name(conn: AnyConnection, kb_id: UUID, name: str, as_of: AsOf, field: str) -> Row | None:
    exact = conn.execute(
        sql.query("reads_named_exactly", as_of), sql.parameters(as_of, kb_id=kb_id, norm=_norm(name, field))
    ).fetchall()
    if len(exact) == 1:
        return exact[0]
    rows = _candidates(conn, kb_id, name, as_of, FOUND, field)
    best = [row for row in rows if row["tier"] == rows[0]["tier"]]
    if not best or best[0]["tier"] > 1:
        raise _absent(name, as_of, field)
    if len(best) == 1:
        return _cluster(conn, kb_id, best[0]["id"], as_of)
    shown = [_shown(row, rows) for row in best]
    listed = "; ".join(
        f"{c['name']} ({c['disambiguator'] or c['type_label'] or 'untyped'}), id {c['id']}" for c in shown
    )
    raise InvalidInput(f"{field}: several entities match {name!r}; ask by id: {listed}", field=field, candidates=shown)


def names_of(conn: AnyConnection, kb_id: UUID, as_of: AsOf, ids: Collection[UUID]) -> dict[UUID, str]:
    """Display names of clusters by their canonical ids, as held at `as_of`."""
    if not ids:
        return {}
    parameters = sql.parameters(as_of, kb_id=kb_id, ids=list(ids))
    found = conn.execute(sql.query("reads_names_of", as_of), parameters).fetchall()
    return {row["id"]: row["name"] for row in found}


def _candidates(
    conn: AnyConnection, kb_id: UUID, name: str, as_of: AsOf, limit: int, field: str
) -> list[dict[str, Any]]:
    norm = _norm(name, field)
    words = list(dict.fromkeys(norm.split()))
    base = {"kb_id": kb_id, "norm": norm, "words": words, "limit": limit}

    def ask(texts: Sequence[str], by_words: bool) -> list[dict[str, Any]]:
        more = {**base, "patterns": [_pattern(text) for text in texts], "by_words": by_words}
        return conn.execute(sql.query("reads_find_entities", as_of), sql.parameters(as_of, **more)).fetchall()

    found = ask([norm], False)
    return found if found or len(words) < 2 else ask(words, True)


def _norm(name: str, field: str) -> str:
    if not name.strip():
        raise InvalidInput(f"{field}: must not be blank", field=field)
    if len(name) > _MAX_NAME:
        raise InvalidInput(f"{field}: at most {_MAX_NAME} characters", field=field)
    return normalise_name(name)


def _pattern(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def _shown(row: Row, rows: Sequence[Row]) -> dict[str, Any]:
    namesakes = sum(other["name"].casefold() == row["name"].casefold() for other in rows)
    return {
        "id": str(row["id"]),
        "name": row["name"],
        "type_key": row["type_key"],
        "type_label": row["type_label"],
        "disambiguator": _disambiguator(row) if namesakes > 1 else None,
        "fact_count": row["fact_count"],
        "match": ("name", "part", "words")[row["tier"]],
    }


def _disambiguator(row: Row) -> str | None:
    """What tells namesakes apart: the type and the first fact known."""
    parts = [row["type_label"]]
    if row["predicate"] is not None:
        phrase = row["predicate"].replace("_", " ")
        parts.append(f"{phrase} {row['other']}" if row["direction"] == "out" else f"{row['other']} {phrase} it")
    return "; ".join(p for p in parts if p) or None


def _absent(wanted: str, as_of: AsOf, field: str) -> NotFound:
    return NotFound(f"{field}: no entity {wanted!r} in this knowledge base as of seq {as_of.seq}", field=field)


def as_id(text: str) -> UUID | None:
    """The id that a text spells out; None: it is a name."""
    try:
        return UUID(text) if len(text) == 36 else None
    except ValueError:
        return None
