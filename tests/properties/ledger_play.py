"""A hand that says, deletes, rejects, lifts and merges by name, and reads what was held at any number of the order."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from uuid import UUID, uuid4

from substrate.axes.transaction_time import held, held_parameters
from substrate.axes.valid_time import Bucket, holds
from substrate.bases import create_base
from substrate.db import NO_BASE
from substrate.extraction.claims import ClaimTime
from substrate.ledger import open_door
from substrate.ledger.assertions import assert_batch
from substrate.ledger.drafts import Draft, Evidence
from substrate.ledger.entities import resolve_names
from substrate.ledger.merges import merge
from substrate.ledger.refusals import lift
from substrate.ledger.retractions import close_version_assertions, reject_fact
from substrate.ontology.store import load_ontology

ONTOLOGY = """
relations:
  - {key: leads, label: leads, inverse_functional: true}
  - {key: reports_to, label: reports to, functional: true}
  - {key: married_to, label: married to, functional: true, inverse_functional: true}
  - {key: works_for, label: works for}
  - {key: acquired, label: acquired, temporal: event}
  - {key: same_as, label: same as, temporal: eternal}
"""
UNIQUE = {"leads": (False, True), "reports_to": (True, False), "married_to": (True, True)}
RELATIONS = ("leads", "reports_to", "married_to", "works_for", "acquired", "same_as")
EPOCH = datetime(2020, 1, 1, tzinfo=UTC)
MONTHS = (0, 31, 60, 91)
ALWAYS = 99_999
NEVER = (-ALWAYS, ALWAYS)
_NUMBERS = count()


def day(number: int) -> datetime:
    return EPOCH + timedelta(days=number)


def rivals(one: tuple[str, str, str], other: tuple[str, str, str]) -> bool:
    """Does the ontology forbid that both hold at once?"""
    sides = zip(UNIQUE.get(one[1], (False, False)), one[::2], other[::2], strict=True)
    return one != other and one[1] == other[1] and any(unique and a == b for unique, a, b in sides)


@dataclass(frozen=True)
class Said:
    """One statement, in days since the epoch; `doc` is the version that a deletion takes away.

    A start in months is one of `MONTHS`, an end in months is where one of them is over.
    """

    subject: str
    relation: str
    obj: str
    start: int | None = None
    end: int | None = None
    attested: int | None = None
    denies: bool = False
    corrects: bool = False
    doc: int = 0
    unit: str = "day"
    end_unit: str = "day"
    time: ClaimTime | None = None
    """Instead of start and end, where days are not enough."""
    phrase: str | None = None
    replaces: str | None = None
    quote: str = ""
    confidence: float = 1.0
    key: str = field(default_factory=lambda: f"t:{next(_NUMBERS)}")

    def __post_init__(self) -> None:
        assert self.unit == "day" or self.start in MONTHS
        assert self.end_unit == "day" or self.end in MONTHS

    @property
    def triple(self) -> tuple[str, str, str]:
        return self.subject, self.relation, self.obj

    def of(self, subject: str, relation: str, obj: str) -> Said:
        """The same words about others."""
        return replace(self, subject=subject, relation=relation, obj=obj)

    @property
    def opens(self) -> tuple[int, int]:
        """The first day of the unit that the start names, and the first day after it."""
        if self.start is None:
            return NEVER
        return self.start, min(m for m in MONTHS if m > self.start) if self.unit == "month" else self.start + 1

    @property
    def ends(self) -> tuple[int, int]:
        """The same of the end."""
        if self.end is None:
            return NEVER
        return max(m for m in MONTHS if m < self.end) if self.end_unit == "month" else self.end - 1, self.end


@dataclass
class Play:
    """One base of its own in a shared database."""

    database: object
    kb_id: UUID
    docs: dict[int, UUID] = field(default_factory=dict)
    _own: threading.local = field(default_factory=threading.local)

    @staticmethod
    def begin(database) -> Play:
        with database.write(NO_BASE) as connection:
            slug = f"play-{next(_NUMBERS)}-{uuid4().hex[:8]}"
            return Play(database, create_base(connection, slug, "Play", ontology_yaml=ONTOLOGY))

    def door(self, connection, key: str | None = None):
        return open_door(connection, self.kb_id, actor="test", via="pipeline", action="played", idempotency_key=key)

    @contextmanager
    def transaction(self, key: str | None = None) -> Iterator:
        """What is done inside is one ledger transaction, under an idempotency key; a verb alone is one of its own."""
        if (open_one := getattr(self._own, "door", None)) is not None:
            yield open_one
            return
        with self.database.write(self.kb_id) as connection, self.door(connection, key) as door:
            self._own.door = door
            try:
                yield door
            finally:
                self._own.door = None

    @contextmanager
    def reading(self) -> Iterator:
        """A connection that sees what the open transaction has written so far, if there is one."""
        if (door := getattr(self._own, "door", None)) is not None:
            yield door.connection
        else:
            with self.database.read(self.kb_id) as connection:
                yield connection

    def _draft(self, said: Said, entities) -> Draft:
        time = said.time or ClaimTime(
            valid_from=None if said.start is None else day(said.start),
            valid_from_precision=None if said.start is None else said.unit,
            valid_to=None if said.end is None else day(said.end),
            valid_to_precision=None if said.end is None else said.end_unit,
        )
        version = self.docs.setdefault(said.doc, uuid4())
        return Draft(
            source_key=said.key,
            subject_id=entities[said.subject],
            phrase=said.phrase or said.relation.replace("_", " "),
            predicate_key=said.relation,
            object_id=entities[said.obj],
            time=time,
            attested_at=None if said.attested is None else day(said.attested),
            denies=said.denies,
            corrects=said.corrects,
            replaces=None if said.replaces is None else str(entities[said.replaces]),
            confidence=said.confidence,
            evidence=Evidence(version_id=version, quote=said.quote),
        )

    def say(self, *statements: Said, also=()):
        names = {n for s in statements for n in (s.subject, s.obj, s.replaces) if n} | set(also)
        with self.transaction() as door:
            entities = resolve_names(door, dict.fromkeys(sorted(names)))
            drafts = [self._draft(s, entities) for s in statements]
            return assert_batch(door, drafts, load_ontology(door.connection, self.kb_id))

    def delete(self, *docs: int):
        versions = [self.docs[d] for d in docs if d in self.docs]
        with self.transaction() as door:
            return close_version_assertions(door, versions, "deleted")

    def reject(self, fact_id: UUID) -> UUID:
        with self.transaction() as door:
            return reject_fact(door, fact_id, "no")

    def said_as(self, fact_id: UUID) -> tuple[str, str, str]:
        """The triple of a fact on the names it was written with, whatever was merged since."""
        with self.reading() as connection:
            row = connection.execute(
                """select s.label, f.predicate_key, o.label as obj from facts f
                   join entities s on s.kb_id = f.kb_id and s.id = f.subject_id
                   join entities o on o.kb_id = f.kb_id and o.id = f.object_id where f.kb_id = %s and f.id = %s""",
                (self.kb_id, fact_id),
            ).fetchone()
        return tuple(row.values())

    def lift(self, refusal_id: UUID) -> None:
        with self.transaction() as door:
            lift(door, refusal_id)

    def merge(self, keep: str, absorb: str) -> None:
        with self.transaction() as door:
            ids = resolve_names(door, {keep: None, absorb: None})
            merge(door, ids[keep], ids[absorb])

    def seq(self) -> int:
        with self.reading() as connection:
            return connection.execute("select seq from kb_head where kb_id = %s", (self.kb_id,)).fetchone()["seq"]

    def rows(self, known_seq: int | None = None) -> list[dict]:
        """Every column of every fact held, with canonical names and what it rests on."""
        statement = _facts(held_at=lambda alias: held(alias, known_seq))
        with self.reading() as connection:
            return connection.execute(statement, {"kb_id": self.kb_id, **held_parameters(known_seq)}).fetchall()

    def grid(self, days: list[int]) -> dict[int, list[dict]]:
        """number → `rows` at that number, each with the ``days`` among these on which a reader finds it.

        One statement asks the product's own two predicates at every point of both clocks.
        """
        anywhere = Bucket(EPOCH, EPOCH)
        found_on = holds("f", anywhere) % {
            "valid_start": "(%(epoch)s + day * interval '1 day')",
            "valid_end": "(%(epoch)s + (day + 1) * interval '1 day')",
        }
        statement = _facts(
            held_at=lambda alias: held(alias, 0) % {"known_seq": "known.seq"},
            columns=f", known.seq as known_seq, array(select day from unnest(%(days)s::int[]) day where {found_on}"
            " order by day) as days",
            numbers="cross join (select generate_series(1, seq) as seq from kb_head where kb_id = %(kb_id)s) known",
        )
        found: dict[int, list[dict]] = defaultdict(list)
        with self.database.read(self.kb_id) as connection:
            values = {"kb_id": self.kb_id, "epoch": EPOCH, "days": days}
            for row in connection.execute(statement, values).fetchall():
                found[row.pop("known_seq")].append(row)
        return found

    def natural(self) -> list[tuple]:
        """Held facts without a trace of ids or of when they came."""
        hidden = {"kb_id", "id", "lineage_id", "subject_id", "object_id", "recorded_seq", "recorded_at", "supersedes"}
        return sorted(
            (tuple((k, str(v)) for k, v in sorted(r.items()) if k not in hidden) for r in self.rows()), key=str
        )


def _facts(held_at, columns: str = "", numbers: str = "") -> str:
    return f"""
        select f.*, coalesce(cs.label, s.label) as subject, coalesce(co.label, o.label) as object,
               array(select a.source_key from evidence e
                     join assertions a on a.kb_id = e.kb_id and a.id = e.assertion_id
                     where e.kb_id = f.kb_id and e.lineage_id = f.lineage_id and {held_at("e")}
                     order by 1) as evidence{columns}
        from facts f {numbers}
        join entities s on s.kb_id = f.kb_id and s.id = f.subject_id
        join entities o on o.kb_id = f.kb_id and o.id = f.object_id
        left join entity_canonical ms on ms.kb_id = f.kb_id and ms.entity_id = s.id and {held_at("ms")}
        left join entities cs on cs.kb_id = f.kb_id and cs.id = ms.canonical_id
        left join entity_canonical mo on mo.kb_id = f.kb_id and mo.entity_id = o.id and {held_at("mo")}
        left join entities co on co.kb_id = f.kb_id and co.id = mo.canonical_id
        where f.kb_id = %(kb_id)s and {held_at("f")}
        order by f.id"""
