"""What contradicts is a function of what is said and decided: not of the order of arrival, and not of ids.

=============================================  ======================================================
given                                          then
=============================================  ======================================================
the same statements in any order and batches   the same open conflicts, sides and reasons
a document deleted, a merge midway             the same as deleted and merged last
two rivals that hold at one moment             each of them stands in some conflict with a rival
no two rivals that hold at one moment          no conflict between rivals
a verdict, whatever it is, and its revert      the facts and the open conflicts of before
a pair kept                                    the pair is not raised again, whatever else is said of it
=============================================  ======================================================
"""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from substrate.axes.transaction_time import held, held_parameters
from substrate.ledger.conflict_rules import find
from substrate.ledger.conflicts import VERDICTS, decide, revert
from substrate.ledger.timelines import Timelines
from substrate.ledger.verify import verify
from tests.properties.ledger_play import Play, Said
from tests.properties.test_a_timeline_holds_whatever_the_order import FAST, numbered, some
from tests.properties.test_the_same_statements_give_the_same_facts import (
    ARGUMENTS,
    PEOPLE,
    THINGS,
    alike,
    in_pieces,
    search,
)

CONFLICTS = """
    with named as (
        select e.id, coalesce(c.label, e.label) as label from entities e
        left join entity_canonical m on m.kb_id = e.kb_id and m.entity_id = e.id and m.invalidated_seq is null
        left join entities c on c.kb_id = e.kb_id and c.id = m.canonical_id
        where e.kb_id = %(kb_id)s
    )
    select c.reason, c.predicate_key, array[os.label, coalesce(oo.label, c.old_value_norm), c.old_said] as old,
           array[ns.label, coalesce(no.label, c.new_value_norm), c.new_said] as new, c.id,
           exists (select from facts f where f.kb_id = c.kb_id and f.lineage_id = c.old_lineage_id
                   and f.invalidated_seq is null)
           and exists (select from facts f where f.kb_id = c.kb_id and f.lineage_id = c.new_lineage_id
                       and f.invalidated_seq is null) as both_held
    from conflicts c
    join named os on os.id = c.old_subject_id
    left join named oo on oo.id = c.old_object_id
    join named ns on ns.id = c.new_subject_id
    left join named no on no.id = c.new_object_id
    where c.kb_id = %(kb_id)s and {held}"""


def open_conflicts(play: Play, seq: int | None = None) -> list[dict]:
    statement = CONFLICTS.format(held=held("c", seq))
    with play.database.read(play.kb_id) as connection:
        return connection.execute(statement, {"kb_id": play.kb_id, **held_parameters(seq)}).fetchall()


def natural(play: Play) -> list[tuple]:
    """Sides of one rank (which of two that open together is called old is a matter of ids) as a set."""
    rows = open_conflicts(play)
    assert all(r["both_held"] for r in rows), "an open conflict whose side is not held"
    return sorted((r["reason"], r["predicate_key"], *sorted((str(r["old"]), str(r["new"])))) for r in rows)


@search(40)
@given(**ARGUMENTS)
def test_neither_order_nor_batches_matter_to_what_contradicts(database, said, seed, deleted, merged):
    said = alike(said)
    one, other = Play.begin(database), Play.begin(database)
    for play in (one, other):
        play.say(Said("Ann", "works_for", "Xi", key="first"), also=(*PEOPLE, *THINGS))
    if said:
        one.say(*said)
    if said and deleted:
        one.delete(*deleted)
    if merged:
        one.merge(*merged)
    in_pieces(other, said, random.Random(seed), deleted=deleted, merged=merged)
    mine, theirs = natural(one), natural(other)
    # Of three that open together each is held against one of the others; which one is a matter of ids.
    assert [c[:2] for c in mine] == [c[:2] for c in theirs]
    assert {s for c in mine for s in c[2:]} == {s for c in theirs for s in c[2:]}


@FAST
@given(found=some(most=6), seed=st.integers(0, 9))
def test_rivals_that_hold_at_one_moment_contradict_and_no_others(found, seed):
    said, _ = numbered(found)
    random.Random(seed).shuffle(said)
    by_value = {v: [a for a in said if a.value == v] for v in {a.value for a in said}}
    timelines = Timelines(by_value, dict.fromkeys(by_value, ("one",)))
    spans = {v: timelines.spans(v, "state") for v in by_value}
    raised = [f for f in find(timelines, spans, by_value.keys(), set()) if f.reason in ("no_time", "simultaneous")]
    stand = {(s.triple, s.place) for f in raised for s in (f.old, f.new)}
    placed = [(v, i, s) for v, x in spans.items() for i, s in enumerate(x) if s.opens is not None]
    for v, i, s in placed:
        meets = [w for w, _, r in placed if w != v and _meet(s, r)]
        assert not meets or (v, i) in stand
    for f in raised:
        if f.reason == "simultaneous":
            old, new = spans[f.old.triple][f.old.place], spans[f.new.triple][f.new.place]
            assert f.old.triple != f.new.triple and _meet(old, new)


def _meet(a, b):
    (a_from, a_to), (b_from, b_to) = a.holds, b.holds
    before = a_from is None or b_to is None or a_from < b_to
    return before and (b_from is None or a_to is None or b_from < a_to)


def acted(play, verb, *arguments):
    with play.database.write(play.kb_id) as connection, play.door(connection) as door:
        return verb(door, *arguments)


@pytest.mark.parametrize("seed", range(12))
def test_a_verdict_and_its_revert_leave_what_was(database, seed):
    rnd = random.Random(seed)
    play = Play.begin(database)
    play.say(Said("Ann", "works_for", "Xi", key="first"), also=(*PEOPLE, *THINGS))
    relation = rnd.choice(("leads", "reports_to", "married_to"))
    for _ in range(6):
        start = rnd.choice((None, 1, 1, 5))
        end = rnd.choice((None, None, 9)) if start else None
        play.say(Said(rnd.choice(PEOPLE), relation, rnd.choice(THINGS), start, end, rnd.choice((None, 3)), doc=1))
    waiting = open_conflicts(play)
    if not waiting:
        return
    facts, before, seq = play.natural(), natural(play), play.seq()
    for conflict in waiting:
        for verdict in VERDICTS:
            if conflict["id"] not in {c["id"] for c in open_conflicts(play)}:
                break
            acted(play, decide, conflict["id"], verdict, "so")
            assert conflict["id"] not in {c["id"] for c in open_conflicts(play)}
            acted(play, revert, conflict["id"], "not so")
            assert (play.natural(), natural(play)) == (facts, before), (verdict, conflict)
            conflict = next(
                c for c in open_conflicts(play) if (c["old"], c["new"]) == (conflict["old"], conflict["new"])
            )
    assert len(open_conflicts(play, seq)) == len(waiting)
    with play.database.read(play.kb_id) as connection:
        assert verify(connection, play.kb_id).ok


def test_a_pair_that_was_kept_is_not_raised_again(database):
    play = Play.begin(database)
    play.say(Said("Ann", "leads", "Xi", start=1), Said("Bo", "leads", "Xi", start=1))
    (conflict,) = open_conflicts(play)
    acted(play, decide, conflict["id"], "kept_both", "so")
    play.say(Said("Ann", "leads", "Xi", start=5), Said("Bo", "leads", "Xi", start=5), Said("Ann", "leads", "Xi"))
    assert open_conflicts(play) == []
    play.merge("Cy", "Ann")
    assert open_conflicts(play) == [], "the decision follows the merge"
    play.say(Said("Di", "leads", "Xi", start=1))
    assert len(open_conflicts(play)) == 1
