"""MCP over a process's own input and output: on the local database, or handed on to a server elsewhere."""

from __future__ import annotations

import logging
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.inbound import NAME_BEARING_METHODS, encode_header_value
from mcp.shared.message import SessionMessage
from mcp_types.version import KNOWN_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION

from api.deps import Member
from api.gate import admit
from api.mcp.endpoint import make_server
from substrate.db import Database
from substrate.errors import TwoclocksError
from substrate.retrieval.embedders.protocol import Embedder
from substrate.settings import Settings

_log = logging.getLogger(__name__)
_VERSION = "io.modelcontextprotocol/protocolVersion"
_UNREACHED = -32000


def serve_local(db: Database, settings: Settings, kb_id: UUID, token: str, version: str) -> None:
    """Serve one base of this database to whoever started the process, with what their token allows at each call.

    Returns when the input ends.
    """
    from api.access_log import AccessLog
    from api.app import once

    log = AccessLog(db, when=settings.audit_reads)

    def open_embedder() -> Embedder:
        from substrate.retrieval.embedders import open_embedder as opened

        return opened(settings)

    embedder = once(open_embedder)

    def member() -> Member:
        found = admit(db, token, f"/api/v1/kbs/{kb_id}/mcp", "POST")
        assert found.kb_id is not None and found.role is not None  # noqa: S101 - the path names a base
        return Member(found.principal, db, settings, log, embedder, found.kb_id, found.role, found.may_write)

    member()  # a token that is no good is told before anything is served
    try:
        anyio.run(_local, make_server(version, _who_asks(member)))
    finally:
        log.close()


def _who_asks(member: Callable[[], Member]) -> Callable[[Server[Any]], Any]:
    @asynccontextmanager
    async def lifespan(_: Server[Any]) -> AsyncIterator[Callable[[], Member]]:
        yield member

    return lifespan


async def _local(server: Server[Any]) -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def serve_remote(url: str, token: str | None) -> None:
    """Hand each message on to the endpoint at `url` and bring back its answer. Returns when the input ends."""
    anyio.run(_remote, url, token)


async def _remote(url: str, token: str | None) -> None:
    import httpx2

    headers = {"Accept": "application/json, text/event-stream", "User-Agent": "twoclocks-stdio"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    async with (
        httpx2.AsyncClient(headers=headers, timeout=300) as http,
        stdio_server() as (read, write),
        anyio.create_task_group() as group,
    ):
        relay = _Relay(http, url, write)
        async for message in read:
            if isinstance(message, Exception):
                _log.warning("a line of the input is no message")
                continue
            group.start_soon(relay.hand_on, message)


class _Relay:
    """One message in, its answer out; the headers are made from what the message says."""

    def __init__(self, http: Any, url: str, write: Any) -> None:
        self._http, self._url, self._write = http, url, write
        self._agreed = LATEST_HANDSHAKE_VERSION
        self._asked: dict[int | str, anyio.CancelScope] = {}
        self._lock = threading.Lock()

    async def hand_on(self, carried: SessionMessage) -> None:
        message = carried.message
        body = message.model_dump(mode="json", by_alias=True, exclude_unset=True)
        request_id = body.get("id")
        if body.get("method") == "notifications/cancelled":
            # Closing the stream takes a call back in every revision.
            asked = self._asked.get((body.get("params") or {}).get("requestId", ""))
            if asked is not None:
                asked.cancel()
            return
        with anyio.CancelScope() as scope:
            if request_id is not None:
                self._asked[request_id] = scope
            try:
                answer = await self._http.post(self._url, json=body, headers=self._headers(body))
                await self._bring_back(answer, request_id, body.get("method"))
            except Exception as error:
                _log.warning("the server cannot be reached: %s", type(error).__name__)
                await self._refuse(request_id, "The server cannot be reached")
            finally:
                self._asked.pop(request_id, None)  # type: ignore[arg-type]

    def _headers(self, body: dict[str, Any]) -> dict[str, str]:
        params = body.get("params") or {}
        named = (params.get("_meta") or {}).get(_VERSION)
        if named is None:
            return {} if body.get("method") == "initialize" else {"MCP-Protocol-Version": self._agreed}
        method = str(body.get("method"))
        headers = {"MCP-Protocol-Version": str(named), "Mcp-Method": method}
        if (key := NAME_BEARING_METHODS.get(method)) is not None and params.get(key) is not None:
            headers["Mcp-Name"] = encode_header_value(str(params[key]))
        return headers

    async def _bring_back(self, answer: Any, request_id: int | str | None, method: str | None) -> None:
        if request_id is None:
            return
        if "application/json" not in answer.headers.get("content-type", ""):
            await self._refuse(request_id, _problem(answer))
            return
        told = types.jsonrpc_message_adapter.validate_json(answer.content)
        if method == "initialize" and isinstance(told, types.JSONRPCResponse):
            agreed = told.result.get("protocolVersion")
            self._agreed = agreed if agreed in KNOWN_PROTOCOL_VERSIONS else self._agreed
        await self._write.send(SessionMessage(told))

    async def _refuse(self, request_id: int | str | None, said: str) -> None:
        if request_id is not None:
            error = types.ErrorData(code=_UNREACHED, message=said)
            await self._write.send(SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=request_id, error=error)))


def _problem(answer: Any) -> str:
    try:
        return f"HTTP {answer.status_code}: {answer.json()['detail']}"
    except (ValueError, KeyError, TypeError):
        return f"HTTP {answer.status_code}"


def remote_endpoint(url: str, base: str | None, token: str | None) -> str:
    """The MCP endpoint that an address means: itself if it is one, else that of `base` on the server there.

    Raises `TwoclocksError` where the server does not show such a base.
    """
    if url.rstrip("/").endswith("/mcp"):
        return url.rstrip("/")
    import httpx

    root = url.rstrip("/").removesuffix("/api/v1")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        answer = httpx.get(f"{root}/api/v1/kbs", headers=headers, timeout=30)
        answer.raise_for_status()
        told = answer.json()
    except (httpx.HTTPError, ValueError) as error:
        raise TwoclocksError(f"{root} does not list its bases: {type(error).__name__}") from None
    rows = told if isinstance(told, list) else next(v for v in told.values() if isinstance(v, list))
    found = [row["id"] for row in rows if base in (None, row["slug"], row["id"])]
    if len(found) != 1:
        raise TwoclocksError(f"{root} shows {len(found)} bases of that name; say which with --base")
    return f"{root}/api/v1/kbs/{found[0]}/mcp"
