"""``twoclocks review``: proposals of remembered sentences, decided by a person."""

from __future__ import annotations

from uuid import UUID

import click

from api.cli.session import ACTOR, base_option, json_option, opened, print_json, the_base
from substrate import reads


@click.group()
def review() -> None:
    """Proposals: list, confirm, reject."""


@review.command("list")
@base_option
@json_option
def list_them(slug: str | None, as_json: bool) -> None:
    """What waits for a nod, oldest first, each beneath its sentence."""
    with opened() as (_, db), db.read() as conn:
        base = the_base(conn, slug)
        answer = reads.list_pending(conn, base.id, reads.resolve(conn, base.id), limit=200)
    if as_json:
        print_json(answer)
        return
    for p in answer["pending"]:
        other = p["object"] or p["object_value"]["raw"]
        click.echo(f'"{p["sentence"]}"  (recorded by {p["recorded_by"]})')
        click.echo(f"  {p['id']}  {p['subject']} {p['predicate_label']} {other}")
    shown = len(answer["pending"])
    click.echo(f"{answer['total']} proposals wait" + (f"; the first {shown} shown" if answer["truncated"] else ""))


@review.command()
@click.argument("pending_id", type=click.UUID)
@click.option("--why", default="")
@base_option
def confirm(pending_id: UUID, why: str, slug: str | None) -> None:
    """Make the proposal PENDING_ID a fact."""
    from substrate.ledger import pending

    with opened() as (_, db):
        with db.read() as conn:
            base = the_base(conn, slug)
        pending.confirm(db, base.id, pending_id, actor=ACTOR, via="cli", why=why)
    click.echo("confirmed")


@review.command()
@click.argument("pending_id", type=click.UUID)
@click.option("--why", default="")
@base_option
def reject(pending_id: UUID, why: str, slug: str | None) -> None:
    """Refuse the proposal PENDING_ID, now and when it is said again."""
    from substrate.ledger import pending

    with opened() as (_, db):
        with db.read() as conn:
            base = the_base(conn, slug)
        pending.reject(db, base.id, pending_id, actor=ACTOR, via="cli", why=why)
    click.echo("rejected")
