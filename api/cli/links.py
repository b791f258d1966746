"""``twoclocks neighbors``, ``paths``, ``explain``, ``rules``, ``manual``: the answers of MCP tools that go further."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import click

from api.cli.asking import record_clock, show
from api.cli.session import base_option, json_option, opened, the_base
from api.mcp import text
from substrate import reads
from substrate.db import EVERY_BASE


@click.command()
@click.argument("entity")
@click.option("--at", help="World time: links that held then.")
@record_clock
@click.option("--predicate", help="Part of a relation's name.")
@click.option("--object-type", help="Class of the other entity.")
@click.option("--limit", default=40, show_default=True)
@click.option("--cursor")
@base_option
@json_option
def neighbors(
    entity: str, at: str | None, as_of: str | None, before: str | None, slug: str | None, as_json: bool, **filters: Any
) -> None:
    """The entities that facts join to ENTITY (a name or an id)."""
    with opened() as (_, db), db.read(EVERY_BASE) as conn:
        kb_id = the_base(conn, slug).id
        moment = reads.resolve(conn, kb_id, at=at, as_of=as_of, before=before)
        answer = reads.neighbors(conn, kb_id, entity, moment, **filters)
    show(answer, as_json, text.neighbors_lead(answer), *text.neighbor_rows(answer))


@click.command()
@click.argument("start")
@click.argument("end")
@click.option("--max-hops", default=3, show_default=True)
@click.option("--at", help="World time: every step held then.")
@record_clock
@base_option
@json_option
def paths(
    start: str,
    end: str,
    max_hops: int,
    at: str | None,
    as_of: str | None,
    before: str | None,
    slug: str | None,
    as_json: bool,
) -> None:
    """The chains of facts that join START and END, shortest first."""
    with opened() as (_, db), db.read(EVERY_BASE) as conn:
        kb_id = the_base(conn, slug).id
        moment = reads.resolve(conn, kb_id, at=at, as_of=as_of, before=before)
        answer = reads.paths_between(conn, kb_id, start, end, moment, max_hops=max_hops)
    show(answer, as_json, text.paths(answer))


@click.command()
@click.argument("fact_id", type=click.UUID)
@record_clock
@base_option
@json_option
def explain(fact_id: UUID, as_of: str | None, before: str | None, slug: str | None, as_json: bool) -> None:
    """Why FACT_ID is held: the words behind it, its history on the record, and its place in the chain."""
    with opened() as (settings, db), db.read(EVERY_BASE) as conn:
        kb_id = the_base(conn, slug).id
        moment = reads.resolve(conn, kb_id, as_of=as_of, before=before)
        answer = reads.explain_fact(conn, kb_id, fact_id, moment, checkpoints=settings.checkpoints_dir)
    show(answer, as_json, text.explanation(answer))


@click.command()
@click.option("--as-of", help="Record time.")
@base_option
@json_option
def rules(as_of: str | None, slug: str | None, as_json: bool) -> None:
    """What relations and classes are declared to be, and what follows from it."""
    with opened() as (_, db), db.read(EVERY_BASE) as conn:
        kb_id = the_base(conn, slug).id
        answer = reads.list_rules(conn, kb_id, reads.resolve(conn, kb_id, as_of=as_of))
    show(answer, as_json, text.rules(answer))


@click.command()
@click.argument("query")
@json_option
def manual(query: str, as_json: bool) -> None:
    """Sections of the product's own manual for QUERY. Needs no database."""
    answer = reads.search_manual(query)
    show(answer, as_json, text.manual(answer))
