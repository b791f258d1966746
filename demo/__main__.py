"""``make demo``: sample documents through the Dagster assets, then two-clock questions with their sentences."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import yaml
from psycopg import sql as pgsql
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from bench.temporal.score import judge, parse_question, parse_wave
from bench.temporal.world import Answer, Question
from demo.world import REVIEWER, PipelineWorld, other_end
from substrate import sql
from substrate.bases import base_by_slug, create_base
from substrate.db import NO_BASE, Database, open_database
from substrate.documents.intake import PushItem
from substrate.errors import NotFound, TwoclocksError
from substrate.ledger import open_door
from substrate.ledger.verify import verify
from substrate.settings import Settings, load_settings, tame_native_threads

HERE = Path(__file__).parent
console = Console(highlight=False)


def main() -> int:
    """0 if every question was answered as it should be and the chain verifies."""
    try:
        settings = load_settings()
    except TwoclocksError as error:
        raise SystemExit(f"Error: {error}") from None
    tame_native_threads(settings.threads)
    script = yaml.safe_load((HERE / "demo.yaml").read_text(encoding="utf-8"))
    began = time.monotonic()
    try:
        with _progress() as say, open_database(settings, "demo") as db, _pipeline(settings) as run:
            demo = Demo(settings, db, script, run, say)
            demo.play()
            say("asking")
            asked = demo.ask()
            with db.read(demo.kb_id) as connection:
                report = verify(connection, demo.kb_id)
            counts, changed = demo.counts(), demo.changed()
    except TwoclocksError as error:
        console.print(f"[red]demo failed:[/] {error}")
        return 1
    console.print(counts)
    show_answers(asked)
    right = sum(ok for _, _, ok in asked)
    chain = "verifies" if report.ok else f"DOES NOT VERIFY: {report.problem}"
    console.print(
        f"{right} of {len(asked)} answers as they should be; {report.events} events in {report.head_seq} transactions, "
        f"and their chain {chain}. {time.monotonic() - began:.0f} s. {changed}"
    )
    show_next(settings, demo.slug)
    return 0 if right == len(asked) and report.ok else 1


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    with Progress(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=console) as progress:
        task = progress.add_task("starting Postgres")
        yield lambda text: progress.update(task, description=text)


@contextmanager
def _pipeline(settings: Settings) -> Iterator[Callable[[str], object]]:
    """Materializes every asset of a base, on record in Dagster, with models opened once."""
    from orchestration.home import open_instance
    from orchestration.resources import Substrate
    from orchestration.run import materialize

    with open_instance(settings) as instance:
        substrate = Substrate(settings)
        try:
            yield lambda slug: materialize(settings, slug, instance, substrate=substrate)
        finally:
            substrate.close()


class Demo:
    """The demo's base and how far its story was told; told once, however often the demo runs."""

    def __init__(
        self,
        settings: Settings,
        db: Database,
        script: Mapping[str, Any],
        run: Callable[[str], object],
        say: Callable[[str], None],
    ) -> None:
        self.settings, self.db, self.script, self.say = settings, db, script, say
        self.slug: str = script["slug"]
        self.kb_id = self._base()
        self.world = PipelineWorld(db, self.kb_id, lambda: run(self.slug))
        self.moments = self._told()
        self.before = self.world.stamp()

    def _base(self) -> UUID:
        try:
            with self.db.ask() as connection:
                return base_by_slug(connection, self.slug).id
        except NotFound:
            ontology = (HERE / self.script["ontology"]).read_text(encoding="utf-8")
            with self.db.write(NO_BASE) as connection:
                return create_base(connection, self.slug, self.script["name"], ontology_yaml=ontology)

    def _told(self) -> dict[str, str]:
        """The moment of each wave that was told before. It is on the record itself: a wave ends with a transaction
        whose idempotency key names it, so that another checkout on the same database tells nothing twice."""
        found = {}
        with self.db.read(self.kb_id) as connection:
            for raw in self.script["waves"]:
                values = {"kb_id": self.kb_id, "key": f"demo:{raw['label']}"}
                row = connection.execute(sql.query("transaction_of_key"), values).fetchone()
                if row is not None:
                    found[raw["label"]] = f"seq:{row['seq']}"
        return found

    def play(self) -> None:
        """Take in what was not taken in before; then run the pipeline once more, which must change nothing."""
        for raw in self.script["waves"]:
            if raw["label"] not in self.moments:
                self._wave(raw)
        self.say("running the pipeline once more")
        self.world.run()

    def _wave(self, raw: Mapping[str, Any]) -> None:
        wave = parse_wave({**raw, "documents": [], "delete": raw["delete"], "merge": raw["merge"]})
        self.say(f"{wave.label}: taking in documents")
        self.world.sync(HERE / raw["folder"])
        self.world.push(
            [PushItem(p["external_id"], p["filename"], p["content"].encode(), p.get("doc_time")) for p in raw["push"]]
        )
        self.say(f"{wave.label}: parse, embed, index, extract, resolve, record")
        self.world.run()
        self.world.judge_wave(wave)
        self.moments[wave.label] = self._end(wave.label)

    def _end(self, label: str) -> str:
        with (
            self.db.write(self.kb_id) as connection,
            open_door(
                connection,
                self.kb_id,
                actor=REVIEWER,
                via="cli",
                action="demo wave told",
                idempotency_key=f"demo:{label}",
            ) as door,
        ):
            door.note("demo", {"wave": label})
            return f"seq:{door.seq}"

    def ask(self) -> list[tuple[Question, dict[str, Any], bool]]:
        """Every question with its answer and whether it is the expected one."""
        asked = []
        for raw in self.script["questions"]:
            question = parse_question(raw)
            as_of = self.moments[question.as_of] if question.as_of else None
            try:
                answer = self.world.ask(question.subject, question.at, as_of)
            except NotFound:
                answer = {"facts": [], "seq": None}
            facts = [f for f in answer["facts"] if question.relation in (None, f["predicate_key"])]
            answers = [Answer(f["predicate_key"], other_end(f)) for f in facts]
            asked.append((question, {**answer, "facts": facts}, judge(question, answers)))
        return asked

    def counts(self) -> str:
        """How many rows there are of what the pipeline makes."""
        found = []
        with self.db.read(self.kb_id) as connection:
            for table in ("documents", "chunks", "claims", "entities", "facts"):
                statement = pgsql.SQL("select count(*) as n from {} where kb_id = %s").format(pgsql.Identifier(table))
                row = connection.execute(statement, (self.kb_id,)).fetchone()
                found.append(f"{row['n'] if row else 0} {table}")
        return ", ".join(found)

    def changed(self) -> str:
        """Whether this run wrote anything."""
        after = self.world.stamp()
        return (
            f"Nothing was written: still {after}."
            if after == self.before
            else f"The record went from {self.before} to {after}."
        )


def show_answers(asked: Sequence[tuple[Question, dict[str, Any], bool]]) -> None:
    """One row a question: asked when on either clock, the answer, and the sentence it rests on."""
    table = Table(show_lines=True, expand=True)
    for name, ratio in (("question", 4), ("true at", 1), ("known as of", 1), ("answer", 2), ("because", 5), ("", 0)):
        table.add_column(name, ratio=ratio or None, overflow="fold")
    for question, answer, ok in asked:
        facts = answer["facts"]
        names = "\n".join(dict.fromkeys(other_end(f) for f in facts)) or "(nothing)"
        table.add_row(
            question.ask,
            question.at or "any time",
            question.as_of or "now",
            names,
            "\n".join(dict.fromkeys(_because(f) for f in facts)),
            "[green]✓[/]" if ok else "[red]✗[/]",
        )
    console.print(table)


def _because(fact: Mapping[str, Any]) -> str:
    if not fact["evidence"]:
        return ""
    first = fact["evidence"][0]
    return f"“{first['quote']}” — {first['filename']}"


def show_next(settings: Settings, slug: str) -> None:
    """What to do now."""
    console.print(
        f"""
[bold]Next[/]
  make up                                  serve it: addresses of API and Dagster, a token, an MCP client entry
  .venv/bin/twoclocks facts "Limpet Project" --kb {slug} --at 2024-08
  .venv/bin/twoclocks search "advises the Limpet Project" --kb {slug}
  make down                                stop what `make up` started
The database goes on running in {settings.data_dir}; `make down` stops it too."""
    )


if __name__ == "__main__":
    sys.exit(main())
