"""``twoclocks ledger``."""

from __future__ import annotations

import click

from api.cli.session import base_option, opened, the_base


@click.group()
def ledger() -> None:
    """The ledger's chain."""


@ledger.command()
@base_option
def verify(slug: str | None) -> None:
    """Recompute the chain and compare every table with it; exit status 1 if anything differs."""
    from substrate.ledger.verify import verify as verify_ledger

    with opened() as (_, db), db.read() as conn:
        report = verify_ledger(conn, the_base(conn, slug).id)
    if not report.ok:
        raise click.ClickException(f"does not verify: {report.problem}")
    click.echo(f"verifies: {report.events} events in {report.head_seq} transactions")
