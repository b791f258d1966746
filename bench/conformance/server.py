"""The product's application for a suite that cannot show a token.

``python -m bench.conformance.server PORT PATH TOKEN``; with ``fixtures`` after it the suite's tools are served, and the
first line of the standard input is their key.

What stands before the gate here adds the token to what comes for ``/mcp`` and leads it to the one base; everything
behind it is the product's own, gate and middleware included.
"""

from __future__ import annotations

import sys
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from substrate.settings import Settings, load_settings, tame_native_threads


class Shown:
    """ASGI: a request for ``/mcp`` becomes one for the base's endpoint, by who holds `token`."""

    def __init__(self, app: ASGIApp, path: str, token: str) -> None:
        self._app, self._path = app, path
        self._header = (b"authorization", f"Bearer {token}".encode())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == "/mcp":
            headers = [*scope["headers"], self._header]
            scope = {**scope, "path": self._path, "raw_path": self._path.encode(), "headers": headers}
        await self._app(scope, receive, send)


def prepared(settings: Settings) -> tuple[str, str]:
    """The endpoint's path and an editor's token, in a base that is made at the first call."""
    from substrate.access.people import create_person, set_member
    from substrate.access.tokens import issue_token
    from substrate.bases import create_base
    from substrate.db import NO_BASE, open_database

    with open_database(settings, "bench") as db, db.write(NO_BASE) as conn:
        kb_id = create_base(conn, "conformance", "Conformance")
        person = create_person(conn, "Suite")
        set_member(conn, kb_id, person, "editor")
        token = issue_token(conn, person, "suite", scope="write").secret
    return f"/api/v1/kbs/{kb_id}/mcp", token


def application(path: str, token: str, key: str | None) -> Any:
    """The product behind `Shown`; with a `key` its endpoint is the suite's, behind the same gate."""
    from starlette.routing import Route

    from api.app import create_app
    from bench.conformance.profile import Fixtures

    app = create_app(load_settings())
    if key is not None:
        app.state.mcp = Fixtures(app.state.mcp.security, key)
        where = "/api/v1/kbs/{kb_id}/mcp"
        kept = [route for route in app.router.routes if getattr(route, "path", None) != where]
        app.router.routes[:] = [*kept, Route(where, endpoint=app.state.mcp)]
    return Shown(app, path, token)


if __name__ == "__main__":
    import uvicorn

    from api.serve import server_config

    port, where, held = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    settings = load_settings()
    tame_native_threads(settings.threads)
    fixtures_key = sys.stdin.readline().strip() if sys.argv[4:] == ["fixtures"] else None
    config = server_config(
        application(where, held, fixtures_key), settings, host="127.0.0.1", port=port, log_level="warning"
    )
    uvicorn.Server(config).run()
