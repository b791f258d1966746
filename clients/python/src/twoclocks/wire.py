"""From a response to an answer or an error, and when a call is made again."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import httpx

from twoclocks.calls import Call, T
from twoclocks.errors import BY_STATUS, ConnectionFailed, InvalidInput, TwoclocksError, Unavailable

TIMEOUT = httpx.Timeout(60.0, connect=10.0)
"""Seconds; an answer of the product takes milliseconds, its first after a start some seconds."""
RETRIES = 3
LONGEST_WAIT_S = 30.0
"""A server that asks to wait longer is not waited for."""
_AGAIN = frozenset({429, 502, 503, 504})


def headers(token: str | None) -> dict[str, str]:
    """What every request carries."""
    sent = {"Accept": "application/json, text/event-stream", "User-Agent": "twoclocks-client/0.1.0"}
    return sent | ({"Authorization": f"Bearer {token}"} if token else {})


def root(url: str, kb: str) -> str:
    """The address of a base, from that of a server or of the base's MCP endpoint."""
    plain = url.rstrip("/").removesuffix("/mcp")
    if "/api/v1/kbs/" in plain:
        if kb and not plain.endswith(f"/{kb}"):
            raise ValueError("url names one base and kb another")
        return plain + "/"
    if not kb:
        raise ValueError("kb: which base? give its id, or the address of its MCP endpoint as url")
    return f"{plain.removesuffix('/api/v1')}/api/v1/kbs/{kb}/"


def wait_s(attempt: int, failed: TwoclocksError) -> float | None:
    """Seconds before the call is made again; None where it is not. Attempts count from 0."""
    if failed.status is not None and failed.status not in _AGAIN:
        return None
    if failed.status is None and not isinstance(failed, ConnectionFailed):
        return None
    told = failed.facts.get("retry_after")
    wait = float(told) if told is not None else 0.2 * 2**attempt
    return None if wait > LONGEST_WAIT_S else wait + random.uniform(0, 0.1)  # noqa: S311 - spreads callers, keeps no secret


def lost(error: httpx.TransportError) -> ConnectionFailed:
    """No response."""
    return ConnectionFailed(f"{type(error).__name__}: {error}")


def answer(call: Call[T], response: httpx.Response) -> T:
    """The answer that a response holds. Raises the error that it tells."""
    if not response.is_success:
        raise _error(response)
    try:
        told: Any = response.json()
    except ValueError as error:
        raise Unavailable(
            "the response is no JSON; is this a Twoclocks server?", status=response.status_code
        ) from error
    return _of_tool(told) if call.tool else told  # type: ignore[no-any-return]


def _of_tool(told: Any) -> Any:
    if "error" in told:
        raise InvalidInput(told["error"]["message"], facts=told["error"])
    result = told["result"]
    if result.get("isError"):
        said = result["content"][0]["text"]
        name = said.partition(":")[0]
        raise InvalidInput(said, facts={"field": name} if name.isidentifier() else {})
    return result["structuredContent"]


def _error(response: httpx.Response) -> TwoclocksError:
    facts: dict[str, Any] = {}
    try:
        told = response.json()
    except ValueError:
        told = None
    if isinstance(told, Mapping):
        facts |= told
    after = response.headers.get("Retry-After", "")
    if after.isdigit():
        facts["retry_after"] = int(after)
    status = response.status_code
    kind = BY_STATUS.get(status) or (Unavailable if status >= 500 else TwoclocksError)
    within = facts.get("error")
    said = within.get("message") if isinstance(within, Mapping) else facts.get("detail")
    return kind(str(said or f"HTTP {status}"), status=status, facts=facts)
