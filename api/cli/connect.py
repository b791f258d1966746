"""``twoclocks connect``: an MCP client's own file names a base, with a token of its own; a skill teaches the clocks."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from api.connect import CLIENTS, Client, Endpoint, Places, Scope, plan_entry, plan_skill, token_in, write
from substrate.errors import InvalidInput, TwoclocksError

if TYPE_CHECKING:
    from uuid import UUID

    from api.connect import Change
    from substrate.bases import Base
    from substrate.db import Database
    from substrate.settings import Settings

_NOT_YET = "tc_pat_" + "0" * 49
"""Stands for the token until one is issued; never written."""


@click.command()
@click.argument("client", type=click.Choice(list(CLIENTS)))
@click.option("--base", "--kb", "slug", metavar="SLUG", help="Which base; not needed if there is one.")
@click.option("--url", help="The MCP address of a base elsewhere, …/api/v1/kbs/ID/mcp; goes with --token.")
@click.option("--token", help="Use this one; left out, one is issued for this client and base alone.")
@click.option("--write", "writes", is_flag=True, help="The issued token may also `remember`; else it reads.")
@click.option("--days", default=90, show_default=True, help="How long the issued token lives.")
@click.option("--stdio", is_flag=True, help="The client starts `twoclocks mcp` in place of calling the API.")
@click.option("--user/--project", "for_user", default=True, help="For all your projects, or the one you are in.")
@click.option("--file", type=click.Path(path_type=Path), help="Another file than the client's usual one.")
@click.option("--name", help="The server's name there; twoclocks-SLUG if left out.")
@click.option("--skill/--no-skill", default=True, help="Also the skill that teaches the two clocks.")
@click.option("--dry-run", is_flag=True, help="Show what would change, tokens masked, and write nothing.")
@click.option("--remove", is_flag=True, help="Take the entry out again and revoke its token.")
def connect(
    client: str,
    slug: str | None,
    url: str | None,
    token: str | None,
    writes: bool,
    days: int,
    stdio: bool,
    for_user: bool,
    file: Path | None,
    name: str | None,
    skill: bool,
    dry_run: bool,
    remove: bool,
) -> None:
    """Write a base into the configuration of CLIENT, or take it out; what else is there stays, and a backup is kept.

    Run again, it changes nothing. The issued token reads this one base and is named after the client.
    """
    into = _Into(CLIENTS[client], client, _place(CLIENTS[client], for_user, file), "user" if for_user else "project")
    if url is not None:
        name = name or "twoclocks"
        changes = [into.planned(name, None if remove else _elsewhere(into.client, url, token, stdio))]
        into.finish(changes, name, skill, dry_run, remove)
        return
    _to_own_base(into, slug, name, token, writes, days, stdio, skill, dry_run, remove)


class _Into:
    """One client's file: what is planned for it, shown or written."""

    def __init__(self, client: Client, called: str, path: Path, scope: Scope) -> None:
        self.client, self.called, self.path, self.scope = client, called, path, scope

    def planned(self, name: str, endpoint: Endpoint | None) -> Change:
        return plan_entry(self.client, self.path, name, endpoint)

    def finish(self, changes: list[Change], name: str, skill: bool, dry_run: bool, remove: bool) -> None:
        """Show or write the entry, then the skill, and say what was done."""
        if skill:
            changes += self._skill(changes[0], remove)
        for change in changes:
            if dry_run:
                click.echo(change.diff() or f"{change.path}: nothing would change", nl=not change.needed)
            elif change.needed:
                kept = write(change, keep=change is changes[0] or change.after is not None)
                click.echo(f"{'wrote' if change.after is not None else 'removed'}  {change.path}")
                click.echo(f"kept    {kept}" if kept else "", nl=kept is not None)
            else:
                click.echo(f"as is   {change.path}")
        if not dry_run and changes[0].needed:
            click.echo(f"{name}: {'gone from' if remove else 'in'} {self.client.title}; {self.client.after}.")

    def _skill(self, entry: Change, remove: bool) -> list[Change]:
        """The skill stays while another entry of ours is there, and where somebody rewrote it."""
        found = plan_skill(self.client, Places.here(), self.scope, remove=remove)
        if found is None or not remove:
            return [found] if found else []
        ours = plan_skill(self.client, Places.here(), self.scope)
        still = "twoclocks" in (entry.after or "")
        return [] if found.before is None or still or (ours and ours.needed) else [found]


def _place(client: Client, for_user: bool, file: Path | None) -> Path:
    found = file or client.path(Places.here(), "user" if for_user else "project")
    if found is None:
        raise InvalidInput(f"{client.title} keeps no servers per project", field="project")
    return found


def _elsewhere(client: Client, url: str, token: str | None, stdio: bool) -> Endpoint:
    if not url.startswith(("http://", "https://")) or not url.endswith("/mcp"):
        raise InvalidInput("--url is the address of a base, https://host/api/v1/kbs/ID/mcp", field="url")
    if not token:
        raise InvalidInput("--url goes with --token", field="token")
    if stdio or client.http is None:
        return Endpoint(command=_program(), args=("mcp", "--url", url, "--token", token))
    return Endpoint(url, token)


def _program() -> str:
    return str(Path(sys.executable).with_name("twoclocks"))


def _to_own_base(
    into: _Into,
    slug: str | None,
    name: str | None,
    token: str | None,
    writes: bool,
    days: int,
    stdio: bool,
    skill: bool,
    dry_run: bool,
    remove: bool,
) -> None:
    """A base of this database. The file is planned, and so judged, before a token is issued."""
    from api.cli.session import opened, the_base
    from substrate.db import EVERY_BASE

    stdio = stdio or into.client.http is None
    with opened() as (settings, db):
        with db.read(EVERY_BASE) as conn:
            base = the_base(conn, slug)
        name = name or f"twoclocks-{base.slug}"
        url = _url(settings, base)
        held = token_in(into.client, into.path, name, url)
        if remove:
            into.finish([into.planned(name, None)], name, skill, dry_run, remove)
            if held and not dry_run:
                _revoke(db, held, into.called)
            return
        if stdio:
            into.finish([into.planned(name, _started(settings, base))], name, skill, dry_run, remove)
            return
        into.planned(name, Endpoint(url, _NOT_YET))
        kept = token or _still_good(db, held, base, writes)
        issued = None if kept or dry_run else _issue(db, base, into.called, writes, days)
        try:
            change = into.planned(name, Endpoint(url, kept or issued or _NOT_YET))
            into.finish([change], name, skill, dry_run, remove)
        except TwoclocksError:
            if issued:
                _revoke(db, issued, into.called)
            raise
        if held and issued:
            _revoke(db, held, into.called)
        if into.scope == "project" and not dry_run:
            click.echo(f"{into.path} holds a token: keep it out of version control.", err=True)


def _url(settings: Settings, base: Base) -> str:
    from api.cli.services import client_config

    if settings.public_url:
        return f"{settings.public_url.rstrip('/')}/api/v1/kbs/{base.id}/mcp"
    [entry] = client_config(settings, {base.slug: str(base.id)}, "")["mcpServers"].values()
    return str(entry["url"])


def _started(settings: Settings, base: Base) -> Endpoint:
    """What the client starts finds data and models wherever it is started."""
    if settings.database_url is not None:
        click.echo("the client's own environment must hold TWOCLOCKS_DATABASE_URL", err=True)
    env = {
        "TWOCLOCKS_DATA_DIR": str(settings.data_dir.resolve()),
        "TWOCLOCKS_MODELS_DIR": str(settings.models_dir.resolve()),
    }
    return Endpoint(command=_program(), args=("mcp", "--base", base.slug), env=env)


def _still_good(db: Database, held: str | None, base: Base, writes: bool) -> str | None:
    """The token in the file, if it opens this base and can no more and no less than asked."""
    from substrate import access
    from substrate.db import EVERY_BASE

    if held is None:
        return None
    with db.read(EVERY_BASE) as conn:
        try:
            principal, _ = access.admit(conn, held, base.id)
        except TwoclocksError:
            return None
    return held if principal.scope == ("write" if writes else "read") else None


def _issue(db: Database, base: Base, called: str, writes: bool, days: int) -> str:
    from api.cli.session import owner
    from substrate import access
    from substrate.db import EVERY_BASE

    with db.write(EVERY_BASE) as conn:
        who: UUID = owner(conn)
        access.adopt_bases(conn, who)
        scope: access.Scope = "write" if writes else "read"
        made = access.issue_token(conn, who, _named(called), scope=scope, kb_ids=[base.id], days=days)
    return made.secret


def _revoke(db: Database, token: str, called: str) -> None:
    """Only a token that this command issued; one that was handed in is its owner's to revoke."""
    from substrate import access
    from substrate.db import EVERY_BASE
    from substrate.errors import Unauthenticated

    with db.write(EVERY_BASE) as conn:
        try:
            principal = access.authenticate(conn, token)
        except Unauthenticated:
            return
        if principal.name == _named(called):
            access.revoke_token(conn, principal.token_id)
            click.echo("its token is revoked")


def _named(called: str) -> str:
    return f"connect {called}"
