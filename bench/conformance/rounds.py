"""The tools and the prompt of the suite that ask their caller back: what they lack they ask for in their result.

Between two rounds nothing is held here. What was told so far goes to the caller as ``requestState`` and comes back,
sealed by the SDK under a key that all workers share, so that any of them takes up what another began.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

_PREFIX = "test_input_required_result_"
_SENDS = {
    "elicitation/create": types.ClientCapabilities(elicitation=types.ElicitationCapability()),
    "sampling/createMessage": types.ClientCapabilities(sampling=types.SamplingCapability()),
    "roots/list": types.ClientCapabilities(roots=types.RootsCapability()),
}
_KINDS: dict[str, tuple[type[Any], ...]] = {
    "elicitation/create": (types.ElicitResult,),
    "sampling/createMessage": (types.CreateMessageResult, types.CreateMessageResultWithTools),
    "roots/list": (types.ListRootsResult,),
}


def _form(message: str, field: str, kind: str = "string") -> types.ElicitRequest:
    schema = {"type": "object", "properties": {field: {"type": kind}}, "required": [field]}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def _sample(said: str, tokens: int) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=said))
    return types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=[message], max_tokens=tokens))


_NAME = _form("What is your name?", "name")
_CONFIRM: types.InputRequests = {"confirm": _form("Please confirm", "ok", "boolean")}
_WHO: types.InputRequests = {"user_name": _NAME}
_ROOTS = types.ListRootsRequest(params=types.RequestParams())
STEPS: dict[str, tuple[types.InputRequests, ...]] = {
    f"{_PREFIX}elicitation": (_WHO,),
    f"{_PREFIX}sampling": ({"capital_question": _sample("What is the capital of France?", 100)},),
    f"{_PREFIX}list_roots": ({"client_roots": _ROOTS},),
    f"{_PREFIX}request_state": (_CONFIRM,),
    f"{_PREFIX}multiple_inputs": (
        {"user_name": _NAME, "greeting": _sample("Generate a greeting", 50), "client_roots": _ROOTS},
    ),
    f"{_PREFIX}multi_round": (
        {"step1": _form("Step 1: What is your name?", "name")},
        {"step2": _form("Step 2: What is your favorite color?", "color")},
    ),
    f"{_PREFIX}tampered_state": (_CONFIRM,),
    f"{_PREFIX}capabilities": ({"user_name": _NAME, "greeting": _sample("Generate a greeting", 50)},),
    f"{_PREFIX}prompt": ({"user_context": _form("What context should the prompt use?", "context")},),
}
"""What each asks, one step after the other."""
PROMPT = f"{_PREFIX}prompt"
TOOLS = tuple(name for name in STEPS if name != PROMPT)
_ANY = f"{_PREFIX}capabilities"
"""The one that does with what its caller can give."""
_KEEPING = frozenset(
    f"{_PREFIX}{name}" for name in ("request_state", "multiple_inputs", "multi_round", "tampered_state")
)


def settled(
    ctx: ServerRequestContext[Any], params: types.CallToolRequestParams | types.GetPromptRequestParams
) -> types.InputRequiredResult | str:
    """What is still to be told, or what came of it. Raises `MCPError` if the caller declared no means to tell it."""
    name, told = params.name, _told(params)
    for step in STEPS[name]:
        asked = _askable(ctx, name, step)
        if lacking := {key: request for key, request in asked.items() if key not in told}:
            state = json.dumps(told) if name in _KEEPING else None
            return types.InputRequiredResult(input_requests=lacking, request_state=state)
    if name in _KEEPING:
        return f"state-ok {json.dumps(told)}"
    content = told.get("user_name", {}).get("content")
    return f"Hello, {content['name']}!" if content else json.dumps(told)


def _told(params: types.CallToolRequestParams | types.GetPromptRequestParams) -> dict[str, Any]:
    """What fits a request, of this round and those before it. Who keeps a state believes no answer without it."""
    if params.name in _KEEPING and params.request_state is None:
        return {}
    told: dict[str, Any] = json.loads(params.request_state) if params.request_state is not None else {}
    requests = {key: request for step in STEPS[params.name] for key, request in step.items()}
    for key, answer in (params.input_responses or {}).items():
        if key in requests and _fits(requests[key], answer):
            told[key] = answer.model_dump(mode="json", by_alias=True, exclude_none=True)
    return told


def _fits(request: types.InputRequest, answer: types.InputResponse) -> bool:
    if not isinstance(answer, _KINDS[request.method]):
        return False
    if isinstance(answer, types.ElicitResult) and answer.action == "accept":
        assert isinstance(request, types.ElicitRequest) and isinstance(request.params, types.ElicitRequestFormParams)
        return set(request.params.requested_schema["required"]) <= set(answer.content or {})
    return True


def _askable(ctx: ServerRequestContext[Any], name: str, step: types.InputRequests) -> types.InputRequests:
    able = {key: r for key, r in step.items() if ctx.session.check_client_capability(_SENDS[r.method])}
    if able and (name == _ANY or len(able) == len(step)):
        return able
    needed: Mapping[str, Any] = {
        field: {}
        for key, request in step.items()
        if key not in able
        for field in _SENDS[request.method].model_fields_set
    }
    said = f"Needed of the client: {', '.join(needed)}"
    raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, said, {"requiredCapabilities": needed})
