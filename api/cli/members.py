"""``twoclocks member``: who belongs to a base, and in which role."""

from __future__ import annotations

import click

from api.cli.session import base_option, opened, owner, the_base
from substrate import access
from substrate.db import EVERY_BASE
from substrate.errors import NotFound


@click.group()
def member() -> None:
    """Who belongs to a base: add, remove, list."""


@member.command()
@click.argument("person")
@click.option("--role", type=click.Choice(["viewer", "editor", "admin", "owner"]), default="viewer", show_default=True)
@base_option
def add(person: str, role: access.Role, slug: str | None) -> None:
    """Give PERSON a role in the base, or change it. Made if nobody has this name."""
    with opened() as (_, db), db.write(EVERY_BASE) as conn:
        access.set_member(conn, the_base(conn, slug).id, owner(conn, person), role)
    click.echo(f"{person} is {role}")


@member.command()
@click.argument("person")
@base_option
def remove(person: str, slug: str | None) -> None:
    """Take PERSON out of the base; their tokens stop seeing it with the next call."""
    with opened() as (_, db), db.write(EVERY_BASE) as conn:
        found = access.person_named(conn, person)
        if found is None:
            raise NotFound(f"nobody is named {person!r}", field="person")
        access.remove_member(conn, the_base(conn, slug).id, found)
    click.echo(f"{person} is no member now")


@member.command("list")
@base_option
def list_them(slug: str | None) -> None:
    """Role and name of every member."""
    with opened() as (_, db), db.read(EVERY_BASE) as conn:
        for row in access.list_members(conn, the_base(conn, slug).id):
            click.echo(f"{row['role']:6}  {row['name']}")
