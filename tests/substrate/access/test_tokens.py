"""What a token is, who it speaks for, and how soon it stops speaking."""

from __future__ import annotations

import threading
from uuid import uuid4

import pytest

from substrate import access, errors
from substrate.access.token_shape import digest, new_secret, shown_prefix, well_formed
from substrate.db import EVERY_BASE


@pytest.fixture
def ada(database):
    with database.write(EVERY_BASE) as conn:
        return access.create_person(conn, "Ada", "ada@example.org")


def _issue(database, person, **options):
    with database.write(EVERY_BASE) as conn:
        return access.issue_token(conn, person, "laptop", **options)


def _authenticate(database, secret):
    with database.read(EVERY_BASE) as conn:
        return access.authenticate(conn, secret)


def test_a_new_secret_is_well_formed_and_a_changed_one_is_not():
    secret = new_secret()
    assert len(secret) == 56
    assert secret.startswith("tc_pat_")
    assert well_formed(secret)
    for i in range(len(secret)):
        changed = secret[:i] + ("a" if secret[i] != "a" else "b") + secret[i + 1 :]
        assert not well_formed(changed), i
    assert not well_formed("")
    assert not well_formed(secret + "x")
    assert not well_formed(secret.replace("tc_pat_", "utp_pat_"))
    assert not well_formed("tc_pat_" + "é" * 49)
    assert len({new_secret() for _ in range(100)}) == 100
    assert shown_prefix(secret) not in ("", secret)


def test_a_malformed_token_costs_no_query():
    class Unreachable:
        def execute(self, *_):
            raise AssertionError("the database was asked")

    for presented in (None, "", "nonsense", "tc_pat_" + "0" * 49, new_secret()[:-1]):
        with pytest.raises(errors.Unauthenticated):
            access.authenticate(Unreachable(), presented)


def test_a_token_speaks_for_its_owner_and_only_its_hash_is_kept(database, ada):
    issued = _issue(database, ada)
    principal = _authenticate(database, issued.secret)
    assert (principal.person_id, principal.person_name, principal.scope) == (ada, "Ada", "read")
    assert principal.kb_ids is None
    with database.read(EVERY_BASE) as conn:
        row = conn.execute("select * from tokens where kind = 'personal'").fetchone()
    assert row["hash"] == digest(issued.secret)
    assert issued.secret not in repr(row)
    assert issued.secret not in repr(issued)
    assert (row["expires_at"] - row["created_at"]).days == 90


def test_a_token_nobody_issued_is_refused(database, ada):
    _issue(database, ada)
    with pytest.raises(errors.Unauthenticated):
        _authenticate(database, new_secret())


def test_an_expired_token_is_refused(database, ada):
    issued = _issue(database, ada)
    assert _authenticate(database, issued.secret)
    with database.write(EVERY_BASE) as conn:
        conn.execute("update tokens set expires_at = clock_timestamp() - interval '1 second'")
    with pytest.raises(errors.Unauthenticated):
        _authenticate(database, issued.secret)


def test_revoking_takes_effect_with_the_next_call_and_twice_is_no_error(database, ada):
    issued, other = _issue(database, ada), _issue(database, ada)
    assert _authenticate(database, issued.secret)
    for _ in range(2):
        with database.write(EVERY_BASE) as conn:
            access.revoke_token(conn, issued.id)
    with pytest.raises(errors.Unauthenticated):
        _authenticate(database, issued.secret)
    assert _authenticate(database, other.secret)
    with database.write(EVERY_BASE) as conn, pytest.raises(errors.NotFound):
        access.revoke_token(conn, uuid4())


def test_last_use_is_written_at_most_once_a_minute(database, ada):
    issued = _issue(database, ada)

    def used():
        access.note_use(database, _authenticate(database, issued.secret))
        with database.read(EVERY_BASE) as conn:
            return conn.execute("select last_used_at from tokens where kind = 'personal'").fetchone()["last_used_at"]

    first = used()
    assert first is not None
    assert used() == first
    with database.write(EVERY_BASE) as conn:
        conn.execute("update tokens set last_used_at = last_used_at - interval '61 seconds'")
    assert used() > first


def test_bad_options_are_refused_by_name(database, ada):
    for options, field in (
        ({"scope": "admin"}, "scope"),
        ({"days": 0}, "days"),
        ({"days": 100000}, "days"),
        ({"kb_ids": []}, "kb_ids"),
    ):
        with pytest.raises(errors.InvalidInput) as caught:
            _issue(database, ada, **options)
        assert caught.value.facts["field"] == field


def test_lists_show_what_a_person_has_and_nothing_that_could_be_presented(database, ada):
    with database.write(EVERY_BASE) as conn:
        bob = access.create_person(conn, "Bob")
        access.issue_token(conn, bob, "other")
    issued = _issue(database, ada, scope="write")
    with database.read(EVERY_BASE) as conn:
        own, everybody = access.list_tokens(conn, ada), access.list_tokens(conn)
    assert [t["name"] for t in own] == ["laptop"]
    assert len(everybody) == 2
    assert "hash" not in own[0]
    assert issued.secret not in repr(own)


def test_two_people_may_share_a_name_but_not_an_address(database, ada):
    with database.write(EVERY_BASE) as conn:
        access.create_person(conn, "Ada")
        with pytest.raises(errors.Conflict):
            access.create_person(conn, "Ada L.", "ada@example.org")
        with pytest.raises(errors.Conflict):
            access.person_named(conn, "Ada")
        assert access.person_named(conn, "Nobody") is None


@pytest.mark.parametrize(
    ("role", "scope", "may_read", "may_write"),
    [
        (None, "write", False, False),
        ("viewer", "read", True, False),
        ("viewer", "write", True, False),
        ("editor", "read", True, False),
        ("editor", "write", True, True),
        ("owner", "write", True, True),
    ],
)
def test_scope_is_a_ceiling_and_role_the_ground(database, kb, ada, role, scope, may_read, may_write):
    if role is not None:
        with database.write(kb) as conn:
            access.set_member(conn, kb, ada, role)
    secret = _issue(database, ada, scope=scope).secret
    with database.ask() as conn:
        if not may_read:
            with pytest.raises(errors.NotFound):
                access.admit(conn, secret, kb)
            return
        principal, found = access.admit(conn, secret, kb)
    assert (found, access.may_write(principal, found)) == (role, may_write)


def test_a_base_outside_the_tokens_list_is_as_absent_as_one_that_never_was(database, kb, ada):
    from substrate.bases import create_base

    with database.write(kb) as conn:
        second = create_base(conn, "second", "Second")
        for base in (kb, second):
            access.set_member(conn, base, ada, "owner")
    secret = _issue(database, ada, scope="write", kb_ids=[second]).secret
    narrow = _authenticate(database, secret)
    wide = _authenticate(database, _issue(database, ada).secret)
    with database.read(kb) as conn:
        assert access.admit(conn, secret, second) == (narrow, "owner")
        said = []
        for hidden in (kb, uuid4()):
            with pytest.raises(errors.NotFound) as caught:
                access.admit(conn, secret, hidden)
            said.append((str(caught.value), caught.value.facts))
        assert said[0] == said[1]
        assert [b["slug"] for b in access.visible_bases(conn, narrow)] == ["second"]
        assert [b["slug"] for b in access.visible_bases(conn, wide)] == ["second", "test"]


def test_leaving_a_base_hides_it_from_every_token_at_once(database, kb, ada):
    with database.write(kb) as conn:
        access.set_member(conn, kb, ada, "editor")
    secret = _issue(database, ada).secret
    with database.write(kb) as conn:
        assert access.admit(conn, secret, kb)[1] == "editor"
        access.remove_member(conn, kb, ada)
        with pytest.raises(errors.NotFound):
            access.admit(conn, secret, kb)
        with pytest.raises(errors.NotFound):
            access.remove_member(conn, kb, ada)


def test_what_was_served_is_written_down_beside_the_head_lock(database, kb, ada):
    principal = _authenticate(database, _issue(database, ada).secret)
    fact = uuid4()
    with database.write(kb) as holder:
        holder.execute("select 1 from kb_head where kb_id = %s for update", (kb,))
        done = threading.Event()

        def write():
            access.record_access(database, access.Access(principal, kb, "mcp", "entity_facts", seq=3, fact_ids=[fact]))
            done.set()

        thread = threading.Thread(target=write)
        thread.start()
        waited = done.wait(120)
        thread.join(120)
    assert waited, "writing down an access waited for the head lock"
    with database.read(kb) as conn:
        row = conn.execute("select * from access_events").fetchone()
    assert (row["person_id"], row["token_id"], row["fact_ids"], row["seq"]) == (
        ada,
        principal.token_id,
        [fact],
        3,
    )
