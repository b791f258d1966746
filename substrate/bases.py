"""Knowledge bases: the unit of ordering, of rights and of partitioning."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4

from substrate import sql
from substrate.db import AnyConnection, WriteConnection
from substrate.errors import Conflict, InvalidInput, NotFound
from substrate.ledger.canonical import genesis_hash
from substrate.ledger.door import Via, open_door
from substrate.ontology.store import declare
from substrate.ontology.terms import parse_ontology

_SLUG = re.compile(r"^[a-z0-9][a-z0-9-]{0,62}$")


@dataclass(frozen=True, slots=True)
class Base:
    """A knowledge base. Its slug never changes: partitions and folders are named by it."""

    id: UUID
    slug: str
    name: str
    created_at: datetime


def create_base(
    connection: WriteConnection,
    slug: str,
    name: str,
    *,
    ontology_yaml: str | None = None,
    actor: str = "person:owner",
    via: Via = "cli",
) -> UUID:
    """Make a base with an empty chain; the transaction reaches it from then on.

    Raises `InvalidInput` for a bad slug and `Conflict` for a taken one.
    """
    if not _SLUG.match(slug):
        raise InvalidInput(f"slug {slug!r}: lower-case letters, digits and hyphens, at most 63", field="slug")
    if not name.strip():
        raise InvalidInput("name must not be blank", field="name")
    ontology = parse_ontology(ontology_yaml) if ontology_yaml is not None else None
    kb_id = uuid4()
    connection.execute(sql.query("reach_further"), {"kb_id": kb_id})
    row = connection.execute(sql.query("create_base"), {"id": kb_id, "slug": slug, "name": name.strip()}).fetchone()
    if row is None:
        raise Conflict(f"there is a base {slug!r} already", field="slug")
    connection.execute(sql.query("create_head"), {"kb_id": kb_id, "hash": genesis_hash(kb_id)})
    if ontology is not None:
        with open_door(connection, kb_id, actor=actor, via=via, action="ontology declared") as door:
            declare(door, ontology)
    return kb_id


def base_by_slug(connection: AnyConnection, slug: str) -> Base:
    """The base of that slug, whatever the connection reaches. Raises `NotFound`."""
    row = connection.execute(sql.query("base_by_slug"), {"slug": slug}).fetchone()
    if row is None:
        raise NotFound(f"no knowledge base {slug!r}", field="kb")
    return Base(**row)


def base_by_id(connection: AnyConnection, kb_id: UUID) -> Base:
    """Raises `NotFound`, also for a base that the connection does not reach."""
    row = connection.execute(sql.query("base_by_id"), {"kb_id": kb_id}).fetchone()
    if row is None:
        raise NotFound("no knowledge base with that id", field="kb_id")
    return Base(**row)


def list_bases(connection: AnyConnection) -> list[Base]:
    """Every base that the connection reaches, by slug."""
    rows = connection.execute(sql.query("bases")).fetchall()
    return [Base(r["id"], r["slug"], r["name"], r["created_at"]) for r in rows]
