"""``twoclocks token``."""

from __future__ import annotations

from uuid import UUID

import click

from api.cli.session import OWNER, opened, owner
from substrate import access, bases
from substrate.db import EVERY_BASE, NO_BASE
from substrate.reads.moments import rfc3339


@click.group()
def token() -> None:
    """Personal tokens: create, list, revoke."""


@token.command()
@click.argument("name")
@click.option("--person", default=OWNER, show_default=True, help="Made if nobody has this name.")
@click.option("--scope", type=click.Choice(["read", "write", "push"]), default="read", show_default=True)
@click.option("--kb", "slugs", multiple=True, metavar="SLUG", help="Only these bases.")
@click.option(
    "--role", type=click.Choice(["viewer", "editor", "admin", "owner"]), help="Give the person this role there."
)
@click.option("--days", default=90, show_default=True)
def create(
    name: str, person: str, scope: access.Scope, slugs: tuple[str, ...], role: access.Role | None, days: int
) -> None:
    """Make a token NAME, shown this once. With the scope push it pushes to the bases named and reads nothing."""
    with opened() as (_, db), db.write(EVERY_BASE) as conn:
        who = owner(conn, person)
        if person == OWNER:
            access.adopt_bases(conn, who)
        kb_ids = [bases.base_by_slug(conn, slug).id for slug in slugs] or None
        for kb_id in (kb_ids or [b.id for b in bases.list_bases(conn)]) if role else []:
            access.set_member(conn, kb_id, who, role or "viewer")
        made = access.issue_token(conn, who, name, scope=scope, kb_ids=kb_ids, days=days)
    click.echo(made.secret)
    click.echo(f"id {made.id}, {scope}, until {rfc3339(made.expires_at)}; this is the only time it is shown", err=True)


@token.command("list")
def list_them() -> None:
    """Every token: id, state, scope, person, name, prefix."""
    with opened() as (_, db), db.read(NO_BASE) as conn:
        for t in access.list_tokens(conn):
            state = "revoked" if t["revoked_at"] else "expired" if t["expired"] else "live"
            click.echo(f"{t['id']}  {state:7}  {t['scope']:5}  {t['person_name']}  {t['name']}  {t['prefix']}…")


@token.command()
@click.argument("token_id", type=click.UUID)
def revoke(token_id: UUID) -> None:
    """Refuse TOKEN_ID from the next call on."""
    with opened() as (_, db), db.write(NO_BASE) as conn:
        access.revoke_token(conn, token_id)
    click.echo("revoked")
