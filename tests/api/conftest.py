"""The real application over a real Postgres, served by uvicorn in a thread, with people and tokens of every kind."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from uuid import UUID

import httpx
import pytest
import uvicorn

from api.app import create_app
from api.serve import server_config
from substrate import access
from substrate.bases import create_base
from tests.ledger_facts import Scribe
from tests.waiting import until

REFUSED = ("anonymous", "nonsense", "expired", "revoked")


@dataclass
class Server:
    """A running application and how to reach it."""

    url: str
    app: object
    tokens: SimpleNamespace
    kb: UUID
    other_kb: UUID

    def client(self, token: str | None) -> httpx.Client:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=30)


@pytest.fixture
def scribe(database, kb):
    return Scribe(database, kb)


@pytest.fixture
def tokens(database, kb):
    with database.write(kb) as conn:
        other = create_base(conn, "other", "Other base")
        ada, eve = access.create_person(conn, "Ada"), access.create_person(conn, "Eve")
        access.set_member(conn, kb, ada, "editor")
        access.set_member(conn, other, ada, "editor")
        access.set_member(conn, kb, eve, "viewer")

        def issue(person, name, **options):
            return access.issue_token(conn, person, name, **options)

        made = SimpleNamespace(
            other_kb=other,
            write=issue(ada, "writer", scope="write").secret,
            judge=issue(ada, "judge", scope="write").secret,
            read=issue(ada, "reader").secret,
            viewer=issue(eve, "viewer", scope="write").secret,
            elsewhere=issue(ada, "elsewhere", scope="write", kb_ids=[other]).secret,
            anonymous=None,
            nonsense="tc_pat_" + "0" * 49,
        )
        expired, revoked = issue(ada, "expired", scope="write"), issue(ada, "revoked", scope="write")
        made.expired, made.revoked = expired.secret, revoked.secret
        conn.execute("update tokens set expires_at = clock_timestamp() where id = %s", (expired.id,))
        access.revoke_token(conn, revoked.id)
    return made


@pytest.fixture
def server(database, settings, kb, tokens):
    """`settings` name the same database, so that the application runs on this test's own."""
    app = create_app(settings, database)
    with serving(app, settings) as url:
        yield Server(url, app, tokens, kb, tokens.other_kb)


@contextmanager
def serving(app, settings):
    """The URL of `app`, served in a thread as the product serves it."""
    running = uvicorn.Server(server_config(app, settings, host="127.0.0.1", port=0, log_level="warning"))
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    until(lambda: running.started or not thread.is_alive())
    assert running.started, "the server did not start"
    port = running.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        running.should_exit = True
        thread.join(60)
    assert not thread.is_alive()
