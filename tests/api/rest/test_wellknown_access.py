"""A client that was refused finds out where and how to come again, and learns nothing else."""

from __future__ import annotations

import re
from uuid import uuid4

import httpx
import pytest

from api.app import create_app
from tests.api.conftest import serving

METADATA = "/.well-known/oauth-protected-resource"


def _pointed_at(answer) -> str:
    found = re.search(r'resource_metadata="([^"]+)"', answer.headers["www-authenticate"])
    assert found, answer.headers["www-authenticate"]
    return found[1]


@pytest.mark.parametrize("who", ["anonymous", "nonsense", "expired", "revoked"])
def test_a_refused_client_follows_the_header_to_the_resource_that_it_called(server, who):
    path = f"/api/v1/kbs/{server.kb}/mcp"
    with server.client(getattr(server.tokens, who)) as client:
        refused = client.post(path, json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        assert refused.status_code == 401
        said = refused.headers["www-authenticate"]
        assert 'scope="read"' in said
        assert ('error="invalid_token"' in said) == (who != "anonymous")
        found = client.get(_pointed_at(refused))
        assert found.status_code == 200
        assert found.json() == {
            "resource": server.url + path,
            "resource_name": "Twoclocks",
            "scopes_supported": ["read", "write"],
            "bearer_methods_supported": ["header"],
        }
        elsewhere = client.get(_pointed_at(client.get("/api/v1/kbs"))).json()
        assert elsewhere["resource"] == server.url


def test_the_metadata_of_a_base_that_is_there_and_of_one_that_is_not_differ_by_their_id(server):
    with server.client(None) as client:
        said = set()
        for kb in (server.kb, server.other_kb, uuid4()):
            answer = client.get(f"{METADATA}/api/v1/kbs/{kb}/mcp")
            refused = client.post(f"/api/v1/kbs/{kb}/mcp", json={})
            headers = str({**refused.headers, "date": ""}).replace(str(kb), "ID")
            said.add((answer.status_code, answer.text.replace(str(kb), "ID"), headers, refused.text))
        assert len(said) == 1
        for other in ("/etc/passwd", "/api/v1/kbs", f"/api/v1/kbs/{server.kb}", f"/api/v1/kbs/{server.kb}/documents"):
            assert client.get(METADATA + other).status_code == 404, other
        assert client.post(METADATA).status_code == 405


def test_a_host_that_is_none_gets_into_no_header(server):
    with server.client(None) as client:
        for host in ('a"b', "a b", "a,b=c", "a/../b"):
            refused = client.get("/api/v1/kbs", headers={"Host": host})
            assert (refused.status_code, host in str(refused.headers)) in ((401, False), (400, False)), host
            assert host not in client.get(METADATA, headers={"Host": host}).text, host


def test_the_address_that_was_set_counts_and_not_the_host(settings, database, tokens):
    told = settings.model_copy(update={"public_url": "https://facts.example/"})
    with serving(create_app(told, database), told) as url:
        refused = httpx.get(f"{url}/api/v1/kbs")
        assert f'resource_metadata="https://facts.example{METADATA}"' in refused.headers["www-authenticate"]
        assert httpx.get(url + METADATA).json()["resource"] == "https://facts.example"
