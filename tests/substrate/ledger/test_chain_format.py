"""A chain begun before payloads were salted goes on and verifies; words can be erased where a purge says so."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.rows import dict_row

from substrate.db import Database
from substrate.errors import Conflict
from substrate.ledger import open_door
from substrate.ledger._rows import SHAPES
from substrate.ledger.canonical import canonical_bytes, genesis_hash, unsalted_chain_hash
from substrate.ledger.chain import HEADER, header_bytes
from substrate.ledger.exports import export_log, verify_export
from substrate.ledger.verify import VerifyReport, verify
from substrate.migrate import load, migrate, migrations_dir
from tests.ledger_history import two_histories

FIRST = datetime(2026, 1, 2, 3, 4, 5, 600000, tzinfo=UTC)


@pytest.fixture(scope="module")
def written(postgres) -> Iterator[tuple[str, UUID]]:
    with two_histories(postgres) as (dsn, kb, _):
        yield dsn, kb


@pytest.fixture
def owner(written) -> Iterator[psycopg.Connection]:
    """A superuser's connection on which the triggers hold; nothing it does is kept."""
    with psycopg.connect(written[0], row_factory=dict_row) as connection:
        yield connection
        connection.rollback()


def outcome(report: VerifyReport) -> tuple[int, int | None, int]:
    return report.exit_code, report.first_bad_seq, report.purged_events


def exported(connection, kb) -> VerifyReport:
    out = io.BytesIO()
    export_log(connection, kb, out)
    return verify_export(out.getvalue().splitlines(keepends=True))


# --- format 1 ---


def old_row(table: str, **values: object) -> tuple[str, bytes, dict]:
    row = dict.fromkeys(SHAPES[table].columns) | values
    return f"insert {table}", canonical_bytes(row), row


def put(connection, table: str, kb: UUID, seq: int, at: datetime, row: dict) -> None:
    whole = {"kb_id": kb, "recorded_seq": seq, "recorded_at": at} | {k: v for k, v in row.items() if v is not None}
    names, places = ", ".join(whole), ", ".join(f"%({name})s" for name in whole)
    connection.execute(f"insert into {table} ({names}) values ({places})", whole)


def written_as_before(connection, kb: UUID) -> None:
    """Two transactions with events hashed over their payload, as the door wrote them before migration 0012."""
    entities = [uuid4(), uuid4()]
    rows = [
        [
            old_row("entities", id=entities[0], label="Ada 🙂", label_norm="ada 🙂"),
            old_row("entities", id=entities[1], label="Orion", label_norm="orion"),
            old_row("entity_types", entity_id=entities[0], type_key="person", source="extracted"),
        ],
        [old_row("refusals", id=uuid4(), subject_id=entities[0], phrase="leads", object_id=entities[1], why="")],
    ]
    previous = genesis_hash(kb)
    connection.execute("insert into kb (id, slug, name) values (%s, 'old', 'Old')", (kb,))
    connection.execute("insert into kb_head (kb_id, hash) values (%s, %s)", (kb, previous))
    for seq, events in enumerate(rows, 1):
        at = FIRST + timedelta(hours=seq)
        stated = {"actor": "person:test", "via": "rest", "action": "old", "why": "", "idempotency_key": None}
        log = [(HEADER, header_bytes(stated, at, len(events))), *((kind, payload) for kind, payload, _ in events)]
        connection.execute(
            """insert into ledger_transaction (kb_id, seq, recorded_at, actor, via, action, why, events, head_hash)
               values (%s, %s, %s, %s, %s, %s, %s, %s, sha256('later'))""",
            (kb, seq, at, *list(stated.values())[:4], len(log)),
        )
        for ordinal, (kind, payload) in enumerate(log):
            current = unsalted_chain_hash(previous, seq, ordinal, kind, payload)
            connection.execute(
                "insert into ledger_log (kb_id, seq, ordinal, kind, payload, prev_hash, hash) "
                "values (%s, %s, %s, %s, %s, %s, %s)",
                (kb, seq, ordinal, kind, payload, previous, current),
            )
            previous = current
        connection.execute("set session_replication_role = replica")
        connection.execute(
            "update ledger_transaction set head_hash = %s where kb_id = %s and seq = %s", (previous, kb, seq)
        )
        connection.execute("reset session_replication_role")
        for kind, _, row in events:
            put(connection, kind.removeprefix("insert "), kb, seq, at, row)
        connection.execute("update kb_head set seq = %s, at = %s, hash = %s where kb_id = %s", (seq, at, previous, kb))


def test_a_chain_begun_in_the_first_format_goes_on_in_the_second(postgres, tmp_path):
    for migration in load()[:7]:
        file = f"{migration.number:04}_{migration.name}.sql"
        shutil.copy(migrations_dir() / file, tmp_path / file)
    name, kb = f"old_{uuid4().hex[:12]}", uuid4()
    with psycopg.connect(postgres, autocommit=True) as server:
        server.execute(f'create database "{name}"')
    dsn = psycopg.conninfo.make_conninfo(postgres, dbname=name)
    try:
        migrate(dsn, tmp_path)
        with psycopg.connect(dsn) as connection:
            written_as_before(connection, kb)
        migrate(dsn)
        with psycopg.connect(dsn, row_factory=dict_row) as connection:
            report = verify(connection, kb)
            assert (report.exit_code, report.events, report.rows) == (0, 6, 4), report
        with Database(dsn) as database, database.write(kb) as connection:
            with open_door(connection, kb, actor="person:test", via="rest", action="new") as door:
                door.insert("entities", [{"id": uuid4(), "label": "Bo", "label_norm": "bo"}])
        with psycopg.connect(dsn, row_factory=dict_row) as connection:
            assert outcome(verify(connection, kb)) == (0, None, 0)
            assert outcome(verify(connection, kb, since=2)) == (0, None, 0), "from the seam on"
            salted = connection.execute(
                "select array_agg(distinct seq order by seq) as s from ledger_log where salt is not null"
            )
            assert salted.fetchone()["s"] == [3]
            assert outcome(exported(connection, kb)) == (0, None, 0)
            refuse_to_mix(connection, kb)
    finally:
        with psycopg.connect(postgres, autocommit=True) as server:
            server.execute(f'drop database "{name}" with (force)')


def refuse_to_mix(connection, kb: UUID) -> None:
    """Old events are still what they were, cannot be erased, and cannot pass for new ones."""
    connection.execute("set session_replication_role = replica")
    damages = {
        "payload = payload || ' '": 1,
        "salt = sha256('x')::text::bytea": 1,
        "payload = null, payload_hash = sha256(payload)": 1,
    }
    damages["salt = substr(sha256('x'), 1, 16)"] = damages.pop("salt = sha256('x')::text::bytea")
    for change, code in damages.items():
        with connection.transaction(force_rollback=True):
            connection.execute(f"update ledger_log set {change} where seq = 1 and ordinal = 1")
            assert outcome(verify(connection, kb))[:2] == outcome(exported(connection, kb))[:2] == (code, 1), change
    with connection.transaction(force_rollback=True):
        connection.execute("update entities set label = 'Eve' where recorded_seq = 1")
        assert outcome(verify(connection, kb))[:2] == (1, 1)


# --- erasure ---


def events_of(connection, kb: UUID, table: str) -> list[dict]:
    return connection.execute(
        "select seq, ordinal, payload from ledger_log where kb_id = %s and kind = %s order by seq, ordinal",
        (kb, f"insert {table}"),
    ).fetchall()


def blanked(connection, kb: UUID, table: str, seq: int, **blanks: object) -> list[dict]:
    """The rows a transaction wrote, blanked as a purge does it: past the triggers that keep everybody else from it."""
    connection.execute("set session_replication_role = replica")
    changes = ", ".join(f"{name} = %({name})s" for name in blanks)
    connection.execute(
        f"update {table} set {changes} where kb_id = %(kb)s and recorded_seq = %(seq)s",
        {**blanks, "kb": kb, "seq": seq},
    )
    connection.execute("reset session_replication_role")
    columns = ", ".join(SHAPES[table].columns)
    return connection.execute(
        f"select {columns} from {table} where kb_id = %s and recorded_seq = %s", (kb, seq)
    ).fetchall()


def purge(connection, kb: UUID, table: str, seq: int, **blanks: object) -> list[tuple[int, int]]:
    """Erase every event of one transaction that wrote to `table`, and say so."""
    places = [(e["seq"], e["ordinal"]) for e in events_of(connection, kb, table) if e["seq"] == seq]
    with open_door(connection, kb, actor="person:test", via="rest", action="purged") as door:
        door.purge(places, {table: blanked(connection, kb, table, seq, **blanks)}, document_id=uuid4())
    return places


def test_what_a_purge_names_is_gone_and_the_chain_holds(owner, written):
    kb = written[1]
    before = [e for e in events_of(owner, kb, "chunks") if e["payload"] is not None]
    seq = before[0]["seq"]
    report = verify(owner, kb)
    assert report.ok
    was = report.purged_events
    places = purge(owner, kb, "chunks", seq, text="", cells=None)
    assert places
    gone = owner.execute(
        "select payload, salt from ledger_log where kb_id = %s and seq = %s and kind = 'insert chunks'", (kb, seq)
    ).fetchall()
    assert [tuple(g.values()) for g in gone] == [(None, None)] * len(places)
    assert outcome(verify(owner, kb)) == outcome(exported(owner, kb)) == (0, None, was + len(places))
    head = owner.execute("select seq from kb_head where kb_id = %s", (kb,)).fetchone()["seq"]
    assert outcome(verify(owner, kb, since=head - 1)) == (0, None, 0), "what is trusted is not asked about"
    later = next(e["seq"] for e in before if e["seq"] > seq)
    more = purge(owner, kb, "chunks", later, text="", cells=None)
    assert outcome(verify(owner, kb)) == (0, None, was + len(places) + len(more))
    assert outcome(verify(owner, kb, since=seq)) == (0, None, was + len(more))


DAMAGES = {
    "the purge is taken out": (
        "update ledger_log set kind = 'note' where kind = 'purge' and kb_id = %(kb)s and seq = %(head)s",
        1,
        "head",
    ),
    "a row is brought back": ("update chunks set text = 'again' where recorded_seq = %(seq)s", 1, "seq"),
    "a row is taken out": ("delete from chunks where recorded_seq = %(seq)s", 3, "seq"),
    "one event more is erased": (
        """update ledger_log set payload = null, salt = null, payload_hash = sha256(salt || payload)
           where kb_id = %(kb)s and kind = 'insert chunks' and seq = (select min(seq) from ledger_log
               where kb_id = %(kb)s and kind = 'insert chunks' and payload is not null)""",
        3,
        "later",
    ),
    "a header is erased": (
        """update ledger_log set payload = null, salt = null, payload_hash = sha256(salt || payload)
           where kb_id = %(kb)s and seq = %(seq)s and ordinal = 0""",
        1,
        "seq",
    ),
    "a closing is erased": (
        """update ledger_log set payload = null, salt = null, payload_hash = sha256(salt || payload)
           where kb_id = %(kb)s and seq = %(closing)s and kind like 'close %%'""",
        3,
        "closing",
    ),
    "the hash that was kept is changed": (
        "update ledger_log set payload_hash = sha256('x') where kb_id = %(kb)s and seq = %(seq)s and payload is null",
        1,
        "seq",
    ),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_nothing_else_passes_for_purged(owner, written, name):
    kb = written[1]
    events = [e for e in events_of(owner, kb, "chunks") if e["payload"] is not None]
    seq = events[0]["seq"]
    purge(owner, kb, "chunks", seq, text="", cells=None)
    places = {
        "kb": kb,
        "seq": seq,
        "head": owner.execute("select seq from kb_head where kb_id = %s", (kb,)).fetchone()["seq"],
        "later": next(e["seq"] for e in events if e["seq"] > seq),
        "closing": owner.execute(
            "select min(seq) as s from ledger_log where kb_id = %s and kind like 'close %%'", (kb,)
        ).fetchone()["s"],
    }
    statement, code, where = DAMAGES[name]
    owner.execute("set session_replication_role = replica")
    assert owner.execute(statement, places).rowcount > 0
    assert outcome(verify(owner, kb))[:2] == (code, places[where])


def test_a_row_in_place_of_an_erased_one_is_one_that_its_purge_left_and_what_it_left_is_there(owner, written):
    kb = written[1]
    seq = next(e["seq"] for e in events_of(owner, kb, "chunks") if e["payload"] is not None)
    places = [(e["seq"], e["ordinal"]) for e in events_of(owner, kb, "chunks") if e["seq"] == seq]
    rows = blanked(owner, kb, "chunks", seq, text="", cells=None)
    for left, code in ((rows, 0), ([], 1), ([*rows, {**rows[0], "id": uuid4()}], 1)):
        with owner.transaction(force_rollback=True):
            with open_door(owner, kb, actor="person:test", via="rest", action="purged") as door:
                door.purge(places, {"chunks": left})
            assert outcome(verify(owner, kb))[:2] == (code, seq if code else None)


def test_an_event_that_a_purge_names_may_not_come_back(owner, written):
    kb = written[1]
    events = [e for e in events_of(owner, kb, "chunks") if e["payload"] is not None]
    seq = events[0]["seq"]
    kept = owner.execute("select * from ledger_log where kb_id = %s and seq = %s", (kb, seq)).fetchall()
    purge(owner, kb, "chunks", seq, text="", cells=None)
    owner.execute("set session_replication_role = replica")
    for row in kept:
        owner.execute(
            "update ledger_log set payload = %(payload)s, salt = %(salt)s, payload_hash = null "
            "where kb_id = %(kb_id)s and seq = %(seq)s and ordinal = %(ordinal)s",
            row,
        )
    assert outcome(verify(owner, kb))[0] == 1
    assert outcome(exported(owner, kb))[:2] == (1, seq)


def test_only_what_the_purge_just_chained_names_can_be_erased(owner, written):
    kb = written[1]
    erase = "update ledger_log set payload = null, salt = null, payload_hash = sha256(salt || payload) "
    one = owner.execute(
        "select seq, ordinal from ledger_log "
        "where kb_id = %s and kind = 'insert chunks' and payload is not null limit 1",
        (kb,),
    ).fetchone()
    where = f"where seq = {one['seq']} and ordinal = {one['ordinal']}"
    for change in (erase + where, f"update ledger_log set payload = ''::bytea {where}", "delete from ledger_log"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege), owner.transaction():
            owner.execute(change)
    purge(owner, kb, "chunks", one["seq"], text="", cells=None)
    with pytest.raises(psycopg.errors.InsufficientPrivilege), owner.transaction():
        owner.execute(erase + "where kind = 'insert chunks' and payload is not null")
    with pytest.raises(Conflict, match="cannot be erased"), owner.transaction():
        purge(owner, kb, "chunks", one["seq"], text="", cells=None)
