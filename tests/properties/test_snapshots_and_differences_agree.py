"""A snapshot at any number is the set that was held then, a difference leads from one snapshot to the other, and what a
history promises at a number is the same bytes whatever comes later."""

from __future__ import annotations

import json
import random
from uuid import UUID

import pytest

from substrate import reads
from substrate.errors import NotFound
from substrate.ledger.refusals import lift
from tests.properties.ledger_play import Play, Said

PEOPLE = ("Ann", "Bo", "Cy", "Di")
THINGS = ("Xi", "Yo", "Zu")
RELATIONS = ("leads", "reports_to", "works_for", "acquired")
DAYS = ("2020-01-05", "2020-01-12", "2020-01", "2021")
TABLES = {"fact": "facts", "type": "entity_types", "identity": "entity_canonical", "refusal": "refusals"}
OWN = {"type": "entity_id", "identity": "entity_id"}


class Game:
    """Random steps; what each left held is kept by table, as the database says it at that moment."""

    def __init__(self, database, seed: int) -> None:
        self.database, self.rnd, self.play = database, random.Random(seed), Play.begin(database)
        self.kept: dict[int, set] = {}
        self.told: dict[int, list[str]] = {}
        self.play.say(Said("Di", "works_for", "Zu", 1), also=(*PEOPLE, *THINGS))
        self.remember()

    def step(self) -> None:
        self.rnd.choice((self.say, self.say, self.say, self.delete, self.merge, self.reject, self.lift))()
        self.remember()

    def say(self) -> None:
        start, end = sorted(self.rnd.sample(range(1, 25), 2))
        subject, other = self.rnd.choice(PEOPLE), self.rnd.choice(THINGS)
        end = end if self.rnd.random() < 0.4 else None
        start = start if self.rnd.random() < 0.8 else None
        self.play.say(Said(subject, self.rnd.choice(RELATIONS), other, start, end, doc=self.rnd.randrange(4)))

    def delete(self) -> None:
        self.play.delete(self.rnd.randrange(4))

    def merge(self) -> None:
        keep, absorb = self.rnd.sample(self.rnd.choice((PEOPLE, THINGS)), 2)
        with self.database.read(self.play.kb_id) as conn:
            one, two = (self.named(conn, name, self.play.seq()) for name in (keep, absorb))
        if one and two and one != two:
            self.play.merge(keep, absorb)

    def reject(self) -> None:
        if rows := self.play.rows():
            self.play.reject(self.rnd.choice(rows)["id"])

    def lift(self) -> None:
        with self.database.write(self.play.kb_id) as conn:
            found = conn.execute(
                "select id from refusals where kb_id = %s and invalidated_seq is null order by id limit 1",
                (self.play.kb_id,),
            ).fetchone()
            if found:
                with self.play.door(conn) as door:
                    lift(door, found["id"])

    def named(self, conn, name, seq):
        found = reads.find_entities(conn, self.play.kb_id, name, self.at(conn, seq))["entities"]
        return found[0]["id"] if found else None

    def remember(self) -> None:
        held = set()
        with self.database.read(self.play.kb_id) as conn:
            for kind, table in TABLES.items():
                found = conn.execute(
                    f"select {OWN.get(kind, 'id')} as id, recorded_seq from {table} "
                    "where kb_id = %s and invalidated_seq is null",
                    (self.play.kb_id,),
                )
                held |= {(kind, str(row["id"]), row["recorded_seq"]) for row in found}
            found = conn.execute("select id, recorded_seq from entities where kb_id = %s", (self.play.kb_id,))
            held |= {("entity", str(row["id"]), row["recorded_seq"]) for row in found}
        self.kept[self.play.seq()] = held
        self.told[self.play.seq()] = self.histories(self.play.seq())

    def histories(self, seq: int) -> list[str]:
        """What the histories of every entity and of some facts promise at a number."""
        kb, found = self.play.kb_id, []
        with self.database.read(kb) as conn:
            for name in PEOPLE + THINGS:
                if who := self.named(conn, name, seq):
                    answer = reads.entity_history(conn, kb, self.at(conn, seq), who)
                    found.append(reads.promised(answer))
                    facts = [i["id"] for i in answer["items"] if i["kind"] == "fact"]
                    found += [
                        reads.promised(reads.fact_history(conn, kb, self.at(conn, seq), UUID(f))) for f in facts[:2]
                    ]
        return [json.dumps(answer) for answer in found]

    def at(self, conn, seq, at=None):
        return reads.resolve(conn, self.play.kb_id, as_of=f"seq:{seq}", at=at)


def paged(read, conn, kb_id, *arguments, lists=("items",), limit, **options):
    """Every page of a read, its lists put together."""
    found: dict[str, list] = {name: [] for name in lists}
    cursor = None
    while True:
        answer = read(conn, kb_id, *arguments, limit=limit, cursor=cursor, **options)
        for name in lists:
            found[name] += answer[name]
        assert sum(len(answer[name]) for name in lists) <= limit
        assert answer["truncated"] == (answer["next_cursor"] is not None)
        cursor = answer["next_cursor"]
        if cursor is None:
            return found


def as_rows(items):
    """Items without what a difference adds, by key; no key comes twice."""
    rows = {
        (i["kind"], i["id"], i["recorded_seq"]): {k: v for k, v in i.items() if k not in ("by", "since")} for i in items
    }
    assert len(rows) == len(items)
    return rows


def applied(before, difference):
    after, removed, added = dict(before), as_rows(difference["removed"]), as_rows(difference["added"])
    for key, row in removed.items():
        assert after.pop(key) == row
    assert not set(after) & set(added)
    return after | added


def check(game: Game) -> None:
    kb, rnd, seqs = game.play.kb_id, game.rnd, sorted(game.kept)
    with game.database.read(kb) as conn:

        def snapshot(seq, entity=None, at=None):
            try:
                found = paged(reads.snapshot, conn, kb, game.at(conn, seq, at), entity, limit=rnd.choice((3, 7, 1000)))
            except NotFound:
                return {}
            return as_rows(found["items"])

        for seq in seqs:
            assert set(snapshot(seq)) == game.kept[seq]
            assert game.histories(seq) == game.told[seq]
        both = ("added", "removed")
        for _ in range(12):
            a, b = sorted(rnd.choices((0, *seqs), k=2))
            name, at = rnd.choice((None, *PEOPLE, *THINGS)), rnd.choice((None, *DAYS))
            limit = rnd.choice((2, 1000))
            who = name and game.named(conn, name, rnd.choice((a, b)))
            if name and not who:
                continue
            points = game.at(conn, a), game.at(conn, b, at)
            changed = paged(reads.record_diff, conn, kb, *points, who, lists=both, limit=limit)
            assert applied(snapshot(a, who, at), changed) == snapshot(b, who, at), (a, b, name, at)
            first, last = DAYS[0], DAYS[1]
            if who and not snapshot(b, who):
                with pytest.raises(NotFound):
                    reads.world_diff(conn, kb, first, last, game.at(conn, b), who)
                continue
            changed = paged(reads.world_diff, conn, kb, first, last, game.at(conn, b), who, lists=both, limit=limit)
            assert applied(snapshot(b, who, first), changed) == snapshot(b, who, last)


@pytest.mark.parametrize("seed", range(5))
def test_snapshots_are_what_was_held_and_differences_lead_from_one_to_the_other(database, seed):
    game = Game(database, seed)
    for _ in range(15):
        game.step()
    check(game)
