"""What was held at a number of the order is held at that number for ever, and it is what a plain model says.

================================================  ==============================================
after any sequence of                             then
================================================  ==============================================
assert, end, correct, correct a correction, deny, at each number, the rows read then and the rows
late arrival, what is to come, months and days,   read at the end are the same bytes
delete, merge, reject, lift, state again, alone
or several in one transaction
the same                                          on each day, at each number, the ledger finds
                                                  the triples that the model finds
the same                                          read at the head = read at the head's number
the same                                          the chain verifies; each lineage has one held row
================================================  ==============================================

The seed of a failing sequence is printed; ``pytest -m slow`` runs many more and longer ones.
"""

from __future__ import annotations

import ast
import json
import random
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from substrate.ledger.verify import verify
from tests.properties import ledger_model
from tests.properties.ledger_model import Model
from tests.properties.ledger_play import EPOCH, MONTHS, RELATIONS, Play, Said

PEOPLE = ("Ann", "Bo", "Cy", "Di")
THINGS = ("Xi", "Yo", "Zu")
FIRST, LAST = 19, 46
"""Days around the first of February: few, so that starts, ends and corrections meet."""
SOME_DAY = 60_000
"""Far ahead of the day on which the test runs, for what is to come."""


class Game:
    def __init__(self, database, seed: int) -> None:
        self.rnd, self.play, self.model = random.Random(seed), Play.begin(database), Model()
        self.relations = self.rnd.sample(RELATIONS, 2)
        self.said: list[Said] = []
        self.refused: dict = {}
        self.log: list = []
        self.played: Counter[str] = Counter()
        self.remembered: dict[int, str] = {}
        first = Said("Di", "works_for", "Zu", FIRST + 1, key="first")
        self.play.say(first, also=(*PEOPLE, *THINGS))
        self.tell(self.play.seq(), say={"first": first})
        self.remembered[self.play.seq()] = as_bytes(self.play.rows())

    def tell(self, seq: int, **what) -> None:
        self.log.append((seq, what))
        self.model.tell(seq, **what)

    def step(self) -> None:
        before = self.play.seq()
        with self.play.transaction() as door:
            for _ in range(self.rnd.choice((1, 1, 1, 2, 3))):
                rule = self.rnd.choice(RULES)
                self.played[rule.__name__] += rule(self, door.seq)
        after = self.play.seq()
        assert after in (before, before + 1)
        self.remembered[after] = as_bytes(self.play.rows())

    def say(self, seq: int) -> bool:
        return self._say(seq, *(self.a_statement() for _ in range(self.rnd.randint(1, 3))))

    def _say(self, seq: int, *batch: Said) -> bool:
        self.said += batch
        self.play.say(*batch)
        self.tell(seq, say={s.key: s for s in batch})
        return True

    def a_statement(self) -> Said:
        rnd = self.rnd
        said = Said(
            rnd.choice(PEOPLE[:3]),
            rnd.choice(self.relations),
            rnd.choice(THINGS[:2]),
            attested=rnd.choice((None, rnd.randrange(FIRST, LAST))),
            doc=rnd.randrange(5),
        )
        start, end = sorted(rnd.sample(range(FIRST + 1, LAST), 2))
        kind = rnd.choice(("start", "start", "end", "both", "soft", "deny"))
        if kind == "deny":
            wrong = rnd.choice(self.said) if self.said and rnd.random() < 0.4 else said
            return replace(said, denies=True, start=wrong.start, unit=wrong.unit)
        return replace(
            said,
            start=start if kind in ("start", "both") else None,
            end=end if kind in ("end", "both") else None,
        )

    def say_of_a_month(self, seq: int) -> bool:
        """The unit changes: a month where days were said, or days where it was a month."""
        said, rnd = self.a_statement(), self.rnd
        if rnd.random() < 0.7:
            said = replace(said, start=rnd.choice(MONTHS[:2]), unit="month")
        if said.end is not None and (said.start is None or rnd.random() < 0.5):
            said = replace(said, end=next(m for m in MONTHS if m > said.end), end_unit="month")
        return self._say(seq, said) if said.end is None or said.opens[0] < said.end else False

    def say_late(self, seq: int) -> bool:
        """An old document comes last: it begins and is dated before everything that is known."""
        start = self.rnd.randrange(1, FIRST)
        return self._say(
            seq, replace(self.a_statement(), start=start, unit="day", attested=self.rnd.choice((None, start)))
        )

    def say_ahead(self, seq: int) -> bool:
        """It begins, or ends, on a day that has not come."""
        said = replace(self.a_statement(), denies=False, unit="day")
        ahead = SOME_DAY + self.rnd.randrange(3)
        begins = self.rnd.random() < 0.5
        return self._say(seq, replace(said, start=ahead, end=None) if begins else replace(said, end=ahead + 3))

    def say_again(self, seq: int) -> bool:
        """The same words from another document; for a refused triple a restatement."""
        if not self.said:
            return False
        old = self.rnd.choice(self.said)
        return self._say(seq, replace(old, key=f"{old.key}'{len(self.said)}", doc=self.rnd.randrange(5)))

    def correct(self, seq: int) -> bool:
        return self._correct(seq, self.said)

    def correct_a_correction(self, seq: int) -> bool:
        return self._correct(seq, [s for s in self.said if s.corrects])

    def _correct(self, seq: int, wrong: list[Said]) -> bool:
        """Another thing at the same time, or the same thing at another."""
        if not (dated := [s for s in wrong if s.start is not None]):
            return False
        old, right = self.rnd.choice(dated), self.a_statement()
        right = replace(right, relation=old.relation, corrects=True, denies=False, end=None)
        if self.rnd.random() < 0.3:
            right = replace(right, subject=old.subject, obj=old.obj, start=self.rnd.randrange(FIRST, LAST), unit="day")
        else:
            right = replace(right, start=old.start, unit=old.unit)
        later = old.attested is not None and self.rnd.random() < 0.5
        return self._say(seq, replace(right, attested=old.attested + 1) if later else right)

    def delete(self, seq: int) -> bool:
        doc = self.rnd.randrange(5)
        found = self.play.delete(doc)
        self.tell(seq, drop={doc})
        return bool(found.changed)

    def merge(self, seq: int) -> bool:
        keep, absorb = self.rnd.sample(self.rnd.choice((PEOPLE, THINGS)), 2)
        one, other = self.model.named((keep, absorb))
        if self.rnd.random() < 0.6 or one == other:
            return False
        self.play.merge(keep, absorb)
        self.tell(seq, merge=[(keep, absorb)])
        return True

    def reject(self, seq: int) -> bool:
        rows = self.play.rows()
        if not rows or self.rnd.random() < 0.5:
            return False
        row = self.rnd.choice(sorted(rows, key=lambda r: (r["subject"], r["predicate_key"], r["object"])))
        triple = self.play.said_as(row["id"])
        refusal = self.play.reject(row["id"])
        self.refused[refusal] = triple
        self.tell(seq, refuse={refusal: triple})
        return True

    def lift(self, seq: int) -> bool:
        """And what was refused is said once more, which alone brings it back."""
        if not self.refused:
            return False
        refusal = self.rnd.choice(sorted(self.refused, key=self.refused.__getitem__))
        subject, relation, obj = self.refused.pop(refusal)
        self.play.lift(refusal)
        self.tell(seq, lift={refusal: (subject, relation, obj)})
        return self._say(seq, replace(self.a_statement(), subject=subject, relation=relation, obj=obj))

    def check(self) -> None:
        days = [*range(-1, LAST + 2), 59, 60, 61, *range(SOME_DAY - 1, SOME_DAY + 7)]
        assert EPOCH.toordinal() + SOME_DAY > datetime.now(UTC).toordinal(), "what was to come has come"
        grid = self.play.grid(days)
        for seq, remembered in self.remembered.items():
            assert as_bytes(grid[seq]) == remembered, f"the answer at {seq} changed"
            expected = self.model.held(seq)
            found = {day: set() for day in days}
            for row in grid[seq]:
                for day in row["days"]:
                    found[day].add((row["subject"], row["predicate_key"], row["object"]))
            for day in days:
                wanted = {t for t, stretches in expected.items() if any(a <= day < b for a, b in stretches)}
                assert found[day] == wanted, f"on day {day} at {seq}"
        with self.play.database.read(self.play.kb_id) as connection:
            assert verify(connection, self.play.kb_id).ok


RULES = (
    *[Game.say] * 4,
    Game.say_of_a_month,
    Game.say_of_a_month,
    Game.say_late,
    Game.say_ahead,
    Game.say_again,
    Game.correct,
    Game.correct_a_correction,
    Game.delete,
    Game.merge,
    Game.reject,
    Game.lift,
)


def as_bytes(rows: list[dict]) -> str:
    """What a reader at a number is promised: not what became of the row since."""
    since = {"invalidated_seq", "invalidated_at", "invalidated_kind", "days"}
    return json.dumps([{k: v for k, v in r.items() if k not in since} for r in rows], default=str, sort_keys=True)


def play(database, seed: int, steps: int) -> Counter[str]:
    """One sequence on a base of its own; how often each rule did something."""
    game = Game(database, seed)
    try:
        for _ in range(steps):
            game.step()
        game.check()
    except Exception as error:
        error.add_note(f"seed {seed}, {steps} steps: {game.log}")
        raise
    return game.played


@pytest.mark.parametrize("seed", range(0, 100, 25))
def test_sequences_against_the_model(database, seed):
    played = sum((play(database, s, 30) for s in range(seed, seed + 25)), Counter())
    assert {rule.__name__ for rule in RULES} == set(+played), "a rule that never did anything proves nothing"


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("seed", range(1000, 3000, 100))
def test_many_more_sequences_against_the_model(database, seed):
    for s in range(seed, seed + 100):
        play(database, s, 50)


def test_the_model_is_small_enough_to_be_believed():
    """Sixty lines of code, so that a reader can hold it against the rules."""
    source = Path(ledger_model.__file__).read_text(encoding="utf-8")
    tree = ast.parse(source)
    words = {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for line in range(node.lineno, node.end_lineno + 1)
    }
    code = [line for n, line in enumerate(source.splitlines(), 1) if line.strip() and n not in words]
    assert len(code) <= 60
