"""``twoclocks index``: build a base's lexical index anew from its passages."""

from __future__ import annotations

import click

from api.cli.session import base_option, opened, the_base
from substrate.db import EVERY_BASE
from substrate.errors import Unavailable


@click.group()
def index() -> None:
    """The lexical index, which holds nothing that the database does not."""


@index.command()
@base_option
def rebuild(slug: str | None) -> None:
    """Build the index anew beside the one in use and swap; searches go on meanwhile."""
    from substrate.retrieval.lexical import rebuild_index

    with opened() as (settings, db):
        with db.read(EVERY_BASE) as conn:
            base = the_base(conn, slug)
        done = rebuild_index(db, base.id, settings)
    if done.skipped:
        raise Unavailable("; ".join(done.failures))
    click.echo(f"{done.written} passages indexed in {done.seconds:.1f} s")
