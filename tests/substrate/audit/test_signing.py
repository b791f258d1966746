"""Checkpoints vouch for the seals, are copied out, and never paint over damage; what they vouch for can be proven."""

from __future__ import annotations

import fcntl
import json
import shutil
import stat
import threading
from pathlib import Path

import psycopg
import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from api.cli.main import main
from substrate import access, audit
from substrate.audit.signing import keep_checkpoint, keep_checkpoints
from substrate.audit.whole import verify_new, verify_signed
from substrate.bases import create_base
from substrate.db import NO_BASE
from substrate.errors import InvalidInput, LedgerDamaged, Unavailable
from substrate.ledger.checkpoints import Checkpoint, check_checkpoint, is_behind, load_key, sign
from substrate.ledger.verify import verify
from tests.ledger_history import History


@pytest.fixture
def history(database, kb):
    return History(database, kb)


@pytest.fixture
def ada(database):
    with database.write(NO_BASE) as conn:
        secret = access.issue_token(conn, access.create_person(conn, "Ada"), "her client").secret
    with database.read(NO_BASE) as conn:
        return access.authenticate(conn, secret)


def serve(database, ada, kb, *actions):
    access.record_access(database, *(access.Access(ada, kb, "mcp", action) for action in actions))


def owner(dsn, statement, *values):
    with psycopg.connect(dsn) as connection:
        connection.execute("set session_replication_role = replica")
        assert connection.execute(statement, values).rowcount


def test_a_checkpoint_names_the_last_seal_and_nothing_of_that_line_can_be_changed(kb):
    key = Ed25519PrivateKey.generate()
    signed = Checkpoint(kb, 7, b"a" * 32, 17, b"b" * 32)
    text = sign(signed, key)
    assert text.splitlines()[3] == "seals 17 YmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmI="
    assert check_checkpoint(text, key.public_key()) == signed
    line = text.splitlines()[3] + "\n"
    for wrong in ("", line * 2, line.replace("17", "18"), line.replace("17", "0"), line.replace("seals", "Seals")):
        with pytest.raises(InvalidInput):
            check_checkpoint(text.replace(line, wrong), key.public_key())
    without = sign(Checkpoint(kb, 7, b"a" * 32), key)
    assert len(without.splitlines()) == 5
    assert check_checkpoint(without, key.public_key()).sealed == 0


def test_what_is_signed_was_sealed_and_verified_before(history, database, kb, settings, ada, dsn):
    def behind():
        with database.read(kb) as conn:
            return is_behind(conn, kb, settings.checkpoints_dir)

    first = keep_checkpoint(database, kb, settings)
    assert (first.exported.checkpoint.sealed, first.exported.new, behind()) == (1, True, False), "the one reading"
    serve(database, ada, kb, "one")
    assert not behind(), "not sealed yet"
    second = keep_checkpoint(database, kb, settings)
    assert (second.exported.checkpoint.seq, second.exported.checkpoint.sealed) == (first.exported.checkpoint.seq, 2)
    assert second.waited.rows == 1
    assert not keep_checkpoint(database, kb, settings).exported.new
    history.say("Ed", "works_on", "Orion")
    assert behind()
    third = keep_checkpoints(database, settings)
    assert [k.exported.checkpoint.sealed for k in third] == [2]
    serve(database, ada, kb, "two")
    audit.seal_base(database, kb)
    owner(dsn, "update access_events set action = 'nothing' where kb_id = %s and action = 'two'", kb)
    with pytest.raises(LedgerDamaged, match="not what its bytes say"):
        keep_checkpoint(database, kb, settings)
    owner(dsn, "delete from audit_seals where kb_id = %s", kb)
    owner(dsn, "delete from access_events where kb_id = %s", kb)
    owner(dsn, "delete from extraction_usage where kb_id = %s", kb)
    with pytest.raises(LedgerDamaged, match="seal 2 is missing"):
        keep_checkpoint(database, kb, settings)
    latest = settings.checkpoints_dir / str(kb) / "latest.txt"
    assert latest.read_text() == third[0].exported.text, "the last good one stands"


def test_one_damaged_base_does_not_keep_the_others_from_being_signed(history, database, kb, settings, dsn):
    with database.write(NO_BASE) as conn:
        other = create_base(conn, "another", "Another")
    keep_checkpoint(database, kb, settings)
    history.say("Ed", "works_on", "Orion")
    owner(dsn, "update ledger_log set kind = 'x' where kb_id = %s and seq = %s and ordinal = 1", kb, history.seq())
    with pytest.raises(LedgerDamaged):
        keep_checkpoints(database, settings)
    assert (settings.checkpoints_dir / str(other) / "latest.txt").exists()


def test_whoever_signs_waits_for_whoever_is_signing(history, database, kb, settings):
    keep_checkpoint(database, kb, settings)
    history.say("Ed", "works_on", "Orion")
    second = threading.Thread(target=keep_checkpoint, args=(database, kb, settings))
    with (settings.checkpoints_dir / str(kb) / ".lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        second.start()
        second.join(0.5)
        assert second.is_alive()
    second.join(60)
    assert keep_checkpoint(database, kb, settings).exported.new is False


def test_several_who_sign_at_once_never_take_one_another_for_an_older_copy(history, database, kb, settings):
    problems, going = [], threading.Event()

    def signer():
        try:
            while not going.is_set():
                keep_checkpoint(database, kb, settings)
        except Exception as error:
            problems.append(error)

    threads = [threading.Thread(target=signer) for _ in range(3)]
    for thread in threads:
        thread.start()
    for n in range(12):
        history.say(f"Ed {n}", "works_on", "Orion")
    going.set()
    for thread in threads:
        thread.join(60)
    assert problems == []
    assert keep_checkpoint(database, kb, settings).exported.checkpoint.seq == history.seq()


def test_copies_go_where_they_are_told_and_a_place_that_fails_is_named_without_its_secrets(
    history, database, kb, settings, tmp_path
):
    place = tmp_path / "elsewhere"
    told = settings.model_copy(update={"checkpoint_copies": str(place)})
    first = keep_checkpoint(database, kb, told)
    names = sorted(p.relative_to(place).as_posix() for p in place.rglob("*") if p.is_file())
    history_file = f"{kb}/history/{first.exported.checkpoint.seq:012}.txt"
    assert names == sorted([history_file, f"{kb}/latest.txt", "checkpoints.pub"])
    shutil.rmtree(place)
    assert not keep_checkpoint(database, kb, told).exported.new
    assert (place / str(kb) / "latest.txt").read_text() == first.exported.text, "a copy that is gone is made again"
    url = f"file://{tmp_path}/by-url"
    keep_checkpoint(database, kb, settings.model_copy(update={"checkpoint_copies": url}))
    assert (tmp_path / "by-url" / str(kb) / "latest.txt").read_text() == first.exported.text
    (tmp_path / "a-file").write_text("")
    for wrong in (str(tmp_path / "a-file" / "x"), "nothing://key:secret@host/x"):
        with pytest.raises(Unavailable) as caught:
            keep_checkpoint(database, kb, settings.model_copy(update={"checkpoint_copies": wrong}))
        assert "secret" not in str(caught.value)
    assert stat.S_IMODE(settings.checkpoint_key.stat().st_mode) == 0o600


def test_the_key_may_lie_elsewhere(history, database, kb, settings, tmp_path):
    elsewhere = settings.model_copy(update={"checkpoint_key_file": tmp_path / "held" / "signing.pem"})
    kept = keep_checkpoint(database, kb, elsewhere)
    assert (tmp_path / "held" / "signing.pub").exists() and not settings.checkpoint_key.exists()
    key = load_key(tmp_path / "held" / "signing.pem")
    assert check_checkpoint(kept.exported.text, key.public_key()) == kept.exported.checkpoint
    with pytest.raises(InvalidInput, match="not signed by this key"):
        keep_checkpoint(database, kb, settings)


def test_only_what_came_since_the_last_checkpoint_is_walked_and_all_of_it(history, database, kb, settings, ada, dsn):
    def new():
        with database.read(kb) as conn:
            return verify_new(conn, kb, settings)

    assert (new().ok, new().ledger.since) == (True, 0), "everything, where nothing was signed"
    serve(database, ada, kb, "one")
    seq = keep_checkpoint(database, kb, settings).exported.checkpoint.seq
    found = new()
    assert (found.ok, found.ledger.since, found.ledger.events, found.seals.since) == (True, seq, 0, 1)
    history.say("Ed", "works_on", "Orion")
    serve(database, ada, kb, "two")
    found = new()
    assert found.ok and found.ledger.events > 0 and found.seals.events == 1
    owner(dsn, "update facts set phrase = 'x' where kb_id = %s and recorded_seq = %s", kb, history.seq())
    assert new().exit_code == 1
    with database.read(kb) as conn:
        whole = verify_signed(conn, kb, settings)
    assert (whole.exit_code, whole.ledger.first_bad_seq, whole.ledger.since) == (1, history.seq(), 0)
    owner(dsn, "update ledger_log set hash = sha256('x') where kb_id = %s and seq = %s", kb, seq)
    assert new().exit_code == 4, "the trusted start is what was signed, or it is not trusted"


def test_a_base_that_fell_behind_its_checkpoint_is_found_out(history, database, kb, settings, dsn):
    keep_checkpoint(database, kb, settings)
    for statement in (
        "update kb_head set seq = 0, at = 'epoch', hash = sha256('x') where kb_id = %s",
        "delete from ledger_log where kb_id = %s",
    ):
        owner(dsn, statement, kb)
    with database.read(kb) as conn:
        assert not verify_new(conn, kb, settings).ok


@pytest.fixture
def cli(dsn, tmp_path):
    environment = {"TWOCLOCKS_DATABASE_URL": dsn, "TWOCLOCKS_DATA_DIR": str(tmp_path / "data")}

    def run(*arguments, code=0, **more):
        done = CliRunner().invoke(main, ["ledger", *map(str, arguments)], env={**environment, **more})
        assert done.exit_code == code, done.output
        return done.stdout + done.stderr

    return run


def test_who_was_served_what_is_listed_proven_and_checked_elsewhere(history, database, kb, ada, cli, dsn, tmp_path):
    fact = history.one("facts", "id")
    access.record_access(database, access.Access(ada, kb, "mcp", "get_facts", 3, [fact]))
    serve(database, ada, kb, "search")
    said = cli("access")
    assert said.count("Ada (her client)") == 2 and "not sealed yet" in said
    [event] = json.loads(cli("access", "--fact", fact, "--json"))["events"]
    assert (event["action"], event["fact_ids"], event["seal"]) == ("get_facts", [str(fact)], None)
    assert "1 older" in cli("access", "--limit", 1)
    assert "not sealed yet" in cli("prove", event["id"], tmp_path / "proof.json", code=9)
    assert cli("seal") == "sealed: 3 rows\n"
    assert cli("seal") == "sealed: 0 rows\n"
    assert "it leads to seal 1" in cli("prove", event["id"], tmp_path / "proof.json")
    kept, key = tmp_path / "kept.txt", tmp_path / "data" / "keys" / "checkpoints.pub"
    text = cli("checkpoint")
    kept.write_text(text[: text.rindex("in ")], encoding="utf-8")
    nowhere = {
        "TWOCLOCKS_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none",
        "TWOCLOCKS_DATA_DIR": str(tmp_path / "other"),
    }
    shown = cli("verify-proof", tmp_path / "proof.json", "--against", kept, "--public-key", key, **nowhere)
    assert '"action": "get_facts"' in shown and shown.endswith("verifies\n")
    proof = Path(tmp_path / "proof.json").read_text()
    (tmp_path / "forged.json").write_text(proof.replace("get_facts", "get_things"))
    said = cli("verify-proof", tmp_path / "forged.json", "--against", kept, "--public-key", key, code=4, **nowhere)
    assert "not under the seal" in said
    (tmp_path / "none.json").write_text("[]")
    cli("verify-proof", tmp_path / "none.json", "--against", kept, "--public-key", key, code=9, **nowhere)


def test_verify_tells_of_the_seals_and_exits_with_their_damage(history, database, kb, ada, cli, dsn, tmp_path):
    serve(database, ada, kb, "search")
    said = cli("verify")
    assert "checked: 1 access events and 1 readings in 0 seals, 2 of them not sealed yet" in said
    owner(dsn, "update access_events set at = at - interval '1 minute' where kb_id = %s", kb)
    owner(
        dsn,
        r"update access_events e set payload = access_event_bytes(e), hash = sha256('\x00' || access_event_bytes(e))"
        " where kb_id = %s",
        kb,
    )
    assert "damage: unsealed, first at seal 1: a row waits for a seal since" in cli("verify", code=5)
    text = cli("checkpoint")
    (tmp_path / "kept.txt").write_text(text[: text.rindex("in ")], encoding="utf-8")
    said = cli("verify", "--against", tmp_path / "kept.txt")
    assert "checkpoint: seal 1 is as it was signed" in said and said.endswith("verifies\n")
    owner(dsn, "delete from access_events where kb_id = %s", kb)
    assert "damage: missing, first at seal 1" in cli("verify", code=3)
    said = cli("verify", "--since", history.seq(), "--against", tmp_path / "kept.txt")
    assert "in seals 2 to 1" in said, "what the checkpoint vouches for is trusted with it"
    owner(dsn, "update ledger_transaction set why = 'x' where kb_id = %s and seq = 2", kb)
    assert "exit status 1" in cli("verify", code=1), "the chain's damage comes first"


def test_a_dump_and_another_place_and_language_raise_no_alarm(history, database, kb, ada, dsn, tmp_path):
    """Timezone, date style and locale of the session; a restored copy."""
    from tests.substrate.ledger.test_audit import restored, tool

    serve(database, ada, kb, "é🙂", "e\u0301")
    audit.seal_base(database, kb)
    serve(database, ada, kb, "waits")
    file = tmp_path / "copy.dump"
    tool("pg_dump", "--format=custom", f"--file={file}", dsn)
    with restored(dsn, file) as connection:
        for zone, style in (("Asia/Kathmandu", "German"), ("America/St_Johns", "SQL, DMY"), ("UTC", "Postgres, MDY")):
            connection.execute(f"set timezone = '{zone}'")
            connection.execute(f"set datestyle = '{style}'")
            connection.execute(
                "set intervalstyle = 'sql_standard'; set extra_float_digits = 0; set bytea_output = 'escape'"
            )
            connection.commit()
            report = audit.verify_seals(connection, kb, late_s=600)
            assert (report.exit_code, report.events, report.extractions) == (0, 3, 1), (zone, report)
            assert verify(connection, kb).ok
            connection.rollback()
        connection.execute(
            "insert into access_events (kb_id, via, action) values (%s, 'mcp', 'after the restoration')", (kb,)
        )
        connection.commit()
        from substrate.db import Database

        with Database(connection.info.dsn) as copy:
            assert audit.seal_base(copy, kb) == 2
        assert audit.verify_seals(connection, kb).seals == 2
