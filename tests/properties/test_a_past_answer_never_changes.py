"""What was held at a number of the order is held at that number for ever, and it is what a plain model says.

================================================  ==============================================
after any sequence of                             then
================================================  ==============================================
assert, end, correct, deny, late arrival,         at each number, the rows read then and the rows
delete, merge, reject, state again                read at the end are the same bytes
the same                                          on each day, at each number, the ledger finds
                                                  the triples that the model finds
the same                                          read at the head = read at the head's number
the same                                          the chain verifies; each lineage has one held row
================================================  ==============================================

The seed of a failing sequence is printed; ``pytest -m slow`` runs many more and longer ones.
"""

from __future__ import annotations

import json
import random

import pytest

from substrate.ledger.verify import verify
from tests.properties.ledger_model import Model
from tests.properties.ledger_play import RELATIONS, Play, Said, seen

PEOPLE = ("Ann", "Bo", "Cy", "Di")
THINGS = ("Xi", "Yo", "Zu")
LAST = 26


def a_statement(rnd: random.Random, relation: str, said: list[Said]) -> Said:
    """Days are few, so that starts, ends and corrections meet."""
    subject, obj, attested = rnd.choice(PEOPLE[:3]), rnd.choice(THINGS[:2]), rnd.choice((None, rnd.randrange(LAST)))
    doc, kind = rnd.randrange(5), rnd.choice(("start", "start", "start", "end", "both", "soft", "correct", "deny"))
    start, end = sorted(rnd.sample(range(1, LAST - 1), 2))
    if kind == "deny":
        dated = rnd.choice(said).start if said and rnd.random() < 0.4 else None
        return Said(subject, relation, obj, dated, attested=attested, denies=True, doc=doc)
    if kind == "correct" and said:
        wrong = rnd.choice(said)
        return Said(subject, wrong.relation, obj, wrong.start, attested=attested, corrects=True, doc=doc)
    start = start if kind in ("start", "both", "correct") else None
    return Said(subject, relation, obj, start, end if kind in ("end", "both") else None, attested, doc=doc)


class Game:
    def __init__(self, database, seed: int) -> None:
        self.rnd, self.play, self.model = random.Random(seed), Play.begin(database), Model()
        self.relations = self.rnd.sample(RELATIONS, 2)
        self.said: list[Said] = []
        self.remembered: dict[int, str] = {}
        self.play.say(Said("Di", "works_for", "Zu", 1, key="first"), also=(*PEOPLE, *THINGS))
        self._log("say", {"first": Said("Di", "works_for", "Zu", 1, key="first")})

    def _log(self, what, x) -> None:
        self.model.log.append((self.play.seq(), what, x))

    def step(self) -> None:
        before = self.play.seq()
        rules = (self.say, self.say, self.say, self.say, self.delete, self.merge, self.reject, self.say_again)
        self.rnd.choice(rules)()
        after = self.play.seq()
        assert after in (before, before + 1)
        self.remembered[after] = as_bytes(self.play.rows())
        assert as_bytes(self.play.rows(after)) == self.remembered[after], "the head by its number is another answer"

    def say(self) -> None:
        batch = [
            a_statement(self.rnd, self.rnd.choice(self.relations), self.said) for _ in range(self.rnd.randint(1, 3))
        ]
        self.said += batch
        self.play.say(*batch)
        self._log("say", {s.key: s for s in batch})

    def say_again(self) -> None:
        """The same words from another document; for a refused triple a restatement."""
        if self.said:
            from dataclasses import replace

            old = self.rnd.choice(self.said)
            again = replace(old, key=f"{old.key}'{len(self.said)}", doc=self.rnd.randrange(5))
            self.said.append(again)
            self.play.say(again)
            self._log("say", {again.key: again})

    def delete(self) -> None:
        doc = self.rnd.randrange(5)
        self.play.delete(doc)
        self._log("drop", {doc})

    def merge(self) -> None:
        if self.rnd.random() < 0.4:
            keep, absorb = self.rnd.sample(self.rnd.choice((PEOPLE, THINGS)), 2)
            to = self.model.canonical(self.play.seq())
            if to.get(keep, keep) != to.get(absorb, absorb):
                self.play.merge(keep, absorb)
                self._log("merge", (keep, absorb))

    def reject(self) -> None:
        rows = self.play.rows()
        if rows and self.rnd.random() < 0.5:
            row = self.rnd.choice(sorted(rows, key=lambda r: (r["subject"], r["predicate_key"], r["object"])))
            self.play.reject(row["id"])
            self._log("refuse", (row["subject"], row["predicate_key"], row["object"]))

    def check(self) -> None:
        head = self.play.seq()
        for seq, remembered in self.remembered.items():
            assert as_bytes(self.play.rows(seq)) == remembered, f"the answer at {seq} changed"
        for seq in range(2, head + 1):
            rows, expected = self.play.rows(seq), self.model.held(seq)
            for day in range(-1, LAST + 2):
                found = {(r["subject"], r["predicate_key"], r["object"]) for r in rows if seen(r, day)}
                wanted = {t for t, stretches in expected.items() if any(a <= day < b for a, b in stretches)}
                assert found == wanted, f"on day {day} at {seq}"
        with self.play.database.read(self.play.kb_id) as connection:
            assert verify(connection, self.play.kb_id).ok


def as_bytes(rows: list[dict]) -> str:
    """What a reader at a number is promised: not what became of the row since."""
    since = {"invalidated_seq", "invalidated_at", "invalidated_kind"}
    return json.dumps([{k: v for k, v in r.items() if k not in since} for r in rows], default=str, sort_keys=True)


def play(database, seed: int, steps: int) -> None:
    game = Game(database, seed)
    try:
        for _ in range(steps):
            game.step()
        game.check()
    except Exception as error:
        error.add_note(f"seed {seed}, {steps} steps: {game.model.log}")
        raise


@pytest.mark.parametrize("seed", range(0, 100, 25))
def test_sequences_against_the_model(database, seed):
    for s in range(seed, seed + 25):
        play(database, s, 4 + s % 12)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("seed", range(1000, 3000, 100))
def test_many_more_sequences_against_the_model(database, seed):
    for s in range(seed, seed + 100):
        play(database, s, 10 + s % 41)
