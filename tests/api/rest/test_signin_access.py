"""People sign in at a real provider, in a process of its own; what it did not say to this sign-in lets nobody in."""

from __future__ import annotations

import base64
import json
import re
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import KeySet, OctKey, RSAKey
from pydantic import SecretStr

from api.app import create_app
from api.oidc import is_safe, judged
from substrate import access
from substrate.db import NO_BASE
from substrate.errors import Forbidden
from tests.api.conftest import Server, serving
from tests.waiting import until

PEOPLE = (
    {"sub": "ada-1", "email": "ada@example.org", "email_verified": True, "name": "Ada Lovelace"},
    {"sub": "eva-1", "email": "eva@example.org", "email_verified": False},
    {"sub": "out-1", "email": "out@elsewhere.example", "email_verified": True},
)


@contextmanager
def _provider(*more: str):
    """The issuer of a provider that runs in a process of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    users = [word for person in PEOPLE for word in ("--user-claims", json.dumps(person))]
    command = [sys.executable, "-m", "oidc_provider_mock", "--port", str(port), *users, *more]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            until(lambda: _answers(port) or process.poll() is not None)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def _signing_in(database, settings, kb, tokens, issuer: str, **more):
    told = settings.model_copy(
        update={
            "oidc_issuer": issuer,
            "oidc_client_id": "twoclocks",
            "oidc_client_secret": SecretStr("of the client"),
            "oidc_domains": "example.org",
            **more,
        }
    )
    app = create_app(told, database)
    with serving(app, told) as url:
        yield Server(url, app, tokens, kb, tokens.other_kb)


def _go(client, subject: str, next_path: str = "/") -> str:
    """Begin, let the person in at the provider, and return the address that it sends the browser back to."""
    begun = client.get("/api/v1/signin", params={"next": next_path})
    assert begun.status_code == 302, begun.text
    asked = parse_qs(urlsplit(begun.headers["location"]).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert len(asked["code_challenge"][0]) == 43
    assert len(asked["nonce"][0]) > 20
    return httpx.post(begun.headers["location"], data={"sub": subject}).headers["location"]


def test_a_person_signs_in_makes_a_token_and_signs_out(database, settings, kb, tokens):
    with _provider() as issuer, _signing_in(database, settings, kb, tokens, issuer) as server:
        with database.write(kb) as conn:  # an admin of the base added her by her address
            access.set_member(conn, kb, access.person_with_email(conn, "ADA@example.org"), "editor")
        with server.client(None) as client:
            back = _go(client, "ada-1", "/console?kb=1")
            arrived = client.get(back)
            assert arrived.status_code == 303, arrived.text
            assert arrived.headers["location"] == "/console?kb=1"
            set_cookie = next(c for c in arrived.headers.get_list("set-cookie") if c.startswith("twoclocks_session="))
            assert "httponly" in set_cookie.lower()
            assert "samesite=lax" in set_cookie.lower()
            assert "secure" not in set_cookie.lower()  # not over https here
            me = client.get("/api/v1/me").json()
            assert (me["kind"], me["scope"]) == ("session", "write")
            assert client.get(f"/api/v1/kbs/{kb}").json()["role"] == "editor"
            made = client.post("/api/v1/tokens", json={"name": "agent"}, headers={"Origin": server.url})
            assert made.status_code == 201
            session = client.cookies["twoclocks_session"]
            assert client.get(back).status_code == 403, "a state is good once"
            assert client.post("/api/v1/signout").status_code == 403, "another site's page could have sent it"
            assert client.post("/api/v1/signout", headers={"Origin": server.url}).status_code == 204
            client.cookies.set("twoclocks_session", session)
            assert client.get("/api/v1/me").status_code == 401
        with server.client(None) as client:
            assert client.get(_go(client, "ada-1")).status_code == 303
            assert client.get("/api/v1/me").json()["person_id"] == me["person_id"]


def test_who_may_not_come_in_is_told_why_and_gets_no_session(database, settings, kb, tokens):
    with _provider() as issuer, _signing_in(database, settings, kb, tokens, issuer) as server:
        for subject, said in (("eva-1", "verified"), ("out-1", "domain"), ("unknown@example.org", "verified")):
            with server.client(None) as client:
                refused = client.get(_go(client, subject))
                assert refused.status_code == 403, subject
                assert said in refused.json()["detail"]
                assert "twoclocks_session" not in client.cookies
        with server.client(None) as client, server.client(None) as other:
            back = _go(client, "ada-1")
            assert other.get(back).status_code == 403, "begun in another browser"
            wrong = re.sub(r"state=[^&]+", "state=made-up", back)
            assert client.get(wrong).status_code == 403
            assert client.get(back + "&iss=https://evil.example").status_code == 403
            assert client.get(back).status_code == 403, "used up by the refusal before"
            for path in ("https://evil.example", "//evil.example", "/\\evil.example", "console"):
                assert client.get("/api/v1/signin", params={"next": path}).json()["field"] == "next", path
            with database.write(NO_BASE) as conn:
                assert conn.execute("select count(*) as n from people where email like '%@%'").fetchone()["n"] == 0
            late = _go(client, "ada-1")
            with database.write(NO_BASE) as conn:
                conn.execute("delete from signins where expires_at < clock_timestamp() + interval '1 hour'")
            assert client.get(late).status_code == 403


def test_without_domains_only_people_who_were_added_come_in(database, settings, kb, tokens):
    with _provider() as issuer, _signing_in(database, settings, kb, tokens, issuer, oidc_domains="") as server:
        with server.client(None) as client:
            assert client.get(_go(client, "out-1")).status_code == 403
            with database.write(NO_BASE) as conn:
                access.person_with_email(conn, "out@elsewhere.example")
            assert client.get(_go(client, "out-1")).status_code == 303


def test_a_provider_that_calls_itself_otherwise_is_none(database, settings, kb, tokens):
    with (
        _provider() as issuer,
        _signing_in(database, settings, kb, tokens, issuer.replace("127.0.0.1", "localhost") + "/") as server,
        server.client(None) as client,
    ):
        assert client.get("/api/v1/signin").status_code == 503


def test_where_no_provider_is_set_sign_in_is_not_there(server):
    with server.client(None) as client:
        assert client.get("/api/v1/signin").status_code == 404
        assert client.get("/api/v1/signin/callback", params={"code": "x", "state": "y"}).status_code == 404


KEY = RSAKey.generate_key(2048, {"kid": "one"}, private=True)
ISSUER = "https://id.example"


def _token(key=KEY, alg="RS256", **changes) -> str:
    now = int(time.time())
    claims = {"iss": ISSUER, "aud": "twoclocks", "sub": "s", "nonce": "n", "iat": now, "exp": now + 300}
    claims |= {"email": "a@example.org", "email_verified": True, **changes}
    kept = {name: value for name, value in claims.items() if value is not None}
    return jwt.encode({"alg": alg, "kid": key.kid or "one"}, kept, key, algorithms=[alg])


def _judge(token: str):
    keys = KeySet([KEY]).as_dict(private=False)
    return judged(token, keys, ISSUER, "twoclocks", "n")


def test_an_id_token_that_is_good_says_who_it_is():
    assert _judge(_token()).email == "a@example.org"
    assert _judge(_token(aud=["twoclocks", "other"], azp="twoclocks")).subject == "s"


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "https://evil.example"},
        {"iss": None},
        {"aud": "another"},
        {"aud": ["twoclocks", "another"]},
        {"azp": "another"},
        {"aud": None},
        {"nonce": "of another sign-in"},
        {"nonce": None},
        {"exp": 1_700_000_000},
        {"exp": None},
        {"iat": None},
        {"sub": None},
        {"email": None},
        {"email": "nobody"},
        {"email_verified": False},
        {"email_verified": None},
        {"key": RSAKey.generate_key(2048, {"kid": "one"}, private=True)},
    ],
    ids=lambda change: " ".join(f"{k}={v}" for k, v in change.items() if k != "key") or "key",
)
def test_an_id_token_that_is_not_as_it_must_be_lets_nobody_in(changes):
    with pytest.raises(Forbidden):
        _judge(_token(**changes))


def test_a_token_without_a_signature_or_signed_with_what_everybody_knows_lets_nobody_in():
    head = base64.urlsafe_b64encode(b'{"alg":"none"}').rstrip(b"=").decode()
    body = _token().split(".")[1]
    public = OctKey.import_key(KEY.as_dict(private=False)["n"], {"kid": "one"})
    for token in (f"{head}.{body}.", f"{head}.{body}", "", "a.b.c", _token(key=public, alg="HS256")):
        with pytest.raises(Forbidden):
            _judge(token)


def test_a_provider_is_asked_over_https_alone_but_for_this_machine():
    for address in ("https://id.example", "http://localhost:9/x", "http://127.0.0.1:9"):
        assert is_safe(address)
    for address in ("http://id.example", "ftp://id.example", "", "http://127.0.0.1.evil.example", "file:///etc/passwd"):
        assert not is_safe(address)
