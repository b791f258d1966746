"""``twoclocks ontology``: show, export, plan a file and apply the plan, packs, defects."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

import click

from api.cli.session import ACTOR, base_option, json_option, opened, print_json, the_base
from substrate.db import EVERY_BASE, Database

SHOWN = 40
"""Steps of a plan that the terminal lists; the rest is counted, and ``--json`` lists all."""


@click.group()
def ontology() -> None:
    """Classes and relations: show, export, plan a file, apply a plan, packs, defects."""


def _base_id(db: Database, slug: str | None) -> UUID:
    with db.read(EVERY_BASE) as conn:
        return the_base(conn, slug).id


@ontology.command()
@click.argument("key", required=False)
@base_option
@json_option
def show(key: str | None, slug: str | None, as_json: bool) -> None:
    """What the base declares, or one term (KEY) with what uses it."""
    from substrate.ontology.classes import kind_of, terms_of
    from substrate.ontology.edits import get_term
    from substrate.ontology.store import load_ontology
    from substrate.ontology.uses import told, uses_of

    with opened() as (_, db), db.read(EVERY_BASE) as conn:
        base = the_base(conn, slug)
        if key is not None:
            term = get_term(conn, base.id, key)
            uses = uses_of(conn, base.id, [key]).get(key, {})
            print_json({"kind": kind_of(term), **term.model_dump(mode="json", exclude_defaults=True), "uses": uses})
            return
        held = load_ontology(conn, base.id)
        uses_by_key = uses_of(conn, base.id, terms_of(held))
    if as_json:
        print_json(held.model_dump(mode="json"))
        return
    for name, term in terms_of(held).items():
        click.echo(f"{kind_of(term):9}  {name}  {term.label}  {told(uses_by_key.get(name, {}))}".rstrip())


@ontology.command()
@click.option("--format", "written_as", type=click.Choice(["yaml", "turtle"]), default="yaml", show_default=True)
@click.option("--to", type=click.Path(dir_okay=False, path_type=Path), help="A file; the terminal if left out.")
@base_option
def export(written_as: str, to: Path | None, slug: str | None) -> None:
    """The ontology as one file; planning it changes nothing."""
    from substrate.ontology.files import write_turtle, write_yaml
    from substrate.ontology.store import load_ontology

    with opened() as (_, db), db.read(EVERY_BASE) as conn:
        held = load_ontology(conn, the_base(conn, slug).id)
    text = write_turtle(held) if written_as == "turtle" else write_yaml(held)
    if to is None:
        click.echo(text, nl=False)
    else:
        to.write_text(text, encoding="utf-8")
        click.echo(f"written to {to}")


@ontology.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--format", "written_as", type=click.Choice(["yaml", "turtle", "rdfxml", "jsonld"]))
@click.option("--mode", type=click.Choice(["replace", "add"]), help="A file of ours replaces, any other is added.")
@base_option
@json_option
def plan(file: Path, written_as: Any, mode: Any, slug: str | None, as_json: bool) -> None:
    """What FILE (YAML, Turtle, RDF/XML, JSON-LD) would change. Writes nothing but the plan."""
    from substrate.ontology import edits
    from substrate.ontology.files import MOST_BYTES, format_of, read_file

    with file.open("rb") as opened_file:
        data = opened_file.read(MOST_BYTES + 1)
    reading = read_file(data, written_as or format_of(file.name))
    with opened() as (_, db):
        base_id = _base_id(db, slug)
        with db.write(base_id) as conn:
            made = edits.keep_plan(
                conn, base_id, reading.terms, mode or ("replace" if reading.whole else "add"), by=ACTOR,
                notes=reading.notes, source=data.decode("utf-8-sig"), source_name=file.name,
            )  # fmt: skip
    _print_plan(made.shown(), as_json)


@ontology.command()
@click.argument("plan_id", metavar="PLAN")
@click.option("--why", default="")
@base_option
def apply(plan_id: str, why: str, slug: str | None) -> None:
    """Carry out PLAN, its id or eight characters of it, exactly as it was shown."""
    from substrate.ledger import open_door
    from substrate.ontology import edits

    with opened() as (_, db):
        base_id = _base_id(db, slug)
        with (
            db.write(base_id) as conn,
            open_door(conn, base_id, actor=ACTOR, via="cli", action="ontology plan applied", why=why) as door,
        ):
            done = edits.apply_plan(door, plan_id)
    click.echo(f"applied at seq {door.seq}: {_figures(done.shown())}")


@ontology.group()
def pack() -> None:
    """Vocabularies that many share: list, add."""


@pack.command("list")
@json_option
def list_them(as_json: bool) -> None:
    """The packs there are, with sources and licences."""
    from substrate.ontology.packs import list_packs

    if as_json:
        print_json(list_packs())
        return
    for p in list_packs():
        sizes = f"{p['classes']} classes, {p['relations']} relations, {p['attributes']} attributes"
        click.echo(f"{p['name']:7}  {p['title']}: {sizes}\n         {p['source']}  {p['licence']}")


@pack.command()
@click.argument("name")
@click.option("--plan-only", is_flag=True, help="Show what it would change, and keep the plan.")
@base_option
def add(name: str, plan_only: bool, slug: str | None) -> None:
    """Add the pack NAME: planned, shown and applied."""
    from substrate.ledger import open_door
    from substrate.ontology import edits, packs
    from substrate.ontology.classes import terms_of

    asked = list(terms_of(packs.load_pack(name).ontology).values())
    with opened() as (_, db):
        base_id = _base_id(db, slug)
        with db.write(base_id) as conn:
            made = edits.keep_plan(conn, base_id, asked, "add", by=ACTOR, source_name=f"pack {name}")
        _print_plan(made.shown(), False)
        if plan_only or not made.accepted:
            return
        with (
            db.write(base_id) as conn,
            open_door(conn, base_id, actor=ACTOR, via="cli", action=f"pack {name} added") as door,
        ):
            edits.apply_plan(door, made.id)
    click.echo(f"applied at seq {door.seq}")


@ontology.command()
@click.option("--waived", is_flag=True, help="Those that people live with.")
@base_option
@json_option
def defects(waived: bool, slug: str | None, as_json: bool) -> None:
    """What is wrong in the ontology, and what is held that it forbids."""
    from substrate.ontology.defects import list_defects

    with opened() as (_, db), db.read(EVERY_BASE) as conn:
        answer = list_defects(conn, the_base(conn, slug).id, waived=waived)
    if as_json:
        print_json(answer)
        return
    for d in answer["defects"]:
        click.echo(
            f"{d['fingerprint'][:12]}  {d['code']}: " + (f"{d['entity']} " if "entity" in d else "") + d["detail"]
        )
    click.echo(f"{answer['total']} defects" + ("; more entities than are listed" if answer["truncated"] else ""))


def _print_plan(shown: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(shown)
        return
    for step in shown["steps"][:SHOWN]:
        fields = f" ({', '.join(step['fields'])})" if "fields" in step else ""
        click.echo(
            f"  {step['action']:8}  {step['kind']} {step['key']}{fields}"
            + (f": {step['why']}" if "why" in step else "")
        )
    if more := len(shown["steps"]) - SHOWN:
        click.echo(f"  … and {more} more" if more > 0 else "", nl=more > 0)
    for note in shown["notes"]:
        click.echo(f"  note: {note}")
    click.echo(_figures(shown))
    click.echo(f"plan {shown['plan'][:12]}")


def _figures(shown: dict[str, Any]) -> str:
    terms = ", ".join(f"{name} {n}" for name, n in shown["counts"].items())
    facts = ", ".join(f"{name.replace('_', ' ')} {n}" for name, n in shown["facts"].items()) or "none otherwise"
    return f"terms: {terms}; facts: {facts}; claims to be bound otherwise: {shown['rebound']}"
