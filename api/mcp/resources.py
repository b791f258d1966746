"""Documents and entities as resources of their base, read as the tools read them and written down as theirs are.

There is no list of them: it would be the names of documents in metadata, where a client does not expect what a
document says. Search tells the ids.
"""

from __future__ import annotations

from urllib.parse import parse_qsl, unquote, urlsplit
from uuid import UUID

import mcp_types as types
from mcp.shared.exceptions import MCPError
from pydantic_core import to_json

from api.deps import Member
from api.mcp import arguments, tools
from api.mcp.schemas import BY_NAME
from substrate.errors import InvalidInput

_KINDS = {
    "documents": ("get_document", "document_id", ("offset", "as_of"), "Document", "One document of the base."),
    "entities": ("entity_facts", "entity_id", ("at", "as_of"), "Entity", "The facts about one entity of the base."),
}


def templates(kb_id: UUID) -> list[types.ResourceTemplate]:
    """How the addresses of resources of a base are made (RFC 6570)."""
    return [
        types.ResourceTemplate(
            name=kind,
            title=title,
            uri_template=f"twoclocks://{kb_id}/{kind}/{{{name}}}{{?{','.join(more)}}}",
            description=says,
            mime_type="text/plain",
        )
        for kind, (_, name, more, title, says) in _KINDS.items()
    ]


def read(who: Member, uri: str) -> list[types.TextResourceContents | types.BlobResourceContents]:
    """A resource in words and as JSON. Raises `MCPError` for an address that names none, errors of the tree else."""
    tool, given = _asked(who, uri)
    result = tools.run(tool, who, arguments.check(BY_NAME[tool].input, given))
    return [
        types.TextResourceContents(uri=uri, mime_type="text/plain", text=result.text),
        types.TextResourceContents(uri=uri, mime_type="application/json", text=to_json(result.structured).decode()),
    ]


def _asked(who: Member, uri: str) -> tuple[str, dict[str, object]]:
    parts = urlsplit(uri)
    path = parts.path.strip("/").split("/")
    if parts.scheme != "twoclocks" or parts.netloc != str(who.kb_id) or len(path) != 2 or path[0] not in _KINDS:
        raise MCPError(types.INVALID_PARAMS, "uri: no resource of this knowledge base; see resources/templates/list")
    tool, name, more, _, _ = _KINDS[path[0]]
    given: dict[str, object] = {name: unquote(path[1])}
    for key, value in parse_qsl(parts.query, keep_blank_values=True):
        if key not in more or key in given:
            raise InvalidInput(f"uri: takes {', '.join(more)}, once each", field="uri")
        given[key] = int(value) if key == "offset" and value.isdecimal() else value
    return tool, given
