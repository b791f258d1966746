"""``twoclocks kb``."""

from __future__ import annotations

from pathlib import Path

import click

from api.cli.session import ACTOR, opened, owner
from substrate import access, bases
from substrate.db import EVERY_BASE, NO_BASE


@click.group()
def kb() -> None:
    """Make and list knowledge bases."""


@kb.command()
@click.argument("slug")
@click.option("--name", help="A name for people; the slug if left out.")
@click.option("--ontology", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A YAML file.")
def create(slug: str, name: str | None, ontology: Path | None) -> None:
    """Make a base. Its SLUG never changes."""
    text = ontology.read_text(encoding="utf-8") if ontology else None
    with opened() as (_, db), db.write(NO_BASE) as conn:
        kb_id = bases.create_base(conn, slug, name or slug, ontology_yaml=text, actor=ACTOR)
        access.set_member(conn, kb_id, owner(conn), "owner")
    click.echo(f"{slug}  {kb_id}")


@kb.command("list")
def list_them() -> None:
    """Every base with its id."""
    with opened() as (_, db), db.read(EVERY_BASE) as conn:
        for base in bases.list_bases(conn):
            click.echo(f"{base.slug}  {base.id}  {base.name}")
