"""``twoclocks facts``, ``timeline``, ``changes``, ``search``, ``remember``: the answers of the MCP tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from uuid import UUID

import click

from api.cli.session import ACTOR, OWNER, base_option, json_option, opened, print_json, the_base
from api.mcp import text
from substrate import reads
from substrate.db import EVERY_BASE
from substrate.errors import ModelUnavailable

F = TypeVar("F", bound=Callable[..., Any])


def record_clock(command: F) -> F:
    """The options ``--as-of`` and ``--before``."""
    as_of = click.option("--as-of", help="Record time: what was held then; a date, a moment or seq:N.")
    before = click.option("--before", help="Record time, strictly before; wins over --as-of.")
    return as_of(before(command))


def show(answer: dict[str, Any], as_json: bool, *lines: str) -> None:
    """Print an answer as JSON, or as lines with the cursor of the next page."""
    if as_json:
        print_json(answer)
        return
    for line in lines:
        click.echo(line)
    if answer.get("next_cursor"):
        click.echo(f"more rows: --cursor {answer['next_cursor']}")


@click.command()
@click.argument("entity")
@click.option("--at", help="World time: facts that held then; YYYY, YYYY-MM, YYYY-MM-DD or a moment.")
@record_clock
@click.option("--predicate", help="Part of a relation's name.")
@click.option("--since", help="World time.")
@click.option("--until", help="World time.")
@click.option("--limit", default=80, show_default=True)
@click.option("--cursor")
@base_option
@json_option
def facts(
    entity: str, at: str | None, as_of: str | None, before: str | None, slug: str | None, as_json: bool, **filters: Any
) -> None:
    """What is held about ENTITY (a name or an id)."""
    with opened() as (_, db), db.read(EVERY_BASE) as conn:
        kb_id = the_base(conn, slug).id
        moment = reads.resolve(conn, kb_id, at=at, as_of=as_of, before=before)
        answer = reads.entity_facts(conn, kb_id, entity, moment, **filters)
    show(answer, as_json, text.facts_lead(answer), *text.fact_rows(answer))


@click.command()
@click.argument("entity")
@record_clock
@click.option("--since", help="World time.")
@click.option("--until", help="World time.")
@click.option("--limit", default=60, show_default=True)
@click.option("--cursor")
@base_option
@json_option
def timeline(
    entity: str, as_of: str | None, before: str | None, slug: str | None, as_json: bool, **filters: Any
) -> None:
    """ENTITY's facts whose sources state a date, in world order."""
    with opened() as (_, db), db.read(EVERY_BASE) as conn:
        kb_id = the_base(conn, slug).id
        moment = reads.resolve(conn, kb_id, as_of=as_of, before=before)
        answer = reads.timeline(conn, kb_id, entity, moment, **filters)
    show(answer, as_json, text.facts_lead(answer), *text.fact_rows(answer))


@click.command()
@click.argument("since")
@click.option("--until", help="Record time, to the end of that day, month or year.")
@click.option("--entity", help="Only what touches it.")
@click.option("--limit", default=40, show_default=True)
@click.option("--cursor")
@base_option
@json_option
def changes(since: str, slug: str | None, as_json: bool, **filters: Any) -> None:
    """What the record learned or revised since SINCE, newest first."""
    with opened() as (_, db), db.read(EVERY_BASE) as conn:
        answer = reads.changes(conn, the_base(conn, slug).id, since, **filters)
    show(answer, as_json, text.changes_lead(answer), *text.change_rows(answer))


@click.command()
@click.argument("query")
@click.option("--as-of", help="Record time.")
@click.option("--limit", default=6, show_default=True)
@click.option("--operators", is_flag=True, help='QUERY may hold "a phrase", -word, title:, type:, source:, namespace:.')
@base_option
@json_option
def search(query: str, as_of: str | None, limit: int, operators: bool, slug: str | None, as_json: bool) -> None:
    """Passages for QUERY."""
    from substrate.retrieval.embedders import Embedder, open_embedder
    from substrate.retrieval.search import search_chunks

    with opened() as (settings, db):
        try:
            embedder: Embedder | None = open_embedder(settings)
        except ModelUnavailable as error:
            click.echo(f"by words alone: {error}", err=True)
            embedder = None
        with db.read(EVERY_BASE) as conn:
            kb_id: UUID = the_base(conn, slug).id
            moment = reads.resolve(conn, kb_id, as_of=as_of)
            answer = search_chunks(
                conn,
                kb_id,
                query,
                moment,
                embedder=embedder,
                settings=settings,
                limit=limit,
                operators=operators,
            )
    show(answer, as_json, *(row + "\n" for row in text.search_rows(answer)), text.stands_on(answer))


@click.command()
@click.argument("sentence")
@click.option("--occurred-at", help="The date the sentence is told from.")
@base_option
def remember(sentence: str, occurred_at: str | None, slug: str | None) -> None:
    """Record SENTENCE. It is found by search at once; its facts wait for a nod."""
    from substrate.documents import intake

    with opened() as (_, db):
        with db.read(EVERY_BASE) as conn:
            base = the_base(conn, slug)
        done = intake.remember(db, base.id, sentence, occurred_at, actor=ACTOR, via="cli", author=OWNER)
    click.echo(f"recorded at seq:{done.seq}; its facts await confirmation (twoclocks review list)")
