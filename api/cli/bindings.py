"""``twoclocks bindings``: what phrases of the sources name: list, decide with a preview, take back, bind now."""

from __future__ import annotations

from typing import Any

import click

from api.cli.session import ACTOR, base_option, json_option, opened, print_json, the_base
from substrate.db import EVERY_BASE


@click.group()
def bindings() -> None:
    """What phrases name: list, decide, take back, bind now."""


@bindings.command("list")
@click.option("--state", type=click.Choice(["undecided", "bound", "person"]), help="Those alone.")
@click.option("--limit", type=int, default=50, show_default=True)
@click.option("--offset", type=int, default=0)
@base_option
@json_option
def list_(state: Any, limit: int, offset: int, slug: str | None, as_json: bool) -> None:
    """Phrases in use, most frequent first, each with a sentence that uses it."""
    from substrate.ontology.bindings_list import list_bindings

    with opened() as (_, db), db.read(EVERY_BASE) as conn:
        answer = list_bindings(conn, the_base(conn, slug).id, state=state, limit=limit, offset=offset)
    if as_json:
        print_json(answer)
        return
    for b in answer["bindings"]:
        named = b["relation"] or ("nothing" if b["method"] == "person" else "-")
        turned = " backwards" if b["backwards"] else ""
        click.echo(f"{b['claims']:>6}  {b['phrase']}  →  {named}{turned}  ({b['method']})  {b['id'] or ''}".rstrip())
        for example in b["examples"][:1]:
            click.echo(f"        {example['filename']}: {example['quote']}")
    told = ", ".join(f"{method} {n}" for method, n in answer["by_method"].items())
    click.echo(f"{len(answer['bindings'])} of {answer['total']} phrases; {told or 'none in use'}")


@bindings.command()
@click.argument("phrase")
@click.argument("relation", required=False)
@click.option("--none", "nothing", is_flag=True, help="The phrase names no relation.")
@click.option("--backwards", is_flag=True, help="Subject and object change places.")
@click.option("--why", default="")
@click.option("--yes", is_flag=True, help="Do not ask.")
@base_option
def decide(
    phrase: str, relation: str | None, nothing: bool, backwards: bool, why: str, yes: bool, slug: str | None
) -> None:
    """Preview that PHRASE names RELATION, ask, and decide it so; refused where the base moved on in between."""
    from substrate.ontology.bindings_plan import Change, Decision

    if (relation is None) != nothing:
        raise click.UsageError("give a RELATION, or --none")
    _carry_out(slug, Change((Decision(phrase, relation, backwards),)), why, yes)


@bindings.command()
@click.argument("binding_id", type=click.UUID)
@click.option("--why", default="")
@click.option("--yes", is_flag=True, help="Do not ask.")
@base_option
def undo(binding_id: Any, why: str, yes: bool, slug: str | None) -> None:
    """Preview that a decision is taken back, ask, and do it: the phrase is bound as it was before."""
    from substrate.ontology.bindings_plan import Change

    _carry_out(slug, Change(undo=(binding_id,)), why, yes)


@bindings.command("apply-plan")
@click.argument("plan_id")
@click.option("--why", default="")
@click.option("--yes", is_flag=True, help="Do not ask.")
@base_option
def apply_plan(plan_id: str, why: str, yes: bool, slug: str | None) -> None:
    """Preview what a kept plan of the ontology makes of the facts, phrases bound anew, ask, and apply it."""
    from substrate.ontology.bindings_plan import Change

    _carry_out(slug, Change(ontology_plan=plan_id), why, yes)


@bindings.command()
@base_option
def run(slug: str | None) -> None:
    """Bind now what is new or rests on something that changed. Declared words, resemblance, and votes if a chat
    endpoint is set."""
    from substrate.pipeline import Services, run_step

    with opened() as (settings, db):
        with db.read(EVERY_BASE) as conn:
            base = the_base(conn, slug)
        with Services(settings) as services:
            result = run_step(db, base.id, services, "bindings")
    click.echo(f"decided {result.done}, stand {result.skipped}, left for the next pass {result.remaining}")
    for line in result.failures:
        click.echo(line, err=True)
    if result.failed:
        raise SystemExit(1)


def _carry_out(slug: str | None, change: Any, why: str, yes: bool) -> None:
    from substrate.ontology.bindings_plan import apply_change, preview_change

    with opened() as (_, db):
        with db.read(EVERY_BASE) as conn:
            base = the_base(conn, slug)
        plan = preview_change(db, base.id, change)
        _show(plan)
        if not yes:
            click.confirm("Decide it so?", abort=True)
        done, seq = apply_change(
            db, base.id, change, seq=plan.seq, plan=plan.fingerprint, actor=ACTOR, via="cli", why=why
        )
    for made in done.bindings:
        click.echo(f"decided  {made}  at seq {seq}")
    if not done.bindings:
        click.echo(f"{'applied' if change.ontology_plan else 'taken back'} at seq {seq}")


def _show(plan: Any) -> None:
    for outcome, examples in plan.examples.items():
        for e in examples:
            click.echo(f"  {outcome}: {_side(e['before'])} ⇒ {_side(e['after'])}")
    told = ", ".join(f"{outcome.replace('_', ' ')} {n}" for outcome, n in plan.counts.items() if n)
    click.echo(f"{told or 'no fact would change'}; previewed at seq {plan.seq}")


def _side(side: dict[str, Any] | None) -> str:
    return (
        "nothing" if side is None else f"{side['subject']} {side['predicate_key'] or side['phrase']} {side['object']}"
    )
