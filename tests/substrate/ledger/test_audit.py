"""Whatever a superuser with triggers off does to a ledger is found, at the right place, and nothing else is.

The damages are made inside a transaction that is rolled back. What is sound in itself (a suffix hashed anew, a tail
cut with its head, an older copy) is found against a checkpoint alone, and the tests say so.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import psycopg
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row

from substrate.errors import InvalidInput
from substrate.ledger import _rows
from substrate.ledger.canonical import canonical_bytes, chain_hash, genesis_hash, payload_hash, unsalted_chain_hash
from substrate.ledger.chain import HEADER
from substrate.ledger.checkpoints import Checkpoint, check_checkpoint, make_checkpoint
from substrate.ledger.verify import VerifyReport, verify
from substrate.postgres import bin_dir
from tests.ledger_history import History, two_histories


@dataclass
class Owner:
    """A superuser's session in which no trigger and no foreign key holds."""

    connection: psycopg.Connection
    kb: UUID
    other: UUID
    checkpoint: Checkpoint

    def run(self, statement: str, **values: object) -> int:
        return self.connection.execute(statement, {"kb": self.kb, "other": self.other, **values}).rowcount

    def one(self, statement: str, **values: object):
        row = self.connection.execute(statement, {"kb": self.kb, "other": self.other, **values}).fetchone()
        return next(iter(row.values()))

    def log(self) -> list[dict]:
        return self.connection.execute(
            "select * from ledger_log where kb_id = %s order by seq, ordinal", (self.kb,)
        ).fetchall()

    @property
    def head(self) -> int:
        return self.one("select seq from kb_head where kb_id = %(kb)s")

    @property
    def middle(self) -> int:
        """A transaction of the helpers' person with events on both sides, three events of its own at least."""
        return self.one(
            """select seq from ledger_transaction where kb_id = %(kb)s and events > 2 and actor = 'person:test'
               order by abs(seq - (select seq / 2 from kb_head where kb_id = %(kb)s)) limit 1"""
        )

    def verify(self, checkpoint: Checkpoint | None = None, **more) -> VerifyReport:
        return verify(self.connection, self.kb, against=checkpoint, **more)


@pytest.fixture(scope="module")
def written(postgres) -> Iterator[tuple[str, UUID, UUID]]:
    with two_histories(postgres) as made:
        yield made


@pytest.fixture
def owner(written) -> Iterator[Owner]:
    dsn, kb, other = written
    key = Ed25519PrivateKey.generate()
    with psycopg.connect(dsn, row_factory=dict_row) as connection:
        connection.execute("set session_replication_role = replica")
        checkpoint = check_checkpoint(make_checkpoint(connection, kb, key), key.public_key())
        yield Owner(connection, kb, other, checkpoint)
        connection.rollback()


def found(owner: Owner, **more) -> tuple[int, int | None]:
    report = owner.verify(**more)
    assert report.ok == (report.first_bad_seq is None) == (report.problem == "")
    return report.exit_code, report.first_bad_seq


def test_the_history_is_sound_and_covers_every_table_and_every_closing(owner):
    report = owner.verify()
    assert (report.exit_code, report.first_bad_seq, report.unsealed) == (0, None, None), report
    assert report.events == owner.one("select count(*) from ledger_log where kb_id = %(kb)s")
    tables = {t: owner.one(f"select count(*) from {t} where kb_id = %(kb)s") for t in _rows.SHAPES}
    assert all(tables.values()) and report.rows == sum(tables.values())
    for table in _rows.CLOSABLE:
        assert owner.one(f"select count(*) from {table} where kb_id = %(kb)s and invalidated_seq is not null"), table
    closable = {
        r["table_name"]
        for r in owner.connection.execute(
            "select table_name from information_schema.columns where column_name = 'invalidated_seq'"
        )
    }
    assert closable == set(_rows.CLOSABLE), "a table with closing columns is left out"
    assert owner.verify(owner.checkpoint).unsealed == 0


def edited(column: str, value: str) -> str:
    return f"update ledger_log set {column} = {value} where kb_id = %(kb)s and seq = %(seq)s and ordinal = 1"


LOG = {
    "payload edited": (edited("payload", "payload || ' '::bytea"), 1),
    "kind edited": (edited("kind", "'insert chunks'"), 1),
    "salt edited": (edited("salt", "substr(sha256(salt), 1, 16)"), 1),
    "salt taken away": (edited("salt", "null"), 1),
    "erased, and no purge says so": (
        edited("payload", "null, salt = null, payload_hash = sha256(salt || payload)"),
        3,
    ),
    "erased by another's hash": (edited("payload", "null, salt = null, payload_hash = sha256('x')"), 1),
    "hash edited": (edited("hash", "sha256('x')"), 1),
    "link edited": (edited("prev_hash", "sha256('x')"), 2),
    "event moved along": (edited("ordinal", "99"), 3),
    "event moved to another transaction": (edited("seq", "seq + 1, ordinal = 99"), 3),
    "event deleted": ("delete from ledger_log where kb_id = %(kb)s and seq = %(seq)s and ordinal = 1", 3),
    "header deleted": ("delete from ledger_log where kb_id = %(kb)s and seq = %(seq)s and ordinal = 0", 3),
    "last event deleted": (
        """delete from ledger_log where kb_id = %(kb)s and seq = %(seq)s and ordinal =
           (select max(ordinal) from ledger_log where kb_id = %(kb)s and seq = %(seq)s)""",
        3,
    ),
    "transaction deleted": ("delete from ledger_log where kb_id = %(kb)s and seq = %(seq)s", 3),
    "transaction's row deleted": ("delete from ledger_transaction where kb_id = %(kb)s and seq = %(seq)s", 3),
    "contents of two events swapped": (
        """update ledger_log a set payload = b.payload, salt = b.salt, kind = b.kind from ledger_log b
           where a.kb_id = %(kb)s and b.kb_id = %(kb)s and a.seq = %(seq)s and b.seq = %(seq)s
             and (a.ordinal, b.ordinal) in ((1, 2), (2, 1))""",
        1,
    ),
    "another base's event put in": (
        """update ledger_log a set payload = b.payload, salt = b.salt, kind = b.kind, hash = b.hash,
               prev_hash = b.prev_hash
           from ledger_log b
           where a.kb_id = %(kb)s and b.kb_id = %(other)s and a.seq = %(seq)s and b.seq = %(seq)s
             and a.ordinal = 1 and b.ordinal = 1""",
        2,
    ),
}


@pytest.mark.parametrize("name", LOG)
def test_a_damaged_log_is_found(owner, name):
    statement, code = LOG[name]
    seq = owner.middle
    assert owner.run(statement, seq=seq) > 0
    assert found(owner) == (code, seq)


def test_two_events_that_change_places_do_not_follow_one_another(owner):
    seq = owner.middle
    for before, after in ((1, -1), (2, 1), (-1, 2)):
        if before == 1:
            owner.run("alter table ledger_log drop constraint ledger_log_ordinal_check")
        assert owner.run(
            "update ledger_log set ordinal = %(b)s where kb_id = %(kb)s and seq = %(seq)s and ordinal = %(a)s",
            seq=seq,
            a=before,
            b=after,
        )
    assert found(owner) == (2, seq)


@pytest.mark.parametrize("place", ["first", "last"])
def test_the_first_and_the_last_transaction_cannot_be_taken_out(owner, place):
    seq = 1 if place == "first" else owner.head
    for table in ("ledger_log", "ledger_transaction"):
        assert owner.run(f"delete from {table} where kb_id = %(kb)s and seq = %(seq)s", seq=seq)
    assert found(owner) == (3, seq)


def forge(owner: Owner, seq: int, ordinal: int, kind: str, payload: bytes) -> bytes:
    previous = bytes(owner.log()[-1]["hash"])
    salt = bytes(16)
    current = chain_hash(previous, seq, ordinal, kind, payload_hash(salt, payload))
    owner.run(
        """insert into ledger_log (kb_id, seq, ordinal, kind, payload, salt, prev_hash, hash)
           values (%(kb)s, %(seq)s, %(ordinal)s, %(kind)s, %(payload)s, %(salt)s, %(previous)s, %(current)s)""",
        salt=salt,
        seq=seq,
        ordinal=ordinal,
        kind=kind,
        payload=payload,
        previous=previous,
        current=current,
    )
    return current


def test_an_event_added_to_the_last_transaction_is_one_its_header_does_not_count(owner):
    last = owner.log()[-1]
    head = forge(owner, last["seq"], last["ordinal"] + 1, "note", b"{}")
    assert found(owner) == (1, last["seq"])
    owner.run("update kb_head set hash = %(head)s where kb_id = %(kb)s", head=head)
    assert found(owner) == (1, last["seq"])


def test_a_transaction_after_the_head_is_not_linked_by_it(owner):
    seq = owner.head + 1
    forge(owner, seq, 0, HEADER, canonical_bytes({"at": "2026-01-01T00:00:00.000000Z", "events": 0}))
    assert found(owner) == (2, seq)


def test_an_event_under_a_number_that_never_was(owner):
    forge(owner, 0, 0, HEADER, b"{}")
    assert found(owner) == (1, 0)


@pytest.mark.parametrize(
    ("change", "code", "of_next"),
    [
        ("seq = seq + 1", 3, True),
        ("seq = seq - 1", 2, False),
        ("hash = sha256('x')", 2, False),
        ("at = at + interval '1 microsecond'", 1, False),
    ],
)
def test_the_head_names_the_end(owner, change, code, of_next):
    head = owner.head
    owner.run(f"update kb_head set {change} where kb_id = %(kb)s")
    assert found(owner) == (code, head + of_next)


@pytest.mark.parametrize(
    "change",
    [
        "actor = 'person:Eve'",
        "via = 'mcp'",
        "action = action || '!'",
        "why = why || '!'",
        "idempotency_key = 'forged'",
        "recorded_at = recorded_at + interval '1 microsecond'",
        "events = events + 1",
        "head_hash = sha256('x')",
        "seq = 9999",
    ],
)
def test_every_column_of_a_transaction_is_in_its_header(owner, change):
    seq = owner.middle
    assert owner.run(f"update ledger_transaction set {change} where kb_id = %(kb)s and seq = %(seq)s", seq=seq)
    assert found(owner) == (3 if change.startswith("seq") else 1, seq)


def test_a_transaction_of_which_the_log_knows_nothing(owner):
    owner.run(
        """insert into ledger_transaction
           select kb_id, seq + 1, recorded_at + interval '1 hour', actor, via, action, why, null, events, head_hash
           from ledger_transaction where kb_id = %(kb)s and seq = %(seq)s""",
        seq=owner.head,
    )
    assert found(owner) == (1, owner.head + 1)


CHANGED = {
    "text": "coalesce({c}, '') || '!'",
    "uuid": "gen_random_uuid()",
    "timestamp with time zone": "coalesce({c} + interval '1 microsecond', 'infinity')",
    "bigint": "{c} + 1",
    "integer": "coalesce({c}, 0) + 1",
    "numeric": "coalesce({c}, 0) + 0.0000001",
    "real": "case when {c} > 0.5 then 0.25 else 0.75 end",
    "boolean": "not {c}",
    "jsonb": """coalesce('["x"]'::jsonb || {c}, '{{"x": 1e-7}}')""",
    "bytea": "sha256({c})",
    "ARRAY": "array_append({c}, {c}[1])",
}


def drop_checks(owner: Owner, table: str) -> None:
    for check in owner.connection.execute(
        "select conname from pg_constraint where conrelid = %s::regclass and contype = 'c'", (table,)
    ).fetchall():
        owner.run(f"alter table {table} drop constraint {check['conname']}")


def columns(owner: Owner, table: str) -> list[tuple[str, str]]:
    rows = owner.connection.execute(
        "select column_name as c, data_type as t from information_schema.columns where table_name = %s", (table,)
    )
    return [(r["c"], r["t"]) for r in rows if r["c"] not in ("kb_id", "missing_at")]


@pytest.mark.parametrize("table", _rows.SHAPES)
def test_every_column_of_every_table_is_compared(owner, table):
    closing = {"invalidated_seq", "invalidated_at", "invalidated_kind", "verdict", "decided_by"}
    if table in ("pending_facts", "conflicts"):
        closing.add("why")
    drop_checks(owner, table)
    for column, kind in columns(owner, table):
        held = "" if table not in _rows.CLOSABLE else f"and invalidated_seq is {'not' * (column in closing)} null"
        row = owner.connection.execute(
            f"select ctid, * from {table} where kb_id = %s {held} order by recorded_seq desc limit 1", (owner.kb,)
        ).fetchone()
        with owner.connection.transaction(force_rollback=True):
            change = CHANGED[kind].format(c=column)
            owner.run(f"update {table} set {column} = {change} where ctid = %(ctid)s", ctid=row["ctid"])
            code, seq = found(owner)
            at = row["invalidated_seq"] if column in closing else row["recorded_seq"]
            assert (code, seq) == (1 if column != "recorded_seq" else 3, at), (table, column)
    assert found(owner) == (0, None)


@pytest.mark.parametrize("table", _rows.SHAPES)
def test_a_row_that_is_taken_out_and_one_that_was_never_written(owner, table):
    held = "and invalidated_seq is null" if table in _rows.CLOSABLE else ""
    ctid = owner.one(f"select ctid from {table} where kb_id = %(kb)s {held} order by recorded_seq limit 1")
    seq = owner.one(f"select recorded_seq from {table} where ctid = %(ctid)s", ctid=ctid)
    for index in owner.connection.execute(
        """select c.relname as name, con.conname as bound from pg_index i join pg_class c on c.oid = i.indexrelid
           left join pg_constraint con on con.conindid = c.oid and con.contype in ('p', 'u')
           where i.indrelid = %s::regclass and i.indisunique""",
        (table,),
    ).fetchall():
        what = f"alter table {table} drop constraint {index['bound']} cascade" if index["bound"] else None
        owner.run(what or f"drop index {index['name']}")
    with owner.connection.transaction(force_rollback=True):
        assert owner.run(f"insert into {table} select * from {table} where ctid = %(ctid)s", ctid=ctid) == 1
        assert found(owner) == (1, seq), "a row twice"
    with owner.connection.transaction(force_rollback=True):
        assert owner.run(f"delete from {table} where ctid = %(ctid)s", ctid=ctid) == 1
        assert found(owner) == (3, seq)
    with owner.connection.transaction(force_rollback=True):
        far = owner.head + 7
        owner.run(f"update {table} set recorded_seq = %(far)s where ctid = %(ctid)s", ctid=ctid, far=far)
        assert found(owner) == (3, seq)
    with owner.connection.transaction(force_rollback=True):
        twin = owner.one(f"insert into {table} select * from {table} where ctid = %(ctid)s returning ctid", ctid=ctid)
        for never in (owner.head + 7, 0, -3):
            owner.run(f"update {table} set recorded_seq = %(n)s where ctid = %(twin)s", twin=twin, n=never)
            assert found(owner) == (1, never)
            twin = owner.one(f"select ctid from {table} where recorded_seq = %(n)s", n=never)


@pytest.mark.parametrize("table", _rows.CLOSABLE)
def test_a_closed_row_cannot_be_opened_nor_an_open_one_closed(owner, table):
    details = [c for c, _ in columns(owner, table) if c in ("invalidated_kind", "verdict", "decided_by")]
    closing = ", ".join(["invalidated_seq", "invalidated_at", *details])
    drop_checks(owner, table)
    row = owner.connection.execute(
        f"select ctid, * from {table} where kb_id = %s and invalidated_seq is not null limit 1", (owner.kb,)
    ).fetchone()
    with owner.connection.transaction(force_rollback=True):
        for index in owner.connection.execute(
            "select indexname from pg_indexes where tablename = %s and indexdef ~ 'invalidated_seq IS NULL'", (table,)
        ).fetchall():
            owner.run(f"drop index {index['indexname']}")
        empty = ", ".join(["null"] * (2 + len(details)))
        owner.run(f"update {table} set ({closing}) = ({empty}) where ctid = %(ctid)s", ctid=row["ctid"])
        assert found(owner) == (1, row["invalidated_seq"])
    with owner.connection.transaction(force_rollback=True):
        held = owner.connection.execute(
            f"select ctid from {table} where kb_id = %s and invalidated_seq is null limit 1", (owner.kb,)
        ).fetchone()
        owner.run(
            f"""update {table} set ({closing}) = (select {closing} from {table} where ctid = %(of)s)
                where ctid = %(ctid)s""",
            of=row["ctid"],
            ctid=held["ctid"],
        )
        assert found(owner) == (1, row["invalidated_seq"])


def test_a_whole_chain_under_another_bases_name_does_not_begin_there(owner):
    for table in ("ledger_log", "ledger_transaction"):
        owner.run(f"delete from {table} where kb_id = %(kb)s")
        owner.run(f"update {table} set kb_id = %(kb)s where kb_id = %(other)s")
    assert found(owner) == (2, 1)


# --- sound in themselves: found against a checkpoint alone ---


def hashed(previous: bytes, row: dict) -> bytes:
    place, payload = (row["seq"], row["ordinal"], row["kind"]), bytes(row["payload"] or b"")
    if row["payload"] is None:
        return chain_hash(previous, *place, bytes(row["payload_hash"]))
    if row["salt"] is None:
        return unsalted_chain_hash(previous, *place, payload)
    return chain_hash(previous, *place, payload_hash(bytes(row["salt"]), payload))


def rehash(owner: Owner, first: int) -> None:
    """Hash everything from a transaction on anew, and move rows and head to it."""
    owner.run("drop index ledger_log_one_successor")
    previous = genesis_hash(owner.kb)
    for row in owner.log():
        if row["seq"] >= first:
            current = hashed(previous, row)
            place = {"seq": row["seq"], "ordinal": row["ordinal"], "previous": previous, "current": current}
            owner.run(
                """update ledger_log set prev_hash = %(previous)s, hash = %(current)s
                   where kb_id = %(kb)s and seq = %(seq)s and ordinal = %(ordinal)s""",
                **place,
            )
            owner.run(
                "update ledger_transaction set head_hash = %(current)s where kb_id = %(kb)s and seq = %(seq)s", **place
            )
            previous = current
        else:
            previous = bytes(row["hash"])
    owner.run("update kb_head set hash = %(previous)s where kb_id = %(kb)s", previous=previous)


def test_a_suffix_hashed_anew_is_seen_only_against_a_checkpoint(owner):
    seq = owner.middle
    owner.run(
        """update ledger_log set payload = replace(payload::text, encode('"actor":"person:test"', 'hex'),
               encode('"actor":"person:Eve"', 'hex'))::bytea
           where kb_id = %(kb)s and seq = %(seq)s and ordinal = 0""",
        seq=seq,
    )
    owner.run("update ledger_transaction set actor = 'person:Eve' where kb_id = %(kb)s and seq = %(seq)s", seq=seq)
    assert found(owner) == (1, seq)
    rehash(owner, seq)
    assert found(owner) == (0, None), "nothing in the database tells it from the true one"
    assert found(owner, checkpoint=owner.checkpoint) == (4, owner.checkpoint.seq)


def test_an_event_of_the_first_format_has_no_place_in_a_transaction_of_the_second(owner):
    seq = owner.middle
    assert owner.run(edited("salt", "null"), seq=seq)
    rehash(owner, seq)
    assert found(owner) == (1, seq)


def cut(owner: Owner, last: int) -> None:
    """Take away every trace of the transactions after a number."""
    for table in _rows.SHAPES:
        owner.run(f"delete from {table} where kb_id = %(kb)s and recorded_seq > %(last)s", last=last)
    for table in _rows.CLOSABLE:
        details = [c for c, _ in columns(owner, table) if c in ("invalidated_kind", "verdict", "decided_by")]
        empty = ", ".join(f"{c} = null" for c in ("invalidated_seq", "invalidated_at", *details))
        owner.run(f"update {table} set {empty} where kb_id = %(kb)s and invalidated_seq > %(last)s", last=last)
    for table in ("ledger_log", "ledger_transaction"):
        owner.run(f"delete from {table} where kb_id = %(kb)s and seq > %(last)s", last=last)
    ends = owner.connection.execute(
        "select recorded_at, head_hash from ledger_transaction where kb_id = %s and seq = %s", (owner.kb, last)
    ).fetchone() or {"recorded_at": datetime(1970, 1, 1, tzinfo=UTC), "head_hash": genesis_hash(owner.kb)}
    owner.run(
        "update kb_head set seq = %(last)s, at = %(recorded_at)s, hash = %(head_hash)s where kb_id = %(kb)s",
        last=last,
        **ends,
    )


@pytest.mark.parametrize("left", ["all but two", "nothing"])
def test_a_tail_cut_with_its_head_is_seen_only_against_a_checkpoint(owner, left):
    last = owner.head - 2 if left == "all but two" else 0
    cut(owner, last)
    assert found(owner) == (0, None), "nothing in the database tells it from the true one"
    assert found(owner, checkpoint=owner.checkpoint) == (4, last + 1)


def test_an_older_copy_is_seen_only_against_a_checkpoint_and_a_true_one_raises_no_alarm(database, dsn, tmp_path, kb):
    history = History(database, kb)
    with database.write(kb) as conn, history._door(conn) as door:
        door.note("large", {"text": "é🙂" * 250_000})
    file = tmp_path / "copy.dump"
    tool("pg_dump", "--format=custom", f"--file={file}", dsn)
    with database.read(kb) as conn:
        at_copy = verify(conn, kb)
    history.say("Late", "works_on", "Orion")
    key = Ed25519PrivateKey.generate()
    with database.read(kb) as conn:
        checkpoint = check_checkpoint(make_checkpoint(conn, kb, key), key.public_key())
    with restored(dsn, file) as connection:
        copy = verify(connection, kb)
        assert copy.ok, copy
        assert (copy.events, copy.rows, copy.head_hash) == (at_copy.events, at_copy.rows, at_copy.head_hash)
        report = verify(connection, kb, against=checkpoint)
        assert (report.exit_code, report.first_bad_seq) == (4, at_copy.head_seq + 1)
        for zone, style in (("Asia/Kathmandu", "German"), ("America/St_Johns", "SQL, DMY"), ("UTC", "Postgres, MDY")):
            connection.execute(f"set timezone = '{zone}'")
            connection.execute(f"set datestyle = '{style}'")
            connection.commit()
            assert verify(connection, kb).ok, zone
            connection.rollback()


def tool(name: str, *arguments: str) -> None:
    subprocess.run([bin_dir() / name, *arguments], check=True, capture_output=True, text=True)


@contextmanager
def restored(dsn: str, file: Path) -> Iterator[psycopg.Connection]:
    """A dump in a database of its own, for as long as the block lasts."""
    name = conninfo_to_dict(dsn)["dbname"] + "_copy"
    with psycopg.connect(dsn, autocommit=True) as server:
        server.execute(f'create database "{name}"')
        uri = psycopg.conninfo.make_conninfo(dsn, dbname=name)
        tool("pg_restore", "--exit-on-error", f"--dbname={uri}", str(file))
        with psycopg.connect(uri, row_factory=dict_row) as connection:
            yield connection
        server.execute(f'drop database "{name}" with (force)')


# --- from a number on, and how old a checkpoint may be ---


def test_from_a_number_on_the_rest_is_trusted_and_the_end_is_not(owner):
    whole, since = owner.verify(), owner.middle
    part = owner.verify(since=since)
    assert part.ok and part.since == since
    assert 0 < part.events < whole.events and 0 < part.rows < whole.rows
    assert owner.verify(since=owner.head).events == 0
    with owner.connection.transaction(force_rollback=True):
        owner.run("update entities set label = 'x' where kb_id = %(kb)s and recorded_seq <= %(s)s", s=since)
        assert found(owner, since=since) == (0, None)
        assert found(owner)[0] == 1
    with owner.connection.transaction(force_rollback=True):
        owner.run("update entities set label = 'x' where kb_id = %(kb)s and recorded_seq > %(s)s", s=since)
        assert found(owner, since=since)[0] == 1
    with owner.connection.transaction(force_rollback=True):
        rehash_from = owner.run(edited("payload", "'{}'"), seq=since)
        assert rehash_from
        rehash(owner, since)
        assert found(owner, since=since) == (0, None)
        signed = Checkpoint(owner.kb, since, b"\0" * 32)
        assert found(owner, since=since, checkpoint=signed) == (4, since), "the trust has a ground, or none"
    with pytest.raises(InvalidInput, match="the last is"):
        owner.verify(since=owner.head + 1)
    with pytest.raises(InvalidInput, match="before"):
        owner.verify(Checkpoint(owner.kb, 1, b"\0" * 32), since=2)
    with pytest.raises(InvalidInput, match="another base"):
        owner.verify(Checkpoint(owner.other, 1, b"\0" * 32))


def test_what_no_checkpoint_covers_may_be_so_old_and_no_older(owner):
    row = owner.connection.execute(
        "select seq, head_hash from ledger_transaction where kb_id = %s and seq = %s", (owner.kb, owner.middle)
    ).fetchone()
    signed = Checkpoint(owner.kb, row["seq"], bytes(row["head_hash"]))
    first = owner.one(
        "select recorded_at from ledger_transaction where kb_id = %(kb)s and seq = %(n)s", n=row["seq"] + 1
    )
    hour = timedelta(hours=1)
    assert owner.verify(signed).unsealed == owner.head - row["seq"]
    assert found(owner, checkpoint=signed, max_age=hour, now=first + hour) == (0, None)
    late = first + hour + timedelta(microseconds=1)
    assert found(owner, checkpoint=signed, max_age=hour, now=late) == (5, row["seq"] + 1)
    assert found(owner, checkpoint=owner.checkpoint, max_age=timedelta(0), now=late) == (0, None), "nothing is unsealed"
    with pytest.raises(InvalidInput, match="age"):
        owner.verify(max_age=hour)


def test_headers_of_before_they_carried_the_key_still_verify(owner):
    for row in owner.log():
        if row["kind"] == HEADER:
            old = bytes(row["payload"]).replace(b'"idempotency_key":null,', b"")
            owner.run(
                "update ledger_log set payload = %(old)s where kb_id = %(kb)s and seq = %(seq)s and ordinal = 0",
                old=old,
                seq=row["seq"],
            )
    rehash(owner, 1)
    assert found(owner) == (0, None)
    owner.run("update ledger_transaction set why = 'x' where kb_id = %(kb)s and seq = 2")
    assert found(owner) == (1, 2)
