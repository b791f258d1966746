"""A base whose documents say one claim a line: ``subject | phrase | object | start``, ``=`` before a literal."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np

from substrate.bases import create_base
from substrate.db import NO_BASE, Database
from substrate.documents.intake import PushItem, push
from substrate.extraction.claims import UNDATED, Claim, ClaimTime, Drop, Extraction, Passage, Value
from substrate.ledger.verify import verify
from substrate.ontology.bindings_plan import Change, Decision, apply_change, preview_change
from substrate.pipeline import Services, Step, run_pipeline

STAGES: tuple[Step, ...] = ("parse", "claims", "entities", "facts")
BY: Any = {"actor": "person:Ada", "via": "rest"}
ONTOLOGY = """
classes:
  - {key: person, label: Person}
  - {key: project, label: Project}
relations:
  - {key: leads, label: leads, domain: person, range: project, inverse_functional: true}
  - {key: works_for, label: works for}
  - {key: motto, label: motto, kind: attribute}
"""


class LineReader:
    """An extractor of such lines; a line that is none is a drop."""

    name, version = "lines", "1"

    def extract(self, passages):
        return [self._read(p) for p in passages]

    def _read(self, passage: Passage) -> Extraction:
        claims, drops, at = [], [], 0
        for line in passage.text.split("\n"):
            start, at = at, at + len(line) + 1
            parts = [p.strip() for p in line.split("|")]
            if len(parts) < 3:
                drops += [Drop("no_object", "not a line", line)] if line.strip() else []
                continue
            claims.append(_claim(parts, line, start))
        return Extraction(tuple(claims), tuple(drops), {})


def _claim(parts: list[str], line: str, start: int) -> Claim:
    subject, phrase, other, *rest = parts
    wording = phrase
    if "/" in phrase:
        phrase, wording = (p.strip() for p in phrase.split("/"))
    time = UNDATED
    if rest and rest[0]:
        time = ClaimTime(datetime.fromisoformat(rest[0]).replace(tzinfo=UTC), "day")
    literal = other.removeprefix("=")
    number = Decimal(literal) if literal.isdigit() else None
    value = Value(literal, number, None, "number" if number else "text") if other.startswith("=") else None
    kinds = rest[1].split(">") if len(rest) > 1 else [None, None]
    return Claim(
        subject,
        phrase,
        line,
        start,
        start + len(line),
        object=None if value else other,
        value=value,
        time=time,
        wording=wording,
        subject_kind=kinds[0],
        object_kind=kinds[1],
        denies=len(rest) > 2 and rest[2] == "not",
        confidence=0.5 if len(rest) > 2 and rest[2] == "unnamed" else 1.0,
    )


class Words:
    """An embedder that knows the texts it was told of; all others are far from everything and each other."""

    name, dimension, token_limit, truncated = "words@1", 256, None, 0

    def __init__(self, **near: tuple[str, float]) -> None:
        self.near, self.asked = near, 0
        self._places: dict[str, int] = {}

    def count_tokens(self, text):
        return len(text)

    def passages(self, texts):
        self.asked += len(texts)
        return np.stack([self._vector(t) for t in texts])

    queries = passages

    def _vector(self, text):
        vector = np.zeros(self.dimension, dtype=np.float32)
        other, how = self.near.get(text.replace(" ", "_"), (text, 1.0))
        vector[self._places.setdefault(other, len(self._places))] = how
        if how < 1:
            vector[self._places.setdefault(text, len(self._places))] = (1 - how**2) ** 0.5
        return vector


@dataclass
class Lines:
    """Documents of lines, read by the whole pipeline."""

    database: Database
    kb_id: UUID
    settings: Any
    embedder: Any = field(default_factory=Words)

    def tell(self, name: str, *lines: str) -> None:
        text = "\n".join(lines) + "\n"
        item = PushItem(name, f"{name}.txt", text.encode(), None, "", "text/plain", "")
        push(self.database, self.kb_id, [item], **BY)
        self.run()

    def run(self) -> None:
        with Services(self.settings, embedder=self.embedder, extractor=LineReader()) as services:
            run_pipeline(self.database, self.kb_id, services, STAGES)

    def held(self) -> list[tuple[str, str, str, str | None]]:
        """Facts by name: predicate or ``~phrase``; names left out."""
        return self._facts("f.invalidated_seq is null", ())

    def held_at(self, seq: int) -> list[tuple[str, str, str, str | None]]:
        return self._facts("f.recorded_seq <= %s and (f.invalidated_seq is null or f.invalidated_seq > %s)", (seq, seq))

    def _facts(self, when, values):
        with self.database.read(self.kb_id) as connection:
            rows = connection.execute(
                f"""select s.label as s, coalesce(f.predicate_key, '~' || f.phrase) as p,
                           coalesce(o.label, '=' || f.value_raw) as o, f.valid_from::date::text as since
                    from facts f join entities s on s.kb_id = f.kb_id and s.id = f.subject_id
                    left join entities o on o.kb_id = f.kb_id and o.id = f.object_id
                    where f.kb_id = %s and f.predicate_key is distinct from 'known_as' and {when}""",
                (self.kb_id, *values),
            ).fetchall()
        return sorted((r["s"], r["p"], r["o"], r["since"]) for r in rows)

    def names(self) -> list[str]:
        with self.database.read(self.kb_id) as connection:
            rows = connection.execute(
                "select value_raw from facts where kb_id = %s and predicate_key = 'known_as' "
                "and invalidated_seq is null",
                (self.kb_id,),
            ).fetchall()
        return sorted(r["value_raw"] for r in rows)

    def one(self, statement: str, *values: Any) -> Any:
        with self.database.read(self.kb_id) as connection:
            row = connection.execute(statement, (self.kb_id, *values)).fetchone()
        return row and next(iter(row.values()))

    def seq(self) -> int:
        return self.one("select seq from kb_head where kb_id = %s")

    def preview(self, *decisions: Decision, undo: tuple[UUID, ...] = ()):
        return preview_change(self.database, self.kb_id, Change(decisions, undo))

    def apply(self, plan, why: str = ""):
        done, _ = apply_change(
            self.database, self.kb_id, plan.change, seq=plan.seq, plan=plan.fingerprint, why=why, **BY
        )
        return done

    def decide(self, phrase: str, relation: str | None, backwards: bool = False):
        return self.apply(self.preview(Decision(phrase, relation, backwards)))

    def sound(self) -> bool:
        with self.database.read(self.kb_id) as connection:
            return verify(connection, self.kb_id).ok


def new_lines(database: Database, settings: Any, slug: str = "lines", ontology: str = ONTOLOGY) -> Lines:
    with database.write(NO_BASE) as connection:
        kb_id = create_base(connection, slug, slug.title(), ontology_yaml=ontology)
    return Lines(database, kb_id, settings)
