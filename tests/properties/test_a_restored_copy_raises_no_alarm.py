"""A dump restored elsewhere verifies as it stands: another locale, zone or style of dates changes nothing hashed.

And whatever is done to the copy is seen there, as it would have been in the first place.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from click.testing import CliRunner
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from api.cli.main import main
from substrate import access, audit
from substrate.audit.signing import keep_checkpoint
from substrate.db import NO_BASE, Database
from substrate.postgres import bin_dir
from tests.ledger_history import HARD_TEXTS, History, read

STYLES = {
    "timezone": "Asia/Kathmandu",
    "datestyle": "German",
    "intervalstyle": "sql_standard",
    "extra_float_digits": "-2",
    "bytea_output": "escape",
    "lc_numeric": "C",
    "standard_conforming_strings": "on",
    "default_transaction_isolation": "serializable",
}


@contextmanager
def restored(dsn: str, file: Path) -> Iterator[str]:
    """A dump in a database of its own, in another locale, that gives every session other styles."""
    name = conninfo_to_dict(dsn)["dbname"] + "_copy"
    with psycopg.connect(dsn, autocommit=True) as server:
        server.execute(f"create database \"{name}\" template template0 locale 'C' encoding 'UTF8'")
        for setting, value in STYLES.items():
            server.execute(f"alter database \"{name}\" set {setting} = '{value}'")
        uri = make_conninfo(dsn, dbname=name)
        run = [bin_dir() / "pg_restore", "--exit-on-error", f"--dbname={uri}", str(file)]
        subprocess.run(run, check=True, capture_output=True, text=True)
        yield uri
        server.execute(f'drop database "{name}" with (force)')


@pytest.fixture
def base(database, kb) -> History:
    """Every ledger table, hard values, a text of a megabyte, events and readings under seals and waiting."""
    history = History(database, kb)
    with database.write(kb) as conn, history._door(conn) as door:
        door.note("large", {"text": "é🙂e\u0301" * 150_000, "small": 1e-7, "zero": -0.0})
    with database.write(NO_BASE) as conn:
        person = access.create_person(conn, "Ada")
        secret = access.issue_token(conn, person, "client").secret
    with database.read(NO_BASE) as conn:
        who = access.authenticate(conn, secret)
    for text in HARD_TEXTS:
        access.record_access(database, access.Access(who, kb, "mcp", text))
    with database.write(kb) as conn:
        purged = "select from document_purges p where p.document_id = c.document_id"
        found = conn.execute(f"select id from chunks c where not exists ({purged}) order by id limit 1").fetchone()
        chunk = found["id"]
        drops = [{"ordinal": n, "code": "x", "detail": text, "example": text} for n, text in enumerate(HARD_TEXTS)]
        read(conn, kb, chunk, "é🙂@1", [], drops)
    audit.seal_base(database, kb)
    access.record_access(database, access.Access(who, kb, "mcp", "waits"))
    return history


def test_a_copy_verifies_goes_on_and_shows_what_is_done_to_it(base, database, kb, dsn, settings, tmp_path):
    kept = tmp_path / "kept.txt"
    kept.write_text(keep_checkpoint(database, kb, settings).exported.text, encoding="utf-8")
    file = tmp_path / "copy.dump"
    dump = [bin_dir() / "pg_dump", "--format=custom", f"--file={file}", dsn]
    subprocess.run(dump, check=True, capture_output=True, text=True)

    def verify(uri: str, code: int) -> str:
        environment = {"TWOCLOCKS_DATABASE_URL": uri, "TWOCLOCKS_DATA_DIR": str(settings.data_dir)}
        done = CliRunner().invoke(main, ["ledger", "verify", "--against", str(kept)], env=environment)
        assert done.exit_code == code, done.output
        return done.output

    with restored(dsn, file) as copy:
        said = verify(copy, 0)
        assert "0 came after it" in said and f"{len(HARD_TEXTS) + 1} access events and 2 readings in 2 seals" in said
        with Database(copy) as opened:
            later = History.__new__(History)
            later.__dict__ |= {**base.__dict__, "database": opened}
            later.say("Ed", "works_on", "Orion")
            with opened.write(kb) as conn:
                conn.execute("insert into access_events (kb_id, via, action) values (%s, 'mcp', 'later')", (kb,))
            assert audit.seal_base(opened, kb) == 1
            assert "2 came after it" in verify(copy, 0)
            with psycopg.connect(copy) as owner:
                owner.execute("set session_replication_role = replica")
                owner.execute("update access_events set at = at + interval '1 microsecond' where action = 'waits'")
            verify(copy, 1)
    assert "0 came after it" in verify(dsn, 0)
