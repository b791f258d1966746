"""How a client that was refused finds out what it needs: RFC 9728 metadata, and the header that points there.

What is said depends on the address alone: it is the same for a base that is there, one that is not, and one that the
caller may not see.
"""

from __future__ import annotations

import re
from typing import Any

from starlette.datastructures import URL
from starlette.responses import Response
from starlette.types import Scope

from substrate.settings import Settings

METADATA = "/.well-known/oauth-protected-resource"
SCOPES = ("read", "write")
"""What a personal token may be good for; a service token's ``push`` is nothing that a client may ask for."""
_ORIGIN = re.compile(r"^https?://[A-Za-z0-9._\-\[\]:]+$")


def origin(scope: Scope, settings: Settings) -> str | None:
    """Where clients reach us, no slash at its end: as set, else as the request's Host says; None for nonsense."""
    if settings.public_url is not None:
        return settings.public_url.rstrip("/")
    url = URL(scope=scope)
    found = f"{url.scheme}://{url.netloc}"
    return found if _ORIGIN.match(found) else None


def resource_path(path: str) -> str:
    """The protected resource that a path belongs to: the endpoint itself for MCP, the API for all else."""
    return path if re.fullmatch(r"/api/v1/kbs/[A-Za-z0-9-]{1,64}/mcp", path) else ""


def metadata(place: str, path: str) -> dict[str, Any]:
    """RFC 9728 §2 for the resource at `path`; clients compare ``resource`` with the address that they call.

    No authorization server is named, since none issues tokens for us: people make them here and hand them over.
    """
    return {
        "resource": place + path,
        "resource_name": "Twoclocks",
        "scopes_supported": list(SCOPES),
        "bearer_methods_supported": ["header"],
    }


def challenged(answer: Response, scope: Scope, settings: Settings) -> Response:
    """A 401 that says where metadata lies, which scope it takes, and whether the token that was shown is no good."""
    if answer.status_code != 401:
        return answer
    shown = any(name == b"authorization" for name, _ in scope["headers"])
    parts = ['Bearer realm="twoclocks"']
    if shown:
        parts.append('error="invalid_token"')
    if (place := origin(scope, settings)) is not None:
        parts.append(f'resource_metadata="{place}{METADATA}{resource_path(scope["path"])}"')
    parts.append('scope="read"')
    answer.headers["WWW-Authenticate"] = ", ".join(parts)
    return answer
