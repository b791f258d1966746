"""``twoclocks push``, ``sync``, ``delete``, ``documents`` and ``run``."""

from __future__ import annotations

import os
from pathlib import Path

import click

from api.cli.session import ACTOR, base_option, json_option, opened, print_json, the_base
from substrate import reads
from substrate.db import EVERY_BASE
from substrate.errors import NotFound


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--doc-time", help="The date these documents bear, if their text does not say.")
@base_option
def push(files: tuple[Path, ...], doc_time: str | None, slug: str | None) -> None:
    """Take in FILES. A file's own date is never used: it says nothing about the world."""
    from substrate.documents import intake

    items = [intake.PushItem(os.path.normpath(f), f.name, f.read_bytes(), doc_time) for f in files]
    with opened() as (_, db):
        with db.read(EVERY_BASE) as conn:
            base = the_base(conn, slug)
        for done in intake.push(db, base.id, items, actor=ACTOR, via="cli"):
            click.echo(f"{done.action:9}  {done.external_id}")


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--stop", is_flag=True, help="Watch it no more; its documents stay.")
@base_option
def sync(folder: Path, stop: bool, slug: str | None) -> None:
    """Bring FOLDER in step; the running service watches it from now on. A vanished file is marked, not deleted."""
    from substrate.documents.folders import let_go, sync_folder

    with opened() as (_, db):
        with db.read(EVERY_BASE) as conn:
            base = the_base(conn, slug)
        if stop:
            let_go(db, base.id, folder)
            click.echo("watched no more; its documents stay")
            return
        report = sync_folder(db, base.id, folder.resolve(), actor=ACTOR, via="cli")
    click.echo(", ".join(f"{n} {word}" for word, n in report.counts.items()) or "nothing there")
    for name in report.missing:
        click.echo(f"missing at source: {name}")
    for reason in report.skipped:
        click.echo(f"skipped: {reason}", err=True)


@click.command()
@click.argument("external_id")
@click.option("--why", default="", help="Kept with the deletion.")
@base_option
def delete(external_id: str, why: str, slug: str | None) -> None:
    """Withdraw the document EXTERNAL_ID, or the file of that path. What was held before stays readable as of then."""
    from substrate.documents import intake

    with opened() as (_, db):
        with db.read(EVERY_BASE) as conn:
            base = the_base(conn, slug)
        try:
            done = intake.delete(db, base.id, external_id=external_id, actor=ACTOR, via="cli", why=why)
        except NotFound:  # as `push` would have named that file
            pushed = os.path.normpath(external_id)
            done = intake.delete(db, base.id, external_id=pushed, actor=ACTOR, via="cli", why=why)
    if done.seq is None:
        click.echo("it was deleted before")
    else:
        click.echo(f"deleted at seq:{done.seq}; {len(done.retracted)} facts are held no more")


@click.command()
@click.option("--state", type=click.Choice(["waiting", "parsed", "incomplete", "failed"]))
@base_option
@json_option
def documents(state: str | None, slug: str | None, as_json: bool) -> None:
    """Documents by file name."""
    cursor = None
    with opened() as (_, db), db.read(EVERY_BASE) as conn:
        base = the_base(conn, slug)
        moment = reads.resolve(conn, base.id)
        while True:
            answer = reads.list_documents(conn, base.id, moment, state=state, limit=500, cursor=cursor)
            if as_json:
                print_json(answer)
            else:
                for d in answer["documents"]:
                    reason = f"  {d['failure_code']}: {d['failure']}" if d["failure"] else ""
                    click.echo(f"{d['state']:10}  {d['external_id']}{reason}")
            cursor = answer["next_cursor"]
            if cursor is None:
                return


@click.command()
@base_option
def run(slug: str | None) -> None:
    """Run the pipeline once over what is due; run it again and nothing changes."""
    from rich.console import Console

    from substrate.pipeline import ALL, Services, run_step

    console, failed = Console(highlight=False), 0
    with opened() as (settings, db), Services(settings) as services:
        with db.read(EVERY_BASE) as conn:
            base = the_base(conn, slug)
        for step in ALL:
            with console.status(f"{step} …"):
                done = run_step(db, base.id, services, step)
            failed += done.failed
            console.print(
                f"{step:9} done {done.done}, skipped {done.skipped}, failed {done.failed}, "
                f"written {done.written}, remaining {done.remaining}, {done.seconds:.1f} s"
            )
            for reason in done.failures:
                console.print(f"          {reason}", markup=False)
            if done.unlisted:
                console.print(f"          … and {done.unlisted} more; see: twoclocks documents")
    if failed:
        raise SystemExit(1)
