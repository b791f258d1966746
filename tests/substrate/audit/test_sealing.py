"""What was served and what was read is sealed in batches that follow one another, and any damage to either shows.

The damages are a superuser's, triggers off, inside a transaction that is rolled back. Seals hashed anew, cut with their
rows, or of an older copy are sound in themselves: they are found against a signed seal alone, and the tests say so.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row

from substrate import access, audit
from substrate.audit import merkle
from substrate.audit.seals import genesis, seal_hash
from substrate.bases import create_base
from substrate.db import NO_BASE, Database
from substrate.documents.deletion import delete
from substrate.documents.intake import PushItem, push
from substrate.documents.restore import restore
from substrate.documents.stage import run_parse
from substrate.errors import Conflict, InvalidInput, LedgerDamaged, NotFound
from substrate.extraction.claims import Claim, ClaimTime, Drop, Extraction, Passage, Value
from substrate.extraction.stage import run_claims
from substrate.ledger.canonical import canonical_bytes
from substrate.migrate import migrate
from tests.ledger_history import HARD_CONFIDENCES, HARD_NUMBERS, HARD_TEXTS, HARD_TIMES

NEVER_LATE = 1e9


# --- the tree ---


def recursive_root(leaves: Sequence[bytes]) -> bytes:
    """RFC 6962, 2.1, word for word."""
    if len(leaves) <= 1:
        return leaves[0] if leaves else hashlib.sha256(b"").digest()
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return hashlib.sha256(b"\x01" + recursive_root(leaves[:split]) + recursive_root(leaves[split:])).digest()


def test_the_tree_is_that_of_the_rfc_and_a_path_leads_from_each_leaf_to_the_root_and_no_other_does():
    for size in range(70):
        leaves = [merkle.leaf_hash(str(n).encode()) for n in range(size)]
        root = merkle.root(leaves)
        assert root == recursive_root(leaves)
        for index, leaf in enumerate(leaves):
            path = merkle.path(leaves, index)
            assert merkle.root_of_path(leaf, index, size, path) == root
            assert merkle.root_of_path(merkle.leaf_hash(b"x"), index, size, path) != root
            assert merkle.root_of_path(leaf, index, size, [*path, leaf]) is None
            assert size == 1 or merkle.root_of_path(leaf, index, size, path[:-1]) is None
            assert size == 1 or merkle.root_of_path(leaf, (index + 1) % size, size, path) != root
        assert merkle.root_of_path(b"", size, size, []) is None
    # The known roots of the certificate transparency test vectors, sizes 0 to 3 of their inputs.
    inputs = [b"", b"\x00", b"\x10"]
    hashes = [merkle.leaf_hash(i) for i in inputs]
    assert merkle.root([]).hex().startswith("e3b0c44298fc1c14")
    assert merkle.root(hashes[:1]).hex() == "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
    assert merkle.root(hashes[:2]).hex() == "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"
    assert merkle.root(hashes).hex() == "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77"


# --- sealing ---


def says(passage: Passage) -> Extraction:
    """Claims of values that a careless encoding would change, and two drops."""
    claims = []
    for n, text in enumerate(HARD_TEXTS):
        text = text.replace("\x01", " ").replace("\x1f", " ")
        value = Value(text, HARD_NUMBERS[n], "CNY", "money") if n % 2 else None
        time = ClaimTime(HARD_TIMES[n], "second", HARD_TIMES[1], "second", words=text) if n > 1 else ClaimTime()
        claim = Claim(f"Ada {text}", "leads", passage.text[:3], 0, 3, object=None if value else text, value=value)
        claims.append(
            replace(claim, time=time, qualifiers=(("role", text),), confidence=HARD_CONFIDENCES[n], wording=text)
        )
    odd = Claim("Bo", "earns", passage.text[:3], 0, 3, value=Value("1e-7", Decimal("1e-7"), None, "number"))
    drops = (Drop("pronoun_subject", "she 🙂", "She left."), Drop("no_object", HARD_TEXTS[1]))
    return Extraction((*claims, odd), drops, {"prompt_tokens": 5})


class Reader:
    name, version = "reader", "1"

    def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
        return [says(p) for p in passages]


def principal(database: Database) -> access.Principal:
    with database.write(NO_BASE) as conn:
        person = access.create_person(conn, "Ada")
        secret = access.issue_token(conn, person, "reader").secret
    with database.read(NO_BASE) as conn:
        return access.authenticate(conn, secret)


def serve(database: Database, who: access.Principal, kb: UUID, *actions: str) -> None:
    ids = [uuid4(), uuid4()]
    events = [access.Access(who, kb, "mcp", action, n or None, ids[: n % 3], ids) for n, action in enumerate(actions)]
    access.record_access(database, *events)


def read_passages(database: Database, kb: UUID, *names: str) -> None:
    """Take documents in and read them; what was read is left unsealed, since somebody else has the sealer's lock."""
    items = [PushItem(name, f"{name}.md", f"Ada of {name} says it.\n".encode()) for name in names]
    push(database, kb, items, actor="person:Ada", via="rest")
    run_parse(database, kb)
    with psycopg.connect(database.conninfo) as busy:
        busy.execute("select pg_advisory_lock(hashtextextended('twoclocks seal ' || %s::text, 0))", (kb,))
        run_claims(database, kb, Reader())
        busy.execute("select pg_advisory_unlock_all()")  # a session that ends lets go a moment later


def verified(database: Database, kb: UUID, **more) -> audit.SealReport:
    with database.read(kb) as conn:
        return audit.verify_seals(conn, kb, **more)


def test_what_waits_is_sealed_once_in_order_and_the_seals_follow_one_another(database, kb):
    who = principal(database)
    report = verified(database, kb)
    assert (report.exit_code, report.events, report.newest) == (0, 0, genesis(kb))
    assert audit.seal_base(database, kb) == 0, "nothing waits, and no empty seal is made"
    serve(database, who, kb, *HARD_TEXTS, '\\ " \x01\x1f\x7f\t\r\n\b\f')
    read_passages(database, kb, "one", "two")
    report = verified(database, kb)
    assert (report.exit_code, report.seals, report.waiting) == (0, 0, 8), report
    with database.read(kb) as conn:
        assert audit.waiting(conn, kb).rows == 8 and not audit.waiting(conn, kb).late
    assert audit.seal_base(database, kb) == 8
    serve(database, who, kb, "later")
    assert audit.seal_base(database, kb) == 1
    report = verified(database, kb)
    assert (report.exit_code, report.seals, report.events, report.extractions, report.waiting) == (0, 2, 7, 2, 0)
    with database.read(kb) as conn:
        seals = conn.execute("select * from audit_seals order by number").fetchall()
        events = conn.execute("select * from access_events order by id").fetchall()
    assert [(s["number"], s["events"], s["extractions"]) for s in seals] == [(1, 6, 2), (2, 1, 0)]
    assert seals[0]["prev_hash"] == genesis(kb).hash and seals[1]["prev_hash"] == seals[0]["hash"]
    assert [e["seal"] for e in events] == [1] * 6 + [2]
    for e in events:
        columns = {k: v for k, v in e.items() if k not in ("kb_id", "payload", "hash", "seal")} | {"base": e["kb_id"]}
        assert bytes(e["payload"]) == canonical_bytes(columns), "the database spells as the house does"
    assert verified(database, kb, since=1).events == 1
    assert verified(database, kb, since=2, against=report.newest).ok
    assert (verified(database, kb, since=9).exit_code, verified(database, kb, since=9).first_bad_seal) == (3, 9)


def test_a_batch_too_large_for_one_seal_is_sealed_by_several(database, kb):
    who = principal(database)
    serve(database, who, kb, *map(str, range(7)))
    assert audit.seal_base(database, kb, most=3) == 7
    report = verified(database, kb)
    assert (report.exit_code, report.seals, report.events, report.waiting) == (0, 3, 7, 0)


def test_an_event_that_commits_late_comes_under_a_later_seal(database, kb, dsn):
    who = principal(database)
    with psycopg.connect(dsn) as slow:
        slow.execute("insert into access_events (kb_id, via, action) values (%s, 'rest', 'slow')", (kb,))
        serve(database, who, kb, "quick")
        assert audit.seal_base(database, kb) == 1
        assert verified(database, kb).ok
        slow.commit()
    assert audit.seal_base(database, kb) == 1
    report = verified(database, kb)
    assert (report.exit_code, report.seals, report.events) == (0, 2, 2)


def test_many_sealers_and_writers_at_once_make_one_chain(database, kb):
    who = principal(database)
    writing = threading.Event()
    problems: list[BaseException] = []

    def sealer() -> None:
        try:
            while not writing.is_set():
                audit.seal_base(database, kb, most=5)
        except BaseException as error:
            problems.append(error)

    def writer(n: int) -> None:
        try:
            for m in range(15):
                serve(database, who, kb, f"{n}.{m}")
        except BaseException as error:
            problems.append(error)

    sealers = [threading.Thread(target=sealer) for _ in range(3)]
    writers = [threading.Thread(target=writer, args=(n,)) for n in range(4)]
    for thread in (*sealers, *writers):
        thread.start()
    for thread in writers:
        thread.join(60)
    writing.set()
    for thread in sealers:
        thread.join(60)
    assert problems == []
    audit.seal_base(database, kb)
    report = verified(database, kb)
    assert (report.exit_code, report.events, report.waiting) == (0, 60, 0), report


def test_a_passage_is_read_once_and_another_answer_is_not_mixed_in(database, kb):
    read_passages(database, kb, "one")
    with database.write(kb) as conn:
        before = conn.execute("select count(*) as n from claims").fetchone()["n"]
        conn.execute("update work set state = 'due', lease_until = null where stage = 'claims'")

    class Other(Reader):
        def extract(self, passages):
            return [Extraction((replace(says(p).claims[0], subject="Eve"),) * 20) for p in passages]

    run_claims(database, kb, Other())
    with database.read(kb) as conn:
        assert conn.execute("select count(*) as n from claims").fetchone()["n"] == before
    report = verified(database, kb)
    assert (report.exit_code, report.seals, report.waiting) == (0, 1, 0), "a run seals what it read"


# --- damage ---


@dataclass
class Owner:
    """A superuser's session in which no trigger and no foreign key holds."""

    connection: psycopg.Connection
    kb: UUID
    other: UUID
    signed: audit.Seal

    def run(self, statement: str, **values: object) -> None:
        done = self.connection.execute(statement, {"kb": self.kb, "other": self.other, **values})
        assert done.rowcount != 0, "this damages nothing"

    def found(self, **more) -> tuple[int, int | None]:
        report = audit.verify_seals(self.connection, self.kb, **{"late_s": NEVER_LATE, **more})
        assert report.ok == (report.first_bad_seal is None) == (report.problem == "")
        return report.exit_code, report.first_bad_seal


@pytest.fixture(scope="module")
def written(postgres) -> Iterator[tuple[str, UUID, UUID]]:
    """Two bases of three seals each, and three rows that wait."""
    name = f"seals_{uuid4().hex[:12]}"
    with psycopg.connect(postgres, autocommit=True) as server:
        server.execute(f'create database "{name}"')
        dsn = make_conninfo(postgres, dbname=name)
        migrate(dsn)
        with Database(dsn) as database:
            who = principal(database)
            with database.write(NO_BASE) as conn:
                bases = create_base(conn, "one", "One"), create_base(conn, "two", "Two")
            for kb in bases:
                for n in range(3):
                    serve(database, who, kb, f"a{n}", f"b{n}", f"c{n}")
                    read_passages(database, kb, f"x{n}", f"y{n}")
                    audit.seal_base(database, kb)
                serve(database, who, kb, "waits", "waits too")
                read_passages(database, kb, "waiting")
        yield dsn, *bases
        server.execute(f'drop database "{name}" with (force)')


@pytest.fixture
def owner(written) -> Iterator[Owner]:
    dsn, kb, other = written
    with psycopg.connect(dsn, row_factory=dict_row) as connection:
        connection.execute("set session_replication_role = replica")
        yield Owner(connection, kb, other, audit.newest(connection, kb))
        connection.rollback()


EVENT = "where kb_id = %(kb)s and id = (select min(id) from access_events where kb_id = %(kb)s and seal = 2)"
READING = "where kb_id = %(kb)s and ctid = (select min(ctid) from extraction_usage where kb_id = %(kb)s and seal = 2)"
OF_TWO = """where kb_id = %(kb)s and ctid = (select min(x.ctid) from {0} x join extraction_usage u
            using (kb_id, chunk_id, extractor) where kb_id = %(kb)s and u.seal = 2)"""
CLAIM, DROP = OF_TWO.format("claims"), OF_TWO.format("extraction_drops")
SEAL = "where kb_id = %(kb)s and number = 2"
REHASHED = "payload = access_event_bytes(e), hash = sha256('\\x00'::bytea || access_event_bytes(e))"

DAMAGES = {
    "event taken out": (f"delete from access_events {EVENT}", 3, 2),
    "every event of a seal taken out": ("delete from access_events where kb_id = %(kb)s and seal = 2", 3, 2),
    "event changed": (f"update access_events set action = 'nothing' {EVENT}", 1, 2),
    "event changed with its bytes": (
        f"""update access_events set action = 'nothing',
                payload = replace(encode(payload, 'escape'), 'a1', 'nothing')::bytea {EVENT}""",
        1,
        2,
    ),
    "event changed and hashed anew": (
        f"with e as (update access_events set action = 'nothing' {EVENT} returning id) "
        "update access_events e set hash = sha256('x') where kb_id = %(kb)s and seal = 2",
        1,
        2,
    ),
    "event changed with its bytes and their hash": (
        f"""with gone as (delete from access_events {EVENT} returning *)
            insert into access_events (id, kb_id, at, via, action, payload, hash, seal)
            overriding system value
            select g.id, g.kb_id, g.at, g.via, 'nothing', access_event_bytes(e),
                   sha256('\\x00'::bytea || access_event_bytes(e)), g.seal
            from gone g
            cross join lateral (
                select row(g.id, g.kb_id, g.at, null, null, g.via, 'nothing', null, '{{}}', '{{}}', null, null, null
                       )::access_events as e) made""",
        1,
        2,
    ),
    "facts of an event hidden": (f"update access_events set chunk_ids = '{{}}' {EVENT}", 1, 2),
    "event moved to another seal": (f"update access_events set seal = 3 {EVENT}", 3, 2),
    "event moved to an earlier seal": (f"update access_events set seal = 1 {EVENT}", 1, 1),
    "event unsealed": (f"update access_events set seal = null {EVENT}", 3, 2),
    "event under a seal that never was": (
        "update access_events set seal = 99 where kb_id = %(kb)s and seal is null",
        1,
        99,
    ),
    "event under seal 0": ("update access_events set seal = 0 where kb_id = %(kb)s and seal is null", 1, 0),
    "forged event under a seal": (
        """insert into access_events (kb_id, via, action, payload, hash, seal)
           values (%(kb)s, 'mcp', 'x', 'x', sha256('x'), 2)""",
        1,
        2,
    ),
    "another base's event put in its place": (
        """update access_events e set payload = o.payload, hash = o.hash from access_events o
            where o.kb_id = %(other)s and o.seal = 2 and o.action = 'a1' and e.id =
            (select min(id) from access_events where kb_id = %(kb)s and seal = 2)""",
        1,
        2,
    ),
    "two events swapped": (
        """update access_events a set action = b.action, payload = b.payload, hash = b.hash from access_events b
           where a.kb_id = %(kb)s and b.kb_id = %(kb)s and a.seal = 2 and b.seal = 2
             and (a.action, b.action) in (('a1', 'b1'), ('b1', 'a1'))""",
        1,
        2,
    ),
    "waiting event changed": (
        "update access_events set action = 'nothing' where kb_id = %(kb)s and seal is null",
        1,
        4,
    ),
    "reading taken out": (f"delete from extraction_usage {READING}", 3, 2),
    "reading changed": (f"update extraction_usage set prompt_tokens = 1 {READING}", 1, 2),
    "reading's digest changed": (f"update extraction_usage set content = sha256('x') {READING}", 1, 2),
    "claim taken out": (f"delete from claims {CLAIM}", 3, 2),
    "claim changed": (f"update claims set subject = 'Eve' {CLAIM}", 1, 2),
    "claim's confidence changed": (f"update claims set confidence = 0.5 {CLAIM}", 1, 2),
    "drop taken out": (f"delete from extraction_drops {DROP}", 3, 2),
    "drop changed": (f"update extraction_drops set code = 'x' {DROP}", 1, 2),
    "claim put in": (
        f"""insert into claims (kb_id, id, chunk_id, extractor, ordinal, subject, phrase, object, quote, quote_start,
                                quote_end, grade, confidence)
            select kb_id, gen_random_uuid(), chunk_id, extractor, 99, 'Eve', 'leads', 'Orion', 'Ada', 0, 3, 'A', 1
            from claims {CLAIM}""",
        1,
        2,
    ),
    "claim of no reading put in": (
        f"""insert into claims (kb_id, id, chunk_id, extractor, ordinal, subject, phrase, object, quote, quote_start,
                                quote_end, grade, confidence)
            select kb_id, gen_random_uuid(), chunk_id, 'forged@1', 0, 'Eve', 'leads', 'Orion', 'Ada', 0, 3, 'A', 1
            from claims {CLAIM}""",
        1,
        4,
    ),
    "reading hidden as one of before there were digests": (
        f"update extraction_usage set payload = null, hash = null {READING}",
        3,
        2,
    ),
    "seal taken out": (f"delete from audit_seals {SEAL}", 3, 2),
    "first seal taken out": ("delete from audit_seals where kb_id = %(kb)s and number = 1", 3, 1),
    "last seal taken out": ("delete from audit_seals where kb_id = %(kb)s and number = 3", 1, 3),
    "count of a seal changed": (f"update audit_seals set events = events + 1 {SEAL}", 1, 2),
    "time of a seal changed": (f"update audit_seals set sealed_at = sealed_at + interval '1 microsecond' {SEAL}", 1, 2),
    "root of a seal changed": (f"update audit_seals set root = sha256('x') {SEAL}", 1, 2),
    "hash of a seal changed": (f"update audit_seals set hash = sha256('x') {SEAL}", 1, 2),
    "link of a seal changed": (f"update audit_seals set prev_hash = sha256('x') {SEAL}", 2, 2),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damage_is_found_at_its_seal(owner, name):
    assert owner.found() == (0, None)
    statement, code, seal = DAMAGES[name]
    owner.connection.execute("alter table extraction_usage drop constraint content_is_hashed")
    owner.run(statement)
    assert owner.found() == (code, seal)


def test_another_bases_seals_do_not_begin_where_these_do(owner):
    owner.run("delete from audit_seals where kb_id = %(kb)s")
    owner.run("update audit_seals set kb_id = %(kb)s where kb_id = %(other)s")
    assert owner.found() == (2, 1)


def test_what_waits_too_long_is_damage_and_what_waits_a_moment_is_not(owner):
    assert owner.found(late_s=3600) == (0, None)
    owner.run("update access_events set at = at - interval '2 hours' where kb_id = %(kb)s and seal is null")
    owner.run(f"update access_events e set {REHASHED} where kb_id = %(kb)s and seal is null")
    assert owner.found() == (0, None)
    assert owner.found(late_s=3600) == (5, 4)
    owner.run("delete from access_events where kb_id = %(kb)s and seal is null")
    assert owner.found(late_s=3600) == (0, None), "what was never sealed can be taken out: hence the second"
    assert owner.found(late_s=0) == (5, 4), "the reading waits too"


def resealed(owner: Owner) -> None:
    """Hash all seals anew over the rows that are there."""
    last = genesis(owner.kb)
    owner.run("alter table audit_seals drop constraint if exists audit_seals_kb_id_prev_hash_key")
    for row in owner.connection.execute(
        "select *, canonical_time(sealed_at) as said from audit_seals where kb_id = %s order by number", (owner.kb,)
    ).fetchall():
        number = row["number"]
        leaves = owner.connection.execute(
            """select hash from (select 0 as part, id, null::uuid as chunk, '' as extractor, hash from access_events
                                 where kb_id = %(kb)s and seal = %(n)s
                                 union all select 1, 0, chunk_id, extractor, hash from extraction_usage
                                 where kb_id = %(kb)s and seal = %(n)s) x order by part, id, chunk, extractor""",
            {"kb": owner.kb, "n": number},
        ).fetchall()
        events = owner.connection.execute(
            "select count(*) as n from access_events where kb_id = %s and seal = %s", (owner.kb, number)
        ).fetchone()["n"]
        root = merkle.root([bytes(leaf["hash"]) for leaf in leaves])
        current = seal_hash(last.hash, owner.kb, number, row["said"], events, len(leaves) - events, root)
        owner.run(
            """update audit_seals set events = %(events)s, root = %(root)s, prev_hash = %(previous)s, hash = %(current)s
               where kb_id = %(kb)s and number = %(number)s""",
            events=events,
            root=root,
            previous=last.hash,
            current=current,
            number=number,
        )
        last = audit.Seal(number, current)


def test_seals_hashed_anew_are_seen_only_against_a_signed_one(owner):
    resealed(owner)
    assert owner.found(against=owner.signed) == (0, None), "as they were"
    owner.run(f"delete from access_events {EVENT}")
    assert owner.found() == (3, 2)
    resealed(owner)
    assert owner.found() == (0, None), "nothing in the database tells them from the true ones"
    assert owner.found(against=owner.signed) == (4, 3)


@pytest.mark.parametrize("left", [2, 0])
def test_seals_cut_with_their_rows_are_seen_only_against_a_signed_one(owner, left):
    owner.run("delete from audit_seals where kb_id = %(kb)s and number > %(left)s", left=left)
    for table in ("access_events", "extraction_usage"):
        owner.run(f"delete from {table} where kb_id = %(kb)s and (seal > %(left)s or seal is null)", left=left)
    for table in ("claims", "extraction_drops"):
        owner.run(
            f"""delete from {table} x where kb_id = %(kb)s and not exists
                (select from extraction_usage u where u.kb_id = x.kb_id and u.chunk_id = x.chunk_id)"""
        )
    assert owner.found() == (0, None), "nothing in the database tells it from the true one"
    assert owner.found(against=owner.signed) == (4, left + 1)


def test_a_trusted_start_leaves_what_is_before_it_and_nothing_after(owner):
    owner.run("update access_events set action = 'x' where kb_id = %(kb)s and seal = 1")
    assert owner.found() == (1, 1)
    assert owner.found(since=1) == (0, None)
    assert owner.found(since=3, against=owner.signed) == (0, None)
    assert owner.found(since=3, against=audit.Seal(3, b"\0" * 32)) == (4, 3)
    owner.run("update access_events set action = 'x' where kb_id = %(kb)s and seal = 2")
    assert owner.found(since=1) == (1, 2)
    with pytest.raises(InvalidInput, match="before"):
        owner.found(since=3, against=audit.Seal(2, b"\0" * 32))


# --- a proof for one event ---


def test_a_proof_shows_one_event_to_whoever_holds_a_signed_seal(owner):
    kb = owner.kb
    [event] = owner.connection.execute(
        "select id from access_events where kb_id = %s and action = 'b1'", (kb,)
    ).fetchall()
    proof = audit.prove(owner.connection, kb, event["id"])
    shown = audit.check_proof(proof, kb, owner.signed)
    assert (shown.event["action"], shown.event["id"], shown.number) == ("b1", event["id"], 2)
    assert shown.newest == owner.signed
    others = {
        "event": proof["event"].replace("b1", "b2"),
        "index": proof["index"] + 1,
        "path": proof["path"][::-1],
        "previous": "00" * 32,
        "seals": proof["seals"][:1],
    }
    for key, value in others.items():
        with pytest.raises(LedgerDamaged):
            audit.check_proof({**proof, key: value}, kb, owner.signed)
    wrong = {"twoclocks": "ledger", "version": 2, "base": str(owner.other), "path": ["x"], "seals": []}
    for key, value in wrong.items():
        with pytest.raises(InvalidInput):
            audit.check_proof({**proof, key: value}, kb, owner.signed)
    with pytest.raises(InvalidInput):
        audit.check_proof({}, kb, owner.signed)
    with pytest.raises(LedgerDamaged, match="does not lead"):
        audit.check_proof(proof, kb, audit.Seal(3, b"\0" * 32))
    [waits] = owner.connection.execute(
        "select id from access_events where kb_id = %s and action = 'waits'", (kb,)
    ).fetchall()
    with pytest.raises(Conflict):
        audit.prove(owner.connection, kb, waits["id"])
    with pytest.raises(NotFound):
        audit.prove(owner.connection, owner.other, event["id"])


def test_times_of_before_and_after_are_kept_to_the_microsecond(database, kb, dsn):
    with psycopg.connect(dsn) as connection:
        for at in (datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC), *HARD_TIMES):
            connection.execute(
                "insert into access_events (kb_id, at, via, action) values (%s, %s, 'rest', 'x')", (kb, at)
            )
    audit.seal_base(database, kb)
    assert verified(database, kb).ok


def test_what_a_restoration_tells_anew_is_sealed_with_it(database, kb):
    push(database, kb, [PushItem("one", "one.md", b"Ada of one says it.\n")], actor="person:Ada", via="rest")
    run_parse(database, kb)
    run_claims(database, kb, Reader())
    gone = delete(database, kb, external_id="one", actor="person:Ada", via="rest")
    assert verified(database, kb).extractions == 1
    with database.read(kb) as conn:
        [deletion] = conn.execute("select id from document_deletions").fetchall()
    restore(database, kb, deletion["id"], actor="person:Ada", via="rest")
    report = verified(database, kb)
    assert (report.exit_code, report.seals, report.extractions, report.waiting) == (0, 2, 2, 0), (gone, report)
