"""A base whose history touches every ledger table and closes rows of every kind, with values that are hard to carry."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from uuid import UUID, uuid4

import psycopg
from psycopg.types.json import Jsonb

from substrate import sql
from substrate.audit.extractions import CLAIM, content_of
from substrate.bases import create_base
from substrate.db import NO_BASE, Database
from substrate.ledger import open_door
from substrate.ledger._rows import SHAPES
from substrate.ledger.conflicts import decide, revert
from substrate.ledger.corrections import correct_period, parse_end
from substrate.ledger.merges import merge, revert_merge
from substrate.ledger.types import retype, revert_retype
from substrate.migrate import migrate
from tests.ledger_facts import Scribe, day

NFC, NFD = "é", unicodedata.normalize("NFD", "é")
HARD_TEXTS = (
    "emoji 🙂👩‍👩‍👧",
    f"{NFC} is not {NFD}",
    'quote " \\ / \u2028\u2029',
    "\x01\x1f\x7f\t\r\n\b\f",
    "日本語 ‏עברית‏",
)
HARD_NUMBERS = tuple(map(Decimal, ("1e-7", "-0", "-0.00", "1E+3", "0E-7", "12345678901234567890.123456789", "-1.50")))
HARD_JSON = [1e16, 1e-7, -0.0, 5e-324, 1e300, 0.1, 2.0, 10**30, True, None, {"b": [1.5], "a": "é🙂"}]
HARD_TIMES = (
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    datetime(2024, 3, 31, 1, 30, 0, 1, tzinfo=timezone(timedelta(hours=2))),
    datetime(1883, 11, 18, 12, tzinfo=timezone(-timedelta(hours=4, minutes=56, seconds=2))),
    datetime(2024, 1, 1, 0, 0, 0, 999999, tzinfo=UTC),
    datetime(2024, 1, 1, 0, 0, 0, 500000, tzinfo=UTC),
)
HARD_CONFIDENCES = (1e-7, 0.1, 1 / 3, 1.0, 0.0, 0.123456789)


@contextmanager
def two_histories(postgres: str) -> Iterator[tuple[str, UUID, UUID]]:
    """A database (its URI) with two bases of one history, for tests that roll back what they do to it."""
    name = f"history_{uuid4().hex[:12]}"
    with psycopg.connect(postgres, autocommit=True) as server:
        server.execute(f'create database "{name}"')
        dsn = psycopg.conninfo.make_conninfo(postgres, dbname=name)
        migrate(dsn)
        with Database(dsn) as database:
            with database.write(NO_BASE) as conn:
                bases = create_base(conn, "one", "One"), create_base(conn, "two", "Two")
            for kb_id in bases:
                History(database, kb_id)
        yield dsn, *bases
        server.execute(f'drop database "{name}" with (force)')


def read(conn, kb_id: UUID, chunk_id: UUID, extractor: str, claims: list[dict], drops: list[dict] = ()) -> None:
    """What the claims stage writes of one reading of a passage."""
    of = {"kb_id": kb_id, "chunk_id": chunk_id, "extractor": extractor}
    tokens = {"prompt_tokens": [0], "completion_tokens": [0]}
    reading = {"claims": [len(claims)], "drops": [len(drops)], "contents": [content_of(claims, drops)]}
    values = {"kb_id": kb_id, "extractor": extractor, "chunk_ids": [chunk_id]}
    conn.execute(sql.query("keep_readings"), {**values, **tokens, **reading})
    for claim in claims:
        conn.execute(sql.query("stage_keep_claim"), {**of, **claim, "qualifiers": Jsonb(claim["qualifiers"])})
    for drop in drops:
        conn.execute(sql.query("stage_keep_drop"), {**of, **drop})


class History(Scribe):
    """`Scribe`'s base with one row at least in every ledger table, and one closed row in each that can be closed."""

    def __init__(self, database, kb_id: UUID) -> None:
        super().__init__(database, kb_id)
        self.write()

    def write(self) -> None:
        ada = self.say("Ada", "leads", "Orion", start=day("2020-01-01"), kinds={"Ada": "person", "Orion": "project"})
        assert ada.assertions
        self.say("Bo", "leads", "Orion", start=day("2023-05-01"), kinds={"Bo": "person"})
        self.say("B. Oak", "works_on", "Orion")
        withdrawn = self.document("Cy works on Orion.")
        self.say("Cy", "works_on", "Orion", evidence=withdrawn)
        self.merge(self.entity("Bo"), self.entity("B. Oak"))
        self.reject(self.one("facts", "id", "predicate_key = 'works_on' and invalidated_seq is null"))
        self.delete(withdrawn)
        self.rest(withdrawn)
        self.merge(self.entity("Bo"), self.entity("Cy"))
        self.reject(self.one("facts", "id", "predicate_key = 'leads' and invalidated_seq is null"))
        for n, text in enumerate(HARD_TEXTS):
            self.hard(n, text)
        self.say("Di", "leads", "Heron", start=day("2024-01-01"), kinds={"Di": "person", "Heron": "project"})
        self.acts()
        self.judged()

    def judged(self) -> None:
        """Two rivals whose conflict was decided and is open again, and a period that a person corrected."""
        for who in ("Ed", "Flo"):
            self.say(who, "leads", "Kite", start=day("2024-01-01"))
        conflict = self.one("conflicts", "id", "invalidated_seq is null")
        with self.database.write(self.kb_id) as conn, self._door(conn) as door:
            decide(door, conflict, "closed", "heard")
        with self.database.write(self.kb_id) as conn, self._door(conn) as door:
            revert(door, conflict, "not so")
        fact = self.one("facts", "id", "invalidated_seq is null and predicate_key = 'leads' and valid_to is null")
        with self.database.write(self.kb_id) as conn, self._door(conn) as door:
            correct_period(door, fact, end=parse_end("2025"), why="seen")

    def acts(self) -> None:
        """What is taken back: a merge, a retyping and a verdict, and a statement that was withheld for a while."""
        with self.database.write(self.kb_id) as conn, self._door(conn) as door:
            merge_id = merge(door, self.entity("Di"), self.entity("Heron"))
            retyping, batch, withheld = retype(door, self.entity("Di"), "person"), uuid4(), uuid4()
            decided = self.one("pending_facts", "id", "verdict is not null")
            refusal, said = self.one("refusals", "id"), self.one("assertions", "id", "invalidated_seq is null")
            door.insert("verdict_batches", [{"id": batch, "why": "heard"}])
            door.insert("verdicts", [{"batch_id": batch, "pending_id": decided, "refusal_id": refusal}])
            other = self.one("assertions", "id", f"invalidated_seq is null and id <> '{said}'")
            kept = ((withheld, said), (uuid4(), other))
            door.insert("withheld", [{"id": i, "assertion_id": a, "refusal_id": refusal} for i, a in kept])
        with self.database.write(self.kb_id) as conn, self._door(conn) as door:
            door.close("withheld", [withheld])
            revert_retype(door, retyping, "no")
            revert_merge(door, merge_id, "no")
            retype(door, self.entity("Di"), None)

    def rest(self, evidence) -> None:
        """What no verb of the other helpers writes or closes."""
        claims = uuid4(), uuid4()
        with self.database.write(self.kb_id) as conn:
            read(conn, self.kb_id, evidence.chunk_id, "test@1", [self._claim(n, i) for n, i in enumerate(claims)])
            with self._door(conn) as door:
                common = {"chunk_id": evidence.chunk_id, "document_id": evidence.document_id, "proposed_by": "agent"}
                common |= {"namespace": "", "predicate_key": None}
                proposals = [{**common, "id": uuid4(), "claim_id": claim} for claim in claims]
                door.insert("pending_facts", proposals)
                mention = {"claim_id": claims[0], "role": "subject", "entity_id": self.entity("Cy"), "surface": "Cy"}
                door.insert("mentions", [mention])
                refusal = self.one("refusals", "id")
                again = {"refusal_id": refusal, "source_key": "test:again", "document_id": None}
                door.insert("refusal_restatements", [again])
        purged = self.document("Of this nothing was ever read.")
        with self.database.write(self.kb_id) as conn, self._door(conn) as door:
            door.decide(proposals[0]["id"], "rejected", "no, she left")
            door.close("refusals", [refusal])
            door.close("document_versions", [evidence.version_id], "deleted")
            door.close("chunks", [evidence.chunk_id], "deleted")
            door.close("entity_types", [self.entity("Ada")])
            door.close("entity_canonical", [self.one("entity_canonical", "entity_id")])
            door.close("ontology_terms", [self.one("ontology_terms", "id", "key = 'salary'")])
            waivers = [{"id": uuid4(), "code": "cycle", "fingerprint": c * 64, "why": "so be it"} for c in "ab"]
            door.insert("defect_waivers", waivers)
            door.close("defect_waivers", [waivers[0]["id"]])
            self.bindings(door)
            self.identity(door, claims[0])
            push = {"document_id": evidence.document_id, "version_id": evidence.version_id, "pushed_by": "person:x"}
            door.insert(
                "statement_pushes", [{**push, "id": uuid4(), "body_sha256": bytes(32), "accepted": 2, "refused": 1}]
            )
            self.lists(door, evidence, purged)

    def identity(self, door, claim_id: UUID) -> None:
        """A mention that meant somebody else; pairs in doubt and told apart, each once taken back."""
        move = {"id": uuid4(), "claim_id": claim_id, "role": "subject", "entity_id": self.entity("Ada")}
        door.insert("mention_moves", [move])
        others = ("Bo", "B. Oak")
        pairs = [sorted((self.entity("Ada"), self.entity(other))) for other in others]
        for table, said in (("distinctions", {"why": "two"}), ("doubts", {"score": 0.5, "reasons": HARD_JSON})):
            rows = [{"id": uuid4(), "one_id": one, "other_id": other, **said} for one, other in pairs]
            door.insert(table, rows)
            door.close(table, [rows[0]["id"]])

    @staticmethod
    def bindings(door) -> None:
        """A phrase that the machine left undecided and a person decided."""
        left = {"id": uuid4(), "phrase": "heads up", "predicate_key": None, "backwards": False, "method": "undecided"}
        left |= {"basis": {"candidates": [["leads", 0.5]]}, "fingerprint": bytes(32), "why": "", "supersedes": None}
        door.insert("bindings", [left])
        door.close("bindings", [left["id"]])
        said = {"id": uuid4(), "predicate_key": "leads", "method": "person", "why": "so", "supersedes": left["id"]}
        door.insert("bindings", [{**left, **said}])

    @staticmethod
    def lists(door, evidence, purged) -> None:
        """A deletion of the document and its undoing, as the record lists them, and the purge of one nobody read."""
        deletion, of = uuid4(), {"document_id": evidence.document_id, "why": "withdrawn"}
        took = {key: [] for key in SHAPES["document_deletions"].columns[3:]} | {"chunk_ids": [evidence.chunk_id]}
        door.insert("document_deletions", [{"id": deletion, **of, **took}])
        items = {"chunks": [[str(evidence.chunk_id), str(uuid4())]]}
        door.insert("document_restorations", [{"id": uuid4(), "deletion_id": deletion, **of, "items": items}])
        purge = {"id": uuid4(), "document_id": purged.document_id, "why": "asked"}
        door.insert("document_purges", [purge])
        door.purge([], {}, **purge)

    def _claim(self, ordinal: int, claim_id: UUID) -> dict:
        said = {"subject": "Cy", "phrase": "works on", "wording": "", "object": "Orion", "time_words": ""}
        quote = {"quote": "Cy works", "quote_start": 0, "quote_end": 8, "grade": "A", "confidence": 1.0}
        flags = {"qualifiers": [], "at_event": False, "denies": False, "corrects": False}
        return dict.fromkeys(CLAIM) | said | quote | flags | {"id": claim_id, "ordinal": ordinal}

    def hard(self, n: int, text: str) -> None:
        """One entity, assertion, fact and passage of values that a careless encoding would change."""
        entity = {"id": uuid4(), "label": text, "label_norm": text}
        evidence = self.document(f"{text}\n\nsecond")
        with self.database.write(self.kb_id) as conn:
            key = f"key {text}"
            with open_door(
                conn, self.kb_id, actor=f"person:{text}", via="rest", action=text, why=text, idempotency_key=key
            ) as door:
                door.insert("entities", [entity])
                door.insert("assertions", [self._assertion(n, text, entity["id"], evidence)])
                door.insert("facts", [self._fact(m, text, entity["id"]) for m in range(n, n + 3)])

    def _common(self, n: int, text: str, subject: UUID) -> dict:
        return {
            "id": uuid4(),
            "subject_id": subject,
            "phrase": text,
            "value_raw": text,
            "value_norm": text,
            "value_number": HARD_NUMBERS[n % len(HARD_NUMBERS)],
            "value_type": "number",
            "qualifiers": HARD_JSON,
            "grade": "A",
            "confidence": HARD_CONFIDENCES[n % len(HARD_CONFIDENCES)],
        }

    def _assertion(self, n: int, text: str, subject: UUID, evidence) -> dict:
        row = dict.fromkeys(SHAPES["assertions"].columns) | self._common(n, text, subject)
        flags = {"at_event": False, "denies": False, "corrects": True, "origin": "person", "wording": text}
        where = {"chunk_id": evidence.chunk_id, "document_id": evidence.document_id, "version_id": evidence.version_id}
        quote = {"quote": text, "quote_start": 0, "quote_end": len(text)}
        return row | flags | where | quote | {"source_key": f"hard:{n}", "attested_at": HARD_TIMES[n]}

    def _fact(self, n: int, text: str, subject: UUID) -> dict:
        row = dict.fromkeys(SHAPES["facts"].columns) | self._common(n, text, subject)
        time = HARD_TIMES[n % len(HARD_TIMES)]
        start = {"valid_from": time, "valid_from_precision": "second", "holds_from": time, "undated": False}
        return row | {"lineage_id": uuid4(), "temporal": "state"} | start

    def entity(self, label: str) -> UUID:
        return self.one("entities", "id", f"label = '{label}'")

    def one(self, table: str, column: str, where: str = "true") -> UUID:
        with self.database.read(self.kb_id) as conn:
            statement = f"select {column} from {table} where kb_id = %s and {where}"
            return conn.execute(statement, (self.kb_id,)).fetchone()[column]
