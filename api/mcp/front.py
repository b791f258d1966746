"""What stands before the SDK on the MCP endpoint: refusals that the SDK words otherwise, and calls taken back.

The SDK's older leg answers a body that is no single request with the validator's own words, names only the newest
revision where one is unknown, and cannot take a call back, since each request has a session of its own there.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import mcp_types as types
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, KNOWN_PROTOCOL_VERSIONS
from pydantic_core import from_json
from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from api.errors import insufficient_scope
from api.gate import Admission
from api.mcp.schemas import BY_NAME
from substrate.calls import Call

_VERSION = "io.modelcontextprotocol/protocolVersion"
Key = tuple[UUID, UUID | None, str, str, int | str]
"""Who asked: token, base, address, client; and the request's id, which a client counts by itself."""


def parsed(body: bytes) -> Any:
    """The body as JSON. Raises `ValueError`, also for what is nested deeper than any message of the protocol."""
    return from_json(body, allow_inf_nan=False)


def refusal(scope: Scope, message: Any) -> Response | None:
    """The answer to a body that is no request of ours, or that its sender may not make; None where the SDK answers."""
    if (malformed := _malformed(message)) is not None:
        return error(types.INVALID_REQUEST, malformed)
    request_id = message.get("id")
    if not isinstance(message.get("params", {}), dict):
        return error(types.INVALID_PARAMS, "params must be an object", request_id)
    if "id" in message:
        return _unknown_version(scope, message) or _out_of_scope(scope, message)
    return None


def _malformed(message: Any) -> str | None:
    if not isinstance(message, dict):
        return "The body must be one JSON-RPC request or notification; batches are not taken"
    if message.get("jsonrpc") != "2.0":
        return "jsonrpc must be '2.0'"
    if not isinstance(message.get("method"), str):
        return "method must be text; this server asks nothing, so that it takes no responses"
    request_id = message.get("id", 0)
    if isinstance(request_id, bool) or not isinstance(request_id, int | str):
        return "id must be text or a whole number"
    return None


def header(scope: Scope, name: bytes) -> str | None:
    """The first header of that name, which is lowercase."""
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), None)


def is_handshake(scope: Scope) -> bool:
    """The request goes to the SDK's older leg."""
    version = header(scope, b"mcp-protocol-version")
    return version is None or version in HANDSHAKE_PROTOCOL_VERSIONS


def _unknown_version(scope: Scope, message: Mapping[str, Any]) -> Response | None:
    asked = header(scope, b"mcp-protocol-version")
    if asked is None or asked in KNOWN_PROTOCOL_VERSIONS:
        return None
    meta = message.get("params", {}).get("_meta")
    if isinstance(meta, dict) and meta.get(_VERSION, asked) != asked:
        return None  # the SDK says that header and body differ
    data = {"supported": list(KNOWN_PROTOCOL_VERSIONS), "requested": asked}
    return error(types.UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version", message["id"], data=data)


def _out_of_scope(scope: Scope, message: Mapping[str, Any]) -> Response | None:
    """A tool that writes, asked for by who may not: HTTP's own answer, which makes a client ask for more rights."""
    params = message.get("params", {})
    tool = BY_NAME.get(str(params.get("name"))) if message["method"] == "tools/call" else None
    admission: Admission = scope["state"]["admission"]
    if tool is None or not tool.writes or admission.may_write:
        return None
    said = f"Tool '{tool.name}' needs a token with the write scope, held by an editor in this base"
    return error(types.METHOD_NOT_FOUND, said, message["id"], status=403, headers=insufficient_scope())


def error(
    code: int,
    message: str,
    request_id: int | str | None = None,
    *,
    status: int = 400,
    data: object = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """A JSON-RPC error as an HTTP answer."""
    told: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        told["data"] = data
    return JSONResponse({"jsonrpc": "2.0", "id": request_id, "error": told}, status, headers=headers)


class Running:
    """Calls under way in this process, by who asked: a call is taken back by the client that made it alone."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: dict[Key, list[Call]] = {}

    @contextmanager
    def during(self, key: Key, call: Call) -> Iterator[None]:
        """`call` can be taken back while the block runs."""
        with self._lock:
            self._calls.setdefault(key, []).append(call)
        try:
            yield
        finally:
            with self._lock:
                self._calls[key].remove(call)
                if not self._calls[key]:
                    del self._calls[key]

    def take_back(self, key: Key) -> bool:
        """End the one call of that key. Two of one key cannot be told apart, so that neither is ended."""
        with self._lock:
            found = self._calls.get(key, [])
            if len(found) != 1:
                return False
        found[0].end_soon()
        return True


def key_of(scope: Scope, request_id: int | str) -> Key:
    """Whose request that is."""
    admission: Admission = scope["state"]["admission"]
    client = scope.get("client")
    agent = header(scope, b"user-agent") or ""
    return admission.principal.token_id, admission.kb_id, client[0] if client else "", agent, request_id
