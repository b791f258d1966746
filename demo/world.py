"""Plays waves of documents, deletions, merges and verdicts into a base through the product's own verbs.

Used by the demo and by bench/temporal: what both measure is the pipeline that a user runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any
from uuid import UUID

from bench.temporal.world import Answer, Merge, Verdict, Wave
from substrate import sql
from substrate.db import Database
from substrate.documents import intake
from substrate.documents.deletion import named
from substrate.documents.restore import restore
from substrate.errors import InvalidInput, NotFound
from substrate.ledger import open_door
from substrate.ledger.drafts import normalise_name
from substrate.ledger.entities import canonical_ids
from substrate.ledger.merges import merge, revert_merge
from substrate.ledger.retractions import reject_fact
from substrate.ledger.verdicts import confirm, reject, revert_batch
from substrate.ontology.binding import bind
from substrate.ontology.store import load_ontology
from substrate.reads.deletions import document_deletions
from substrate.reads.facts import entity_facts
from substrate.reads.moments import resolve
from substrate.reads.undo import list_merges

REVIEWER = "person:reviewer"
AGENT = "agent:demo"


@dataclass
class PipelineWorld:
    """A base with a way to run its pipeline to the end."""

    db: Database
    kb_id: UUID
    run: Callable[[], object]
    batches: dict[Verdict, UUID] = field(default_factory=dict)
    """Verdict on a proposal → the batch it was given in."""

    def ingest_wave(self, wave: Wave) -> None:
        """Push, run, then what people do; run again where a sentence or a verdict made work."""
        self.push([intake.PushItem(d.external_id, d.filename, d.text.encode(), d.doc_time) for d in wave.documents])
        for said in wave.remembered:
            intake.remember(self.db, self.kb_id, said.text, said.date, actor=AGENT, via="mcp", author=AGENT)
        self.run()
        self.judge_wave(wave)

    def judge_wave(self, wave: Wave) -> None:
        """Deletions, their undoing, merges and verdicts, and the reverts of those, in that order."""
        for external_id in wave.deletes:
            intake.delete(self.db, self.kb_id, external_id=external_id, actor=REVIEWER, via="cli")
        for external_id in wave.restores:
            self.restore(external_id)
        for pair in wave.merges:
            self.merge(pair)
        for verdict in wave.verdicts:
            self.decide(verdict)
        for pair in wave.parts:
            self.part(pair)
        for verdict in wave.taken_back:
            self.take_back(verdict)

    def push(self, items: list[intake.PushItem]) -> None:
        if items:
            intake.push(self.db, self.kb_id, items, actor=REVIEWER, via="cli")

    def sync(self, folder: Path) -> None:
        from substrate.documents.folders import sync_folder

        sync_folder(self.db, self.kb_id, folder, actor=REVIEWER, via="cli")

    def restore(self, external_id: str) -> None:
        """Undo the last deletion of a document."""
        with self.db.read(self.kb_id) as connection:
            document_id = named(connection, self.kb_id, external_id, None)["document_id"]
            moment = resolve(connection, self.kb_id)
            last = document_deletions(connection, self.kb_id, moment, document_id, limit=1)["deletions"][0]
        restore(self.db, self.kb_id, UUID(last["id"]), actor=REVIEWER, via="cli")

    def merge(self, pair: Merge) -> None:
        """Join two names, unless they are one already. A name that nothing has brought in yet is an error."""
        keep, absorbed = self._entity(pair.keep), self._entity(pair.merge)
        with self.db.write(self.kb_id) as connection:
            with open_door(connection, self.kb_id, actor=REVIEWER, via="cli", action="merged") as door:
                canonical = canonical_ids(connection, self.kb_id, [keep, absorbed])
                if canonical.get(keep, keep) != canonical.get(absorbed, absorbed):
                    merge(door, keep, absorbed)

    def part(self, pair: Merge) -> None:
        """Revert the merge in force of these two names."""
        with self.db.read(self.kb_id) as connection:
            made = list_merges(connection, self.kb_id, resolve(connection, self.kb_id), limit=200)["merges"]
        standing = (UUID(m["id"]) for m in made if {*_names(m)} == {pair.keep, pair.merge} and m["reverted"] is None)
        with self.db.write(self.kb_id) as connection:
            with open_door(connection, self.kb_id, actor=REVIEWER, via="cli", action="parted") as door:
                revert_merge(door, next(standing))

    def _entity(self, name: str) -> UUID:
        with self.db.read(self.kb_id) as connection:
            parameters = {"kb_id": self.kb_id, "norms": [normalise_name(name)]}
            row = connection.execute(sql.query("entities_named"), parameters).fetchone()
        if row is None:
            raise NotFound(f"no entity is named {name!r}")
        found: UUID = row["id"]
        return found

    def decide(self, verdict: Verdict) -> None:
        """A reviewer's word on a triple: on the proposal if one waits, else on the fact that is held."""
        for row in self._proposals():
            if self._is(row, verdict):
                act = confirm if verdict.confirm else reject
                done = act(self.db, self.kb_id, row["id"], actor=REVIEWER, via="cli")
                self.batches[verdict] = done.batch_id
                return
        if verdict.confirm:
            raise NotFound(f"no proposal says {verdict}")
        facts = self._held(verdict)
        if not facts:
            raise NotFound(f"nothing held or proposed says {verdict}")
        with self.db.write(self.kb_id) as connection:
            with open_door(connection, self.kb_id, actor=REVIEWER, via="cli", action="rejected") as door:
                reject_fact(door, UUID(facts[0]["id"]), "")

    def take_back(self, verdict: Verdict) -> None:
        """Revert the verdict that was given in this world on a proposal."""
        with self.db.write(self.kb_id) as connection:
            with open_door(connection, self.kb_id, actor=REVIEWER, via="cli", action="verdict reverted") as door:
                revert_batch(door, self.batches.pop(verdict))

    def _proposals(self) -> list[dict[str, Any]]:
        with self.db.read(self.kb_id) as connection:
            return connection.execute(sql.query("waiting_claims"), {"kb_id": self.kb_id}).fetchall()

    def _is(self, row: dict[str, Any], verdict: Verdict) -> bool:
        with self.db.read(self.kb_id) as connection:
            ontology = load_ontology(connection, self.kb_id)
        from substrate.identity.claims import value_of

        bound = bind(
            ontology, subject=row["subject"], phrase=row["phrase"], object_name=row["object"], value=value_of(row)
        )
        other = bound.object_name or (bound.value.raw if bound.value else "")
        same = normalise_name(bound.subject_name) == normalise_name(verdict.subject)
        return same and bound.predicate_key == verdict.predicate and _same_object(other, verdict.object)

    def _held(self, verdict: Verdict) -> list[dict[str, Any]]:
        with self.db.read(self.kb_id) as connection:
            answer = entity_facts(connection, self.kb_id, verdict.subject, resolve(connection, self.kb_id), limit=300)
        return [
            fact
            for fact in answer["facts"]
            if fact["predicate_key"] == verdict.predicate and _same_object(other_end(fact), verdict.object)
        ]

    def stamp(self) -> str:
        """The present moment of the record, as a caller would name it."""
        with self.db.read(self.kb_id) as connection:
            return f"seq:{resolve(connection, self.kb_id).seq}"

    def ask(self, subject: str, at: str | None, as_of: str | None) -> dict[str, Any]:
        """The answer of `entity_facts`, whole."""
        with self.db.read(self.kb_id) as connection:
            moment = resolve(connection, self.kb_id, at=at, as_of=as_of)
            return entity_facts(connection, self.kb_id, subject, moment, limit=300)

    def read(self, subject: str, at: str | None, as_of: str | None) -> list[Answer] | None:
        """The facts that touch the subject; None where no such subject is known then."""
        try:
            answer = self.ask(subject, at, as_of)
        except (NotFound, InvalidInput):
            return None
        return [Answer(fact["predicate_key"], other_end(fact)) for fact in answer["facts"]]


def _names(merged: Mapping[str, Any]) -> tuple[str, str]:
    return merged["kept"], merged["absorbed"]


def other_end(fact: Mapping[str, Any]) -> str:
    """The name at the other end of a fact, or its value with its unit."""
    if fact["other_name"] is not None:
        return str(fact["other_name"])
    value = fact["object_value"]
    number = value.get("value") if isinstance(value, dict) else value
    unit = value.get("unit") if isinstance(value, dict) else None
    return f"{number} {unit}" if unit else str(number)


def _same_object(text: str, wanted: str) -> bool:
    if normalise_name(text) == normalise_name(wanted):
        return True
    digits = "".join(c for c in text if c.isdigit() or c == ".")
    try:
        return Decimal(digits) == Decimal(wanted)
    except InvalidOperation:
        return False
