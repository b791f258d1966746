"""What stands before several workers: ``python -m bench.conformance.spread PORT WORKER_PORT...``.

Each request goes to the next worker in turn, so that two rounds of one call never meet the same one. Only a request
that names a session of the older revision goes to the worker that holds it, as any balancer before sessions has it.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

_OF_ONE_HOP = (b"connection", b"keep-alive", b"transfer-encoding")
_SESSION = "mcp-session-id"


class Spread:
    """An ASGI application that passes on, unchanged, what comes and what is answered."""

    def __init__(self, ports: list[int]) -> None:
        self._turns = itertools.cycle(ports)
        self._homes: dict[str, int] = {}
        self._client = httpx.AsyncClient(timeout=None, limits=httpx.Limits(max_connections=None))

    @asynccontextmanager
    async def running(self, _: Starlette) -> AsyncIterator[None]:
        async with self._client:
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        body = await request.body()
        port = self._homes.get(request.headers.get(_SESSION, "")) or next(self._turns)
        url = request.url.replace(scheme="http", netloc=f"127.0.0.1:{port}")
        headers = [(name, value.strip(b" \t")) for name, value in scope["headers"] if name not in _OF_ONE_HOP]
        onward = httpx.Request(scope["method"], str(url), headers=headers, content=body)
        async with anyio.create_task_group() as group:
            group.start_soon(_until_gone, receive, group.cancel_scope)
            await self._pass(onward, port, send)
            group.cancel_scope.cancel()

    async def _pass(self, onward: httpx.Request, port: int, send: Send) -> None:
        answer = await self._client.send(onward, stream=True)
        try:
            if (session := answer.headers.get(_SESSION)) is not None:
                self._homes[session] = port
            headers = [pair for pair in answer.headers.raw if pair[0].lower() not in _OF_ONE_HOP]
            await send({"type": "http.response.start", "status": answer.status_code, "headers": headers})
            async for part in answer.aiter_raw():
                await send({"type": "http.response.body", "body": part, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        finally:
            with anyio.CancelScope(shield=True):
                await answer.aclose()


async def _until_gone(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


if __name__ == "__main__":
    import uvicorn

    port, *workers = (int(word) for word in sys.argv[1:])
    spread = Spread(workers)
    passing = Starlette(routes=[Route("/{path:path}", endpoint=spread)], lifespan=spread.running)
    uvicorn.run(passing, host="127.0.0.1", port=port, log_level="warning", timeout_graceful_shutdown=2)
