"""A hand that says, deletes, rejects and merges by name, and reads what was held at any number of the order."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from uuid import UUID, uuid4

from substrate.axes.transaction_time import held, held_parameters
from substrate.bases import create_base
from substrate.db import NO_BASE
from substrate.extraction.claims import ClaimTime
from substrate.ledger import open_door
from substrate.ledger.assertions import assert_batch
from substrate.ledger.drafts import Draft, Evidence
from substrate.ledger.entities import resolve_names
from substrate.ledger.merges import merge
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
_NUMBERS = count()


def day(number: int) -> datetime:
    return EPOCH + timedelta(days=number)


@dataclass(frozen=True)
class Said:
    """One statement, in days since the epoch; `doc` is the version that a deletion takes away."""

    subject: str
    relation: str
    obj: str
    start: int | None = None
    end: int | None = None
    attested: int | None = None
    denies: bool = False
    corrects: bool = False
    doc: int = 0
    time: ClaimTime | None = None
    """Instead of start and end, where days are not enough."""
    phrase: str | None = None
    replaces: str | None = None
    quote: str = ""
    confidence: float = 1.0
    key: str = field(default_factory=lambda: f"t:{next(_NUMBERS)}")

    @property
    def triple(self) -> tuple[str, str, str]:
        return self.subject, self.relation, self.obj


@dataclass
class Play:
    """One base of its own in a shared database."""

    database: object
    kb_id: UUID
    docs: dict[int, UUID] = field(default_factory=dict)

    @staticmethod
    def begin(database) -> Play:
        with database.write(NO_BASE) as connection:
            slug = f"play-{next(_NUMBERS)}-{uuid4().hex[:8]}"
            return Play(database, create_base(connection, slug, "Play", ontology_yaml=ONTOLOGY))

    def door(self, connection):
        return open_door(connection, self.kb_id, actor="test", via="pipeline", action="played")

    def _draft(self, said: Said, entities) -> Draft:
        time = said.time or ClaimTime(
            valid_from=None if said.start is None else day(said.start),
            valid_from_precision=None if said.start is None else "day",
            valid_to=None if said.end is None else day(said.end),
            valid_to_precision=None if said.end is None else "day",
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
        with self.database.write(self.kb_id) as connection, self.door(connection) as door:
            entities = resolve_names(door, dict.fromkeys(sorted(names)))
            drafts = [self._draft(s, entities) for s in statements]
            return assert_batch(door, drafts, load_ontology(connection, self.kb_id))

    def delete(self, *docs: int):
        versions = [self.docs[d] for d in docs if d in self.docs]
        with self.database.write(self.kb_id) as connection, self.door(connection) as door:
            return close_version_assertions(door, versions, "deleted")

    def reject(self, fact_id: UUID) -> None:
        with self.database.write(self.kb_id) as connection, self.door(connection) as door:
            reject_fact(door, fact_id, "no")

    def merge(self, keep: str, absorb: str) -> None:
        with self.database.write(self.kb_id) as connection, self.door(connection) as door:
            ids = resolve_names(door, {keep: None, absorb: None})
            merge(door, ids[keep], ids[absorb])

    def seq(self) -> int:
        with self.database.read(self.kb_id) as connection:
            return connection.execute("select seq from kb_head where kb_id = %s", (self.kb_id,)).fetchone()["seq"]

    def rows(self, known_seq: int | None = None) -> list[dict]:
        """Every column of every fact held, with canonical names and what it rests on."""
        statement = f"""
            select f.*, coalesce(cs.label, s.label) as subject, coalesce(co.label, o.label) as object,
                   array(select a.source_key from evidence e
                         join assertions a on a.kb_id = e.kb_id and a.id = e.assertion_id
                         where e.kb_id = f.kb_id and e.lineage_id = f.lineage_id and {held("e", known_seq)}
                         order by 1) as evidence
            from facts f
            join entities s on s.kb_id = f.kb_id and s.id = f.subject_id
            join entities o on o.kb_id = f.kb_id and o.id = f.object_id
            left join entity_canonical ms on ms.kb_id = f.kb_id and ms.entity_id = s.id and {held("ms", known_seq)}
            left join entities cs on cs.kb_id = f.kb_id and cs.id = ms.canonical_id
            left join entity_canonical mo on mo.kb_id = f.kb_id and mo.entity_id = o.id and {held("mo", known_seq)}
            left join entities co on co.kb_id = f.kb_id and co.id = mo.canonical_id
            where f.kb_id = %(kb_id)s and {held("f", known_seq)}
            order by f.id"""
        with self.database.read(self.kb_id) as connection:
            return connection.execute(statement, {"kb_id": self.kb_id, **held_parameters(known_seq)}).fetchall()

    def natural(self) -> list[tuple]:
        """Held facts without a trace of ids or of when they came."""
        hidden = {"kb_id", "id", "lineage_id", "subject_id", "object_id", "recorded_seq", "recorded_at", "supersedes"}
        return sorted(
            (tuple((k, str(v)) for k, v in sorted(r.items()) if k not in hidden) for r in self.rows()), key=str
        )


def seen(row: dict, number: int) -> bool:
    """Does a reader of that day find the fact?"""
    start, end, begin = row["holds_from"], row["holds_to"], day(number)
    return (start is None or start < begin + timedelta(days=1)) and (end is None or end > begin)
