"""``twoclocks relation``: what is unique and how a relation lives in time, declared late."""

from __future__ import annotations

from typing import Any

import click

from api.cli.session import ACTOR, base_option, json_option, opened, print_json, the_base
from substrate import reads
from substrate.db import EVERY_BASE


@click.group()
def relation() -> None:
    """Relations: which look unique, preview a declaration, declare."""


@relation.command()
@base_option
@json_option
def candidates(slug: str | None, as_json: bool) -> None:
    """State relations in use, those that look unique first."""
    with opened() as (_, db), db.read(EVERY_BASE) as conn:
        base = the_base(conn, slug)
        answer = reads.uniqueness(conn, base.id, reads.resolve(conn, base.id))
    if as_json:
        print_json(answer)
        return
    for r in answer["relations"]:
        state = "declared" if r["declared"] else "looks unique" if r["looks_unique"] else "-"
        click.echo(
            f"{r['relation']}  {r['side']}  {state}  holders {r['holders']}, with several {r['with_several']}, "
            f"would close {r['would_close']}, would wait for a person {r['would_review']}"
        )


def _declaration(command: Any) -> Any:
    for option in (
        click.option("--temporal", type=click.Choice(["state", "event", "eternal"])),
        click.option("--inverse-functional/--not-inverse-functional", default=None, help="One subject per object."),
        click.option("--functional/--not-functional", default=None, help="One object per subject at a time."),
        click.argument("key"),
    ):
        command = option(command)
    return command


@relation.command()
@_declaration
@base_option
@json_option
def preview(slug: str | None, as_json: bool, **declared: Any) -> None:
    """What the base would hold if KEY were declared so; writes nothing."""
    from substrate.ledger.redeclare import preview_redeclaration

    with opened() as (_, db), db.read(EVERY_BASE) as conn:
        plan = preview_redeclaration(conn, the_base(conn, slug).id, declared.pop("key"), **declared)
    if as_json:
        print_json({"seq": plan.seq, "plan": plan.fingerprint, "facts": plan.facts, "counts": plan.counts,
                    "examples": plan.examples})  # fmt: skip
        return
    for outcome, examples in plan.examples.items():
        for e in examples:
            beside = f" against {e['against_subject']}, {e['against_object']}" if "reason" in e else ""
            click.echo(f"  {outcome}: {e['subject']}, {e['object']}{beside}")
    click.echo(_figures(plan) + f"; previewed at seq {plan.seq}")


@relation.command()
@_declaration
@click.option("--why", default="")
@click.option("--yes", is_flag=True, help="Do not ask.")
@base_option
def declare(slug: str | None, why: str, yes: bool, **declared: Any) -> None:
    """Preview, ask, and declare KEY so; refused where the base moved on in between."""
    from substrate.ledger import open_door
    from substrate.ledger.redeclare import apply_redeclaration, preview_redeclaration

    with opened() as (_, db):
        with db.read(EVERY_BASE) as reading:
            base = the_base(reading, slug)
            plan = preview_redeclaration(reading, base.id, declared.pop("key"), **declared)
        click.echo(_figures(plan))
        if not yes:
            click.confirm("Declare it so?", abort=True)
        with (
            db.write(base.id) as conn,
            open_door(conn, base.id, actor=ACTOR, via="cli", action="relation redeclared", why=why) as door,
        ):
            apply_redeclaration(door, plan.change, seq=plan.seq, fingerprint=plan.fingerprint)
    click.echo("declared")


def _figures(plan: Any) -> str:
    told = ", ".join(f"{outcome.replace('_', ' ')} {n}" for outcome, n in plan.counts.items() if n)
    return f"of {plan.facts} facts: {told or 'nothing would change'}"
