"""Statements pushed ready made: read strictly, and judged by the ledger's rules as what a document says is."""

from __future__ import annotations

import pytest

from substrate.errors import Conflict, InvalidInput, NotFound
from substrate.statements.intake import MOST, Push, push_statements, withdraw
from tests.substrate.ontology.lines import BY, new_lines

ONTOLOGY = """
classes:
  - {key: person, label: Person}
  - {key: project, label: Project}
relations:
  - {key: leads, label: leads, domain: person, range: project, inverse_functional: true}
  - {key: acquired, label: acquired, temporal: event}
  - {key: salary, label: annual salary, kind: attribute, datatype: money, unit: EUR, functional: true}
  - {key: motto, label: motto, kind: attribute}
"""
LEADS = {"subject": "Ann", "predicate": "leads", "object": "Orion", "valid_from": "2024-01", "quote": "Ann has Orion."}


@pytest.fixture
def lines(database, settings):
    return new_lines(database, settings, "pushed", ONTOLOGY)


def push(lines, *statements, name="crm:1", run=True, **more):
    done = push_statements(lines.database, lines.kb_id, Push(name, statements, **more), **BY)
    if run:
        lines.run()
    return done


def facts(lines):
    return [f[:3] for f in lines.held()]


def test_what_is_pushed_becomes_facts_with_its_words_and_who_sent_it(lines):
    assert lines.held() == []
    done = push(lines, LEADS, {"subject": "Ann", "predicate": "salary", "value": 32000, "ref": "row 7"})
    assert (done.action, sorted(done.chunks)) == ("created", [0, 1])
    assert lines.held() == [("Ann", "leads", "Orion", "2024-01-01"), ("Ann", "salary", "=32000", None)]
    row = (
        "select {} from assertions a join chunks c on c.kb_id = a.kb_id and c.id = a.chunk_id where a.kb_id = %s and {}"
    )
    assert lines.one(row.format("a.quote", "predicate_key = 'leads'")) == "Ann has Orion."
    assert lines.one(row.format("c.text", "predicate_key = 'salary'")) == "Ann annual salary 32000."
    assert lines.one(row.format("c.anchor ->> 'ref'", "predicate_key = 'salary'")) == "row 7"
    assert lines.one(row.format("a.value_norm", "predicate_key = 'salary'")) == "32000 EUR"
    assert lines.one("select pushed_by from statement_pushes where kb_id = %s") == BY["actor"]
    assert lines.one("select author from document_versions where kb_id = %s") == BY["actor"]
    assert lines.names() == ["Ann", "Orion"]
    assert lines.sound()


def test_no_extractor_reads_what_was_pushed(lines):
    push(lines, {**LEADS, "quote": "Bo | leads | Vega"})
    assert facts(lines) == [("Ann", "leads", "Orion")]
    assert lines.one("select count(*) from extraction_usage where kb_id = %s") == 1
    assert lines.one("select count(*) from work where kb_id = %s and stage = 'claims'") == 0


def test_uniqueness_binding_and_refusals_are_judged_as_ever(lines, database):
    from substrate.ledger import open_door
    from substrate.ledger.retractions import reject_fact

    lines.tell("doc", "Bo | leads | Orion | 2025-01-01")
    push(lines, LEADS, {"subject": "Cy", "phrase": "zorgles", "object": "Di"})
    ended = (
        "select valid_to::date::text from facts where kb_id = %s and invalidated_seq is null and valid_to is not null"
    )
    assert lines.one(ended) == "2025-01-01"
    assert ("Cy", "~zorgles", "Di") in facts(lines)
    fact = lines.one("select id from facts where kb_id = %s and phrase = 'zorgles' and invalidated_seq is null")
    with database.write(lines.kb_id) as connection:
        with open_door(connection, lines.kb_id, **BY, action="rejected") as door:
            reject_fact(door, fact, "no")
    push(lines, {"subject": "Cy", "phrase": "zorgles", "object": "Di"}, name="crm:2")
    assert ("Cy", "~zorgles", "Di") not in facts(lines)


def test_the_same_name_again_takes_the_place_of_what_was_pushed(lines):
    push(lines, LEADS, {"subject": "Ann", "predicate": "motto", "value": "Onward"})
    kept = lines.one("select id from facts where kb_id = %s and predicate_key = 'leads' and invalidated_seq is null")
    before, seq = lines.held(), lines.seq()
    assert push(lines, LEADS, {"subject": "Ann", "predicate": "motto", "value": "Onward"}).action == "unchanged"
    assert lines.seq() == seq
    done = push(lines, LEADS, {"subject": "Ann", "predicate": "motto", "value": "Upward"})
    assert done.action == "updated" and facts(lines) == [("Ann", "leads", "Orion"), ("Ann", "motto", "=Upward")]
    held = lines.one("select id from facts where kb_id = %s and predicate_key = 'leads' and invalidated_seq is null")
    assert held == kept, "what is repeated keeps its fact"
    assert lines.held_at(seq) == before
    gone = withdraw(lines.database, lines.kb_id, "crm:1", **BY)
    assert len(gone.retracted) >= 2 and lines.held() == []
    assert push(lines, LEADS).action == "revived" and facts(lines) == [("Ann", "leads", "Orion")]
    assert lines.sound()


def test_what_was_deleted_comes_back_by_undoing_the_deletion(lines):
    from substrate.documents.restore import restore

    push(lines, LEADS)
    before = lines.held()
    gone = withdraw(lines.database, lines.kb_id, "crm:1", **BY)
    assert lines.held() == []
    restore(lines.database, lines.kb_id, gone.deletion_id, **BY)
    lines.run()
    assert lines.held() == before


def test_a_key_that_is_used_again_writes_nothing_and_answers_the_same(lines):
    first = push(lines, LEADS, idempotency_key="k1")
    seq = lines.seq()
    again = push(lines, LEADS, idempotency_key="k1")
    assert again.repeated and not first.repeated and lines.seq() == seq
    assert (again.document_id, again.version_id, again.seq, again.chunks) == (
        first.document_id,
        first.version_id,
        first.seq,
        first.chunks,
    )
    with pytest.raises(Conflict, match="something else"):
        push(lines, {**LEADS, "object": "Vega"}, idempotency_key="k1")
    assert lines.seq() == seq


def test_one_mistake_refuses_all_or_itself_alone(lines):
    wrong = ({**LEADS, "predicate": "nowhere"}, {**LEADS, "valid_from": "soon"})
    with pytest.raises(InvalidInput, match="2 of 3 items") as refused:
        push(lines, LEADS, *wrong)
    fields = [e["field"] for e in refused.value.facts["errors"]]
    assert fields == ["statements[1].predicate", "statements[2].valid_from"] and lines.held() == []
    done = push(lines, LEADS, *wrong, mode="each")
    assert sorted(done.chunks) == [0] and sorted(done.problems) == [1, 2]
    assert facts(lines) == [("Ann", "leads", "Orion")]
    assert lines.one("select refused from statement_pushes where kb_id = %s") == 2
    with pytest.raises(InvalidInput, match="2 of 2 items"):
        push(lines, *wrong, mode="each", name="crm:2")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"subjekt": "x"}, "subjekt"),
        ({"subject": " "}, "subject"),
        ({"subject": None}, "subject"),
        ({"subject": "x\0"}, "subject"),
        ({"phrase": "leads"}, "predicate"),
        ({"predicate": None}, "predicate"),
        ({"object": None}, "object"),
        ({"value": 3}, "object"),
        ({"object": None, "value": "Orion"}, "value"),
        ({"predicate": "salary"}, "object"),
        ({"predicate": "salary", "object": None, "value": "much"}, "value"),
        ({"predicate": "salary", "object": None, "value": {"raw": "9", "unit": "EUR"}}, "value"),
        ({"predicate": "salary", "object": None, "value": []}, "value"),
        ({"predicate": "salary", "object": None, "value": {"raw": "9", "number": "x"}}, "value"),
        ({"valid_from": "2024-02", "valid_to": "2023"}, "valid_to"),
        ({"valid_from": "01/02/2024"}, "valid_from"),
        ({"at": "2024"}, "at"),
        ({"qualifiers": {"as": 3}}, "qualifiers.as"),
        ({"quote": "x" * 2001}, "quote"),
        ({"denies": "maybe"}, "denies"),
    ],
)
def test_a_mistake_is_named(lines, change, field):
    with pytest.raises(InvalidInput) as refused:
        push(lines, {**LEADS, **change}, run=False)
    assert refused.value.facts["errors"][0]["field"] == f"statements[0].{field}"
    assert lines.one("select count(*) from documents where kb_id = %s") == 0


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"name": " "}, "external_id"),
        ({"doc_time": "soon"}, "doc_time"),
        ({"mode": "some"}, "mode"),
        ({"idempotency_key": " "}, "idempotency_key"),
    ],
)
def test_a_mistake_of_the_push_is_named(lines, more, field):
    with pytest.raises(InvalidInput) as refused:
        push(lines, LEADS, run=False, **more)
    assert refused.value.facts["field"] == field


def test_a_push_has_a_size_and_says_something(lines):
    with pytest.raises(InvalidInput, match=f"at most {MOST}"):
        push(lines, *[{**LEADS, "object": f"P{i}"} for i in range(MOST + 1)], run=False)
    with pytest.raises(InvalidInput, match="states something"):
        push(lines, run=False)
    with pytest.raises(NotFound):
        withdraw(lines.database, lines.kb_id, "nobody", **BY)


def test_time_is_what_was_said_and_what_the_document_attests(lines):
    push(
        lines,
        {"subject": "Acme", "predicate": "acquired", "object": "Beta", "at": "2023-03"},
        {"subject": "Ann", "predicate": "motto", "value": "Onward"},
        {"subject": "Bo", "predicate": "motto", "value": "Up", "valid_from": "2020", "valid_to": "2021"},
        {"subject": "Cy", "predicate": "motto", "value": "Down", "valid_to": "unknown"},
        doc_time="2024-05-01",
    )
    span = "select holds_from::date || '/' || coalesce(holds_to::date::text, '') from facts where kb_id = %s and {}"
    assert lines.one(span.format("predicate_key = 'acquired'")) == "2023-03-01/2023-04-01"
    assert lines.one(span.format("value_raw = 'Onward'")) == "2024-05-01/"
    assert lines.one(span.format("value_raw = 'Up'")) == "2020-01-01/2022-01-01"
    ended = "select valid_to_precision from facts where kb_id = %s and value_raw = 'Down'"
    assert lines.one(ended) == "unknown"


def test_other_names_are_names_of_the_thing(lines):
    push(lines, LEADS, names=[{"entity": "Orion", "other_name": "Project O"}])
    lines.tell("doc", "Ann | leads | Project O | 2024-01-01")
    assert facts(lines) == [("Ann", "leads", "Orion")]
    assert "Project O" in lines.names()
