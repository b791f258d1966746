"""Why the product's own endpoint does not pass a scenario: what the suite asks for, and what the product has of it.

Each reason is only told of a failure whose own words bear it out; one that says something else stays unexplained.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

TOOL, PROMPT, RESOURCE = "fixture tool", "fixture prompt", "fixture resource"
ABSENT = {
    TOOL: r"Unknown tool|does not list the diagnostic tool",
    PROMPT: r"no such prompt",
    RESOURCE: r"no resource of this knowledge base",
    "not offered": r"Method not found",
}
"""What the endpoint says where something is absent."""
_ASKING = "test_input_required_result_"
_UNTOLD = r"Prerequisite failed|Expected InputRequiredResult with inputRequests and requestState"
NEEDS: dict[str, tuple[str, str]] = {
    "server-stateless": (TOOL, "test_missing_capability, test_streaming_elicitation and test_logging_tool"),
    "tools-call-simple-text": (TOOL, "test_simple_text"),
    "tools-call-image": (TOOL, "test_image_content"),
    "tools-call-audio": (TOOL, "test_audio_content"),
    "tools-call-embedded-resource": (TOOL, "test_embedded_resource"),
    "tools-call-mixed-content": (TOOL, "test_multiple_content_types"),
    "tools-call-error": (TOOL, "test_error_handling"),
    "tools-call-with-progress": (TOOL, "test_tool_with_progress"),
    "tools-call-sampling": (TOOL, "test_sampling"),
    "tools-call-elicitation": (TOOL, "test_elicitation"),
    "elicitation-sep1034-defaults": (TOOL, "test_elicitation_sep1034_defaults"),
    "elicitation-sep1330-enums": (TOOL, "test_elicitation_sep1330_enums"),
    "tools-call-with-logging": ("not offered", "logging/setLevel, asked before test_tool_with_logging"),
    "logging-set-level": ("not offered", "logging/setLevel: the log is for who runs the server"),
    "completion-complete": ("not offered", "completion/complete: no prompt argument has a list to choose from"),
    "resources-subscribe": ("not offered", "resources/subscribe: there is no stream to tell of a change on"),
    "resources-unsubscribe": ("not offered", "resources/unsubscribe: as above"),
    "resources-read-text": (RESOURCE, "test://static-text"),
    "resources-read-binary": (RESOURCE, "test://static-binary"),
    "resources-templates-read": (RESOURCE, "test://template/{id}/data"),
    "prompts-get-simple": (PROMPT, "test_simple_prompt"),
    "prompts-get-with-args": (PROMPT, "test_prompt_with_arguments"),
    "prompts-get-embedded-resource": (PROMPT, "test_prompt_with_embedded_resource"),
    "prompts-get-with-image": (PROMPT, "test_prompt_with_image"),
    "input-required-result-basic-elicitation": (TOOL, f"{_ASKING}elicitation"),
    "input-required-result-basic-sampling": (TOOL, f"{_ASKING}sampling"),
    "input-required-result-basic-list-roots": (TOOL, f"{_ASKING}list_roots"),
    "input-required-result-request-state": (TOOL, f"{_ASKING}request_state"),
    "input-required-result-multiple-input-requests": (TOOL, f"{_ASKING}multiple_inputs"),
    "input-required-result-multi-round": (TOOL, f"{_ASKING}multi_round"),
    "input-required-result-non-tool-request": (PROMPT, f"{_ASKING}prompt"),
    "input-required-result-result-type": (TOOL, f"{_ASKING}elicitation"),
    "input-required-result-tampered-state": (TOOL, f"{_ASKING}tampered_state"),
    "input-required-result-capability-check": (TOOL, f"{_ASKING}capabilities"),
}
"""Of each scenario the kind of what it asks for, and its name."""
_STOPS_SHORT = ("input-required-result-multi-round", "input-required-result-tampered-state")
"""These do not repeat the server's words; their tool is unknown as the others' are."""


def said(folder: Path, scenario: str, *statuses: str) -> tuple[str, ...]:
    """The words of each check of `scenario` that ended in one of `statuses`, from what the suite wrote to `folder`."""
    written = [
        p for p in folder.glob("**/checks.json") if re.fullmatch(rf"server-{scenario}-\d{{4}}-.*", p.parent.name)
    ]
    checks = [check for path in written for check in json.loads(path.read_text(encoding="utf-8"))]
    return tuple(_words(check) for check in checks if check["status"] in statuses)


def _words(check: dict[str, Any]) -> str:
    told = check.get("errorMessage") or check.get("details", {}).get("message") or check["description"]
    return " ".join(str(told).replace("|", "/").split())


def reason(scenario: str, words: tuple[str, ...]) -> str:
    """A line for the table."""
    kind, name = NEEDS.get(scenario, ("", ""))
    borne_out = ABSENT.get(kind, "(?!)") + (f"|{_UNTOLD}" if scenario in _STOPS_SHORT else "")
    if not words or not all(re.search(borne_out, word) for word in words):
        return f"not explained: {'; '.join(words) or 'nothing was said'}"
    return f"{kind}: {name}"
