"""A small base with unique relations, and a hand to write assertions with."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from itertools import count
from uuid import UUID

import pytest

from substrate.axes.transaction_time import held, held_parameters
from substrate.bases import create_base
from substrate.db import NO_BASE, Database
from substrate.extraction.claims import UNDATED, ClaimTime, Value
from substrate.ledger import open_door
from substrate.ledger.assertions import Asserted, assert_batch
from substrate.ledger.drafts import Draft
from substrate.ledger.entities import resolve_names
from substrate.ledger.verify import verify
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


class Judge:
    """Reads conflicts by name, and acts as a person."""

    def __init__(self, hand):
        self.hand, self.database, self.kb_id = hand, hand.database, hand.kb_id

    def open(self, seq=None):
        """(reason, old subject, new subject) of the conflicts that waited at a number."""
        return sorted((r["reason"], r["old"], r["new"]) for r in self.rows(seq))

    def rows(self, seq=None):
        statement = f"""
            select c.*, o.label as old, n.label as new from conflicts c
            join entities o on o.kb_id = c.kb_id and o.id = c.old_subject_id
            join entities n on n.kb_id = c.kb_id and n.id = c.new_subject_id
            where c.kb_id = %(kb_id)s and {held("c", seq)}"""
        with self.database.read(self.kb_id) as connection:
            return connection.execute(statement, {"kb_id": self.kb_id, **held_parameters(seq)}).fetchall()

    def only(self):
        (row,) = self.rows()
        return row["id"]

    def door(self, connection):
        return open_door(connection, self.kb_id, actor="person:test", via="rest", action="judged", why="I know")

    def act(self, verb, *arguments, **more):
        with self.database.write(self.kb_id) as connection, self.door(connection) as door:
            return verb(door, *arguments, **more)

    def seq(self):
        with self.database.read(self.kb_id) as connection:
            return connection.execute("select seq from kb_head where kb_id = %s", (self.kb_id,)).fetchone()["seq"]

    def fact(self, subject, relation="leads"):
        statement = """
            select f.* from facts f join entities s on s.kb_id = f.kb_id and s.id = f.subject_id
            where f.kb_id = %s and s.label = %s and f.predicate_key = %s and f.invalidated_seq is null
            order by f.holds_from nulls first"""
        with self.database.read(self.kb_id) as connection:
            return connection.execute(statement, (self.kb_id, subject, relation)).fetchall()

    def sound(self):
        with self.database.read(self.kb_id) as connection:
            return verify(connection, self.kb_id).ok


@pytest.fixture
def judge(hand: Hand) -> Judge:
    return Judge(hand)
