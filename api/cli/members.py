"""``twoclocks member`` and ``twoclocks workspace``: who belongs to a base, and to whom else it is open."""

from __future__ import annotations

import click

from api.cli.session import base_option, opened, owner, the_base
from substrate import access
from substrate.db import EVERY_BASE, NO_BASE
from substrate.errors import NotFound


@click.group()
def member() -> None:
    """Who belongs to a base: add, remove, list; and to whom else it is open."""


@member.command()
@click.argument("person")
@click.option("--role", type=click.Choice(["viewer", "editor", "admin", "owner"]), default="viewer", show_default=True)
@base_option
def add(person: str, role: access.Role, slug: str | None) -> None:
    """Give PERSON a role in the base, or change it. Made if nobody has this name."""
    with opened() as (_, db), db.write(EVERY_BASE) as conn:
        access.give_role(conn, the_base(conn, slug).id, "owner", owner(conn, person), role)
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
        access.take_out_by_operator(conn, the_base(conn, slug).id, found)
    click.echo(f"{person} is no member now")


@member.command("list")
@base_option
def list_them(slug: str | None) -> None:
    """Role and name of every member."""
    with opened() as (_, db), db.read(EVERY_BASE) as conn:
        for row in access.list_members(conn, the_base(conn, slug).id):
            click.echo(f"{row['role']:6}  {row['name']}")


@member.command("open")
@click.option("--to", "open_to", type=click.Choice(["members", "workspace", "organisation"]), help="Who may read it.")
@click.option("--workspace", metavar="SLUG", help="The workspace that the base belongs to.")
@click.option("--public/--not-public", default=None, help="Whether anybody may read it without a token.")
@base_option
def open_(open_to: access.OpenTo | None, workspace: str | None, public: bool | None, slug: str | None) -> None:
    """Say to whom besides its members the base is open, in force with the next call; without options, show it."""
    with opened() as (_, db), db.write(EVERY_BASE) as conn:
        base = the_base(conn, slug)
        had = access.openness(conn, base.id)
        wanted = access.Openness(
            open_to or had.open_to,
            had.public_read if public is None else public,
            workspace or had.workspace,
        )
        if wanted != had:
            access.set_openness(conn, base.id, wanted)
    anybody = ", and to anybody without a token" if wanted.public_read else ""
    click.echo(f"{base.slug} is open to its {wanted.open_to}{anybody}; workspace {wanted.workspace or '-'}")


@click.group()
def workspace() -> None:
    """Workspaces of an organisation, to which bases may be open: create, list, join, leave."""


@workspace.command("create")
@click.argument("slug")
@click.option("--organisation", required=True, help="Made if there is none of the name.")
def create_workspace(slug: str, organisation: str) -> None:
    """Make the workspace SLUG."""
    with opened() as (_, db), db.write(NO_BASE) as conn:
        access.make_workspace(conn, slug, organisation)
    click.echo(f"{slug} of {organisation}")


@workspace.command("list")
def list_workspaces() -> None:
    """Every workspace, its organisation and how many people are in it."""
    with opened() as (_, db), db.read(NO_BASE) as conn:
        for row in access.list_workspaces(conn):
            click.echo(f"{row['slug']}  {row['organisation']}  {row['people']} people")


@workspace.command()
@click.argument("slug")
@click.argument("person")
def join(slug: str, person: str) -> None:
    """Put PERSON into the workspace SLUG. Made if nobody has this name."""
    with opened() as (_, db), db.write(NO_BASE) as conn:
        access.join_workspace(conn, slug, owner(conn, person))
    click.echo(f"{person} is in {slug}")


@workspace.command()
@click.argument("slug")
@click.argument("person")
def leave(slug: str, person: str) -> None:
    """Take PERSON out of the workspace SLUG; what is open to it is gone for them with the next call."""
    with opened() as (_, db), db.write(NO_BASE) as conn:
        found = access.person_named(conn, person)
        if found is None:
            raise NotFound(f"nobody is named {person!r}", field="person")
        access.leave_workspace(conn, slug, found)
    click.echo(f"{person} is no longer in {slug}")
