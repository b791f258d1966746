"""``twoclocks ledger``: verify, checkpoint, export, and verify an export without any database."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from api.cli.session import base_option, opened, the_base
from substrate.db import EVERY_BASE
from substrate.errors import InvalidInput, TwoclocksError
from substrate.settings import Settings, load_settings

if TYPE_CHECKING:
    from substrate.ledger.checkpoints import Checkpoint
    from substrate.ledger.verify import VerifyReport

F = TypeVar("F", bound=Callable[..., Any])
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


class NotChecked(click.ClickException):
    """A check that could not be made, so that it is never taken for a kind of damage."""

    exit_code = 9


class CheckedGroup(click.Group):
    """A group in which no mistake of use and no error of ours exits with a number that means damage."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.ClickException, TwoclocksError) as error:
            raise NotChecked(
                error.format_message() if isinstance(error, click.ClickException) else str(error)
            ) from error


@click.group(cls=CheckedGroup)
def ledger() -> None:
    """The ledger's chain. A check exits with 0: sound; 1: content; 2: link; 3: missing; 4: not what was signed;
    5: unsealed for too long; 9: could not be checked.
    """


def anchor_options(command: F) -> F:
    """``--against``, ``--public-key``, ``--max-age``: an outside checkpoint and how far it may lie behind."""
    for option in (
        click.option(
            "--max-age", type=click.FloatRange(min=0), metavar="SECONDS", help="How long none may be unsealed."
        ),
        click.option("--public-key", type=_FILE, help="Who must have signed it; the local key if left out."),
        click.option("--against", type=_FILE, help="A checkpoint that was kept elsewhere."),
    ):
        command = option(command)
    return command


@ledger.command()
@base_option
@click.option(
    "--since", type=click.IntRange(min=0), default=0, metavar="SEQ", help="Trust what was recorded up to SEQ."
)
@anchor_options
def verify(slug: str | None, since: int, against: Path | None, public_key: Path | None, max_age: float | None) -> None:
    """Recompute the chain and compare every table with it.

    Without --against this cannot tell a history that was rewritten whole, or cut, from the one that was written.
    """
    from substrate.ledger.verify import verify as verify_ledger

    settings = load_settings()
    checkpoint = _checkpoint(settings, against, public_key)
    with opened() as (_, db), db.read(EVERY_BASE) as conn:
        base = the_base(conn, slug)
        report = verify_ledger(conn, base.id, since=since, against=checkpoint, max_age=_seconds(max_age))
    _tell(report, f"{report.rows} rows of the tables", checkpoint)


@ledger.command()
@base_option
def checkpoint(slug: str | None) -> None:
    """Sign where the chain stands, and print it. Keep a copy where nobody who reaches the database can write."""
    from substrate.ledger.checkpoints import export_checkpoint, load_key, public_key_file

    with opened() as (settings, db), db.read(EVERY_BASE) as conn:
        key = load_key(settings.checkpoint_key)
        exported = export_checkpoint(conn, the_base(conn, slug).id, settings.checkpoints_dir, key)
    click.echo(exported.text, nl=False)
    click.echo(f"in {exported.latest}; verify it with {public_key_file(settings.checkpoint_key)}", err=True)


@ledger.command()
@base_option
@click.argument("file", type=click.Path(dir_okay=False, writable=True, path_type=Path))
def export(slug: str | None, file: Path) -> None:
    """Write the whole log with its hashes to FILE, one JSON document per line."""
    from substrate.ledger.exports import export_log

    with opened() as (_, db), db.read(EVERY_BASE) as conn, file.open("wb") as out:
        events = export_log(conn, the_base(conn, slug).id, out)
    click.echo(f"{events} events in {file}")


@ledger.command("verify-export")
@click.argument("file", type=_FILE)
@anchor_options
def verify_export(file: Path, against: Path | None, public_key: Path | None, max_age: float | None) -> None:
    """Check an exported log, with no database and no access to one."""
    from substrate.ledger import exports

    checkpoint = _checkpoint(load_settings(), against, public_key)
    with file.open("rb") as lines:
        report = exports.verify_export(lines, against=checkpoint, max_age=_seconds(max_age))
    _tell(report, "no tables", checkpoint)


def _checkpoint(settings: Settings, against: Path | None, public_key: Path | None) -> Checkpoint | None:
    """The checkpoint in a file, if the right key signed it."""
    from substrate.ledger.checkpoints import check_checkpoint, public_key_file, read_public_key

    if against is None:
        return None
    key = public_key or public_key_file(settings.checkpoint_key)
    if not key.exists():
        raise InvalidInput("there is no key here that signs; say with --public-key who did", field="public_key")
    return check_checkpoint(_text(against), read_public_key(_text(key)))


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")


def _seconds(age: float | None) -> timedelta | None:
    return None if age is None else timedelta(seconds=age)


def _tell(report: VerifyReport, tables: str, checkpoint: Checkpoint | None) -> None:
    """Print what was checked and what was found, and exit with the kind of damage."""
    reach = (
        f"transactions {report.since + 1} to {report.head_seq}" if report.since else f"{report.head_seq} transactions"
    )
    click.echo(f"checked: {report.events} events in {reach}, {tables}, in {report.seconds:.1f} s")
    if report.since:
        click.echo(f"trusted: what was recorded up to transaction {report.since}")
    if checkpoint is None:
        click.echo("checkpoint: none; a history that was rewritten whole, or cut, would not be seen")
    elif report.unsealed is not None:
        click.echo(f"checkpoint: transaction {checkpoint.seq} is as it was signed; {report.unsealed} came after it")
    if report.ok:
        click.echo("verifies")
        return
    click.echo(f"damage: {report.damage}, first at transaction {report.first_bad_seq}: {report.problem}")
    click.echo(f"does not verify; exit status {report.exit_code}")
    raise SystemExit(report.exit_code)
