"""``twoclocks push``, ``sync``, ``delete``, ``documents`` (with what becomes of deleted ones) and ``run``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from uuid import UUID

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
        click.echo(f"undo: twoclocks documents restore {done.deletion_id}")


@click.group(invoke_without_command=True)
@click.option("--state", type=click.Choice(["waiting", "parsed", "incomplete", "failed"]))
@base_option
@json_option
@click.pass_context
def documents(ctx: click.Context, state: str | None, slug: str | None, as_json: bool) -> None:
    """Documents by file name. Below: what was deleted, how it comes back, and how it is erased for good."""
    if ctx.invoked_subcommand is not None:
        return
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
                    missing = f"  missing at source since {d['missing_since']}" if d["missing_since"] else ""
                    click.echo(f"{d['state']:10}  {d['external_id']}{reason}{missing}")
            cursor = answer["next_cursor"]
            if cursor is None:
                return


@documents.command()
@click.option("--as-of", help="Record time: those recorded by then.")
@click.option("--limit", default=50, show_default=True)
@click.option("--cursor")
@base_option
@json_option
def deletions(as_of: str | None, slug: str | None, as_json: bool, **page: Any) -> None:
    """What was deleted, newest first, with the id that `restore` takes."""
    with opened() as (_, db), db.read(EVERY_BASE) as conn:
        base = the_base(conn, slug)
        answer = reads.list_deletions(conn, base.id, reads.resolve(conn, base.id, as_of=as_of), **page)
    if as_json:
        print_json(answer)
        return
    for d in answer["deletions"]:
        why = f": {d['why']}" if d["why"] else ""
        back = f"; restored at seq:{d['restored']['seq']} by {d['restored']['by']}" if d["restored"] else ""
        back += (
            f"; purged on {d['purged']['at'][:10]} by {d['purged']['by']}: {d['purged']['why']}" if d["purged"] else ""
        )
        click.echo(f"{d['id']}  {d['external_id']}")
        click.echo(f"  seq:{d['seq']} {d['at']} by {d['by']}{why}; {d['facts']} facts, {d['weakened']} weakened{back}")
    if answer["next_cursor"]:
        click.echo(f"more rows: --cursor {answer['next_cursor']}")


@documents.command()
@click.option("--as-of", help="Record time.")
@click.option("--limit", default=50, show_default=True)
@click.option("--cursor")
@base_option
@json_option
def unconfirmed(as_of: str | None, slug: str | None, as_json: bool, **page: Any) -> None:
    """Facts that are held although no passage held says so, each with the sentence it rested on."""
    with opened() as (_, db), db.read(EVERY_BASE) as conn:
        base = the_base(conn, slug)
        answer = reads.list_unconfirmed(conn, base.id, reads.resolve(conn, base.id, as_of=as_of), **page)
    if as_json:
        print_json(answer)
        return
    for f in answer["facts"]:
        other = f["object_name"] or f["object_value"]["raw"]
        click.echo(f"{f['id']}  {f['subject_name']} {f['predicate_label']} {other}")
        for e in f["rested_on"][:1]:
            click.echo(f'  "{" ".join(e["quote"].split())}" ({e["filename"]}, {e["passage"]} since)')
    if answer["next_cursor"]:
        click.echo(f"more rows: --cursor {answer['next_cursor']}")


@documents.command()
@click.argument("deletion_id", type=click.UUID)
@click.option("--why", default="", help="Kept with the restoration.")
@base_option
def restore(deletion_id: UUID, why: str, slug: str | None) -> None:
    """Bring back exactly what the deletion DELETION_ID took; what was refused since stays out."""
    from substrate.documents.restore import restore as bring_back

    with opened() as (_, db):
        with db.read(EVERY_BASE) as conn:
            base = the_base(conn, slug)
        done = bring_back(db, base.id, deletion_id, actor=ACTOR, via="cli", why=why)
    kept_out = f"; {len(done.kept_out)} stay out" if done.kept_out else ""
    click.echo(f"{done.external_id} restored at seq:{done.seq}; {len(done.fact_ids)} facts are held again{kept_out}")


@documents.command()
@click.argument("document")
@click.option("--why", required=True, help="Kept with the purge, which anybody can read.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@base_option
def purge(document: str, why: str, yes: bool, slug: str | None) -> None:
    """Erase the words of the deleted DOCUMENT (its id or its name) for good. This cannot be undone."""
    from substrate.documents.deletion import named
    from substrate.documents.purge import purge as erase

    with opened() as (_, db):
        with db.read(EVERY_BASE) as conn:
            base = the_base(conn, slug)
        with db.read(base.id) as conn:
            found = named(conn, base.id, **_called(document))
        if not yes:
            click.confirm(f"Erase every word of {found['external_id']} for good?", abort=True)
        done = erase(db, base.id, found["document_id"], why, actor=ACTOR, via="cli")
    click.echo(f"purged at seq:{done.seq}; {done.events} events of the record say nothing any more")


def _called(document: str) -> dict[str, Any]:
    try:
        return {"external_id": None, "document_id": UUID(document)}
    except ValueError:
        return {"external_id": document, "document_id": None}


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
