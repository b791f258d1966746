"""``twoclocks credentials``: secrets of a base, sealed under a key that the database never sees."""

from __future__ import annotations

import sys

import click

from api.cli.session import ACTOR, base_option, opened, the_base
from substrate import bases, sql
from substrate.db import EVERY_BASE
from substrate.reads.moments import rfc3339


@click.group()
def credentials() -> None:
    """Sealed secrets of a base: key, set, list, remove, rotate."""


@credentials.command()
def key() -> None:
    """Make the key that seals, if there is none. Keep a copy elsewhere: without it nothing opens again."""
    from substrate.access.keys import add_key, load_keys
    from substrate.settings import load_settings

    settings = load_settings()
    if settings.credentials_key is None and not settings.credentials_keys.exists():
        add_key(settings)
        click.echo(f"made {settings.credentials_keys}")
    click.echo(f"key {load_keys(settings).current.id}")


@credentials.command("set")
@click.argument("name")
@base_option
def set_(name: str, slug: str | None) -> None:
    """Seal a secret under NAME. It is asked for, or read from a pipe; never an argument, which others could see."""
    from pydantic import SecretStr

    from substrate.access.credentials import set_credential
    from substrate.access.keys import load_keys

    piped = None if sys.stdin.isatty() else sys.stdin.read().rstrip("\r\n")
    with opened() as (settings, db):
        keys = load_keys(settings)
        secret = SecretStr(piped if piped is not None else click.prompt("Secret", hide_input=True))
        with db.write(EVERY_BASE) as conn:
            set_credential(conn, the_base(conn, slug).id, name, secret, keys, by=ACTOR)
    click.echo(f"{name} is sealed with the key {keys.current.id}")


@credentials.command("list")
@base_option
def list_(slug: str | None) -> None:
    """Name, key, when and by whom; never a secret."""
    from substrate.access.credentials import list_credentials

    with opened() as (_, db), db.read(EVERY_BASE) as conn:
        for row in list_credentials(conn, the_base(conn, slug).id):
            click.echo(f"{row['name']}  key {row['key_id']}  {rfc3339(row['set_at'])}  {row['set_by']}")


@credentials.command()
@click.argument("name")
@base_option
def remove(name: str, slug: str | None) -> None:
    """Forget the secret NAME."""
    from substrate.access.credentials import remove_credential

    with opened() as (_, db), db.write(EVERY_BASE) as conn:
        remove_credential(conn, the_base(conn, slug).id, name)
    click.echo(f"{name} is forgotten")


@credentials.command()
@click.option("--drop", is_flag=True, help="Take keys that seal nothing any more out of the key file.")
def rotate(drop: bool) -> None:
    """Make a new key and seal everything in every base anew. Killed on the way, call it again: old keys still open."""
    from substrate.access.credentials import keys_in_use, rotate_credentials
    from substrate.access.keys import Keys, add_key, drop_keys, load_keys

    with opened() as (settings, db):
        load_keys(settings)  # without one there is nothing to rotate
        keys = load_keys(settings) if settings.credentials_key is not None else add_key(settings)
        done = 0
        with db.read(EVERY_BASE) as conn:
            found = bases.list_bases(conn)
        for base in found:
            with db.write(EVERY_BASE) as conn:
                conn.execute(sql.query("reach_only"), {"kb_id": base.id})
                done += rotate_credentials(conn, base.id, keys)
        if drop and settings.credentials_key is None:
            with db.read(EVERY_BASE) as conn:
                used = keys_in_use(conn) | {keys.current.id}
            drop_keys(settings, Keys(tuple(key for key in keys.all if key.id in used)))
    click.echo(f"{done} sealed anew with the key {keys.current.id}")
