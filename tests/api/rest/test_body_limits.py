"""No body is read further than its route may need, whatever its sender says of its length."""

from __future__ import annotations

import json
import socket
from urllib.parse import urlsplit

import pytest

from api import gate

MEGABYTE = 1_000_000


@pytest.fixture
def api(server):
    with server.client(server.tokens.write) as client:
        yield lambda method, tail, **options: client.request(method, f"/api/v1/kbs{tail}", **options)


@pytest.mark.parametrize("streamed", [False, True])
def test_a_body_over_the_limit_of_its_route_is_413(api, server, streamed):
    def sent(size):
        body = json.dumps({"slug": "x", "name": "x" * size}).encode()
        return iter([body[i : i + 65536] for i in range(0, len(body), 65536)]) if streamed else body

    headers = {"Content-Type": "application/json"}
    answer = api("POST", "", content=sent(gate.MOST_BODY), headers=headers)
    assert (answer.status_code, answer.json()["title"]) == (413, "too_large")
    assert answer.headers["content-type"] == "application/problem+json"
    assert str(gate.MOST_BODY) in answer.json()["detail"]
    answer = api("POST", "", content=sent(1000), headers=headers)
    assert answer.status_code == 201


@pytest.mark.parametrize("streamed", [False, True])
def test_documents_may_be_larger_than_anything_else_and_are_bounded_too(api, server, streamed):
    def sent(size):
        document = {"external_id": "a", "filename": "a.md", "content": "x" * size}
        body = json.dumps({"documents": [document]}).encode()
        return iter([body[i : i + 65536] for i in range(0, len(body), 65536)]) if streamed else body

    headers = {"Content-Type": "application/json"}
    tail = f"/{server.kb}/documents"
    assert api("POST", tail, content=sent(gate.MOST_DOCUMENTS), headers=headers).status_code == 413
    assert api("POST", tail, content=sent(3 * MEGABYTE), headers=headers).status_code == 200


def test_an_announced_length_is_judged_before_a_byte_is_read(server):
    place = urlsplit(server.url)
    head = (
        f"POST /api/v1/kbs HTTP/1.1\r\nHost: {place.netloc}\r\nAuthorization: Bearer {server.tokens.write}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {gate.MOST_BODY + 1}\r\n\r\n"
    )
    with socket.create_connection((place.hostname, place.port), timeout=20) as connection:
        connection.sendall(head.encode())
        assert connection.recv(1000).startswith(b"HTTP/1.1 413 ")


def test_who_has_no_token_learns_nothing_about_sizes(server):
    with server.client(None) as client:
        assert client.post("/api/v1/kbs", content=b"x" * (gate.MOST_BODY + 1)).status_code == 401
