"""What the application's role may do to a ledger table, and what the triggers refuse to its owner as well."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from psycopg.errors import GeneratedAlways, InsufficientPrivilege

from substrate.db import APP_ROLE
from substrate.ledger import _rows
from tests.ledger_history import two_histories

CLOSING = {"invalidated_seq", "invalidated_at", "invalidated_kind"}
TABLES = (*_rows.SHAPES, "ledger_log", "ledger_transaction", "kb_head", "claims", "access_events")
TYPED = {"uuid": "gen_random_uuid()", "bytea": "sha256('x')", "jsonb": "'[]'", "ARRAY": "'{}'", "text": "'x'"}
TYPED |= {"timestamp with time zone": "now()", "boolean": "true"}


@pytest.fixture(scope="module")
def written(postgres) -> Iterator[str]:
    with two_histories(postgres) as (dsn, *_):
        yield dsn


@pytest.fixture
def owner(written) -> Iterator[psycopg.Connection]:
    with psycopg.connect(written) as connection:
        for reach in ("read", "write"):  # the walls are not what refuses here
            connection.execute(f"select set_config('twoclocks.{reach}_bases', every_base(), false)")
        yield connection
        connection.rollback()


def may_change(table: str) -> set[str]:
    """The columns that an UPDATE may name."""
    if table in ("pending_facts", "conflicts"):
        return CLOSING | {"verdict", "decided_by", "why"}
    if table in _rows.CLOSABLE:
        return CLOSING
    return {"kb_head": {"seq", "at", "hash"}, "documents": {"missing_at"}, "access_events": {"seal"}}.get(table, set())


def refused(connection: psycopg.Connection, statement: str) -> None:
    with pytest.raises((InsufficientPrivilege, GeneratedAlways)), connection.transaction():
        connection.execute(statement)


@pytest.mark.parametrize("table", TABLES)
def test_no_other_column_is_updated_and_nothing_is_taken_out(owner, table):
    if table == "access_events":
        owner.execute("insert into access_events (kb_id, via, action) select id, 'rest', 'read' from kb")
    columns = owner.execute(
        "select column_name, data_type from information_schema.columns where table_name = %s", (table,)
    ).fetchall()
    others = [(c, TYPED.get(t, "1")) for c, t in columns if c not in may_change(table)]
    assert others
    for role in (APP_ROLE, None):
        owner.execute(f"set role {role or 'none'}")
        for column, value in others:
            refused(owner, f"update {table} set {column} = {value}")
        refused(owner, f"delete from {table}")
        refused(owner, f"truncate {table} cascade")
    owner.execute(f"set role {APP_ROLE}")
    for statement in ("disable trigger all", "drop column kb_id", "owner to current_user", "rename to gone"):
        refused(owner, f"alter table {table} {statement}")
    refused(owner, f"drop table {table}")
    refused(owner, "set session_replication_role = replica")


@pytest.mark.parametrize("table", _rows.CLOSABLE)
def test_a_closed_row_is_closed_for_good(owner, table):
    rows = owner.execute(f"select count(*) from {table} where invalidated_seq is not null").fetchone()
    assert rows is not None and rows[0] > 0
    for role in (APP_ROLE, "none"):
        owner.execute(f"set role {role}")
        for change in ("invalidated_seq = invalidated_seq + 1", "invalidated_at = now()", "invalidated_seq = null"):
            refused(owner, f"update {table} set {change} where invalidated_seq is not null")


def test_a_closing_carries_no_new_reason_into_a_refusal(owner):
    close = "update refusals set invalidated_seq = 99, invalidated_at = now(){} where invalidated_seq is null"
    refused(owner, close.format(", why = 'another'"))
    assert owner.execute(close.format("")).rowcount > 0


@pytest.mark.parametrize("change", ["seq = seq + 2", "seq = seq", "seq = seq - 1", "seq = 0", "at = 'epoch'"])
def test_the_head_moves_one_step_forward(owner, change):
    step = {"seq": "seq + 1", "at": "at + interval '1 second'", "hash": "sha256(hash)"}
    whole = "update kb_head set " + ", ".join(f"{c} = {v}" for c, v in step.items())
    step[change.split(" = ")[0]] = change.split(" = ")[1]
    for role in (APP_ROLE, "none"):
        owner.execute(f"set role {role}")
        refused(owner, "update kb_head set " + ", ".join(f"{c} = {v}" for c, v in step.items()))
    assert owner.execute(whole).rowcount == 2
