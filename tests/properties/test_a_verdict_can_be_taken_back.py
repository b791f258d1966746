"""A batch of verdicts that is reverted leaves what there would be had it never been given.

Each sequence is played into one base, and once more into a twin without the batches and merges that are reverted in the
end. Compared are facts, names, evidence, clusters and what waits for a verdict.
"""

from __future__ import annotations

from uuid import UUID, uuid5

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from substrate.audit.extractions import CLAIM
from substrate.errors import Conflict
from substrate.identity.claims import bound_claims
from substrate.ledger.pending import propose
from substrate.ledger.refusals import lift
from substrate.ledger.verdicts import decide, revert_batch
from substrate.ontology.store import load_ontology
from tests.ledger_history import read
from tests.properties.ledger_play import Said
from tests.properties.test_what_was_joined_can_be_parted import Parting, Sequence

SPACE = UUID(int=7)
PASSAGES = (
    (("Ann", "works for", "Xi"), ("Ann", "leads", "Yo")),
    (("Ann", "works for", "Xi"), ("Bo", "works for", "Xi")),
    (("Bo", "leads", "Yo"), ("Cy", "leads", "Yo")),
    (("Cy", "leads", "Yo"), ("Ann", "leads", "Yo")),
)
"""Two claims each; most triples and names are told by several."""


def claim_id(passage: int, number: int) -> UUID:
    """The same in a base and in its twin."""
    return uuid5(SPACE, f"{passage}.{number}")


class Asking(Parting):
    """A base with remembered sentences whose claims are read and not yet proposed."""

    @staticmethod
    def begin(database) -> Asking:
        begun = Parting.begin(database)
        made = Asking(begun.database, begun.kb_id)
        made.meet()
        for number in range(len(PASSAGES)):
            made.remember(number)
        return made

    def remember(self, number: int) -> None:
        chunk, document, version = (uuid5(self.kb_id, f"{what}{number}") for what in ("chunk", "doc", "version"))
        words = [f"{s} {p} {o}." for s, p, o in PASSAGES[number]]
        text = " ".join(words)
        with self.database.write(self.kb_id) as conn:
            source = conn.execute(
                """insert into sources (kb_id, kind, name) values (%s, 'push', 'push')
                   on conflict (kb_id, kind, name) do update set name = excluded.name returning id""",
                (self.kb_id,),
            ).fetchone()["id"]
            conn.execute(
                "insert into blobs (kb_id, sha256, content) values (%s, sha256(%s), %s) on conflict do nothing",
                (self.kb_id, text.encode(), text.encode()),
            )
            digest = conn.execute("select sha256(%s) as digest", (text.encode(),)).fetchone()["digest"]
            with self.door(conn) as door:
                named = {"id": document, "source_id": source, "external_id": f"said-{number}", "namespace": ""}
                door.insert("documents", [{**named, "kind": "memory"}])
                row = {
                    "id": version,
                    "document_id": document,
                    "number": 1,
                    "filename": "said.txt",
                    "media_type": "text/plain",
                }
                row |= {"content_sha256": digest, "doc_time": None, "doc_time_precision": None, "author": "agent"}
                door.insert("document_versions", [row])
                row = {"id": chunk, "document_id": document, "version_id": version, "position": 0, "text": text}
                row |= {"kind": "text", "heading_path": [], "anchor": {}, "cells": None, "body_start": 0}
                row |= {"body_end": len(text), "namespace": "", "parser": "test@1"}
                door.insert("chunks", [row])
            claims = []
            for n, (subject, phrase, other) in enumerate(PASSAGES[number]):
                claim = dict.fromkeys(CLAIM) | {"id": claim_id(number, n), "ordinal": n, "subject": subject}
                claim |= {"phrase": phrase, "object": other, "wording": "", "qualifiers": [], "time_words": ""}
                start = text.index(words[n])
                claim |= {"quote": words[n], "quote_start": start, "quote_end": start + len(words[n]), "grade": "C"}
                claims.append(claim | {"at_event": False, "denies": False, "corrects": False, "confidence": 1.0})
            read(conn, self.kb_id, chunk, "test@1", claims)

    def propose(self, number: int) -> None:
        chunk = uuid5(self.kb_id, f"chunk{number}")
        with self.database.write(self.kb_id) as conn, self.door(conn) as door:
            ontology = load_ontology(conn, self.kb_id)
            propose(door, bound_claims(conn, self.kb_id, [chunk], "test@1", ontology))

    def waiting(self) -> dict[UUID, UUID]:
        """claim → proposal"""
        with self.database.read(self.kb_id) as conn:
            rows = conn.execute(
                "select claim_id, id from pending_facts where kb_id = %s and invalidated_seq is null", (self.kb_id,)
            ).fetchall()
        return {row["claim_id"]: row["id"] for row in rows}

    def decide(self, confirm: list[UUID], reject: list[UUID]):
        waits = self.waiting()
        return self.act(decide, [waits[c] for c in confirm], [waits[c] for c in reject])

    def names(self) -> list[tuple[str, str]]:
        with self.database.read(self.kb_id) as conn:
            rows = conn.execute(
                """select e.label, f.value_raw from facts f join entities e on e.kb_id = f.kb_id and e.id = f.subject_id
                   where f.kb_id = %s and f.predicate_key = 'known_as' and f.invalidated_seq is null order by 1, 2""",
                (self.kb_id,),
            ).fetchall()
        return [tuple(row.values()) for row in rows]


class Verdicts(Sequence):
    """Random steps among which are proposals, verdicts on them, and their reverts."""

    def __init__(self, database, seed: int) -> None:
        super().__init__(database, seed)
        self.play = Asking.begin(database)
        self.batches: list[list] = []  # [id, refusals by claim, reverted]

    def step(self) -> str:
        asks = (self.propose, self.propose, self.decide, self.decide, self.take_back, self.take_back)
        rules = (*asks, self.tell, self.tell, self.join, self.reject, self.lift, self.part, self.lift_of_batch)
        return self.rnd.choice(rules)()

    def tell(self) -> str:
        """A document says what a claim says."""
        subject, phrase, other = self.rnd.choice(self.rnd.choice(PASSAGES))
        start = self.rnd.choice((None, None, 1, 2))
        return self._said(Said(subject, phrase.replace(" ", "_"), other, start=start))

    def propose(self) -> str:
        number = self.rnd.randrange(len(PASSAGES))
        self.play.propose(number)
        self.log.append(("propose", number))
        return "propose"

    def decide(self) -> str:
        waits = sorted(self.play.waiting())
        some = self.rnd.sample(waits, min(len(waits), self.rnd.randrange(1, 4)))
        confirm = [c for c in some if self.rnd.random() < 0.5]
        reject = [c for c in some if c not in confirm]
        if not some:
            return "none"
        try:
            done = self.play.decide(confirm, reject)
        except Conflict:
            return "none"  # refused meanwhile
        claims = {proposal: c for c, proposal in zip(reject, done.refusals, strict=True)}
        self.batches.append([done.batch_id, {claims[p]: r for p, r in done.refusals.items()}, False])
        self.log.append(("decide", (len(self.batches) - 1, confirm, reject)))
        return "decide"

    def take_back(self) -> str:
        standing = [b for b in self.batches if not b[2]]
        if not standing:
            return "none"
        chosen = self.rnd.choice(standing)
        self.play.act(revert_batch, chosen[0], "no")
        chosen[2] = True
        return "back"

    def lift_of_batch(self) -> str:
        """A single refusal of a batch, before the batch is taken back or not."""
        standing = [(i, c) for i, b in enumerate(self.batches) if not b[2] for c, r in b[1].items() if r is not None]
        if not standing:
            return "none"
        i, claim = self.rnd.choice(standing)
        self.play.act(lift, self.batches[i][1][claim])
        self.batches[i][1][claim] = None
        self.log.append(("lift of batch", (i, claim)))
        return "lift"

    def twin(self) -> Asking:
        other, refusals, given = Asking.begin(self.database), [], {}
        for kind, x in self.log:
            if kind == "say":
                other.say(x)
            elif kind == "join" and not self.merges[x][2]:
                other.join(*self.merges[x][1])
            elif kind == "refuse":
                refusals.append(other.refuse(*x))
            elif kind == "lift":
                other.act(lift, refusals[x])
            elif kind == "propose":
                other.propose(x)
            elif kind == "decide" and not self.batches[x[0]][2]:
                done = other.decide(x[1], x[2])
                given |= {(x[0], c): r for c, r in zip(x[2], done.refusals.values(), strict=True)}
            elif kind == "lift of batch" and not self.batches[x[0]][2]:
                other.act(lift, given[x])
        return other

    def check(self) -> None:
        other = self.twin()
        assert self.play.clusters() == other.clusters()
        assert self.play.natural() == other.natural()
        assert self.play.names() == other.names()
        assert self.play.waiting().keys() == other.waiting().keys()


def play(database, seed: int, steps: int) -> None:
    sequence = Verdicts(database, seed)
    for _ in range(steps):
        if sequence.step() == "back":
            sequence.check()
    for batch in [b for b in sequence.batches if not b[2]]:
        sequence.play.act(revert_batch, batch[0], "all of them")
        batch[2] = True
    sequence.check()


@given(st.integers(0, 2**32))
@example(12411)  # a lifted refusal had kept a sentence from being asked, and a merge of its subject is reverted
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_batch_that_was_taken_back_was_never_given(database, seed):
    play(database, seed, 28)


@pytest.mark.slow
@given(st.integers(0, 2**32))
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_batch_that_was_taken_back_was_never_given_in_many_more(database, seed):
    play(database, seed, 40)
