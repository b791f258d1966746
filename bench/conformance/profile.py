"""The tools, resources and prompts that the suite asks for, behind the product's gate: ``Fixtures`` takes the place of
the product's endpoint. Nothing of it is in the product. What asks its caller back is in `rounds`.

The older revision's scenarios let a server ask its client, which needs a session and a stream; the product has neither.
"""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from api.deps import member_of
from bench.conformance import rounds

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SOUND = base64.b64encode(b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00").decode()
Ctx = ServerRequestContext[Any]
PLAIN = (
    *("test_simple_text", "test_image_content", "test_audio_content", "test_embedded_resource"),
    *("test_multiple_content_types", "test_error_handling", "test_logging_tool", "test_streaming_elicitation"),
)
LACKING = "test_missing_capability"
NOTING = ("test_tool_with_logging", "test_tool_with_progress")
ASKING = (
    *("test_sampling", "test_elicitation", "test_elicitation_sep1034_defaults", "test_elicitation_sep1330_enums"),
)
TAKES = {"test_sampling": "prompt", "test_elicitation": "message"}
DEFAULTS = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
_WORDS = ["option1", "option2", "option3"]
_TITLED = [{"const": f"value{n}", "title": f"Option {n}"} for n in (1, 2, 3)]
ENUMS = {
    "untitledSingle": {"type": "string", "enum": _WORDS},
    "titledSingle": {"type": "string", "oneOf": _TITLED},
    "legacyEnum": {"type": "string", "enum": _WORDS, "enumNames": ["One", "Two", "Three"]},
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": _WORDS}},
    "titledMulti": {"type": "array", "items": {"anyOf": _TITLED}},
}


class Fixtures:
    """An ASGI application in the product endpoint's place; `key` seals what goes from round to round."""

    def __init__(self, security: TransportSecuritySettings, key: str) -> None:
        self._security, self._key = security, key
        self._manager: StreamableHTTPSessionManager | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """As the product's endpoint."""
        self._manager = StreamableHTTPSessionManager(make(self._key), security_settings=self._security)
        async with self._manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._manager is not None
        await self._manager.handle_request(scope, receive, send)


def make(key: str) -> Server[Any]:
    """The server of the fixtures; what `key` did not seal, or sealed for another caller or call, it refuses."""
    server: Server[Any] = Server(
        "conformance",
        version="1",
        on_list_tools=_list_tools,
        on_call_tool=_call,
        on_list_resources=_list_resources,
        on_list_resource_templates=_list_templates,
        on_read_resource=_read,
        on_subscribe_resource=_empty,
        on_unsubscribe_resource=_empty,
        on_list_prompts=_list_prompts,
        on_get_prompt=_prompt,
        on_completion=_complete,
        on_set_logging_level=_empty,
    )
    sealed = RequestStateSecurity(keys=[key], bind_principal=_principal)
    server.middleware.append(RequestStateBoundary(sealed, default_audience="conformance"))
    return server


def _principal(ctx: Ctx) -> str:
    assert isinstance(ctx.request, Request)
    who = member_of(ctx.request)
    return f"{who.kb_id} {who.actor}"


async def _empty(ctx: Ctx, params: Any) -> types.EmptyResult:
    return types.EmptyResult()


async def _list_tools(ctx: Ctx, params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[_tool(name) for name in (*PLAIN, *NOTING, *ASKING, LACKING, *rounds.TOOLS)])


def _tool(name: str) -> types.Tool:
    taken = TAKES.get(name)
    schema: dict[str, Any] = {"type": "object", "properties": {taken: {"type": "string"}} if taken else {}}
    return types.Tool(name=name, description=f"For the suite: {name}", input_schema=schema)


async def _call(ctx: Ctx, params: types.CallToolRequestParams) -> types.CallToolResult | types.InputRequiredResult:
    if params.name in rounds.TOOLS:
        told = rounds.settled(ctx, params)
        return types.CallToolResult(content=[_text(told)]) if isinstance(told, str) else told
    if params.name in PLAIN:
        content = _plain(params.name)
        return types.CallToolResult(content=content, is_error=params.name == "test_error_handling")
    if params.name in NOTING:
        return await _noting(ctx, params.name)
    if params.name in ASKING:
        return await _asking(ctx, params)
    if params.name == LACKING:
        needed: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "Sampling is needed", needed)
    raise MCPError(types.INVALID_PARAMS, "Unknown tool")


def _text(said: str) -> types.TextContent:
    return types.TextContent(type="text", text=said)


def _plain(name: str) -> list[Any]:
    image = types.ImageContent(type="image", data=PIXEL, mime_type="image/png")
    told: dict[str, list[Any]] = {
        "test_simple_text": [_text("This is a simple text response for testing.")],
        "test_image_content": [image],
        "test_audio_content": [types.AudioContent(type="audio", data=SOUND, mime_type="audio/wav")],
        "test_embedded_resource": [_embedded("test://embedded-resource")],
        "test_multiple_content_types": [_text("Mixed"), image, _embedded("test://mixed-content-resource")],
        "test_logging_tool": [_text("Nothing is logged for who asked for none")],
        "test_streaming_elicitation": [_text("Nothing is asked on this stream")],
        "test_error_handling": [_text("This tool intentionally returns an error for testing")],
    }
    return told[name]


def _embedded(uri: str) -> types.EmbeddedResource:
    held = types.TextResourceContents(uri=uri, mime_type="text/plain", text="This is an embedded resource content.")
    return types.EmbeddedResource(type="resource", resource=held)


async def _noting(ctx: Ctx, name: str) -> types.CallToolResult:
    if name == "test_tool_with_logging":
        for said in ("Tool execution started", "Tool processing data", "Tool execution completed"):
            await ctx.session.send_log_message(level="info", data=said, related_request_id=ctx.request_id)
    else:
        for done in (0, 50, 100):
            await ctx.session.report_progress(done, 100)
    return types.CallToolResult(content=[_text("done")])


async def _asking(ctx: Ctx, params: types.CallToolRequestParams) -> types.CallToolResult:
    given = params.arguments or {}
    if params.name == "test_sampling":
        asked = types.SamplingMessage(role="user", content=_text(str(given.get("prompt", ""))))
        answer = await ctx.session.create_message([asked], max_tokens=100, related_request_id=ctx.request_id)
        return types.CallToolResult(content=[_text(f"LLM response: {answer.model_dump_json()}")])
    properties: dict[str, Any] = {"username": {"type": "string"}, "email": {"type": "string"}}
    if params.name == "test_elicitation_sep1034_defaults":
        properties = DEFAULTS
    elif params.name == "test_elicitation_sep1330_enums":
        properties = ENUMS
    schema = {"type": "object", "properties": properties, "required": []}
    told = await ctx.session.elicit_form(str(given.get("message", "Please tell")), schema, ctx.request_id)
    return types.CallToolResult(content=[_text(f"User response: {told.model_dump_json()}")])


async def _list_resources(ctx: Ctx, params: Any) -> types.ListResourcesResult:
    uris = ("test://static-text", "test://static-binary", "test://watched-resource")
    return types.ListResourcesResult(resources=[types.Resource(uri=u, name=u, description=u) for u in uris])


async def _list_templates(ctx: Ctx, params: Any) -> types.ListResourceTemplatesResult:
    template = types.ResourceTemplate(uri_template="test://template/{id}/data", name="template")
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def _read(ctx: Ctx, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    uri = str(params.uri)
    if uri == "test://static-binary":
        held: Any = types.BlobResourceContents(uri=uri, mime_type="image/png", blob=PIXEL)
    elif uri in ("test://static-text", "test://watched-resource"):
        held = types.TextResourceContents(uri=uri, mime_type="text/plain", text="This is the content of the resource.")
    elif uri.startswith("test://template/") and uri.endswith("/data"):
        said = f'{{"id": "{uri.split("/")[3]}", "templateTest": true}}'
        held = types.TextResourceContents(uri=uri, mime_type="application/json", text=said)
    else:
        raise MCPError(types.INVALID_PARAMS, "No such resource", {"uri": uri})
    return types.ReadResourceResult(contents=[held])


PROMPTS = ("test_simple_prompt", "test_prompt_with_arguments", "test_prompt_with_embedded_resource")


async def _list_prompts(ctx: Ctx, params: Any) -> types.ListPromptsResult:
    taken = {PROMPTS[1]: ("arg1", "arg2"), PROMPTS[2]: ("resourceUri",)}
    listed = [
        types.Prompt(
            name=name,
            description=name,
            arguments=[types.PromptArgument(name=a, required=True) for a in taken.get(name, ())],
        )
        for name in (*PROMPTS, "test_prompt_with_image", rounds.PROMPT)
    ]
    return types.ListPromptsResult(prompts=listed)


async def _prompt(ctx: Ctx, params: types.GetPromptRequestParams) -> types.GetPromptResult | types.InputRequiredResult:
    given = params.arguments or {}
    if params.name == rounds.PROMPT:
        told = rounds.settled(ctx, params)
        if not isinstance(told, str):
            return told
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=_text(told))])
    content: list[Any] = [_text(f"Prompt with arguments: {given}" if given else "This is a simple prompt for testing.")]
    if params.name == "test_prompt_with_embedded_resource":
        content.insert(0, _embedded(given.get("resourceUri", "test://example-resource")))
    elif params.name == "test_prompt_with_image":
        content.insert(0, types.ImageContent(type="image", data=PIXEL, mime_type="image/png"))
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=c) for c in content])


async def _complete(ctx: Ctx, params: Any) -> types.CompleteResult:
    return types.CompleteResult(completion=types.Completion(values=["test"], total=1, has_more=False))
