"""One row, one text: however a row is encoded it is the canonical one, ids come in order, and references are kept."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from uuid import uuid4

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.rows import dict_row

from substrate.ledger import open_door
from substrate.ledger._arrays import array_of_bytes, array_of_ids, array_of_texts, takes_arrays
from substrate.ledger.canonical import canonical_bytes, row_bytes
from substrate.ledger.ids import new_id

ZONES = st.sampled_from([None, UTC, timezone(timedelta(hours=2)), timezone(-timedelta(hours=4, minutes=56, seconds=2))])
FIRST, LAST = datetime.fromisoformat("0002-01-01"), datetime.fromisoformat("9998-01-01")
MOMENTS = st.datetimes(FIRST, LAST, timezones=ZONES)
PLAIN = st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"]))
INSIDE = st.recursive(
    PLAIN | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
)
VALUES = PLAIN | MOMENTS | st.uuids() | st.decimals(allow_nan=False, allow_infinity=False) | INSIDE | st.binary()


@given(st.dictionaries(st.text("abc_xyz", min_size=1), VALUES, min_size=1))
def test_a_row_is_encoded_as_its_canonical_bytes(row):
    names = sorted(row)
    values = [row[name] for name in names]
    assert row_bytes(names, values, sparse=False) == canonical_bytes(row)
    told = {name: value for name, value in row.items() if value is not None}
    assert row_bytes(names, values, sparse=True) == canonical_bytes(told)


def test_ids_come_in_the_order_they_were_made_and_never_twice():
    made = [new_id() for _ in range(20_000)]
    assert len(set(made)) == len(made)
    assert {(i.version, i.variant) for i in made} == {(7, "specified in RFC 4122")}
    stamps = [i.int >> 80 for i in made]
    assert stamps == sorted(stamps)


@pytest.mark.parametrize(
    ("make", "values", "kind"),
    [
        (array_of_ids, [uuid4() for _ in range(3)], "uuid[]"),
        (array_of_texts, ["", "é🙂", 'quote " \\ {,}', "null"], "text[]"),
        (array_of_bytes, [b"", b"\x00\xff", b"x" * 5000], "bytea[]"),
        (array_of_bytes, [b"\x00" * 32, b"\xff" * 32, b"x" * 32], "bytea[]"),
    ],
)
def test_arrays_arrive_as_they_are(dsn, make, values, kind):
    with psycopg.connect(dsn) as connection:
        takes_arrays(connection)
        for sent in (values, []):
            assert connection.execute(f"select %s::{kind}", (make(sent),)).fetchone()[0] == sent


@pytest.fixture
def owner(dsn, kb):
    with psycopg.connect(dsn, row_factory=dict_row) as connection:
        yield connection
        connection.rollback()


def assertion(subject, **more) -> dict:
    from substrate.ledger._rows import SHAPES

    stated = {"phrase": "leads", "value_raw": "x", "value_norm": "x", "value_type": "text", "qualifiers": []}
    flags = {"at_event": False, "denies": False, "corrects": False, "grade": "A", "confidence": 1.0, "origin": "import"}
    words = {"quote": "", "wording": "", "source_key": f"test:{uuid4()}"}
    return (
        dict.fromkeys(SHAPES["assertions"].columns)
        | stated
        | flags
        | words
        | {
            "id": new_id(),
            "subject_id": subject,
            **more,
        }
    )


def test_a_row_names_only_what_is_in_its_base(owner, kb):
    other = uuid4()
    owner.execute("insert into kb (id, slug, name) values (%s, 'elsewhere', 'Elsewhere')", (other,))
    owner.execute("insert into kb_head (kb_id, hash) values (%s, sha256('x'))", (other,))
    ids = {}
    for base in (kb, other):
        with open_door(owner, base, actor="person:test", via="rest", action="named") as door:
            ids[base] = new_id()
            door.insert("entities", [{"id": ids[base], "label": "Ada", "label_norm": "ada"}])

    def said(*rows: dict) -> None:
        with owner.transaction(), open_door(owner, kb, actor="person:test", via="rest", action="said") as door:
            door.insert("assertions", rows)
            door.insert("evidence", [{"lineage_id": new_id(), "assertion_id": rows[0]["id"]}])

    said(assertion(ids[kb]), assertion(ids[kb]))
    for column, value in (
        ("subject_id", ids[other]),
        ("subject_id", uuid4()),
        ("chunk_id", uuid4()),
        ("document_id", uuid4()),
        ("claim_id", uuid4()),
    ):
        with pytest.raises(psycopg.errors.ForeignKeyViolation, match=column):
            said(assertion(ids[kb]), assertion(ids[kb], **{column: value}))
    with pytest.raises(psycopg.errors.ForeignKeyViolation, match="assertion_id"), owner.transaction():
        with open_door(owner, kb, actor="person:test", via="rest", action="said") as door:
            door.insert("evidence", [{"lineage_id": new_id(), "assertion_id": uuid4()}])
    with pytest.raises(psycopg.errors.ForeignKeyViolation, match="names no transaction"), owner.transaction():
        owner.execute(
            "insert into ledger_log (kb_id, seq, ordinal, kind, payload, salt, prev_hash, hash) "
            "values (%s, 99, 0, 'note', '{}', %s, sha256('p'), sha256('h'))",
            (kb, bytes(16)),
        )


@pytest.fixture
def session(database, kb):
    """A transaction of the application's role, in which it may make temporary tables; never committed."""
    with suppress(psycopg.Error), database.write(kb) as conn:
        yield conn
        raise psycopg.Error


def test_a_made_up_table_of_entities_vouches_for_no_reference(session, kb):
    """Names without a schema are looked for among a session's temporary tables first; a guard's must not be."""
    stranger = new_id()
    session.execute("create temporary table entities as select %s::uuid as kb_id, %s::uuid as id", (kb, stranger))
    with open_door(session, kb, actor="person:test", via="rest", action="said") as door:
        with pytest.raises(psycopg.errors.ForeignKeyViolation, match="subject_id"):
            door.insert("assertions", [assertion(stranger)])
        door._events.clear()


def test_a_made_up_table_of_transactions_lets_no_event_in(session, kb):
    session.execute("create temporary table ledger_transaction as select %s::uuid as kb_id, 99::bigint as seq", (kb,))
    with pytest.raises(psycopg.errors.ForeignKeyViolation, match="names no transaction"):
        session.execute(
            "insert into ledger_log (kb_id, seq, ordinal, kind, payload, salt, prev_hash, hash) "
            "values (%s, 99, 0, 'note', '{}', %s, sha256('p'), sha256('h'))",
            (kb, bytes(16)),
        )


def test_a_made_up_log_lets_no_event_be_erased(session, kb):
    with open_door(session, kb, actor="person:test", via="rest", action="named") as door:
        door.insert("entities", [{"id": new_id(), "label": "Ada", "label_norm": "ada"}])
    session.execute("create temporary table kb_head as select %s::uuid as kb_id, 99::bigint as seq", (kb,))
    purge = canonical_bytes({"events": [[door.seq, 1]]})
    session.execute(
        "create temporary table ledger_log as "
        "select kb_id, seq, 'purge' as kind, %s::bytea as payload from pg_temp.kb_head",
        (purge,),
    )
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="no purge names"):
        session.execute(
            "update public.ledger_log set payload_hash = sha256(salt || payload), payload = null, salt = null"
            " where kb_id = %s and seq = %s and ordinal = 1",
            (kb, door.seq),
        )


def test_what_is_held_under_its_key_is_not_written_twice(owner, kb):
    with open_door(owner, kb, actor="person:test", via="rest", action="named") as door:
        subject = new_id()
        door.insert("entities", [{"id": subject, "label": "Ada", "label_norm": "ada"}])
        first = assertion(subject, source_key="test:1")
        assert door.insert_not_held("assertions", [first], "source_key") == [first]
        again, other = assertion(subject, source_key="test:1"), assertion(subject, source_key="test:2")
        assert door.insert_not_held("assertions", [again, other], "source_key") == [other]
    logged = owner.execute(
        "select count(*) as n from ledger_log where kb_id = %s and kind = 'insert assertions'", (kb,)
    ).fetchone()
    assert logged["n"] == 2
