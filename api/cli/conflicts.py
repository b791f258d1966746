"""``twoclocks conflicts``: what two sources say against one another, decided by a person."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import click

from api.cli.session import ACTOR, base_option, json_option, opened, print_json, the_base
from substrate import reads
from substrate.db import EVERY_BASE

_VERDICTS = {"close-old": "closed", "keep-both": "kept_both", "reject-new": "rejected_new"}


@click.group()
def conflicts() -> None:
    """Conflicts: list, decide (close the old, keep both, reject the new), revert."""


@conflicts.command("list")
@click.option("--decided", is_flag=True, help="Those decided or withdrawn, in place of those that wait.")
@click.option("--as-of", help="Record time: what waited then.")
@base_option
@json_option
def list_them(decided: bool, as_of: str | None, slug: str | None, as_json: bool) -> None:
    """What waits for a person, oldest first, both sides with their sentences."""
    with opened() as (_, db), db.read(EVERY_BASE) as conn:
        base = the_base(conn, slug)
        moment = reads.resolve(conn, base.id, as_of=as_of)
        answer = reads.list_conflicts(conn, base.id, moment, state="decided" if decided else "open", limit=200)
    if as_json:
        print_json(answer)
        return
    for c in answer["conflicts"]:
        verdict = f"  {c['verdict']} by {c['decided_by']}: {c['why']}" if c["verdict"] else ""
        click.echo(f"{c['id']}  {c['reason']}{verdict}")
        for name in ("old", "new"):
            click.echo(f"  {name}: {_side(c[name], c['predicate_label'])}")
    shown, word = len(answer["conflicts"]), "were decided" if decided else "wait"
    click.echo(f"{answer['total']} conflicts {word}" + (f"; the first {shown} shown" if answer["truncated"] else ""))


def _side(side: dict[str, Any], label: str) -> str:
    start = (side["valid_from"] or side["attested_from"] or "")[:10] or "…"
    end = (side["valid_to"] or "")[:10] or side["end"]
    when = "not held" if side["fact_id"] is None else "undated" if side["undated"] else f"{start} → {end}"
    source = f'"{side["quote"]}"' if side["quote"] else "a person's word" if side["origin"] == "person" else "no quote"
    return f"{side['subject']} {label} {side['object']} ({when})  {source} {side['filename'] or ''}".rstrip()


@conflicts.command()
@click.argument("conflict_id", type=click.UUID)
@click.argument("verdict", type=click.Choice(list(_VERDICTS)))
@click.option("--why", default="")
@base_option
def decide(conflict_id: UUID, verdict: str, why: str, slug: str | None) -> None:
    """Decide CONFLICT_ID."""
    from substrate.ledger import conflicts as ledger

    _act(slug, "conflict decided", why, lambda door: ledger.decide(door, conflict_id, _VERDICTS[verdict], why))  # type: ignore[arg-type]
    click.echo("decided")


@conflicts.command()
@click.argument("conflict_id", type=click.UUID)
@click.option("--why", default="")
@base_option
def revert(conflict_id: UUID, why: str, slug: str | None) -> None:
    """Take the verdict on CONFLICT_ID back; it waits again under an id of its own."""
    from substrate.ledger import conflicts as ledger

    click.echo(f"open again  {_act(slug, 'verdict reverted', why, lambda door: ledger.revert(door, conflict_id, why))}")


def _act(slug: str | None, action: str, why: str, verb: Any) -> Any:
    from substrate.ledger import open_door

    with opened() as (_, db):
        with db.read(EVERY_BASE) as reading:
            base = the_base(reading, slug)
        with (
            db.write(base.id) as conn,
            open_door(conn, base.id, actor=ACTOR, via="cli", action=action, why=why) as door,
        ):
            return verb(door)
