"""The funnel over REST: who may see it, and that its levels add up."""

from __future__ import annotations

import pytest

from tests.substrate.ontology.lines import Lines


@pytest.mark.parametrize(
    ("who", "status"), [("anonymous", 401), ("nonsense", 401), ("expired", 401), ("revoked", 401), ("elsewhere", 404)]
)
def test_a_stranger_sees_no_funnel(server, who, status):
    with server.client(getattr(server.tokens, who)) as client:
        assert client.get(f"/api/v1/kbs/{server.kb}/funnel").status_code == status


def test_a_viewer_sees_where_everything_went(server, database, settings):
    lines = Lines(database, server.kb, settings)
    lines.tell("a", "Ann | zorgles | Orion", "Bo | zorgles | Vega", "no line")
    with server.client(server.tokens.viewer) as client:
        answer = client.get(f"/api/v1/kbs/{server.kb}/funnel").json()
        assert client.get(f"/api/v1/kbs/{server.other_kb}/funnel").status_code == 404
    assert answer["balanced"] is True
    assert [(x["level"], x["in"], x["out"], x["dropped"]) for x in answer["levels"]] == [
        ("passages", 1, 1, 0),
        ("seen", 3, 2, 1),
        ("claims", 2, 2, 0),
        ("bindings", 2, 2, 0),
        ("entities", 2, 2, 0),
        ("facts", 2, 2, 0),
    ]
    assert answer["undecided"] == [{"phrase": "zorgle", "claims": 2}]
    assert answer["levels"][1]["parts"][1] == {"code": "no_object", "items": 1, "goes_on": False}
