"""``twoclocks up``, ``down``, ``status`` and ``mcp-config``."""

from __future__ import annotations

import click

from api.cli import services
from api.cli.session import ACTOR, opened, owner, print_json
from substrate import access, bases
from substrate.db import EVERY_BASE, Database
from substrate.settings import Settings, load_settings


@click.command()
def up() -> None:
    """Start database, API, Dagster UI and daemon, wait until they are healthy, and print how to connect.

    What runs already is left alone. The token printed is kept in a file that only you can read.
    """
    from rich.console import Console

    console = Console(highlight=False, stderr=True)
    settings = load_settings()
    where = services.places(settings)
    with services.alone(where):
        with opened() as (_, db):
            _a_base(db)
            token = services.client_token(db, where)
            found = _bases(db)
        with console.status("starting") as status:
            started = services.start(settings, where, lambda name: status.update(f"waiting for {name}"))
    console.print(f"started: {', '.join(started)}" if started else "everything runs already")
    _tell(settings, where, found, token)


@click.command()
def down() -> None:
    """Stop what `up` started, and the embedded Postgres of this data directory. Data stays."""
    settings = load_settings()
    where = services.places(settings)
    with services.alone(where):
        stopped = services.stop(settings, where)
    click.echo(f"stopped: {', '.join(stopped)}" if stopped else "nothing ran")


@click.command()
def status() -> None:
    """What runs, and where; exit status 1 unless all of it does."""
    settings = load_settings()
    where = services.places(settings)
    found = services.states(settings, where)
    for name, state in found.items():
        click.echo(f"{name:15} {state}")
    if any(state != "running" for state in found.values()):
        raise SystemExit(1)


@click.command("mcp-config")
def mcp_config() -> None:
    """Print the configuration of an MCP client, one entry per base, with a token."""
    settings = load_settings()
    where = services.places(settings)
    with services.alone(where), opened() as (_, db):
        token = services.client_token(db, where)
        print_json(services.client_config(settings, _bases(db), token))


def _a_base(db: Database) -> None:
    """A first base, so that there is something to connect to."""
    with db.write(EVERY_BASE) as conn:
        if not bases.list_bases(conn):
            kb_id = bases.create_base(conn, "main", "Main", actor=ACTOR)
            access.set_member(conn, kb_id, owner(conn), "owner")


def _bases(db: Database) -> dict[str, str]:
    with db.read(EVERY_BASE) as conn:
        return {base.slug: str(base.id) for base in bases.list_bases(conn)}


def _tell(settings: Settings, where: services.Places, found: dict[str, str], token: str) -> None:
    click.echo(f"API          http://{settings.api_host}:{settings.api_port}/api/v1  (openapi.json beneath it)")
    click.echo(f"Dagster UI   http://127.0.0.1:{settings.dagster_port}")
    click.echo(f"token        {token}")
    click.echo(f"logs         {where.logs}")
    click.echo("MCP client configuration:")
    print_json(services.client_config(settings, found, token))
    click.echo("stop with:   make down   (or: twoclocks down)")
