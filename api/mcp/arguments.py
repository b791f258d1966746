"""Judging a tool call's arguments against the tool's own input schema.

Only what our schemas use: string, integer, array of strings, enum, minimum, maximum, minLength, maxLength,
minItems. Every refusal names the argument and says what would do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from substrate.documents.checks import check_text
from substrate.errors import InvalidInput

_WORDS = {"string": "text", "integer": "a whole number", "array": "a list", "boolean": "true or false"}


def check(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, judged; an explicit null counts as left out. Raises `InvalidInput` naming the argument."""
    properties: Mapping[str, Mapping[str, Any]] = schema["properties"]
    given = {name: value for name, value in arguments.items() if value is not None or name not in properties}
    if unknown := sorted(set(given) - set(properties)):
        known = ", ".join(properties)
        check_text(unknown[0], "an argument's name", blank=True, most=len(unknown[0]))  # it is said back
        raise InvalidInput(f"{unknown[0]}: unknown argument; this tool takes {known}", field=unknown[0])
    for name in schema.get("required", ()):
        if name not in given:
            raise InvalidInput(f"{name}: is required", field=name)
    for name, value in given.items():
        _value(name, properties[name], value)
    return given


def _value(name: str, rule: Mapping[str, Any], value: Any) -> None:
    kind = rule["type"]
    if not _is(kind, value):
        raise InvalidInput(f"{name}: must be {_WORDS[kind]}", field=name)
    if "enum" in rule and value not in rule["enum"]:
        raise InvalidInput(f"{name}: must be one of {', '.join(rule['enum'])}", field=name)
    if kind == "integer" and not rule.get("minimum", value) <= value <= rule.get("maximum", value):
        raise InvalidInput(f"{name}: must lie between {rule.get('minimum')} and {rule.get('maximum')}", field=name)
    if kind == "string":
        _text(name, rule, value)
    if kind == "array":
        if len(value) < rule.get("minItems", 0):
            raise InvalidInput(f"{name}: must not be empty", field=name)
        for item in value:
            _value(name, rule["items"], item)


def _text(name: str, rule: Mapping[str, Any], value: str) -> None:
    if rule.get("minLength") and not value.strip():
        raise InvalidInput(f"{name}: must not be blank", field=name)
    if len(value) > rule.get("maxLength", len(value)):
        raise InvalidInput(f"{name}: at most {rule['maxLength']} characters", field=name)
    check_text(value, name, blank=True, most=len(value))


def _is(kind: str, value: Any) -> bool:
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, {"string": str, "array": list, "boolean": bool}[kind])
