"""``twoclocks history`` and ``twoclocks diff``: what was held when, who changed it, and what changed between points."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import click

from api.cli.session import base_option, json_option, opened, print_json, the_base
from substrate import reads
from substrate.axes.as_of import AsOf
from substrate.db import EVERY_BASE, AnyConnection
from substrate.errors import InvalidInput, NotFound

Answer = dict[str, Any]


@click.command()
@click.argument("what", metavar="ENTITY_OR_FACT")
@click.option("--at", help="World time: facts that held then.")
@click.option("--as-of", help="Record time: what had been written by then; a date, a moment or seq:N.")
@click.option("--limit", default=200, show_default=True)
@click.option("--cursor")
@base_option
@json_option
def history(what: str, at: str | None, as_of: str | None, slug: str | None, as_json: bool, **page: Any) -> None:
    """Every row about an entity (a name or an id) or of a fact (an id): when held, by whom changed, why."""
    with opened() as (_, db), db.read(EVERY_BASE) as conn:
        kb_id = the_base(conn, slug).id
        moment = reads.resolve(conn, kb_id, at=at, as_of=as_of)
        answer = _of_fact(conn, kb_id, moment, what, page)
        if answer is None:
            answer = reads.entity_history(conn, kb_id, moment, what, **page)
        elif at is not None:
            raise InvalidInput("at: goes with an entity; a fact's rows are all shown", field="at")
    _show(answer, as_json, *(line for item in answer["items"] for line in _told(item, answer["names"])))


@click.command()
@click.option("--from-as-of", help="Record time of the earlier point; a date, a moment or seq:N.")
@click.option("--to-as-of", help="Record time of the later point; left out: the head.")
@click.option("--at", help="World time that both points of the record look at.")
@click.option("--from-at", help="World time of the earlier point, instead of --from-as-of.")
@click.option("--to-at", help="World time of the later point.")
@click.option("--as-of", help="Record time that both points of the world are read at.")
@click.option("--entity", help="Only what is about it.")
@click.option("--limit", default=200, show_default=True)
@click.option("--cursor")
@base_option
@json_option
def diff(slug: str | None, as_json: bool, entity: str | None, limit: int, cursor: str | None, **points: Any) -> None:
    """What came (+) and what went (-) between two points of the record or of the world."""
    with opened() as (_, db), db.read(EVERY_BASE) as conn:
        answer = reads.diff_between(conn, the_base(conn, slug).id, entity=entity, limit=limit, cursor=cursor, **points)
    changed = [("+", item) for item in answer["added"]] + [("-", item) for item in answer["removed"]]
    _show(answer, as_json, *(f"{sign} {_line(item, answer['names'])}{_by(item)}" for sign, item in changed))


def _of_fact(conn: AnyConnection, kb_id: UUID, moment: AsOf, what: str, page: dict[str, Any]) -> Answer | None:
    """The history of the fact with that id; None where it is no fact's."""
    try:
        return reads.fact_history(conn, kb_id, moment, UUID(what), **page)
    except (ValueError, NotFound):
        return None


def _show(answer: Answer, as_json: bool, *lines: str) -> None:
    if as_json:
        print_json(answer)
        return
    for line in lines or ("nothing",):
        click.echo(line)
    click.echo(f"(record as of {answer['as_of']}, seq:{answer['seq']})")
    if answer["next_cursor"]:
        click.echo(f"more rows: --cursor {answer['next_cursor']}")


def _told(item: Answer, names: Answer) -> list[str]:
    lines = [_line(item, names), f"    recorded {_who(item['recorded'])}"]
    if item["closed"]:
        kind = item["closed"]["kind"] or "closed"
        lines.append(f"    {kind} {_who(item['closed'])}")
    elif item["since"]:
        lines.append(f"    since closed, {item['since']['invalidated_at']}")
    return lines


def _by(item: Answer) -> str:
    return f"  [{_who(item['by'])}]" if item["by"] else ""


def _who(by: Answer) -> str:
    why = f": {by['why']}" if by["why"] else ""
    return f"seq:{by['seq']} {by['at']} by {by['actor']} via {by['via']}, {by['action']}{why}"


def _line(item: Answer, names: Answer) -> str:
    def name(entity_id: str | None) -> str:
        return str(names.get(str(entity_id), {}).get("name") or entity_id)

    kind = item["kind"]
    if kind == "entity":
        return f"entity {item['label']}  {item['id']}"
    if kind == "type":
        return f"type of {name(item['entity_id'])}: {item['type_key'] or 'none'} ({item['source']})"
    if kind == "identity":
        return f"{item['id']} is {name(item['canonical_id'])}"
    if kind == "evidence":
        return f'rests on "{" ".join(item["quote"].split())}" ({item["filename"] or item["origin"]})'
    relation = item["predicate_key"] or item["phrase"]
    if kind == "refusal":
        other = name(item["object_id"]) if item["object_id"] else item["value_norm"]
        return f"refused: {name(item['subject_id'])} {relation} {other}"
    other = name(item["object_id"]) if item["object_id"] else item["object_value"]["raw"]
    held = f"{(item['holds_from'] or '…')[:10]} → {(item['holds_to'] or '…')[:10]}"
    return f"{name(item['subject_id'])} {relation} {other} ({held})  {item['id']}"
