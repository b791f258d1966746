"""``twoclocks review``: proposals of remembered sentences, decided by a person, and what was refused."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import click

from api.cli.session import ACTOR, base_option, json_option, opened, print_json, the_base
from substrate import reads
from substrate.db import EVERY_BASE


@click.group()
def review() -> None:
    """Proposals: list, confirm, reject, decide many, take back. Refusals: list, lift."""


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
@click.option("--confirm", "confirmed", multiple=True, type=click.UUID, metavar="ID", help="May be given many times.")
@click.option("--reject", "rejected", multiple=True, type=click.UUID, metavar="ID", help="May be given many times.")
@click.option("--why", default="")
@base_option
def decide(confirmed: tuple[UUID, ...], rejected: tuple[UUID, ...], why: str, slug: str | None) -> None:
    """Decide many proposals at once, all or none."""
    from substrate.ledger import open_door, verdicts

    with opened() as (_, db):
        with db.read(EVERY_BASE) as conn:
            base = the_base(conn, slug)
        with db.write(base.id) as writing:
            with open_door(writing, base.id, actor=ACTOR, via="cli", action="verdicts given", why=why) as door:
                done = verdicts.decide(door, confirmed, rejected, why)
    click.echo(f"{len(done.confirmed)} confirmed, {len(done.refusals)} rejected  (batch {done.batch_id})")


@review.command("verdicts")
@base_option
@json_option
def list_verdicts(slug: str | None, as_json: bool) -> None:
    """What was decided in which batch, newest first."""
    with opened() as (_, db), db.read(EVERY_BASE) as conn:
        base = the_base(conn, slug)
        answer = reads.list_verdicts(conn, base.id, reads.resolve(conn, base.id), limit=200)
    if as_json:
        print_json(answer)
        return
    for batch in answer["verdicts"]:
        back = f"  taken back by {batch['reverted']['by']}" if batch["reverted"] else ""
        click.echo(f"{batch['id']}  {batch['recorded_at']}  {batch['by']}{back}")
        for v in batch["verdicts"]:
            click.echo(f"  {v['verdict']}  {v['subject']} {v['phrase']} {v['object']}")
    shown = len(answer["verdicts"])
    click.echo(f"{answer['total']} batches" + (f"; the last {shown} shown" if answer["truncated"] else ""))


@review.command()
@click.argument("batch_id", type=click.UUID)
@click.option("--why", default="")
@base_option
def revert(batch_id: UUID, why: str, slug: str | None) -> None:
    """Take back every verdict of BATCH_ID; its proposals wait again."""
    from substrate.ledger import open_door, verdicts

    with opened() as (_, db):
        with db.read(EVERY_BASE) as conn:
            base = the_base(conn, slug)
        with db.write(base.id) as writing:
            with open_door(writing, base.id, actor=ACTOR, via="cli", action="verdicts reverted", why=why) as door:
                done = verdicts.revert_batch(door, batch_id, why)
    click.echo(f"taken back; {len(done.waiting)} proposals wait again")


@review.command()
@click.option("--lifted", is_flag=True, help="Those that are in force no more: when, by whom and why lifted.")
@base_option
@json_option
def refusals(lifted: bool, slug: str | None, as_json: bool) -> None:
    """What was refused and is in force, with how often and where it was said again."""
    with opened() as (_, db), db.read(EVERY_BASE) as conn:
        base = the_base(conn, slug)
        answer = reads.list_refusals(conn, base.id, reads.resolve(conn, base.id), lifted=lifted, limit=200)
    if as_json:
        print_json(answer)
        return
    for r in answer["refusals"]:
        why = f"  ({r['why']})" if r["why"] else ""
        said = "; ".join(_times(d) for d in r["documents"])
        again = f"  said again {r['restatements']} times: {said}" if r["restatements"] else ""
        gone = f"  lifted {r['lifted']['at']} by {r['lifted']['by']} {r['lifted']['why']}".rstrip() if lifted else ""
        click.echo(f"{r['id']}  {r['subject']} {r['predicate_label']} {r['object']}{why}{again}{gone}")
    shown, state = len(answer["refusals"]), "lifted" if lifted else "in force"
    click.echo(f"{answer['total']} refusals {state}" + (f"; the first {shown} shown" if answer["truncated"] else ""))


def _times(document: dict[str, Any]) -> str:
    often = f" ({document['times']} times)" if document["times"] > 1 else ""
    return f"{document['external_id']}{often}"


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
