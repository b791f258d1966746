"""``twoclocks funnel``: where everything went between passages and facts, as a table."""

from __future__ import annotations

import sys

import click

from api.cli.session import json_option, opened, print_json, the_base
from substrate.db import EVERY_BASE


@click.command()
@click.argument("slug", metavar="[BASE]", required=False)
@json_option
def funnel(slug: str | None, as_json: bool) -> None:
    """Passages, statements seen, claims, bindings, entities, facts: what went on, and what was dropped by code."""
    from substrate.funnel import count_funnel, run_funnel

    with opened() as (_, db):
        with db.read(EVERY_BASE) as conn:
            base = the_base(conn, slug)
        run_funnel(db, base.id)
        with db.read(base.id) as conn:
            found = count_funnel(conn, base.id)
    if as_json:
        print_json(found.shown())
        return
    from rich.console import Console
    from rich.table import Table

    from substrate.funnel import picture

    table = Table(box=None)
    for name in ("", "in", "on", "", "of which", "dropped"):
        table.add_column(name, justify="right" if name in ("in", "on") else "left")
    for row in picture.rows(found):
        table.add_row(*map(str, row))
    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(table)
    click.echo(picture.sentences(found))
    click.echo(picture.facts(found))
    if found.undecided:
        click.echo("undecided: " + ", ".join(f"{phrase} {claims}" for phrase, claims in found.undecided))
    if not found.balanced:
        raise click.ClickException("not everything is accounted for")
