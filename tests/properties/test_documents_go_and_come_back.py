"""Whatever is pushed, deleted, restored, refused and purged in whatever order, the facts are those that the documents
of that moment state and nobody refused, at every moment of the record; and the ledger verifies.
"""

from __future__ import annotations

import random
from uuid import UUID

import pytest

from substrate.documents.deletion import Deleted
from substrate.documents.purge import purge
from substrate.errors import Conflict
from substrate.ledger import open_door
from substrate.ledger.retractions import reject_fact
from tests.substrate.documents.lifecycle import BY, Shelf

PLACES = ("Orion", "Vega")
MOTTOES = ("Alpha", "Beta", "Gamma")
SENTENCES = tuple(f"The motto of {place} is {motto}." for place in PLACES for motto in MOTTOES)
NAMES = ("one", "two", "three")


class Play:
    """The base and the model beside it: what each name's document states, what was deleted, what is refused."""

    def __init__(self, shelf: Shelf, seed: int) -> None:
        self.shelf, self.random = shelf, random.Random(seed)
        self.live: dict[str, frozenset[str]] = {}
        self.deleted: list[tuple[str, Deleted, frozenset[str]]] = []
        self.undone: set[UUID] = set()
        self.refused: set[str] = set()
        self.purged: set[str] = set()
        self.history: list[tuple[int, set[str], set[str]]] = []

    def step(self) -> None:
        self.random.choice((self.put, self.put, self.delete, self.delete, self.restore, self.restore, self.refuse))()
        stated = {s for said in self.live.values() for s in said}
        self.history.append((self.shelf.seq, stated - self.refused, stated))

    def put(self) -> None:
        name = self.random.choice(NAMES)
        said = frozenset(self.random.sample(SENTENCES, self.random.randint(1, 3)))
        self.shelf.put(name, "\n\n".join(sorted(said)) + "\n")
        self.live[name] = said

    def delete(self) -> None:
        if self.live:
            name = self.random.choice(sorted(self.live))
            self.deleted.append((name, self.shelf.delete(name), self.live.pop(name)))

    def restore(self) -> None:
        if not self.deleted:
            return
        name, gone, said = self.random.choice(self.deleted)
        try:
            self.shelf.restore(gone)
        except Conflict:
            assert name in self.live or gone.deletion_id in self.undone
            return
        assert name not in self.live and gone.deletion_id not in self.undone
        self.undone.add(gone.deletion_id)
        self.live[name] = said

    def refuse(self) -> None:
        held = self.shelf.rows(
            "select id, value_raw from facts where predicate_key = 'motto' and invalidated_seq is null order by id"
        )
        if held:
            row = self.random.choice(held)
            with (
                self.shelf.database.write(self.shelf.kb) as conn,
                open_door(conn, self.shelf.kb, action="fact rejected", **BY) as door,
            ):
                reject_fact(door, row["id"], "no")
            place = self.shelf.rows(
                "select e.label from facts f join entities e on e.id = f.subject_id where f.id = %s", row["id"]
            )[0]["label"]
            self.refused.add(f"The motto of {place} is {row['value_raw']}.")

    def held(self, seq: int | None = None) -> set[str]:
        """What is held now or was at `seq`, stubs aside."""
        found = {p: [f["object_value"]["raw"] for f in self.shelf.facts(p, seq) if f["predicate_key"]] for p in PLACES}
        assert all(len(v) == len(set(v)) for v in found.values()), "a triple is one fact"
        return {f"The motto of {place} is {motto}." for place, values in found.items() for motto in values}

    def check(self) -> None:
        for seq, wanted, _ in self.history:
            assert self.held(seq) == wanted, f"at {seq}"
        assert self.shelf.verified()

    def purge_all(self) -> None:
        """Delete what is left and purge it all; of what was held then, nothing is left to read."""
        for name in list(self.live):
            self.deleted.append((name, self.shelf.delete(name), self.live.pop(name)))
        documents = {gone.document_id for _, gone, _ in self.deleted}
        for document in sorted(documents, key=str):
            purge(self.shelf.database, self.shelf.kb, document, "asked for", **BY)
            assert self.shelf.verified()
        assert all(self.held(seq) == set() for seq, _, _ in self.history)


@pytest.mark.parametrize("seed", range(3))
def test_the_facts_are_what_the_documents_of_that_moment_state(database, kb, seed) -> None:
    play = Play(Shelf(database, kb), seed)
    for _ in range(12):
        play.step()
    play.check()
    play.purge_all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 130))
def test_the_same_over_long_histories(database, kb, seed) -> None:
    play = Play(Shelf(database, kb), seed)
    for _ in range(40):
        play.step()
    play.check()
    play.purge_all()
