"""What a search may be narrowed to before anything is ranked: where a passage stands, and of whom it speaks.

Both arms judge by the same filters: the words' index by its own fields, the vectors' in the query, and the tail, which
no index holds yet, in memory. So ten passages among a million are all found.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from substrate import sql
from substrate.axes.as_of import AsOf
from substrate.db import ReadConnection
from substrate.errors import InvalidInput, NotFound

MOST_NAMED = 100
"""Documents, sources or types that one search may name."""


class Place(NamedTuple):
    """Where a passage stands. `dated` is the document's own date; `types` are its kind and its media type."""

    chunk_id: UUID
    document_id: UUID
    source_id: UUID
    namespace: str
    types: tuple[str, ...]
    dated: datetime | None


@dataclass(frozen=True, slots=True)
class Filters:
    """Every filter that is set must hold; within one, any of its values. ``since`` to ``until`` is half-open."""

    namespace: str | None = None
    documents: frozenset[UUID] = frozenset()
    sources: frozenset[UUID] = frozenset()
    types: frozenset[str] = frozenset()
    since: datetime | None = None
    until: datetime | None = None
    passages: frozenset[UUID] | None = None
    """Those that speak of the entity asked for, and hold the phrases."""
    without: frozenset[UUID] = frozenset()
    """Those that hold what is to be left out."""

    def __bool__(self) -> bool:
        return self != _NONE

    def allows(self, place: Place) -> bool:
        """The same that the index and the query ask."""
        return (
            (self.namespace is None or place.namespace == self.namespace)
            and (not self.documents or place.document_id in self.documents)
            and (not self.sources or place.source_id in self.sources)
            and (not self.types or not self.types.isdisjoint(place.types))
            and self._in_time(place.dated)
            and (self.passages is None or place.chunk_id in self.passages)
            and place.chunk_id not in self.without
        )

    def _in_time(self, dated: datetime | None) -> bool:
        if self.since is None and self.until is None:
            return True
        return (
            dated is not None
            and (self.since is None or dated >= self.since)
            and (self.until is None or dated < self.until)
        )

    def parameters(self) -> dict[str, object]:
        """What the queries bind; null for what is not asked."""
        return {
            "namespace": self.namespace,
            "documents": sorted(self.documents) or None,
            "sources": sorted(self.sources) or None,
            "types": sorted(self.types) or None,
            "since": self.since,
            "until": self.until,
            "passages": None if self.passages is None else sorted(self.passages),
            "without": sorted(self.without) or None,
        }


_NONE = Filters()


@dataclass(frozen=True, slots=True)
class Narrowing:
    """The filters in a caller's words; dates are of any precision, and ``until`` names its last moment."""

    namespace: str | None = None
    documents: Sequence[str] = ()
    """Ids."""
    sources: Sequence[str] = ()
    """Names of sources, or their ids."""
    types: Sequence[str] = ()
    """``file``, ``memory``, or a media type such as ``text/markdown``."""
    entity: str | None = None
    """A name or an id."""
    since: str | None = None
    until: str | None = None
    phrases: Sequence[str] = ()
    """Each must stand in the passage or its title, word after word; see `operators`."""
    without: Sequence[str] = ()
    """Words or phrases that must not stand there."""
    titles: Sequence[str] = ()
    """Words or phrases of the file name, the title, the author or a heading."""


def narrowed(conn: ReadConnection, kb_id: UUID, asked: Narrowing, as_of: AsOf) -> Filters:
    """The filters that a caller means at a moment.

    Raises `InvalidInput` or `NotFound` naming what is not a date, an id, a source of this base or an entity then.
    """
    from substrate.reads.moments import parse_bucket

    for field, named in _named_texts(asked):
        if len(named) > MOST_NAMED:
            raise InvalidInput(f"{field}: at most {MOST_NAMED} in one search", field=field)
        if not all(text.strip() for text in named):
            raise InvalidInput(f"{field}: must not be blank", field=field)
        if any("\0" in text for text in named):
            raise InvalidInput(f"{field}: holds a null character", field=field)
    found = Filters(
        asked.namespace,
        frozenset(_document_id(text) for text in asked.documents),
        _sources(conn, kb_id, asked.sources),
        frozenset(asked.types),
        parse_bucket(asked.since, "since").start if asked.since is not None else None,
        parse_bucket(asked.until, "until").end if asked.until is not None else None,
    )
    if found.since is not None and found.until is not None and found.until <= found.since:
        raise InvalidInput("until: must not lie before since", field="until")
    if asked.entity is None:
        return found
    return replace(found, passages=_passages_of(conn, kb_id, asked.entity, as_of))


def _named_texts(asked: Narrowing) -> Iterator[tuple[str, Sequence[str]]]:
    yield from (("document_id", asked.documents), ("source", asked.sources), ("type", asked.types))
    if asked.namespace:
        yield "namespace", (asked.namespace,)


def _document_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise InvalidInput(f"document_id: {text!r} is not an id", field="document_id") from None


def _sources(conn: ReadConnection, kb_id: UUID, named: Collection[str]) -> frozenset[UUID]:
    if not named:
        return frozenset()
    rows = conn.execute(sql.query("filter_sources"), {"kb_id": kb_id, "named": sorted(set(named))}).fetchall()
    if missing := sorted(set(named) - {row["named"] for row in rows}):
        raise NotFound(f"source: there is no source {missing[0]!r} in this base", field="source")
    return frozenset(row["id"] for row in rows)


def _passages_of(conn: ReadConnection, kb_id: UUID, entity: str, as_of: AsOf) -> frozenset[UUID]:
    from substrate.reads.entities import subject

    members = subject(conn, kb_id, entity, as_of, field="entity").members
    values = sql.parameters(as_of, kb_id=kb_id, members=list(members))
    rows = conn.execute(sql.query("filter_passages_of_entity", as_of), values).fetchall()
    return frozenset(row["id"] for row in rows)


def place_of(row: Any) -> Place:
    """The place of a row of ``retrieval_events``."""
    types = tuple(t for t in (row["kind"], row["media_type"]) if t)
    return Place(row["id"], row["document_id"], row["source_id"], row["namespace"], types, row["doc_time"])
