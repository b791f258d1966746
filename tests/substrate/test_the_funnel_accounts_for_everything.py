"""Passages, statements seen, claims, bindings, entities, facts: what comes in goes on or is dropped under a code."""

from __future__ import annotations

from pathlib import Path

import pytest

from substrate.documents.intake import PushItem, delete, push, remember
from substrate.funnel import count_funnel, run_funnel
from substrate.funnel.coverage import count_sentences
from substrate.ledger import open_door
from substrate.ledger.retractions import reject_fact
from substrate.ontology.bindings_stage import run_bindings
from substrate.pipeline import Services, run_pipeline
from substrate.statements.intake import Push, push_statements
from tests.substrate.ontology.lines import BY, new_lines

DEMO = Path(__file__).parents[2] / "demo"


@pytest.fixture
def lines(database, settings):
    return new_lines(database, settings)


def funnel(lines):
    with lines.database.read(lines.kb_id) as connection:
        return count_funnel(connection, lines.kb_id)


def parts(found, level):
    (one,) = (x for x in found.levels if x.name == level)
    assert one.balanced, (level, one)
    return {p.code: p.items for p in one.parts}


def test_an_empty_base_has_an_empty_funnel(lines):
    found = funnel(lines)
    assert found.balanced and all(level.came_in == 0 == level.went_on for level in found.levels)


def test_every_fate_has_its_code(lines, database):
    lines.tell(
        "a",
        "Ann | leads | Orion | 2024-01-01",
        "Bo | zorgles | Vega",
        "Cy | works for | Acme",
        "Cy | works for | Beta | | person>org | not",
        "what is no line",
    )
    lines.tell("b", "Ann | leads | Orion | 2024-01-01", "Di | zorgles | Vega")
    lines.tell("c", "nothing here is a line")
    fact = lines.one(
        "select f.id from facts f join entities e on e.kb_id = f.kb_id and e.id = f.subject_id "
        "where f.kb_id = %s and e.label = 'Di' and f.phrase = 'zorgles' and f.invalidated_seq is null"
    )
    with database.write(lines.kb_id) as connection, open_door(connection, lines.kb_id, **BY, action="no") as door:
        reject_fact(door, fact, "no")
    lines.tell("d", "Di | zorgles | Vega")
    run_bindings(database, lines.kb_id)
    found = funnel(lines)
    assert found.balanced
    assert parts(found, "passages") == {"with_claims": 3, "dropped_only": 1}
    assert parts(found, "seen") == {"claimed": 7, "no_object": 2}
    assert parts(found, "claims") == {"stated_as_so": 7}
    assert parts(found, "bindings") == {"exact": 4, "undecided": 3}
    assert parts(found, "entities") == {"resolved": 7}
    assert parts(found, "facts") == {"fact": 4, "denies": 1, "refused": 1, "rejected": 1}
    assert found.undecided == [("zorgle", 3)]
    assert (found.facts["stated"], found.facts["claims_on_facts"], found.facts["said_again"]) == (3, 4, 1)
    assert found.facts["facts"] == found.facts["stated"] + found.facts["names"] + found.facts["other"]
    lines.decide("zorgles", "leads")
    assert parts(funnel(lines), "bindings") == {"exact": 4, "person": 3}


def test_what_waits_is_said_to_wait(lines, database):
    item = PushItem("a", "a.txt", b"Ann | leads | Orion\nBo | zorgles | Vega\n", None, "", "text/plain", "")
    push(database, lines.kb_id, [item], **BY)
    with Services(lines.settings, embedder=lines.embedder, extractor=_reader()) as services:
        run_pipeline(database, lines.kb_id, services, ("parse",))
        assert parts(funnel(lines), "passages") == {"waiting": 1}
        run_pipeline(database, lines.kb_id, services, ("claims",))
        assert parts(funnel(lines), "entities") == {"waiting": 2} and funnel(lines).balanced
        run_pipeline(database, lines.kb_id, services, ("entities",))
        assert parts(funnel(lines), "entities") == {"resolved": 2}
        assert parts(funnel(lines), "facts") == {"waiting": 2} and funnel(lines).balanced
        run_pipeline(database, lines.kb_id, services, ("facts",))
    assert parts(funnel(lines), "facts") == {"fact": 2}
    delete(database, lines.kb_id, external_id="a", **BY)
    assert all(level.came_in == 0 for level in funnel(lines).levels)


def test_what_is_remembered_waits_for_a_person(lines, database):
    remember(database, lines.kb_id, "Ann | leads | Orion", **BY)
    remember(database, lines.kb_id, "Bo | zorgles | Vega", **BY)
    lines.run()
    assert parts(funnel(lines), "entities") == {"waits_for_a_person": 2}
    from substrate.ledger import verdicts

    with database.read(lines.kb_id) as connection:
        rows = connection.execute("select id from pending_facts where kb_id = %s", (lines.kb_id,)).fetchall()
    verdicts.confirm(database, lines.kb_id, rows[0]["id"], **BY)
    verdicts.reject(database, lines.kb_id, rows[1]["id"], **BY)
    found = funnel(lines)
    assert found.balanced and parts(found, "entities") == {"resolved": 1, "rejected": 1}
    assert parts(found, "facts") == {"fact": 1}


def test_pushed_statements_are_counted_with_those_that_were_refused(lines, database):
    said = ({"subject": "Ann", "predicate": "leads", "object": "Orion"}, {"subject": "Ann", "predicate": "nowhere"})
    push_statements(database, lines.kb_id, Push("crm", said, mode="each"), **BY)
    lines.run()
    found = funnel(lines)
    assert found.balanced and parts(found, "seen") == {"claimed": 1, "push_refused": 1}
    assert parts(found, "facts") == {"fact": 1}


def test_sentences_are_counted_once_and_those_with_a_claim(lines, database):
    lines.tell("a", "Ann | leads | Orion", "Nobody reads this.", "Bo | zorgles | Vega")
    assert funnel(lines).coverage["measured"] == 0
    assert run_funnel(database, lines.kb_id).done == 1 and run_funnel(database, lines.kb_id).done == 0
    assert funnel(lines).coverage == {"readings": 1, "measured": 1, "sentences": 3, "covered": 2}


@pytest.mark.parametrize(
    ("text", "quotes", "expected"),
    [
        ("", [], (0, 0)),
        ("# Only a heading\n", [], (0, 0)),
        ("One here. Two there.\n\nThree.", [(0, 9)], (3, 1)),
        ("One here. Two there.", [(0, 20)], (2, 2)),
        ("One here. Two there.", [(9, 10)], (2, 0)),
        ("张三负责项目。李四没有。", [(0, 7)], (2, 1)),
        ("- one\n- two\n- three", [(2, 5), (14, 19)], (3, 2)),
    ],
)
def test_a_sentence_is_covered_where_a_quote_touches_it(text, quotes, expected):
    assert count_sentences(text, quotes) == expected


def test_the_documents_of_the_demo_are_accounted_for(database, settings):
    from substrate.extraction.builtin import BuiltinExtractor

    demo = new_lines(database, settings, "demo", (DEMO / "ontology.yaml").read_text("utf-8"))
    files = sorted(p for p in (DEMO / "documents").rglob("*") if p.is_file())
    items = [PushItem(str(p.relative_to(DEMO)), p.name, p.read_bytes()) for p in files]
    push(database, demo.kb_id, items, **BY)
    with Services(settings, embedder=demo.embedder, extractor=BuiltinExtractor(settings)) as services:
        run_pipeline(database, demo.kb_id, services, ("parse", "claims", "bindings", "entities", "facts"))
    run_funnel(database, demo.kb_id)
    found = funnel(demo)
    assert found.balanced, found.shown()
    assert found.levels[0].came_in == demo.one(
        "select count(*) from chunks where kb_id = %s and invalidated_seq is null"
    )
    assert found.levels[-1].went_on > 20
    assert 0 < found.coverage["covered"] <= found.coverage["sentences"]
    assert found.coverage["measured"] == found.coverage["readings"]


def _reader():
    from tests.substrate.ontology.lines import LineReader

    return LineReader()
