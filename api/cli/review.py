"""``twoclocks review``: proposals of remembered sentences, decided by a person, and what was refused."""

from __future__ import annotations

from uuid import UUID

import click

from api.cli.session import ACTOR, base_option, json_option, opened, print_json, the_base
from substrate import reads
from substrate.db import EVERY_BASE


@click.group()
def review() -> None:
    """Proposals: list, confirm, reject. Refusals: list, lift."""


@review.command("list")
@base_option
@json_option
def list_them(slug: str | None, as_json: bool) -> None:
    """What waits for a nod, oldest first, each beneath its sentence."""
    with opened() as (_, db), db.read(EVERY_BASE) as conn:
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
    from substrate.ledger import verdicts

    with opened() as (_, db):
        with db.read(EVERY_BASE) as conn:
            base = the_base(conn, slug)
        done = verdicts.confirm(db, base.id, pending_id, actor=ACTOR, via="cli", why=why)
    click.echo(f"confirmed  (batch {done.batch_id})")


@review.command()
@click.argument("pending_id", type=click.UUID)
@click.option("--why", default="")
@base_option
def reject(pending_id: UUID, why: str, slug: str | None) -> None:
    """Refuse the proposal PENDING_ID, now and when it is said again."""
    from substrate.ledger import verdicts

    with opened() as (_, db):
        with db.read(EVERY_BASE) as conn:
            base = the_base(conn, slug)
        done = verdicts.reject(db, base.id, pending_id, actor=ACTOR, via="cli", why=why)
    click.echo(f"rejected  (batch {done.batch_id})")


@review.command()
@base_option
@json_option
def refusals(slug: str | None, as_json: bool) -> None:
    """What was refused and is in force, with how often and where it was said again."""
    with opened() as (_, db), db.read(EVERY_BASE) as conn:
        base = the_base(conn, slug)
        answer = reads.list_refusals(conn, base.id, reads.resolve(conn, base.id), limit=200)
    if as_json:
        print_json(answer)
        return
    for r in answer["refusals"]:
        why = f"  ({r['why']})" if r["why"] else ""
        said = "; ".join(d["external_id"] for d in r["documents"])
        again = f"  said again {r['restatements']} times: {said}" if r["restatements"] else ""
        click.echo(f"{r['id']}  {r['subject']} {r['predicate_label']} {r['object']}{why}{again}")
    shown = len(answer["refusals"])
    click.echo(f"{answer['total']} refusals in force" + (f"; the first {shown} shown" if answer["truncated"] else ""))


@review.command()
@click.argument("refusal_id", type=click.UUID)
@click.option("--why", default="")
@base_option
def lift(refusal_id: UUID, why: str, slug: str | None) -> None:
    """Let what REFUSAL_ID refuses come in again; nothing is asserted by this."""
    from substrate.ledger import open_door
    from substrate.ledger import refusals as refused

    with opened() as (_, db):
        with db.read(EVERY_BASE) as reading:
            base = the_base(reading, slug)
        with (
            db.write(EVERY_BASE) as conn,
            open_door(conn, base.id, actor=ACTOR, via="cli", action="refusal lifted", why=why) as door,
        ):
            refused.lift(door, refusal_id)
    click.echo("lifted")
