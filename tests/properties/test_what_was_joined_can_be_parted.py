"""A reverted merge leaves what there would be had it never been made, whatever was said, denied or refused meanwhile.

Each sequence is played into one base, and once more into a twin without the merges that are reverted in the end.

=============================================  ================================================================
random says, denials, corrections, deletions,  facts, evidence and clusters are the twin's after every revert
refusals, liftings, merges, reverts            an answer as of any earlier number stays what it was
=============================================  ================================================================
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from substrate.axes.transaction_time import held, held_parameters
from substrate.ledger.drafts import Draft
from substrate.ledger.entities import resolve_names
from substrate.ledger.merges import merge, revert_merge, united
from substrate.ledger.refusals import lift
from substrate.ledger.retractions import reject_fact, reject_triple
from substrate.ledger.verify import verify
from tests.properties.ledger_play import RELATIONS, Play, Said

NAMES = ("Ann", "Bo", "Cy", "Di", "Xi", "Yo")


class Parting(Play):
    """A base and the log of what was done to it, so that it can be done again without some of the merges."""

    @staticmethod
    def begin(database) -> Parting:
        begun = Play.begin(database)
        return Parting(begun.database, begun.kb_id)

    def act(self, act: Callable[..., object], *arguments: object) -> object:
        with self.database.write(self.kb_id) as connection, self.door(connection) as door:
            return act(door, *arguments)

    def ids(self) -> dict[str, object]:
        with self.database.read(self.kb_id) as connection:
            rows = connection.execute("select label, id from entities where kb_id = %s", (self.kb_id,)).fetchall()
        return {row["label"]: row["id"] for row in rows}

    def meet(self) -> None:
        self.act(resolve_names, dict.fromkeys(NAMES))

    def join(self, keep: str, absorb: str) -> object:
        ids = self.ids()
        return self.act(merge, ids[keep], ids[absorb])

    def refuse(self, subject: str, relation: str, other: str) -> object:
        ids = self.ids()
        draft = Draft("person:x", ids[subject], relation.replace("_", " "), relation, object_id=ids[other])
        return self.act(reject_triple, draft, "no")

    def clusters(self, known_seq: int | None = None) -> dict[str, str]:
        with self.database.read(self.kb_id) as connection:
            rows = connection.execute(
                f"""select e.label, k.label as canonical from entity_canonical c
                    join entities e on e.kb_id = c.kb_id and e.id = c.entity_id
                    join entities k on k.kb_id = c.kb_id and k.id = c.canonical_id
                    where c.kb_id = %(kb_id)s and {held("c", known_seq)}""",
                {"kb_id": self.kb_id, **held_parameters(known_seq)},
            ).fetchall()
        return {row["label"]: row["canonical"] for row in rows}

    def raw(self, fact_id: object) -> tuple[str, str, str]:
        """The triple of a fact on the ids it was written with."""
        with self.database.read(self.kb_id) as connection:
            row = connection.execute(
                """select s.label, f.predicate_key, o.label as other from facts f
                   join entities s on s.kb_id = f.kb_id and s.id = f.subject_id
                   join entities o on o.kb_id = f.kb_id and o.id = f.object_id where f.id = %s""",
                (fact_id,),
            ).fetchone()
        return tuple(row.values())


class Sequence:
    """Random steps; `log` holds each as (kind, payload)."""

    def __init__(self, database, seed: int) -> None:
        self.rnd, self.database = random.Random(seed), database
        self.play = Parting.begin(database)
        self.play.meet()
        self.log: list[tuple[str, object]] = []
        self.merges: list[list] = []  # [id, pair, reverted]
        self.refusals: list = []
        self.answers: dict[int, object] = {}

    def step(self) -> str:
        rules = (self.say, self.say, self.say, self.join, self.join, self.reject, self.part, self.part)
        kind = self.rnd.choice((*rules, self.lift, self.delete, self.say_again))()
        seq = self.play.seq()
        self.answers[seq] = self.answer(seq)
        return kind

    def answer(self, seq: int) -> object:
        hidden = {"invalidated_seq", "invalidated_at", "invalidated_kind"}
        facts = [{k: v for k, v in row.items() if k not in hidden} for row in self.play.rows(seq)]
        return facts, self.play.clusters(seq)

    def say(self) -> str:
        subject, other = self.rnd.sample(NAMES, 2)
        start, attested = self.rnd.choice((None, *range(5))), self.rnd.choice((None, *range(5)))
        word = self.rnd.choice(("", "", "", "", "denies", "corrects"))
        said = Said(
            subject,
            self.rnd.choice(RELATIONS),
            other,
            start=start,
            end=None if start is None or self.rnd.random() < 0.7 else start + self.rnd.randrange(1, 4),
            attested=attested,
            denies=word == "denies",
            corrects=word == "corrects",
            doc=self.rnd.randrange(4),
        )
        return self._said(said)

    def say_again(self) -> str:
        """The same words from another document: for a refused triple a restatement."""
        before = [x for kind, x in self.log if kind == "say"]
        if not before:
            return "none"
        old = self.rnd.choice(before)
        return self._said(
            replace(old, denies=False, corrects=False, doc=self.rnd.randrange(4), key=f"again:{len(self.log)}")
        )

    def _said(self, said: Said) -> str:
        self.play.say(said)
        self.log.append(("say", said))
        return "say"

    def join(self) -> str:
        keep, absorb = self.rnd.sample(NAMES, 2)
        to = self.play.clusters()
        if to.get(keep, keep) == to.get(absorb, absorb):
            return "none"
        self.merges.append([self.play.join(keep, absorb), (keep, absorb), False])
        self.log.append(("join", len(self.merges) - 1))
        return "join"

    def part(self) -> str:
        standing = [m for m in self.merges if not m[2]]
        if not standing:
            return "none"
        chosen = self.rnd.choice(standing)
        self.play.act(revert_merge, chosen[0], "no")
        chosen[2] = True
        return "part"

    def reject(self) -> str:
        facts = self.play.rows()
        if not facts:
            return "none"
        fact = self.rnd.choice(facts)
        triple = self.play.raw(fact["id"])
        self.refusals.append(self.play.act(reject_fact, fact["id"], "no"))
        self.log.append(("refuse", triple))
        return "reject"

    def lift(self) -> str:
        standing = [i for i, r in enumerate(self.refusals) if r is not None]
        if not standing:
            return "none"
        chosen = self.rnd.choice(standing)
        self.play.act(lift, self.refusals[chosen])
        self.refusals[chosen] = None
        self.log.append(("lift", chosen))
        return "lift"

    def delete(self) -> str:
        doc = self.rnd.randrange(4)
        self.play.delete(doc)
        self.log.append(("delete", doc))
        return "delete"

    def twin(self) -> Parting:
        """The same without the merges that are reverted by now."""
        other, refusals = Parting.begin(self.database), []
        other.meet()
        for kind, x in self.log:
            if kind == "say":
                other.say(x)
            elif kind == "join" and not self.merges[x][2]:
                other.join(*self.merges[x][1])
            elif kind == "refuse":
                refusals.append(other.refuse(*x))
            elif kind == "lift":
                other.act(lift, refusals[x])
            elif kind == "delete":
                other.delete(x)
        return other

    def check(self) -> None:
        other = self.twin()
        assert self.play.clusters() == other.clusters()
        assert self.play.natural() == other.natural()

    def finish(self) -> None:
        for seq, answer in self.answers.items():
            assert self.answer(seq) == answer, f"what was answered as of {seq} has changed"
        with self.database.read(self.play.kb_id) as connection:
            assert verify(connection, self.play.kb_id).exit_code == 0


def play(database, seed: int, steps: int) -> None:
    sequence = Sequence(database, seed)
    for _ in range(steps):
        if sequence.step() == "part":
            sequence.check()
    for merged in [m for m in sequence.merges if not m[2]]:
        sequence.play.act(revert_merge, merged[0], "all of them")
        merged[2] = True
    assert sequence.play.clusters() == {}
    sequence.check()
    sequence.finish()


@given(st.integers(0, 2**32))
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_reverted_merge_never_was(database, seed):
    play(database, seed, 22)


@pytest.mark.slow
@given(st.integers(0, 2**32))
@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_reverted_merge_never_was_in_many_more(database, seed):
    play(database, seed, 40)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=8), st.data())
def test_without_any_merge_the_others_still_join_two_clusters_each(pairs, data):
    """Why a revert is never ambiguous: merges make a forest, and so does what is left of one."""
    merges = []
    for number, (kept, absorbed) in enumerate(pairs):
        places = united(merges)
        if places.get(kept, (kept,))[0] != places.get(absorbed, (absorbed,))[0]:
            merges.append({"id": f"m{number}", "kept_id": kept, "absorbed_id": absorbed})
    rest = [m for m in merges if data.draw(st.booleans())]
    for i, m in enumerate(rest):
        places = united(rest[:i])
        one, other = (places.get(m[end], (m[end],))[0] for end in ("kept_id", "absorbed_id"))
        assert one != other
    places = united(rest)
    assert len(places) == len(rest), "each merge takes one entity's own standing"
    assert not {c for c, _ in places.values()} & places.keys(), "no canonical entity is part of another"
