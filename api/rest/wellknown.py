"""``/.well-known/oauth-protected-resource``: RFC 9728 metadata, for the origin and for each base's MCP endpoint."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from api.challenge import METADATA, metadata, origin, resource_path
from substrate.errors import InvalidInput, NotFound

router = APIRouter(tags=["access"])


@router.get(METADATA, include_in_schema=False)
def of_the_api(request: Request) -> JSONResponse:
    """The metadata of everything here."""
    return _metadata(request, "")


@router.get(METADATA + "/{path:path}", include_in_schema=False)
def of_an_endpoint(request: Request, path: str) -> JSONResponse:
    """The metadata of one base's MCP endpoint, whether or not there is such a base."""
    if not resource_path(f"/{path}"):
        raise NotFound("no protected resource has this path", field="path")
    return _metadata(request, f"/{path}")


def _metadata(request: Request, path: str) -> JSONResponse:
    place = origin(request.scope, request.app.state.settings)
    if place is None:
        raise InvalidInput("Host: no address of ours", field="Host")
    allow = {"Access-Control-Allow-Origin": "*", "Cache-Control": "max-age=300"}  # browsers' clients look it up too
    return JSONResponse(metadata(place, path), headers=allow)
