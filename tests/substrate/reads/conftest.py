from __future__ import annotations

import json

import pytest

from substrate import reads
from tests.ledger_facts import Scribe


@pytest.fixture
def scribe(database, kb):
    return Scribe(database, kb)


@pytest.fixture
def ask(database, kb):
    """Call a read with its time parameters as a caller would give them; the answer must be ready for JSON."""

    def call(read, *arguments, at=None, as_of=None, before=None, **options):
        with database.read(kb) as conn:
            moment = reads.resolve(conn, kb, at=at, as_of=as_of, before=before)
            if read is reads.changes:
                answer = read(conn, kb, *arguments, as_of=moment, **options)
            else:
                answer = read(conn, kb, *arguments, moment, **options)
        json.dumps(answer)
        return answer

    return call
