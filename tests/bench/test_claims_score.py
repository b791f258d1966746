"""The scorer of bench/claims: full marks for what was annotated, none for silence, and each slip is seen."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from decimal import Decimal

import pytest

from bench.claims import redocred
from bench.claims.data import KINDS, MODES, PARTS, Item, Pair, Part, _wanted, load
from bench.claims.ends import date_of, number_of, same_name, same_value
from bench.claims.reading import passages, said_of
from bench.claims.relations import RELATIONS, readings
from bench.claims.score import Said, matches, score, summary
from substrate.extraction.claims import Claim, ClaimTime, Value

WORDING = {
    "works_for": "works for",
    "role": "job title",
    "price": "price",
    "attribute": "attribute",
    **{name: name.replace("_", " ") for name in RELATIONS},
    "renamed": "renamed to",
    "born": "born in",
    "approved": "approves",
    "founded": "founder of",
    "any": "is somehow with",
}


def perfect(part: Part) -> dict[str, list[Said]]:
    """An extraction that gives each entry of gold in the annotation's own first wording."""
    items = [*part.items, *(Item(f"{p.plain.key}/plain", "hr", p.plain.date, "", p.plain.gold) for p in part.pairs)]
    return {
        item.key: [
            Said(w.subjects[0], WORDING[w.relations[0]], w.objects[0], start=w.start, end=w.end) for w in item.gold
        ]
        for item in items
    }


@pytest.mark.parametrize("name", PARTS)
def test_a_perfect_extraction_has_full_marks_and_silence_none(name):
    part = load(name)
    best, nothing = score(part, perfect(part)), score(part, {})
    assert (best.total.wrong, best.total.missed, best.twins_missed, best.modal) == ([], [], [], [])
    assert best.total.precision == best.total.recall == 1.0
    assert best.total.dated == best.total.dated_right > 0
    assert best.twins_found == best.pairs == len(part.pairs)
    assert nothing.total.recall == 0.0
    assert nothing.total.claims == nothing.twins_found == 0


def test_a_fact_from_a_sentence_that_states_none_is_counted():
    part = load("open")
    key = part.pairs[0].plain.key
    said = {**perfect(part), f"{key}/modal": [Said("Brackley Steel", "acquired", "Tolland Forge")]}
    assert len(score(part, said).modal) == 1
    assert "modal_facts=1 " in summary(score(part, said), score(load("held"), {}))


def test_claims_that_match_nothing_cost_precision_and_not_recall():
    part = load("open")
    said = perfect(part)
    said["o-min-03"] = [Said("weather", "is", "dreadful")]
    total = score(part, said).total
    assert total.wrong == ["o-min-03: weather | is | dreadful"]
    assert total.precision < 1.0 == total.recall


def test_the_parts_are_as_large_and_as_mixed_as_they_are_said_to_be():
    parts = {name: load(name) for name in PARTS}
    assert len(parts["held"].items) >= 110
    assert sum(len(part.items) for part in parts.values()) >= 300
    for part in parts.values():
        assert {item.kind for item in part.items} == set(KINDS)
        assert {pair.mode for pair in part.pairs} == set(MODES)
        assert len(part.pairs) >= 20
        empty = sum(not item.gold for item in part.items) / len(part.items)
        chinese = sum(
            "\u4e00" <= min(item.text, key=lambda c: not "\u4e00" <= c <= "\u9fff") <= "\u9fff" for item in part.items
        )
        assert 0.2 < empty < 0.3
        assert 0.2 < chinese / len(part.items) < 0.3
    texts = [item.text for part in parts.values() for item in part.items]
    assert len(set(texts)) == len(texts)


WANTED = _wanted("x", "Kuura Sensors Oy / Kuura | acquired | Fugtig | from=2025-09-09")


@pytest.mark.parametrize(
    ("subject", "phrase", "thing", "right"),
    [
        ("Kuura Sensors", "has bought", "Fugtig ApS", True),
        ("Fugtig", "was acquired by", "the Kuura Sensors", True),
        ("Fugtig", "acquired", "Kuura Sensors", False),
        ("Kuura Sensors", "works for", "Fugtig", False),
        ("Kuura Sensors", "was acquired by", "Fugtig", False),
        ("Kuura Sensors", "acquired", "Lumachip", False),
        ("the Danish start-up once praised by Kuura", "acquired", "Fugtig", False),
    ],
)
def test_ends_wording_and_direction_must_all_be_right(subject, phrase, thing, right):
    assert matches(Said(subject, phrase, thing), WANTED, 2025) is right


def test_a_post_in_the_wording_says_where_somebody_works_and_as_what():
    role, firm = (_wanted("x", f"Lena Vogt | {end}") for end in ("role | finance director", "works_for | Nordlicht"))
    for said in (
        Said("Lena Vogt", "finance director of", "Nordlicht"),
        Said("Nordlicht", "finance director", "Lena Vogt"),
    ):
        assert matches(said, role, 2025)
        assert matches(said, firm, 2025)
    assert not matches(Said("Lena Vogt", "deputy finance director of", "Ost AG"), firm, 2025)
    assert not matches(
        Said("Lena Vogt", "job title", "deputy director"), _wanted("x", "Lena Vogt | role | director"), 2025
    )


def test_values_count_by_number_and_currency_or_date():
    assert same_value("EUR 4.2m", None, None, "4.2 million euros")
    assert same_value("a million", Decimal(1_260_000), "CNY", "人民币1,260,000元")
    assert not same_value("$4.2m", None, None, "4.2 million euros")
    assert not same_value("EUR 4.3m", None, None, "4.2 million euros")
    assert number_of("80万元") == Decimal(800_000)
    assert date_of("30 June 2028") == date_of("June 30, 2028") == date_of("2028年6月30日") == "2028-06-30"
    assert date_of("4 May", 2026) == "2026-05-04"
    assert date_of("EUR 2,950") == date_of("may") == ""
    moment = _wanted("x", "Quern | started | 2003")
    assert matches(Said("Quern", "founded in", "Bergen", start="2003-01-01"), moment, 2026)
    assert not matches(Said("Quern", "founded in", "Bergen", start="2004-01-01"), moment, 2026)
    assert not matches(Said("Quern", "closed in", "Bergen", start="2003-01-01"), moment, 2026)


def test_names_are_the_same_if_one_holds_the_other_and_is_not_much_longer():
    assert same_name("Dr Lena Vogt", "Vogt")
    assert same_name("Ardent Cover plc", "Ardent Cover")
    assert same_name("陈雪梅", "采购主任陈雪梅") is False
    assert same_name("Alliance", "Northern Growers' Alliance") is False
    assert same_name("North Bank", "Bank North") is False
    assert same_name("chair", "deputy chair") is same_name("总经理", "总经理助理") is False


@pytest.mark.parametrize(
    ("end", "phrase", "right", "kept"),
    [("2025-12-31", "works for", 1, 1), ("", "works for", 0, 0), ("past", "works for", 1, 0), ("", "left", 1, 0)],
)
def test_what_is_over_is_wrong_if_claimed_as_if_it_went_on(end, phrase, right, kept):
    wanted = (_wanted("x", "Gerd Pahlke | works_for | Havnekraft | to=2025-12-31"),)
    item = Item("x", "hr", dt.date(2026, 1, 1), "", wanted)
    said = {"x": [Said("Gerd Pahlke", phrase, "Havnekraft", end=end)]}
    total = score(Part((item,), ()), said).total
    assert (total.right, total.found, total.dated, total.dated_right) == (right, right, right, kept)
    before = score(Part((replace(item, date=dt.date(2025, 6, 1)),), ()), said).total
    assert before.right == 1


def test_a_claim_is_read_with_the_last_day_it_holds():
    time = ClaimTime(valid_to=dt.datetime(2026, 1, 1, tzinfo=dt.UTC), valid_to_precision="day")
    ended = Claim("A", "works for", "q", 0, 1, object="B", time=time)
    assert said_of(ended) == Said("A", "works for", "B", end="2025-12-31")
    over = Claim(
        "A", "price", "q", 0, 1, value=Value("9 EUR", Decimal(9), "EUR"), time=ClaimTime(valid_to_precision="unknown")
    )
    assert said_of(over) == Said("A", "price", "9 EUR", Decimal(9), "EUR", end="past")


def test_a_table_reaches_the_extractor_as_cells_and_prose_as_prose():
    items = {item.key: item for item in load("open").items}
    table = passages("t", items["o-hr-07"].text, items["o-hr-07"].date)
    assert table[0].header == ("Team", "Lead", "Members")
    prose = passages("p", items["o-hr-08"].text, items["o-hr-08"].date)
    assert [(p.header, p.document_date and p.document_date.date()) for p in prose] == [((), dt.date(2026, 1, 5))]


@pytest.mark.parametrize("entry", ["A | owns", "A | adores | B", "A | owns | B | since=2020", " | owns | B"])
def test_a_slip_in_an_annotation_is_refused_by_name(entry):
    with pytest.raises(ValueError, match="h-x-1"):
        _wanted("h-x-1", entry)


def test_pairs_of_annotated_things_are_linked_whichever_way_about():
    things = [
        {"names": [name], "type": kind} for name, kind in (("Orlov", "PER"), ("Kherson", "LOC"), ("1916", "TIME"))
    ]
    facts = [{"h": 0, "t": 1, "r": "P19", "same_sentence": True}, {"h": 0, "t": 2, "r": "P571", "same_sentence": True}]
    truth = {"a.txt": {"entities": things, "facts": facts}}
    said = [Said("Kherson", "birthplace of", "Orlov", start="1916-01-01"), Said("Orlov", "likes", "tea")]
    found = redocred.link(truth, {"a.txt": said})
    assert (found.claims, found.known, found.right, found.facts, found.found) == (2, 1, 1, 2, 2)
    assert redocred.link(truth, {"a.txt": []}).summary() == "redocred: p=1.000 same_sentence_r=0.000"


def test_every_relation_has_wordings_of_its_own_and_an_unknown_wording_has_none():
    assert {name for name in RELATIONS for reading in readings(WORDING[name]) if reading[0] == name} == set(RELATIONS)
    assert readings("dances around") == frozenset()
    assert Pair("negated", *(load("open").items[:2])).mode in MODES
