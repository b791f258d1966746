"""``twoclocks ledger``: verify, checkpoint, export; who was served what, with proof; both checked with no database."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar
from uuid import UUID

import click

from api.cli.session import base_option, json_option, opened, print_json, the_base
from substrate.db import EVERY_BASE, Database
from substrate.errors import InvalidInput, LedgerDamaged, TwoclocksError
from substrate.ledger.chain import EXIT_CODES
from substrate.settings import Settings, load_settings

if TYPE_CHECKING:
    from substrate.audit import SealReport
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
    """Recompute the chain, compare every table with it, and recompute the seals of what was served and read.

    Without --against this cannot tell a history that was rewritten whole, or cut, from the one that was written. With
    --since SEQ nothing up to transaction SEQ is looked at but the hash that the log has there: a checkpoint of just
    that number gives the trust its ground, and the seals that it names are trusted with it.
    """
    from substrate.audit.whole import verify_base

    settings = load_settings()
    checkpoint = _checkpoint(settings, against, public_key)
    with opened() as (_, db), db.read(EVERY_BASE) as conn:
        base = the_base(conn, slug)
        found = verify_base(conn, base.id, since=since, against=checkpoint, max_age=_seconds(max_age))
    _tell(found.ledger, f"{found.ledger.rows} rows of the tables", checkpoint)
    _tell_seals(found.seals, checkpoint)
    _end(found.exit_code)


@ledger.command()
@base_option
def checkpoint(slug: str | None) -> None:
    """Seal what waits, sign where the base stands, and print it. Keep a copy where nobody who reaches the database
    can write.
    """
    from substrate.audit.signing import keep_checkpoint
    from substrate.ledger.checkpoints import public_key_file

    with opened() as (settings, db):
        kept = keep_checkpoint(db, _id_of(db, slug), settings).exported
    click.echo(kept.text, nl=False)
    click.echo(f"in {kept.latest}; verify it with {public_key_file(settings.checkpoint_key)}", err=True)


@ledger.command()
@base_option
def seal(slug: str | None) -> None:
    """Seal what was served and read and waits for it. A running API does so each second."""
    from substrate.audit import seal_base

    with opened() as (_, db):
        rows = seal_base(db, _id_of(db, slug))
    click.echo(f"sealed: {rows} rows")


@ledger.command()
@base_option
@click.option("--fact", type=click.UUID, help="Only where this fact was handed out.")
@click.option("--chunk", type=click.UUID, help="Only where this passage was handed out.")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="The newest so many.")
@json_option
def access(slug: str | None, fact: UUID | None, chunk: UUID | None, limit: int, as_json: bool) -> None:
    """Who was served what, newest first. The number in front is what ``prove`` takes."""
    from substrate.audit.events import served

    with opened() as (_, db), db.read(EVERY_BASE) as conn:
        base = the_base(conn, slug)
        page = served(conn, base.id, fact_id=fact, chunk_id=chunk, limit=limit)
    if as_json:
        print_json(page)
        return
    for event in page["events"]:
        sealed = f"seal {event['seal']}" if event["seal"] else "not sealed yet"
        who = f"{event['person']} ({event['token']})"
        what = f"{len(event['fact_ids'])} facts, {len(event['chunk_ids'])} passages"
        click.echo(f"{event['id']}  {event['at']}  {who}  {event['via']} {event['action']}  {what}  {sealed}")
    if page["total"] > len(page["events"]):
        click.echo(f"{page['total'] - len(page['events'])} older ones; --limit shows more")


@ledger.command()
@base_option
@click.argument("event", type=click.IntRange(min=1))
@click.argument("file", type=click.Path(dir_okay=False, writable=True, path_type=Path))
def prove(slug: str | None, event: int, file: Path) -> None:
    """Write to FILE the proof that access event number EVENT is under its seal. See verify-proof."""
    from substrate.audit import prove as prove_event

    with opened() as (_, db), db.read(EVERY_BASE) as conn:
        proof = prove_event(conn, the_base(conn, slug).id, event)
    file.write_text(json.dumps(proof, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    click.echo(f"in {file}; it leads to seal {proof['seals'][-1]['number']}")


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
    _end(report.exit_code)


@ledger.command("verify-proof")
@click.argument("file", type=_FILE)
@click.option("--against", type=_FILE, required=True, help="A checkpoint that was kept elsewhere.")
@click.option("--public-key", type=_FILE, help="Who must have signed it; the local key if left out.")
def verify_proof(file: Path, against: Path, public_key: Path | None) -> None:
    """Check a proof that somebody was served something, with no database and no access to one."""
    from substrate.audit import Seal, check_proof

    checkpoint = _checkpoint(load_settings(), against, public_key)
    assert checkpoint is not None  # noqa: S101 - --against is required
    try:
        proof = json.loads(_text(file))
        shown = check_proof(proof, checkpoint.kb_id, Seal(checkpoint.sealed, checkpoint.sealed_hash))
    except ValueError as error:
        raise InvalidInput("this is not a proof of an access event", field="proof") from error
    except LedgerDamaged as error:
        click.echo(f"damage: checkpoint: {error}")
        _end(EXIT_CODES["checkpoint"])
    click.echo(f"under seal {shown.number}, which seal {shown.newest.number} of the checkpoint follows from:")
    print_json(dict(shown.event))
    _end(0)


def _id_of(db: Database, slug: str | None) -> UUID:
    with db.read(EVERY_BASE) as conn:
        return the_base(conn, slug).id


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
    """Print what was checked of the chain, and what was found."""
    reach = (
        f"transactions {report.since + 1} to {report.head_seq}" if report.since else f"{report.head_seq} transactions"
    )
    click.echo(f"checked: {report.events} events in {reach}, {tables}, in {report.seconds:.1f} s")
    if report.purged_events:
        click.echo(f"purged: {report.purged_events} events say nothing any more, each named by a purge in the chain")
    if report.since:
        click.echo(f"trusted: what was recorded up to transaction {report.since}")
    if checkpoint is None:
        click.echo("checkpoint: none; a history that was rewritten whole, or cut, would not be seen")
    elif report.unsealed is not None:
        click.echo(f"checkpoint: transaction {checkpoint.seq} is as it was signed; {report.unsealed} came after it")
    if not report.ok:
        click.echo(f"damage: {report.damage}, first at transaction {report.first_bad_seq}: {report.problem}")


def _tell_seals(report: SealReport, checkpoint: Checkpoint | None) -> None:
    """Print what was checked of the seals, and what was found."""
    reach = f"seals {report.since + 1} to {report.seals}" if report.since else f"{report.seals} seals"
    rows = f"{report.events} access events and {report.extractions} readings"
    waits = f", {report.waiting} of them not sealed yet" if report.waiting else ""
    click.echo(f"checked: {rows} in {reach}{waits}, in {report.seconds:.1f} s")
    if report.uncovered:
        click.echo(f"not covered: {report.uncovered} readings of before there were seals")
    if checkpoint is not None and checkpoint.sealed and report.ok:
        click.echo(f"checkpoint: seal {checkpoint.sealed} is as it was signed")
    if not report.ok:
        click.echo(f"damage: {report.damage}, first at seal {report.first_bad_seal}: {report.problem}")


def _end(code: int) -> NoReturn:
    """Say whether it verifies, and exit with the kind of damage."""
    click.echo(f"does not verify; exit status {code}" if code else "verifies")
    raise SystemExit(code)
