"""A signed checkpoint says what it says, its key stays with its owner, and an export is checked by the file alone."""

from __future__ import annotations

import base64
import io
import json
import socket
import stat
from pathlib import Path

import psycopg
import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from api.cli.main import main
from substrate.bases import create_base
from substrate.db import EVERY_BASE, NO_BASE
from substrate.errors import InvalidInput, LedgerDamaged, NotFound, Unavailable
from substrate.ledger.canonical import chain_hash, genesis_hash, payload_hash
from substrate.ledger.checkpoints import (
    Checkpoint,
    check_checkpoint,
    export_checkpoint,
    load_key,
    make_checkpoint,
    public_key_file,
    public_key_text,
    read_public_key,
    sign,
)
from substrate.ledger.exports import export_log, verify_export
from tests.ledger_history import History


@pytest.fixture
def history(database, kb) -> History:
    return History(database, kb)


def read(database, act):
    with database.read(EVERY_BASE) as conn:
        return act(conn)


def test_a_checkpoint_is_a_signed_note_of_base_number_and_hash(history, database, kb):
    key = Ed25519PrivateKey.generate()
    text = read(database, lambda c: make_checkpoint(c, kb, key))
    origin, number, head, empty, signature = text.splitlines()
    assert (origin, number, empty) == (f"twoclocks/{kb}", str(history.seq()), "")
    assert len(base64.b64decode(head)) == 32 and signature.startswith("— twoclocks ") and text.endswith("\n")
    signed = check_checkpoint(text, key.public_key())
    assert (signed.kb_id, signed.seq, base64.b64encode(signed.hash).decode()) == (kb, int(number), head)
    theirs = text + "— witness.example AAAAAAAA\n"
    assert check_checkpoint(theirs, key.public_key()) == signed, "another's signature beside ours changes nothing"
    with pytest.raises(NotFound):
        read(database, lambda c: make_checkpoint(c, history.entity("Ada"), key))


def test_nothing_on_a_checkpoint_can_be_changed(kb):
    key = Ed25519PrivateKey.generate()
    text = sign(Checkpoint(kb, 1042, genesis_hash(kb)), key)
    changed = [
        text.replace("1042", "1041"),
        text.replace("1042", "01042"),
        text.replace("\n\n", "\nmore\n\n"),
        text.replace(str(kb)[:8], "00000000"),
        text.replace("— twoclocks", "— somebody"),
        text[:-9] + text[-9:].swapcase(),
        text.replace("\n", "\r\n"),
        text.rstrip("\n"),
        "",
        text.split("\n\n")[0] + "\n\n",
    ]
    assert check_checkpoint(text, key.public_key()).seq == 1042
    for wrong in changed:
        with pytest.raises(InvalidInput):
            check_checkpoint(wrong, key.public_key())
    with pytest.raises(InvalidInput, match="not signed by this key"):
        check_checkpoint(text, Ed25519PrivateKey.generate().public_key())


def test_the_key_is_made_once_and_readable_by_its_owner_alone(tmp_path):
    path = tmp_path / "keys" / "checkpoints.pem"
    key = load_key(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert load_key(path).private_bytes_raw() == key.private_bytes_raw()
    assert sorted(p.name for p in path.parent.iterdir()) == ["checkpoints.pem", "checkpoints.pub"], (
        "nothing is left over"
    )
    public = public_key_file(path).read_text()
    assert read_public_key(public) == key.public_key() and public == public_key_text(key.public_key())
    for wrong in (public.replace("+", "-"), public[:-6], "twoclocks+00000000+" + public.split("+", 2)[2], ""):
        with pytest.raises(InvalidInput):
            read_public_key(wrong)
    path.chmod(0o640)
    with pytest.raises(Unavailable, match="0600"):
        load_key(path)
    path.chmod(0o600)
    path.write_text("no key")
    with pytest.raises(Unavailable, match="no signing key"):
        load_key(path)


def test_checkpoints_are_kept_and_never_painted_over_damage(history, database, kb, dsn, tmp_path):
    key = load_key(tmp_path / "key.pem")
    first = read(database, lambda c: export_checkpoint(c, kb, tmp_path / "out", key))
    assert first.new and first.latest.read_text() == first.text
    assert not read(database, lambda c: export_checkpoint(c, kb, tmp_path / "out", key)).new, "the base has not moved"
    history.say("Ed", "works_on", "Orion")
    second = read(database, lambda c: export_checkpoint(c, kb, tmp_path / "out", key))
    assert second.new and second.checkpoint.seq > first.checkpoint.seq
    kept = sorted((tmp_path / "out" / str(kb) / "history").iterdir())
    assert [p.read_text() for p in kept] == [first.text, second.text]
    history.say("Flo", "works_on", "Orion")
    with psycopg.connect(dsn) as owner:
        owner.execute("set session_replication_role = replica")
        owner.execute(
            "update ledger_transaction set actor = 'person:Eve' where kb_id = %s and seq = %s", (kb, history.seq())
        )
    with pytest.raises(LedgerDamaged):
        read(database, lambda c: export_checkpoint(c, kb, tmp_path / "out", key))
    with psycopg.connect(dsn) as owner:
        owner.execute("set session_replication_role = replica")
        for table in ("ledger_log", "ledger_transaction"):
            owner.execute(f"delete from {table} where kb_id = %s", (kb,))
        owner.execute("update kb_head set seq = 0, at = 'epoch', hash = %s where kb_id = %s", (genesis_hash(kb), kb))
    with pytest.raises(LedgerDamaged, match="cut, or an older copy"):
        read(database, lambda c: export_checkpoint(c, kb, tmp_path / "out", key))
    assert second.latest.read_text() == second.text, "the last good one stands"


def exported(database, kb) -> bytes:
    out = io.BytesIO()
    read(database, lambda c: export_log(c, kb, out))
    return out.getvalue()


def test_an_export_is_checked_with_no_database(history, database, kb, monkeypatch):
    key = Ed25519PrivateKey.generate()
    signed = check_checkpoint(read(database, lambda c: make_checkpoint(c, kb, key)), key.public_key())
    lines = exported(database, kb).splitlines(keepends=True)

    def nowhere(*_: object, **__: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(psycopg, "connect", nowhere)
    monkeypatch.setattr(psycopg.Connection, "connect", nowhere)
    monkeypatch.setattr(socket.socket, "connect", nowhere)
    report = verify_export(lines, against=signed)
    assert (report.exit_code, report.events, report.head_seq, report.unsealed) == (0, len(lines) - 1, signed.seq, 0)

    def outcome(changed: list[bytes], against: Checkpoint | None = None) -> tuple[int, int | None]:
        found = verify_export(changed, against=against)
        return found.exit_code, found.first_bad_seq

    place = next(i for i, line in enumerate(lines) if b"person:test" in line and i > 20)
    event = json.loads(lines[place])
    other = json.dumps({**event, "payload": event["payload"].replace("person:test", "person:Eve")}).encode()
    assert outcome([*lines[:place], other, *lines[place + 1 :]]) == (1, event["seq"])
    assert outcome([*lines[:place], *lines[place + 1 :]])[0] == 3
    assert outcome([*lines[:place], lines[place][:40]]) == (1, event["seq"] - 1), "half a line"
    assert outcome([*lines[:place], lines[place + 1], lines[place], *lines[place + 2 :]])[0] == 3
    assert outcome(lines[:-1])[0] == 3, "cut"
    whole = [line for line in lines[1:] if json.loads(line)["seq"] < signed.seq]
    assert outcome([lines[0], *whole]) == (3, signed.seq), "cut between transactions"
    end = json.loads(lines[-1])
    place = {"seq": end["seq"], "ordinal": end["ordinal"] + 1, "kind": "note"}
    forged = chain_hash(bytes.fromhex(end["hash"]), *place.values(), payload_hash(bytes(16), b"{}")).hex()
    added = {**place, "payload": "{}", "salt": bytes(16).hex(), "prev": end["hash"], "hash": forged}
    added = json.dumps(added).encode()
    head = json.dumps({**json.loads(lines[0]), "hash": forged}).encode()
    assert outcome([head, *lines[1:], added]) == (1, end["seq"]), "its header does not count it"
    for wrong in ([], [b"{}\n"], [b"x"], [lines[0].replace(b'"version": 2', b'"version": 3')], lines[1:]):
        with pytest.raises(InvalidInput):
            verify_export(wrong)


def test_a_cut_export_with_a_head_of_its_own_is_seen_only_against_a_checkpoint(history, database, kb):
    key = Ed25519PrivateKey.generate()
    before = exported(database, kb).splitlines(keepends=True)
    history.say("Ed", "works_on", "Orion")
    signed = check_checkpoint(read(database, lambda c: make_checkpoint(c, kb, key)), key.public_key())
    assert verify_export(before).ok
    report = verify_export(before, against=signed)
    assert (report.exit_code, report.first_bad_seq) == (4, json.loads(before[0])["seq"] + 1)
    later = exported(database, kb).splitlines(keepends=True)
    assert verify_export(later, against=signed).ok
    assert verify_export(later, against=Checkpoint(kb, 3, b"\0" * 32)).exit_code == 4


def test_bytes_that_are_no_text_are_carried_out_as_they_are(history, database, kb, dsn):
    with psycopg.connect(dsn) as owner:
        owner.execute("set session_replication_role = replica")
        owner.execute("update ledger_log set payload = '\\xff00ed' where kb_id = %s and seq = 2 and ordinal = 1", (kb,))
    out = exported(database, kb)
    assert rb'"\udcff\u0000\udced"' in out
    report = verify_export(out.splitlines(keepends=True))
    assert (report.exit_code, report.first_bad_seq) == (1, 2)


@pytest.fixture
def cli(dsn, tmp_path):
    environment = {"TWOCLOCKS_DATABASE_URL": dsn, "TWOCLOCKS_DATA_DIR": str(tmp_path / "data")}

    def run(*arguments, code=0, **more):
        done = CliRunner().invoke(main, ["ledger", *map(str, arguments)], env={**environment, **more})
        assert done.exit_code == code, done.output
        return done.stdout + done.stderr

    return run


def test_the_commands_say_what_was_checked_and_exit_with_the_kind_of_damage(history, database, dsn, kb, cli, tmp_path):
    log, kept = tmp_path / "log.jsonl", tmp_path / "kept.txt"
    said = cli("verify")
    assert said.startswith("checked: ") and "checkpoint: none" in said and said.endswith("verifies\n")
    assert "does not exist" in cli("verify", "--against", log, code=9)
    text = cli("checkpoint")
    kept.write_text(text[: text.rindex("in ")], encoding="utf-8")
    assert f"events in {log}" in cli("export", log)
    assert "0 came after it" in cli("verify", "--against", kept, "--since", history.seq())
    nowhere = {"TWOCLOCKS_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"}
    key = tmp_path / "data" / "keys" / "checkpoints.pub"
    assert "0 came after it" in cli("verify-export", log, "--against", kept, "--public-key", key, **nowhere)
    nothing = {**nowhere, "TWOCLOCKS_DATA_DIR": str(tmp_path / "elsewhere")}
    assert "--public-key" in cli("verify-export", log, "--against", kept, code=9, **nothing)
    history.say("Ed", "works_on", "Orion")
    assert "exit status 5" in cli("verify", "--against", kept, "--max-age", 0, code=5)
    with psycopg.connect(dsn) as owner:
        owner.execute("set session_replication_role = replica")
        owner.execute("update ledger_transaction set why = 'x' where kb_id = %s and seq = 5", (kb,))
    said = cli("verify", code=1)
    assert "damage: content, first at transaction 5: " in said and "does not verify; exit status 1" in said
    assert "verifies" in cli("verify", "--since", 5)
    assert "the last is" in cli("verify", "--since", 999, code=9)
    cli("verify", "--kb", "none", code=9)
    cli("verify", "--no-such-option", code=9)
    with psycopg.connect(dsn) as owner:
        owner.execute("set session_replication_role = replica")
        owner.execute("update ledger_transaction set why = '' where kb_id = %s and seq = 5", (kb,))
        owner.execute(
            "update ledger_log set prev_hash = sha256('x') where kb_id = %s and seq = 6 and ordinal = 0", (kb,)
        )
    assert "first at transaction 6" in cli("verify", code=2)
    with database.write(NO_BASE) as conn:
        create_base(conn, "second", "Second")
    assert "say which with --kb" in cli("verify", code=9)
    Path(kept).write_text(kept.read_text().replace("twoclocks/", "twoclocks/0"))
    assert "not a checkpoint" in cli("verify", "--kb", "test", "--against", kept, code=9)
