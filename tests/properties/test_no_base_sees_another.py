"""What belongs to a base is there for a transaction that reaches the base, and for no other.

The catalogue says so for every table there is; a pool hands no reach on; what looks past the walls tells what brute
force tells, of one base; the five hot reads keep the indexes that they have without walls.
"""

from __future__ import annotations

import ast
import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row
from pydantic import SecretStr

from substrate import reads, sql
from substrate.bases import base_by_id, base_by_slug, create_base, list_bases
from substrate.db import EVERY_BASE, NO_BASE, Database, open_database
from substrate.errors import NotFound, TwoclocksError
from substrate.migrate import load, migrate
from substrate.retrieval.passages import vector_key
from substrate.retrieval.vectors import ensure_vector_index, index_name, nearest
from substrate.settings import Settings
from tests.ledger_facts import Scribe, day

WALLED = """
    select c.oid::regclass::text as name, c.relname, a.attname as base,
           c.relrowsecurity and c.relforcerowsecurity as forced
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace and not a.attisdropped
      and a.attname = case c.relname when 'kb' then 'id' else 'kb_id' end
    order by c.relname
"""
POLICIES = """
    select p.polname as name, p.polcmd as command, p.polroles = '{0}' as everybody, p.polpermissive as permissive,
           coalesce(pg_get_expr(p.polqual, p.polrelid), '') as shown,
           coalesce(pg_get_expr(p.polwithcheck, p.polrelid), '') as checked
    from pg_policy p where p.polrelid = %s::regclass
"""


@pytest.fixture
def owner(dsn) -> Iterator[psycopg.Connection]:
    with psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as connection:
        yield connection


def rows(connection, statement: str, *values: object) -> list[dict]:
    return connection.execute(statement, values).fetchall()


def test_every_table_with_a_base_is_walled_off_from_everyone(owner):
    walled = rows(owner, WALLED)
    assert {"kb", "facts", "chunks", "embeddings", "work", "access_events", "kb_members"} <= {
        t["relname"] for t in walled
    }
    for table in walled:
        assert table["forced"], table
        policies = {p["name"]: p for p in rows(owner, POLICIES, table["name"])}
        assert set(policies) == {"base_read", "base_insert", "base_update", "base_delete", "lookup"}, table
        assert {n for n, p in policies.items() if not p["everybody"]} == {"lookup"}
        reads = f"(({table['base']} = ANY (( SELECT readable_bases() AS readable_bases)::uuid[])) IS TRUE)"
        writes = f"(({table['base']} = ANY (( SELECT writable_bases() AS writable_bases)::uuid[])) IS TRUE)"
        assert (policies["base_read"]["command"], policies["base_read"]["shown"]) == ("r", reads)
        assert (policies["base_insert"]["command"], policies["base_insert"]["checked"]) == ("a", writes)
        assert (policies["base_update"]["shown"], policies["base_update"]["checked"]) == (writes, writes)
        assert policies["base_delete"]["shown"] == writes


def test_nothing_else_looks_past_the_walls(owner):
    views = (
        "select relname, reloptions from pg_class where relkind in ('v', 'm') and relnamespace = 'public'::regnamespace"
    )
    for view in rows(owner, views):
        assert "security_invoker=true" in (view["reloptions"] or ()), view
    functions = rows(
        owner,
        """select p.oid::regprocedure::text as name, p.proconfig, p.prosecdef,
                  has_function_privilege('public', p.oid, 'execute') as open
           from pg_proc p where p.pronamespace = 'public'::regnamespace and p.prosecdef""",
    )
    assert {"every_base()", "names_like(uuid,text[])", "role_in_base(uuid,uuid)"} <= {f["name"] for f in functions}
    for function in functions:
        path = [s for s in function["proconfig"] or () if s.startswith("search_path=")]
        assert path, function
        assert path[0].endswith("pg_temp"), "what is looked up last can be shadowed by nobody"
        assert not function["open"], function
    roles = rows(
        owner,
        """select r.rolname, r.rolsuper or r.rolbypassrls or r.rolcreaterole or r.rolcreatedb or r.rolcanlogin as able,
                  exists (select from pg_class c where c.relowner = r.oid) as owns
           from pg_roles r where r.rolname in ('twoclocks_app', 'twoclocks_lookup')""",
    )
    assert {r["rolname"]: (r["able"], r["owns"]) for r in roles} == {
        "twoclocks_app": (False, False),
        "twoclocks_lookup": (False, False),
    }
    member = "select pg_has_role('twoclocks_app', 'twoclocks_lookup', 'member') as is"
    assert rows(owner, member) == [{"is": False}]


def test_only_an_operator_reaches_every_base():
    """Nothing that answers a request may; the command line, orchestration and what runs on its own do."""
    root = Path(__file__).resolve().parents[2]
    found = set()
    for package in ("substrate", "api", "orchestration"):
        for file in (root / package).rglob("*.py"):
            names = {n.id for n in ast.walk(ast.parse(file.read_text())) if isinstance(n, ast.Name)}
            if "EVERY_BASE" in names:
                found.add(file.relative_to(root).as_posix())
    allowed = ("api/cli/", "orchestration/", "api/sealing.py", "substrate/audit/", "substrate/db.py")
    assert {f for f in found if not f.startswith(allowed)} == {"substrate/retrieval/vectors.py"}


@pytest.fixture
def two(database) -> tuple[UUID, UUID]:
    """Two bases with a document, facts, names and a merge each."""
    made = []
    for slug in ("one", "two"):
        with database.write(NO_BASE) as connection:
            kb = create_base(connection, slug, f"Base {slug}")
        scribe = Scribe(database, kb)
        scribe.say(f"Ada {slug}", "leads", f"Heron {slug}", start=day("2021-01-01"))
        said = scribe.say(f"Bela {slug}", "works_on", f"Heron {slug}")
        scribe.reject(said.added[0] if hasattr(said, "added") else _a_fact(database, kb))
        made.append(kb)
    return made[0], made[1]


def _a_fact(database, kb) -> UUID:
    with database.read(kb) as connection:
        statement = "select id from facts where predicate_key = 'works_on' and invalidated_seq is null"
        return connection.execute(statement).fetchone()["id"]


def bases_seen(connection, tables: list[dict]) -> set[UUID]:
    found: set[UUID] = set()
    for table in tables:
        found |= {r["base"] for r in rows(connection, f"select distinct {table['base']} as base from {table['name']}")}
    return found


def test_a_transaction_sees_what_it_reaches(database, owner, two):
    tables = rows(owner, WALLED)
    filled = [t for t in tables if rows(owner, f"select from {t['name']} limit 1")]
    assert len(filled) > 12
    for reach, expected in ((NO_BASE, set()), (two[0], {two[0]}), (two[1], {two[1]}), (two, set(two))):
        for opened in (database.read, database.write):
            with opened(reach) as connection:
                assert bases_seen(connection, tables) == expected
    with database.read(EVERY_BASE) as connection:
        assert bases_seen(connection, tables) >= set(two)
    with database.ask() as connection:
        assert bases_seen(connection, tables) == set()
        assert base_by_slug(connection, "two").id == two[1]
    for setting in ("", "{}"):
        with database.read(two[0]) as connection:
            connection.execute("select set_config('twoclocks.read_bases', %s, true)", (setting,))
            assert bases_seen(connection, tables) == set()


def test_what_is_asked_of_another_base_is_not_there(database, two):
    with database.read(two[0]) as connection:
        assert [b.id for b in list_bases(connection)] == [two[0]]
        assert reads.resolve(connection, two[0]).seq > 0
        with pytest.raises(NotFound):
            base_by_id(connection, two[1])
        with pytest.raises(TwoclocksError):
            reads.entity_facts(connection, two[1], "Ada two", reads.resolve(connection, two[1]))
        assert rows(connection, "select * from names_like(%s, '{%%}')", two[1]) == []
        assert rows(connection, "select * from names_like(%s, '{%%}')", two[0]) != []


def test_another_base_cannot_be_written(database, owner, two):
    refused = psycopg.errors.InsufficientPrivilege
    for statement in (
        "insert into sources (kb_id, kind, name) values (%s, 'push', 'planted')",
        "insert into work (kb_id, stage, item_id, code_version) values (%s, 'parse', gen_random_uuid(), 'x')",
        "insert into kb_head (kb_id, hash) values (%s, sha256('x'))",
        "update sources set kb_id = %s",
    ):
        with database.write(two[0]) as connection, pytest.raises(refused, match="row-level security"):
            connection.execute(statement, (two[1],))
    with database.write(two[0]) as connection:
        assert connection.execute("update sources set name = 'mine'").rowcount == 1
        for change in ("update sources set name = 'x'", "delete from kb_members"):
            assert connection.execute(f"{change} where kb_id = %s", (two[1],)).rowcount == 0
    # A wide reach to read with is none to write with.
    with database.write(two[0]) as connection:
        connection.execute("select set_config('twoclocks.read_bases', every_base(), true)")
        assert len(rows(connection, "select kb_id from sources")) == 2
        assert connection.execute("update sources set name = 'y'").rowcount == 1
    assert {r["name"] for r in rows(owner, "select name from sources")} == {"push", "y"}


REQUESTS = 500


def test_a_pool_hands_no_reach_on(dsn):
    """Twenty bases, two connections, requests that end in every way there is; each row met is the asker's own."""
    with Database(dsn, pool_size=2) as database:
        bases = []
        for n in range(20):
            with database.write(NO_BASE) as connection:
                bases.append(create_base(connection, f"b{n}", f"Base {n}"))
            with database.write(bases[-1]) as connection:
                connection.execute(
                    "insert into work (kb_id, stage, item_id, code_version) "
                    "select %s, 'parse', gen_random_uuid(), 'x' from generate_series(1, 200)",
                    (bases[-1],),
                )
        met, foreign, ended = [0], [0], set()

        def request(seed: int) -> None:
            rnd = random.Random(seed)
            kb, way = rnd.choice(bases), rnd.choice(("return", "raise", "error", "cancel", "close", "leave"))
            opened = rnd.choice((database.read, database.write))
            with suppress(Sudden, KeyboardInterrupt, psycopg.Error, TwoclocksError), opened(kb) as connection:
                found = [r["kb_id"] for r in rows(connection, "select kb_id from work")]
                met[0] += len(found)
                foreign[0] += sum(f != kb for f in found)
                assert len(found) == 200
                ended.add(way)
                _end(connection, way)
            with database.ask() as connection:
                foreign[0] += len(rows(connection, "select kb_id from work"))

        with ThreadPoolExecutor(16) as pool:
            list(pool.map(request, range(REQUESTS)))
    assert met[0] >= 100_000 - 1
    assert foreign[0] == 0
    assert ended == {"return", "raise", "error", "cancel", "close", "leave"}


class Sudden(Exception):
    """How a request may end."""


def _end(connection, way: str) -> None:
    if way == "raise":
        raise Sudden
    if way == "leave":
        raise KeyboardInterrupt
    if way == "error":
        connection.execute("select 1 / 0")
    if way == "cancel":
        timer = threading.Timer(0.01, connection.cancel)
        timer.start()
        try:
            connection.execute("select pg_sleep(5)")
        finally:
            timer.join()
    if way == "close":
        connection.close()


def _names(rnd: random.Random, count: int) -> list[str]:
    parts = ["ada", "heron", "100%", "a_b", "søren", "漢字", "o'neil", "back\\slash", "x", "graz works"]
    return [" ".join(rnd.choices(parts, k=rnd.randrange(1, 4))) for _ in range(count)]


def _agrees(database, dsn, two, tries: int) -> None:
    rnd = random.Random(7)
    with psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as past:
        for kb in two:
            past.execute(
                "insert into entities (kb_id, id, label, label_norm, recorded_seq, recorded_at) "
                "select %s, gen_random_uuid(), n, n, 1, now() from unnest(%s::text[]) n",
                (kb, _names(rnd, 300)),
            )
        for n in range(tries):
            kb, other = rnd.sample(two, 2)
            piece = rnd.choice(_names(rnd, 1))[: rnd.randrange(1, 6)]
            patterns = [f"%{p}%" if rnd.random() < 0.7 else p for p in (piece, rnd.choice("xyzaeo"))]
            if patterns[0].replace("%", "").endswith("\\"):
                continue
            plain = past.execute(
                """select subject_id as id, value_norm as norm, recorded_seq, invalidated_seq from facts
                   where kb_id = %(kb)s and predicate_key = 'known_as' and value_norm like any (%(p)s)
                   union all select id, label_norm, recorded_seq, null from entities
                   where kb_id = %(kb)s and label_norm like any (%(p)s)""",
                {"kb": kb, "p": patterns},
            ).fetchall()
            with database.read(kb if n % 2 else two) as connection:
                found = rows(connection, "select * from names_like(%s, %s)", kb, patterns)
                assert sorted(map(repr, found)) == sorted(map(repr, plain)), patterns
            with database.read(other) as connection:
                assert rows(connection, "select * from names_like(%s, %s)", kb, patterns) == []


def test_what_looks_past_the_walls_tells_what_brute_force_tells(database, dsn, two):
    _agrees(database, dsn, two, 300)


@pytest.mark.slow
def test_what_looks_past_the_walls_tells_what_brute_force_tells_of_5000_questions(database, dsn, two):
    _agrees(database, dsn, two, 5_000)


class Eight:
    """An embedder of eight numbers, drawn by the text."""

    name, dimension, token_limit, truncated = "eight@1", 8, None, 0

    def count_tokens(self, text: str) -> int | None:
        return len(text)

    def passages(self, texts):
        import numpy as np

        made = np.stack([np.random.default_rng(sum(map(ord, t))).normal(size=8) for t in texts]).astype(np.float32)
        return made / np.linalg.norm(made, axis=1, keepdims=True)

    queries = passages


MULTIPLY = """
    insert into {table}
    select (jsonb_populate_record(null::{table}, to_jsonb(t) || {changes})).*
    from (select * from {table} where kb_id = '{kb}' {only} limit 1) t,
         (select gen_random_uuid() as made, md5(n::text) as hashed, n from generate_series(1, {times}) n) n
"""


@pytest.fixture
def crowded(database, dsn, two) -> UUID:
    """The first base with thousands of rows in each table that the hot reads visit, and a vector index."""
    kb = two[0]
    with psycopg.connect(dsn, autocommit=True) as past:
        past.execute("set session_replication_role = replica")  # no reference is checked row by row

        def multiply(table: str, changes: str, only: str = "", times: int = 2000) -> None:
            past.execute(MULTIPLY.format(table=table, kb=kb, times=times, changes=changes, only=only))

        own = (
            "jsonb_build_object('id', made, 'lineage_id', gen_random_uuid(), 'value_norm', hashed, 'value_raw', hashed)"
        )
        multiply("entities", "jsonb_build_object('id', made, 'label_norm', hashed, 'label', hashed)", times=8_000)
        multiply("facts", own, "and predicate_key = 'known_as' and invalidated_seq is null", 15_000)
        multiply("facts", own + " - 'value_norm' - 'value_raw'", "and predicate_key = 'leads'")
        multiply("chunks", "jsonb_build_object('id', made, 'position', n)")
        past.execute(
            """insert into embeddings (kb_id, chunk_id, model, embedding)
               select kb_id, id, %s,
                      (select array_agg(random()) from generate_series(1, 8) where id is not null)::vector
               from chunks where kb_id = %s""",
            (_key(), kb),
        )
        past.execute("vacuum analyze")  # what waits to enter the trigram index makes it dear
    assert ensure_vector_index(dsn, kb, _key(), 8, above=100)
    return kb


def _key() -> str:
    return vector_key(Eight())


def _scans(connection) -> dict[str, int]:
    scanned = """select c.relname, pg_stat_get_xact_numscans(c.oid) as times from pg_class c
                 where c.relnamespace = 'public'::regnamespace and c.relkind in ('i', 'r')"""
    return {r["relname"]: r["times"] for r in rows(connection, scanned)}


@contextmanager
def scanned(connection) -> Iterator[set[str]]:
    """The indexes, and the tables as a whole, that were scanned in the block, in functions too."""
    found: set[str] = set()
    before = _scans(connection)
    yield found
    found |= {name for name, times in _scans(connection).items() if times > before.get(name, 0)}


LARGE = {"facts", "entities", "chunks", "embeddings"}


def test_the_hot_reads_keep_their_indexes_under_the_walls(database, crowded):
    with database.read(crowded) as connection:
        role = rows(connection, "select current_user as role, row_security_active('facts') as walled")
        assert role == [{"role": "twoclocks_app", "walled": True}]
        head = reads.resolve(connection, crowded)
        for moment in (head, reads.resolve(connection, crowded, as_of=f"seq:{head.seq - 1}")):
            for name, expected, read in _hot_reads(connection, crowded, moment):
                with scanned(connection) as found:
                    read()
                assert found & expected, (name, sorted(found))
                assert name == "changes" or not found & LARGE, (name, sorted(found))
    # What the function is for: the same question, asked past it, can use no index of trigrams.
    with database.read(crowded) as connection:
        connection.execute("set local enable_seqscan = off")
        with scanned(connection) as found:
            rows(connection, "select id from entities where kb_id = %s and label_norm like '%%3f2a1%%'", crowded)
    assert found
    assert "entities_by_trigram" not in found


def _hot_reads(connection, kb: UUID, moment) -> list[tuple[str, set[str], Callable[[], object]]]:
    """Five reads with the indexes of which each must scan one."""
    of_subject = {"facts_held_by_subject", "facts_by_subject"}
    chunk = rows(connection, "select id from chunks where kb_id = %s order by id limit 1", kb)[0]["id"]
    values = sql.parameters(moment, kb_id=kb, ids=[chunk], cut=80)

    def by_vector() -> None:
        # Two thousand short vectors are sorted as quickly as they are looked up.
        connection.execute("set local enable_sort = off")
        nearest(connection, kb, Eight(), "heron", moment, depth=5)
        connection.execute("set local enable_sort = on")

    def by_name() -> None:
        reads.find_entities(connection, kb, "3f2a1", moment)

    return [
        ("facts", of_subject, lambda: reads.entity_facts(connection, kb, "Ada one", moment)),
        ("names", {"facts_names_by_trigram"}, by_name),
        ("first names", {"entities_by_trigram"}, by_name),
        ("vectors", {index_name(kb, _key())}, by_vector),
        ("passages", {"chunks_pkey"}, lambda: connection.execute(sql.query("retrieval_passages", moment), values)),
        ("timeline", of_subject, lambda: reads.timeline(connection, kb, "Ada one", moment)),
        ("changes", {"facts_recorded"}, lambda: reads.changes(connection, kb, "2020")),
    ]


@pytest.fixture
def managed(dsn) -> Iterator[str]:
    """An empty database whose owner is no superuser, as a managed Postgres gives it."""
    name = f"managed_{uuid4().hex[:12]}"
    with psycopg.connect(dsn, autocommit=True) as server:
        server.execute(f"create role {name} login createrole password 'p'")
        # As whoever made the cluster's roles would hold them.
        server.execute(f"grant twoclocks_app, twoclocks_lookup to {name} with admin true, inherit false, set false")
        server.execute(f"create database {name} owner {name}")
        url = make_conninfo(dsn, dbname=name)
        with psycopg.connect(url, autocommit=True) as inside:
            for extension in ("vector", "pg_trgm"):
                inside.execute(f"create extension {extension}")
        yield make_conninfo(url, user=name, password="p")
        server.execute(f"drop database {name} with (force)")
        server.execute(f"revoke twoclocks_app, twoclocks_lookup from {name} cascade")
        server.execute(f"drop role {name}")


def test_an_owner_who_is_no_superuser_meets_the_walls_and_still_migrates_data(managed, tmp_path: Path):
    given = Settings(database_url=SecretStr(managed), data_dir=tmp_path / "data")
    with open_database(given) as database:
        kbs = []
        for slug in ("one", "two"):
            with database.write(NO_BASE) as connection:
                kbs.append(create_base(connection, slug, slug))
            Scribe(database, kbs[-1]).say("Ada", "leads", "Heron")
        with database.read(kbs[0]) as connection:
            assert (
                len(reads.find_entities(connection, kbs[0], "eron", reads.resolve(connection, kbs[0]))["entities"]) == 1
            )
    with psycopg.connect(managed) as owner:
        assert owner.execute("select count(*) from sources").fetchone() == (0,)
    folder = tmp_path / "migrations"
    folder.mkdir()
    for m in load():
        (folder / f"{m.number:04}_{m.name}.sql").write_text(m.text)
    later = f"{len(load()) + 1:04}_every_source_has_another_name.sql"
    (folder / later).write_text(
        "update sources set name = 'renamed';\n"
        "create table notes (kb_id uuid references kb (id), text text);\nselect protect_base_table('notes');"
    )
    assert len(migrate(managed, folder)) == 1
    with psycopg.connect(managed) as owner:
        owner.execute("select set_config('twoclocks.read_bases', every_base(), true)")
        assert owner.execute("select name from sources").fetchall() == [("renamed",)] * 2
        assert owner.execute("select relforcerowsecurity from pg_class where relname = 'notes'").fetchone() == (True,)
