"""No row that the ledger keeps can be changed or taken out by the application: for every table there is, and every way.

The tables come from the catalogue. What is no ledger table is listed here with its reason, so that a table which a
later migration makes is protected or fails.
"""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from psycopg.errors import Error, GeneratedAlways, InsufficientPrivilege, UndefinedColumn
from psycopg.rows import dict_row

from substrate.audit import seal_base
from substrate.db import APP_ROLE, Database
from tests.ledger_history import read, two_histories

ORDINARY = {
    "blobs": "bytes of documents, named by their hash; a purge takes them out",
    "call_allowances": "how many calls are left now",
    "credentials": "secrets that are in use now, sealed",
    "extraction_epochs": "which extractor reads a base now; append-only, and no fact hangs on it",
    "gap_askers": "who asked what found nothing, counted; no fact hangs on it",
    "gaps": "what found nothing, counted; no fact hangs on it",
    "identities": "who signs in as whom now",
    "model_budgets": "what may be spent in a day; append-only, and no fact hangs on it",
    "model_reservations": "what calls under way may cost; gone when they are settled",
    "model_spending": "running counts of a day",
    "embeddings": "made from chunks, and made again for another model",
    "identity_keys": "made from names, and made again",
    "identity_profiles": "made from claims of documents, and made again when they are read again",
    "identity_votes": "what a model answered, kept so that it is not paid twice",
    "kb": "the name of a base may change",
    "kb_members": "who may do what now",
    "ontology_plans": "what a file would change, made again from the file",
    "organisations": "whose workspaces there are",
    "parse_results": "made from bytes, and made again by another parser",
    "people": "who may log in now",
    "reading_coverage": "made from passages and claims, and made again",
    "schema_migrations": "which migrations were applied",
    "signins": "sign-ins that have begun; gone when they end",
    "sources": "which folders are watched now",
    "term_vectors": "made from terms, and made again for other words or another model",
    "tokens": "used and revoked",
    "vector_models": "how a model is opened now",
    "vector_serving": "which model's vectors answer now",
    "work": "what is due, and leases",
    "workspaces": "whose bases there are",
    "workspace_members": "who may see an open base now",
}
CLOSING = {"invalidated_seq", "invalidated_at", "invalidated_kind"}
DECIDING = CLOSING | {"verdict", "decided_by", "why"}
MAY_CHANGE = {
    "access_events": {"seal"},
    "conflicts": DECIDING,
    "documents": {"missing_at"},
    "extraction_usage": {"seal"},
    "kb_head": {"seq", "at", "hash"},
    "ledger_log": {"payload", "salt", "payload_hash"},
    "pending_facts": DECIDING,
}
"""Columns that may be set, where they are others than the closing ones."""
VALUES = {"uuid": "gen_random_uuid()", "bytea": "sha256('x')", "jsonb": "'[]'", "ARRAY": "'{}'", "text": "'x'"}
VALUES |= {"timestamp with time zone": "now()", "boolean": "true"}
STATEMENTS = (
    "delete from {t}",
    "truncate {t} cascade",
    "alter table {t} disable trigger all",
    "alter table {t} disable row level security",
    "alter table {t} drop column kb_id",
    "alter table {t} add column more text",
    "alter table {t} owner to current_user",
    "alter table {t} rename to gone",
    "drop table {t} cascade",
    "create rule quiet as on insert to {t} do instead nothing",
    "create trigger mine before insert on {t} for each row execute function ledger_refuse()",
    "create policy mine on {t} using (true)",
    "comment on table {t} is 'mine'",
    "lock table {t} in access exclusive mode; delete from {t}",
    "merge into {t} using kb on {t}.kb_id = kb.id when matched then delete",
    "set session_replication_role = replica",
    "set role none; set session authorization default; reset role; set role {app}; delete from {t}",
)


def ledger_tables(connection: psycopg.Connection) -> list[str]:
    rows = connection.execute(
        "select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') order by 1"
    )
    return [row["relname"] for row in rows if row["relname"] not in ORDINARY]


def unprotected(connection: psycopg.Connection) -> list[str]:
    """Everything the catalogue says against the ledger's tables."""
    found = []
    for table in ledger_tables(connection):
        facts = connection.execute(
            """select array(select a.attname::text from pg_attribute a
                            where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
                              and has_column_privilege(%(app)s, c.oid, a.attnum, 'UPDATE')) as changeable,
                      array(select p from unnest(array['DELETE', 'TRUNCATE', 'TRIGGER', 'REFERENCES', 'MAINTAIN']) p
                            where has_table_privilege(%(app)s, c.oid, p)) as granted,
                      pg_has_role(%(app)s, c.relowner, 'USAGE') as owns,
                      (select bit_or(case when t.tgenabled in ('O', 'A') and t.tgtype & 2 = 2 then t.tgtype end)
                       from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal) as guarded
               from pg_class c where c.oid = %(table)s::regclass""",
            {"app": APP_ROLE, "table": table},
        ).fetchone()
        assert facts is not None
        if more := set(facts["changeable"]) - MAY_CHANGE.get(table, CLOSING):
            found.append(f"{table}: the application may change {sorted(more)}")
        if facts["granted"] or facts["owns"]:
            found.append(f"{table}: the application owns it or may {facts['granted']}")
        for bit, event in ((8, "delete"), (16, "update"), (32, "truncate")):
            if not (facts["guarded"] or 0) & bit:
                found.append(f"{table}: no trigger stands before {event}")
    asks_by_name = connection.execute(
        """select p.proname from pg_proc p
           where p.pronamespace = 'public'::regnamespace and p.prokind = 'f'
             and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
             and not exists (select from unnest(p.proconfig) setting where setting like 'search_path=%')
             and exists (select from pg_class c
                         where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
                           and p.prosrc ~* ('\\m(from|join|into|update)\\s+(%[0-9]\\$I|' || c.relname || '\\M)'))"""
    ).fetchall()
    found += [f"{row['proname']}: looks tables up by a path that a session may change" for row in asks_by_name]
    return found


@pytest.fixture(scope="module")
def written(postgres) -> Iterator[str]:
    """A base with a row in every ledger table."""
    with two_histories(postgres) as (dsn, kb, _), Database(dsn) as database:
        with psycopg.connect(dsn) as connection:
            connection.execute("insert into access_events (kb_id, via, action) values (%s, 'mcp', 'x')", (kb,))
        with database.write(kb) as conn:
            chunk = conn.execute("select id from chunks order by id limit 1").fetchone()["id"]
            read(conn, kb, chunk, "again@1", [], [{"ordinal": 0, "code": "x", "detail": "", "example": ""}])
        seal_base(database, kb)
        yield dsn


@pytest.fixture
def owner(written) -> Iterator[psycopg.Connection]:
    with psycopg.connect(written, row_factory=dict_row) as connection:
        yield connection
        connection.rollback()


def as_application(connection: psycopg.Connection) -> None:
    connection.execute(f"set role {APP_ROLE}")
    for name in ("read_bases", "write_bases"):
        connection.execute(f"select set_config('twoclocks.{name}', every_base(), false)")


def outcome(connection: psycopg.Connection, statement: str) -> type[Error] | None:
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(statement)
    except Error as error:
        return type(error)
    return None


def test_the_catalogue_has_nothing_against_any_ledger_table(owner):
    assert unprotected(owner) == []
    every = {r["relname"] for r in owner.execute("select relname from pg_class where relkind in ('r', 'p')")}
    assert set(ORDINARY) <= every, "what is excused exists"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("create table forgotten (kb_id uuid)", "forgotten: no trigger stands before delete"),
        ("grant update (phrase) on facts to twoclocks_app", "facts: the application may change ['phrase']"),
        ("grant update on audit_seals to twoclocks_app", "audit_seals: the application may change"),
        ("grant truncate on claims to twoclocks_app", "claims: the application owns it or may ['TRUNCATE']"),
        ("alter table ledger_log owner to twoclocks_app", "ledger_log: the application owns it or may"),
        (
            "alter function ledger_log_refers() reset search_path",
            "ledger_log_refers: looks tables up by a path that a session may change",
        ),
        (
            "alter function ledger_refers() reset search_path",
            "ledger_refers: looks tables up by a path that a session may change",
        ),
        ("alter table facts disable trigger close_once", "facts: no trigger stands before update"),
        ("drop trigger no_truncate on access_events", "access_events: no trigger stands before truncate"),
        ("alter table claims enable replica trigger no_delete", "claims: no trigger stands before delete"),
    ],
)
def test_a_gap_in_the_catalogue_is_seen(owner, change, problem):
    owner.execute(change)
    assert any(said.startswith(problem) for said in unprotected(owner)), unprotected(owner)


def test_every_way_to_rewrite_any_ledger_table_is_refused(owner):
    tables = ledger_tables(owner)
    assert len(tables) > 20
    for table in tables:
        assert owner.execute(f"select count(*) as n from {table}").fetchone()["n"], f"{table}: give the history a row"
    as_application(owner)
    succeeded = {
        (table, statement)
        for table in tables
        for statement in STATEMENTS
        if outcome(owner, statement.format(t=table, app=APP_ROLE)) is not InsufficientPrivilege
    }
    assert succeeded == set()


def test_every_column_but_the_closing_ones_is_refused_to_the_application_and_to_the_owner(owner):
    tables = {t: columns(owner, t) for t in ledger_tables(owner)}
    for begin in (lambda: as_application(owner), lambda: owner.execute("set role none")):
        for purging in ("", "x"):
            begin()
            if purging and owner.execute("select current_user = %s as app", (APP_ROLE,)).fetchone()["app"] is False:
                continue  # the owner's function that purges is let through by this mark; nobody else's is
            owner.execute("select set_config('twoclocks.purging', %s, false)", (purging,))
            succeeded = {
                (table, column)
                for table, kinds in tables.items()
                for column, kind in kinds.items()
                if column not in MAY_CHANGE.get(table, CLOSING)
                and outcome(owner, f"update {table} set {column} = {VALUES.get(kind, '1')}")
                not in (InsufficientPrivilege, GeneratedAlways)
            }
            assert succeeded == set(), purging
    owner.execute("select set_config('twoclocks.purging', '', false)")
    for table in tables:
        for statement in ("delete from {t}", "truncate {t} cascade"):
            assert outcome(owner, statement.format(t=table)) is InsufficientPrivilege, table


ERASED = "payload = null, salt = null, payload_hash = sha256(salt || payload)"


@pytest.mark.parametrize("change", [ERASED, "payload = payload || 'x'", "salt = null", "payload_hash = sha256('x')"])
def test_an_event_is_erased_by_a_purge_alone(owner, change):
    for begin in (lambda: as_application(owner), lambda: owner.execute("set role none")):
        begin()
        assert outcome(owner, f"update ledger_log set {change} where kind like 'insert %'") is InsufficientPrivilege
        assert outcome(owner, f"update ledger_log set {change} where kind = 'transaction'") is InsufficientPrivilege


def test_a_right_that_is_asked_for_is_not_given(owner):
    as_application(owner)
    for table in ledger_tables(owner):
        with owner.transaction(force_rollback=True):
            owner.execute(f"grant delete, truncate on {table} to {APP_ROLE}")  # a warning, says Postgres
            row = owner.execute("select has_table_privilege(%s, %s, 'DELETE') as may", (APP_ROLE, table)).fetchone()
            assert not row["may"], table


def columns(connection: psycopg.Connection, table: str) -> dict[str, str]:
    rows = connection.execute(
        """select column_name, data_type from information_schema.columns
           where table_name = %s and table_schema = 'public'""",
        (table,),
    )
    return {row["column_name"]: row["data_type"] for row in rows}


def test_what_may_be_set_is_set_once(owner):
    for table, kinds in {t: columns(owner, t) for t in ledger_tables(owner)}.items():
        for column in ("invalidated_seq", "seal"):
            if column not in kinds:
                continue
            once = f"update {table} set {column} = {column} + 1 where {column} is not null"
            gone = f"update {table} set {column} = null where {column} is not null"
            for begin in (lambda: as_application(owner), lambda: owner.execute("set role none")):
                begin()
                assert owner.execute(f"select count(*) as n from {table} where {column} is not null").fetchone()["n"]
                assert outcome(owner, once) is InsufficientPrivilege, table
                assert outcome(owner, gone) is InsufficientPrivilege, table
            begin()
    as_application(owner)
    with pytest.raises(UndefinedColumn):
        owner.execute("update claims set invalidated_seq = 1")


def test_a_seal_is_the_only_thing_that_may_be_set_of_an_event(owner):
    kb = owner.execute("select kb_id from access_events limit 1").fetchone()["kb_id"]
    as_application(owner)
    owner.execute("insert into access_events (kb_id, via, action) values (%s, 'mcp', 'y')", (kb,))
    mine = "where kb_id = %s and action = 'y'"
    for column in ("id", "payload", "hash", "seal"):
        forged = f"insert into access_events (kb_id, via, action, {column}) values ('{kb}', 'mcp', 'z', default)"
        assert outcome(owner, forged) is InsufficientPrivilege, column
    owner.execute("set role none")
    for change in ("action = 'z'", "at = at + interval '1 second'", "hash = sha256(hash)", "fact_ids = array[kb_id]"):
        both = f"update access_events set seal = 7, {change} where action = 'y'"
        assert outcome(owner, both) is InsufficientPrivilege, change
    as_application(owner)
    owner.execute(f"update access_events set seal = 7 {mine}", (kb,))
    assert owner.execute(f"select seal from access_events {mine}", (kb,)).fetchone()["seal"] == 7
    with pytest.raises(InsufficientPrivilege), owner.transaction():
        owner.execute(f"update access_events set seal = 8 {mine}", (kb,))
