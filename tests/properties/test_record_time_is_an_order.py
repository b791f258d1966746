"""Record time is the order in which writers took the head, whatever the clock and however many they are.

==================================================  =============================================
given                                               then
==================================================  =============================================
12 writers on one base, names and timelines shared  nobody fails; numbers without a gap
the same                                            recorded_at strictly increases with the number
the same                                            the chain verifies
the same                                            spans of a unique timeline do not overlap
the same                                            what one writer alone would hold, by natural key
a name met by several at once                       one entity
a transaction that fails half-way                   leaves no row and no gap
a row reopened, or a closing moved                  the verifier names the transaction
==================================================  =============================================
"""

from __future__ import annotations

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import psycopg
import pytest

from substrate.db import EVERY_BASE
from substrate.ledger.assertions import assert_batch
from substrate.ledger.entities import resolve_names
from substrate.ledger.verify import verify
from substrate.ontology.terms import EMPTY
from tests.properties.ledger_play import Play, Said

WRITERS, ROUNDS = 12, 8


def _statements(writer: int) -> list[Said]:
    """Everyone meets the same names for the first time, and everyone's starts cut everyone's spans."""
    return [
        Said(f"Person {(writer + i) % 5}", relation, f"Thing {i % 2}", start=1 + writer * 31 % 97 + i * 100, key=key)
        for i in range(ROUNDS)
        for relation in ("leads", "reports_to", "works_for", "same_as")
        for key in (f"{relation}:{writer}:{i}",)
    ]


@pytest.fixture
def crowded(database):
    play = Play.begin(database)
    together = threading.Barrier(WRITERS)

    def write(writer: int) -> None:
        together.wait()
        said = _statements(writer)
        for i in range(0, len(said), 4):
            play.say(*said[i : i + 4])

    with ThreadPoolExecutor(WRITERS) as pool:
        for done in [pool.submit(write, w) for w in range(WRITERS)]:
            done.result()
    return play


def _all(play, statement):
    with play.database.read(play.kb_id) as connection:
        return connection.execute(statement, {"kb_id": play.kb_id}).fetchall()


def test_many_writers_make_one_order(crowded):
    order = _all(crowded, "select seq, recorded_at from ledger_transaction where kb_id = %(kb_id)s order by seq")
    assert [r["seq"] for r in order] == list(range(1, 2 + WRITERS * ROUNDS))
    assert all(a["recorded_at"] < b["recorded_at"] for a, b in itertools.pairwise(order))
    with crowded.database.read(crowded.kb_id) as connection:
        assert verify(connection, crowded.kb_id).ok
    labels = [r["label"] for r in _all(crowded, "select label from entities where kb_id = %(kb_id)s")]
    assert sorted(labels) == [f"Person {i}" for i in range(5)] + ["Thing 0", "Thing 1"]
    overlaps = _all(
        crowded,
        """select count(*) as n from facts f join facts g on g.kb_id = f.kb_id and g.predicate_key = f.predicate_key
           where f.kb_id = %(kb_id)s and f.invalidated_seq is null and g.invalidated_seq is null and f.id <> g.id
             and ((f.predicate_key = 'leads' and f.object_id = g.object_id)
                  or (f.predicate_key = 'reports_to' and f.subject_id = g.subject_id))
             and f.valid_from < g.valid_from and (f.valid_to is null or f.valid_to > g.valid_from)""",
    )
    assert overlaps[0]["n"] == 0
    alone = Play.begin(crowded.database)
    alone.say(*(s for w in range(WRITERS) for s in _statements(w)))
    assert alone.natural() == crowded.natural()


def test_the_same_statements_by_all_at_once_are_asserted_once(database):
    play = Play.begin(database)
    said = _statements(0)
    with ThreadPoolExecutor(WRITERS) as pool:
        outcomes = list(pool.map(lambda _: play.say(*said), range(WRITERS)))
    assert sorted(len(o.assertions) for o in outcomes) == [0] * (WRITERS - 1) + [len(said)]
    assert play.seq() == 2


def test_a_transaction_that_fails_leaves_no_row_and_no_gap(database):
    play = Play.begin(database)
    play.say(Said("Ann", "leads", "Xi", start=1))
    before = play.seq()

    def write() -> None:
        with database.write(EVERY_BASE) as connection, play.door(connection) as door:
            ids = resolve_names(door, {"Nobody": None, "Xi": None})
            said = replace(Said("Nobody", "leads", "Xi", start=9), key="never")
            assert_batch(door, [play._draft(said, ids)], EMPTY)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write()
    assert play.seq() == before
    assert _all(play, "select label from entities where kb_id = %(kb_id)s and label = 'Nobody'") == []
    play.say(Said("Bo", "leads", "Xi", start=5))
    assert play.seq() == before + 1
    with database.read(EVERY_BASE) as connection:
        assert verify(connection, play.kb_id).ok


def test_a_writer_that_writes_nothing_takes_no_number(database):
    play = Play.begin(database)
    before = play.seq()
    with database.write(EVERY_BASE) as connection, play.door(connection):
        pass
    assert play.seq() == before


@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("facts", "invalidated_seq = null, invalidated_at = null, invalidated_kind = null"),
        ("facts", "invalidated_kind = 'merged'"),
        ("facts", "invalidated_at = invalidated_at - interval '1 second'"),
        ("facts", "recorded_at = recorded_at - interval '1 second'"),
        ("evidence", "invalidated_seq = null, invalidated_at = null"),
        ("assertions", "invalidated_seq = null, invalidated_at = null, invalidated_kind = null"),
        ("assertions", "invalidated_seq = invalidated_seq - 1"),
        ("ledger_transaction", "actor = 'someone else'"),
        ("ledger_transaction", "recorded_at = recorded_at - interval '1 second'"),
    ],
)
def test_a_row_reopened_or_moved_in_time_is_found(database, dsn, table, change):
    play = Play.begin(database)
    play.say(Said("Ann", "leads", "Xi", start=1, doc=1))
    play.say(Said("Bo", "leads", "Xi", start=9, doc=2))
    play.delete(2)
    with psycopg.connect(dsn, autocommit=True) as owner:
        owner.execute("set session_replication_role = replica")
        which = {"ledger_transaction": "true", "facts": "invalidated_kind = 'retracted'"}
        which = which.get(table, "invalidated_seq is not null")
        changed = owner.execute(f"update {table} set {change} where {which}").rowcount
    assert changed
    with database.read(EVERY_BASE) as connection:
        report = verify(connection, play.kb_id)
    assert not report.ok
    assert report.first_bad_seq is not None
