"""One table from the product's errors to HTTP statuses, and the problem JSON (RFC 9457) that tells them.

A problem names the field where there is one, and may say back the value that was refused (a date, a name, an id). It
carries no SQL, no stack and no path of this machine: what a database or a model said stays in the log.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.encoders import jsonable_encoder
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.responses import Response

from substrate import errors

_log = logging.getLogger(__name__)

STATUSES: tuple[tuple[type[errors.TwoclocksError], int, str], ...] = (
    (errors.NotFound, 404, "not_found"),
    (errors.Conflict, 409, "conflict"),
    (errors.InvalidInput, 422, "invalid_input"),
    (errors.Forbidden, 403, "forbidden"),
    (errors.Unauthenticated, 401, "unauthenticated"),
    (errors.DocumentRejected, 422, "document_rejected"),
    (errors.LeaseLost, 409, "lease_lost"),
    (errors.CallEnded, 499, "call_ended"),
    (errors.TooManyCalls, 429, "too_many_calls"),
    (errors.ModelUnavailable, 503, "model_unavailable"),
    (errors.DatabaseUnavailable, 503, "database_unavailable"),
    (errors.Unavailable, 503, "unavailable"),
    (errors.LedgerDamaged, 500, "ledger_damaged"),
)
"""The first matching row counts, so that a subclass stands before its parent."""
_SHOWN_FACTS = ("field", "code", "document", "candidates", "unknown", "seq", "errors")
_HEADERS: Mapping[int, Mapping[str, str]] = {
    401: {"WWW-Authenticate": 'Bearer realm="twoclocks"'},
    503: {"Retry-After": "5"},
}


def status_of(error: errors.TwoclocksError) -> tuple[int, str]:
    """HTTP status and the stable word for an error."""
    return next(((status, word) for kind, status, word in STATUSES if isinstance(error, kind)), (500, "error"))


def public_message(error: errors.TwoclocksError) -> str:
    """What a caller may read. What a database or model said may name hosts and statements, so it stays in the log."""
    if isinstance(error, errors.Unavailable | errors.LedgerDamaged):
        return (type(error).__doc__ or "").strip().split("\n")[0]
    return str(error)


def problem(error: errors.TwoclocksError) -> JSONResponse:
    """The answer for one of the product's errors."""
    status, word = status_of(error)
    if status >= 500:
        _log.error("%s: %s", word, error)
    facts = {k: v for k, v in error.facts.items() if k in _SHOWN_FACTS and v is not None}
    headers = dict(_HEADERS.get(status, {}))
    if isinstance(error, errors.Forbidden):
        headers |= insufficient_scope()
    if isinstance(error, errors.TooManyCalls):
        headers |= _allowance(error)
    return _response(status, word, public_message(error), headers, **jsonable_encoder(facts, custom_encoder={}))


def insufficient_scope() -> dict[str, str]:
    """The challenge that names every scope at once, so that a client need not ask twice."""
    return {"WWW-Authenticate": 'Bearer realm="twoclocks", error="insufficient_scope", scope="read write"'}


def _allowance(error: errors.TooManyCalls) -> dict[str, str]:
    """When to come again, as every client knows it and as draft-ietf-httpapi-ratelimit-headers has it."""
    seconds = max(math.ceil(error.wait_s), 1)
    return {
        "Retry-After": str(seconds),
        "RateLimit-Policy": f'"calls";q={error.most};w={error.window_s}',
        "RateLimit": f'"calls";r=0;t={seconds}',
    }


def too_large(most: int) -> JSONResponse:
    """The answer for a body of more than `most` bytes; the connection ends, since the rest is not read."""
    return _response(413, "too_large", too_large_detail(most), {"Connection": "close"})


def too_large_detail(most: int) -> str:
    """What a sender of too much is told."""
    return f"at most {most} bytes are taken here in one request"


def _response(
    status: int, word: str, detail: str, headers: Mapping[str, str] | None = None, **more: Any
) -> JSONResponse:
    content = {"type": "about:blank", "title": word, "status": status, "detail": detail, **more}
    return JSONResponse(content, status, headers=headers, media_type="application/problem+json")


def install(app: FastAPI) -> None:
    """Make `app` answer every failure as a problem."""
    app.add_exception_handler(errors.TwoclocksError, _product_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _crash)


async def _product_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, errors.TwoclocksError)  # noqa: S101 - registered for it alone
    return problem(error)


async def _validation_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for it alone
    # A field that was made up by the caller may have a name that UTF-8 has no bytes for.
    names = (".".join(map(str, e["loc"][1:])).encode(errors="replace").decode() for e in error.errors())
    found = [{"field": n or "body", "message": e["msg"]} for n, e in zip(names, error.errors(), strict=True)]
    detail = "; ".join(f"{f['field']}: {f['message']}" for f in found[:5])
    return _response(422, "invalid_input", detail, field=found[0]["field"], errors=found)


async def _http_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for it alone
    word = {404: "not_found", 405: "method_not_allowed", 413: "too_large"}.get(error.status_code, "error")
    return _response(error.status_code, word, str(error.detail), error.headers)


async def _crash(request: Request, error: Exception) -> Response:
    _log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return _response(500, "internal_error", "Something went wrong on our side; it is in the log.")
