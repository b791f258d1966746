"""What commands share: settings, a database, the base they mean, and the name under which they act."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from uuid import UUID

import click

from substrate import access, bases, sql
from substrate.bases import Base
from substrate.db import AnyConnection, Database, WriteConnection, open_database
from substrate.errors import InvalidInput
from substrate.settings import Settings, load_settings, tame_native_threads

F = TypeVar("F", bound=Callable[..., Any])
OWNER = "owner"
"""The person at the keyboard: whoever reaches the database reaches everything in it."""
ACTOR = f"person:{OWNER}"


@contextmanager
def opened() -> Iterator[tuple[Settings, Database]]:
    """Settings and a migrated database with a small pool."""
    settings = load_settings()
    tame_native_threads(settings.threads)
    db = open_database(settings.model_copy(update={"pool_size": 4}), application_name="twoclocks-cli")
    try:
        yield settings, db
    finally:
        db.close()


def base_option(command: F) -> F:
    """``--kb SLUG``; may be left out where there is one base."""
    return click.option("--kb", "slug", metavar="SLUG", help="Which base; not needed if there is one.")(command)


def json_option(command: F) -> F:
    """``--json``: the structured answer instead of text."""
    return click.option("--json", "as_json", is_flag=True, help="The structured answer.")(command)


def the_base(conn: AnyConnection, slug: str | None) -> Base:
    """The base of that slug, else the only one. From here on the connection reaches no other."""
    base = _meant(conn, slug)
    conn.execute(sql.query("reach_only"), {"kb_id": base.id})
    return base


def _meant(conn: AnyConnection, slug: str | None) -> Base:
    if slug is not None:
        return bases.base_by_slug(conn, slug)
    found = bases.list_bases(conn)
    if not found:
        raise InvalidInput("there is no base yet; make one with: twoclocks kb create SLUG")
    if len(found) > 1:
        raise InvalidInput("there are several bases; say which with --kb: " + ", ".join(b.slug for b in found))
    return found[0]


def owner(conn: WriteConnection, name: str = OWNER) -> UUID:
    """The person of that name, made if need be."""
    return access.person_named(conn, name) or access.create_person(conn, name)


def print_json(answer: object) -> None:
    """As MCP's structured content: one JSON document."""
    click.echo(json.dumps(answer, ensure_ascii=False, indent=2, default=str))
