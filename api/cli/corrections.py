"""``twoclocks fact``: a person's word on one fact, and the word taken back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import click

from api.cli.session import ACTOR, base_option, json_option, opened, print_json, the_base
from substrate import reads
from substrate.db import EVERY_BASE


@click.group()
def fact() -> None:
    """One fact: correct its period, close, confirm, reject; corrections: list, undo."""


@fact.command()
@click.argument("fact_id", type=click.UUID)
@click.option("--from", "start", help="A date, a moment, or `unknown`.")
@click.option("--to", "end", help="The last day, month or year, a moment, `open`, or `unknown`.")
@click.option("--why", default="")
@base_option
def correct(fact_id: UUID, start: str | None, end: str | None, why: str, slug: str | None) -> None:
    """Say when FACT_ID began or ended; what is left out stays as the sources have it."""
    from substrate.ledger.corrections import UNKNOWN, correct_period, parse_end, parse_start

    begins = None if start is None else parse_start(None if start == UNKNOWN else start)
    ends = None if end is None else parse_end(end)
    _said(slug, "period corrected", why, lambda d: correct_period(d, fact_id, start=begins, end=ends, why=why))


@fact.command()
@click.argument("fact_id", type=click.UUID)
@click.argument("end")
@click.option("--why", default="")
@base_option
def close(fact_id: UUID, end: str, why: str, slug: str | None) -> None:
    """Say that FACT_ID ended: END is its last day, month or year, a moment, or `unknown`."""
    from substrate.ledger.corrections import close_fact, parse_end

    _said(slug, "fact closed", why, lambda d: close_fact(d, fact_id, parse_end(end), why))


@fact.command()
@click.argument("fact_id", type=click.UUID)
@click.option("--why", default="")
@base_option
def confirm(fact_id: UUID, why: str, slug: str | None) -> None:
    """Vouch for FACT_ID."""
    from substrate.ledger.corrections import confirm_fact

    _said(slug, "fact confirmed", why, lambda d: confirm_fact(d, fact_id, why))


@fact.command()
@click.argument("fact_id", type=click.UUID)
@click.option("--why", default="")
@base_option
def reject(fact_id: UUID, why: str, slug: str | None) -> None:
    """Say that FACT_ID is not so, now and when it is said again."""
    from substrate.ledger.retractions import reject_fact

    click.echo(f"refused  {_act(slug, 'fact rejected', why, lambda d: reject_fact(d, fact_id, why))}")


@fact.command()
@base_option
@json_option
def corrections(slug: str | None, as_json: bool) -> None:
    """People's words on periods that are in force, newest first."""
    with opened() as (_, db), db.read(EVERY_BASE) as conn:
        base = the_base(conn, slug)
        answer = reads.list_corrections(conn, base.id, reads.resolve(conn, base.id), limit=200)
    if as_json:
        print_json(answer)
        return
    for c in answer["corrections"]:
        why = f"  ({c['why']})" if c["why"] else ""
        click.echo(f"{c['id']}  {c['kind']}  {c['subject']} {c['predicate_label']} {c['object']}: {_period(c)}{why}")
    shown = len(answer["corrections"])
    click.echo(f"{answer['total']} in force" + (f"; the first {shown} shown" if answer["truncated"] else ""))


def _period(c: dict[str, Any]) -> str:
    start = (c["valid_from"] or "unknown")[:10] if c["fixes_start"] else "as said"
    end = (c["valid_to"] or c["valid_to_precision"] or "open")[:10] if c["fixes_end"] else "as said"
    return f"{start} → {end}"


@fact.command()
@click.argument("correction_id", type=click.UUID)
@click.option("--why", default="")
@base_option
def undo(correction_id: UUID, why: str, slug: str | None) -> None:
    """Take CORRECTION_ID back."""
    from substrate.ledger.corrections import undo_correction

    _said(slug, "correction undone", why, lambda d: undo_correction(d, correction_id))


def _said(slug: str | None, action: str, why: str, verb: Callable[[Any], Any]) -> None:
    done = _act(slug, action, why, verb)
    click.echo(f"fact {done.fact_id or 'no longer held'}  correction {done.correction_id}")


def _act(slug: str | None, action: str, why: str, verb: Callable[[Any], Any]) -> Any:
    from substrate.ledger import open_door

    with opened() as (_, db):
        with db.read(EVERY_BASE) as reading:
            base = the_base(reading, slug)
        with (
            db.write(base.id) as conn,
            open_door(conn, base.id, actor=ACTOR, via="cli", action=action, why=why) as door,
        ):
            return verb(door)
