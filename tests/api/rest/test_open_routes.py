"""Of all routes few are open, whatever the framework or a later hand adds to the application."""

from __future__ import annotations

import re

METADATA = "/.well-known/oauth-protected-resource"
OPEN = {"/api/v1/health", METADATA, METADATA + "/{path:path}", "/api/v1/provision"}
OPEN |= {"/api/v1/signin", "/api/v1/signin/callback"}


def test_of_all_routes_these_alone_answer_without_a_token(server):
    paths = [path for route in server.app.routes for path in _paths(route)]
    assert "/api/v1/openapi.json" in paths
    assert len(paths) > 20
    with server.client(None) as client:
        for method in ("GET", "POST", "HEAD"):
            answers = {p: client.request(method, re.sub(r"\{[^}]*\}", "x", p)).status_code for p in paths}
            reached = {path for path, status in answers.items() if status != 401}
            assert reached == OPEN, method


def test_no_page_of_the_framework_is_served(server):
    with server.client(server.tokens.write) as client:
        for path in ("/redoc", "/docs", "/docs/oauth2-redirect", "/openapi.json"):
            assert client.get(path).status_code == 404, path
        assert client.get("/api/v1/openapi.json").status_code == 200


def _paths(route):
    """The route's own path, or those of the router that stands there."""
    if hasattr(route, "effective_candidates"):
        return [path for inner in route.effective_candidates() for path in _paths(inner)]
    return [route.path]
