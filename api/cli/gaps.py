"""``twoclocks gaps``: questions that found nothing, those asked most first."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

import click

from api.cli.asking import show
from api.cli.session import ACTOR, base_option, json_option, opened, the_base
from substrate import reads
from substrate.db import EVERY_BASE

STATES = ("open", "answered", "dismissed", "any")


@click.group()
def gaps() -> None:
    """Questions that found nothing. They close by themselves when a later document answers them."""


@gaps.command("list")
@click.option("--state", type=click.Choice(STATES), default="open", show_default=True)
@click.option("--limit", default=50, show_default=True)
@click.option("--cursor")
@base_option
@json_option
def list_(
    state: reads.GapState | Literal["any"], limit: int, cursor: str | None, slug: str | None, as_json: bool
) -> None:
    """Questions with how often and by how many they were asked."""
    with opened() as (_, db), db.read(EVERY_BASE) as conn:
        kb_id = the_base(conn, slug).id
        moment = reads.resolve(conn, kb_id)
        answer = reads.list_gaps(
            conn, kb_id, moment, state=None if state == "any" else state, limit=limit, cursor=cursor
        )
    lines = [
        f"{g['asked']} times by {g['askers']}: {g['question']}  [{g['state']}] {g['gap_id']}" for g in answer["gaps"]
    ]
    show(answer, as_json, f"{answer['total']} questions", *lines)


@gaps.command()
@click.argument("gap_id", type=click.UUID)
@click.option("--why", default="", help="The reason, shown with the question.")
@base_option
def dismiss(gap_id: UUID, why: str, slug: str | None) -> None:
    """Lay GAP_ID aside."""
    from substrate import gaps as kept

    with opened() as (_, db):
        with db.read(EVERY_BASE) as conn:
            kb_id = the_base(conn, slug).id
        with db.write(kb_id) as conn:
            kept.dismiss(conn, kb_id, gap_id, by=ACTOR, why=why)
    click.echo("laid aside")


@gaps.command()
@click.argument("gap_id", type=click.UUID)
@base_option
def reopen(gap_id: UUID, slug: str | None) -> None:
    """Open GAP_ID again: what was taken for an answer is none."""
    from substrate import gaps as kept

    with opened() as (_, db):
        with db.read(EVERY_BASE) as conn:
            kb_id = the_base(conn, slug).id
        with db.write(kb_id) as conn:
            kept.reopen(conn, kb_id, gap_id)
    click.echo("open again")
