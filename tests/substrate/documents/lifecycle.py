"""A base with documents that a small extractor reads, for tests of how documents go and come back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import numpy as np

from substrate import reads, work
from substrate.db import Database
from substrate.documents.deletion import Deleted, delete
from substrate.documents.intake import PushItem, push, remember
from substrate.documents.restore import Restored, restore
from substrate.documents.stage import run_parse
from substrate.extraction.claims import Claim, ClaimTime, Drop, Extraction, Passage, Value
from substrate.extraction.stage import run_claims
from substrate.extraction.times import parse_point
from substrate.identity.stage import run_entities
from substrate.ledger import open_door
from substrate.ledger.stage import run_facts
from substrate.ledger.verify import verify
from substrate.ontology.store import declare
from substrate.ontology.terms import parse_ontology
from substrate.retrieval.embed_stage import run_embed

BY: dict[str, Any] = {"actor": "person:Ada", "via": "rest"}
ONTOLOGY = """
classes: [{key: person, label: Person}, {key: project, label: Project}]
relations:
  - {key: leads, label: leads, domain: person, range: project, inverse_functional: true}
  - {key: motto, label: motto, kind: attribute, datatype: text}
  - {key: colour, label: colour, kind: attribute, datatype: text, functional: true}
"""


class Sentences:
    """Reads "X leads Y.", "X leads Y since 2023-05." and "The motto (colour) of X is Y."; counts passages."""

    name, version = "sentences", "1"

    def __init__(self) -> None:
        self.asked = 0

    def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
        self.asked += len(passages)
        return [
            Extraction(tuple(self._claims(p.text)), tuple(self._drops(p.text)), {"prompt_tokens": 7}) for p in passages
        ]

    @staticmethod
    def _drops(text: str):
        for m in re.finditer(r".* is nothing .*", text):
            yield Drop("no_fact", m[0], m[0])

    @staticmethod
    def _claims(text: str):
        for m in re.finditer(r"(\w+) leads (\w+)(?: since ([\d-]+))?\.", text):
            point = parse_point(m[3]) if m[3] else None
            time = ClaimTime(*point) if point else ClaimTime()
            yield Claim(m[1], "leads", m[0], m.start(), m.end(), object=m[2], time=time)
        for m in re.finditer(r"The (motto|colour) of (\w+) is (\w+)\.", text):
            yield Claim(m[2], m[1], m[0], m.start(), m.end(), value=Value(m[3]))


class Counting:
    """An embedder that counts the texts it was given."""

    name, dimension, token_limit, truncated = "three@1", 3, None, 0

    def __init__(self) -> None:
        self.asked = 0

    def count_tokens(self, text: str) -> int:
        return len(text)

    def passages(self, texts: Sequence[str]) -> Any:
        self.asked += len(texts)
        return np.tile(np.array([[1, 0, 0]], dtype=np.float32), (len(texts), 1))

    queries = passages


class Shelf:
    """Verbs in few words. ``seq`` after each is the head."""

    def __init__(self, database: Database, kb: UUID) -> None:
        self.database, self.kb = database, kb
        self.extractor, self.embedder = Sentences(), Counting()
        with database.write(kb) as conn, open_door(conn, kb, action="ontology", **BY) as door:
            declare(door, parse_ontology(ONTOLOGY))

    @property
    def seq(self) -> int:
        with self.database.read(self.kb) as conn:
            return work.watermark(conn, self.kb)

    def put(self, name: str, text: str, doc_time: str | None = "2024-01-01", *, read: bool = True) -> UUID:
        item = PushItem(name, f"{name}.md", text.encode(), doc_time)
        [result] = push(self.database, self.kb, [item], **BY)
        if read:
            self.read()
        return result.document_id

    def read(self) -> None:
        run_parse(self.database, self.kb)
        run_embed(self.database, self.kb, self.embedder)
        run_claims(self.database, self.kb, self.extractor)
        run_entities(self.database, self.kb)
        run_facts(self.database, self.kb)

    def remember(self, text: str) -> UUID:
        done = remember(self.database, self.kb, text, **BY, author="Ada")
        self.read()
        return done.document_id

    def delete(self, name: str, why: str = "withdrawn") -> Deleted:
        return delete(self.database, self.kb, external_id=name, why=why, **BY)

    def restore(self, deleted: Deleted) -> Restored:
        assert deleted.deletion_id is not None
        return restore(self.database, self.kb, deleted.deletion_id, why="a mistake", **BY)

    def facts(self, entity: str, seq: int | None = None, **more: Any) -> list[dict[str, Any]]:
        """What `reads.entity_facts` tells of an entity; nothing where it is not known then."""
        from substrate.errors import NotFound

        with self.database.read(self.kb) as conn:
            moment = reads.resolve(conn, self.kb, as_of=None if seq is None else f"seq:{seq}", **more)
            try:
                return reads.entity_facts(conn, self.kb, entity, moment)["facts"]
            except NotFound:
                return []

    def told(self, entity: str, seq: int | None = None, **more: Any) -> list[str]:
        """Facts in words, sorted."""
        found = self.facts(entity, seq, **more)
        said = [f"{f['predicate_key']} {f['other_name'] or f['object_value']['raw']}" for f in found]
        return sorted(said)

    def rows(self, statement: str, *values: object) -> list[dict[str, Any]]:
        with self.database.read(self.kb) as conn:
            return conn.execute(statement, values).fetchall()

    def verified(self) -> bool:
        with self.database.read(self.kb) as conn:
            report = verify(conn, self.kb)
        assert report.ok, report.problem
        return True
