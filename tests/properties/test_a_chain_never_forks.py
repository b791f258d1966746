"""However many processes, threads and isolation levels append at once, there is one chain without a gap.

================================================  ==============================================
after                                             then
================================================  ==============================================
4 processes of 16 threads have appended to a      as many transactions as were asked for, numbered
base at once, at any isolation level              without a gap, in the order of their times
the same                                          no event has two successors; verify finds
                                                  nothing
================================================  ==============================================

``pytest -m slow`` appends twenty times as many.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from substrate.ledger.verify import verify

WRITER = Path(__file__).with_name("chain_writer.py")
PROCESSES, THREADS = 4, 16


def append_from_everywhere(dsn: str, kb, appends: int) -> None:
    running = [
        subprocess.Popen([sys.executable, WRITER, dsn, str(kb), str(THREADS), str(appends // PROCESSES), str(seed)])
        for seed in range(PROCESSES)
    ]
    assert [process.wait() for process in running] == [0] * PROCESSES


def check(database, kb, appends: int) -> None:
    with database.read(kb) as connection:
        counted = connection.execute(
            """select count(*) as transactions, count(distinct idempotency_key) as keys, min(seq) as first,
                      max(seq) as last, bool_and(later) as in_order
               from (select *, recorded_at > lag(recorded_at, 1, '-infinity') over (order by seq) as later
                     from ledger_transaction where kb_id = %s) t""",
            (kb,),
        ).fetchone()
        forks = connection.execute(
            "select count(*) - count(distinct prev_hash) as forks from ledger_log where kb_id = %s", (kb,)
        ).fetchone()
        report = verify(connection, kb)
    assert counted == {"transactions": appends, "keys": appends, "first": 1, "last": appends, "in_order": True}
    assert forks == {"forks": 0}
    assert (report.exit_code, report.events, report.rows) == (0, 2 * appends, appends), report


def test_five_thousand_appends_make_one_chain(database, dsn, kb):
    append_from_everywhere(dsn, kb, 5_000)
    check(database, kb, 5_000)


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_a_hundred_thousand_appends_make_one_chain(database, dsn, kb):
    append_from_everywhere(dsn, kb, 100_000)
    check(database, kb, 100_000)
