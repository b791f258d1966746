"""A small base with unique relations, and a hand to write assertions with."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from itertools import count
from uuid import UUID

import pytest

from substrate.bases import create_base
from substrate.db import NO_BASE, Database
from substrate.extraction.claims import UNDATED, ClaimTime, Value
from substrate.ledger import open_door
from substrate.ledger.assertions import Asserted, assert_batch
from substrate.ledger.drafts import Draft
from substrate.ledger.entities import resolve_names
from substrate.ontology.store import load_ontology

ONTOLOGY = """
classes:
  - {key: person, label: Person}
  - {key: project, label: Project}
relations:
  - {key: leads, label: leads, inverse_functional: true, domain: person, range: project}
  - {key: works_for, label: works for}
  - {key: married_to, label: married to, functional: true, inverse_functional: true}
  - {key: acquired, label: acquired, temporal: event}
  - {key: same_as, label: same as, temporal: eternal}
attributes:
  - {key: salary, label: salary, functional: true, datatype: number, unit: CNY}
"""


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@dataclass
class Hand:
    """Asserts triples by name; each call is one transaction."""

    database: Database
    kb_id: UUID
    keys: count = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        self.keys = count()

    def draft(self, entities, subject, phrase, obj, *, start=None, end=None, attested=None, key=None, **more) -> Draft:
        time = UNDATED
        if start or end:
            unknown = end == "unknown"
            time = ClaimTime(
                valid_from=day(start) if start else None,
                valid_from_precision="day" if start else None,
                valid_to=None if unknown or not end else day(end),
                valid_to_precision="unknown" if unknown else ("day" if end else None),
            )
        literal = isinstance(obj, int)
        return Draft(
            source_key=key or f"test:{next(self.keys)}",
            subject_id=entities[subject],
            phrase=phrase,
            predicate_key=phrase.replace(" ", "_"),
            object_id=None if literal else entities[obj],
            value=Value(str(obj), number=Decimal(obj), unit="CNY", datatype="number") if literal else None,
            time=time,
            attested_at=day(attested) if attested else None,
            **more,
        )

    def say(self, *statements: dict) -> Asserted:
        with self.database.write(self.kb_id) as connection:
            ontology = load_ontology(connection, self.kb_id)
            with open_door(connection, self.kb_id, actor="test", via="pipeline", action="said") as door:
                names = {s["subject"]: None for s in statements}
                names |= {s["obj"]: None for s in statements if isinstance(s["obj"], str)}
                entities = resolve_names(door, names)
                return assert_batch(door, [self.draft(entities, **s) for s in statements], ontology)

    def held(self, at: str | None = None) -> list[tuple]:
        """Currently held facts by natural key, names left out."""
        with self.database.read(self.kb_id) as connection:
            rows = connection.execute(
                """select s.label as subject, f.predicate_key, coalesce(o.label, f.value_norm) as object,
                          f.valid_from::date::text, f.valid_to::date::text, f.valid_to_precision, f.valid_to_origin,
                          f.attested_from::date::text, f.holds_from, f.holds_to
                   from facts f join entities s on s.kb_id = f.kb_id and s.id = f.subject_id
                   left join entities o on o.kb_id = f.kb_id and o.id = f.object_id
                   where f.kb_id = %s and f.invalidated_seq is null and f.predicate_key <> 'known_as'""",
                (self.kb_id,),
            ).fetchall()
        if at is not None:
            moment = day(at)
            rows = [
                r
                for r in rows
                if (r["holds_from"] is None or r["holds_from"] <= moment)
                and (r["holds_to"] is None or r["holds_to"] > moment)
            ]
        return sorted((tuple(r.values()) for r in rows), key=str)

    def objects(self, subject: str, relation: str, at: str | None = None) -> list[str]:
        return sorted(r[2] for r in self.held(at) if r[0] == subject and r[1] == relation)

    def subjects(self, relation: str, obj: str, at: str | None = None) -> list[str]:
        return sorted(r[0] for r in self.held(at) if r[2] == obj and r[1] == relation)


@pytest.fixture
def hand(database: Database) -> Hand:
    with database.write(NO_BASE) as connection:
        kb_id = create_base(connection, "ledger", "Ledger", ontology_yaml=ONTOLOGY)
    return Hand(database, kb_id)
