"""``twoclocks entity``: two names of one thing are joined and parted, and a person says what something is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar
from uuid import UUID

import click

from api.cli.session import ACTOR, base_option, json_option, opened, print_json, the_base
from substrate import reads
from substrate.db import EVERY_BASE

if TYPE_CHECKING:
    from substrate.db import AnyConnection
    from substrate.ledger import Door

T = TypeVar("T")


@click.group()
def entity() -> None:
    """Entities: candidates, same, apart; merge, part, merges; retype, untype, retypings. ENTITY is a name or an id."""


def _act(slug: str | None, action: str, why: str, act: Callable[[Door], T]) -> T:
    from substrate.ledger import open_door

    with opened() as (_, db):
        with db.read(EVERY_BASE) as conn:
            base = the_base(conn, slug)
        with db.write(base.id) as writing:
            with open_door(writing, base.id, actor=ACTOR, via="cli", action=action, why=why) as door:
                return act(door)


def _meant(conn: AnyConnection, kb_id: UUID, text: str, field: str) -> UUID:
    """An id stands for itself, a name for the one entity that bears it."""
    from substrate.reads.entities import as_id, subject

    return as_id(text) or subject(conn, kb_id, text, reads.resolve(conn, kb_id), field=field).id


@entity.command()
@click.argument("keep")
@click.argument("absorb")
@click.option("--why", default="")
@base_option
def merge(keep: str, absorb: str, why: str, slug: str | None) -> None:
    """Make ABSORB one with KEEP, which gives the name."""
    from substrate.ledger import merges

    def act(door: Door) -> UUID:
        kept = _meant(door.connection, door.kb_id, keep, "keep")
        return merges.merge(door, kept, _meant(door.connection, door.kb_id, absorb, "absorb"), why)

    click.echo(f"merged  {_act(slug, 'entities merged', why, act)}")


@entity.command()
@click.argument("merge_id", type=click.UUID)
@click.option("--why", default="")
@base_option
def part(merge_id: UUID, why: str, slug: str | None) -> None:
    """Revert MERGE_ID: what is held is what would be, had it never been made."""
    from substrate.ledger import merges

    _act(slug, "merge reverted", why, lambda door: merges.revert_merge(door, merge_id, why))
    click.echo("parted")


@entity.command("merges")
@base_option
@json_option
def list_merges(slug: str | None, as_json: bool) -> None:
    """Merges, newest first, reverted ones included."""
    with opened() as (_, db), db.read(EVERY_BASE) as conn:
        base = the_base(conn, slug)
        answer = reads.list_merges(conn, base.id, reads.resolve(conn, base.id), limit=200)
    if as_json:
        print_json(answer)
        return
    for m in answer["merges"]:
        back = f"  parted by {m['reverted']['by']}" if m["reverted"] else ""
        click.echo(f"{m['id']}  {m['recorded_at']}  {m['kept']} = {m['absorbed']}  {m['by']}{back}")
    shown = len(answer["merges"])
    click.echo(f"{answer['total']} merges" + (f"; the last {shown} shown" if answer["truncated"] else ""))


@entity.command()
@click.argument("entity_text", metavar="ENTITY")
@click.argument("type_key", required=False)
@click.option("--none", "no_type", is_flag=True, help="None of the declared classes fits.")
@click.option("--why", default="")
@base_option
def retype(entity_text: str, type_key: str | None, no_type: bool, why: str, slug: str | None) -> None:
    """Say that ENTITY is of the class TYPE_KEY, above every guess."""
    from substrate.ledger import types

    if (type_key is None) != no_type:
        raise click.UsageError("give TYPE_KEY or --none")

    def act(door: Door) -> UUID:
        return types.retype(door, _meant(door.connection, door.kb_id, entity_text, "entity"), type_key, why)

    click.echo(f"retyped  {_act(slug, 'entity retyped', why, act)}")


@entity.command()
@click.argument("retyping_id", type=click.UUID)
@click.option("--why", default="")
@base_option
def untype(retyping_id: UUID, why: str, slug: str | None) -> None:
    """Take RETYPING_ID back: the word before it counts, else the guess."""
    from substrate.ledger import types

    _act(slug, "retyping reverted", why, lambda door: types.revert_retype(door, retyping_id, why))
    click.echo("taken back")


@entity.command("retypings")
@base_option
@json_option
def list_retypings(slug: str | None, as_json: bool) -> None:
    """What people said of types, newest first."""
    with opened() as (_, db), db.read(EVERY_BASE) as conn:
        base = the_base(conn, slug)
        answer = reads.list_retypings(conn, base.id, reads.resolve(conn, base.id), limit=200)
    if as_json:
        print_json(answer)
        return
    for t in answer["retypings"]:
        state = "taken back" if t["reverted"] else "in force" if t["in_force"] else "followed by another"
        click.echo(f"{t['id']}  {t['entity']}: {t['type_key'] or 'no type'}  {t['by']}  {state}")
    shown = len(answer["retypings"])
    click.echo(f"{answer['total']} retypings" + (f"; the last {shown} shown" if answer["truncated"] else ""))


@entity.command("candidates")
@click.option("--limit", default=50, show_default=True)
@base_option
@json_option
def list_candidates(limit: int, slug: str | None, as_json: bool) -> None:
    """Pairs that look alike and that nothing decides, the likeliest first."""
    from substrate.identity.review import list_doubts

    with opened() as (_, db), db.read(EVERY_BASE) as conn:
        base = the_base(conn, slug)
        answer = list_doubts(conn, base.id, reads.resolve(conn, base.id), limit=limit)
    if as_json:
        print_json(answer)
        return
    for c in answer["candidates"]:
        click.echo(f"{c['id']}  {c['one']['name']} ? {c['other']['name']}  {'; '.join(c['reasons'])}")
        for end in ("one", "other"):
            for sentence in c[end]["sentences"]:
                click.echo(f"    {c[end]['name']}: {sentence['quote']}")
    shown = len(answer["candidates"])
    click.echo(f"{answer['total']} pairs" + (f"; the first {shown} shown" if answer["truncated"] else ""))


@entity.command()
@click.argument("candidate_id", type=click.UUID)
@click.option("--why", default="")
@base_option
def same(candidate_id: UUID, why: str, slug: str | None) -> None:
    """Say that the pair CANDIDATE_ID is one thing; it is merged."""
    from substrate.identity import review

    merge_id = _act(slug, "entities merged", why, lambda door: review.same(door, candidate_id, why))
    click.echo(f"merged  {merge_id}")


@entity.command()
@click.argument("candidate_id", type=click.UUID)
@click.option("--why", default="")
@base_option
def apart(candidate_id: UUID, why: str, slug: str | None) -> None:
    """Say that the pair CANDIDATE_ID is two things; no document will make it one."""
    from substrate.identity import review

    distinction = _act(slug, "entities told apart", why, lambda door: review.not_same(door, candidate_id, why))
    click.echo(f"apart  {distinction}")


@entity.command("reunite")
@click.argument("distinction_id", type=click.UUID)
@click.option("--why", default="")
@base_option
def reunite(distinction_id: UUID, why: str, slug: str | None) -> None:
    """Take DISTINCTION_ID back: the two may be one again, if documents say so."""
    from substrate.identity import review

    _act(slug, "distinction reverted", why, lambda door: review.take_back(door, distinction_id))
    click.echo("taken back")
