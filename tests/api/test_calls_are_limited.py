"""How often one may call, how large and how slow a request may be, and how many are served side by side."""

from __future__ import annotations

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from api.app import create_app
from api.limits import Allowance, Limits, network_of
from api.showing import COOKIE
from substrate.access.token_shape import new_secret
from substrate.db import NO_BASE
from substrate.errors import TooManyCalls
from tests.api.conftest import serving


def limited(settings, **said):
    return settings.model_copy(update=said)


def spend(limits, token):
    """How many calls of `token` are allowed in a row, and what the next one is told."""
    spent = 0
    while True:
        try:
            limits.token_calls(token)
        except TooManyCalls as told:
            return spent, told
        spent += 1


def test_a_token_is_told_when_to_come_again_and_others_are_not_held_up(database, settings, tokens, kb):
    settings = limited(settings, calls_per_minute=60)
    with serving(create_app(settings, database), settings) as url:

        def ask(token):
            return httpx.get(f"{url}/api/v1/kbs", headers={"Authorization": f"Bearer {token}"})

        answers = [ask(tokens.read) for _ in range(40)]
        refused = [a for a in answers if a.status_code == 429]
        assert {a.status_code for a in answers[:10]} == {200}
        assert refused and refused[0].json()["title"] == "too_many_calls"
        assert 1 <= int(refused[0].headers["Retry-After"]) <= 60
        assert refused[0].headers["RateLimit-Policy"] == '"calls";q=60;w=60'
        assert refused[0].headers["RateLimit"].startswith('"calls";r=0;t=')
        assert ask(tokens.viewer).status_code == 200
        assert httpx.get(f"{url}/api/v1/health").status_code == 200


def test_what_shows_no_valid_token_is_limited_by_its_address(database, settings, tokens):
    settings = limited(settings, anonymous_calls_per_minute=60)
    with serving(create_app(settings, database), settings) as url:

        def ask(token, **headers):
            said = {"Authorization": f"Bearer {token}", **headers} if token else headers
            return httpx.get(f"{url}/api/v1/kbs", headers=said).status_code

        seen = [ask(who) for who in (None, tokens.nonsense, tokens.expired, tokens.revoked) * 8]
        assert seen[:8] == [401] * 8
        assert 429 in seen
        assert ask(tokens.read) == 200  # a valid token from the same address is no stranger
        # Whom nobody configured as a proxy cannot say that it is somebody else.
        assert 429 in [ask(None, **{"X-Forwarded-For": f"203.0.113.{n}"}) for n in range(30)]


def test_what_a_strange_page_sends_along_is_limited_too(database, settings):
    settings = limited(settings, anonymous_calls_per_minute=60)
    session = {"Cookie": f"{COOKIE}={new_secret('session')}", "Origin": "https://elsewhere.example"}
    with serving(create_app(settings, database), settings) as url:
        seen = [httpx.post(f"{url}/api/v1/kbs", headers=session).status_code for _ in range(20)]
    assert seen[:8] == [403] * 8
    assert 429 in seen


def test_a_configured_proxy_says_who_calls(database, settings, tokens):
    settings = limited(settings, anonymous_calls_per_minute=60, trusted_proxies="127.0.0.0/8")
    with serving(create_app(settings, database), settings) as url:

        def ask(forwarded):
            return httpx.get(f"{url}/api/v1/kbs", headers={"X-Forwarded-For": forwarded}).status_code

        assert 429 in [ask("203.0.113.9") for _ in range(20)]
        assert ask("203.0.113.10") == 401
        # What a caller wrote in front of what the proxy added is not believed.
        assert 429 in [ask(f"203.0.113.{n}, 203.0.113.9") for n in range(20, 50)]


def test_the_limit_holds_over_several_processes_together(database, settings):
    settings = limited(settings, calls_per_minute=600)
    several = [Limits(database, settings) for _ in range(4)]
    began = time.monotonic()
    with ThreadPoolExecutor(8) as pool:
        spent = sum(n for n, _ in pool.map(lambda limits: spend(limits, "one token"), several * 2))
    passed = time.monotonic() - began
    # A burst of a sixth of a minute's, and ten a second since.
    assert 100 - 4 * 12 <= spent <= 100 + 10 * (passed + 1)
    again, told = spend(several[0], "another token")
    assert again >= 100 and 0 < told.wait_s <= 60


def test_a_day_has_an_end_and_the_next_one_begins_anew(database, settings):
    settings = limited(settings, calls_per_minute=0, calls_per_day=25)
    several = [Limits(database, settings) for _ in range(2)]
    assert spend(several[0], "t")[0] + spend(several[1], "t")[0] == 25
    told = spend(Limits(database, settings), "t")[1]
    assert told.window_s == 86_400 and 0 < told.wait_s <= 86_400
    with database.write(NO_BASE) as conn:
        conn.execute("update call_allowances set day = day - 1")
    assert spend(Limits(database, settings), "t")[0] == 25


def test_what_was_not_spent_is_given_back(database, settings, monkeypatch):
    limits = Limits(database, limited(settings, calls_per_minute=0, calls_per_day=1000))
    for _ in range(20):
        limits.token_calls("t")  # by now several are taken at once
    lease = next(iter(limits._leases.values()))
    assert lease.left > 0
    lease.at -= 60
    limits.token_calls("t")
    with database.read(NO_BASE) as conn:
        assert conn.execute("select today from call_allowances").fetchone()["today"] == 21


def test_a_busy_token_costs_a_statement_for_many_calls(database, settings, monkeypatch):
    limits = Limits(database, limited(settings, calls_per_minute=60_000))
    asked = []
    ask = limits._ask
    monkeypatch.setattr(limits, "_ask", lambda *said: asked.append(said) or ask(*said))
    for _ in range(1000):
        limits.token_calls("t")
    assert len(asked) < 100


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        (None, "unknown"),
        ("a name", "unknown"),
    ],
)
def test_an_address_is_counted_as_what_one_caller_holds(address, counted):
    assert network_of(address) == counted


def test_no_limit_asks_nothing(database, settings):
    limits = Limits(database, settings)
    assert Allowance(0, 0).none
    for _ in range(100):
        limits.token_calls("t")
        limits.address_calls("192.0.2.1")
    with database.read(NO_BASE) as conn:
        assert conn.execute("select count(*) as n from call_allowances").fetchone()["n"] == 0


def said_slowly(url, parts):
    """What the server answers to `parts` of a request of which the last never comes, until it hangs up."""
    port = int(url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=60) as line:
        for part in parts:
            line.sendall(part)
        answer = b""
        while more := line.recv(65536):
            answer += more
        return answer


def test_a_request_that_does_not_come_is_not_waited_for(database, settings, tokens, kb):
    settings = limited(settings, slow_request_s=0.5)
    with serving(create_app(settings, database), settings) as url:
        head = f"POST /api/v1/kbs/{kb}/mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        known = f"Authorization: Bearer {tokens.read}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
        with ThreadPoolExecutor(4) as pool:
            silent = pool.submit(said_slowly, url, [])
            headless = pool.submit(said_slowly, url, [head.encode()])
            bodiless = pool.submit(said_slowly, url, [head.encode(), known.encode(), b"{"])
            swollen = pool.submit(said_slowly, url, [head.encode(), b"X-A: " + b"a" * 100_000])
            assert silent.result() == headless.result() == b""
            assert bodiless.result().startswith(b"HTTP/1.1 408")
            assert swollen.result().startswith(b"HTTP/1.1 400")
        # A second request on a connection that is kept is waited for no longer.
        kept = said_slowly(url, [b"GET /api/v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", b"GET /api"])
        assert kept.count(b"HTTP/1.1 ") == 1 and kept.startswith(b"HTTP/1.1 200")


def test_a_hundred_are_served_side_by_side(server):
    gate = threading.Barrier(100)

    def ask(_):
        gate.wait()
        with server.client(server.tokens.read) as client:
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
            body["params"] = {"name": "find_entities", "arguments": {"name": "x"}}
            accept = {"Accept": "application/json, text/event-stream"}
            return client.post(f"/api/v1/kbs/{server.kb}/mcp", json=body, headers=accept).json()

    with ThreadPoolExecutor(100) as pool:
        answers = list(pool.map(ask, range(100)))
    assert all(a["result"]["structuredContent"]["entities"] == [] for a in answers)


def test_json_that_is_too_deep_is_refused_on_every_route(server):
    deep = b"[" * 10_000 + b"]" * 10_000
    with server.client(server.tokens.write) as client:
        said = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        modern = {**said, "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}
        for path, headers in (("mcp", said), ("mcp", modern), ("documents", said), ("statements", said)):
            answer = client.post(f"/api/v1/kbs/{server.kb}/{path}", content=deep, headers=headers)
            assert answer.status_code in (400, 422), (path, answer.text)
            assert "Traceback" not in answer.text
        assert client.get("/api/v1/health").status_code == 200
