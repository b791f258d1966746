"""A timeline is a function of the set of its assertions: not of their order, and not of their ids.

========================================  ==========================================================
given                                     then, for every triple
========================================  ==========================================================
any permutation, any ids                  the same spans, each resting on the same assertions
a rival (unique relation) opens later     the earlier span ends by then, unless a text states a later end
a restatement opens later                 no two spans of one triple overlap
a start and an end                        start < end
an end that a text states                 is one of the stated ends, or a cut inside the last stated unit
an end that the engine makes              is where another span opens
a live assertion                          supports exactly one span; one that is not live supports none
one assertion taken away and given again  the spans of before
an event                                  holds in its own buckets; no end before its start
========================================  ==========================================================
"""

from __future__ import annotations

import itertools
import random
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from substrate.axes.valid_time import bucket_end, bucket_start, truncate
from substrate.ledger.spans import Assertion
from substrate.ledger.timelines import Timelines, spans

EPOCH = datetime(2020, 1, 1, tzinfo=UTC)
UNITS = ("year", "month", "day")
NONE = datetime.min.replace(tzinfo=UTC)
EVER = datetime.max.replace(tzinfo=UTC)

moments = st.builds(lambda d: EPOCH + timedelta(days=d), st.integers(0, 1500) | st.sampled_from((0, 366, 397, 731)))


@st.composite
def assertions(draw, values=("a", "b", "c")):
    """What the door can let in: starts truncated to their unit, exclusive ends that close one."""
    more = {}
    if draw(st.booleans()):
        unit = draw(st.sampled_from(UNITS))
        more |= {"start": truncate(draw(moments), unit), "start_precision": unit}
    kind = draw(st.sampled_from(("open", "open", "dated", "unknown")))
    if kind == "unknown":
        more["end_precision"] = "unknown"
    if kind == "dated":
        unit = draw(st.sampled_from(UNITS))
        end = bucket_end(truncate(draw(moments), unit), unit)
        if end > more.get("start", NONE):
            more |= {"end": end, "end_precision": unit, "at_event": draw(st.booleans()) and "start" in more}
    value = draw(st.sampled_from(values))
    return Assertion(
        id=UUID(int=0),
        value=value,
        attested=draw(st.none() | moments),
        denies=draw(st.sampled_from((False,) * 5 + (True,))),
        corrects=draw(st.sampled_from((False,) * 4 + (True,))),
        replaces=draw(st.none() | st.sampled_from(values)),
        person=draw(st.sampled_from((False, False, False, True))),
        order=(draw(st.integers(1, 3)), 0),
        **more,
    )


def some(values=("a", "b", "c"), most=7):
    return st.lists(assertions(values), max_size=most)


def numbered(found, seed=0):
    """The same assertions with random ids: (assertion as given, with an id), and the way back."""
    rnd = random.Random(seed)
    out, name = [], {}
    from dataclasses import replace

    for i, a in enumerate(found):
        made = replace(a, id=UUID(int=rnd.getrandbits(128)))
        out.append(made)
        name[made.id] = i
    return out, name


def content(span, name):
    return (
        span.start, span.start_precision, span.end, span.end_precision, span.end_origin,
        span.attested_from, span.attested_to, span.holds, span.undated, frozenset(name[i] for i in span.support),
    )  # fmt: skip


def by_support_content(span, given):
    """For ids that are alike in all else, which of them supports which span is one of ids."""
    return (*content(span, {a.id: key(a) for a in given})[:-1], sorted(key(a) for a in given if a.id in span.support))


def key(a):
    from dataclasses import replace

    return str(replace(a, id=UUID(int=0)))


def all_spans(given, temporal="state", unique=True):
    """value → spans, each value alone against the others."""
    return {
        v: spans(
            [a for a in given if a.value == v],
            [a for a in given if a.value != v] if unique else [],
            temporal,
        )
        for v in sorted({a.value for a in given})
    }


PHASES = (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)
FAST = settings(deadline=None, max_examples=250, suppress_health_check=[HealthCheck.too_slow], phases=PHASES)


@pytest.mark.parametrize("temporal", ["state", "event", "eternal"])
@FAST
@given(found=some(), seed=st.integers(0, 9))
def test_neither_order_nor_ids_matter(temporal, found, seed):
    one, _ = numbered(found)
    expected = {v: [by_support_content(s, one) for s in x] for v, x in all_spans(one, temporal).items()}
    other, _ = numbered(found, seed + 1)
    random.Random(seed).shuffle(other)
    assert {v: [by_support_content(s, other) for s in x] for v, x in all_spans(other, temporal).items()} == expected


@FAST
@given(found=some(), seed=st.integers(0, 9))
def test_one_taken_away_and_given_again_leaves_what_was(found, seed):
    given, name = numbered(found)
    if not given:
        return
    before = {v: [content(s, name) for s in x] for v, x in all_spans(given).items()}
    taken = given.pop(seed % len(given))
    all_spans(given)
    given.append(taken)
    assert {v: [content(s, name) for s in x] for v, x in all_spans(given).items()} == before


@FAST
@given(found=some(most=9))
def test_rivals_overlap_only_where_a_text_says_so(found):
    given, _ = numbered(found)
    flat = [(v, s) for v, x in all_spans(given).items() for s in x if not s.undated and s.opens is not None]
    for v, early in flat:
        for w, late in flat:
            if v == w or not early.opens < late.opens:
                continue
            ends = early.holds[1] or EVER
            assert ends <= late.opens or (early.end_origin == "stated" and early.end is not None), (early, late)


@FAST
@given(found=some(values=("a", "b"), most=9), unique=st.booleans())
def test_spans_of_one_triple_never_overlap(found, unique):
    given, _ = numbered(found)
    for x in all_spans(given, unique=unique).values():
        stretches = sorted((s.holds[0] or NONE, s.holds[1] or EVER) for s in x)
        for (_, end), (start, _) in itertools.pairwise(stretches):
            assert end <= start, x


@FAST
@given(found=some(), temporal=st.sampled_from(("state", "event")))
def test_no_span_ends_before_it_starts(found, temporal):
    given, _ = numbered(found)
    for x in all_spans(given, temporal).values():
        for s in x:
            assert s.start is None or s.end is None or s.start < s.end, s
            start, end = s.holds
            assert start is None or end is None or start <= end, s
            assert (s.start is None) == (s.start_precision is None)
            assert (s.end is None) == (s.end_precision in (None, "unknown"))
            assert (s.end_precision is None) == (s.end_origin is None)


@FAST
@given(found=some(most=9))
def test_a_stated_end_moves_only_inside_its_own_unit(found):
    given, _ = numbered(found)
    by_id = {a.id: a for a in given}
    for v, x in all_spans(given).items():
        opens = {a.placed_start for a in given if a.value != v}
        # "B, not A" may take over A's start, which is among the starts that were said anyway
        opens |= {a.start for a in given}
        for s in x:
            if s.end is None:
                continue
            stated = [by_id[i] for i in s.support if by_id[i].end is not None]
            if s.end_origin == "stated":
                assert any(bucket_start(a.end, a.end_precision) <= s.end <= a.end for a in stated), s
                assert any(s.end == a.end for a in stated) or s.end in opens, s
            else:
                assert not [a for a in stated if not a.at_event], s
                assert s.end in opens | {a.placed_start for a in given}, s


@FAST
@given(found=some(most=9), temporal=st.sampled_from(("state", "event", "eternal")))
def test_an_assertion_supports_one_span_or_is_not_live(found, temporal):
    given, _ = numbered(found)
    for v, x in all_spans(given, temporal).items():
        support = [i for s in x for i in s.support]
        assert len(support) == len(set(support))
        assert all(s.support for s in x)
        own = {a.id for a in given if a.value == v and not a.denies}
        assert set(support) <= own
        if not any(a.denies or a.corrects for a in given):
            assert set(support) == own


@FAST
@given(found=some(values=("a",), most=7))
def test_what_no_denial_or_correction_touches_is_seen_at_its_own_start(found):
    """A reader at the stated start of a live assertion finds the triple, whatever else was said of it."""
    given, _ = numbered([a for a in found if not a.denies and not a.corrects])
    for x in all_spans(given).values():
        for a in given:
            if a.start is None:
                continue
            last = bucket_end(a.start, a.start_precision)
            assert any((s.holds[0] or NONE) < last and (s.holds[1] or EVER) > a.start for s in x), (a, x)


def _two_sided(given):
    """married to: triples are "subject-object"; each side has one timeline."""
    triples = {}
    for a in given:
        triples.setdefault(a.value, []).append(a)
    together = Timelines(triples, {t: (("subject", t[0]), ("object", t[2])) for t in triples})
    return {t: together.spans(t, "state") for t in triples}


PAIRS = ("A-x", "A-y", "B-x", "B-y", "C-y", "C-z")


@FAST
@given(found=some(values=PAIRS, most=10), seed=st.integers(0, 9))
def test_both_sides_are_judged_from_one_place(found, seed):
    """What is live is the same from every rival's point of view, so neither side of a pair overlaps."""
    given, _ = numbered(found)
    one = _two_sided(given)
    other, _ = numbered(found, seed + 1)
    random.Random(seed).shuffle(other)
    assert {t: [by_support_content(s, given) for s in x] for t, x in one.items()} == {
        t: [by_support_content(s, other) for s in x] for t, x in _two_sided(other).items()
    }
    flat = [(t, s) for t, x in one.items() for s in x if s.opens is not None]
    for t, early in flat:
        for u, late in flat:
            if t != u and (t[0] == u[0] or t[2] == u[2]) and early.opens < late.opens:
                stated = early.end_origin == "stated" and early.end is not None
                assert stated or (early.holds[1] or EVER) <= late.opens, (t, early, u, late)


def _a(value="a", start=None, unit="day", end=None, end_unit="day", attested=None, **more):
    def at(text):
        return datetime.fromisoformat(text).replace(tzinfo=UTC) if text else None

    return Assertion(
        UUID(int=random.getrandbits(128)), value, at(start), unit if start else None, at(end),
        ("unknown" if end_unit == "unknown" else end_unit if end else None), attested=at(attested), **more,
    )  # fmt: skip


def _days(found):
    return [(s.start and f"{s.start:%F}", s.end and f"{s.end:%F}") for s in found]


def test_a_finer_start_beyond_a_stated_end_is_another_stretch():
    own = [_a(start="2024-01-01", unit="year", end="2024-03-01", end_unit="month"), _a(start="2024-07-05")]
    assert _days(spans(own, [], "state")) == [("2024-01-01", "2024-03-01"), ("2024-07-05", None)]
    assert _days(spans(own, [], "event")) == [("2024-01-01", "2024-03-01"), ("2024-07-05", None)]


def test_a_rival_cuts_from_its_finest_start():
    """ "Since 2024" and "since 5 July 2024" are one start, and nobody's absence before it."""
    rivals = [_a("b", start="2024-01-01", unit="year"), _a("b", start="2024-07-05")]
    assert _days(spans([_a(start="2023-01-01")], rivals, "state")) == [("2023-01-01", "2024-07-05")]
    assert _days(spans([_a(start="2023-01-01")], rivals[:1], "state")) == [("2023-01-01", "2024-01-01")]


def test_an_earlier_stretch_without_an_end_stops_where_the_next_begins():
    own = [_a(attested="2020-05-01"), _a(start="2022-01-01", end="2024-01-01")]
    first, second = spans(own, [], "state")
    assert (first.end, first.end_origin) == (second.start, "engine")
    assert second.end_origin == "stated"


def test_of_two_ends_of_one_age_the_later_stands_in_either_order():
    for ends in (("2023-05-01", "2023-05-02"), ("2023-05-02", "2023-05-01")):
        own = [_a(start="2020-01-01", end=e) for e in ends]
        assert _days(spans(own, [], "state")) == [("2020-01-01", "2023-05-02")]


def test_an_end_in_a_unit_is_refined_inside_it_and_only_there():
    year, month, day = ("2025-01-01", "year"), ("2024-04-01", "month"), ("2023-12-31", "day")
    for first, second, stands in ((year, month, "2024-04-01"), (month, day, "2024-04-01"), (year, day, "2025-01-01")):
        for pair in ((first, second), (second, first)):
            own = [_a(start="2020-01-01", end=end, end_unit=unit) for end, unit in pair]
            assert _days(spans(own, [], "state")) == [("2020-01-01", stands)]


def test_of_two_documents_that_say_it_was_over_the_earlier_bounds_it():
    for dates in (
        ("2022-05-01", "2023-05-01"),
        ("2023-05-01", "2022-05-01"),
        ("2022-05-01", None),
        (None, "2022-05-01"),
    ):
        own = [_a(start="2020-01-01", end_unit="unknown", attested=at) for at in dates]
        assert [f"{s.attested_to:%F}" for s in spans(own, [], "state")] == ["2022-05-01"]
